"""Known facts of science, and whether papers show them.

Read ``fact`` first: what a fact is, and when it is reproduced. ``tables`` is the form in which a
run and a real field are measured alike, and ``nulls`` makes the same tables without the effect. The
classes of facts are in ``structure``, ``careers``, ``citations`` and ``teams``, their names in
``metrics.measures``.
"""
