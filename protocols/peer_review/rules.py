"""The rules of peer review, of which each is one key under ``publication`` in a scenario.

The editor goes by them and knows nothing else of the publication part that they belong to.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from virsci_society.agents.config import Part
from virsci_society.protocols.peer_review.decision import Decision
from virsci_society.protocols.peer_review.reviewer_selection import ReviewerChoice
from virsci_society.society.kernel.durations import Days, Duration, Gamma, parse_days


class ReviewRules(Part):
    """Everything about peer review that a scenario can change."""

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
    choice: ReviewerChoice = "interests"
    """Who is asked: ``interests`` (one of the ``nearest`` to the manuscript in the knowledge bank),
    ``uniform`` (anybody), ``standing`` or ``papers`` (in proportion to citations, or papers, + 1).
    Assumed."""
    memory: Days | None = Field(default=None, gt=30, le=36_500)
    """With ``choice: papers``: time after which the weight of a paper has fallen to 1/e; null: it
    stays."""
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
    max_open: int = Field(default=2, ge=1, le=1000)
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
    least: int = Field(default=1, ge=1, le=20)
    """With fewer reviews than these the editor goes by ``too_few``, else by those that came.
    Assumed."""
    too_few: Literal["reject", "accept"] = "reject"
    """What is decided on too few reviews. Assumed."""

    @model_validator(mode="after")
    def _fits_together(self) -> ReviewRules:
        if self.least > self.reviewers:
            raise ValueError("least is more than reviewers")
        return self
