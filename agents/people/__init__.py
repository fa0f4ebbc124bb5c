"""Backends by which people answer in the place of a model, from files or a page.

Read ``inbox`` first: settings, and the watch over the answers that come. ``question`` makes the
text of a question, ``folder`` writes questions and reads answers, whoever put them there, and
``page`` shows them all on one local page. ``seat`` lets a person answer for one scientist alone.
"""
