"""Reviews of abstracts by a language model.

Read ``kinds`` (the kinds of review and their prompts) and ``forms`` (what a reviewer fills in),
then ``panel`` (the reviewers at work), ``tables`` (what a panel leaves) and ``review_folder``.
``offline_rules`` stand in for a model.
"""
