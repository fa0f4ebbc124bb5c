"""Reviewers of a system, and their reviews by stated criteria.

Where a system lets separate agents review, here scientists of the society do who are not in the
team and whose interests are nearest to the topic. A review takes, like a consultation, none of
their attention.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from virsci_society.agents.prompts.dialogue import Utterance
from virsci_society.protocols.parts.forms import StepReview
from virsci_society.protocols.parts.team_work import TeamWork

if TYPE_CHECKING:
    from collections.abc import Sequence

    from virsci_society.society.kernel.answer import Answer
    from virsci_society.society.kernel.process import Process


def choose_reviewers(work: TeamWork, count: int) -> tuple[str, ...]:
    """The scientists outside the team nearest to its topic; the members where there are none.

    Args:
        work: of the team; its topic is read, so this is called between two meetings.
        count: reviewers that are wanted (>= 1).

    Returns:
        Masked names, at least one and at most ``count``.
    """
    members = tuple(work.team.members)
    near = work.lab.library.people(work.topic, count, without=members).read()
    return tuple(profile.id for profile in near) or members[-count:]


def review(
    work: TeamWork,
    reviewers: Sequence[str],
    step: str,
    text: Any,
    criteria: tuple[str, ...],
    seat: int = 1,
) -> Process[tuple[Utterance, ...]]:
    """Ask reviewers side by side to score a text by some criteria.

    Args:
        work: of the team.
        reviewers: masked names.
        step: what the text is, such as ``problem`` or ``idea``.
        text: unread; a form with words.
        criteria: names of what is scored.
        seat: place of the first reviewer in the round, from 0.

    Returns:
        The reviews with their authors, unread.
    """

    def pose(place: int, who: str) -> Answer[StepReview]:
        return work.pose(
            who,
            "step_review",
            StepReview,
            "review",
            seat=seat + place,
            step=step,
            text=text,
            criteria=criteria,
        )

    said = yield from work.lab.ask_each(reviewers, pose)
    return tuple(Utterance(who, one) for who, one in zip(reviewers, said, strict=True))


def mean_of_reviews(*reviews: StepReview) -> float | None:
    """The mean of the mean scores, 1 to 10, rounded to two decimals; None without any score.

    Args:
        reviews: those without scores could not be read and do not count.
    """
    means = [one.mean for one in reviews if one.scores]
    return round(sum(means) / len(means), 2) if means else None
