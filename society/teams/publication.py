"""Rules of publication that ask nobody, where every manuscript appears or a random draw decides.

Publication is what lies between a finished manuscript and its paper. The delay
``time.publication_delay`` runs from the acceptance of the manuscript. Review by scientists of the
society is such a rule too; it lives in ``protocols.peer_review``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from virsci_society.agents.errors import Dissolved
from virsci_society.society.kernel.durations import Days, parse_days
from virsci_society.society.teams.contracts import Manuscript, Publication
from virsci_society.society.teams.team import Submission, Team

if TYPE_CHECKING:
    from virsci_society.society.kernel.process import Process
    from virsci_society.society.teams.lab import Lab

STAGE = "publication"
"""The stage of every call and of all homework between handing in and appearing."""
REJECTED = "rejected"
"""The reason why a team ends whose manuscript was accepted nowhere."""


class Unreviewed(Publication):
    """Every finished manuscript appears, ``time.publication_delay`` after it is finished."""

    def consider(self, team: Team, lab: Lab, manuscript: Manuscript) -> Process[Manuscript]:
        """Accepted at once."""
        yield from ()
        return manuscript


class ByChance(Publication):
    """A lot decides, and nobody is asked: the wordless counterpart of review, and its null model.

    Nobody spends any time on it.
    """

    accept: float = Field(default=0.5, ge=0, le=1, allow_inf_nan=False)
    """Probability that a submission is accepted. Unit: probability. Source: assumed."""
    decision: Days = Field(default_factory=lambda: parse_days("90d"))
    """From a submission to its decision. Unit: days. Source: assumed."""
    submissions: int = Field(default=1, ge=1, le=1000)
    """How often a manuscript is handed in at most; after as many rejections the team ends. Unit:
    submissions. Source: assumed."""
    resubmission: Days = Field(default_factory=lambda: parse_days("30d"))
    """From a rejection to the next submission. Unit: days. Source: assumed."""

    def consider(self, team: Team, lab: Lab, manuscript: Manuscript) -> Process[Manuscript]:
        """Draw lots until one is good."""
        for number in range(1, self.submissions + 1):
            if number > 1:
                yield from lab.wait(self.resubmission)
            accepted = yield from lab.stage(STAGE, self._decide(team, lab, number))
            if accepted:
                return manuscript
        raise Dissolved(REJECTED)

    def _decide(self, team: Team, lab: Lab, number: int) -> Process[bool]:
        record = Submission(number, 1, lab.now)
        team.submissions.append(record)
        yield from lab.wait(self.decision)
        # A stream per submission, so that each has a draw of its own (rule 9).
        accepted = bool(lab.rng("accept", number).random() < self.accept)
        record.decided, record.reviews = lab.now, 0
        record.decision = "accept" if accepted else "reject"
        lab.event("decided", submission=number, round=1, decision=record.decision)
        return accepted
