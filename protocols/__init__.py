"""How a team turns people into a paper."""
