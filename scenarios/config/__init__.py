"""Scenario files in YAML, read into a checked ``Scenario`` or refused with every fault named.

Read ``yaml_io`` (text to data), ``document`` (``extends``, ``--set`` and the origin of each key),
``registry`` (names after ``use:``), ``reader`` (data to settings objects, cards), ``diagnostics``
(messages) and then ``schema``, which holds every key of a scenario. ``keys`` prints the same
keys for editors and for people.
"""
