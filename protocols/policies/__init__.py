"""Selection policies, which say whom a leader asks next, one per file.

A policy has a definition with its source, a way to draw, and weights to compare the draws with.
"""
