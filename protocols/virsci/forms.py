"""Reply forms of VirSci alone, with the fields of the paper's figures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import Field, field_validator

from agents.errors import ReplyError
from agents.offline import abstracts, decisions, ideas, topics
from agents.replies.form import Form
from protocols.forms import Spoken

_NAMED = re.compile(r"\bidea[\s#_:.-]*(\d+)\b", re.IGNORECASE)
_PREFERRED = re.compile(r"\W*idea\W*(\d+)\W*\s(?:rather than|instead of|over|and not)\b", re.I)
_BARE = re.compile(r"\W*#?(\d+)\W*")

Rating = Annotated[float, Field(ge=1, le=10)]
"""A score of an abstract or an idea; 1 is lowest."""
Similarity = Annotated[float, Field(ge=0, le=100)]
"""How alike two abstracts are; 100 is identical."""


class Topic(Form):
    """The topic the leader proposes (Fig. 19). Slots: summaries, said (replies of turn K)."""

    has_rule: ClassVar[bool] = True
    topic: str = Field(alias="Selected Topic", min_length=1)

    def words(self) -> str:
        """The topic."""
        return self.topic

    @classmethod
    def answer_by_rule(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """Join the directions with the most support."""
        return cls.model_validate(topics.choose_topic(slots, rng))

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """None: no topic can be made up; the team ends."""
        return None


class Agreement(Form):
    """Does a member agree with the proposed topic? Slots: topic (Topic)."""

    has_rule: ClassVar[bool] = True
    agree: bool = Field(alias="Agree")
    reason: str = Field(default="", alias="Reason")

    @classmethod
    def answer_by_rule(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """Agree the likelier, the nearer the topic is to the member's interests."""
        return cls.model_validate(decisions.answer_agreement(slots, rng))

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """Disagree: an unreadable answer is no agreement."""
        return cls(agree=False)


