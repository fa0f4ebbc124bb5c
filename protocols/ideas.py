"""Forms of ideas and ballots, the shortlist of three, and the count of the votes.

An Answer cannot be compared before it is read (rule 10): stages hand these to ``lab.later``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, field_validator

from virsci_society.agents.errors import InputError, ReplyError
from virsci_society.agents.prompts.slots import Excerpt, Reference, Utterance, paper_key
from virsci_society.agents.replies.form import Form
from virsci_society.protocols.forms import ASK, Question, Spoken

if TYPE_CHECKING:
    from virsci_society.society.kernel.answer import Answer
    from virsci_society.society.teams.lab import Lab

_NAMED = re.compile(r"\bidea[\s#_:.-]*(\d+)\b", re.IGNORECASE)
_PREFERRED = re.compile(r"\W*idea\W*(\d+)\W*\s(?:rather than|instead of|over|and not)\b", re.I)
_BARE = re.compile(r"\W*#?(\d+)\W*")
_KEY = re.compile(r"\bP?0*(\d{1,9})\b", re.IGNORECASE)

Rating = Annotated[float, Field(ge=1, le=10)]
"""A score of an abstract or an idea; 1 is lowest."""

SHORTLIST_SIZE = 3
"""Ideas that go on to the novelty assessment."""

Weights = tuple[float, float, float]
"""Weights of Clarity, Feasibility and Novelty in the confidence (each >= 0, sum > 0)."""


def read_paper_keys(value: Any) -> tuple[str, ...]:
    """Keys of papers as models write them: 17, "17", "[P17]", or several in one text."""
    items = value if isinstance(value, list | tuple) else [value]
    keys = [key for item in items for key in _KEY.findall(str(item))]
    return tuple(f"P{int(key)}" for key in keys)


PaperKeys = Annotated[tuple[str, ...], BeforeValidator(read_paper_keys)]


def keys_of(*lists: Sequence[Reference]) -> list[str]:
    """The keys of the papers in some lists, each once."""
    keys = (paper_key(paper, n) for papers in lists for n, paper in enumerate(papers, 1))
    return [*dict.fromkeys(keys)]


class IdeaMarks(Form):
    """Another's rating of the idea on the table; a part of a form, never asked for alone."""

    clarity: Rating = Field(alias="Clarity")
    feasibility: Rating = Field(alias="Feasibility")
    novelty: Rating = Field(alias="Novelty")


def _without_null(schema: dict[str, Any]) -> None:
    """Let a field whose value may be missing be no ``null`` where it is asked for."""
    del schema["default"]
    schema |= schema.pop("anyOf")[0]


class Idea(Spoken):
    """One idea with its self-assessment (Fig. 20)."""

    words_asked: ClassVar[Mapping[str, int]] = {"": 400}

    objection: str = Field(
        default="",
        alias="Objection",
        description="object to the idea on the table as strongly as you can",
    )
    marks: IdeaMarks | None = Field(default=None, alias="Marks", json_schema_extra=_without_null)
    """The speaker's rating of the idea on the table."""
    reason: str = Field(
        default="",
        alias="Reason",
        description="say what made you think of it and in what it differs from what exists",
    )
    idea: str = Field(
        alias="Idea",
        min_length=1,
        description="describe the idea, why it matters, what it could change",
    )
    title: str = Field(alias="Title", min_length=1, description="give the paper a title")
    experiment: str = Field(
        default="",
        alias="Experiment",
        description="plan how to carry it out: design, steps, the outcome you hope for",
    )
    clarity: Rating = Field(alias="Clarity")
    feasibility: Rating = Field(alias="Feasibility")
    novelty: Rating = Field(alias="Novelty")
    gist: str = Field(
        default="",
        alias="In Short",
        description="state the idea in two sentences for those who join later",
    )
    uses: PaperKeys = Field(
        default=(), alias="Uses", description="keys of the listed papers that it really builds on"
    )
    """Keys of listed references, such as ``P17``; a bare number stands for the key."""
    ask: Question | None = ASK

    @classmethod
    def inapplicable_fields(cls, slots: Mapping[str, Any]) -> tuple[str, ...]:
        """Fields that belong to papers, an idea on the table or a switch that is off."""
        extras = slots.get("extras", ())
        named = [] if slots.get("references") else ["Uses"]
        lost = [
            name
            for name, value in slots.items()
            if named and isinstance(value, tuple) and value and isinstance(value[0], Reference)
        ]
        if lost:
            raise InputError(
                f"the page of an idea is given papers as {lost[0]!r}, where none of them can be "
                "cited: give them as 'references'"
            )
        named += [] if "gist" in extras else ["In Short"]
        if "marks" not in extras or slots.get("previous") is None:
            named += ["Objection", "Marks"]
        return (*named, *super().inapplicable_fields(slots))

    @classmethod
    def allowed_values(cls, slots: Mapping[str, Any]) -> Mapping[str, Sequence[str]]:
        """Only papers shown can be used."""
        values, shown = super().allowed_values(slots), slots.get("references")
        if not shown:
            return values
        before = getattr(slots.get("previous"), "builds_on", ())
        return {**values, "Uses": keys_of(shown, before)}

    @property
    def query(self) -> str:
        """The text by which papers near the idea are searched: title and idea."""
        return f"{self.title}. {self.idea}"

    @property
    def text(self) -> str:
        """Title, idea and experiment on separate lines, without reasons and ratings."""
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
        """The author's text: the reasons, the idea, and the self-assessment."""
        return f"{self.text_with_reason}\n({self.ratings})"

    instead: ClassVar = None
    """None: an idea and its ratings cannot be made up, nor counted twice; the team ends."""


