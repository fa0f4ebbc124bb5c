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


class Question(Form):
    """A question that a speaker puts to one scientist outside the team."""

    scientist: str = Field(alias="Scientist")
    question: str = Field(alias="Question")


class Spoken(Form):
    """Anything said in a discussion; the speaker may consult an outsider along with it."""

    ask: Question | None = Field(default=None, alias="Ask")

    @field_validator("ask", mode="before")
    @classmethod
    def _nobody(cls, value: Any) -> Any:
        """Read the usual ways of asking nobody as asking nobody."""
        if value in ("", "none", "None", {}, []):
            return None
        return value

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
