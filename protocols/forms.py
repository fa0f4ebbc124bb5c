"""Reply forms that any protocol with words may use: invitations, remarks, guests, summaries.

Each class says which structured slots its rule reads; the slot ``me`` always holds the profile of
the scientist who is asked. The rules of the offline scientist are in ``offline_rules``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

from pydantic import Field, field_validator

from virsci_society.agents.replies.form import Form

_NOBODY = ("", "none", "no", "nobody", "null", "n/a")
_ACTIONS = {"1": 1, "accept": 1, "join": 1, "2": 2, "decline": 2, "refuse": 2, "reject": 2}
"""What the two actions of an invitation are also called."""


def require_names(schema: dict[str, Any], names: Sequence[str], *fields: str) -> dict[str, Any]:
    """The schema of a form in which some fields have one value under each name, all required."""
    for field in fields if names else ():
        part = schema["properties"][field]
        each = part.pop("additionalProperties")
        part |= {
            "properties": {name: dict(each) for name in names},
            "required": list(names),
            "additionalProperties": False,
        }
    return schema


class Question(Form):
    """A question that a speaker puts to one scientist outside the team.

    It is a part of a form and never asked by itself, so it has no default.
    """

    scientist: str = Field(alias="Scientist", description="name of one of them")
    question: str = Field(alias="Question", description="what you want to know")


class Spoken(Form):
    """An utterance in a discussion, with which the speaker may put a question to an outsider.

    Each subclass declares ``ask: Question | None = ASK`` as its last field: a model writes fields
    in the order of their declaration, and what is said comes before what is asked.
    """

    @classmethod
    def unasked(cls, slots: Mapping[str, Any]) -> tuple[str, ...]:
        """Nobody can be asked where no outsider is shown."""
        return () if slots.get("outsiders") else ("Ask",)

    @field_validator("ask", mode="before", check_fields=False)
    @classmethod
    def _read_nobody(cls, value: Any) -> Any:
        """Read the usual ways of asking nobody as asking nobody."""
        parts = list(value.values()) if isinstance(value, dict) else [value]
        return None if all(_means_nobody(part) for part in parts) else value

    def words(self) -> str:
        """The utterance as others read it."""
        raise NotImplementedError


ASK: Any = Field(default=None, alias="Ask")
"""The last field of every utterance."""


class Choice(Form):
    """Accept or decline an invitation (Fig. 17).

    Slots: inviter (Profile), members (Profiles so far), load (teams the invitee is in now),
    ties (joint papers with the inviter so far), similarity (cosine of the two profiles),
    acceptance (the offline scientist's rule; the offline backend adds it).
    """

    reasoning: str = Field(default="", alias="Reasoning", description="what speaks for and against")
    action: Literal["Action 1", "Action 2"] = Field(alias="Selected Action")

    @field_validator("action", mode="before")
    @classmethod
    def _by_number_or_name(cls, value: Any) -> Any:
        """Read 1, "2" and "accept" as the action that is meant."""
        if isinstance(value, str):
            value = _ACTIONS.get(value.strip(" .[]*\"'").casefold(), value)
        return f"Action {value:d}" if value in (1, 2) and not isinstance(value, bool) else value

    @property
    def accepted(self) -> bool:
        """True if the invitee joins."""
        return self.action == "Action 1"

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """Decline: an unreadable answer is no acceptance."""
        return cls(action="Action 2", reasoning="")


def _means_nobody(value: Any) -> bool:
    """True for the usual ways of saying that nobody is asked."""
    if isinstance(value, str):
        return value.strip(" .").casefold() in _NOBODY
    return value is None or value is False or value == []


class Remark(Spoken):
    """One turn of the topic discussion (Fig. 18).

    Slots: members, role, summaries (Summary of turns 1..k-1), said (Remark and GuestReply of
    this turn so far), start (a topic to begin with, or ""), memory (lines), knowledge
    (Profiles relevant to the text at hand), outsiders (Profiles that may be consulted; empty:
    nobody may be).
    """

    response: str = Field(alias="Response", description="what you say to the team")
    direction: str = Field(
        default="",
        alias="Direction",
        description="the direction you put forward, in at most twelve words",
    )
    ask: Question | None = ASK

    def words(self) -> str:
        """The response, and the direction on a line of its own."""
        return f"{self.response}\nDirection: {self.direction}" if self.direction else self.response

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """Say nothing: an unreadable remark is silence."""
        return cls(response="", direction="")


class GuestReply(Form):
    """The reply of an outside scientist who is consulted.

    Slots: asker (Profile), question (str), stage (str), context (str: topic, idea or draft).
    """

    answer: str = Field(alias="Answer", description="what you reply")

    def words(self) -> str:
        """The answer."""
        return self.answer

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """Say nothing: an unreadable reply of a guest is silence."""
        return cls(answer="")


class Summary(Form):
    """The leader's summary of one turn. Slots: stage, said (what was said in the turn)."""

    summary: str = Field(alias="Summary", description="your summary")

    def words(self) -> str:
        """The summary."""
        return self.summary

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """An empty summary."""
        return cls(summary="")


class AnotherTurn(Form):
    """The leader's decision whether a stage needs another turn (adaptive pacing).

    Slots: stage, turn (1-based), turns_left (int >= 1), progress (the turn's Summary, Ballots
    or Draft, as a tuple).
    """

    reason: str = Field(default="", alias="Reason", description="what another round would bring")
    another: bool = Field(alias="Another Turn")

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """End the stage: an unreadable decision asks for no further turn."""
        return cls(another=False)


CHOSEN_ALONE = "which need it answers, what it would change"


class Topic(Form):
    """The topic the leader proposes (Fig. 19). Slots: summaries, said (replies of turn K)."""

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

    @classmethod
    def schema_for(cls, slots: Mapping[str, Any]) -> dict[str, Any]:
        """The schema; where nothing was discussed, no themes are asked for."""
        schema = super().schema_for(slots)
        if not (slots.get("summaries") or slots.get("said")):
            schema["properties"]["Reason"]["description"] = CHOSEN_ALONE
        return schema

    def words(self) -> str:
        """The topic."""
        return self.topic

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """None: no topic can be made up; the team ends."""
        return None


class Critique(Form):
    """The strongest objection to the chosen idea, before its abstract is written.

    Slots: idea (CandidateIdea).
    """

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
        """Soundness, objection and advice, each under its name; empty if nothing was said."""
        parts = {"Soundness": self.soundness, "Objection": self.objection, "Advice": self.advice}
        return "\n".join(f"{name}: {text}" for name, text in parts.items() if text)

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """Say nothing: an unreadable critique is silence."""
        return cls(soundness="", objection="")


class Draft(Spoken):
    """The leader's first abstract (Fig. 22). Slots: idea (CandidateIdea), knowledge, outsiders."""

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
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """None: no first text can be made up; the team ends."""
        return None
