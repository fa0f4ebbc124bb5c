"""Offline: the embedded backend, whose scientists follow rules instead of a language model.

An answer depends on the request's slots and seed alone; the optional delay only makes it
late, as a provider would, and decides nothing.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from agents.backend import Backend
from agents.forms import Form
from agents.offline.filling import fill
from agents.request import Reply, Request, Usage

_WORD = (1 << 64) - 1
_CLOCK = random.SystemRandom()


class Offline(Backend):
    """Rule-based scientists: no model, no key, no network.

    Attributes:
        latency: mean of an artificial delay in real seconds, exponentially distributed; 0
            answers at once.
    """

    execution: ClassVar[frozenset[str]] = frozenset({"latency"})

    latency: float = Field(default=0.0, ge=0.0, allow_inf_nan=False)

    @property
    def inline(self) -> bool:
        """True without an artificial delay."""
        return self.latency == 0.0

    @property
    def rules(self) -> bool:
        """True."""
        return True

    @property
    def about(self) -> str:
        """Who speaks: rules, and not a language model."""
        return "rule-based scientists, not a language model"

    async def complete(self, request: Request) -> Reply:
        """Answer from the slots by the form's rule, or else from its schema."""
        if self.latency > 0.0:
            await asyncio.sleep(_CLOCK.expovariate(1.0 / self.latency))
        return answer(request)


def answer(request: Request) -> Reply:
    """The offline scientist's reply to one request."""
    rng = np.random.Generator(np.random.Philox(key=request.seed & _WORD))
    slots: Mapping[str, Any] = {**request.slots, "me": request.who}
    ruled = has_rule(request.form)
    text = request.form.rehearse(slots, rng).as_json() if ruled else fill(request.form, slots, rng)
    told = sum(len(message.content) for message in request.messages)
    usage = Usage(_tokens(told), _tokens(len(text)), estimated=True)
    return Reply(text, usage, "offline" if ruled else "offline-unruled")


def has_rule(form: type[Form]) -> bool:
    """True if the form brings a rule of its own, declared or not."""
    bases = form.__mro__[: form.__mro__.index(Form)]
    return form.ruled or any("rehearse" in vars(base) for base in bases)


def _tokens(characters: int) -> int:
    """Tokens by the usual rule of thumb of four characters each."""
    return (characters + 3) // 4
