"""The world that teams share, and the life of one team from its founding to its paper.

Read ``contracts`` (the classes to subclass), ``team`` and ``lab`` (what a protocol works with),
then ``world``, ``lifecycle`` and ``founding_process``. ``meetings`` and ``attention`` are about
rooms and desks, ``publication`` and ``review_work`` about manuscripts, ``retrieval`` and
``consultations`` about searches and guests.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from society.teams.attention import Attention as Attention
    from society.teams.contracts import Manuscript as Manuscript
    from society.teams.contracts import Publication as Publication
    from society.teams.contracts import TeamProtocol as TeamProtocol
    from society.teams.contracts import TeamTerms as TeamTerms
    from society.teams.lab import Lab as Lab
    from society.teams.meetings import Meeting as Meeting
    from society.teams.publication import ByChance as ByChance
    from society.teams.publication import Unreviewed as Unreviewed
    from society.teams.review_work import ReviewTerms as ReviewTerms
    from society.teams.team import Membership as Membership
    from society.teams.team import Reviewer as Reviewer
    from society.teams.team import Submission as Submission
    from society.teams.team import Team as Team
    from society.teams.world import World as World

__all__ = [
    "Attention",
    "ByChance",
    "Lab",
    "Manuscript",
    "Meeting",
    "Membership",
    "Publication",
    "ReviewTerms",
    "Reviewer",
    "Submission",
    "Team",
    "TeamProtocol",
    "TeamTerms",
    "Unreviewed",
    "World",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Attention": "society.teams.attention",
        "ByChance": "society.teams.publication",
        "Lab": "society.teams.lab",
        "Manuscript": "society.teams.contracts",
        "Meeting": "society.teams.meetings",
        "Membership": "society.teams.team",
        "Publication": "society.teams.contracts",
        "ReviewTerms": "society.teams.review_work",
        "Reviewer": "society.teams.team",
        "Submission": "society.teams.team",
        "Team": "society.teams.team",
        "TeamProtocol": "society.teams.contracts",
        "TeamTerms": "society.teams.contracts",
        "Unreviewed": "society.teams.publication",
        "World": "society.teams.world",
    },
)