class Stay(Form):
    """Does a member stay for the topic? Slots: topic (Topic), load (teams it is in now)."""

    has_rule: ClassVar[bool] = True
    stay: bool = Field(alias="Stay")
    reason: str = Field(default="", alias="Reason")

    @classmethod
    def answer_by_rule(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """Leave seldom, likelier when the topic is far and the load high."""
        return cls.model_validate(decisions.decide_staying(slots, rng))

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """Stay: an unreadable answer does not end a membership."""
        return cls(stay=True)


class Idea(Spoken):
    """One idea with its self-assessment (Fig. 20).

    Slots: topic (Topic), references (References shown, best first; may be empty), previous
    (CandidateIdea or None), summaries, said (Idea and GuestReply of this turn so far),
    memory, knowledge, outsiders.
    """

    has_rule: ClassVar[bool] = True
    idea: str = Field(alias="Idea", min_length=1)
    title: str = Field(alias="Title", min_length=1)
    experiment: str = Field(default="", alias="Experiment")
    clarity: Rating = Field(alias="Clarity")
    feasibility: Rating = Field(alias="Feasibility")
    novelty: Rating = Field(alias="Novelty")
    uses: tuple[int, ...] = Field(default=(), alias="Uses")
    """1-based numbers of the listed references the idea builds on."""

    @property
    def query(self) -> str:
        """The text by which papers near the idea are searched: title and idea."""
        return f"{self.title}. {self.idea}"

    def words(self) -> str:
        """Title, idea, experiment and ratings in one paragraph."""
        return (
            f"{self.title}. {self.idea} Experiment: {self.experiment} "
            f"(Clarity {self.clarity:g}, Feasibility {self.feasibility:g}, "
            f"Novelty {self.novelty:g})"
        )

    @classmethod
    def answer_by_rule(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """Recombine references with the speaker's expertise; rate from measured distances."""
        return cls.model_validate(ideas.propose_idea(slots, rng))

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """None: an idea and its ratings cannot be made up, nor counted twice; the team ends."""
        return None


class Ballot(Form):
    """A blind vote for the most novel idea (Fig. 21).

    Slots: ideas (CandidateIdeas on the ballot, in order; their references may be empty).
    """

    has_rule: ClassVar[bool] = True
    decision: str = Field(alias="Decision Made")

    @field_validator("decision", mode="before")
    @classmethod
    def _by_number(cls, value: Any) -> Any:
        """Read a bare 2 as Idea 2."""
        if isinstance(value, int) and not isinstance(value, bool):
            return f"Idea {value:d}"
        bare = _BARE.fullmatch(value) if isinstance(value, str) else None
        return f"Idea {bare[1]}" if bare else value

    @field_validator("decision", mode="after")
    @classmethod
    def _names_an_idea(cls, value: str) -> str:
        if _parse_vote(value) < 0:
            raise ValueError('expected one of "Idea 0", "Idea 1" and "Idea 2"')
        return value

    @property
    def choice(self) -> int:
        """Number of the idea voted for, 0 to 2; -1 is an abstention."""
        return _parse_vote(self.decision)

    def words(self) -> str:
        """The decision."""
        return self.decision

    @classmethod
    def answer_by_rule(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """Vote for the idea farthest from its references, with noise."""
        return cls.model_validate(decisions.cast_ballot(slots, rng))

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """An abstention."""
        return cls.model_construct(decision="")  # type: ignore[return-value] # plugin lacks Self


def _parse_vote(decision: str) -> int:
    """The number of the idea that is named, or preferred to another; -1 where neither is clear."""
    preferred = _PREFERRED.match(decision)
    named = {preferred[1]} if preferred else set(_NAMED.findall(decision))
    vote = named.pop() if len(named) == 1 else ""
    return int(vote) if vote in ("0", "1", "2") else -1


class Draft(Spoken):
    """The leader's first abstract (Fig. 22). Slots: idea (CandidateIdea), knowledge, outsiders."""

    has_rule: ClassVar[bool] = True
    title: str = Field(alias="Title", min_length=1)
    abstract: str = Field(alias="Abstract", min_length=1)

    def words(self) -> str:
        """Title and abstract."""
        return f"{self.title}\n{self.abstract}"

    @classmethod
    def answer_by_rule(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """Compose the five parts from the idea and its references."""
        return cls.model_validate(abstracts.draft_abstract(slots, rng))

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """None: no first text can be made up; the team ends."""
        return None


class Revision(Draft):
    """A scored and rewritten abstract (Fig. 23).

    Slots: draft (Draft or Revision), guest (GuestReply or None), review (SelfReview or None),
    near (References of the review, else empty), knowledge, outsiders.
    """

    scores: dict[str, Rating] = Field(default_factory=dict, alias="Scores")
    modifications: str = Field(default="", alias="Modifications")

    @classmethod
    def answer_by_rule(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """Score the draft and rewrite some of its sentences."""
        return cls.model_validate(abstracts.revise_abstract(slots, rng))

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """The draft, unchanged."""
        draft = slots["draft"]
        return cls(title=draft.title, abstract=draft.abstract)


class OverlapPair(Form):
    """One pair that overlaps too much, with its reason; a part of a form, never asked for alone."""

    pair: str
    score: Similarity
    reason: str = ""


class SelfReview(Form):
    """Similarity to each near past abstract (Fig. 24). Slots: draft, near (References)."""

    has_rule: ClassVar[bool] = True
    similarity_scores: dict[str, Similarity]
    high_overlap_pairs: tuple[OverlapPair, ...] = ()

    @property
    def highest(self) -> float:
        """The highest similarity, 0 to 100; 0 when nothing was compared."""
        return max(self.similarity_scores.values(), default=0.0)

    def words(self) -> str:
        """The scores and reasons as text."""
        scores = "; ".join(f"{pair}: {score:g}" for pair, score in self.similarity_scores.items())
        reasons = " ".join(f"{p.pair} ({p.score:g}): {p.reason}" for p in self.high_overlap_pairs)
        return f"{scores}. {reasons}".strip()

    @classmethod
    def answer_by_rule(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """Score by the share of words in common."""
        return cls.model_validate(decisions.review_own_draft(slots, rng))

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """None: with a made-up score of 0 any draft would pass; the team ends."""
        return None

    def check_against(self, slots: Mapping[str, Any]) -> None:
        """Require a score where abstracts were shown.

        Raises:
            ReplyError: there is none.
        """
        if slots["near"] and not self.similarity_scores:
            raise ReplyError("similarity_scores is empty; score each abstract that is shown")
