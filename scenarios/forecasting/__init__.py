"""Forecasts of a field's coming papers, sealed before these exist and scored when they do.

Read ``quantities`` (what is forecast), ``hindcasts`` (earlier windows, each forecast from the
papers before it), ``combination`` (from their errors to distributions), ``forecast`` (from an
ecosystem to a forecast), ``sealed_file``, ``scoring`` and ``command``.
"""
