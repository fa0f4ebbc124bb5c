"""Refereeing: a review as work at a desk, behind all other work of the person, and given up late.

A scientist who reviews is not in the team: the manuscript comes to its desk, the words are asked
for when it takes the work up, and are due when it is done. So nobody is late by a stated rule;
those who have much to do are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from society.meeting import at_desk
from society.publication import STAGE
from society.steps import Steps

if TYPE_CHECKING:
    from society.answer import Answer
    from society.lab import Lab
    from society.submissions import Referee
    from society.team import Team
    from society.world import World

Pose = Callable[[float], "Answer[Any]"]
"""Puts the question whose words are due after so many days."""


class Terms(NamedTuple):
    """What a reviewer is given.

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


def review(team: Team, lab: Lab, referee: Referee, terms: Terms, pose: Pose) -> Steps:
    """Wait for one review; returns its Answer, unread, or None if there will be none.

    The row of the referee says why: ``late`` (given up) or ``gone`` (left the society).
    """
    world, who = lab.world, referee.scientist
    if world.population.is_gone(who):
        # Who reviewed an earlier round may have left before this one.
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
        raise failure
    referee.delivered, referee.outcome = lab.now, "delivered"
    lab.event("reviewed", scientist=who)
    return answer


@contextmanager
def _pending(world: World, who: str) -> Iterator[None]:
    """One more review that a scientist has agreed to, until it is done or given up."""
    row = world.population.rows[who]
    world.reviewing[row] = world.reviewing.get(row, 0) + 1
    try:
        yield
    finally:
        world.reviewing[row] -= 1
        if not world.reviewing[row]:
            del world.reviewing[row]
