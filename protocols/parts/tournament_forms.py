"""The reply forms by which hypotheses are reviewed, compared in pairs, and learnt from.

The rules of the offline scientist are in ``offline_rules``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import Field, field_validator

from virsci_society.agents.replies.form import Form


class DeepReview(Form):
    """The review of a hypothesis by what it takes for granted. Slots: idea (CandidateIdea)."""

    assumptions: str = Field(
        default="",
        alias="Assumptions",
        description="what it takes for granted, point by point, and what speaks for or against it",
    )
    known: str = Field(
        default="",
        alias="Novelty",
        description="which part of it is known, from which papers, and what the rest would explain",
    )
    weakness: str = Field(
        alias="Weakness",
        description="the gravest flaw of its reasoning or its test, and whether all falls with it",
    )
    advice: str = Field(default="", alias="Advice", description="what would make it better")

    def words(self) -> str:
        """All parts, each under its name; empty if nothing was said."""
        parts = {
            "Assumptions": self.assumptions,
            "Novelty": self.known,
            "Weakness": self.weakness,
            "Advice": self.advice,
        }
        return "\n".join(f"{name}: {text}" for name, text in parts.items() if text)

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """Say nothing: an unreadable review is silence."""
        return cls(weakness="")


class PairChoice(Form):
    """Which of two ideas is better?

    Slots: first, second (CandidateIdeas), turns (most turns of a debate before; 1 or none: none).
    """

    debate: tuple[str, ...] = Field(
        default=(), alias="Debate", description="one turn: who speaks, and what is said"
    )
    reason: str = Field(default="", alias="Reason", description="what decides between the two")
    better: Literal["A", "B", ""] = Field(alias="Better", json_schema_extra={"enum": ["A", "B"]})

    @classmethod
    def unasked(cls, slots: Mapping[str, Any]) -> tuple[str, ...]:
        """No debate where a single comparison decides."""
        return () if slots.get("turns", 1) > 1 else ("Debate",)

    @field_validator("better", mode="before")
    @classmethod
    def _as_meant(cls, value: Any) -> Any:
        """Read "Idea A" and "b." as they are meant."""
        if not isinstance(value, str):
            return value
        return value.strip(" .\"'").casefold().removeprefix("idea").strip().upper()

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """A tie: half a point each."""
        return cls(better="")


class Lessons(Form):
    """What many reviews and comparisons have in common.

    Slots: topic, reviews (DeepReviews), verdicts (PairChoices), firsts and seconds (CandidateIdeas
    that were compared).
    """

    patterns: str = Field(
        alias="Patterns",
        description="points of criticism that recur, and what tends to win or lose a comparison",
    )
    advice: str = Field(
        default="",
        alias="Advice",
        description="what every further hypothesis has to do, and every further review to look at",
    )

    def words(self) -> str:
        """What recurs, and the advice; empty if nothing was said."""
        if not self.advice:
            return self.patterns
        return f"{self.patterns}\nTo be heeded: {self.advice}"

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """No lessons: unreadable ones are silence."""
        return cls(patterns="")
