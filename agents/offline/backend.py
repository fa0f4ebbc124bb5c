"""A backend whose scientists follow rules: an answer depends on slots and seed alone."""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, TypeVar

import numpy as np
from pydantic import Field

from virsci_society.agents.errors import ProtocolError
from virsci_society.agents.gateway.backend import Backend
from virsci_society.agents.offline.acceptance import (
    DEFAULT_ACCEPTANCE,
    Acceptance,
    LogisticAcceptance,
)
from virsci_society.agents.offline.asked import Asked, Rule
from virsci_society.agents.offline.schema_filler import fill_form
from virsci_society.agents.prompts.request import (
    Reply,
    Request,
    Usage,
    estimate_tokens,
    total_characters,
)
from virsci_society.agents.replies.form import Form

_64_BITS = (1 << 64) - 1
# For the delay alone: a number of a run's own generators would change what is answered.
_CLOCK = random.SystemRandom()
TABLE = "OFFLINE_RULES"
"""The table of a module that names the rule of each form."""


class Offline(Backend):
    """Rule-based scientists: no model, no key, no network.

    Example:
        >>> vs.Offline().about
        'rule-based scientists, not a language model'
        >>> vs.Offline(latency=0.1).inline
        False
    """

    execution: ClassVar[frozenset[str]] = frozenset({"latency"})

    latency: float = Field(default=0.0, ge=0.0, le=604_800, allow_inf_nan=False)
    """Mean of an artificial delay in real seconds, exponentially distributed; 0 answers at once."""
    acceptance: Acceptance = Field(default_factory=LogisticAcceptance)
    """By which rule an invitation to a team is accepted; a language model decides by itself.
    Source: assumed."""

    @property
    def inline(self) -> bool:
        """True without an artificial delay."""
        return self.latency == 0.0

    @property
    def rule_based(self) -> bool:
        """True."""
        return True

    @property
    def sends_schema(self) -> bool:
        """True, so that pages are those of most models."""
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
    # A generator of this call's own: in which order calls are answered then changes nothing.
    rng = np.random.Generator(np.random.Philox(key=request.seed & _64_BITS))
    slots: Mapping[str, Any] = {**request.slots, "me": request.who}
    by_rule = rule_of(request.form) is not None
    # The rule comes first: a protocol may hand in one of its own as a slot of the same name.
    text = (
        answer_by_rule(request.form, {"acceptance": acceptance, **slots}, rng).as_json()
        if by_rule
        else fill_form(request.form, slots, rng)
    )
    prompt = total_characters(request.messages)
    usage = Usage(estimate_tokens(prompt), estimate_tokens(len(text)), estimated=True)
    return Reply(text, usage, "offline", unruled=not by_rule)


FormT = TypeVar("FormT", bound=Form)


def answer_by_rule(form: type[FormT], slots: Mapping[str, Any], rng: np.random.Generator) -> FormT:
    """The answer of the offline scientist to one form, by the form's rule."""
    rule = rule_of(form)
    if rule is None:
        raise ProtocolError(f"no rule answers {form.__name__}; {TABLE} has none for it")
    return form.model_validate(rule(Asked(slots, rng)))


def rule_of(form: type[Form]) -> Rule | None:
    """The rule of a form or its base, from its module or the ``offline_rules`` beside it."""
    for base in form.__mro__:
        for module in (base.__module__, _rules_beside(base.__module__)):
            rules: Mapping[type, Rule] = getattr(sys.modules.get(module), TABLE, {})
            if base in rules:
                return rules[base]
    return None


@cache
def _rules_beside(module: str) -> str:
    """The module ``offline_rules`` in the package of a module, imported; empty without one."""
    package = module.rpartition(".")[0]
    name = f"{package}.offline_rules"
    if not package or find_spec(name) is None:
        return ""
    return import_module(name).__name__
