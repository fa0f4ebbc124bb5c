"""Durations, random streams, and calls to a model whose words come later than their asking."""
