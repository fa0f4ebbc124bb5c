"""Reviews of finished runs by a model, and ratings by people.

``review_kinds`` has the forms, pages and rules of reviewers, ``review`` asks a panel and keeps its
journal and tables, ``sheets`` writes blinded sheets for people and reads them back, ``command`` is
``society review``. A run's own tables and digest stay unchanged.
"""
