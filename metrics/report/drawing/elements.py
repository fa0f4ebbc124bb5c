"""Words, hairlines, symbols, legends, and names that do not overlap, as parts of figures."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

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


def place_labels(
    points: Sequence[tuple[float, float]],
    widths: Sequence[float],
    height: float,
    gap: float,
    within: tuple[float, float, float, float],
) -> list[tuple[float, float] | None]:
    """Where names stand, the first ones first: right, left, above or below their point."""
    taken = np.array([(x - gap, y - gap, x + gap, y + gap) for x, y in points])
    placed: list[tuple[float, float] | None] = []
    for number, ((x, y), width) in enumerate(zip(points, widths, strict=False)):
        # All but its own point, beside which a name stands.
        left, top, right, bottom = np.delete(taken, number, axis=0).T
        placed.append(None)
        for start, low in (
            (x + gap, y + height / 2),
            (x - gap - width, y + height / 2),
            (x - width / 2, y - gap),
            (x - width / 2, y + gap + height),
        ):
            end, high = start + width, low - height
            inside = within[0] <= start and within[1] <= high
            inside &= end <= within[2] and low <= within[3]
            hits = (start < right) & (left < end) & (high < bottom) & (top < low)
            if inside and not hits.any():
                placed[-1] = (start, low)
                taken = np.vstack([taken, (start, high, end, low)])
                break
    return placed


ROW = 1.35 * FONT
"""Height of a row of a legend."""


class LegendEntry(NamedTuple):
    """One row of a legend; colour and shape both tell what it stands for."""

    words: str
    colour: str
    shape: str = "line"
    dashes: str = ""
    width: float = 2.5


def draw_legend(
    entries: Sequence[LegendEntry], left: float, top: float, columns: int, ink: str
) -> str:
    """The SVG of a legend."""
    parts = []
    for column, width in _columns(entries, columns):
        for row, entry in enumerate(column):
            middle = top + (row + 0.6) * ROW
            parts.append(_sample(entry, left, middle))
            parts.append(words_at(entry.words, left + FONT + 5, middle + 0.35 * FONT, ink))
        left += width
    return "".join(parts)


def legend_width(entries: Sequence[LegendEntry], columns: int) -> float:
    """Width of a legend with so many columns."""
    return sum(width for _, width in _columns(entries, columns))


def _columns(
    entries: Sequence[LegendEntry], columns: int
) -> Iterator[tuple[Sequence[LegendEntry], float]]:
    """The columns of a legend, with their widths."""
    rows = max(1, -(-len(entries) // columns))
    for first in range(0, len(entries), rows):
        column = entries[first : first + rows]
        yield column, FONT + 17 + LETTER * FONT * max(len(one.words) for one in column)


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
