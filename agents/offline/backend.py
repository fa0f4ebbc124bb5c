"""A backend whose scientists follow rules instead of asking a language model.

An answer depends on the request's slots and seed alone. The optional delay only makes it late, as
a provider would, and decides nothing.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from virsci_society.agents.gateway.backend import Backend
from virsci_society.agents.offline.acceptance import (
    DEFAULT_ACCEPTANCE,
    Acceptance,
    LogisticAcceptance,
)
from virsci_society.agents.offline.schema_filler import fill_form
from virsci_society.agents.prompts.request import Reply, Request
from virsci_society.agents.replies.form import Form
from virsci_society.agents.usage import Usage

_64_BITS = (1 << 64) - 1
_CLOCK = random.SystemRandom()


class Offline(Backend):
    """Rule-based scientists: no model, no key, no network.

    Attributes:
        latency: mean of an artificial delay in real seconds, exponentially distributed; 0
            answers at once.

    Example:
        >>> vs.Offline().about
        'rule-based scientists, not a language model'
        >>> vs.Offline(latency=0.1).inline
        False
    """

    execution: ClassVar[frozenset[str]] = frozenset({"latency"})

    latency: float = Field(default=0.0, ge=0.0, le=604_800, allow_inf_nan=False)
    acceptance: Acceptance = Field(default_factory=LogisticAcceptance)
    """By which rule an invitation to a team is accepted; a language model decides by itself."""

    @property
    def inline(self) -> bool:
        """True without an artificial delay."""
        return self.latency == 0.0

    @property
    def rule_based(self) -> bool:
        """True."""
        return True

    @property
    def about(self) -> str:
        """The sentence for reports."""
        return "rule-based scientists, not a language model"

    @property
    def model_settings(self) -> str:
        """The acceptance rule, unless it is the usual one: another rule gives other replies."""
        rule = self.acceptance
        if rule == DEFAULT_ACCEPTANCE:
            return ""
        cls = type(rule)
        # Without the module: where a class lives must not make another run of it.
        named = [cls.__qualname__, rule.model_dump(mode="json")]
        return json.dumps({"acceptance": named}, sort_keys=True)

    async def complete(self, request: Request) -> Reply:
        """Answer from the slots by the form's rule, or else from its schema."""
        if self.latency > 0.0:
            await asyncio.sleep(_CLOCK.expovariate(1.0 / self.latency))
        return answer_offline(request, self.acceptance)


def answer_offline(request: Request, acceptance: Acceptance = DEFAULT_ACCEPTANCE) -> Reply:
    """The offline scientist's reply to one request, by its acceptance rule where it is invited."""
    rng = np.random.Generator(np.random.Philox(key=request.seed & _64_BITS))
    slots: Mapping[str, Any] = {**request.slots, "me": request.who}
    by_rule = has_rule(request.form)
    # The rule comes first: a protocol may hand in one of its own as a slot of the same name.
    ruled = {"acceptance": acceptance, **slots}
    text = (
        request.form.answer_by_rule(ruled, rng).as_json()
        if by_rule
        else fill_form(request.form, slots, rng)
    )
    prompt = sum(len(message.content) for message in request.messages)
    usage = Usage(_tokens(prompt), _tokens(len(text)), estimated=True)
    return Reply(text, usage, "offline", unruled=not by_rule)


def has_rule(form: type[Form]) -> bool:
    """True if the form or one of its bases has a rule, declared or not."""
    bases = form.__mro__[: form.__mro__.index(Form)]
    return form.has_rule or any("answer_by_rule" in vars(base) for base in bases)


def _tokens(characters: int) -> int:
    """Estimated tokens of a text: one per four characters."""
    return (characters + 3) // 4
