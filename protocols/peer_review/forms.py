"""The forms of review: a request to review, the review, the revision that it asks for.

The rules by which the offline scientist answers them live in ``agents/offline/refereeing.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, field_validator

from agents.forms import Form
from agents.offline import refereeing
from protocols.forms import Choice

Recommendation = Literal["accept", "revise", "reject"]
Mark = Annotated[float, Field(ge=1, le=10)]
"""A score of a manuscript; 1 is lowest."""
_MEANT = {
    "accepted": "accept",
    "acceptance": "accept",
    "revision": "revise",
    "minor revision": "revise",
    "major revision": "revise",
    "rejected": "reject",
    "rejection": "reject",
}
"""What recommendations are also called."""


class Willingness(Choice):
    """Does a scientist agree to review?

    Slots: manuscript, authors (Profiles; empty where they are withheld), load (teams the scientist
    is in now), open (reviews it has agreed to and not delivered), days (until the review is due).
    """

    @classmethod
    def rehearse(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """Agree the likelier, the nearer the manuscript is and the less there is to do."""
        return cls.model_validate(refereeing.willingness(slots, rng))


class Review(Form):
    """One review.

    Slots: manuscript, authors (as above), round (from 1), final (no revision can follow),
    response (what the authors say of their revision, or ""), earlier (the reviewer's Review of
    the round before, or None).
    """

    ruled: ClassVar[bool] = True
    recommendation: Recommendation = Field(alias="Recommendation")
    originality: Mark = Field(alias="Originality")
    soundness: Mark = Field(alias="Soundness")
    clarity: Mark = Field(alias="Clarity")
    overall: Mark = Field(alias="Overall")
    comments: str = Field(alias="Comments")

    @field_validator("recommendation", mode="before")
    @classmethod
    def _as_meant(cls, value: Any) -> Any:
        """Read "Major revision" as revise."""
        if not isinstance(value, str):
            return value
        said = value.strip(" .\"'").casefold()
        return _MEANT.get(said, said)

    def words(self) -> str:
        """Recommendation, scores and comments."""
        return (
            f"Recommendation: {self.recommendation}. Originality {self.originality:g}, "
            f"Soundness {self.soundness:g}, Clarity {self.clarity:g}, Overall "
            f"{self.overall:g}. {self.comments}"
        )

    @classmethod
    def rehearse(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """Score by nearness, chance and round; recommend by the overall score."""
        return cls.model_validate(refereeing.review(slots, rng))

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """None: a recommendation cannot be made up; the editor decides without this review."""
        return None


@dataclass(frozen=True, slots=True)
class Report:
    """A review as the authors are shown it; ``reviewer`` is empty where names are withheld."""

    reviewer: str
    said: Review


class Rewrite(Form):
    """A revised manuscript. Slots: manuscript, reports (Reports)."""

    ruled: ClassVar[bool] = True
    title: str = Field(alias="Title", min_length=1)
    abstract: str = Field(alias="Abstract", min_length=1)
    response: str = Field(default="", alias="Response")

    def words(self) -> str:
        """Title and abstract."""
        return f"{self.title}\n{self.abstract}"

    @classmethod
    def rehearse(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """Rewrite as in a review round of the abstract, with what the reviewers name."""
        return cls.model_validate(refereeing.rewrite(slots, rng))

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """An unreadable revision leaves the manuscript as it stands."""
        manuscript = slots["manuscript"]
        return cls(title=manuscript.title, abstract=manuscript.abstract)
