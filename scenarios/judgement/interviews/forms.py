"""Forms that respondents fill in. None has a default: an unreadable answer is a missing one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import Field

from virsci_society.agents.errors import ReplyError
from virsci_society.agents.offline.text import count_words
from virsci_society.agents.replies.form import Form
from virsci_society.scenarios.judgement.interviews import offline_rules
from virsci_society.scenarios.judgement.interviews.survey import AnswerKind

OVERRUN = 1.5
"""A text is asked for again only where it is longer than this multiple of the limit."""
_MARKS = " .\"'`*"


class TextAnswer(Form):
    """An answer in words. Slots: question, answer_kind (AnswerKind)."""

    has_rule: ClassVar[bool] = True
    answer: str = Field(alias="Answer", min_length=1, description="your answer")

    def check_against(self, slots: Mapping[str, Any]) -> None:
        """Refuse a text that is far too long."""
        limit = slots["answer_kind"].words
        if count_words(self.answer) > OVERRUN * limit:
            raise ReplyError(f"the answer has more than {limit} words")

    def value(self, kind: AnswerKind) -> str:
        """The text."""
        return self.answer.strip()

    @classmethod
    def answer_by_rule(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """A sentence made of an interest of the respondent."""
        return cls.model_validate(offline_rules.say(slots, rng))


class ScaleAnswer(Form):
    """A whole number on a scale. Slots: question, answer_kind (AnswerKind)."""

    has_rule: ClassVar[bool] = True
    reason: str = Field(default="", alias="Reason", description="one or two sentences")
    answer: int = Field(alias="Answer", description="a whole number on the scale")

    @classmethod
    def schema_for(cls, slots: Mapping[str, Any]) -> dict[str, Any]:
        """With the ends of the scale, where the question has one."""
        schema = super().schema_for(slots)
        if kind := slots.get("answer_kind"):
            low, high = kind.scale
            schema["properties"]["Answer"] |= {"minimum": low, "maximum": high}
        return schema

    def check_against(self, slots: Mapping[str, Any]) -> None:
        """Refuse a number beyond the scale."""
        low, high = slots["answer_kind"].scale
        if not low <= self.answer <= high:
            raise ReplyError(f"{self.answer} is not on the scale from {low} to {high}")

    def value(self, kind: AnswerKind) -> str:
        """The number as text."""
        return str(self.answer)

    @classmethod
    def answer_by_rule(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """The higher, the nearer the question is to the respondent's interests."""
        return cls.model_validate(offline_rules.place_on_scale(slots, rng))


class ChoiceAnswer(Form):
    """One of the options. Slots: question, answer_kind (AnswerKind)."""

    has_rule: ClassVar[bool] = True
    reason: str = Field(default="", alias="Reason", description="one or two sentences")
    answer: str = Field(alias="Answer", min_length=1, description="one of the options")

    @classmethod
    def schema_for(cls, slots: Mapping[str, Any]) -> dict[str, Any]:
        """With the options, where the question has some."""
        schema = super().schema_for(slots)
        if kind := slots.get("answer_kind"):
            schema["properties"]["Answer"]["enum"] = list(kind.options)
        return schema

    def check_against(self, slots: Mapping[str, Any]) -> None:
        """Refuse what is none of the options."""
        if self.value(slots["answer_kind"]) not in slots["answer_kind"].options:
            raise ReplyError(f"{self.answer!r} is none of the options")

    def value(self, kind: AnswerKind) -> str:
        """The option as the form writes it; what was said where it is none."""
        said = self.answer.strip(_MARKS).casefold()
        same = (one for one in kind.options or () if one.strip(_MARKS).casefold() == said)
        return next(same, self.answer)

    @classmethod
    def answer_by_rule(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """The option nearest to the respondent's interests, with noise."""
        return cls.model_validate(offline_rules.choose(slots, rng))


SurveyAnswer = TextAnswer | ScaleAnswer | ChoiceAnswer
FORMS: Mapping[str, type[SurveyAnswer]] = {
    "text": TextAnswer,
    "scale": ScaleAnswer,
    "choice": ChoiceAnswer,
}
"""The form of each kind of answer."""
