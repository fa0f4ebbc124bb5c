"""Forms, and how the text of a reply becomes one.

Read ``form`` for what a reply must look like, then ``parser``, which finds JSON in a text and tries
one reading after the other. ``repair`` reads broken JSON, and ``coercion`` turns data into the
fields of a form.
"""
