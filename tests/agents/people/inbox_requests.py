"""Requests to an inbox, for tests."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.request import Message, Request
from virsci_society.agents.replies.form import Form


class Judgement(Form):
    """A form with a field of every kind that a page describes."""

    why: str = Field(alias="Why")
    verdict: Literal["take", "leave"] = Field(alias="Verdict")
    marks: list[int] = Field(default_factory=list, alias="Marks")
    asked: str | None = Field(default=None, alias="Asked")


def request(**changes: Any) -> Request:
    """A question to Scientist7."""
    values: dict[str, Any] = {
        "id": "Scientist3/1/topic/1/2/0/utter/Scientist7",
        "who": Profile("Scientist7"),
        "messages": (Message("system", "You are one of many."), Message("user", "What now?")),
        "form": Judgement,
        "seed": 11,
    }
    return Request(**(values | changes))
