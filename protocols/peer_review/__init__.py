"""Peer review before publication, by reviewers from the population, in rounds.

Read ``protocol`` (submissions), then ``editor`` (rounds), ``rules`` (keys, draw, decision).
"""
