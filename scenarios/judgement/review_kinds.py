"""KINDS, the table of the kinds of review by a model, and the forms that reviewers fill in.

No form has a default: an unreadable review is a missing one. The rules by which the offline
scientist reviews measure words, and judge nothing. A score is made of three shares of the text (how
long, how varied, how linked it is) and a little noise; a list of remarks says which share was low
or high. The rules stand in for a model so that the commands can be tried without one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from virsci_society.agents.offline.asked import Asked, Rule
from virsci_society.agents.offline.text import split_sentences, stems, tokens, truncate_words
from virsci_society.agents.prompts.prompt import Prompt
from virsci_society.agents.replies.form import Form

PROMPTS = Path(__file__).with_name("prompts")
REVIEWER = (PROMPTS / "reviewer.txt").read_text(encoding="utf-8").strip()
RUBRIC = (PROMPTS / "rubric.txt").read_text(encoding="utf-8").strip()
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

Score = Annotated[float, Field(ge=1, le=10)]
"""1 is lowest, 10 highest."""


class Remarks(Form):
    """What every review says in words."""

    summary: str = Field(alias="Summary", min_length=1, description="two or three sentences")
    strengths: tuple[str, ...] = Field(default=(), alias="Strengths", description="one point each")
    weaknesses: tuple[str, ...] = Field(
        default=(), alias="Weaknesses", description="one point each"
    )
    questions: tuple[str, ...] = Field(default=(), alias="Questions", description="one point each")


class ConferenceReview(Remarks):
    """VirSci's review (Fig. 25): a conference review cut down to what an abstract can show.

    Slots: title, abstract.
    """

    ethics: bool = Field(default=False, alias="Ethics")
    overall: Score = Field(alias="Overall")


class NoveltyRating(Form):
    """How novel an idea is, on the scale of Si et al. (2024). Slots: title, abstract."""

    reason: str = Field(
        default="",
        alias="Reason",
        description="two or three sentences that name the nearest known work and the difference",
    )
    novelty: Score = Field(alias="Novelty")


class Dimensions(Remarks):
    """The eight dimensions of the rubric of Chen et al. (2025) for proposals."""

    novelty: Score = Field(alias="Novelty")
    workability: Score = Field(alias="Workability")
    relevance: Score = Field(alias="Relevance")
    specificity: Score = Field(alias="Specificity")
    integration_depth: Score = Field(alias="Integration Depth")
    strategic_vision: Score = Field(alias="Strategic Vision")
    methodological_rigor: Score = Field(alias="Methodological Rigor")
    argumentative_cohesion: Score = Field(alias="Argumentative Cohesion")


class RubricReview(Dimensions):
    """Eight dimensions; the whole is their mean. Slots: title, abstract, topic, rubric."""

    @property
    def overall(self) -> float:
        """The mean of the dimensions."""
        return fmean(scores_in(self).values())


class ProposalReview(Dimensions):
    """Eight dimensions and the whole, which is a judgement of its own.

    Slots: title, abstract, topic, rubric; previous (ProposalReview), round and rounds when the
    reviewer goes over its review again.
    """

    overall: Score = Field(alias="Overall")


class MetaReview(ProposalReview):
    """The review on which a committee agrees. Slots: title, abstract, rubric, reviews."""


def _conference_review(asked: Asked) -> dict[str, Any]:
    """Remarks and one score from shares of the text."""
    told = {**remarks(asked.slots), "Ethics": False}
    return {**told, "Overall": rule_score(asked.slots, "Overall", asked.rng)}


def _novelty_rating(asked: Asked) -> dict[str, Any]:
    """One score from shares of the text."""
    score = rule_score(asked.slots, "Novelty", asked.rng)
    return {"Reason": "A rule has counted words.", "Novelty": score}


def _proposal_review(asked: Asked) -> dict[str, Any]:
    """A score of each dimension; the one before moves by at most a point towards it."""
    scores = {name: rule_score(asked.slots, name, asked.rng) for name in DIMENSIONS}
    if (before := asked.slots.get("previous")) is not None:
        previous = {name: int(score) for name, score in scores_in(before).items()}
        scores = {
            name: previous[name] + int(np.sign(score - previous[name]))
            for name, score in scores.items()
        }
    return {**remarks(asked.slots), **scores}


def _rubric_review(asked: Asked) -> dict[str, Any]:
    """The same without a judgement of the whole."""
    return {name: told for name, told in _proposal_review(asked).items() if name != "Overall"}


def _meta_review(asked: Asked) -> dict[str, Any]:
    """The rounded mean of the reviews in every dimension."""
    given = [scores_in(review) for review in asked.slots["reviews"]]
    scores = {name: round(fmean(one[name] for one in given)) for name in DIMENSIONS}
    return {**remarks(asked.slots), **scores}


OFFLINE_RULES: dict[type[Form], Rule] = {
    ConferenceReview: _conference_review,
    NoveltyRating: _novelty_rating,
    RubricReview: _rubric_review,
    ProposalReview: _proposal_review,
    MetaReview: _meta_review,
}
"""The rule of each form."""


@dataclass(frozen=True)
class ReviewQuestion:
    """One question to a reviewer: its prompt, by name, and the form of the answer."""

    name: str
    form: type[Form]

    @cached_property
    def prompt(self) -> Prompt:
        """The prompt, put to somebody outside the society."""
        return Prompt(PROMPTS / f"{self.name}.txt", REVIEWER)


@dataclass(frozen=True)
class ReviewKind:
    """One way of reviewing.

    Attributes:
        name: as the user gives it.
        source: where it is from.
        first: what every reviewer is asked first.
        scores: names of the scores, as they stand in the form and in the tables.
        reviewers: independent reviewers of each abstract.
        reflections: rounds in which each goes over its own review again.
        again: what it is asked in those rounds.
        meta: what the chair is asked when all have ended; None: scores are averaged.
    """

    name: str
    source: str
    first: ReviewQuestion
    scores: tuple[str, ...]
    reviewers: int = 3
    reflections: int = 0
    reflection: ReviewQuestion | None = None
    meta: ReviewQuestion | None = None

    @property
    def questions(self) -> tuple[ReviewQuestion, ...]:
        """All questions of this kind."""
        return tuple(page for page in (self.first, self.reflection, self.meta) if page is not None)

    @property
    def calls(self) -> int:
        """Calls for each abstract, where every reply can be read."""
        return self.reviewers * (1 + self.reflections) + int(self.meta is not None)

    @property
    def hash(self) -> str:
        """sha256 of the number of reviewers and of all they are shown beside the abstract."""
        texts = [REVIEWER, RUBRIC, f"{self.reviewers} {self.reflections}"]
        texts += [f"{page.prompt.text}\n{page.form.schema_text()}" for page in self.questions]
        return hashlib.sha256("\x1f".join(texts).encode()).hexdigest()


RUBRIC_SCORES = tuple(name.lower().replace(" ", "_") for name in DIMENSIONS)
KINDS: Mapping[str, ReviewKind] = {
    "virsci": ReviewKind(
        "virsci",
        "a conference review of the abstract (VirSci, Fig. 25), three times averaged",
        ReviewQuestion("virsci", ConferenceReview),
        ("overall",),
    ),
    "novelty": ReviewKind(
        "novelty",
        "novelty on the scale of Si et al. (2024), three times averaged (VirSci, Fig. 10)",
        ReviewQuestion("novelty", NoveltyRating),
        ("novelty",),
    ),
    "proposal": ReviewKind(
        "proposal",
        "eight dimensions, three reviewers with three rounds of reflection, then a meta-review "
        "(Chen et al. 2025)",
        ReviewQuestion("proposal", ProposalReview),
        RUBRIC_SCORES,
        reflections=3,
        reflection=ReviewQuestion("reflect", ProposalReview),
        meta=ReviewQuestion("meta", MetaReview),
    ),
    "proposal_told": ReviewKind(
        "proposal_told",
        "the same dimensions by three reviewers who are told what to expect of a leader, averaged, "
        "as in the released program of Chen et al. (2025)",
        ReviewQuestion("proposal_told", RubricReview),
        RUBRIC_SCORES,
    ),
}
SCORES = tuple(dict.fromkeys(name for kind in KINDS.values() for name in kind.scores))
"""Every score there is, in the order of the tables."""


def text_shares(slots: Mapping[str, Any]) -> tuple[float, float, float]:
    """How long, how varied and how linked an abstract is, each 0 to 1."""
    text = str(slots.get("abstract", ""))
    words, parts = tokens(text), split_sentences(text)
    linked = sum(any(word in LINKS for word in tokens(part)) for part in parts)
    varied = len(stems(text)) / max(1, len(words))
    return min(1.0, len(words) / LONG), min(1.0, 1.5 * varied), linked / max(1, len(parts))


def rule_score(slots: Mapping[str, Any], dimension: str, rng: np.random.Generator) -> int:
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


def remarks(slots: Mapping[str, Any]) -> dict[str, Any]:
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


def scores_in(review: Any) -> dict[str, float]:
    """The scores of a review under the names of the rubric."""
    data = review.model_dump(by_alias=True)
    return {name: data[name] for name in DIMENSIONS if name in data}
