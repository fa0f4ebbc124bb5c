"""Forms that reviewers fill in. None has a default: an unreadable review is a missing one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import Field

from virsci_society.agents.replies.form import Form
from virsci_society.scenarios.judgement.reviews import offline_rules

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

    has_rule: ClassVar[bool] = True
    ethics: bool = Field(default=False, alias="Ethics")
    overall: Score = Field(alias="Overall")

    @classmethod
    def answer_by_rule(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """Remarks and one score from shares of the text."""
        told = {**offline_rules.remarks(slots), "Ethics": False}
        return cls.model_validate({**told, "Overall": offline_rules.rating(slots, "Overall", rng)})


class NoveltyRating(Form):
    """How novel an idea is, on the scale of Si et al. (2024). Slots: title, abstract."""

    has_rule: ClassVar[bool] = True
    reason: str = Field(
        default="",
        alias="Reason",
        description="two or three sentences that name the nearest known work and the difference",
    )
    novelty: Score = Field(alias="Novelty")

    @classmethod
    def answer_by_rule(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """One score from shares of the text."""
        score = offline_rules.rating(slots, "Novelty", rng)
        return cls.model_validate({"Reason": "A rule has counted words.", "Novelty": score})


class ProposalReview(Remarks):
    """Eight dimensions and the whole, after the rubric of Chen et al. (2025) for proposals.

    Slots: title, abstract, topic, rubric; previous (ProposalReview), round and rounds when the
    reviewer goes over its review again.
    """

    has_rule: ClassVar[bool] = True
    novelty: Score = Field(alias="Novelty")
    workability: Score = Field(alias="Workability")
    relevance: Score = Field(alias="Relevance")
    specificity: Score = Field(alias="Specificity")
    integration_depth: Score = Field(alias="Integration Depth")
    strategic_vision: Score = Field(alias="Strategic Vision")
    methodological_rigor: Score = Field(alias="Methodological Rigor")
    argumentative_cohesion: Score = Field(alias="Argumentative Cohesion")
    overall: Score = Field(alias="Overall")

    @classmethod
    def answer_by_rule(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """A score of each dimension from shares of the text, near the previous one if any."""
        return cls.model_validate(offline_rules.proposal(slots, rng))


class MetaReview(ProposalReview):
    """The review on which a committee agrees. Slots: title, abstract, rubric, reviews."""

    @classmethod
    def answer_by_rule(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """The rounded mean of the reviews."""
        return cls.model_validate(offline_rules.consensus(slots))
