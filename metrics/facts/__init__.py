"""Known facts of science, and whether papers show them.

Read ``fact`` first: what a fact is. ``tables`` is the form in which a run and a real field are
measured alike, ``nulls`` makes the same tables without the effect, and ``verdicts`` says what is
reproduced. ``names`` lists the facts; their classes are in ``structure``, ``careers``,
``citations`` and ``teams``.
"""
