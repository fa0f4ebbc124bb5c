"""Novelty of abstracts, by VirSci's distances and by combinations of topics.

Read ``novelty`` first: HD, CD, CI and ON, and the databases they are measured against;
``nearest_papers`` finds the neighbours. ``topic_combinations`` is Uzzi's measure.
``training_leaks`` looks for signs that the model knew the papers of the future, ``backtest`` for
ideas among them.
"""
