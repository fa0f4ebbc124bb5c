"""Rule-based scientists, which need no model, no key and no network.

Read ``backend`` first, then ``asked`` (what a rule is given) and ``abstracts``. The rule of a form
stands beside its protocol, in a module ``offline_rules``. Rules are built on ``constants``,
``random_choice``, ``text``, ``terms`` and ``grammar``; sentences and lists of words are text files.
``schema_filler`` answers forms without a rule. ``docs/offline.md`` explains the rules.
"""
