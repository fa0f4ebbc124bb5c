"""Answers any form without a rule from its JSON Schema, with strings made of terms of the slots."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from pydantic import ValidationError

from virsci_society.agents.offline.asked import Asked
from virsci_society.agents.offline.grammar import FRAMES
from virsci_society.agents.offline.terms import NEUTRAL, expertise, full_text, noun_phrases
from virsci_society.agents.offline.text import capitalise
from virsci_society.agents.replies.form import Form

_MAX_DRAWS = 8
_MAX_DEPTH = 4
_FORMATS = {
    "date": "2020-01-01",
    "date-time": "2020-01-01T00:00:00Z",
    "time": "12:00:00",
    "duration": "P1D",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "uri": "https://example.org/",
}
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

    def value(self, schema: Schema | bool, depth: int = 0) -> Any:
        """A value that the schema allows, as far as the schema can tell."""
        if isinstance(schema, bool):
            # True allows anything, so a string as well.
            return self._string({})
        if "$ref" in schema:
            return self.value(self.defs[schema["$ref"].rsplit("/", 1)[1]], depth + 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.asked.pick(schema["enum"])
        for key in ("anyOf", "oneOf"):
            if key in schema:
                return self.value(self._branch(schema[key], depth), depth)
        if "allOf" in schema:
            return self.value({k: v for part in schema["allOf"] for k, v in part.items()}, depth)
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = next((k for k in kind if k != "null"), "null")
        if kind == "object" or "properties" in schema:
            return self._object(schema, depth)
        if kind == "array":
            return self._array(schema, depth)
        if kind == "boolean":
            return self.asked.chance(0.5)
        if kind in ("integer", "number"):
            return self._number(schema, whole=kind == "integer")
        return None if kind == "null" else self._string(schema)

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
        made = [self.value(part, depth + 1) for part in schema.get("prefixItems", ())]
        wanted, most = schema.get("minItems", 0), schema.get("maxItems", 3)
        if depth <= _MAX_DEPTH:
            wanted = max(wanted, min(most, 1 + int(self.asked.rng.random() * 3)))
        items = schema.get("items", {})
        # Bounded, since a type may have fewer different values than are wanted.
        for _ in range(8 * wanted):
            if len(made) >= wanted or items is False:
                break
            item = self.value(items, depth + 1)
            if not (schema.get("uniqueItems") and item in made):
                made.append(item)
        return made

    def _number(self, schema: Schema, *, whole: bool) -> float:
        step = schema.get("multipleOf") or (1 if whole else None)
        low = max(schema.get("minimum", -math.inf), schema.get("exclusiveMinimum", -math.inf))
        high = min(schema.get("maximum", math.inf), schema.get("exclusiveMaximum", math.inf))
        # Where one side is open, the range has a width of its own.
        span = 10.0 * (step or 1)
        if low == -math.inf:
            low = 0.0 if high == math.inf else high - span
        high = high if high < math.inf else low + span
        if step:
            first, last = math.ceil(low / step), math.floor(high / step)
            first += first * step == schema.get("exclusiveMinimum")
            last -= last * step == schema.get("exclusiveMaximum")
            drawn = step * (first + int(self.asked.rng.random() * max(1, last - first + 1)))
            return int(drawn) if whole else float(drawn)
        inside = low + (high - low) * (0.05 + 0.9 * self.asked.rng.random())
        # Strictly inside, as a bound may be exclusive.
        rounded = round(inside, 1)
        return float(rounded if low < rounded < high else inside)

    def _string(self, schema: Schema) -> str:
        if schema.get("format") in _FORMATS:
            return _FORMATS[schema["format"]]
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
