"""Durations, random streams, and calls to a model whose words come later than they are asked for.

Read ``answer`` first (the promise of words), then ``dispatcher`` (simulated and real time).
"""
