"""Review before publication: reviewers from the population, rounds, and a decision."""
