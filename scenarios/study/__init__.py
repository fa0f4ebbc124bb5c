"""Studies: many runs of a scenario, planned, run anywhere, and gathered."""
