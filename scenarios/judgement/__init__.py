"""Judgement of finished runs by a model and by people.

Read ``model_questions`` first (a job that asks a model outside a run, and can be resumed). The two
jobs are ``review`` (with ``review_kinds``) and ``judge`` (pairs on a sheet). ``sheets`` of papers
(``sheet_entries``) are written for people and read back; ``agreement`` counts what they say.
``command`` has the commands. A run's own tables and digest stay as they are.
"""
