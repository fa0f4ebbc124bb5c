"""The editor's decision on a manuscript, from the reviews, by a stated rule."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Literal

from pydantic import Field, model_validator

from virsci_society.agents.config import Part
from virsci_society.protocols.peer_review.forms import Recommendation, Review

Rule = Literal["majority", "all", "mean"]


class Decision(Part):
    """How recommendations and scores become one decision."""

    rule: Rule = "majority"
    """``majority``: accept or reject if more than half say so, else revise; ``all``: accept if all
    say so, reject if one does, else revise; ``mean``: by the mean overall score. Assumed."""
    accept_from: float = Field(default=6.5, ge=1, le=10)
    """With ``mean``: accept from this mean score on. Assumed."""
    reject_below: float = Field(default=5.0, ge=1, le=10)
    """With ``mean``: reject below this mean score, revise in between. Assumed."""

    @model_validator(mode="after")
    def _in_order(self) -> Decision:
        if self.reject_below > self.accept_from:
            raise ValueError("reject_below is above accept_from")
        return self

    def decide(self, reviews: Sequence[Review], final: bool) -> Recommendation:
        """Decide on one or more reviews; in the final round ``revise`` is ``reject``."""
        decision = self._apply_rule(reviews)
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
