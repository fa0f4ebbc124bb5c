"""Demographics of a society, that is who joins it, leaves it or moves to another institution.

Read ``careers`` first, the rule of a scenario; its parts are in ``newcomers``, ``departures`` and
``mobility``, each a rule and a process that runs it. ``poisson`` is the process that newcomers
and moves have in common.
"""
