"""The protocols by which a team turns people into a paper, with their policies and forms.

Read ``virsci/protocol.py`` first (the five-stage protocol of the paper), then ``discussion``
(turns, speaking order, guests), ``forms`` and ``ideas`` (forms of ideas and votes, the shortlist)
and ``collaborator_selection``. ``wordless`` is the smallest protocol, ``mixture`` combines several
in one world, ``peer_review`` stands between a manuscript and its paper. ``policies`` has one
selection policy per file; ``team_sizes`` and ``composition_targets`` say how large a team is to be,
and of whom.
"""
