"""The reply forms by which hypotheses are reviewed, compared in pairs, and learnt from.

The rules of the offline scientist are in ``offline_rules``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from pydantic import Field, field_validator

from virsci_society.agents.arrays import FloatArray
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
    reason: str = Field(
        default="", alias="Reason", description="one sentence that names what decides between them"
    )
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


START = 1200.0
"""Rating before the first match. Source: Gottweis et al. 2025, section 3.3.3."""
SCALE = 400.0
"""Difference of ratings at which the better of two is expected to win ten of eleven matches."""

Match: TypeAlias = tuple[int, int, float]
"""Places of the two that met, and the score of the first: 1 won, 0.5 drawn, 0 lost."""


def expected_score(rating: float, other: float) -> float:
    """The score that a rating lets expect against another one, 0 to 1."""
    return float(1.0 / (1.0 + 10.0 ** ((other - rating) / SCALE)))


def elo_ratings(count: int, matches: Sequence[Match], k: float) -> list[float]:
    """The ratings after some matches.

    Args:
        k: largest change by one match (> 0). Half of it moves between two of equal ratings.
    """
    ratings = [START] * count
    for first, second, score in matches:
        gain = k * (score - expected_score(ratings[first], ratings[second]))
        # Rounded, so that the last digits of a power on another machine decide nothing.
        ratings[first] = round(ratings[first] + gain, 6)
        ratings[second] = round(ratings[second] - gain, 6)
    return ratings


def rank(ratings: Sequence[float]) -> list[int]:
    """Places by falling rating; of equal ones the earliest first."""
    return sorted(range(len(ratings)), key=lambda place: (-ratings[place], place))


def pair_by_rating(
    ratings: Sequence[float],
    matches: Sequence[Match],
    likeness: FloatArray,
    playing: Collection[int],
) -> list[tuple[int, int]]:
    """Who meets whom in the next round; nothing is drawn.

    Those who have to play choose, the least tried first and of them the best rated. A partner is
    one whom they have met least often, of those the best rated, and of equal ones the most alike:
    so those without any match meet their likes, winners meet winners, and newcomers the best.

    Args:
        likeness: cosine of each with each, of shape (n, n).
    """
    met = Counter(frozenset(match[:2]) for match in matches)
    played = Counter(place for match in matches for place in match[:2])
    free = rank(ratings)
    pairs: list[tuple[int, int]] = []
    for one in sorted((place for place in free if place in playing), key=played.__getitem__):
        others = [place for place in free if place != one]
        if one not in free or not others:
            continue
        other = min(
            others,
            key=lambda place: (
                met[frozenset((one, place))],
                -ratings[place],
                -float(likeness[one, place]),
            ),
        )
        free = [place for place in others if place != other]
        pairs.append((one, other))
    return pairs


def likeness_of(units: Sequence[FloatArray]) -> FloatArray:
    """The cosine of each with each.

    Args:
        units: vectors of length 1, or zero vectors, of shape (dim,).

    Returns:
        A matrix of shape (n, n), rounded to nine digits, so that the last ones decide nothing.
    """
    stacked = np.stack(list(units)) if units else np.zeros((0, 1))
    return np.round(stacked @ stacked.T, 9)
