"""Rules of publication that ask nobody, and the work of one reviewer for those that do.

Words are due when the work is done, so no rule says who is late.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import Field

from virsci_society.agents.errors import Dissolved
from virsci_society.society.kernel.durations import Days, Process, parse_days
from virsci_society.society.results.tables import PUBLICATION_STAGE
from virsci_society.society.teams.contracts import Manuscript, Publication
from virsci_society.society.teams.membership import at_desk
from virsci_society.society.teams.team import Submission, Team

if TYPE_CHECKING:
    import numpy as np

    from virsci_society.society.kernel.answer import Answer
    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import Reviewer

REJECTED = "rejected"
"""The reason why a team ends whose manuscript was accepted nowhere."""


class Unreviewed(Publication):
    """Every manuscript appears after ``time.publication_delay``."""

    def consider(self, team: Team, lab: Lab, manuscript: Manuscript) -> Process[Manuscript]:
        """Accepted at once."""
        yield from ()
        return manuscript


class ByChance(Publication):
    """A lottery without reviewers: the null model of peer review."""

    accept: float = Field(default=0.5, ge=0, le=1, allow_inf_nan=False)
    """Probability that a submission is accepted. Unit: probability."""
    decision: Days = Field(default_factory=lambda: parse_days("90d"))
    """From a submission to its decision."""
    submissions: int = Field(default=1, ge=1, le=1000)
    """Submissions per manuscript; then the team ends as ``rejected``. Unit: submissions."""
    resubmission: Days = Field(default_factory=lambda: parse_days("30d"))
    """From a rejection to the next submission."""

    def consider(self, team: Team, lab: Lab, manuscript: Manuscript) -> Process[Manuscript]:
        """Draw lots until one is good."""
        for number in range(1, self.submissions + 1):
            if number > 1:
                yield from lab.wait(self.resubmission)
            accepted = yield from lab.stage(
                PUBLICATION_STAGE, self._decide(team, lab, number, manuscript)
            )
            if accepted:
                return manuscript
        raise Dissolved(REJECTED)

    def _decide(self, team: Team, lab: Lab, number: int, manuscript: Manuscript) -> Process[bool]:
        record = Submission(number, 1, lab.now)
        team.submissions.append(record)
        yield from lab.wait(self.decision)
        # A stream per submission, so that their draws are independent (rule 9).
        accepted = self._accepts(team, lab, manuscript, lab.rng("accept", number))
        record.decided, record.reviews = lab.now, 0
        record.decision = "accept" if accepted else "reject"
        lab.event("decided", submission=number, round=1, decision=record.decision)
        return accepted

    def _accepts(
        self, team: Team, lab: Lab, manuscript: Manuscript, rng: np.random.Generator
    ) -> bool:
        return bool(rng.random() < self.accept)


Submit = Callable[[float], "Answer[Any]"]
"""A function that asks the reviewer; its argument is the number of days until the reply is due."""


class ReviewTerms(NamedTuple):
    """Effort and deadlines of a review in days; the editor waits ``patience`` after a reminder."""

    effort: float
    due: float
    patience: float
    reminders: int | None


def review(
    team: Team, lab: Lab, referee: Reviewer, terms: ReviewTerms, submit: Submit
) -> Process[Any]:
    """Let one reviewer do its work, wait for it, and fill in its row."""
    world, who = lab.world, referee.scientist
    if world.population.has_departed(who):
        # A reviewer of an earlier round may have left the society before this one.
        referee.outcome = "gone"
        return None
    row = world.population.rows[who]
    world.reviewing[row] = world.reviewing.get(row, 0) + 1
    try:
        referee.assigned = lab.now
        place = (PUBLICATION_STAGE, referee.submission, referee.round)
        (work,) = lab.start(at_desk(world, team, who, place, terms.effort, submit))
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
    finally:
        world.reviewing[row] -= 1
        if not world.reviewing[row]:
            del world.reviewing[row]
    answer, failure = work.value
    if failure is not None:
        # The work ran as a separate part, which returns its failure as a value.
        raise failure
    referee.delivered, referee.outcome = lab.now, "delivered"
    lab.event("reviewed", scientist=who)
    return answer
