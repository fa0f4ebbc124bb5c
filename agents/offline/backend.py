"""A backend whose scientists follow rules, by slots and seed alone."""

from __future__ import annotations

import asyncio
import json
import math
import random
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, TypeVar

import numpy as np
from pydantic import Field, ValidationError

from virsci_society.agents.config import Part
from virsci_society.agents.errors import ProtocolError
from virsci_society.agents.gateway.backend import Backend
from virsci_society.agents.offline.constants import RULES
from virsci_society.agents.offline.question_context import Asked, Rule
from virsci_society.agents.offline.text import (
    FRAMES,
    NEUTRAL,
    capitalise,
    expertise,
    finite_number,
    full_text,
    noun_phrases,
    sigmoid,
)
from virsci_society.agents.profile import Profile
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


@dataclass(frozen=True, slots=True)
class InvitationFacts:
    """What is known of an invitation when it is answered; similarity is a cosine, 0: not known."""

    load: float
    joint_papers: float
    similarity: float
    inviter: Profile | None = None
    invitee: Profile | None = None


class Acceptance(Part):
    """Subclass it and write ``probability``; its fields are keys under ``backend.acceptance``.

    Example:
        >>> class Friends(vs.Acceptance):
        ...     stranger: float = 0.2
        ...     def probability(self, invitation):
        ...         return 1.0 if invitation.joint_papers else self.stranger
        >>> vs.Offline(acceptance=Friends(stranger=0.5)).acceptance
        Friends(stranger=0.5)
    """

    def probability(self, invitation: InvitationFacts) -> float:
        """The probability (0 to 1) that this invitation is accepted.

        It must depend on its argument and on the fields alone, so that a run can be repeated. The
        limit of teams is not its business: somebody at the limit who accepts is ``full``.
        """
        raise NotImplementedError


class LogisticAcceptance(Acceptance):
    """A logistic model of similarity, joint papers, the inviter's record and load.

    p = floor + (1 - floor) s(base + similarity * cosine + ties * log(1 + joint papers)
    + papers * log(1 + inviter's papers) + citations * log(1 + inviter's citations)
    - load * teams) with s(x) = 1 / (1 + exp(-x)). The coefficients are assumed: a free invitee of
    similarity 0.6 accepts about three times in four.
    """

    base: float = Field(default=RULES.invite_base, ge=-1000, le=1000)
    """Intercept. Unit: log odds."""
    similarity: float = Field(default=RULES.invite_similarity, ge=-1000, le=1000)
    """Per unit of the cosine of the two profiles. Unit: log odds."""
    ties: float = Field(default=RULES.invite_ties, ge=-1000, le=1000)
    """Per log(1 + joint papers). Unit: log odds."""
    papers: float = Field(default=RULES.invite_papers, ge=-1000, le=1000)
    """Per log(1 + the inviter's papers). Unit: log odds."""
    citations: float = Field(default=RULES.invite_citations, ge=-1000, le=1000)
    """Per log(1 + the inviter's citations); unknown: 0. Unit: log odds."""
    load: float = Field(default=RULES.invite_load, ge=-1000, le=1000)
    """Subtracted per team of the invitee. Unit: log odds."""
    floor: float = Field(default=RULES.invite_floor, ge=0, le=1)
    """Smallest probability of accepting. Unit: probability."""

    def probability(self, invitation: InvitationFacts) -> float:
        """The logistic probability above the floor."""
        papers = max(0.0, finite_number(getattr(invitation.inviter, "papers", 0)))
        # Where a corpus knows no citations, papers alone speak for the inviter.
        citations = max(0.0, finite_number(getattr(invitation.inviter, "citations", None)))
        odds = (
            self.base
            + self.similarity * invitation.similarity
            + self.ties * math.log1p(invitation.joint_papers)
            + self.papers * math.log1p(papers)
            + self.citations * math.log1p(citations)
            - self.load * invitation.load
        )
        return self.floor + (1.0 - self.floor) * sigmoid(odds)


class AlwaysAccept(Acceptance):
    """Every invitation is accepted, up to the limit of teams."""

    def probability(self, invitation: InvitationFacts) -> float:
        """One."""
        return 1.0


class ConstantAcceptance(Acceptance):
    """The same probability for every invitation: the null model of acceptance."""

    p: float = Field(default=0.5, ge=0, le=1)
    """Probability of accepting. Unit: probability."""

    def probability(self, invitation: InvitationFacts) -> float:
        """``p``."""
        return self.p


