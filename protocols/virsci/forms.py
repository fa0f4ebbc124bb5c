"""Reply forms of VirSci alone, with the fields of the paper's figures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import Field, field_validator

from virsci_society.agents.errors import ReplyError
from virsci_society.agents.offline import abstracts, decisions, ideas, topics
from virsci_society.agents.prompts.paper_lists import pair_name
from virsci_society.agents.replies.form import Form
from virsci_society.protocols.forms import ASK, Question, Spoken

_NAMED = re.compile(r"\bidea[\s#_:.-]*(\d+)\b", re.IGNORECASE)
_PREFERRED = re.compile(r"\W*idea\W*(\d+)\W*\s(?:rather than|instead of|over|and not)\b", re.I)
_BARE = re.compile(r"\W*#?(\d+)\W*")
_KEY = re.compile(r"\bP?0*(\d{1,9})\b", re.IGNORECASE)

Rating = Annotated[float, Field(ge=1, le=10)]
"""A score of an abstract or an idea; 1 is lowest."""
Similarity = Annotated[float, Field(ge=0, le=100)]
"""How alike two abstracts are; 100 is identical."""


def read_paper_keys(value: Any) -> tuple[str, ...]:
    """Keys of papers as models write them: 17, "17", "[P17]", or several in one text."""
    items = value if isinstance(value, list | tuple) else [value]
    found = [key for item in items for key in _KEY.findall(str(item))]
    return tuple(f"P{int(key)}" for key in found)


class Topic(Form):
    """The topic the leader proposes (Fig. 19). Slots: summaries, said (replies of turn K)."""

    has_rule: ClassVar[bool] = True
    reason: str = Field(
        default="",
        alias="Reason",
        description="which themes came back, which need it answers, what it would change",
    )
    topic: str = Field(
        alias="Selected Topic",
        min_length=1,
        description="the topic, in one sentence of at most 40 words",
    )

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
    reason: str = Field(default="", alias="Reason", description="why")
    agree: bool = Field(alias="Agree")

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
    reason: str = Field(default="", alias="Reason", description="why")
    stay: bool = Field(alias="Stay")

    @classmethod
    def answer_by_rule(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """Leave seldom, likelier when the topic is far and the load high."""
        return cls.model_validate(decisions.decide_staying(slots, rng))

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """Stay: an unreadable answer does not end a membership."""
        return cls(stay=True)


class IdeaMarks(Form):
    """Another's rating of the idea on the table; a part of a form, never asked for alone."""

    clarity: Rating = Field(alias="Clarity")
    feasibility: Rating = Field(alias="Feasibility")
    novelty: Rating = Field(alias="Novelty")


