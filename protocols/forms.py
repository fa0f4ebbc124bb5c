"""Reply forms that any protocol with words may use: invitations, remarks, guests, summaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from virsci_society.agents.replies.coercion import coerce_choice
from virsci_society.agents.replies.form import Form

_NOBODY = ("", "none", "no", "nobody", "null", "n/a")
ACTIONS = {"Action 1": "join", "Action 2": "decline"}
"""The codes by which the paper's Figure 17 offers the two answers to an invitation."""
_SYNONYMS = {
    "1": "join",
    "accept": "join",
    "2": "decline",
    "refuse": "decline",
    "reject": "decline",
}
"""What the two answers are also called."""


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
    """A question that a speaker puts to one scientist outside the team."""

    scientist: str = Field(alias="Scientist", description="name the one you ask")
    question: str = Field(alias="Question", description="ask what you want to know")


class Spoken(Form):
    """An utterance in a discussion, with which the speaker may put a question to an outsider."""

    asked_with: ClassVar[Mapping[str, str]] = {"Ask": "outsiders"}

    @classmethod
    def allowed_values(cls, slots: Mapping[str, Any]) -> Mapping[str, Sequence[str]]:
        """Only those who are shown can be asked."""
        shown = [getattr(person, "id", person) for person in slots.get("outsiders", ())]
        return {"Ask/Scientist": shown} if shown else {}

    @field_validator("ask", mode="before", check_fields=False)
    @classmethod
    def _read_nobody(cls, value: Any) -> Any:
        """Parse the usual phrases for asking nobody."""
        parts = list(value.values()) if isinstance(value, dict) else [value]
        return None if all(_means_nobody(part) for part in parts) else value

    def words(self) -> str:
        """The utterance as others read it."""
        raise NotImplementedError


ASK: Any = Field(default=None, alias="Ask")
"""The last field of every utterance: a model writes what is said before what is asked."""


class Choice(Form):
    """Accept or decline an invitation (Fig. 17)."""

    reasoning: str = Field(
        default="",
        alias="Reasoning",
        description="say in one sentence what speaks for it and what against",
    )
    action: Literal["join", "decline"] = Field(alias="Selected Action")

    @classmethod
    def allowed_values(cls, slots: Mapping[str, Any]) -> Mapping[str, Sequence[str]]:
        """The answers by their names, or by the codes of the paper where the page uses them."""
        return {"Selected Action": tuple(ACTIONS)} if slots.get("coded") else {}

    @field_validator("action", mode="before")
    @classmethod
    def _by_number_or_name(cls, value: Any) -> Any:
        """Read 1, "Action 2: I decline" and "accept" as the answer that is meant."""
        if isinstance(value, bool) or not isinstance(value, str | int) or value in ACTIONS.values():
            return value
        said = coerce_choice(tuple(ACTIONS), str(value).strip(" .[]*\"'"))
        return ACTIONS.get(said) or _SYNONYMS.get(said.casefold(), said.casefold())

    @property
    def accepted(self) -> bool:
        """True if the invitee joins."""
        return self.action == "join"

    instead: ClassVar = {"action": "decline", "reasoning": ""}
    """Decline: an unreadable answer is no acceptance."""


def _means_nobody(value: Any) -> bool:
    """True for the usual phrases for asking nobody."""
    if isinstance(value, str):
        return value.strip(" .").casefold() in _NOBODY
    return value is None or value is False or value == []


class Remark(Spoken):
    """One turn of the topic discussion (Fig. 18)."""

    response: str = Field(alias="Response", description="speak to the team")
    direction: str = Field(
        default="",
        alias="Direction",
        description="name the direction you put forward in at most twelve words",
    )
    ask: Question | None = ASK

    def words(self) -> str:
        """The response, and the direction on a line of its own."""
        return f"{self.response}\nDirection: {self.direction}" if self.direction else self.response

    instead: ClassVar = {"response": "", "direction": ""}
    """Say nothing: an unreadable remark is silence."""


class GuestReply(Form):
    """The reply of an outside scientist who is consulted."""

    answer: str = Field(alias="Answer", description="give your advice, or say that you do not know")

    def words(self) -> str:
        """The answer."""
        return self.answer

    instead: ClassVar = {"answer": ""}
    """Say nothing: an unreadable reply of a guest is silence."""


class Summary(Form):
    """The leader's summary of one turn. Slots: stage, said (what was said in the turn)."""

    summary: str = Field(alias="Summary", description="sum up the round")

    def words(self) -> str:
        """The summary."""
        return self.summary

    instead: ClassVar = {"summary": ""}
    """An empty summary."""


class AnotherTurn(Form):
    """The leader's decision whether a stage needs another turn (adaptive pacing)."""

    reason: str = Field(
        default="", alias="Reason", description="say in one sentence what another would bring"
    )
    another: bool = Field(alias="Another Turn")

    instead: ClassVar = {"another": False}
    """End the stage: an unreadable decision asks for no further turn."""


class Topic(Form):
    """The topic the leader proposes (Fig. 19). Slots: summaries, said (replies of turn K)."""

    words_asked: ClassVar[Mapping[str, int]] = {"Selected Topic": 10}

    reason: str = Field(
        default="",
        alias="Reason",
        description="name in two sentences the need it answers and what it would change",
    )
    topic: str = Field(
        alias="Selected Topic",
        min_length=1,
        description="state the topic in one sentence of at most 40 words",
    )

    def words(self) -> str:
        """The topic."""
        return self.topic

    instead: ClassVar = None
    """None: no topic can be made up; the team ends."""


class Critique(Form):
    """The strongest objection to the chosen idea, before its abstract is written."""

    soundness: str = Field(
        alias="Soundness", description="say whether the reasoning holds and which step is weakest"
    )
    objection: str = Field(
        alias="Objection", description="raise the strongest objection of a reviewer"
    )
    advice: str = Field(
        default="", alias="Advice", description="say what the abstract should change to meet it"
    )

    def words(self) -> str:
        """Soundness, objection and advice, each under its name; empty if nothing was said."""
        parts = {"Soundness": self.soundness, "Objection": self.objection, "Advice": self.advice}
        return "\n".join(f"{name}: {text}" for name, text in parts.items() if text)

    instead: ClassVar = {"soundness": "", "objection": ""}
    """Say nothing: an unreadable critique is silence."""


class Draft(Spoken):
    """The leader's first abstract (Fig. 22). Slots: idea (CandidateIdea), knowledge, outsiders."""

    words_asked: ClassVar[Mapping[str, int]] = {"Abstract": 200}

    reason: str = Field(
        default="", alias="Reason", description="plan what each of the five parts has to say"
    )
    title: str = Field(alias="Title", min_length=1, description="give the paper a title")
    abstract: str = Field(alias="Abstract", min_length=1, description="write the whole abstract")
    ask: Question | None = ASK

    def words(self) -> str:
        """Title and abstract."""
        return f"{self.title}\n{self.abstract}"

    instead: ClassVar = None
    """None: no first text can be made up; the team ends."""
