"""Rules by which the offline scientist reviews: they measure words, and judge nothing.

A rating is made of three shares of the text (how long, how varied, how linked it is) and a little
noise; a list of remarks says which share was low or high. The rules stand in for a model so that
the commands can be tried without one, and their scores are of no other use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from virsci_society.agents.offline.text import split_sentences, stems, tokens, truncate_words

LONG = 250
"""Words of an abstract from which it counts as long."""
LINKS = frozenset({"because", "therefore", "thus", "so", "which", "while", "however", "then"})
NOISE = 0.7
DIMENSIONS: Mapping[str, tuple[float, float, float]] = {
    "Novelty": (0.1, 0.8, 0.1),
    "Workability": (0.4, 0.2, 0.4),
    "Relevance": (0.3, 0.3, 0.4),
    "Specificity": (0.8, 0.1, 0.1),
    "Integration Depth": (0.2, 0.5, 0.3),
    "Strategic Vision": (0.4, 0.5, 0.1),
    "Methodological Rigor": (0.6, 0.1, 0.3),
    "Argumentative Cohesion": (0.1, 0.1, 0.8),
    "Overall": (0.3, 0.4, 0.3),
}
"""Weights of long, varied and linked in each dimension; they add up to one."""

Slots = Mapping[str, Any]


def text_shares(slots: Slots) -> tuple[float, float, float]:
    """How long, how varied and how linked an abstract is, each 0 to 1."""
    text = str(slots.get("abstract", ""))
    words, parts = tokens(text), split_sentences(text)
    linked = sum(any(word in LINKS for word in tokens(part)) for part in parts)
    varied = len(stems(text)) / max(1, len(words))
    return min(1.0, len(words) / LONG), min(1.0, 1.5 * varied), linked / max(1, len(parts))


def rating(slots: Slots, dimension: str, rng: np.random.Generator) -> int:
    """A score from shares of the text.

    Args:
        slots: slots of the prompt; ``abstract`` is read.
        dimension: a key of ``DIMENSIONS``.
        rng: draws the noise.

    Returns:
        A whole number from 1 to 10.
    """
    parts = zip(DIMENSIONS[dimension], text_shares(slots), strict=True)
    mean = 2.0 + 6.0 * sum(weight * share for weight, share in parts)
    return int(np.clip(round(mean + NOISE * rng.standard_normal()), 1, 10))


def remarks(slots: Slots) -> dict[str, Any]:
    """Summary, strengths, weaknesses and questions, as the shares of the text give them."""
    named = zip(("length", "variety of words", "linking words"), text_shares(slots), strict=True)
    high: list[str] = []
    low: list[str] = []
    for name, share in named:
        (high if share >= 0.5 else low).append(f"{name}: {share:.2f} of what a rule asks for")
    first = next(iter(split_sentences(str(slots.get("abstract", "")))), "")
    return {
        "Summary": truncate_words(first or str(slots.get("title", "")), 30),
        "Strengths": high,
        "Weaknesses": low,
        "Questions": ["What would a reader who understands the text say?"],
    }


def proposal(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """A review in all dimensions; the one before moves by at most a point towards what is found."""
    scores = {name: rating(slots, name, rng) for name in DIMENSIONS}
    before = slots.get("previous")
    if before is not None:
        previous = {name: int(score) for name, score in scores_in(before).items()}
        scores = {
            name: previous[name] + int(np.sign(scores[name] - previous[name])) for name in scores
        }
    return {**remarks(slots), **scores}


def consensus(slots: Slots) -> dict[str, Any]:
    """The rounded mean of the reviews in every dimension."""
    reviews: Sequence[Any] = slots["reviews"]
    given = [scores_in(review) for review in reviews]
    return {**remarks(slots), **{name: round(fmean(g[name] for g in given)) for name in DIMENSIONS}}


def scores_in(review: Any) -> dict[str, float]:
    """The scores of a review under the names of the rubric."""
    data = review.model_dump(by_alias=True)
    return {name: data[name] for name in DIMENSIONS if name in data}
