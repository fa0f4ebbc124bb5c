"""Durations, random streams, and calls to a model with deferred replies."""
