"""The keys of a survey form, with its questions, kinds of answers, and a vignette with arms.

A vignette is a short described situation, parts of which differ between respondents; its arms are
the versions (Alexander and Becker 1978, doi:10.1086/268432).
"""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import Field, model_validator

from virsci_society.agents.config import Part

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
