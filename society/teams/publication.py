"""Publication: what lies between a finished manuscript and its paper.

By default nothing but ``time.publication_delay``. A rule of publication may have the manuscript
judged before; then the delay runs from its acceptance.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field

from agents.errors import Dissolved
from agents.part import Part
from society.durations import Days, parse_days
from society.submissions import Submission

if TYPE_CHECKING:
    from society.interfaces import Manuscript
    from society.lab import Lab
    from society.steps import Steps
    from society.team import Team

STAGE = "publication"
"""The stage of every call and of all homework between handing in and appearing."""
REJECTED = "rejected"
"""Why a team ends whose manuscript was accepted nowhere."""


class Publication(Part):
    """Subclass it and write ``consider``; a team keeps the one that it was founded with."""

    def consider(
        self, team: Team, lab: Lab, manuscript: Manuscript
    ) -> Generator[Any, Any, Manuscript]:
        """From handing in to acceptance; returns the manuscript that will appear.

        The authors are no longer members of a team: they may work in others meanwhile.

        Raises:
            Dissolved: it was accepted nowhere; the message is the reason.
        """
        raise NotImplementedError

    @property
    def windows(self) -> Mapping[str, float]:
        """Days, by key, after which words are read: the shorter, the more the clock waits."""
        return {}


class Unreviewed(Publication):
    """Every finished manuscript appears, ``time.publication_delay`` after it is finished."""

    def consider(
        self, team: Team, lab: Lab, manuscript: Manuscript
    ) -> Generator[Any, Any, Manuscript]:
        """Accepted at once."""
        yield from ()
        return manuscript


class ByChance(Publication):
    """A lot decides, and nobody is asked: the wordless counterpart of review, and its null model.

    Nobody spends any time on it.
    """

    accept: float = Field(default=0.5, ge=0, le=1, allow_inf_nan=False)
    """Probability that a submission is accepted. Assumed."""
    decision: Days = Field(default_factory=lambda: parse_days("90d"))
    """From a submission to its decision. Assumed."""
    submissions: int = Field(default=1, ge=1, le=1000)
    """How often a manuscript is handed in at most; after as many rejections the team ends."""
    resubmission: Days = Field(default_factory=lambda: parse_days("30d"))
    """From a rejection to the next submission. Assumed."""

    def consider(
        self, team: Team, lab: Lab, manuscript: Manuscript
    ) -> Generator[Any, Any, Manuscript]:
        """Draw lots until one is good."""
        for number in range(1, self.submissions + 1):
            if number > 1:
                yield from lab.wait(self.resubmission)
            accepted = yield from lab.stage(STAGE, self._decide(team, lab, number))
            if accepted:
                return manuscript
        raise Dissolved(REJECTED)

    def _decide(self, team: Team, lab: Lab, number: int) -> Steps:
        record = Submission(number, 1, lab.now)
        team.submissions.append(record)
        yield from lab.wait(self.decision)
        accepted = bool(lab.rng("accept", number).random() < self.accept)
        record.decided, record.reviews = lab.now, 0
        record.decision = "accept" if accepted else "reject"
        lab.event("decided", submission=number, round=1, decision=record.decision)
        return accepted
