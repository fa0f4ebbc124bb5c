"""Peer review before publication, by reviewers from the population, in rounds.

Read ``protocol`` first (submissions), then ``editor`` (the rounds of one submission). ``rules``
has every key, the draw of reviewers and the rule by which reviews become a decision, ``forms`` the
replies, ``prompts`` one text file per page.
"""
