"""Analysis of finished runs against other papers, reality, reviews and ratings.

``rescoring`` measures the novelty of abstracts against other papers, ``observed`` compares runs
with the real papers of their community, ``review`` lets a model judge abstracts, ``rating``
lets people do it, and ``judging`` lets a model compare pairs. ``interview`` puts a survey to the
scientists of a run. ``question_folder`` is what all of these share that ask a model. A run's own
tables and digest stay as they are.
"""
