"""Messages about invalid values, with the expected values and the nearest known name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pydantic_core import ErrorDetails

from virsci_society.agents.errors import InputError
from virsci_society.agents.spelling import did_you_mean, printable
from virsci_society.scenarios.config.document import Document, dotted
from virsci_society.scenarios.config.yaml_io import KeyPath

SHOWN = 60

_EXPECTED = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a smaller whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "string_type": "text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "dict_type": "a mapping",
    "list_type": "a list",
    "tuple_type": "a list",
    "path_type": "a path",
    "none_required": "null",
    "model_type": "a section of keys",
    "model_attributes_type": "a section of keys",
    "is_instance_of": "a section of keys",
}
_BOUNDS = {
    "greater_than": ("more than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("less than", "lt"),
    "less_than_equal": ("at most", "le"),
}


@dataclass(slots=True)
class Diagnostics:
    """Every fault of a document, gathered before any of them is reported."""

    document: Document
    faults: list[tuple[KeyPath, str]] = field(default_factory=list)

    def add(self, path: KeyPath, problem: str) -> None:
        """Note one fault of the value at a key path."""
        self.faults.append((path, problem))

    def messages(self) -> list[str]:
        """One line for each fault, in the order of the files: its place, key and problem."""
        rows = []
        for path, problem in self.faults:
            origin, key, label = self.document.origin(path), printable(dotted(path)), ""
            if origin is not None:
                label = origin.label
                key = "" if origin.names == path else key
            # Last, after all file names: problems without a file.
            order = ("~" + label, 0, 0)
            parts = label.rsplit(":", 2)
            if len(parts) == 3 and parts[1].isdecimal() and parts[2].isdecimal():
                order = (parts[0], int(parts[1]), int(parts[2]))
            rows.append((order, ": ".join(part for part in (label, key, problem) if part)))
        return [line for _, line in sorted(rows, key=lambda row: row[0])]

    def raise_faults(self) -> None:
        """Raise InputError with every fault, if there is any."""
        if self.faults:
            raise InputError("\n".join(dict.fromkeys(self.messages())))


ELSEWHERE = {"base_url": "api_base", "api_key": "key", "max_completion_tokens": "max_tokens"}
"""Keys by the names that they have in the clients of providers."""


def unknown_key(key: object, known: Sequence[str], elsewhere: Iterable[str] = ()) -> str:
    """The problem of a key that is not known: the nearest known key, or all where none is near."""
    hint = did_you_mean(str(key), known)
    if ELSEWHERE.get(str(key)) in known:
        hint = f"; did you mean {ELSEWHERE[str(key)]!r}?"
    if not hint:
        places = [path for path in elsewhere if path.rsplit(".", 1)[-1] == key]
        hint = f"; did you mean {places[0]!r}?" if places else ""
    return "unknown key" + (hint or f", expected one of {', '.join(known) or 'none'}")


def quote_value(value: object) -> str:
    """A value as a message quotes it: as it is written in the file, at most 60 characters."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a section of keys"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, int) and abs(value) >= 10**SHOWN:
        return f"a number of more than {SHOWN} digits"  # Python writes none of over 4,300
    text = repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def describe_errors(errors: Sequence[ErrorDetails]) -> str:
    """One sentence for the errors that pydantic found in one value, of all members of a union."""
    reasons = [str(error["ctx"]["error"]) for error in errors if error["type"] == "value_error"]
    bounds = [error for error in errors if error["type"] in _BOUNDS]
    if reasons and not bounds:
        return reasons[0]
    # A violated bound is more informative than another type of a union.
    chosen = bounds or errors
    expected = list(dict.fromkeys(_expected(error) for error in chosen))
    value, hint = chosen[0]["input"], ""
    if isinstance(value, str):
        literals = [str(error.get("ctx", {}).get("expected", "")) for error in errors]
        hint = did_you_mean(value, [word for text in literals for word in text.split("'")[1::2]])
    return f"got {quote_value(value)}, expected {' or '.join(expected)}{hint}"


def _expected(error: ErrorDetails) -> str:
    kind, context = error["type"], error.get("ctx", {})
    if kind in _EXPECTED:
        return _EXPECTED[kind]
    if kind in _BOUNDS:
        words, key = _BOUNDS[kind]
        bound = context[key]
        return f"{words} {bound:,}" if isinstance(bound, int) else f"{words} {bound:g}"
    if kind == "literal_error":
        return str(context["expected"]).replace(", ", " or ")
    return error["msg"][:1].lower() + error["msg"][1:]
