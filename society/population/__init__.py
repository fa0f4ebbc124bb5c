"""The population of a society, with people, their co-authorship network, and counts with dates.

Read ``population`` first (who exists, and the profile of a scientist as of a date), then
``network`` (who has written with whom). Both count with ``event_counts``: dated events, strictly
before now. ``interest_history`` and ``interest_drift`` say what people work on and how a paper
changes it; ``consultations`` who has asked whom; ``growth`` keeps the figures that Mesa collects at
every step. ``outside_seats`` and ``outside_authors`` name people outside the population on papers.
``masked_names`` and ``growable_array`` keep large societies small in memory.
"""
