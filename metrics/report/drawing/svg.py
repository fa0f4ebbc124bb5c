"""Figures as small inline SVG, whose colours follow the theme of the page.

Importing a plotting library takes longer than the quickstart society takes to simulate.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from markupsafe import Markup

from virsci_society.metrics.report.drawing.axes import (
    FONT,
    ROW,
    Axes,
    LegendEntry,
    PlotArea,
    draw_legend,
    legend_width,
)

INK, MUTED, GRID, PAGE = (f"var(--{name})" for name in ("ink", "muted", "grid", "page"))
BLUE, ORANGE, GREEN, PINK = (f"var(--{name})" for name in ("blue", "orange", "green", "pink"))
COLOURS = (BLUE, ORANGE, GREEN, PINK, *(f"var(--{n})" for n in ("olive", "sky", "violet", "brown")))
"""Of the largest communities, here and in the explorer; all others are grey."""
PAST = "var(--past)"

INCH = 72.0
"""Units of the SVG; text is 8.5 units high."""
WIDE = 4.6
"""Inches of a figure over the width of the text: its letters are legible on a phone too."""
EDGE, BETWEEN = 5.0, 12.0
"""Distance of the axes from the edge of the figure, and from each other."""
MOST_COLUMNS = 5
"""Of a legend above the axes."""


class Plot:
    """One figure of the house style: axes in rows and columns, and a legend above them."""

    def __init__(self, width: float, height: float) -> None:
        """An empty figure."""
        self._width, self._height = INCH * width, INCH * height
        self._rows: list[list[Axes]] = []
        self._entries: Sequence[LegendEntry] = ()

    def axes(self) -> Axes:
        """The only axes of the figure."""
        return self.panels(1, 1)[0][0]

    def panels(self, rows: int, columns: int) -> list[list[Axes]]:
        """Axes in rows and columns."""
        self._rows = [[Axes(INK, MUTED, GRID) for _ in range(columns)] for _ in range(rows)]
        return self._rows

    def legend(self, entries: Sequence[LegendEntry]) -> None:
        """A legend above all axes, in up to five columns, as space permits."""
        self._entries = entries

    def svg(self, label: str) -> Markup:
        """The figure as one SVG element, without ids, styles or links."""
        parts = [draw_legend(self._entries, EDGE, EDGE, self._columns(), INK)]
        tops, bottoms = (
            [max(room(one) for one in row) for row in self._rows]
            for room in (Axes.top_room, Axes.bottom_room)
        )
        free = self._height - 2 * EDGE - self._legend_height() - sum(tops) - sum(bottoms)
        height = (free - BETWEEN / 2 * (len(self._rows) - 1)) / len(self._rows)
        columns = zip(*self._rows, strict=True)
        lefts = [max(one.left_room(height) for one in column) for column in columns]
        gaps = BETWEEN * (len(lefts) - 1)
        width = (self._width - 2 * EDGE - sum(lefts) - gaps) / len(lefts)
        y = EDGE + self._legend_height()
        for row, top, bottom in zip(self._rows, tops, bottoms, strict=True):
            y, x = y + top, EDGE
            for one, left in zip(row, lefts, strict=True):
                x += left
                parts.append(one.draw(PlotArea(x, y, x + width, y + height)))
                x += width + BETWEEN
            y += height + bottom + BETWEEN / 2
        box = f"0 0 {self._width:g} {self._height:g}"
        head = f'<svg viewBox="{box}" role="img" aria-label="{escape(label)}"'
        body = "\n".join(part for part in parts if part)
        svg = f'{head} font-family="var(--sans)">\n{body}\n</svg>'
        return Markup(svg)  # noqa: S704 - drawn here, and every text in it is escaped

    def _columns(self) -> int:
        """Number of legend columns that fit, at least one."""
        free = self._width - 2 * EDGE
        counts = range(min(MOST_COLUMNS, len(self._entries)), 0, -1)
        return next((n for n in counts if legend_width(self._entries, n) <= free), 1)

    def _legend_height(self) -> float:
        if not self._entries:
            return 0.0
        return -(-len(self._entries) // self._columns()) * ROW + 0.5 * FONT


SVG = "http://www.w3.org/2000/svg"
INK_ON_PAPER = {
    **{"ink": "#1c1f23", "muted": "#5c636b", "grid": "#e4e5e1", "page": "#ffffff"},
    **{"blue": "#0072b2", "orange": "#c8500a", "green": "#00805e", "pink": "#b04a86"},
    **{"olive": "#8a7a00", "sky": "#3a9bd0", "violet": "#6b4fa0", "brown": "#7a5230"},
    "past": "#b9bdc1",
}
"""The page's colours by day: a figure on its own follows no theme."""
_VARIABLE = re.compile(r"var\(--(\w+)\)")
_BOX = re.compile(r'<svg viewBox="0 0 ([\d.]+) ([\d.]+)"')


def standalone_svg(picture: Markup) -> str:
    """An inline figure of a page as a file: its namespace, size and colours."""
    text = _VARIABLE.sub(lambda found: INK_ON_PAPER.get(found[1], "sans-serif"), str(picture))
    head = f'<svg xmlns="{SVG}"'
    text = _BOX.sub(rf'{head} width="\1pt" height="\2pt" viewBox="0 0 \1 \2"', text, count=1)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'
