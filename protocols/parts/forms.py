"""Reply forms that several research systems share, beside those of VirSci that they use as well.

An idea is VirSci's ``Idea`` and an abstract its ``Draft``, so that systems are compared by the same
words. Each class says which structured slots its rule reads; the rules of the offline scientist are
in ``offline_rules``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator

from virsci_society.agents.replies.form import Form
from virsci_society.protocols.ideas import Idea, read_paper_keys

IdeaMark = Annotated[float, Field(ge=1, le=10)]
"""A score; 1 is lowest."""


class RefinedIdea(Idea):
    """An idea after one round of reflection, and whether it is finished.

    Slots: those of ``Idea``; previous is the idea as it was.
    """

    done: bool = Field(
        default=False, alias="Done", description="true if a further round would not improve it"
    )


class SearchQueries(Form):
    """What to look for in the literature. Slots: topic, idea (CandidateIdea or None)."""

    reason: str = Field(default="", alias="Reason", description="what has to be known, and why")
    queries: tuple[str, ...] = Field(
        alias="Queries", description="a few words that a relevant paper would contain"
    )

    @field_validator("queries", mode="before")
    @classmethod
    def _read_lines(cls, value: Any) -> Any:
        """Read one text as one query."""
        return (value,) if isinstance(value, str) else value

    def words(self) -> str:
        """The queries, one per line."""
        return "\n".join(self.queries)

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """No query: the topic itself is searched for."""
        return cls(queries=())


class ReadingNotes(Form):
    """What somebody takes from papers. Slots: topic, references (References)."""

    findings: str = Field(
        alias="Findings", description="what these papers establish that bears on the topic"
    )
    gaps: str = Field(
        default="", alias="Gaps", description="what they leave open or contradict each other on"
    )

    def words(self) -> str:
        """Findings and gaps."""
        return f"{self.findings}\nOpen: {self.gaps}" if self.gaps else self.findings

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """No notes: unreadable notes are silence."""
        return cls(findings="")


class NoveltyVerdict(Form):
    """Is an idea new, by the papers found so far? Slots: idea (CandidateIdea), references, final.

    ``final`` says that no further search can follow.
    """

    reason: str = Field(
        default="", alias="Reason", description="the nearest paper, and what it lacks"
    )
    decision: Literal["novel", "not novel", "search again"] = Field(alias="Decision")
    query: str = Field(
        default="", alias="Query", description="what to search for next, if a search is needed"
    )

    @classmethod
    def unasked(cls, slots: Mapping[str, Any]) -> tuple[str, ...]:
        """No query where no search can follow."""
        return ("Query",) if slots.get("final") else ()

    @classmethod
    def schema_for(cls, slots: Mapping[str, Any]) -> dict[str, Any]:
        """After the last search it has to be decided."""
        schema = super().schema_for(slots)
        if slots.get("final"):
            schema["properties"]["Decision"]["enum"] = ["novel", "not novel"]
        return schema

    @field_validator("decision", mode="before")
    @classmethod
    def _as_meant(cls, value: Any) -> Any:
        """Read "Novel." and "not_novel" as they are meant."""
        return (
            value.strip(" .\"'").replace("_", " ").casefold() if isinstance(value, str) else value
        )

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """Search again: an unreadable verdict decides nothing."""
        return cls(decision="search again")


class IdeaScore(Form):
    """How promising an idea is. Slots: idea (CandidateIdea)."""

    reason: str = Field(
        default="", alias="Reason", description="its strongest and its weakest side"
    )
    score: IdeaMark = Field(alias="Score")

    def words(self) -> str:
        """The reason, and the score."""
        return f"{self.reason}\nScore: {self.score:g} of 10"

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """The lowest score: an idea whose mark cannot be read is not preferred to any."""
        return cls(score=1.0)


class PairChoice(Form):
    """Which of two ideas is better? Slots: first, second (CandidateIdeas)."""

    reason: str = Field(default="", alias="Reason", description="what decides between the two")
    better: Literal["A", "B", ""] = Field(alias="Better", json_schema_extra={"enum": ["A", "B"]})

    @field_validator("better", mode="before")
    @classmethod
    def _as_meant(cls, value: Any) -> Any:
        """Read "Idea A" and "b." as they are meant."""
        if not isinstance(value, str):
            return value
        return value.strip(" .\"'").casefold().removeprefix("idea").strip().upper()

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """A tie: half a point each."""
        return cls(better="")


class Proposal(Form):
    """A research proposal in five parts, and the papers that it cites.

    Slots: topic, said (Utterances of the discussion), idea (CandidateIdea or None), references.
    """

    reason: str = Field(
        default="", alias="Reason", description="what of the material below goes into which part"
    )
    title: str = Field(alias="Title", min_length=1, description="the title")
    problem: str = Field(
        alias="Problem Statement", min_length=1, description="the gap in what is known"
    )
    motivation: str = Field(
        default="",
        alias="Motivation and Hypothesis",
        description="why it is worth closing, and the central claim",
    )
    method: str = Field(
        alias="Proposed Method", min_length=1, description="the approach in technical detail"
    )
    plan: str = Field(
        default="",
        alias="Experiment Plan",
        description="the steps of the test: data, baselines, measures",
    )
    cited: tuple[str, ...] = Field(
        default=(), alias="References", description="keys of the papers that it cites"
    )
    """Keys of papers, such as ``P17``; a bare number stands for the key."""

    @field_validator("cited", mode="before")
    @classmethod
    def _read_keys(cls, value: Any) -> Any:
        """Read 17, "17" and "[P17]" as the key P17, and several of them in one text."""
        return read_paper_keys(value)

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

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """None: no proposal can be made up; the team ends."""
        return None


class Contribution(Form):
    """What one member says in a discussion that leads to a proposal or to an idea.

    Slots: topic, said (Utterances so far), references, searching (may a search be asked for?).
    """

    response: str = Field(alias="Response", description="what you say to the others")
    direction: str = Field(
        default="",
        alias="Point",
        description="your main point, in at most twelve words",
    )
    query: str = Field(
        default="",
        alias="Search",
        description="what to search for in the literature for the next round",
    )

    @classmethod
    def unasked(cls, slots: Mapping[str, Any]) -> tuple[str, ...]:
        """No search where nothing would come of it."""
        return () if slots.get("searching") else ("Search",)

    def words(self) -> str:
        """The response, and the point on a line of its own."""
        return f"{self.response}\nPoint: {self.direction}" if self.direction else self.response

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """Say nothing: an unreadable contribution is silence."""
        return cls(response="")


class PlanStep(Form):
    """One step of a research plan: problem, method or experiment.

    Slots: step (its name), topic, earlier (PlanSteps before it), references, entities (terms),
    previous (PlanStep or None), feedback (Utterances).
    """

    reason: str = Field(
        default="", alias="Reason", description="why this is the right one, by the papers below"
    )
    title: str = Field(alias="Title", min_length=1, description="at most fifteen words")
    text: str = Field(alias="Text", min_length=1, description="the step itself, in detail")

    def words(self) -> str:
        """Title and text."""
        return f"{self.title}\n{self.text}"

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """The step as it was, where there is one; else None: the team ends."""
        previous = slots.get("previous")
        return None if previous is None else cls(title=previous.title, text=previous.text)


class StepReview(Form):
    """The review of one step by stated criteria. Slots: step, text (PlanStep), criteria (names)."""

    feedback: str = Field(
        default="", alias="Feedback", description="what is weak by these criteria, and a remedy"
    )
    scores: dict[str, IdeaMark] = Field(alias="Scores")

    @classmethod
    def schema_for(cls, slots: Mapping[str, Any]) -> dict[str, Any]:
        """One score for each criterion, all required."""
        schema = super().schema_for(slots)
        names = list(slots.get("criteria", ()))
        if names:
            scores = schema["properties"]["Scores"]
            each = scores.pop("additionalProperties")
            scores |= {
                "properties": {name: dict(each) for name in names},
                "required": names,
                "additionalProperties": False,
            }
        return schema

    @property
    def mean(self) -> float:
        """The mean score, 1 to 10; 0 where nothing was scored."""
        return sum(self.scores.values()) / len(self.scores) if self.scores else 0.0

    def words(self) -> str:
        """The scores, then the feedback."""
        scores = ", ".join(f"{name} {score:g}" for name, score in self.scores.items())
        return f"{scores}. {self.feedback}".lstrip(". ")

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """No review: an unreadable one counts for nothing."""
        return cls(scores={})
