"""ResearchTown, where reading, writing and reviewing are messages on a graph."""
