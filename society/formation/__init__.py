"""Team formation, that is when teams are founded, who leads them, and who is drawn into them."""
