"""Papers, and what of them is known as of a date."""
