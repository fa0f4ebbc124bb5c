"""Novelty of abstracts, by VirSci's distances: read ``novelty`` first."""
