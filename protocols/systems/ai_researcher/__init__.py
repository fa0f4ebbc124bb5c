"""AI-Researcher, in which many seed ideas are deduplicated and ranked by pairs."""
