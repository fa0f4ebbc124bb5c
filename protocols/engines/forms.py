"""Reply forms of the research systems, beside those of VirSci that they use as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, field_validator

from virsci_society.agents.replies.form import Form
from virsci_society.protocols.forms import Critique, require_names
from virsci_society.protocols.ideas import Idea, PaperKeys, keys_of

IdeaMark = Annotated[float, Field(ge=1, le=10)]
"""A score; 1 is lowest."""
BEST_OF_STEP = 5
"""The best score of a step of a plan."""
BEST_OF_PART = 4
"""The best score of a paper by one criterion."""


class RefinedIdea(Idea):
    """An idea after one round of reflection, and whether it is finished."""

    done: bool = Field(
        default=False, alias="Done", description="true if a further round would not improve it"
    )

    @property
    def finished(self) -> bool:
        """Does the work end here?"""
        return self.done

    asked_with: ClassVar = {**Idea.asked_with, "Done": "ends"}


class MergedIdea(Idea):
    """One idea that is made of what several have said. Slots: those of ``Idea``."""

    reason: str = Field(
        default="",
        alias="Reason",
        description="say who brought in what, what you decided between them, and why",
    )


class SearchedIdea(RefinedIdea):
    """An idea after one round of work, whether it is finished, and else what to search for."""

    query_words: str = Field(
        default="", alias="Search", description="say what to search for next, unless it is done"
    )

    asked_with: ClassVar = {**RefinedIdea.asked_with, "Search": "searching"}


class Seed(Form):
    """One of several seed ideas; a part of a form, never asked for alone."""

    title: str = Field(alias="Title", min_length=1, description="give it a short name")
    idea: str = Field(
        alias="Idea",
        min_length=1,
        description="describe the problem, what you propose, and why it would work",
    )
    experiment: str = Field(default="", alias="Experiment", description="say how to test it")


class Seeds(Form):
    """Several seed ideas at once. Slots: topic, references, archive, count (how many)."""

    seeds: tuple[Seed, ...] = Field(alias="Seeds", min_length=1)


class SearchQueries(Form):
    """What to look for in the literature. Slots: topic, said (Utterances, where there are any)."""

    reason: str = Field(default="", alias="Reason", description="say what has to be known, and why")
    queries: tuple[str, ...] = Field(
        alias="Queries", description="a few words each that a relevant paper would contain"
    )

    @field_validator("queries", mode="before")
    @classmethod
    def _read_lines(cls, value: Any) -> Any:
        """Read one text as one query."""
        return (value,) if isinstance(value, str) else value

    def words(self) -> str:
        """What has to be known, and the queries."""
        return f"{self.reason}\nQueries: {'; '.join(self.queries)}".strip()

    instead: ClassVar = {"queries": ()}
    """No query: the topic itself is searched for."""


class ReadingNotes(Form):
    """What somebody takes from papers. Slots: topic, references (References)."""

    findings: str = Field(
        alias="Findings", description="say what these papers establish that bears on the topic"
    )
    directions: str = Field(
        default="",
        alias="Directions",
        description="say what they leave open that your own work could take up",
    )

    def words(self) -> str:
        """Findings and directions."""
        if not self.directions:
            return self.findings
        return f"{self.findings}\nTo be taken up: {self.directions}"

    instead: ClassVar = {"findings": ""}
    """No notes: unreadable notes are silence."""


class NoveltyVerdict(Form):
    """Is an idea new, by all papers found so far?"""

    reason: str = Field(
        default="", alias="Reason", description="name the nearest paper, and what it lacks"
    )
    decision: Literal["novel", "not novel", "search again"] = Field(alias="Decision")
    query: str = Field(
        default="", alias="Query", description="say what to search for next, if a search is needed"
    )

    @property
    def finished(self) -> bool:
        """Is it decided?"""
        return self.decision != "search again"

    @classmethod
    def inapplicable_fields(cls, slots: Mapping[str, Any]) -> tuple[str, ...]:
        """No query where no search can follow."""
        return ("Query",) if slots.get("final") else ()

    @classmethod
    def allowed_values(cls, slots: Mapping[str, Any]) -> Mapping[str, Sequence[str]]:
        """After the last search it has to be decided."""
        return {"Decision": ("novel", "not novel")} if slots.get("final") else {}

    @field_validator("decision", mode="before")
    @classmethod
    def _as_meant(cls, value: Any) -> Any:
        """Read "Novel." and "not_novel" as they are meant."""
        return (
            value.strip(" .\"'").replace("_", " ").casefold() if isinstance(value, str) else value
        )

    instead: ClassVar = {"decision": "search again"}
    """Search again: an unreadable verdict decides nothing."""


class IdeaScore(Form):
    """How promising an idea is. Slots: idea (CandidateIdea)."""

    reason: str = Field(
        default="", alias="Reason", description="name its strongest and its weakest side"
    )
    score: IdeaMark = Field(alias="Score")

    def words(self) -> str:
        """The reason, and the score."""
        return f"{self.reason}\nScore: {self.score:g} of 10"

    instead: ClassVar = {"score": 1.0}
    """The lowest score: an idea whose mark cannot be read is not preferred to any."""


class Proposal(Form):
    """A research proposal in five parts, and the papers that it cites."""

    reason: str = Field(
        default="", alias="Reason", description="say what of the material goes into which part"
    )
    title: str = Field(alias="Title", min_length=1, description="give the proposal a title")
    problem: str = Field(
        alias="Problem Statement", min_length=1, description="describe the gap in what is known"
    )
    motivation: str = Field(
        default="",
        alias="Motivation and Hypothesis",
        description="say why it is worth closing, and state the central claim",
    )
    method: str = Field(
        alias="Proposed Method",
        min_length=1,
        description="describe the approach in technical detail",
    )
    plan: str = Field(
        default="",
        alias="Experiment Plan",
        description="plan the steps of the test: data, baselines, measures",
    )
    cited: PaperKeys = Field(
        default=(), alias="References", description="keys of the papers that it cites"
    )
    """Keys of papers, such as ``P17``; a bare number stands for the key."""

    @classmethod
    def allowed_values(cls, slots: Mapping[str, Any]) -> Mapping[str, Sequence[str]]:
        """Only papers that are shown can be cited."""
        shown = keys_of(slots.get("references", ()))
        return {"References": shown} if shown else {}

    @property
    def abstract(self) -> str:
        """Parts 2 to 5 under their headings, as the paper of the team holds them."""
        parts = (
            ("Problem statement", self.problem),
            ("Motivation and hypothesis", self.motivation),
            ("Proposed method", self.method),
            ("Experiment plan", self.plan),
        )
        return "\n".join(f"{name}: {text}" for name, text in parts if text)

    def words(self) -> str:
        """Title and all parts."""
        return f"{self.title}\n{self.abstract}"

    instead: ClassVar = None
    """None: no proposal can be made up; the team ends."""


class Contribution(Form):
    """What one member says in a discussion that leads to a proposal or to an idea."""

    response: str = Field(alias="Response", description="speak to the others")
    direction: str = Field(
        default="", alias="Point", description="make your main point in at most twelve words"
    )
    query: str = Field(
        default="",
        alias="Search",
        description="say what to search for in the literature for the next round",
    )

    asked_with: ClassVar = {"Search": "searching"}

    def words(self) -> str:
        """The response, and the point on a line of its own."""
        return f"{self.response}\nPoint: {self.direction}" if self.direction else self.response

    instead: ClassVar = {"response": ""}
    """Say nothing: an unreadable contribution is silence."""


class PlanStep(Form):
    """One step of a research plan: problem, method or experiment."""

    title: str = Field(
        alias="Title", min_length=1, description="give it a title of at most fifteen words"
    )
    text: str = Field(alias="Text", min_length=1, description="describe the step itself in detail")
    reason: str = Field(
        default="",
        alias="Rationale",
        description="say why this is the right one, by what stands above and by the papers",
    )

    def words(self) -> str:
        """Title, text and rationale."""
        return f"{self.title}\n{self.text}" + (f"\nRationale: {self.reason}" if self.reason else "")

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """The step as it was, where there is one; else None: the team ends."""
        previous = slots.get("previous")
        return None if previous is None else cls(title=previous.title, text=previous.text)


class StepReview(Form):
    """The review of one step by some criteria, of which each is scored from 1 to 5."""

    feedback: dict[str, Annotated[str, Field(description="name what is weak, and a remedy")]] = (
        Field(default_factory=dict, alias="Feedback")
    )
    scores: dict[str, Annotated[float, Field(ge=1, le=BEST_OF_STEP)]] = Field(alias="Scores")

    @classmethod
    def schema_for(cls, slots: Mapping[str, Any]) -> dict[str, Any]:
        """Feedback and a score for each criterion, all required."""
        names = slots.get("criteria", ())
        return require_names(super().schema_for(slots), names, "Feedback", "Scores")

    def words(self) -> str:
        """What could be better: each criterion that has not the best score, and its feedback."""
        lines = (
            f"{name}, {score:g} of {BEST_OF_STEP}: {self.feedback.get(name, '')}"
            for name, score in self.scores.items()
            if score < BEST_OF_STEP
        )
        return "\n".join(lines) or "Nothing to remark."

    instead: ClassVar = {"scores": {}}
    """No review: an unreadable one counts for nothing."""


class PaperReview(Form):
    """The review of one text. Slots: text (with words), cited (References), criteria (names)."""

    strengths: str = Field(alias="Strengths", description="say what is good, in about 200 words")
    weaknesses: str = Field(
        alias="Weaknesses", description="say what is wrong or missing, in about 200 words"
    )
    scores: dict[str, Annotated[float, Field(ge=1, le=BEST_OF_PART)]] = Field(
        default_factory=dict, alias="Scores"
    )
    score: IdeaMark = Field(alias="Score")

    asked_with: ClassVar = {"Scores": "criteria"}

    @classmethod
    def schema_for(cls, slots: Mapping[str, Any]) -> dict[str, Any]:
        """One score for each criterion, all required."""
        return require_names(super().schema_for(slots), slots.get("criteria", ()), "Scores")

    def words(self) -> str:
        """Strengths, weaknesses and scores; empty where there are none."""
        if not self.score:
            return ""
        parts = "".join(
            f"{name} {mark:g} of {BEST_OF_PART}. " for name, mark in self.scores.items()
        )
        score = f"{parts}Score: {self.score:g} of 10."
        return f"Strengths: {self.strengths}\nWeaknesses: {self.weaknesses}\n{score}"

    instead: ClassVar = {"strengths": "", "weaknesses": "", "scores": {}, "score": 0.0}
    """No review: the score 0 counts for nothing."""


class ChairReview(Form):
    """What a chair makes of several reviews. Slots: text (with words), reviews (Utterances)."""

    strengths: str = Field(
        alias="Strengths", description="name those that count, in about 200 words"
    )
    weaknesses: str = Field(
        alias="Weaknesses", description="name those that count, in about 200 words"
    )
    decision: Literal["accept", "reject"] = Field(alias="Decision")

    def words(self) -> str:
        """Strengths, weaknesses and decision."""
        return (
            f"Strengths: {self.strengths}\nWeaknesses: {self.weaknesses}\n"
            f"Decision: {self.decision}."
        )

    instead: ClassVar = {"strengths": "", "weaknesses": "", "decision": "reject"}
    """Reject: an unreadable decision accepts nothing."""


class HypothesisReview(Critique):
    """A critique, and whether the idea stands as it is."""

    advice: str = Field(
        default="", alias="Advice", description="say what to change, and what to look at again"
    )
    approved: bool = Field(
        default=False, alias="Approve", description="true if nothing of weight is left to improve"
    )

    @property
    def finished(self) -> bool:
        """Does the work end here?"""
        return self.approved

    asked_with: ClassVar = {"Approve": "ends"}


class DeepReview(Form):
    """The review of a hypothesis by what it takes for granted. Slots: idea (CandidateIdea)."""

    assumptions: str = Field(
        default="",
        alias="Assumptions",
        description="list what it takes for granted, and what speaks for or against each point",
    )
    known: str = Field(
        default="",
        alias="Novelty",
        description="say what of it is known, from which papers, and what the rest would explain",
    )
    weakness: str = Field(
        alias="Weakness",
        description="name the gravest flaw of its reasoning or test, and whether all falls with it",
    )
    advice: str = Field(default="", alias="Advice", description="say what would make it better")

    def words(self) -> str:
        """All parts, each under its name; empty if nothing was said."""
        parts = {
            "Assumptions": self.assumptions,
            "Novelty": self.known,
            "Weakness": self.weakness,
            "Advice": self.advice,
        }
        return "\n".join(f"{name}: {text}" for name, text in parts.items() if text)

    instead: ClassVar = {"weakness": ""}
    """Say nothing: an unreadable review is silence."""


class PairChoice(Form):
    """Which of two ideas is better?"""

    debate: tuple[str, ...] = Field(
        default=(), alias="Debate", description="one turn each: who speaks, and what is said"
    )
    reason: str = Field(
        default="", alias="Reason", description="say in one sentence what decides between them"
    )
    better: Literal["A", "B", ""] = Field(alias="Better", json_schema_extra={"enum": ["A", "B"]})

    @classmethod
    def inapplicable_fields(cls, slots: Mapping[str, Any]) -> tuple[str, ...]:
        """No debate where a single comparison decides."""
        return () if slots.get("turns", 1) > 1 else ("Debate",)

    @field_validator("better", mode="before")
    @classmethod
    def _as_meant(cls, value: Any) -> Any:
        """Read "Idea A" and "b." as they are meant."""
        if not isinstance(value, str):
            return value
        return value.strip(" .\"'").casefold().removeprefix("idea").strip().upper()

    instead: ClassVar = {"better": ""}
    """A tie: half a point each."""


class Lessons(Form):
    """What many reviews and comparisons have in common."""

    patterns: str = Field(
        alias="Patterns",
        description="name criticisms that recur, and what tends to win or lose a comparison",
    )
    advice: str = Field(
        default="",
        alias="Advice",
        description="say what further hypotheses have to do, and further reviews to look at",
    )

    def words(self) -> str:
        """What recurs, and the advice; empty if nothing was said."""
        if not self.advice:
            return self.patterns
        return f"{self.patterns}\nTo be heeded: {self.advice}"

    instead: ClassVar = {"patterns": ""}
    """No lessons: unreadable ones are silence."""
