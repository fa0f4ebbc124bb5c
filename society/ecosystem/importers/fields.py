"""Parsing the loosely typed values of foreign records: text, ids, years, counts, abstracts.

A value alone in a list, as R writes it, is the value; one of another type raises a ValueError.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from virsci_society.society.ecosystem.importers.files import NOT_UTF_8
from virsci_society.society.ecosystem.importers.records import SkippedRecord

UNKNOWN = (None, "", "nan", "NaN", "NA", "N/A", "null", "None")
"""Placeholders of a missing number."""
UNKNOWN_YEARS = (*UNKNOWN, 0, "0", -1, "-1")
WHOLE = re.compile(r"(\d{1,19})(?:\.0*)?")
LISTED = re.compile(r"\s*\[\s*(?:[\"'{\[\]\d-]|None|null|nan|NaN)")
"""The beginning of a list in a text; other brackets enclose a word, such as ``[Anonymous]``."""
BETWEEN = ("|", "\n", "；", "、", "，")
"""Separators of people that occur in no name."""
UNSPLIT = re.compile(r",.*,| and | & | / ")
"""Signs that a text names several people."""
YEARS = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
UNDATED = re.compile(
    r"(?i)n\.? ?d\.?|(?:in press|forthcoming|to appear|undated|s\. ?[fd]|o\. ?j)\.?"
)
LARGEST_COUNT = 2**31 - 1
CONTROLS = dict.fromkeys([*range(32), *range(127, 160)], " ")
CONTROLS |= dict.fromkeys((0xAD, 0x200B, 0x200E, 0x200F, 0x2060, 0xFEFF), "")
"""Translation of control characters to spaces, and of invisible ones to nothing."""


DECODER = json.JSONDecoder(parse_constant=lambda _: None)
"""Reads NaN and Infinity, which pandas and other tools write, as null."""


def _unboxed(value: Any) -> Any:
    """The value of a list or tuple of one; None for an empty list or object."""
    if isinstance(value, list | tuple) and len(value) <= 1:
        return value[0] if value else None
    return None if value == {} else value


def parse_text(value: Any, name: str) -> str:
    """Parse text; runs of white space and control characters become one space, null is empty."""
    if value is None or (not isinstance(value, str) and (value := _unboxed(value)) is None):
        return ""
    if not isinstance(value, str):
        raise ValueError(f"{name} is not text")
    if not value.isprintable():
        # A lone surrogate is legal in JSON and can be written nowhere else.
        value = value.translate(CONTROLS).encode("utf-8", "replace").decode("utf-8")
    return " ".join(value.split())


def parse_id(value: Any, name: str) -> str:
    """Parse an id that is text or a whole number; null is empty."""
    if value is None or isinstance(value, str):
        return parse_text(value, name)
    value = _unboxed(value)
    if isinstance(value, int) and not isinstance(value, bool):
        # Python raises its own error for integers of thousands of digits.
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
    """Parse a year, also of a date (2010-05-01, May 1, 2010); SkippedRecord where none is given."""
    value, undated = _unboxed(value), False
    if isinstance(value, str):
        value, undated = value.strip(" \t\r\n[]()"), bool(UNDATED.fullmatch(value.strip(" []()")))
        # A date contains one year.
        years = set(YEARS.findall(value))
        value = years.pop() if len(years) == 1 and not WHOLE.fullmatch(value) else value
    # False equals 0, but is no year that a source leaves open.
    if undated or (value in UNKNOWN_YEARS and value is not False):
        raise SkippedRecord("no year")
    number = _whole(value)
    if number is None or not 0 < number <= 9999:
        raise ValueError(f"{name} is {value!r:.40}")
    return number


def parse_count(value: Any, name: str) -> int | None:
    """Parse a count from 0 to 2^31 - 1; None where it is unknown (null, NaN or empty)."""
    value = _unboxed(value)
    if value in UNKNOWN:
        return None
    number = _whole(value)
    if number is None or not 0 <= number <= LARGEST_COUNT:
        raise ValueError(f"{name} is {value!r:.40}")
    return number


def _whole(value: Any) -> int | None:
    """An integer, also from text or with the fraction .0; true and false are invalid."""
    if isinstance(value, str):
        match = WHOLE.fullmatch(value.strip())
        return int(match[1]) if match else None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def parse_list(value: Any, name: str) -> list[Any]:
    """Parse a list, also as JSON, a Python literal, or a text that is split at ``;`` or commas."""
    if isinstance(value, list):
        return value
    if value is None or value == "" or value == {}:
        return []
    if isinstance(value, str):
        listed = _of_text(value, "[")
        separator = ";" if ";" in value else ","
        value = value.split(separator) if listed is None else listed
    if isinstance(value, dict):
        return [value]
    if not isinstance(value, list | tuple):
        raise ValueError(f"{name} is not a list")
    return [*value]


def parse_names(value: Any, name: str) -> list[Any]:
    """Parse a list of people; a text is split at semicolons alone, since names hold commas."""
    if isinstance(value, str) and ";" not in value and not value.lstrip().startswith("["):
        if mark := next((mark for mark in BETWEEN if mark in value.strip()), ""):
            return parse_parts(value, mark)
        if "," in value or UNSPLIT.search(value):
            raise ValueError(f"{name} is {value!r:.40}; write a list, or semicolons between people")
        return [value] if value.strip() else []
    return parse_list(value, name)


PARTS_OF_NAMES = (
    ("given", "first", "firstName", "first_name", "forename"),
    ("family", "last", "lastName", "last_name", "surname"),
)
WHOLE_NAMES = ("name", "display_name", "full_name", "fullname", "literal")


def parse_person(value: Any) -> str:
    """Parse the name of a person in one of the notations of APIs and reference managers."""
    person = parse_object(value, "author")
    person = parse_object(person.get("author") or person, "author")
    parts = [[person.get(key) for key in keys] for keys in (WHOLE_NAMES, *PARTS_OF_NAMES)]
    whole, *named = [parse_text(next(filter(None, part), None), "author name") for part in parts]
    return whole or " ".join(filter(None, named))


def _of_text(value: Any, opening: str) -> Any:
    """Parse a text as JSON or a Python literal; None for any other text."""
    if not isinstance(value, str) or not value.lstrip().startswith(opening):
        return None
    if opening == "[" and not LISTED.match(value):
        return None
    try:
        return DECODER.decode(value)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except ValueError:
        return parse_literal(value)


def parse_objects(value: Any, name: str) -> list[dict[str, Any]]:
    """Parse a list of objects; null is the empty list."""
    entries = parse_list(value, name)
    if not all(isinstance(entry, dict) for entry in entries):
        raise ValueError(f"{name} is not a list of objects")
    return entries


def parse_object(value: Any, name: str) -> dict[str, Any]:
    """Parse an object, also one that is written as text; null and empty are the empty object."""
    if isinstance(value, dict):
        return value
    held = _of_text(value, "{")
    value = value if held is None else held
    if value is None or value == "" or value == []:
        return {}
    if not isinstance(value, dict):
        raise ValueError(f"{name} is not an object")
    return value


def parse_texts(
    value: Any, name: str, read: Callable[[Any, str], str] = parse_text
) -> tuple[str, ...]:
    """Parse the distinct non-empty texts of a list, in their order; ``read`` parses one entry."""
    if value is None:
        return ()
    texts = [read(entry, name) for entry in parse_list(value, name)]
    return tuple(dict.fromkeys(entry for entry in texts if entry))


def first_text(texts: Iterable[str]) -> str:
    """The first non-empty text, or an empty text."""
    return next((text for text in texts if text), "")


def parse_parts(text: str, separator: str = ";") -> list[str]:
    """Parse a list; empty parts keep their position, except the last."""
    parts = [" ".join(part.split()) for part in text.strip().split(separator)]
    return parts if parts[-1] else parts[:-1]


def of_each(values: list[Any], names: list[Any]) -> list[Any]:
    """One value for each name; empty ones where their number shows that they cannot be assigned."""
    return values if len(values) == len(names) else [""] * len(names)


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
        positions = [positions] if isinstance(positions, int) else positions
        if not isinstance(positions, list) or not all(type(at) is int for at in positions):
            raise ValueError(f"{name}: {word!r:.30} has no list of positions")
        placed.extend((at, word) for at in positions)
    placed.sort(key=lambda pair: pair[0])
    return parse_text(" ".join(word for _, word in placed), name)


def parse_mag_abstract(value: Any, name: str) -> str:
    """Parse MAG's ``{"IndexLength": n, "InvertedIndex": {...}}``, which may be JSON text itself."""
    index = parse_object(value, name)
    return parse_inverted_index(index.get("InvertedIndex"), f"{name}.InvertedIndex")


LONGEST_LITERAL = 2**18
"""Characters of the longest literal that is parsed."""


def parse_literal(text: str) -> Any:
    """Parse a Python literal without evaluating it: names, calls and operators are refused."""
    if len(text) > LONGEST_LITERAL:
        raise ValueError(f"longer than {LONGEST_LITERAL:,} characters")
    if NOT_UTF_8.search(text):
        raise ValueError("not UTF-8")
    try:
        with warnings.catch_warnings():
            # An unknown escape such as '\d' is a warning to programmers, not to us.
            warnings.simplefilter("ignore")
            return ast.literal_eval(text.strip())
    except (RecursionError, MemoryError) as error:
        raise ValueError("nested too deeply") from error
    except SyntaxError as error:
        raise ValueError(f"not a Python literal ({error.msg[:60]})") from error
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError("not a Python literal (it has more than plain values)") from error
