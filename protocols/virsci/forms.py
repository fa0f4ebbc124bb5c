"""Reply forms of VirSci alone, with the fields of the paper's figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field

from virsci_society.agents.errors import ReplyError
from virsci_society.agents.offline.abstracts import CRITERIA
from virsci_society.agents.prompts.slots import pair_name
from virsci_society.agents.replies.form import Form
from virsci_society.protocols.forms import ASK, Question, Spoken, require_names
from virsci_society.protocols.ideas import Rating

Similarity = Annotated[float, Field(ge=0, le=100)]
"""How alike two abstracts are; 100 is identical."""


class Agreement(Form):
    """Does a member agree with the proposed topic? Slots: topic (Topic)."""

    reason: str = Field(
        default="",
        alias="Reason",
        description="say in one sentence what the topic would bring, and to whom",
    )
    agree: bool = Field(alias="Agree")

    instead: ClassVar = {"agree": False}
    """Disagree: an unreadable answer is no agreement."""


class Stay(Form):
    """Does a member stay for the topic? Slots: topic (Topic), load (teams it is in now)."""

    reason: str = Field(
        default="",
        alias="Reason",
        description="say in one sentence what speaks for staying and what against",
    )
    stay: bool = Field(alias="Stay")

    instead: ClassVar = {"stay": True}
    """Stay: an unreadable answer does not end a membership."""


class Revision(Spoken):
    """A scored and rewritten abstract (Fig. 23)."""

    words_asked: ClassVar[Mapping[str, int]] = {"Abstract": 200}

    scores: dict[str, Rating] = Field(
        default_factory=dict,
        alias="Scores",
        json_schema_extra={
            "properties": {
                name: {"type": "number", "minimum": 1, "maximum": 10} for name in CRITERIA
            }
        },
    )
    modifications: str = Field(
        default="", alias="Modifications", description="say what you change, and why"
    )
    title: str = Field(alias="Title", min_length=1, description="keep or improve the title")
    abstract: str = Field(
        alias="Abstract", min_length=1, description="write the whole new abstract"
    )
    ask: Question | None = ASK

    def words(self) -> str:
        """Title and abstract."""
        return f"{self.title}\n{self.abstract}"

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """The draft, unchanged."""
        draft = slots["draft"]
        return cls(title=draft.title, abstract=draft.abstract)


class OverlapPair(Form):
    """One pair that overlaps too much, with its reason; a part of a form, never asked for alone."""

    pair: str = Field(description="name the pair, such as Written Abstract vs A")
    score: Similarity
    reason: str = Field(default="", description="say where they overlap")


class SelfReview(Form):
    """Similarity to each near past abstract (Fig. 24). Slots: draft, near (References)."""

    similarity_scores: dict[str, Similarity]
    high_overlap_pairs: tuple[OverlapPair, ...] = ()

    @classmethod
    def schema_for(cls, slots: Mapping[str, Any]) -> dict[str, Any]:
        """One score for each abstract that is shown, all required."""
        names = [pair_name(index) for index in range(len(slots.get("near", ())))]
        schema = require_names(super().schema_for(slots), names, "similarity_scores")
        if names:
            schema["properties"]["high_overlap_pairs"]["items"]["properties"]["pair"]["enum"] = (
                names
            )
        return schema

    @property
    def highest(self) -> float:
        """The highest similarity, 0 to 100; 0 when nothing was compared."""
        return max(self.similarity_scores.values(), default=0.0)

    def words(self) -> str:
        """The scores and reasons as text."""
        scores = "; ".join(f"{pair}: {score:g}" for pair, score in self.similarity_scores.items())
        reasons = " ".join(f"{p.pair} ({p.score:g}): {p.reason}" for p in self.high_overlap_pairs)
        return f"{scores}. {reasons}".strip()

    instead: ClassVar = None
    """None: with a made-up score of 0 any draft would pass; the team ends."""

    def check_against(self, slots: Mapping[str, Any]) -> None:
        """Require a score where abstracts were shown."""
        if slots["near"] and not self.similarity_scores:
            raise ReplyError("similarity_scores is empty; score each abstract that is shown")
