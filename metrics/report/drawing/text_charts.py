"""Bars and sparklines made of characters, for a terminal.

They need no colour. Where the encoding of the terminal has no block characters, they are made of
ASCII characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII_LEVELS = "_.-=+*%#"
"""One character for each level of a sparkline, from 0 to the largest value."""
NO_VALUE = " "


def can_encode(text: str, encoding: str | None) -> bool:
    """Whether an encoding has every character of a text."""
    try:
        text.encode(encoding or "ascii")
    except (LookupError, UnicodeError):
        return False
    return True


def bars_of(values: Sequence[float], encoding: str | None, width: int = 30) -> list[str]:
    """A bar for each number, the longest for the largest.

    Args:
        values: >= 0.
        encoding: of the terminal; where it has no blocks, bars are made of ``=``.
        width: of the longest bar, in columns.
    """
    mark = BLOCKS[-1] if can_encode(BLOCKS[-1], encoding) else "="
    most = max(values, default=0)
    return [mark * (max(1, round(width * value / most)) if value > 0 else 0) for value in values]


def sparkline(values: Sequence[float | None], encoding: str | None, width: int = 60) -> str:
    """A chart in one line: a character for each value, higher for larger ones.

    The scale goes from 0 to the largest value. A value of 0 has the lowest level, any other at
    least the second; neighbours are averaged where there are more values than columns.

    Args:
        values: >= 0 in equal steps of time; None leaves a space.
        encoding: of the terminal.
        width: most columns, >= 1.
    """
    levels = BLOCKS if can_encode(BLOCKS, encoding) else ASCII_LEVELS
    shown = _averaged(values, width)
    most = max((value for value in shown if value is not None), default=0)
    return "".join(NO_VALUE if one is None else levels[_level(one, most)] for one in shown)


def _level(value: float, most: float) -> int:
    if value <= 0:
        return 0
    return max(1, round((len(BLOCKS) - 1) * value / most))


def _averaged(values: Sequence[float | None], width: int) -> list[float | None]:
    """At most ``width`` values: means of neighbours; None where none of them is known."""
    if len(values) <= width:
        return list(values)
    ends = [len(values) * column // width for column in range(width + 1)]
    means: list[float | None] = []
    for low, high in pairwise(ends):
        known = [value for value in values[low:high] if value is not None]
        means.append(sum(known) / len(known) if known else None)
    return means
