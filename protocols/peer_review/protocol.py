"""Peer review: a finished manuscript is submitted, reviewed in rounds, and accepted or not."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, model_validator

from agents.errors import Dissolved
from protocols.peer_review.choice import By
from protocols.peer_review.decision import Decision
from protocols.peer_review.editor import Editor
from society.durations import Days, Duration, Gamma, parse_days
from society.interfaces import Manuscript
from society.publication import REJECTED, STAGE, Publication

if TYPE_CHECKING:
    from society.lab import Lab
    from society.team import Team


class PeerReview(Publication):
    """Reviewers from the population are invited, work at their desks, and recommend.

    An editor, who is no scientist of the society and spends no attention, goes by stated rules.
    """

    reviewers: int = Field(default=3, ge=1, le=20)
    """Reviews that are sought in each round. Assumed; two or three are common."""
    rounds: int = Field(default=2, ge=1, le=10)
    """Most rounds of one submission; in the last one a revision can no longer be asked for.
    Assumed."""
    submissions: int = Field(default=1, ge=1, le=20)
    """How often a manuscript is handed in at most, each time to reviewers drawn anew; after as many
    rejections the team ends (``rejected``). Assumed."""
    resubmission: Days = Field(default_factory=lambda: parse_days("30d"))
    """From a rejection to the next submission. Assumed."""
    choice: By = "interests"
    """Who is asked: ``interests`` (one of the ``nearest`` to the manuscript in the knowledge bank),
    ``uniform`` (anybody) or ``standing`` (in proportion to citations + 1). Assumed."""
    nearest: int = Field(default=12, ge=1, le=1000)
    """With ``choice: interests``: among so many who may be asked one is drawn. Assumed."""
    conflicts: Literal["excluded", "allowed"] = "excluded"
    """Whether people who have written with one of the authors are asked."""
    blind: Literal["none", "single", "double"] = "single"
    """``none``: the names of both sides are told; ``single``: reviewers are not named to the
    authors; ``double``: nor authors to the reviewers."""
    invitations: int = Field(default=5, ge=1, le=100)
    """Scientists who are asked one after another for each review before the editor does without
    it; a reviewer who leaves the society is replaced within this limit. Assumed."""
    max_open: int = Field(default=2, ge=1)
    """Nobody is asked who has agreed to so many reviews and not delivered them. Assumed."""
    effort: Duration = Field(default_factory=lambda: Gamma(mean=parse_days("1d")))
    """Work on one review, in days of full attention. Assumed: about a working day."""
    screening: Days = Field(default_factory=lambda: parse_days("7d"))
    """From handing in to the first invitations; on that date the manuscript is read. Assumed."""
    answer: Days = Field(default_factory=lambda: parse_days("7d"))
    """From an invitation to the date on which its answer takes effect. Assumed."""
    due: Days = Field(default_factory=lambda: parse_days("30d"))
    """From agreeing to the date on which the review is due. Assumed."""
    reminders: int | None = Field(default=2, ge=0, le=100)
    """How often a late reviewer is reminded before the editor does without the review; null: it is
    waited for however long it takes. Assumed."""
    patience: Annotated[Days, Field(gt=0)] = Field(default_factory=lambda: parse_days("14d"))
    """From each reminder to the next, or to giving up. A reminder puts nothing first on a desk.
    Assumed."""
    deciding: Days = Field(default_factory=lambda: parse_days("7d"))
    """From the last review to the decision; on that date the reviews are read. Assumed."""
    decision: Decision = Field(default_factory=Decision)
    """How the reviews become one decision."""
    least: int = Field(default=1, ge=1)
    """With fewer reviews than these the editor goes by ``too_few``, else by those that came.
    Assumed."""
    too_few: Literal["reject", "accept"] = "reject"
    """What is decided on too few reviews. Assumed."""

    @model_validator(mode="after")
    def _fits_together(self) -> PeerReview:
        if self.least > self.reviewers:
            raise ValueError("least is more than reviewers")
        return self

    @property
    def windows(self) -> Mapping[str, float]:
        """Reading the manuscript, the answers and the reviews."""
        found = {name: float(getattr(self, name)) for name in ("screening", "answer", "deciding")}
        return {f"publication.{name}": days for name, days in found.items()}

    def consider(
        self, team: Team, lab: Lab, manuscript: Manuscript
    ) -> Generator[Any, Any, Manuscript]:
        """Submit, and where it is rejected submit elsewhere."""
        for number in range(1, self.submissions + 1):
            if number > 1:
                yield from lab.wait(self.resubmission)
            editor = Editor(self, team, lab, number)
            accepted, manuscript = yield from lab.stage(STAGE, editor.judge(manuscript))
            if accepted:
                return manuscript
        raise Dissolved(REJECTED)
