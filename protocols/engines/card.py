"""The card of a research system, a YAML file that says who is asked what and what is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from virsci_society.agents.config import Part
from virsci_society.agents.prompts.prompt import DEFINITION, Prompt, Prompts
from virsci_society.agents.replies.form import Form
from virsci_society.agents.spelling import did_you_mean
from virsci_society.protocols.engines import forms
from virsci_society.protocols.engines.research_system import ResearchSystem, TeamSystem
from virsci_society.protocols.ideas import Idea


class QuestionKind(NamedTuple):
    """A kind of question: the form of its reply, its usual page, and the kind of act."""

    form: type[Form]
    page: str
    act: str = "utter"


QUESTIONS = {
    "queries": QuestionKind(forms.SearchQueries, "queries"),
    "notes": QuestionKind(forms.ReadingNotes, "reading"),
    "contribution": QuestionKind(forms.Contribution, "meeting"),
    "idea": QuestionKind(Idea, "idea"),
    "better_idea": QuestionKind(forms.RefinedIdea, "refinement"),
    "joint_idea": QuestionKind(forms.MergedIdea, "aggregation"),
    "worked_out_idea": QuestionKind(forms.SearchedIdea, "ideation"),
    "seeds": QuestionKind(forms.Seeds, "seeds"),
    "objection": QuestionKind(forms.HypothesisReview, "criticism", "critique"),
    "verdict": QuestionKind(forms.NoveltyVerdict, "novelty", "vote"),
    "review": QuestionKind(forms.PaperReview, "paper_review", "review"),
    "decision": QuestionKind(forms.ChairReview, "meta_review", "review"),
    "step": QuestionKind(forms.PlanStep, "step"),
    "step_review": QuestionKind(forms.StepReview, "step_review", "review"),
}
"""Choices by their names in a card."""

GIVEN_SLOTS = DEFINITION.slots | {
    *("topic", "team", "sentences", "part", "position", "agenda", "roles", "keys", "way"),
    *("archive", "summaries", "notes", "said", "references", "feedback", "others", "previous"),
    *("idea", "text", "cited", "criteria", "reviews", "earlier", "found", "count", "step"),
    *("entities", "ends", "final", "searching"),
}
"""The slots that are given to every page of a card; what a question does not show is empty."""

Place = tuple[str | int, ...]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=40)]
Number = Annotated[int, Field(ge=0, le=10_000)] | str
"""A whole number, or the name of a key of the card."""
Text = Annotated[str, Field(min_length=1)]
Shown = Literal["archive", "conversation", "notes", "others", "remarks"]
Papers = Literal["none", "topic", "idea", "ideas", "found", "searches", "neighbours", "core"]
EVERYBODY = ("leader", "everybody", "authors", "reviewers", "chair")
"""Who can be asked on every card; the names of its roles come beside."""


class Key(Part):
    """A key that scenarios can set; of a key that all systems have, other values of it."""

    default: Any = None
    least: int | float | None = None
    above: int | float | None = None
    most: int | float | None = None
    published: Any = None
    """The value in ``profile: published``, where it is another one."""
    matched: Any = None
    """The value in ``profile: matched``, where it is another one."""
    at_least: str | None = None
    """Another key, below which its value must not lie."""
    about: str = ""
    unit: str = ""
    source: str = ""

    @property
    def is_switch(self) -> bool:
        """Is it ``on`` or ``off``?"""
        return self.default in ("on", "off")

    @property
    def text(self) -> str:
        """What ``society list keys`` says of it."""
        unit = f" Unit: {self.unit}." if self.unit else ""
        source = f" Source: {self.source}." if self.source else ""
        return f"{self.about}{unit}{source}"


class CardTurn(Part):
    """One question of a round: who is asked for what, and what stands on the page."""

    who: str = "leader"
    """``leader``, ``everybody``, ``authors`` (of the ideas), ``reviewers`` or ``chair`` (scientists
    outside the team), or the name of a role."""
    asks: str
    """What for: a name of ``QUESTIONS``."""
    page: str = ""
    """The page, where it is not the usual one of the question."""
    shows: tuple[Shown, ...] = ()
    papers: Papers = "none"
    """Which papers stand on the page: near the ``topic``, the ``idea`` or all ``ideas``, ``found``
    by the queries before, by all ``searches`` of the meeting, the reader's own ``neighbours``, or
    those beside the ``core`` paper."""
    times: Number = 1
    """Replies of everybody who is asked, side by side."""
    ways: tuple[Text, ...] = ()
    """Words for the slot ``way``, for one reply after another."""
    order: Literal["side_by_side", "one_by_one"] = "side_by_side"
    """``one_by_one``: each reads what was said before."""
    seat: int | None = None
    """Place in the round, from 0; null: after those before it."""
    count: Number | None = None
    """Papers that a search of its own keeps; null: ``references``."""


class CardMeeting(Part):
    """Rounds of one name, each with its questions."""

    name: Text
    """What pages call it."""
    opening: tuple[CardTurn, ...] = ()
    """The questions of a first round of its own."""
    turns: tuple[CardTurn, ...] = ()
    """The questions of each round."""
    closing: tuple[CardTurn, ...] = ()
    """The questions of a last round of its own."""
    rounds: Number = 1
    """Rounds between opening and closing."""
    seeds: Number | None = None
    """Seed ideas; there are then as many rounds as batches."""
    batch: Number = 1
    """Seed ideas of one reply."""
    ends_early: bool | str = False
    """Does it end when a reply says so? The name of a switch, or ``true``."""
    parallel: Number = 1
    """Meetings with the same questions, side by side."""

    @property
    def all_turns(self) -> tuple[CardTurn, ...]:
        """The questions of all its rounds."""
        return (*self.opening, *self.turns, *self.closing)

    def turns_of(self, number: int, rounds: int) -> tuple[CardTurn, ...]:
        """The questions of one of its rounds, from 1."""
        if self.opening and number == 1:
            return self.opening
        return self.closing if self.closing and number == rounds else self.turns


class Stage(Part):
    """Meetings under one name in the tables."""

    name: Literal["ideas", "novelty"] = "ideas"
    repeat: Number = 1
    """How often it is entered; each time leaves one idea in the archive."""
    each: Literal["once", "idea", "step"] = "once"
    """``idea``: it is entered for each idea, ``step``: for each step of ``steps``."""
    steps: Mapping[str, tuple[str, ...]] = {}
    """Steps of a plan, and the criteria by which each is reviewed."""
    reviewers: Number = 0
    """Scientists outside the team who are asked."""
    skip_one: bool = False
    """Left out where there is one idea only."""
    meetings: tuple[CardMeeting, ...] = Field(min_length=1)

    @property
    def turns(self) -> Iterator[CardTurn]:
        """All questions of the stage."""
        for meeting in self.meetings:
            yield from meeting.all_turns


class Judging(Part):
    """How the ideas of a search are compared."""

    how: Literal["marks", "points", "elo", "reviews"]
    """``marks``: a score of each; ``points``: pairs of ideas with about as many; ``elo``: matches,
    by ratings; ``reviews``: texts of all, by scientists outside the team."""
    meeting: Text
    page: str = ""
    """The page, where it is not the usual one."""
    rounds: Number = 1
    """Of points: rounds; of Elo: matches of each new idea."""
    k: float | str = 128.0
    """Of Elo: largest change by one match."""
    debate: Number = 1
    """Of Elo: most turns of a debate between two that have won more than they lost."""
    reviewers: Number = 3
    """Of reviews: scientists outside the team."""
    criteria: tuple[str, ...] = ()
    """Of reviews: what is scored beside the whole."""


class Expansion(Part):
    """How further ideas are made of the best ones."""

    how: Literal["best_leaf", "evolve"]
    """``best_leaf``: new versions of the best that has none; ``evolve``: further ideas."""
    count: Number
    """Ideas of one round."""
    budget: Number = 1
    """Of ``best_leaf``: ideas in the whole tree."""
    rounds: Number = 1
    """Of ``evolve``: rounds, the first ideas included."""
    ways: Mapping[str, int] = {}
    """Of ``evolve``: the ways to a further idea in turn, and how many ideas each starts from."""


class Search(Part):
    """What follows the first ideas of a search."""

    distinct: float | str | None = None
    """Cosine from which a later idea counts as the same and is removed; null: all stay."""
    review: str = ""
    """The page on which each idea is reviewed by its author before it is compared; else none is."""
    judge: Judging
    expand: Expansion | None = None


class SystemCard(Part):
    """A research system as data."""

    name: Name
    """The name in tables and lists."""
    about: Text
    """What it is, in one line."""
    citation: Text
    as_published: tuple[Text, ...] = ()
    adapted: tuple[Text, ...] = ()
    left_out: tuple[Text, ...] = ()
    team: Literal["one", "several"] = "one"
    keys: Mapping[Name, Key] = {}
    roles: tuple[Name, ...] | Mapping[Literal["leader", "others", "last"], str] = ()
    """Roles that go round the members, the leader first; or by place."""
    agenda: str = ""
    """A text for the slot ``agenda``."""
    engine: Literal["rounds", "search"] = "rounds"
    stages: tuple[Stage, ...] = Field(min_length=1)
    choose: Literal["last", "novel", "most_frequent", "plan"] = "last"
    """Which idea the rounds end with: the last one, the best novel one, the one to which most are
    alike (key ``similarity``), or the joined steps of a plan."""
    search: Search | None = None

    @property
    def base(self) -> type[ResearchSystem]:
        """The class that has what all systems of its kind share."""
        return TeamSystem if self.team == "several" else ResearchSystem

    @property
    def own_keys(self) -> list[tuple[str, Key]]:
        """The keys that only this card has."""
        return [item for item in self.keys.items() if item[0] not in self.base.model_fields]

    @property
    def role_names(self) -> tuple[str, ...]:
        """The names of the roles."""
        return tuple(self.roles.values()) if isinstance(self.roles, Mapping) else self.roles

    def faults(self, pages: Prompts) -> Iterator[tuple[Place, str]]:
        """Names that are not there and parts that do not fit, each with its place in the card."""
        numbers, known_pages = [name for name, _ in self.own_keys], {p.name: p for p in pages}
        for at, value in _named_numbers(self.model_dump(exclude={"keys"}), ()):
            if value != "references" and value not in numbers:
                yield at, f"no key is called {value!r}{did_you_mean(value, numbers)}"
            elif value in numbers and (at[-1] == "ends_early") != self.keys[value].is_switch:
                kind = "a switch" if at[-1] == "ends_early" else "a number"
                yield at, f"the key {value!r} is not {kind}"
        for name, key in self.own_keys:
            if not key.about or key.default is None:
                yield ("keys", name), "a key of the card needs default and about"
        yield from self._faults_of_turns(known_pages)
        if (self.search is None) == (self.engine == "search"):
            yield ("engine",), "search is the section of engine: search, and of no other"
        each = {"novel": "idea", "plan": "step"}.get(self.choose, "once")
        if each != "once" and not any(stage.each == each for stage in self.stages):
            yield ("choose",), f"{self.choose!r} needs a stage with each: {each}"
        if self.search is not None:
            for place, name in (("review", self.search.review), ("judge", self.search.judge.page)):
                if name and name not in known_pages:
                    yield ("search", place), _no_page(name, known_pages)
            expand = self.search.expand
            if expand is not None:
                how = {"best_leaf": "marks", "evolve": "elo"}[expand.how]
                if self.search.judge.how != how:
                    yield ("search", "expand"), f"{expand.how!r} goes with how: {how}"

    def _faults_of_turns(self, known: Mapping[str, Prompt]) -> Iterator[tuple[Place, str]]:
        """Questions without a person to ask, asked too early, or without a prompt."""
        turns = [
            (("stages", i, "meetings", j, part, k), turn)
            for i, stage in enumerate(self.stages)
            for j, meeting in enumerate(stage.meetings)
            for part in ("opening", "turns", "closing")
            for k, turn in enumerate(getattr(meeting, part))
        ]
        people = (*EVERYBODY, *self.role_names)
        there = {"reviewers", "chair"} if any(stage.reviewers for stage in self.stages) else set()
        keys = {"similarity"} if self.choose == "most_frequent" else set()
        for at, turn in turns:
            if turn.asks not in QUESTIONS:
                hint = did_you_mean(turn.asks, QUESTIONS)
                yield (*at, "asks"), f"expected one of {', '.join(QUESTIONS)}{hint}"
                continue
            if turn.who not in people:
                yield (
                    (*at, "who"),
                    f"no scientist is called {turn.who!r}{did_you_mean(turn.who, people)}",
                )
            if turn.asks == "joint_idea" and (turn.who in EVERYBODY[1:] or turn.times != 1):
                yield (*at, "who"), "one person makes one joint idea"
            for field in ("asks", "who", "papers"):
                needed = NEEDS.get(value := getattr(turn, field), "")
                if needed and needed not in there:
                    yield (*at, field), f"{value!r} needs {needed} before it"
            keys |= {"entities"} if turn.papers == "core" else set()
            keys |= {"shown", "grounded"} if turn.asks == "seeds" else set()
            question, name = QUESTIONS[turn.asks], turn.page or QUESTIONS[turn.asks].page
            there |= {turn.asks} | ({"idea"} if issubclass(question.form, IDEAS) else set())
            page = known.get(name)
            if page is None:
                yield (*at, "page"), _no_page(name, known)
                continue
            for slot in sorted(page.slots - GIVEN_SLOTS):
                hint = did_you_mean(slot, GIVEN_SLOTS)
                place = f"{page.path}:{page.line_of(slot)}"
                yield (*at, "page"), f"{place}: no question gives the slot {slot!r}{hint}"
        if there and not there & {"idea", "step"}:
            yield ("stages",), "no question asks for an idea"
        for name in sorted(keys - {name for name, _ in self.own_keys}):
            yield ("keys",), f"the card needs a key {name!r}"


NEEDS = {
    **dict.fromkeys(("better_idea", "objection", "verdict", "review", "authors", "ideas"), "idea"),
    **{"found": "queries", "step_review": "step", "decision": "review"},
    **{"reviewers": "reviewers", "chair": "reviewers"},
}
"""What has to be there before a question, a person or papers: another question, or reviewers."""
IDEAS = (Idea, forms.Seeds)
NUMBERS = frozenset(
    {"rounds", "repeat", "times", "parallel", "reviewers", "seeds", "batch", "count", "budget"}
    | {"k", "debate", "distinct", "ends_early"}
)
"""Fields of a card that may contain the name of a key."""


def _named_numbers(data: Any, at: Place) -> Iterator[tuple[Place, str]]:
    """The names of keys used as numbers, with their positions."""
    items = data.items() if isinstance(data, Mapping) else enumerate(data)
    for name, value in items:
        if name in NUMBERS and isinstance(value, str):
            yield (*at, name), value
        elif isinstance(value, Mapping | tuple):
            yield from _named_numbers(value, (*at, name))


def _no_page(name: str, known: Mapping[str, Prompt]) -> str:
    hint = did_you_mean(name, known)
    return f"no prompt is called {name!r}{hint}; write it as prompts/{name}.txt beside the card"
