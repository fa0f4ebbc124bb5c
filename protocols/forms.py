"""The forms of talking in a team: what any protocol with words may ask.

Each class says which structured slots its rule reads; ``me`` is always the Profile asked.
The rules themselves live in ``agents/offline``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, field_validator

from agents.forms import Form
from agents.offline import composition, judgement

_NOBODY = ("", "none", "no", "nobody", "null", "n/a")
_ACTIONS = {"1": 1, "accept": 1, "join": 1, "2": 2, "decline": 2, "refuse": 2, "reject": 2}
"""What the two actions of an invitation are also called."""


class Question(Form):
    """A question that a speaker puts to one scientist outside the team.

    It is a part of a form and never asked by itself, so it has no default.
    """

    scientist: str = Field(alias="Scientist")
    question: str = Field(alias="Question")


class Spoken(Form):
    """Anything said in a discussion; the speaker may consult an outsider along with it."""

    ask: Question | None = Field(default=None, alias="Ask")

    @field_validator("ask", mode="before")
    @classmethod
    def _asks_somebody(cls, value: Any) -> Any:
        """Read the usual ways of asking nobody as asking nobody."""
        said = list(value.values()) if isinstance(value, dict) else [value]
        return None if all(_nobody(part) for part in said) else value

    def words(self) -> str:
        """The utterance as others read it."""
        raise NotImplementedError


class Choice(Form):
    """Accept or decline an invitation (Fig. 17).

    Slots: inviter (Profile), members (Profiles so far), load (teams the invitee is in now),
    ties (joint papers with the inviter so far), similarity (cosine of the two profiles).
    """

    ruled: ClassVar[bool] = True
    action: Literal["Action 1", "Action 2"] = Field(alias="Selected Action")
    reasoning: str = Field(default="", alias="Reasoning")

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
    def rehearse(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """Accept with the logistic probability of ``agents/offline/judgement.py``."""
        return cls.model_validate(judgement.invitation(slots, rng))

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """An unreadable answer is no acceptance."""
        return cls(action="Action 2", reasoning="")


def _nobody(said: Any) -> bool:
    """True for the usual ways of saying that nobody is asked."""
    if isinstance(said, str):
        return said.strip(" .").casefold() in _NOBODY
    return said is None or said is False or said == []


class Remark(Spoken):
    """One turn of the topic discussion (Fig. 18).

    Slots: members, role, summaries (Summary of turns 1..k-1), said (Remark and GuestReply of
    this turn so far), start (a topic to begin with, or ""), memory (lines), knowledge
    (Profiles relevant to the text at hand), outsiders (Profiles that may be consulted; empty:
    nobody may be).
    """

    ruled: ClassVar[bool] = True
    response: str = Field(alias="Response")
    direction: str = Field(default="", alias="Direction")

    def words(self) -> str:
        """The response."""
        return self.response

    @classmethod
    def rehearse(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """Take up what was said, bring in an interest of one's own."""
        return cls.model_validate(composition.remark(slots, rng))

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """An unreadable turn is silence."""
        return cls(response="", direction="")


class GuestReply(Form):
    """What an outside scientist answers when consulted.

    Slots: asker (Profile), question (str), stage (str), context (str: topic, idea or draft).
    """

    ruled: ClassVar[bool] = True
    answer: str = Field(alias="Answer")

    def words(self) -> str:
        """The answer."""
        return self.answer

    @classmethod
    def rehearse(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """Answer from the guest's own interests."""
        return cls.model_validate(composition.guest(slots, rng))

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """An unreadable guest has said nothing."""
        return cls(answer="")


class Summary(Form):
    """The leader's summary of one turn. Slots: stage, said (what was said in the turn)."""

    ruled: ClassVar[bool] = True
    summary: str = Field(alias="Summary")

    def words(self) -> str:
        """The summary."""
        return self.summary

    @classmethod
    def rehearse(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """Name the directions or titles that were put forward, most frequent first."""
        return cls.model_validate(composition.summary(slots, rng))

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """An unreadable summary is empty."""
        return cls(summary="")


class AnotherTurn(Form):
    """Adaptive pacing: does the stage need another turn?

    Slots: stage, turn (1-based), turns_left (int >= 1), progress (the turn's Summary, Ballots
    or Draft, as a tuple).
    """

    ruled: ClassVar[bool] = True
    another: bool = Field(alias="Another Turn")

    @classmethod
    def rehearse(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """Stop once the turn's outcome has settled."""
        return cls.model_validate(judgement.another_turn(slots, rng))

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """An unreadable decision ends the stage."""
        return cls(another=False)
