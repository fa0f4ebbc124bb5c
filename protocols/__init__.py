"""The protocols by which a team turns people into a paper, with their policies and forms."""
