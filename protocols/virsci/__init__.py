"""The VirSci protocol with its five stages from an invitation to an abstract.

Read ``protocol`` first, then the stages in order: ``selection``, ``topic``, ``ideas``,
``novelty``, ``abstract``. ``settings`` has every switch, ``forms`` every reply, ``idea_ranking``
the shortlist and the count of ballots, ``prompts`` one text file per page.
"""
