"""The engine of systems whose members are asked in rounds, and the class that a card becomes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import create_model, model_validator

from virsci_society.agents.prompts.prompt import Prompts
from virsci_society.protocols.engines.card import SystemCard
from virsci_society.protocols.engines.meetings import Board
from virsci_society.protocols.engines.research_system import (
    PAGES,
    STAGES,
    ResearchSystem,
    TeamSystem,
    TeamWork,
    unrated_idea,
)
from virsci_society.protocols.engines.search import search_on, unit_vector
from virsci_society.protocols.ideas import CandidateIdea, confidence

if TYPE_CHECKING:
    from virsci_society.agents.arrays import VectorArray
    from virsci_society.agents.prompts.slots import Reference
    from virsci_society.protocols.engines.forms import NoveltyVerdict, PlanStep
    from virsci_society.society.kernel.answer import Answer
    from virsci_society.society.kernel.durations import Process


class SoloCard(ResearchSystem):
    """A research system of one scientist that works by a card."""

    card: ClassVar[SystemCard]
    card_path: ClassVar[str] = ""
    key_texts: ClassVar[Mapping[str, str]] = {}

    @model_validator(mode="after")
    def _not_below(self) -> SoloCard:
        for name, key in self.card.keys.items():
            other = key.at_least
            if other is not None and getattr(self, name) < getattr(self, other):
                raise ValueError(f"{name} is smaller than {other}")
        return self

    @property
    def stages(self) -> frozenset[str]:
        """The stages of all systems, and the review of texts where there is one."""
        search = self.card.search
        return STAGES | ({"review"} if search and search.judge.how == "reviews" else set())

    def find_idea(self, work: TeamWork) -> Process[Answer[CandidateIdea]]:
        """Hold the meetings of the card, and take the idea that it chooses."""
        board = Board(self, work)
        yield from board.hold_stages()
        if self.card.search is not None:
            return (yield from search_on(board, self.card.search))
        lab, ideas = work.lab, board.ideas
        if self.card.choose == "novel":
            return lab.later(best_novel, board.closed, ideas)
        if self.card.choose == "plan":
            return lab.later(
                partial(join_steps, work.team.leader), board.papers["core"], *board.closed
            )
        if self.card.choose == "most_frequent":
            vectors = tuple(lab.library.embed(idea) for idea in ideas)
            return lab.later(partial(most_frequent, board.number("similarity")), vectors, ideas)
        return ideas[-1]


class TeamCard(SoloCard, TeamSystem):
    """A research system of several scientists that works by a card."""


def pages_beside(card: Path) -> Prompts:
    """The pages in the folder ``prompts`` beside a card, over those that systems share."""
    return Prompts(card.with_name("prompts"), PAGES)


def system_of(card: SystemCard, pages: Prompts, path: str) -> type[ResearchSystem]:
    """The class of a card, whose fields are its keys."""
    base: Any = TeamCard if card.team == "several" else SoloCard
    keys = card.keys.items()
    fields = {}
    for name, key in keys:
        known = base.model_fields.get(name)
        if known is None:
            fields[name] = key.field
        elif key.default is not None:
            fields[name] = (known.annotation, key.default)
    make: Any = create_model  # mypy's plugin knows no class whose fields are data
    made: type[SoloCard] = make(card.name, __base__=base, __doc__=card.about, **fields)
    made.card, made.system, made.citation, made.pages = card, card.name, card.citation, pages
    made.published = {n: k.published for n, k in keys if "published" in k.model_fields_set}
    made.matched = {n: k.matched for n, k in keys if "matched" in k.model_fields_set}
    made.key_texts = {name: key.text for name, key in keys if key.about}
    made.card_path = path
    return made


def best_novel(
    verdicts: tuple[NoveltyVerdict, ...], ideas: tuple[CandidateIdea, ...]
) -> CandidateIdea:
    """The idea with the highest ratings of its own among those judged novel, else among all."""
    pairs = zip(verdicts, ideas, strict=True)
    novel = [idea for verdict, idea in pairs if verdict.decision == "novel"]
    return max(novel or ideas, key=lambda idea: confidence(idea, (1.0, 1.0, 1.0)))


def most_frequent(
    threshold: float, vectors: tuple[VectorArray, ...], ideas: tuple[CandidateIdea, ...]
) -> CandidateIdea:
    """The answer that most have given: the idea to which most of all ideas are alike.

    Of ideas with equally many, the one nearest to all others; of equally near ones the earliest.
    """
    units = [unit_vector(vector) for vector in vectors]
    # Rounded, so that the last digits of a sum on another machine decide nothing.
    cosines = [[round(float(one @ other), 9) for other in units] for one in units]
    alike = [sum(cosine >= threshold for cosine in row) for row in cosines]
    nearness = [round(sum(row), 6) for row in cosines]
    return ideas[max(range(len(ideas)), key=lambda at: (alike[at], nearness[at], -at))]


def join_steps(author: str, papers: tuple[Reference, ...], *steps: PlanStep) -> CandidateIdea:
    """Problem, method and experiment as one idea, which builds on the core paper.

    Its ratings are the middle of the scale: nobody was asked for any.
    """
    problem, method, experiment = steps
    idea = unrated_idea(
        reason=problem.reason,
        title=method.title,
        idea=f"{problem.text} {method.text}",
        experiment=experiment.text,
    )
    return CandidateIdea(
        idea,
        author,
        references=papers[1:],
        used=tuple(paper.id for paper in papers[:1]),
        retrieved=tuple(paper.id for paper in papers),
        builds_on=papers[:1],
    )
