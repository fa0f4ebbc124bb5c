"""Scenario files in YAML, read into a checked ``Scenario`` or refused with every fault named.

Read ``yaml_io``, ``document``, ``registry``, ``reader``, ``diagnostics``, then ``schema``.
"""
