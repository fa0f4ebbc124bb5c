"""Peer review before publication, by reviewers from the population, in rounds."""