class NoveltyComparison(Form):
    """One idea and what is nearest to it; a part of a form, never asked for alone."""

    idea: str = Field(alias="Idea", description="name the idea, such as Idea 0")
    nearest: str = Field(
        default="", alias="Nearest", description="give the key of the nearest paper, or none"
    )
    difference: str = Field(
        default="", alias="Difference", description="say what the idea has and the paper has not"
    )


class Ballot(Form):
    """A blind vote for the most novel idea (Fig. 21)."""

    comparisons: tuple[NoveltyComparison, ...] = Field(default=(), alias="Comparisons")
    reason: str = Field(
        default="",
        alias="Reason",
        description="say which idea is farthest from what exists, and why",
    )
    decision: str = Field(
        alias="Decision Made", json_schema_extra={"enum": [f"Idea {number}" for number in range(3)]}
    )

    @classmethod
    def inapplicable_fields(cls, slots: Mapping[str, Any]) -> tuple[str, ...]:
        """Comparisons, unless they are switched on."""
        return () if "comparisons" in slots.get("extras", ()) else ("Comparisons",)

    @classmethod
    def allowed_values(cls, slots: Mapping[str, Any]) -> Mapping[str, Sequence[str]]:
        """Only the ideas that are shown can be chosen, and compared with the papers shown."""
        ideas = slots.get("ideas", ())
        if not ideas:
            return {}
        shown = [f"Idea {number}" for number in range(len(ideas))]
        nearest = [*keys_of(*(getattr(idea, "references", ()) for idea in ideas)), "none"]
        return {"Decision Made": shown, "Comparisons/Idea": shown, "Comparisons/Nearest": nearest}

    def check_against(self, slots: Mapping[str, Any]) -> None:
        """Require a vote for an idea that is on the ballot."""
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

    instead: ClassVar = {"decision": ""}
    """An abstention."""


def _parse_vote(decision: str) -> int:
    """The number of the idea that is named, or preferred to another; -1 where neither is clear."""
    preferred = _PREFERRED.match(decision)
    named = {preferred[1]} if preferred else set(_NAMED.findall(decision))
    vote = named.pop() if len(named) == 1 else ""
    return int(vote) if vote in ("0", "1", "2") else -1


@dataclass(frozen=True, slots=True)
class CandidateIdea:
    """An idea with its references (Eq. 2 and 3)."""

    idea: Idea
    author: str = ""
    references: tuple[Reference, ...] = ()
    used: tuple[str, ...] = ()
    retrieved: tuple[str, ...] = ()
    scored: bool = True
    builds_on: tuple[Reference, ...] = ()
    marks: tuple[tuple[float, float, float], ...] = ()
    objections: tuple[Utterance, ...] = ()

    @property
    def query(self) -> str:
        """The text by which papers near the idea are searched."""
        return self.idea.query

    def words(self) -> str:
        """Title, idea and experiment."""
        return self.idea.text


