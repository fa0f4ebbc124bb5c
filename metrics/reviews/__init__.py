"""Reviews by a model: forms, prompts, rubric, the panel that asks, and the tables it leaves."""
