"""KINDS, the table of the kinds of review by a model, by name."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from virsci_society.agents.prompts.prompt import Prompt
from virsci_society.agents.replies.form import Form
from virsci_society.scenarios.judgement.reviews.forms import (
    ConferenceReview,
    MetaReview,
    NoveltyRating,
    ProposalReview,
)
from virsci_society.scenarios.judgement.reviews.offline_rules import DIMENSIONS

FOLDER = Path(__file__).with_name("prompts")
REVIEWER = (FOLDER / "reviewer.txt").read_text(encoding="utf-8").strip()
RUBRIC = (FOLDER / "rubric.txt").read_text(encoding="utf-8").strip()


@dataclass(frozen=True)
class ReviewQuestion:
    """One question to a reviewer: its prompt, by name, and the form of the answer."""

    name: str
    form: type[Form]

    @property
    def prompt(self) -> Prompt:
        """The prompt, put to somebody outside the society."""
        return Prompt(FOLDER / f"{self.name}.txt", REVIEWER)


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
}
SCORES = tuple(dict.fromkeys(name for kind in KINDS.values() for name in kind.scores))
"""Every score there is, in the order of the tables."""