DEFAULT_ACCEPTANCE = LogisticAcceptance()
"""The rule where a scenario names none."""


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
    """Mean artificial delay in seconds (exponential); 0: none."""
    acceptance: Acceptance = Field(default_factory=LogisticAcceptance)
    """Rule for accepting an invitation to a team."""

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
    if by_rule:
        # The rule comes first: a protocol may hand in one of its own as a slot of the same name.
        text = answer_by_rule(request.form, {"acceptance": acceptance, **slots}, rng).as_json()
    else:
        text = fill_form(request.form, slots, rng)
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


_MAX_DRAWS = 8
_SENTENCES = FRAMES["unruled"]

Schema = Mapping[str, Any]


def fill_form(form: type[Form], slots: Mapping[str, Any], rng: np.random.Generator) -> str:
    """A reply to the form, as JSON text under its aliases."""
    schema, text = form.schema_for(slots), "{}"
    terms = [*expertise(slots.get("me"))]
    # By name: whoever hands in the slots in another order must not change the answer.
    for name in sorted(slots):
        terms += _words(slots[name], 0)
        if len(terms) > 40:
            break
    filler = SchemaFiller(terms or list(NEUTRAL), Asked(slots, rng))
    for _ in range(_MAX_DRAWS):
        value = filler.value(schema)
        text = json.dumps(value, ensure_ascii=False)
        try:
            form.model_validate_json(text)
        except ValidationError:
            continue
        break
    return text


def _words(value: Any, depth: int) -> list[str]:
    """Terms of a slot's value; lists are read three levels deep."""
    if isinstance(value, str):
        return list(noun_phrases(value)[:6])
    if isinstance(value, list | tuple) and depth < 3:
        return [term for item in value[:6] for term in _words(item, depth + 1)]
    if hasattr(value, "interests"):
        return list(expertise(value)[:3])
    return list(noun_phrases(full_text(value))[:6])


class SchemaFiller:
    """Draws values that a schema allows."""

    def __init__(self, terms: list[str], asked: Asked) -> None:
        self.terms, self.asked = terms, asked

    def value(self, schema: Schema) -> Any:
        """A value that the schema allows, as far as the schema can tell."""
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.asked.pick(schema["enum"])
        if "anyOf" in schema:
            full = [item for item in schema["anyOf"] if item.get("type") != "null"]
            return self.value(self.asked.pick(full)) if full else None
        match schema.get("type"):
            case "object":
                made = {
                    name: self.value(item) for name, item in schema.get("properties", {}).items()
                }
                if isinstance(extra := schema.get("additionalProperties"), Mapping):
                    for i in range(2):
                        key = self.terms[i % len(self.terms)]
                        made[key if key not in made else f"{key} {i + 1}"] = self.value(extra)
                return made
            case "array":
                wanted, most = schema.get("minItems", 0), schema.get("maxItems", 3)
                wanted = max(wanted, min(most, 1 + int(self.asked.rng.random() * 3)))
                return [self.value(schema.get("items", {})) for _ in range(wanted)]
            case "boolean":
                return self.asked.chance(0.5)
            case "integer" | "number" as kind:
                return self._number(schema, whole=kind == "integer")
            case "null":
                return None
        return self._string(schema)

    def _number(self, schema: Schema, *, whole: bool) -> float:
        low = max(schema.get("minimum", -math.inf), schema.get("exclusiveMinimum", -math.inf))
        high = min(schema.get("maximum", math.inf), schema.get("exclusiveMaximum", math.inf))
        # Where one side is open, the range has a width of its own.
        if low == -math.inf:
            low = 0.0 if high == math.inf else high - 10.0
        high = high if high < math.inf else low + 10.0
        if whole:
            first, last = math.ceil(low), math.floor(high)
            first += first == schema.get("exclusiveMinimum")
            last -= last == schema.get("exclusiveMaximum")
            return int(first + int(self.asked.rng.random() * max(1, last - first + 1)))
        inside = low + (high - low) * (0.05 + 0.9 * self.asked.rng.random())
        # Strictly inside, as a bound may be exclusive.
        rounded = round(inside, 1)
        return float(rounded if low < rounded < high else inside)

    def _string(self, schema: Schema) -> str:
        least, most = schema.get("minLength", 0), schema.get("maxLength")
        a = self.asked.pick(self.terms)
        b = self.asked.pick([t for t in self.terms if t != a] or list(NEUTRAL))
        text = self.asked.pick(_SENTENCES).format(a=a, b=b)
        if most is not None and len(text) > most:
            # The last resort is for limits that leave nothing of a term.
            text = capitalise(a)[:most].strip() or "x" * most
        while len(text) < least:
            text = f"{text} {self.asked.pick(_SENTENCES).format(a=b, b=a)}"
        return text if most is None else text[:most]
