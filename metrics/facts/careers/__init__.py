"""Facts of people and their careers."""