class Idea(Spoken):
    """One idea with its self-assessment (Fig. 20).

    Slots: topic (Topic), references (References shown, best first; may be empty), previous
    (CandidateIdea or None), summaries, said (Utterances of Ideas and Advice of this round so
    far), memory, knowledge, outsiders, extras (names of the optional fields asked for).
    """

    has_rule: ClassVar[bool] = True
    objection: str = Field(
        default="",
        alias="Objection",
        description="the strongest objection to the idea on the table",
    )
    marks: IdeaMarks | None = Field(default=None, alias="Marks")
    """The speaker's rating of the idea on the table."""
    reason: str = Field(
        default="",
        alias="Reason",
        description="what made you think of the idea, and in what it differs from what exists",
    )
    idea: str = Field(
        alias="Idea",
        min_length=1,
        description="the idea, why it matters, what it could change",
    )
    title: str = Field(alias="Title", min_length=1, description="a title for the paper")
    experiment: str = Field(
        default="",
        alias="Experiment",
        description="how it would be carried out: design, steps, the outcome you hope for",
    )
    clarity: Rating = Field(alias="Clarity")
    feasibility: Rating = Field(alias="Feasibility")
    novelty: Rating = Field(alias="Novelty")
    gist: str = Field(
        default="",
        alias="In Short",
        description="the idea in two sentences, for those who join the discussion later",
    )
    uses: tuple[str, ...] = Field(
        default=(),
        alias="Uses",
        description="keys of the listed papers that the idea really builds on",
    )
    """Keys of listed references, such as ``P17``; a bare number stands for the key."""
    ask: Question | None = ASK

    @field_validator("uses", mode="before")
    @classmethod
    def _read_keys(cls, value: Any) -> Any:
        """Read 17, "17" and "[P17]" as the key P17, and several of them in one text."""
        return read_paper_keys(value)

    @classmethod
    def unasked(cls, slots: Mapping[str, Any]) -> tuple[str, ...]:
        """Fields that belong to papers, an idea on the table or a switch that is off."""
        extras = slots.get("extras", ())
        named = [] if slots.get("references") else ["Uses"]
        named += [] if "gist" in extras else ["In Short"]
        if "marks" not in extras or slots.get("previous") is None:
            named += ["Objection", "Marks"]
        return (*named, *super().unasked(slots))

    @classmethod
    def schema_for(cls, slots: Mapping[str, Any]) -> dict[str, Any]:
        """Marks that are asked for are marks: no ``null`` is offered in their place."""
        schema = super().schema_for(slots)
        marks = schema["properties"].get("Marks")
        if marks is not None:
            schema["properties"]["Marks"] = marks["anyOf"][0]
        return schema

    @property
    def query(self) -> str:
        """The text by which papers near the idea are searched: title and idea."""
        return f"{self.title}. {self.idea}"

    @property
    def text(self) -> str:
        """Title, idea and experiment, each on lines of its own, without reasons and ratings."""
        return f"{self.title}\n{self.idea}\nExperiment: {self.experiment}"

    @property
    def ratings(self) -> str:
        """The self-assessment on one line."""
        return (
            f"Clarity {self.clarity:g}, Feasibility {self.feasibility:g}, Novelty {self.novelty:g}"
        )

    @property
    def text_with_reason(self) -> str:
        """What made its author think of it, and the idea; its title is marked as such."""
        return f"{self.reason}\nTitle: {self.text}" if self.reason else self.text

    def words(self) -> str:
        """What its author said of it: the reasons, the idea, and the self-assessment."""
        return f"{self.text_with_reason}\n({self.ratings})"

    @classmethod
    def answer_by_rule(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """Recombine references with the speaker's expertise; rate from measured distances."""
        return cls.model_validate(ideas.propose_idea(slots, rng))

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """None: an idea and its ratings cannot be made up, nor counted twice; the team ends."""
        return None


class NoveltyComparison(Form):
    """One idea and what is nearest to it; a part of a form, never asked for alone."""

    idea: str = Field(alias="Idea", description="Idea 0")
    nearest: str = Field(default="", alias="Nearest", description="key of the nearest paper")
    difference: str = Field(
        default="", alias="Difference", description="what the idea has and the paper has not"
    )


class Ballot(Form):
    """A blind vote for the most novel idea (Fig. 21).

    Slots: ideas (CandidateIdeas on the ballot, in the order shown; their references may be
    empty), extras (``comparisons``: each idea is compared before the vote).
    """

    has_rule: ClassVar[bool] = True
    comparisons: tuple[NoveltyComparison, ...] = Field(default=(), alias="Comparisons")
    reason: str = Field(
        default="", alias="Reason", description="which idea is farthest from what exists, and why"
    )
    decision: str = Field(
        alias="Decision Made",
        json_schema_extra={"enum": [f"Idea {number}" for number in range(3)]},
    )

    @classmethod
    def unasked(cls, slots: Mapping[str, Any]) -> tuple[str, ...]:
        """Comparisons, unless they are switched on."""
        return () if "comparisons" in slots.get("extras", ()) else ("Comparisons",)

    @classmethod
    def schema_for(cls, slots: Mapping[str, Any]) -> dict[str, Any]:
        """Only the ideas that are shown can be chosen."""
        schema = super().schema_for(slots)
        shown = [f"Idea {number}" for number in range(len(slots.get("ideas", ())))]
        if shown:
            schema["properties"]["Decision Made"]["enum"] = shown
        return schema

    def check_against(self, slots: Mapping[str, Any]) -> None:
        """Require a vote for an idea that is on the ballot.

        Raises:
            ReplyError: the idea is not.
        """
        shown = len(slots.get("ideas", ()))
        if shown and self.choice >= shown:
            raise ReplyError(f'"Decision Made" names {self.decision}; only {shown} are shown')

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


class Critique(Form):
    """The strongest objection to the chosen idea, before its abstract is written.

    Slots: idea (CandidateIdea).
    """

    has_rule: ClassVar[bool] = True
    soundness: str = Field(
        alias="Soundness", description="does the reasoning hold; which step is weakest"
    )
    objection: str = Field(
        alias="Objection", description="the strongest objection a reviewer would raise"
    )
    advice: str = Field(
        default="", alias="Advice", description="what the abstract should say or change to meet it"
    )

    def words(self) -> str:
        """Soundness, objection and advice."""
        return f"{self.soundness}\n{self.objection}\n{self.advice}".strip()

    @classmethod
    def answer_by_rule(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """Name the concept of the idea that its papers speak least of."""
        return cls.model_validate(ideas.criticise_idea(slots, rng))

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """Say nothing: an unreadable critique is silence."""
        return cls(soundness="", objection="")


class Draft(Spoken):
    """The leader's first abstract (Fig. 22). Slots: idea (CandidateIdea), knowledge, outsiders."""

    has_rule: ClassVar[bool] = True
    reason: str = Field(
        default="", alias="Reason", description="what each of the five parts has to say"
    )
    title: str = Field(alias="Title", min_length=1, description="the title")
    abstract: str = Field(alias="Abstract", min_length=1, description="the abstract")
    ask: Question | None = ASK

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


class Revision(Spoken):
    """A scored and rewritten abstract (Fig. 23).

    Slots: draft (Draft or Revision), guest (Advice), review (SelfReview or None), near
    (References of the review, else empty), knowledge, outsiders.
    """

    has_rule: ClassVar[bool] = True
    scores: dict[str, Rating] = Field(
        default_factory=dict,
        alias="Scores",
        json_schema_extra={
            "properties": {
                name: {"type": "number", "minimum": 1, "maximum": 10} for name in abstracts.CRITERIA
            }
        },
    )
    modifications: str = Field(
        default="", alias="Modifications", description="what you change, and why"
    )
    title: str = Field(alias="Title", min_length=1, description="the title")
    abstract: str = Field(alias="Abstract", min_length=1, description="the new abstract")
    ask: Question | None = ASK

    def words(self) -> str:
        """Title and abstract."""
        return f"{self.title}\n{self.abstract}"

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

    pair: str = Field(description="Written Abstract vs A")
    score: Similarity
    reason: str = Field(default="", description="where they overlap")


class SelfReview(Form):
    """Similarity to each near past abstract (Fig. 24). Slots: draft, near (References)."""

    has_rule: ClassVar[bool] = True
    similarity_scores: dict[str, Similarity]
    high_overlap_pairs: tuple[OverlapPair, ...] = ()

    @classmethod
    def schema_for(cls, slots: Mapping[str, Any]) -> dict[str, Any]:
        """One score for each abstract that is shown, all required."""
        schema = super().schema_for(slots)
        names = [pair_name(place) for place in range(len(slots.get("near", ())))]
        if names:
            scores = schema["properties"]["similarity_scores"]
            each = scores.pop("additionalProperties")
            scores |= {
                "properties": {name: dict(each) for name in names},
                "required": names,
                "additionalProperties": False,
            }
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
