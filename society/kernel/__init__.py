"""Durations, random streams, and calls to a model whose words come later than they are asked for.

Read ``answer`` first (the promise of words, and one call from its slots to its form), then
``dispatcher`` (simulated time and real time). ``durations`` and ``streams`` are what every draw of
the simulated world uses. ``garbage_collection`` saves time in a run, and changes nothing in it.
"""
