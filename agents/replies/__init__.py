"""Forms, and how the text of a reply becomes one.

Read ``form`` for what a reply must look like, then ``parser``, which tries one reading after the
other. ``json_blocks`` finds JSON in a text, ``repair`` reads broken JSON, and ``coercion`` turns
data into the fields of a form.
"""
