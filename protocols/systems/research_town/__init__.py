"""ResearchTown: reading, writing and reviewing as messages between scientists and papers."""
