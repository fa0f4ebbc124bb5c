"""Answers any form from its JSON Schema, for forms without a rule.

Strings are made of the terms that the slots hold. Constraints that a schema cannot express are
met by drawing again, a few times; else the reply stays as it is and the reader refuses it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from pydantic import ValidationError

from virsci_society.agents.offline.grammar import FRAMES
from virsci_society.agents.offline.terms import NEUTRAL, expertise, full_text, noun_phrases
from virsci_society.agents.offline.text import bernoulli, capitalise, pick
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
    "email": "someone@example.org",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "binary": "",
}
_SENTENCES = FRAMES["unruled"]

Schema = Mapping[str, Any]


def fill_form(form: type[Form], slots: Mapping[str, Any], rng: np.random.Generator) -> str:
    """A reply to the form, as JSON text under its aliases."""
    schema, text = form.schema_for(slots), "{}"
    filler = SchemaFiller(schema, _terms(slots), rng)
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
    """Draws values that a schema allows.

    Args:
        terms: terms for its strings; at least one.
    """

    def __init__(self, schema: Schema, terms: list[str], rng: np.random.Generator) -> None:
        self.defs: Schema = schema.get("$defs", {})
        self.terms = terms
        self.rng = rng

    def value(self, schema: Schema | bool, name: str = "", depth: int = 0) -> Any:
        """A value that the schema allows, as far as the schema can tell."""
        if isinstance(schema, bool):
            # True allows anything, so a string as well.
            return self._string({}, name)
        if "$ref" in schema:
            return self.value(self.defs[schema["$ref"].rsplit("/", 1)[1]], name, depth + 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return pick(schema["enum"], self.rng)
        for key in ("anyOf", "oneOf"):
            if key in schema:
                return self.value(self._branch(schema[key], depth), name, depth)
        if "allOf" in schema:
            merged = {k: v for part in schema["allOf"] for k, v in part.items()}
            return self.value(merged, name, depth)
        return self._typed(schema, name, depth)

    def _branch(self, branches: list[Schema], depth: int) -> Schema:
        """One alternative; deep inside a recursive form, one that ends the recursion."""
        empty = [b for b in branches if b.get("type") == "null"]
        full = [b for b in branches if b.get("type") != "null"]
        if empty and (not full or depth > _MAX_DEPTH):
            return empty[0]
        flat = [b for b in full if "$ref" not in b and b.get("type") not in ("array", "object")]
        return pick(flat if flat and depth > _MAX_DEPTH else full, self.rng)

    def _typed(self, schema: Schema, name: str, depth: int) -> Any:
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = next((k for k in kind if k != "null"), "null")
        if kind == "object" or "properties" in schema:
            return self._object(schema, depth)
        if kind == "array":
            return self._array(schema, name, depth)
        if kind == "boolean":
            return bernoulli(0.5, self.rng)
        if kind == "integer":
            return self._integer(schema)
        if kind == "number":
            return self._number(schema)
        return None if kind == "null" else self._string(schema, name)

    def _object(self, schema: Schema, depth: int) -> dict[str, Any]:
        required = schema.get("required", ())
        made = {
            key: self.value(part, key, depth + 1)
            for key, part in schema.get("properties", {}).items()
            if depth <= _MAX_DEPTH or key in required
        }
        extra = schema.get("additionalProperties")
        least = schema.get("minProperties", 0)
        if isinstance(extra, Mapping) and (depth <= _MAX_DEPTH or least):
            for i in range(max(least, 2)):
                key = str(self.terms[i % len(self.terms)])
                made[key if key not in made else f"{key} {i + 1}"] = self.value(
                    extra, key, depth + 1
                )
        return made

    def _array(self, schema: Schema, name: str, depth: int) -> list[Any]:
        least, most = schema.get("minItems", 0), schema.get("maxItems", 3)
        fixed = [self.value(part, name, depth + 1) for part in schema.get("prefixItems", ())]
        wanted = (
            least if depth > _MAX_DEPTH else max(least, min(most, 1 + int(self.rng.random() * 3)))
        )
        items = schema.get("items", {})
        made = fixed
        # Bounded, since a type may have fewer different values than are wanted.
        for _ in range(8 * wanted):
            if len(made) >= wanted or items is False:
                break
            item = self.value(items, name, depth + 1)
            if not (schema.get("uniqueItems") and item in made):
                made.append(item)
        return made

    def _bounds(self, schema: Schema, span: float) -> tuple[float, float]:
        """The closed range for a number; ``span`` is its width where one side is open."""
        low = max(schema.get("minimum", -math.inf), schema.get("exclusiveMinimum", -math.inf))
        high = min(schema.get("maximum", math.inf), schema.get("exclusiveMaximum", math.inf))
        if low == -math.inf and high == math.inf:
            return 0.0, span
        if low == -math.inf:
            return high - span, high
        return low, high if high < math.inf else low + span

    def _integer(self, schema: Schema) -> int:
        step = int(schema.get("multipleOf", 1)) or 1
        low, high = self._bounds(schema, 10.0 * step)
        first = math.ceil(low / step)
        first += first * step == schema.get("exclusiveMinimum")
        last = math.floor(high / step)
        last -= last * step == schema.get("exclusiveMaximum")
        return step * (first + int(self.rng.random() * max(1, last - first + 1)))

    def _number(self, schema: Schema) -> float:
        step = schema.get("multipleOf")
        if step:
            low, high = self._bounds(schema, 10.0 * step)
            first, last = math.floor(low / step) + 1, math.ceil(high / step) - 1
            return float(step * (first + int(self.rng.random() * max(1, last - first + 1))))
        low, high = self._bounds(schema, 10.0)
        inside = low + (high - low) * (0.05 + 0.9 * self.rng.random())
        # Strictly inside, as a bound may be exclusive.
        rounded = round(inside, 1)
        return float(rounded if low < rounded < high else inside)

    def _string(self, schema: Schema, name: str) -> str:
        if schema.get("format") in _FORMATS:
            return _FORMATS[schema["format"]]
        least, most = schema.get("minLength", 0), schema.get("maxLength")
        a = pick(self.terms, self.rng)
        b = pick([t for t in self.terms if t != a] or list(NEUTRAL), self.rng)
        text = pick(_SENTENCES, self.rng).format(a=a, b=b)
        if most is not None and len(text) > most:
            # The last resort is for limits that leave nothing of a term.
            text = capitalise(a)[:most].strip() or "x" * most
        while len(text) < least:
            text = f"{text} {pick(_SENTENCES, self.rng).format(a=b, b=a)}"
        return text if most is None or len(text) <= most else text[:most]
