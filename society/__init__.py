"""The shared world of the scientists and its simulated time; it knows nothing of what a team says.

``model`` makes a society of its parts and runs it; ``interventions`` change it on stated dates. The
rooms, in the order in which they build on one another: ``kernel`` (calls and durations) and
``literature``; ``ecosystem`` (people and papers before day 0); ``population``, ``formation`` (who
founds, who is drawn) and ``results`` (tables); ``teams``. Who comes and goes is said by
``departures`` and ``careers``.
"""
