"""The class made from a card: its keys are fields, its stages lead to an idea."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field, create_model, model_validator

from virsci_society.agents.config import Switch
from virsci_society.agents.prompts.prompt import Prompts
from virsci_society.protocols.engines.card import SystemCard
from virsci_society.protocols.engines.research_system import (
    PAGES,
    STAGES,
    ResearchSystem,
    TeamSystem,
    TeamWork,
)
from virsci_society.protocols.engines.rounds import Board
from virsci_society.protocols.engines.search import Tournament, grow_tree, review_texts

if TYPE_CHECKING:
    from virsci_society.protocols.ideas import CandidateIdea
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
        """The stages of all systems, and the optional review of texts."""
        search = self.card.search
        return STAGES | ({"review"} if search and search.judge.how == "reviews" else set())

    def find_idea(self, work: TeamWork) -> Process[Answer[CandidateIdea]]:
        """Hold the stages of the card; then choose among their ideas, or search on from them."""
        board, search = Board(self, work), self.card.search
        for stage in self.card.stages:
            yield from board.hold_stage(stage)
        if search is None:
            return board.chosen_idea()
        if search.judge.how == "marks":
            return (yield from work.lab.stage("ideas", grow_tree(board, search)))
        if search.judge.how == "reviews":
            return (yield from review_texts(board, search))
        return (yield from Tournament(board, search).hold())


class TeamCard(SoloCard, TeamSystem):
    """A research system of several scientists that works by a card."""


def system_of(card: SystemCard, pages: Prompts, path: str) -> type[ResearchSystem]:
    """The class of a card, whose fields are its keys."""
    base: Any = TeamCard if card.team == "several" else SoloCard
    keys = card.keys.items()
    fields: dict[str, Any] = {}
    for name, key in keys:
        field = base.model_fields.get(name)
        if field is None:
            kind = Switch if key.is_switch else type(key.default)
            bounded = Field(default=key.default, ge=key.least, gt=key.above, le=key.most)
            fields[name] = kind, bounded
        elif key.default is not None:
            fields[name] = field.annotation, key.default
    make: Any = create_model  # mypy's plugin knows no class whose fields are data
    made: type[SoloCard] = make(card.name, __base__=base, __doc__=card.about, **fields)
    made.card, made.system, made.citation, made.pages = card, card.name, card.citation, pages
    made.published = {n: k.published for n, k in keys if "published" in k.model_fields_set}
    made.matched = {n: k.matched for n, k in keys if "matched" in k.model_fields_set}
    made.key_texts = {name: key.text for name, key in keys if key.about}
    made.card_path = path
    return made


def pages_beside(card: Path) -> Prompts:
    """The prompts in the folder ``prompts`` of a card, which override the shared prompts."""
    return Prompts(card.with_name("prompts"), PAGES)
