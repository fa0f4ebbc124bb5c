"""The work of one reviewer, which queues at the desk, is reminded of, and may be given up.

A reviewer is not in the team. The manuscript comes to the reviewer's desk; the model is asked when
the work is taken up, and its words are due when the work is done. So no rule says who is late:
scientists with much other work are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from virsci_society.society.kernel.process import Process
from virsci_society.society.teams.meetings import at_desk
from virsci_society.society.teams.publication import STAGE

if TYPE_CHECKING:
    from virsci_society.society.kernel.answer import Answer
    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import Reviewer, Team
    from virsci_society.society.teams.world import World

Pose = Callable[[float], "Answer[Any]"]
"""A function that asks the reviewer; its argument is the number of days until the words are due."""


class ReviewTerms(NamedTuple):
    """The effort and the deadlines of a review.

    Attributes:
        effort: days of full attention that the work takes.
        due: days until it is to be delivered.
        patience: days that the editor waits on after each reminder; above 0.
        reminders: after so many the review is given up; None: never.
    """

    effort: float
    due: float
    patience: float
    reminders: int | None


def review(team: Team, lab: Lab, referee: Reviewer, terms: ReviewTerms, pose: Pose) -> Process[Any]:
    """Let one reviewer do its work, and wait for it.

    Args:
        team: the team whose manuscript is reviewed.
        lab: the lab of that team.
        referee: the row of the reviewer, which is filled in.
        terms: effort and deadlines.
        pose: asks the reviewer.

    Returns:
        The Answer, unread; None if there will be no review. Then ``referee.outcome`` says why:
        ``late`` (given up) or ``gone`` (left the society).
    """
    world, who = lab.world, referee.scientist
    if world.population.has_departed(who):
        # A reviewer of an earlier round may have left the society before this one.
        referee.outcome = "gone"
        return None
    with _pending(world, who):
        referee.assigned = lab.now
        place = (STAGE, referee.submission, referee.round)
        (work,) = lab.start(at_desk(world, team, who, place, terms.effort, pose))
        gone = world.departure(who)
        wait, left = terms.due, terms.reminders
        while True:
            yield world.env.any_of([work, gone, world.env.timeout(wait)])
            if not work.is_alive or gone.triggered or left == 0:
                break
            referee.reminders += 1
            lab.event("reminded", scientist=who)
            wait, left = terms.patience, None if left is None else left - 1
        if gone.triggered or work.is_alive:
            referee.outcome = "gone" if gone.triggered else "late"
            if work.is_alive:
                work.interrupt(referee.outcome)
            return None
    answer, failure = work.value
    if failure is not None:
        # The work ran as a part of its own, which returns its failure as a value.
        raise failure
    referee.delivered, referee.outcome = lab.now, "delivered"
    lab.event("reviewed", scientist=who)
    return answer


@contextmanager
def _pending(world: World, who: str) -> Iterator[None]:
    """Count one more pending review of a scientist until it is done or given up."""
    row = world.population.rows[who]
    world.reviewing[row] = world.reviewing.get(row, 0) + 1
    try:
        yield
    finally:
        world.reviewing[row] -= 1
        if not world.reviewing[row]:
            del world.reviewing[row]
