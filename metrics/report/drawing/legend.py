"""Legends of figures, rows of short lines or symbols that are each followed by their words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from virsci_society.metrics.report.drawing.elements import (
    FONT,
    LETTER,
    short_number,
    symbol_path,
    words_at,
)

ROW = 1.35 * FONT
"""Height of a row of a legend."""


class LegendEntry(NamedTuple):
    """One row of a legend; colour and shape both tell what it stands for.

    Attributes:
        words: what is meant.
        colour: of the line or symbol.
        shape: ``line``, or the name of a symbol.
        dashes: of a line; none: unbroken.
        width: of a line.
        hollow: only the outline of the symbol is drawn.
    """

    words: str
    colour: str
    shape: str = "line"
    dashes: str = ""
    width: float = 2.5
    hollow: bool = False


def draw_legend(
    entries: Sequence[LegendEntry], left: float, top: float, columns: int, ink: str
) -> str:
    """The SVG of a legend.

    Args:
        entries: filled in column by column.
        left: where it begins.
        top: likewise.
        columns: beside each other.
        ink: colour of the words.
    """
    rows = max(1, -(-len(entries) // columns))
    parts, at = [], left
    for first in range(0, len(entries), rows):
        column = entries[first : first + rows]
        for row, entry in enumerate(column):
            middle = top + (row + 0.6) * ROW
            parts.append(_sample(entry, at, middle))
            parts.append(words_at(entry.words, at + FONT + 5, middle + 0.35 * FONT, ink))
        at += FONT + 17 + LETTER * FONT * max(len(one.words) for one in column)
    return "".join(parts)


def legend_width(entries: Sequence[LegendEntry], columns: int) -> float:
    """Width of a legend with so many columns.

    Args:
        entries: filled in column by column.
        columns: beside each other.
    """
    rows = max(1, -(-len(entries) // columns))
    longest = (
        max(len(one.words) for one in entries[first : first + rows])
        for first in range(0, len(entries), rows)
    )
    return sum(FONT + 17 + LETTER * FONT * letters for letters in longest)


def _sample(entry: LegendEntry, at: float, middle: float) -> str:
    if entry.shape == "line":
        dashes = f' stroke-dasharray="{entry.dashes}"' if entry.dashes else ""
        cap = ' stroke-linecap="round"' if not dashes else ""
        style = f'fill="none" stroke="{entry.colour}" stroke-width="{entry.width:g}"{dashes}{cap}'
        reach = FONT + 4 if dashes else FONT
        start = at - 2 if dashes else at
        return f'<path {style} d="M{short_number(start)} {short_number(middle)}h{reach:g}"/>'
    path = symbol_path(entry.shape, at + FONT / 2, middle, 6.0)
    paint = (
        f'fill="var(--page)" stroke="{entry.colour}" stroke-width="1.2"'
        if entry.hollow
        else f'fill="{entry.colour}"'
    )
    return f'<path {paint} d="{path}"/>'
