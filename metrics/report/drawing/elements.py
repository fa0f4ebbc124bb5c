"""Words, hairlines, symbols, legends, and names that do not overlap, as parts of figures."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

from virsci_society.agents.spelling import plain_text

FONT, TITLE_FONT, LETTER = 8.5, 9.0, 0.54
"""Height of text and of titles, and the mean width of a letter as a share of the height."""
HAIR = 0.7
"""Width of axes and grid."""


def words_at(
    text: str, x: float, y: float, colour: str, anchor: str = "start", size: float = FONT
) -> str:
    """A line of text, escaped and without the characters that XML cannot hold."""
    place = f'x="{short_number(x)}" y="{short_number(y)}" font-size="{size:g}" fill="{colour}"'
    more = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f"<text {place}{more}>{escape(plain_text(text))}</text>"


def hairlines(path: str, colour: str) -> str:
    """Thin lines along a path; nothing where the path is empty."""
    if not path:
        return ""
    return f'<path fill="none" stroke="{colour}" stroke-width="{HAIR:g}" d="{path}"/>'


def short_number(value: float) -> str:
    """A coordinate with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def symbol_path(shape: str, x: float, y: float, size: float) -> str:
    """The outline of a symbol, to be filled."""
    return f"M{short_number(x)} {short_number(y)}{SYMBOLS[shape](size / 2)}"


def _circle(r: float) -> str:
    return f"m{-r:.3g} 0a{r:.3g} {r:.3g} 0 1 0 {2 * r:.3g} 0a{r:.3g} {r:.3g} 0 1 0 {-2 * r:.3g} 0z"


def _square(r: float) -> str:
    half = 0.88 * r
    return f"m{-half:.3g} {-half:.3g}h{2 * half:.3g}v{2 * half:.3g}h{-2 * half:.3g}z"


def _diamond(r: float) -> str:
    tip = 1.22 * r
    turns = f"l{-tip:.3g} {tip:.3g}l{-tip:.3g} {-tip:.3g}z"
    return f"m0 {-tip:.3g}l{tip:.3g} {tip:.3g}{turns}"


def _triangle(r: float) -> str:
    return f"m0 {-1.15 * r:.3g}l{1.1 * r:.3g} {2 * r:.3g}h{-2.2 * r:.3g}z"


def _cross(r: float) -> str:
    """Two bars on their diagonals."""
    w = 0.32 * r
    arm = r - w
    steps = (
        *((0, -w), (arm, -arm), (w, w), (-arm, arm)),
        *((arm, arm), (-w, w), (-arm, -arm), (-arm, arm), (-w, -w), (arm, -arm), (-arm, -arm)),
        (w, -w),
    )
    return f"m{steps[0][0]:.3g} {steps[0][1]:.3g}" + _lines(steps[1:])


def _star(r: float) -> str:
    """Five points; the first step goes to the upper one."""
    outer, inner = 1.35 * r, 0.56 * r
    # Sine and cosine of the tenths of a turn, so that the outline is the same everywhere.
    sines = (0.0, 0.5878, 0.9511, 0.9511, 0.5878, 0.0, -0.5878, -0.9511, -0.9511, -0.5878)
    cosines = (1.0, 0.809, 0.309, -0.309, -0.809, -1.0, -0.809, -0.309, 0.309, 0.809)
    points = [
        ((inner if turn % 2 else outer) * sine, -(inner if turn % 2 else outer) * cosine)
        for turn, (sine, cosine) in enumerate(zip(sines, cosines, strict=True))
    ]
    steps = [(there[0] - here[0], there[1] - here[1]) for here, there in itertools.pairwise(points)]
    return f"m{points[0][0]:.3g} {points[0][1]:.3g}" + _lines(steps)


def _lines(steps: list[tuple[float, float]] | tuple[tuple[float, float], ...]) -> str:
    return "".join(f"l{x:.3g} {y:.3g}" for x, y in steps) + "z"


SYMBOLS: dict[str, Callable[[float], str]] = {
    "circle": _circle,
    "square": _square,
    "diamond": _diamond,
    "triangle": _triangle,
    "cross": _cross,
    "star": _star,
}
"""Outlines by name, as functions of half their width; they begin in the middle."""


Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


def place_labels(
    points: Sequence[tuple[float, float]],
    widths: Sequence[float],
    height: float,
    gap: float,
    within: Box,
) -> list[tuple[float, float] | None]:
    """Where names stand, the first ones first: right, left, above or below their point."""
    taken: list[Box] = [(x - gap, y - gap, x + gap, y + gap) for x, y in points]
    placed: list[tuple[float, float] | None] = []
    for number, ((x, y), width) in enumerate(zip(points, widths, strict=False)):
        half = height / 2
        corners = (
            (x + gap, y + half),
            (x - gap - width, y + half),
            (x - width / 2, y - gap),
            (x - width / 2, y + gap + height),
        )
        # All but its own point, beside which a name stands.
        others = [box for place, box in enumerate(taken) if place != number]
        free = (
            (left, bottom)
            for left, bottom in corners
            if _is_free((left, bottom - height, left + width, bottom), others, within)
        )
        found = next(free, None)
        placed.append(found)
        if found is not None:
            taken.append((found[0], found[1] - height, found[0] + width, found[1]))
    return placed


def _is_free(box: Box, others: Sequence[Box], within: Box) -> bool:
    left, top, right, bottom = box
    inside = left >= within[0] and top >= within[1] and right <= within[2] and bottom <= within[3]
    return inside and not any(
        left < other[2] and other[0] < right and top < other[3] and other[1] < bottom
        for other in others
    )


ROW = 1.35 * FONT
"""Height of a row of a legend."""


class LegendEntry(NamedTuple):
    """One row of a legend; colour and shape both tell what it stands for.

    Attributes:
        shape: ``line``, or the name of a symbol.
    """

    words: str
    colour: str
    shape: str = "line"
    dashes: str = ""
    width: float = 2.5


def draw_legend(
    entries: Sequence[LegendEntry], left: float, top: float, columns: int, ink: str
) -> str:
    """The SVG of a legend."""
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
    """Width of a legend with so many columns."""
    rows = max(1, -(-len(entries) // columns))
    longest = (
        max(len(one.words) for one in entries[first : first + rows])
        for first in range(0, len(entries), rows)
    )
    return sum(FONT + 17 + LETTER * FONT * letters for letters in longest)


def _sample(entry: LegendEntry, at: float, middle: float) -> str:
    if entry.shape == "line":
        dashes = f' stroke-dasharray="{entry.dashes}"' if entry.dashes else ""
        cap = ' stroke-linecap="round"' if not dashes and entry.width < FONT / 2 else ""
        style = f'fill="none" stroke="{entry.colour}" stroke-width="{entry.width:g}"{dashes}{cap}'
        reach = FONT + 4 if dashes else FONT
        start = at - 2 if dashes else at
        return f'<path {style} d="M{short_number(start)} {short_number(middle)}h{reach:g}"/>'
    path = symbol_path(entry.shape, at + FONT / 2, middle, 6.0)
    return f'<path fill="{entry.colour}" d="{path}"/>'
