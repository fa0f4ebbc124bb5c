"""The people of a society, with ties, papers, interests and help, all as of a date."""
