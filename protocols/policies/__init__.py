"""Selection policies: whom a leader asks next; one definition and one way to draw per file."""
