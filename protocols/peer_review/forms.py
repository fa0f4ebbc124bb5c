"""Reply forms of peer review, for requests, reviews and revised manuscripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, field_validator

from virsci_society.agents.prompts.prompt import Prompts
from virsci_society.agents.replies.form import Form
from virsci_society.protocols.forms import Choice

PROMPTS = Prompts(Path(__file__).with_name("prompts"))
"""The pages on which the forms are asked for, one text file each."""

Recommendation = Literal["accept", "revise", "reject"]
Mark = Annotated[float, Field(ge=1, le=10)]
"""A score of a manuscript; 1 is lowest."""
_SYNONYMS = {
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
    """The answer to a request to review a manuscript."""


class Review(Form):
    """The review of one manuscript by one reviewer."""

    comments: str = Field(
        alias="Comments", description="say what is good, what is wrong, what should be done"
    )
    originality: Mark = Field(alias="Originality")
    soundness: Mark = Field(alias="Soundness")
    clarity: Mark = Field(alias="Clarity")
    overall: Mark = Field(alias="Overall")
    recommendation: Recommendation = Field(alias="Recommendation")

    @classmethod
    def allowed_values(cls, slots: Mapping[str, Any]) -> Mapping[str, Sequence[str]]:
        """In the last round nothing can be revised."""
        return {"Recommendation": ("accept", "reject")} if slots.get("final") else {}

    @field_validator("recommendation", mode="before")
    @classmethod
    def _as_meant(cls, value: Any) -> Any:
        """Read "Major revision" as revise."""
        if not isinstance(value, str):
            return value
        word = value.strip(" .\"'").casefold()
        return _SYNONYMS.get(word, word)

    def words(self) -> str:
        """Recommendation, scores and comments."""
        return (
            f"Recommendation: {self.recommendation}. Originality {self.originality:g}, "
            f"Soundness {self.soundness:g}, Clarity {self.clarity:g}, Overall "
            f"{self.overall:g}. {self.comments}"
        )

    instead: ClassVar = None
    """None: a recommendation cannot be made up; the editor decides without this review."""


@dataclass(frozen=True, slots=True)
class Report:
    """A review as it is shown to the authors."""

    reviewer: str
    said: Form


class Rewrite(Form):
    """A revised manuscript. Slots: manuscript, reports (Reports)."""

    words_asked: ClassVar[Mapping[str, int]] = {"Abstract": 200}

    response: str = Field(
        default="",
        alias="Response",
        description="answer the reviewers: what you change and what not, and why",
    )
    title: str = Field(alias="Title", min_length=1, description="give the paper a title")
    abstract: str = Field(alias="Abstract", min_length=1, description="write the whole abstract")

    def words(self) -> str:
        """Title and abstract."""
        return f"{self.title}\n{self.abstract}"

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """The manuscript, unchanged."""
        manuscript = slots["manuscript"]
        return cls(title=manuscript.title, abstract=manuscript.abstract)
