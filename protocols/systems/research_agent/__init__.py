"""ResearchAgent, where a plan from a core paper is refined by reviewing agents."""
