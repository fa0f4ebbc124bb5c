"""Facts of teams, their sizes and their return."""
