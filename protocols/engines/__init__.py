"""The engines of research systems."""
