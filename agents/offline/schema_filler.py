"""Answers any form without a rule from its JSON Schema, with strings made of terms of the slots."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from pydantic import ValidationError

from virsci_society.agents.offline.asked import Asked
from virsci_society.agents.offline.terms import FRAMES, NEUTRAL, expertise, full_text, noun_phrases
from virsci_society.agents.offline.text import capitalise
from virsci_society.agents.replies.form import Form

_MAX_DRAWS = 8
_MAX_DEPTH = 4
_SENTENCES = FRAMES["unruled"]

Schema = Mapping[str, Any]


def fill_form(form: type[Form], slots: Mapping[str, Any], rng: np.random.Generator) -> str:
    """A reply to the form, as JSON text under its aliases."""
    schema, text = form.schema_for(slots), "{}"
    filler = SchemaFiller(schema, _terms(slots), Asked(slots, rng))
    for _ in range(_MAX_DRAWS):
        value = filler.value(schema)
        text = json.dumps(value, ensure_ascii=False)
        try:
            form.model_validate_json(text)
        except ValidationError:
            continue
        break
    return text


def _terms(slots: Mapping[str, Any]) -> list[str]:
    """The scientist's interests, then terms of the other slots in the order of their names."""
    terms = [*expertise(slots.get("me"))]
    # By name: whoever hands in the slots in another order must not change the answer.
    for name in sorted(slots):
        terms += _words(slots[name], 0)
        if len(terms) > 40:
            break
    return terms or list(NEUTRAL)


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

    def __init__(self, schema: Schema, terms: list[str], asked: Asked) -> None:
        self.defs: Schema = schema.get("$defs", {})
        self.terms = terms
        self.asked = asked

    def value(self, schema: Schema, depth: int = 0) -> Any:
        """A value that the schema allows, as far as the schema can tell."""
        if "$ref" in schema:
            return self.value(self.defs[schema["$ref"].rsplit("/", 1)[1]], depth + 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.asked.pick(schema["enum"])
        if "anyOf" in schema:
            return self.value(self._branch(schema["anyOf"], depth), depth)
        match schema.get("type"):
            case "object":
                return self._object(schema, depth)
            case "array":
                return self._array(schema, depth)
            case "boolean":
                return self.asked.chance(0.5)
            case "integer" | "number" as kind:
                return self._number(schema, whole=kind == "integer")
            case "null":
                return None
        return self._string(schema)

    def _branch(self, branches: list[Schema], depth: int) -> Schema:
        """One alternative; deep inside a recursive form, one that ends the recursion."""
        empty = [b for b in branches if b.get("type") == "null"]
        full = [b for b in branches if b.get("type") != "null"]
        if empty and (not full or depth > _MAX_DEPTH):
            return empty[0]
        flat = [b for b in full if "$ref" not in b and b.get("type") not in ("array", "object")]
        return self.asked.pick(flat if flat and depth > _MAX_DEPTH else full)

    def _object(self, schema: Schema, depth: int) -> dict[str, Any]:
        required = schema.get("required", ())
        made = {
            key: self.value(part, depth + 1)
            for key, part in schema.get("properties", {}).items()
            if depth <= _MAX_DEPTH or key in required
        }
        extra, least = schema.get("additionalProperties"), schema.get("minProperties", 0)
        if isinstance(extra, Mapping) and (depth <= _MAX_DEPTH or least):
            for i in range(max(least, 2)):
                key = str(self.terms[i % len(self.terms)])
                key = key if key not in made else f"{key} {i + 1}"
                made[key] = self.value(extra, depth + 1)
        return made

    def _array(self, schema: Schema, depth: int) -> list[Any]:
        wanted, most = schema.get("minItems", 0), schema.get("maxItems", 3)
        if depth <= _MAX_DEPTH:
            wanted = max(wanted, min(most, 1 + int(self.asked.rng.random() * 3)))
        return [self.value(schema.get("items", {}), depth + 1) for _ in range(wanted)]

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
            return first + int(self.asked.rng.random() * max(1, last - first + 1))
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
