"""Novelty of abstracts, by VirSci's distances.

Read ``novelty`` first: HD, CD, CI and ON, and the databases they are measured against;
``nearest_papers`` finds the neighbours; ``other_papers`` measures a finished run against other
ecosystems. ``training_leaks`` looks for signs that the model
knew the papers of the future, ``backtest`` for ideas among them.
"""
