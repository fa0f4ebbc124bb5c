"""The population of a society, with people, their co-authorship network, and counts with dates.

Read ``population`` first (who exists, and the profile of a scientist as of a date), then
``network`` (who has written with whom, and who has asked whom). Both count with ``event_counts``:
dated events and papers, strictly before now. ``interest_drift`` has what people work on and how a
paper changes it, ``outside_authors`` the number of people outside the population on a paper.
"""