def make_candidate(
    author: str,
    scored: bool,
    idea: Idea,
    shown: Sequence[Reference],
    near: Sequence[Reference],
    previous: CandidateIdea | tuple[()] = (),
) -> CandidateIdea:
    """Join an idea with the papers ``near`` it, and those used of ``shown`` and ``previous``."""
    before = previous.builds_on if isinstance(previous, CandidateIdea) else ()
    # The first of two papers with one key counts; lists without keys can have such papers.
    papers = {paper_key(paper, n): paper for n, paper in reversed([*enumerate(before, 1)])}
    papers |= {paper_key(paper, n): paper for n, paper in enumerate(shown, 1)}
    builds_on = tuple(papers[key] for key in dict.fromkeys(idea.uses) if key in papers)
    retrieved = dict.fromkeys(reference.id for reference in (*shown, *near))
    return CandidateIdea(
        idea=idea,
        author=author,
        references=tuple(near),
        used=tuple(dict.fromkeys(paper.id for paper in builds_on)),
        retrieved=tuple(retrieved),
        scored=scored,
        builds_on=builds_on,
    )


def add_judgement(speaker: str, candidate: CandidateIdea, said: Idea) -> CandidateIdea:
    """The idea on the table with what the next speaker thinks of it, unless that is its author."""
    if speaker == candidate.author:
        return candidate
    marks, objections = candidate.marks, candidate.objections
    if said.marks is not None:
        marks += ((said.marks.clarity, said.marks.feasibility, said.marks.novelty),)
    if said.objection.strip():
        objections += (Utterance(speaker, Excerpt(said.objection)),)
    return replace(candidate, marks=marks, objections=objections)


def without_ratings(idea: Idea) -> Excerpt:
    """An idea as shown to other raters, without its author's ratings."""
    return Excerpt(idea.text_with_reason, idea.title)


def confidence(candidate: CandidateIdea, weights: Weights) -> float:
    """Weighted mean of Clarity, Feasibility and Novelty over all raters, 1 to 10; 0: not scored."""
    if not candidate.scored:
        return 0.0
    idea = candidate.idea
    raters = ((idea.clarity, idea.feasibility, idea.novelty), *candidate.marks)
    total = sum(w * r for ratings in raters for w, r in zip(weights, ratings, strict=True))
    return total / (sum(weights) * len(raters))


def shortlist(weights: Weights, *ideas: CandidateIdea) -> tuple[CandidateIdea, ...]:
    """The three most confident ideas (on a tie the later), in the order of being put forward."""
    ranked = sorted(
        range(len(ideas)), key=lambda index: (-confidence(ideas[index], weights), -index)
    )
    return tuple(ideas[index] for index in sorted(ranked[:SHORTLIST_SIZE]))


def count_ties(weights: Weights, *ideas: CandidateIdea) -> int:
    """Number of ideas on the shortlist that have the confidence of one that is not on it."""
    return count_equal([confidence(idea, weights) for idea in ideas])


def count_equal(values: Sequence[float]) -> int:
    """How many of the three highest values are equal to one that is not among them."""
    ranked = sorted(values, reverse=True)
    left_out = set(ranked[SHORTLIST_SIZE:])
    return sum(value in left_out for value in ranked[:SHORTLIST_SIZE])


def plurality_winner(
    weights: Weights, ideas: Sequence[CandidateIdea], *ballots: Ballot
) -> CandidateIdea:
    """The idea with most votes (no abstentions); ties are broken by confidence, then by order."""
    votes = [ballot.choice for ballot in ballots]
    return min(
        enumerate(ideas),
        key=lambda item: (-votes.count(item[0]), -confidence(item[1], weights), item[0]),
    )[1]


def retrieved_references(*ideas: CandidateIdea) -> tuple[str, ...]:
    """Ids of the papers that were found for any of the ideas, in the order of being found."""
    return tuple(dict.fromkeys(id_ for idea in ideas for id_ in idea.retrieved))


def idea_text(idea: CandidateIdea) -> str:
    """The text of an idea, for protocols that embed it as the paper."""
    return idea.query


def looks_of(
    lab: Lab, ideas: Sequence[Answer[CandidateIdea]], *purpose: object
) -> tuple[Answer[float], ...]:
    """How good ideas look, for ``lab.submit(looks=)``; empty where rules know nothing of worth."""
    execution = lab.world.execution
    if execution is None or not execution.signal:
        return ()
    return execution.looks(lab, [lab.later(idea_text, idea) for idea in ideas], "ideas", *purpose)


def pool_references(*ideas: CandidateIdea) -> tuple[Reference, ...]:
    """The papers of several ideas without duplicates, in order of appearance."""
    papers = {paper.id: paper for idea in ideas for paper in reversed(idea.references)}
    order = dict.fromkeys(paper.id for idea in ideas for paper in idea.references)
    return tuple(papers[id_] for id_ in order)
