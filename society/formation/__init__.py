"""Team formation: when teams are founded, who leads them, and who joins."""
