"""Simulated papers compared with those of a real community: read ``assembly_measures`` first."""
