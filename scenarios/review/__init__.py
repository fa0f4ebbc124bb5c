"""Reviews of finished runs by a model, and ratings by people.

Read ``review_kinds``, ``review``, ``sheets``; a run's own tables and digest stay unchanged.
"""
