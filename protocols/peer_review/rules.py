"""The rules of peer review, of which each is one key under ``publication`` in a scenario.

The editor goes by them and knows nothing else of the publication part that they belong to.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, model_validator

from virsci_society.agents.config import Part
from virsci_society.protocols.peer_review.forms import Recommendation, Review
from virsci_society.society.formation.leaders import Anybody, ByProminence, Leaders, Productive
from virsci_society.society.formation.world_view import ExcludedRows
from virsci_society.society.kernel.durations import Days, Duration, Gamma, parse_days

if TYPE_CHECKING:
    import numpy as np

    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.world import World


Rule = Literal["majority", "all", "mean"]


class Decision(Part):
    """How recommendations and scores become one decision."""

    rule: Rule = "majority"
    """``majority``: accept or reject if more than half say so, else revise; ``all``: accept if all
    say so, reject if one does, else revise; ``mean``: by the mean overall score. Source:
    assumed."""
    accept_from: float = Field(default=6.5, ge=1, le=10)
    """With ``mean``: accept from this mean score on. Unit: score, 1..10. Source: assumed."""
    reject_below: float = Field(default=5.0, ge=1, le=10)
    """With ``mean``: reject below this mean score, revise in between. Unit: score, 1..10. Source:
    assumed."""

    @model_validator(mode="after")
    def _in_order(self) -> Decision:
        if self.reject_below > self.accept_from:
            raise ValueError("reject_below is above accept_from")
        return self

    def decide(self, reviews: Sequence[Review], final: bool) -> Recommendation:
        """Decide on one or more reviews; in the final round ``revise`` is ``reject``."""
        decision = self._apply_rule(reviews)
        # No round is left in which a revision could be judged.
        return "reject" if final and decision == "revise" else decision

    def _apply_rule(self, reviews: Sequence[Review]) -> Recommendation:
        if self.rule == "mean":
            score = fmean(review.overall for review in reviews)
            if score >= self.accept_from:
                return "accept"
            return "reject" if score < self.reject_below else "revise"
        votes = [review.recommendation for review in reviews]
        yes, no, total = votes.count("accept"), votes.count("reject"), len(votes)
        if self.rule == "all":
            return "accept" if yes == total else "reject" if no else "revise"
        return "accept" if 2 * yes > total else "reject" if 2 * no > total else "revise"


ReviewerChoice = Literal["interests", "uniform", "standing", "papers"]


class ReviewRules(Part):
    """Everything about peer review that a scenario can change."""

    reviewers: int = Field(default=3, ge=1, le=20)
    """Reviews that are sought in each round. Assumed; two or three are common. Unit: reviews.
    Source: assumed; two or three are common."""
    rounds: int = Field(default=2, ge=1, le=10)
    """Most rounds of one submission; in the last one a revision can no longer be asked for. Unit:
    rounds. Source: assumed."""
    submissions: int = Field(default=1, ge=1, le=20)
    """How often a manuscript is handed in at most, each time to reviewers drawn anew; after as many
    rejections the team ends (``rejected``). Unit: submissions. Source: assumed."""
    resubmission: Days = Field(default_factory=lambda: parse_days("30d"))
    """From a rejection to the next submission. Unit: days. Source: assumed."""
    choice: ReviewerChoice = "interests"
    """Who is asked: ``interests`` (one of the ``nearest`` to the manuscript in the knowledge bank),
    ``uniform`` (anybody), ``standing`` or ``papers`` (in proportion to citations, or papers, + 1).
    Source: assumed."""
    memory: Days | None = Field(default=None, gt=30, le=36_500)
    """With ``choice: papers``: time after which the weight of a paper has fallen to 1/e; null: it
    stays. Unit: days. Source: this project."""
    nearest: float = Field(default=0.1, gt=0, le=1)
    """With ``choice: interests``: as a share of the scientists in the society, at least one, among
    how many who may be asked one is drawn. Unit: share. Source: assumed."""
    conflicts: Literal["excluded", "allowed"] = "excluded"
    """Whether people who have written with one of the authors are asked. Source: assumed."""
    blind: Literal["none", "single", "double"] = "single"
    """``none``: both sides know each other's names; ``single``: reviewers are not named to the
    authors; ``double``: nor authors to the reviewers. Source: assumed."""
    invitations: int = Field(default=5, ge=1, le=100)
    """Scientists who are asked one after another for each review before the editor does without
    it; a reviewer who leaves the society is replaced within this limit. Unit: people. Source:
    assumed."""
    max_open: int = Field(default=2, ge=1, le=1000)
    """Nobody is asked who has agreed to so many reviews and not delivered them. Unit: reviews.
    Source: assumed."""
    effort: Duration = Field(default_factory=lambda: Gamma(mean=parse_days("1d")))
    """Work on one review, in days of full attention. Assumed: about a working day. Unit: days of
    full attention. Source: assumed."""
    screening: Days = Field(default_factory=lambda: parse_days("7d"))
    """From handing in to the first invitations; on that date the manuscript is read. Unit: days.
    Source: assumed."""
    answer: Days = Field(default_factory=lambda: parse_days("7d"))
    """From an invitation to the date on which its answer takes effect. Unit: days. Source:
    assumed."""
    due: Days = Field(default_factory=lambda: parse_days("30d"))
    """From agreeing to the date on which the review is due. Unit: days. Source: assumed."""
    reminders: int | None = Field(default=2, ge=0, le=100)
    """How often a late reviewer is reminded before the editor does without the review; null: it is
    waited for however long it takes. Unit: reminders. Source: assumed."""
    patience: Annotated[Days, Field(gt=0)] = Field(default_factory=lambda: parse_days("14d"))
    """From each reminder to the next, or to giving up. A reminder puts nothing first on a desk.
    Unit: days. Source: assumed."""
    deciding: Days = Field(default_factory=lambda: parse_days("7d"))
    """From the last review to the decision; on that date the reviews are read. Unit: days. Source:
    assumed."""
    decision: Decision = Field(default_factory=Decision)
    """How the reviews become one decision. Source: see its keys."""
    least: int = Field(default=1, ge=1, le=20)
    """With fewer reviews than these the editor goes by ``too_few``, else by those that came. Unit:
    reviews. Source: assumed."""
    too_few: Literal["reject", "accept"] = "reject"
    """What is decided on too few reviews. Source: assumed."""

    @model_validator(mode="after")
    def _fits_together(self) -> ReviewRules:
        if self.least > self.reviewers:
            raise ValueError("least is more than reviewers")
        return self

    def ineligible_rows(self, world: World, authors: Sequence[str]) -> ExcludedRows:
        """Rows of those who may not be asked to review the paper of some authors now.

        These are the authors, those who have left the society or come to it just now, those with
        too many open reviews and, as ``conflicts`` says, everybody who has written with an author.
        """
        people = world.population
        rows = [people.rows[author] for author in authors]
        closed = {*rows} | people.just_arrived()
        closed |= {row for row, open_ in world.reviewing.items() if open_ >= self.max_open}
        if self.conflicts == "excluded":
            closed |= {int(other) for row in rows for other in world.network.coauthors(row)[0]}
        return ExcludedRows(people.departed.keys(), closed)

    def draw_reviewer(
        self, lab: Lab, manuscript: Any, excluded: AbstractSet[int], rng: np.random.Generator
    ) -> str | None:
        """Draw one scientist to ask, as ``choice`` says; None where nobody is left."""
        names = lab.world.population.names
        if self.choice == "interests":
            # Sorted, because the order of a set changes from process to process (rule 12).
            without = [names[row] for row in sorted(excluded)]
            count = lab.world.population.share_of_present(self.nearest)
            near = lab.library.people(manuscript, count, without).read()
            return near[int(rng.integers(len(near)))].id if near else None
        rules: dict[str, Leaders] = {
            "uniform": Anybody(),
            "standing": ByProminence(),
            "papers": Productive(memory=self.memory),
        }
        row = rules[self.choice].choose(excluded, lab.world, rng)
        return None if row is None else names[row]
