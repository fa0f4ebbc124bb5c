"""ResearchAgent: problem, method and experiment from a core paper, refined by reviewing agents."""
