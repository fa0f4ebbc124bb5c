"""A backend whose questions are files, and whose answers somebody else writes.

Read ``backend`` first: settings, and the watch over the answers that come. ``question`` makes the
text of a question, ``folder`` writes questions and reads answers, whoever put them there, and
``page`` shows them all on one local page.
"""
