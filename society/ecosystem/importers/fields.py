"""Fields of foreign records: text, ids, years and counts out of loosely typed values.

What is missing (null, empty) is passed over or left empty; what is of another kind is a
ValueError that names the field, and makes the record malformed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from society.ecosystem.importers.reading import PassedOver

UNKNOWN_YEARS = (None, "", 0, "0", -1, "-1")
FIRST_YEAR, LAST_YEAR = 1000, 2999
LARGEST_COUNT = 2**31 - 1
CONTROLS = dict.fromkeys([*range(32), *range(127, 160)], " ")


def text(value: Any, name: str) -> str:
    """Text with runs of white space and control characters made one space; null is empty."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"{name} is not text")
    if not value.isprintable():
        # A lone surrogate is legal in JSON and can be written nowhere else.
        value = value.translate(CONTROLS).encode("utf-8", "replace").decode("utf-8")
    return " ".join(value.split())


def identity(value: Any, name: str) -> str:
    """An id that may be written as text or as a whole number; null is empty."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = _digits(value, name)
    return text(value, name)


def _digits(value: int, name: str) -> str:
    if abs(value) >= 10**40:
        raise ValueError(f"{name} is a number of more than 40 digits")
    return str(value)


def needed_id(value: Any) -> str:
    """The id of a record; ValueError where it is missing."""
    found = identity(value, "id")
    if not found:
        raise ValueError("id is missing")
    return found


def needed_title(value: Any) -> str:
    """The title of a record, which is passed over without one."""
    found = text(value, "title")
    if not found:
        raise PassedOver("no title")
    return found


def year(value: Any) -> int:
    """A year of 1000 to 2999; a record without one (null, empty, 0, -1) is passed over."""
    if isinstance(value, str):
        value = value.strip()
    if value in UNKNOWN_YEARS and value is not False:
        raise PassedOver("no year")
    found = _whole(value)
    if found is None or not FIRST_YEAR <= found <= LAST_YEAR:
        raise ValueError(f"year is {value!r:.40}")
    return found


def count(value: Any, name: str) -> int | None:
    """A count of 0 to 2^31 - 1; None where it is unknown (null or empty)."""
    if value is None or value == "":
        return None
    found = _whole(value)
    if found is None or not 0 <= found <= LARGEST_COUNT:
        raise ValueError(f"{name} is {value!r:.40}")
    return found


def _whole(value: Any) -> int | None:
    if isinstance(value, str) and len(value) < 20 and value.strip().isdecimal():
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def listed(value: Any, name: str) -> list[Any]:
    """A list; null and empty text are the empty one."""
    if value is None or value == "":
        return []
    if not isinstance(value, list | tuple):
        raise ValueError(f"{name} is not a list")
    return list(value)


def objects(value: Any, name: str) -> list[dict[str, Any]]:
    """A list of objects; null is the empty one."""
    found = listed(value, name)
    if not all(isinstance(entry, dict) for entry in found):
        raise ValueError(f"{name} is not a list of objects")
    return found


def mapping(value: Any, name: str) -> dict[str, Any]:
    """An object; null and empty text are the empty one."""
    if value is None or value == "":
        return {}
    if not isinstance(value, dict):
        raise ValueError(f"{name} is not an object")
    return value


def texts(value: Any, name: str, read: Callable[[Any, str], str] = text) -> tuple[str, ...]:
    """The distinct texts of a list, empty ones left out, in their order."""
    found = (read(entry, name) for entry in listed(value, name))
    return tuple(dict.fromkeys(entry for entry in found if entry))


def flag(value: Any, name: str) -> bool:
    """True or false; null is false."""
    if value is not None and not isinstance(value, bool):
        raise ValueError(f"{name} is not true or false")
    return bool(value)
