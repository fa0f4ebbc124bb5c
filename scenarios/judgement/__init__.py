"""Judgement of finished runs by a model, by people and by the scientists themselves.

Read ``model_questions`` first (a job that asks a model outside a run, and can be resumed). The
three jobs are ``review`` (with ``review_kinds``), ``judge`` (pairs on a sheet) and ``interview``
(what a scientist is told and asked, with ``survey``, its form). ``sheets`` of papers
(``sheet_entries``) are written for people and read back; ``agreement`` counts what they say.
``command`` has the commands. A run's own tables and digest stay as they are.
"""
