"""Rule-based scientists, which need no model, no key and no network.

Read ``backend`` first, then ``decisions``, ``topics``, ``ideas``, ``abstracts`` and ``reviewing``:
one function per form. They are built on ``constants``, ``random_choice``, ``text``, ``terms`` and
``templates``. ``schema_filler`` answers forms without a rule, and ``model_mimic`` imitates the
lengths and frequencies of a model for planning. ``docs/offline.md`` explains the rules.
"""
