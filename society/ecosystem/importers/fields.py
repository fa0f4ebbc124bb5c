"""Parsing the loosely typed values of foreign records: text, ids, years, counts, abstracts.

A missing value (null, empty) is skipped or left empty. In every function a value of another type
raises a ValueError that names the field, and makes the record malformed.
"""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from virsci_society.society.ecosystem.importers.records import SkippedRecord

UNKNOWN_YEARS = (None, "", 0, "0", -1, "-1")
"""Values that stand for a missing year."""
FIRST_YEAR, LAST_YEAR = 1000, 2999
LARGEST_COUNT = 2**31 - 1
CONTROLS = dict.fromkeys([*range(32), *range(127, 160)], " ")
"""Translation of control characters to spaces."""


def parse_text(value: Any, name: str) -> str:
    """Parse text; runs of white space and control characters become one space, null is empty."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"{name} is not text")
    if not value.isprintable():
        # A lone surrogate is legal in JSON and can be written nowhere else.
        value = value.translate(CONTROLS).encode("utf-8", "replace").decode("utf-8")
    return " ".join(value.split())


def parse_id(value: Any, name: str) -> str:
    """Parse an id that is text or a whole number; null is empty."""
    if isinstance(value, int) and not isinstance(value, bool):
        # Python refuses to print numbers of thousands of digits, with an error of its own.
        if abs(value) >= 10**40:
            raise ValueError(f"{name} is a number of more than 40 digits")
        value = str(value)
    return parse_text(value, name)


def require_id(value: Any, name: str = "id") -> str:
    """Parse the id of a record; ValueError where it is missing."""
    id_ = parse_id(value, name)
    if not id_:
        raise ValueError(f"{name} is missing")
    return id_


def require_title(value: Any, name: str = "title") -> str:
    """Parse the title of a record; SkippedRecord where it is missing."""
    title = parse_text(value, name)
    if not title:
        raise SkippedRecord("no title")
    return title


def parse_year(value: Any, name: str = "year") -> int:
    """Parse a year from 1000 to 2999; SkippedRecord where it is missing (null, empty, 0, -1)."""
    if isinstance(value, str):
        value = value.strip()
    # False equals 0, but is no year that a source leaves open.
    if value in UNKNOWN_YEARS and value is not False:
        raise SkippedRecord("no year")
    number = _whole(value)
    if number is None or not FIRST_YEAR <= number <= LAST_YEAR:
        raise ValueError(f"{name} is {value!r:.40}")
    return number


def parse_count(value: Any, name: str) -> int | None:
    """Parse a count from 0 to 2^31 - 1; None where it is unknown (null or empty)."""
    if value is None or value == "":
        return None
    number = _whole(value)
    if number is None or not 0 <= number <= LARGEST_COUNT:
        raise ValueError(f"{name} is {value!r:.40}")
    return number


def _whole(value: Any) -> int | None:
    """A whole number, also of text or of a float without a fraction; true and false are none."""
    if isinstance(value, str) and len(value) < 20 and value.strip().isdecimal():
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def parse_list(value: Any, name: str) -> list[Any]:
    """Parse a list; null and empty text are the empty list."""
    if value is None or value == "":
        return []
    if not isinstance(value, list | tuple):
        raise ValueError(f"{name} is not a list")
    return list(value)


def parse_objects(value: Any, name: str) -> list[dict[str, Any]]:
    """Parse a list of objects; null is the empty list."""
    entries = parse_list(value, name)
    if not all(isinstance(entry, dict) for entry in entries):
        raise ValueError(f"{name} is not a list of objects")
    return entries


def parse_object(value: Any, name: str) -> dict[str, Any]:
    """Parse an object; null and empty text are the empty object."""
    if value is None or value == "":
        return {}
    if not isinstance(value, dict):
        raise ValueError(f"{name} is not an object")
    return value


def parse_texts(
    value: Any, name: str, read: Callable[[Any, str], str] = parse_text
) -> tuple[str, ...]:
    """Parse the distinct non-empty texts of a list, in their order; ``read`` parses one entry."""
    texts = (read(entry, name) for entry in parse_list(value, name))
    return tuple(dict.fromkeys(entry for entry in texts if entry))


def first_text(texts: Iterable[str]) -> str:
    """The first text that is not empty; empty where there is none."""
    return next((text for text in texts if text), "")


def parse_flag(value: Any, name: str) -> bool:
    """Parse true or false; null is false."""
    if value is not None and not isinstance(value, bool):
        raise ValueError(f"{name} is not true or false")
    return bool(value)


def parse_inverted_index(value: Any, name: str) -> str:
    """Parse an abstract from an inverted index (word to positions); null is the empty text."""
    # Words are sorted, not laid out by position, so that a huge position costs no memory.
    placed: list[tuple[int, str]] = []
    for word, positions in parse_object(value, name).items():
        if not isinstance(positions, list) or not all(type(at) is int for at in positions):
            raise ValueError(f"{name}: {word!r:.30} has no list of positions")
        placed.extend((at, word) for at in positions)
    placed.sort(key=lambda pair: pair[0])
    return parse_text(" ".join(word for _, word in placed), name)


def parse_mag_abstract(value: Any, name: str) -> str:
    """Parse MAG's ``{"IndexLength": n, "InvertedIndex": {...}}``, which may be JSON text itself."""
    if isinstance(value, str) and value.strip():
        try:
            value = json.loads(value)
        except RecursionError as error:
            raise ValueError(f"{name} is nested too deeply") from error
    index = parse_object(value, name)
    return parse_inverted_index(index.get("InvertedIndex"), f"{name}.InvertedIndex")


LONGEST_LITERAL = 2**18
"""Bytes of the longest literal that is parsed."""


def parse_literal(data: bytes) -> Any:
    """Parse a Python literal: text, numbers, lists, tuples, sets, dicts, True, False, None.

    ``ast.literal_eval`` builds the value from the syntax tree and runs nothing: names, calls and
    operators are refused. The length is bounded here, the nesting by Python's own parser.
    """
    if len(data) > LONGEST_LITERAL:
        raise ValueError(f"longer than {LONGEST_LITERAL:,} bytes")
    try:
        source = data.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise ValueError("not UTF-8") from error
    try:
        with warnings.catch_warnings():
            # An unknown escape such as '\d' is a warning to programmers, not to us.
            warnings.simplefilter("ignore")
            return ast.literal_eval(source)
    except (RecursionError, MemoryError) as error:
        raise ValueError("nested too deeply") from error
    except SyntaxError as error:
        raise ValueError(f"not a Python literal ({error.msg[:60]})") from error
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError("not a Python literal (it holds more than plain values)") from error
