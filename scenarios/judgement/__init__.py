"""Judgement of finished runs by a model, by people and by the scientists themselves.

Read ``question_folder`` (a job that asks a model outside a run, and can be gone on with) and
``model_questions`` (its questions). The three jobs are ``review`` (with the room ``reviews``),
``judging`` (pairs, with ``ratings``) and ``interview`` (with ``interviews``); ``rating`` reads what
people answered. ``review_command``, ``rate_command`` and ``ask_command`` are the commands, and
``terminal_tables`` what they print. A run's own tables and digest stay as they are.
"""
