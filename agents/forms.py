"""Form: the shape a reply must have, and how text is read into it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from agents.errors import ReplyError

_FENCE = re.compile(r"```(?:json)?\s*(\{.*?\})\s*```", re.DOTALL)


class Form(BaseModel):
    """Base of every reply. Field aliases are the names that stand in the prompt.

    A form may bring ``rehearse``, the rule by which the offline scientist answers it, and
    ``fallback``, the flagged default when no re-ask made the reply readable.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True)

    ruled: ClassVar[bool] = False
    """True on forms that bring a rule of their own."""

    @classmethod
    def rehearse(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """Answer from the structured slots alone; ``slots["me"]`` is the scientist asked."""
        raise NotImplementedError

    @classmethod
    def fallback(cls, slots: Mapping[str, Any]) -> Self | None:
        """The explicit default for an unreadable reply, or None: then it is a verdict."""
        return None

    @classmethod
    def schema_text(cls) -> str:
        """The form's JSON Schema as canonical text."""
        return _schema_text(cls)

    def as_json(self) -> str:
        """The form as canonical JSON under the names of the prompt."""
        return json.dumps(self.model_dump(by_alias=True, mode="json"), ensure_ascii=False)


@cache
def _schema_text(form: type[Form]) -> str:
    return json.dumps(form.model_json_schema(), sort_keys=True)


def read_form(form: type[Form], text: str) -> Form:
    """Read a reply: the whole text as JSON, else the last fenced or outermost block.

    Raises:
        ReplyError: no block of the text fills the form; the message says what was missing.
    """
    trouble = "no JSON object in the reply"
    for block in _candidates(text):
        try:
            data = json.loads(block)
        except (ValueError, RecursionError) as error:
            trouble = f"not JSON: {error}"
            continue
        try:
            return form.model_validate(data)
        except ValidationError as error:
            first = error.errors()[0]
            trouble = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    raise ReplyError(f"{form.__name__}: {trouble}")


def _candidates(text: str) -> list[str]:
    blocks = [text, *reversed(_FENCE.findall(text))]
    start, end = text.find("{"), text.rfind("}")
    if 0 <= start < end:
        blocks.append(text[start : end + 1])
    return blocks
