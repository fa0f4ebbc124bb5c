"""AI-Researcher: retrieve, over-generate seed ideas, deduplicate, rank by pairs, expand the best."""
