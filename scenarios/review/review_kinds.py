"""The kinds of review by a model, and the forms that reviewers fill in.

No form has a default, so an unreadable review is a missing one; offline rules judge nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from virsci_society.agents.offline.question_context import Asked, Rule
from virsci_society.agents.offline.text import split_sentences, tokens, truncate_words
from virsci_society.agents.prompts.prompt import Prompt
from virsci_society.agents.replies.form import Form

PROMPTS = Path(__file__).with_name("prompts")
REVIEWER = (PROMPTS / "reviewer.txt").read_text(encoding="utf-8").strip()
RUBRIC = (PROMPTS / "rubric.txt").read_text(encoding="utf-8").strip()

Score = Annotated[float, Field(ge=1, le=10)]
"""1 is lowest, 10 highest."""


class Remarks(Form):
    """The texts of every review."""

    summary: str = Field(
        alias="Summary", min_length=1, description="sum it up in two or three sentences"
    )
    strengths: tuple[str, ...] = Field(
        default=(), alias="Strengths", description="make one point in each"
    )
    weaknesses: tuple[str, ...] = Field(
        default=(), alias="Weaknesses", description="make one point in each"
    )
    questions: tuple[str, ...] = Field(
        default=(), alias="Questions", description="make one point in each"
    )


class ConferenceReview(Remarks):
    """VirSci's review (Fig. 25): a conference review cut down to what an abstract can show."""

    ethics: bool = Field(default=False, alias="Ethics")
    overall: Score = Field(alias="Overall")


class NoveltyRating(Form):
    """How novel an idea is, on the scale of Si et al. (2024)."""

    reason: str = Field(
        default="",
        alias="Reason",
        description="name the nearest known work and the difference in two or three sentences",
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
    """Eight dimensions, whose mean is the overall score."""

    @property
    def overall(self) -> float:
        """The mean of the dimensions."""
        return fmean(_scores_in(self).values())


class ProposalReview(Dimensions):
    """Eight dimensions and an overall score of its own; in a reflection, a revised review."""

    overall: Score = Field(alias="Overall")


class MetaReview(ProposalReview):
    """The review on which a committee agrees."""


SCORED = tuple(
    str(field.alias)
    for name, field in ProposalReview.model_fields.items()
    if name not in Remarks.model_fields
)
"""The eight dimensions and the overall score, as the rubric calls them."""
LONG = 250
"""Words of an abstract from which it counts as long."""
NOISE = 1.0


def _score_by_rule(asked: Asked) -> int:
    """A whole number from 1 to 10 that rises with the length of the abstract."""
    length = min(1.0, len(tokens(str(asked.slots.get("abstract", "")))) / LONG)
    return int(np.clip(round(3 + 5 * length + NOISE * asked.rng.standard_normal()), 1, 10))


def _remarks(slots: Mapping[str, Any]) -> dict[str, Any]:
    abstract = str(slots.get("abstract", ""))
    first = next(iter(split_sentences(abstract)), str(slots.get("title", "")))
    return {
        "Summary": truncate_words(first, 30),
        "Strengths": [f"It has {len(tokens(abstract))} words."],
        "Weaknesses": ["A rule has counted them and read none."],
        "Questions": ["What would a reader who understands the text say?"],
    }


def _scores_in(review: Any) -> dict[str, float]:
    """The scores of a review under the names of the rubric."""
    data = review.model_dump(by_alias=True)
    return {name: data[name] for name in SCORED if name in data}


def _conference_review(asked: Asked) -> dict[str, Any]:
    return {**_remarks(asked.slots), "Ethics": False, "Overall": _score_by_rule(asked)}


def _novelty_rating(asked: Asked) -> dict[str, Any]:
    return {"Reason": "A rule has counted words.", "Novelty": _score_by_rule(asked)}


def _proposal_review(asked: Asked) -> dict[str, Any]:
    """Score each dimension; a reflection moves a score by at most one point."""
    scores = {name: _score_by_rule(asked) for name in SCORED}
    if (previous := asked.slots.get("previous")) is not None:
        before = {name: int(score) for name, score in _scores_in(previous).items()}
        scores = {name: before[name] + int(np.sign(scores[name] - before[name])) for name in scores}
    return {**_remarks(asked.slots), **scores}


def _rubric_review(asked: Asked) -> dict[str, Any]:
    return {name: value for name, value in _proposal_review(asked).items() if name != "Overall"}


def _meta_review(asked: Asked) -> dict[str, Any]:
    scores = [_scores_in(review) for review in asked.slots["reviews"]]
    means = {name: round(fmean(review_scores[name] for review_scores in scores)) for name in SCORED}
    return {**_remarks(asked.slots), **means}


OFFLINE_RULES: dict[type[Form], Rule] = {
    ConferenceReview: _conference_review,
    NoveltyRating: _novelty_rating,
    RubricReview: _rubric_review,
    ProposalReview: _proposal_review,
    MetaReview: _meta_review,
}
"""The rule of each form."""
IDEA_SCORES = ("novelty", "feasibility", "effectiveness")
"""What people rate an idea on (Si et al. 2024)."""
RUBRIC_SCORES = tuple(name.lower().replace(" ", "_") for name in SCORED)


Question = tuple[Prompt, type[Form]]
"""A page for somebody outside the society, and the form of the answer."""


def _question(page: str, form: type[Form]) -> Question:
    return Prompt(PROMPTS / f"{page}.txt", REVIEWER), form


@dataclass(frozen=True)
class ReviewKind:
    """One way of reviewing."""

    name: str
    source: str
    first: Question
    scores: tuple[str, ...]
    rated: tuple[str, ...] = IDEA_SCORES
    reviewers: int = 3
    reflections: int = 0
    reflection: Question | None = None
    meta: Question | None = None


KINDS: Mapping[str, ReviewKind] = {
    "virsci": ReviewKind(
        "virsci",
        "a conference review of the abstract (VirSci, Fig. 25), three times averaged",
        _question("virsci", ConferenceReview),
        ("overall",),
    ),
    "novelty": ReviewKind(
        "novelty",
        "novelty on the scale of Si et al. (2024), three times averaged (VirSci, Fig. 10)",
        _question("novelty", NoveltyRating),
        ("novelty",),
    ),
    "proposal": ReviewKind(
        "proposal",
        "eight dimensions, three reviewers with three rounds of reflection, then a meta-review "
        "(Chen et al. 2025)",
        _question("proposal", ProposalReview),
        RUBRIC_SCORES,
        RUBRIC_SCORES,
        reflections=3,
        reflection=_question("reflect", ProposalReview),
        meta=_question("meta", MetaReview),
    ),
    "proposal_told": ReviewKind(
        "proposal_told",
        "the same dimensions by three reviewers who are told what to expect of a leader, averaged, "
        "as in the released program of Chen et al. (2025)",
        _question("proposal_told", RubricReview),
        RUBRIC_SCORES,
        RUBRIC_SCORES,
    ),
}
SCORES = tuple(dict.fromkeys(name for kind in KINDS.values() for name in kind.scores))
"""All scores, in the order of the tables."""
