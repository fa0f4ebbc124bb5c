"""Submissions and referees: what became of a manuscript before it appeared, row by row.

The rows are filled in while the review goes on and written when the team ends, because
recommendations are born of words.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any


@dataclass(slots=True)
class Submission:
    """One round of one submission.

    Attributes:
        submission: 1, or more where a rejected manuscript was handed in elsewhere.
        round: 1, or more after a revision.
        submitted: date of handing in.
        decided: date of the decision; None if the run ended before.
        decision: accept, revise or reject.
        reviews: reviews that were decided on.
        score: their mean overall score; None without any.
    """

    submission: int
    round: int
    submitted: float
    decided: float | None = None
    decision: str | None = None
    reviews: int | None = None
    score: float | None = None

    def row(self, team: str) -> tuple[Any, ...]:
        """Name and row of the table ``submissions``."""
        return ("submissions", team, *astuple(self))


@dataclass(slots=True)
class Referee:
    """One scientist who was asked to review in one round.

    Attributes:
        submission: as that of the submission.
        round: as that of the submission.
        seat: which of the reviews of the round it was to be, from 0.
        scientist: masked name.
        load: teams it was working in when it was asked.
        open: other reviews it had agreed to and not delivered then.
        invited: date; None for one who has reviewed the round before and is asked no more.
        answered: date on which the answer took effect.
        outcome: delivered, declined, late (given up), gone, unread (no words); None while open.
        assigned: date on which the manuscript reached its desk.
        delivered: date on which the review was done.
        reminders: how often it was reminded.
        recommendation: accept, revise or reject, once read.
        score: overall, 1 to 10, once read.
    """

    submission: int
    round: int
    seat: int
    scientist: str
    load: int
    open: int
    invited: float | None = None
    answered: float | None = None
    outcome: str | None = None
    assigned: float | None = None
    delivered: float | None = None
    reminders: int = 0
    recommendation: str | None = None
    score: float | None = None

    def row(self, team: str) -> tuple[Any, ...]:
        """Name and row of the table ``referees``."""
        return ("referees", team, *astuple(self))
