"""Selection policies, which say whom a leader asks next, one per file."""
