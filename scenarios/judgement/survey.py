"""The keys of a survey form (questions, kinds of answers, a vignette with arms), and its answers.

A vignette is a short described situation, parts of which differ between respondents; its arms are
the versions (Alexander and Becker 1978, doi:10.1086/268432). No answer has a default: an unreadable
one is missing. The rules by which the offline scientist answers compare words, and mean nothing:
they stand in for a model so that a form can be tried without one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from pydantic import Field, model_validator

from virsci_society.agents.config import Part
from virsci_society.agents.errors import ReplyError
from virsci_society.agents.offline.asked import Asked, Rule
from virsci_society.agents.offline.random_choice import gumbel_noise
from virsci_society.agents.offline.terms import NEUTRAL
from virsci_society.agents.offline.text import count_words, truncate_words
from virsci_society.agents.replies.form import Form

Line = Annotated[
    str, Field(min_length=1, max_length=2_000, pattern=r"^[^\x00-\x09\x0b-\x1f\x7f]+$")
]
"""Text without control characters but the end of a line."""
Label = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f-\x9f]+$")]
_SLOT = re.compile(r"\{(\w+)\}")


class AnswerKind(Part):
    """How a question is answered: exactly one of words, scale and options."""

    words: int | None = Field(default=None, ge=1, le=2_000)
    """Free text of at most so many words."""
    scale: tuple[int, int] | None = None
    """Lowest and highest whole number of a scale, such as [1, 7]."""
    low: Label | None = None
    """What the lowest number of the scale means."""
    high: Label | None = None
    """What the highest number of the scale means."""
    options: tuple[Label, ...] | None = Field(default=None, min_length=2, max_length=50)
    """One of these is chosen."""

    @model_validator(mode="after")
    def _one_kind(self) -> AnswerKind:
        kinds = ("words", "scale", "options")
        given = [name for name in kinds if getattr(self, name) is not None]
        if len(given) != 1:
            named = " and ".join(given) or "none"
            raise ValueError(f"got {named}, expected exactly one of {', '.join(kinds)}")
        if self.scale is not None and not self.scale[0] < self.scale[1] <= self.scale[0] + 1_000:
            raise ValueError("scale wants the lower number first, at most 1,000 below the higher")
        if self.scale is None and (self.low is not None or self.high is not None):
            raise ValueError("low and high are labels of a scale; give scale: [1, 7] too")
        folded = [option.strip().casefold() for option in self.options or ()]
        if len(set(folded)) < len(folded):
            raise ValueError("options has an option twice")
        return self

    @property
    def name(self) -> str:
        """``text``, ``scale`` or ``choice``."""
        if self.words is not None:
            return "text"
        return "scale" if self.scale is not None else "choice"

    def instruction(self) -> str:
        """The sentence that tells a respondent how to answer."""
        if self.words is not None:
            return f"Answer in your own words, in at most {self.words} words."
        if self.scale is not None:
            ends = zip(self.scale, (self.low, self.high), strict=True)
            low, high = (f"{end} ({label})" if label else str(end) for end, label in ends)
            return f"Answer with a whole number from {low} to {high}."
        return "Choose one of these options: " + "; ".join(self.options or ()) + "."


class SurveyQuestion(Part):
    """One question."""

    id: str = Field(pattern=r"^[A-Za-z]\w{0,40}$")
    """Its name in the table of answers: a letter, then letters, digits and _."""
    text: Line
    """What is asked."""
    answer: AnswerKind
    """How it is answered."""


class Vignette(Part):
    """A described situation that is shown with every question, in one of several versions."""

    text: Line
    """The situation; ``{name}`` stands for what an arm puts there."""
    arms: dict[str, dict[str, Label]] = Field(min_length=1, max_length=50)
    """By name of the version, what it puts in each place."""

    @model_validator(mode="after")
    def _places_filled(self) -> Vignette:
        places = set(_SLOT.findall(self.text))
        for name, values in self.arms.items():
            if set(values) != places:
                wanted = ", ".join(sorted(places)) or "nothing"
                given = ", ".join(sorted(values)) or "nothing"
                raise ValueError(f"arm {name!r} gives {given}; the text has places for {wanted}")
        return self

    def shown(self, arm: str) -> str:
        """The text of one version."""
        values = self.arms[arm]
        return _SLOT.sub(lambda place: values[place[1]], self.text)


class Survey(Part):
    """A form: questions that are put to scientists, each on its own."""

    title: Label
    """What the survey is called; respondents see it."""
    questions: tuple[SurveyQuestion, ...] = Field(min_length=1, max_length=200)
    """The questions, in the order of the table."""
    vignette: Vignette | None = None
    """A situation in several versions, one of which is drawn for each respondent; null: none."""

    @model_validator(mode="after")
    def _ids_differ(self) -> Survey:
        ids = [question.id for question in self.questions]
        twice = sorted({id_ for id_ in ids if ids.count(id_) > 1})
        if twice:
            raise ValueError(f"questions has the id {twice[0]!r} twice")
        return self


OVERRUN = 1.5
"""A text is asked for again only where it is longer than this multiple of the limit."""
_MARKS = " .\"'`*"
SPREAD = 0.2
"""Standard deviation of the noise on a scale, as a share of the scale."""
NOISE = 0.3
"""Scale of the Gumbel noise in a choice."""
REASON = "A rule has compared words."


class TextAnswer(Form):
    """An answer in words. Slots: question, answer_kind (AnswerKind)."""

    answer: str = Field(alias="Answer", min_length=1, description="your answer")

    def check_against(self, slots: Mapping[str, Any]) -> None:
        """Refuse a text that is far too long."""
        limit = slots["answer_kind"].words
        if count_words(self.answer) > OVERRUN * limit:
            raise ReplyError(f"the answer has more than {limit} words")

    def value(self, kind: AnswerKind) -> str:
        """The text."""
        return self.answer.strip()


class ScaleAnswer(Form):
    """A whole number on a scale. Slots: question, answer_kind (AnswerKind)."""

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


class ChoiceAnswer(Form):
    """One of the options. Slots: question, answer_kind (AnswerKind)."""

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


def _say(asked: Asked) -> dict[str, Any]:
    """A sentence with an interest of the respondent, cut to the limit of words."""
    term = asked.pick(asked.terms or NEUTRAL)
    text = f"By rule, and from my interests alone: {term}."
    return {"Answer": truncate_words(text, asked.slots["answer_kind"].words)}


def _place_on_scale(asked: Asked) -> dict[str, Any]:
    """The middle of the scale, raised by the nearness of the question, with noise."""
    low, high = asked.slots["answer_kind"].scale
    near = asked.affinity(str(asked.slots["question"]))
    share = 0.4 + 0.4 * near + SPREAD * asked.rng.standard_normal()
    number = round(low + (high - low) * min(1.0, max(0.0, share)))
    return {"Reason": REASON, "Answer": number}


def _choose(asked: Asked) -> dict[str, Any]:
    """The option nearest to the respondent's interests, with Gumbel noise."""
    options = asked.slots["answer_kind"].options
    scores = [asked.affinity(option) + gumbel_noise(asked.rng, NOISE) for option in options]
    return {"Reason": REASON, "Answer": options[int(np.argmax(scores))]}


OFFLINE_RULES: dict[type[Form], Rule] = {
    TextAnswer: _say,
    ScaleAnswer: _place_on_scale,
    ChoiceAnswer: _choose,
}
"""The rule of each form."""

SurveyAnswer = TextAnswer | ScaleAnswer | ChoiceAnswer
FORMS: Mapping[str, type[SurveyAnswer]] = {
    "text": TextAnswer,
    "scale": ScaleAnswer,
    "choice": ChoiceAnswer,
}
"""The form of each kind of answer."""
