"""The axes of a figure, with marks drawn from numbers between two scales, as SVG."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from virsci_society.agents.arrays import Coordinates, FloatArray
from virsci_society.metrics.report.drawing.elements import (
    FONT,
    LETTER,
    ROW,
    TITLE_FONT,
    LegendEntry,
    draw_legend,
    hairlines,
    place_labels,
    short_number,
    symbol_path,
    words_at,
)
from virsci_society.metrics.report.drawing.scale import Scale

TICK, GAP = 3.0, 3.5
"""Length of a tick, and distance of texts from what they name."""
X_ROOM, Y_ROOM = 32.0, 17.0
"""Least distance of two ticks across and upwards."""

HALO = 'stroke="var(--page)" stroke-width="2.4" stroke-linejoin="round" paint-order="stroke"'
"""Of names, so that no line runs through their letters."""

Place = Callable[[Coordinates], FloatArray]
"""Where values of one scale lie, in units of the SVG."""
Draw = Callable[[Place, Place], str]


@dataclass(frozen=True)
class PlotArea:
    """A rectangle in units of the SVG; ``top`` is less than ``bottom``."""

    left: float
    top: float
    right: float
    bottom: float


class Axes:
    """Two scales, a title, a legend, and the marks between them."""

    def __init__(self, ink: str, muted: str, grid: str) -> None:
        """Empty axes in these colours: of titles, of axes and labels, of the grid."""
        self.title = ""
        self.x, self.y = Scale(), Scale()
        self.frame, self.square = True, False
        self.entries: list[LegendEntry] = []
        self._ink, self._muted, self._grid = ink, muted, grid
        self._legend: Callable[[PlotArea], str] | None = None
        self._marks: list[Draw] = []

    def line(
        self,
        x: Coordinates,
        y: Coordinates,
        colour: str,
        *,
        width: float = 1.6,
        steps: bool = False,
        dashes: str = "",
    ) -> None:
        """A line through points in their order; with ``steps`` each value holds until the next."""
        self._include(x, y)
        style = f'fill="none" stroke="{colour}" stroke-width="{width:g}"{_dashed(dashes)}'

        def draw(across: Place, up: Place) -> str:
            path = _path(across(x), up(y), steps)
            return f'<path {style} stroke-linecap="round" stroke-linejoin="round" d="{path}"/>'

        self._marks.append(draw)

    def dots(
        self,
        x: Coordinates,
        y: Coordinates,
        colour: str | Sequence[str],
        *,
        size: float = 5.0,
        opacity: float = 1.0,
        edge: str = "",
    ) -> None:
        """A circle at each point, of one colour or each of its own, with an outline in ``edge``."""
        self._include(x, y)
        style = f' stroke="{edge}" stroke-width="0.4"' if edge else ""
        style += f' fill-opacity="{opacity:g}"' if opacity < 1 else ""
        style += f' fill="{colour}"' if isinstance(colour, str) else ""
        each = [""] * len(x) if isinstance(colour, str) else [f' fill="{one}"' for one in colour]

        def draw(across: Place, up: Place) -> str:
            radius = f'r="{size / 2:.3g}"'
            circles = (
                f'<circle cx="{short_number(at)}" cy="{short_number(height)}" {radius}{face}/>'
                for at, height, face in _finite(across(x), up(y), each)
            )
            return f"<g{style}>{''.join(circles)}</g>"

        self._marks.append(draw)

    def symbols(
        self,
        x: Coordinates,
        y: Coordinates,
        shape: str,
        colour: str,
        *,
        size: float | Sequence[float] = 5.5,
    ) -> None:
        """A symbol at each point, so that colour need not tell kinds apart."""
        self._include(x, y)
        widths = [size] * len(x) if isinstance(size, int | float) else size

        def draw(across: Place, up: Place) -> str:
            points = _finite(across(x), up(y), widths)
            path = "".join(symbol_path(shape, *point) for point in points)
            return f'<path fill="{colour}" d="{path}"/>' if path else ""

        self._marks.append(draw)

    def names(
        self, x: Coordinates, y: Coordinates, texts: Sequence[str], *, size: float, gap: float
    ) -> None:
        """Names beside the first points where there is room, those given first before others."""
        widths = [1.15 * LETTER * size * len(text) for text in texts]

        def draw(across: Place, up: Place) -> str:
            points = list(zip(across(x).tolist(), up(y).tolist(), strict=True))
            (left, right), (bottom, top) = across(list(self.x.ends())), up(list(self.y.ends()))
            places = place_labels(points, widths, size, gap, (left, top, right, bottom))
            words = "".join(
                words_at(text, *place, self._ink, size=size)
                for text, place in zip(texts, places, strict=True)
                if place is not None
            )
            return f"<g {HALO}>{words}</g>"

        self._marks.append(draw)

    def segments(
        self,
        starts: tuple[Coordinates, Coordinates],
        stops: tuple[Coordinates, Coordinates],
        colour: str,
        *,
        width: float = 1.4,
        opacity: float = 1.0,
        dashes: str = "",
    ) -> None:
        """A straight line for each pair of points, given by their positions and values."""
        for x, y in (starts, stops):
            self._include(x, y)
        more = f' stroke-opacity="{opacity:.3g}"' if opacity < 1 else ""
        style = f'stroke="{colour}" stroke-width="{width:.3g}"{more}{_dashed(dashes)}'

        def draw(across: Place, up: Place) -> str:
            places = across(starts[0]), up(starts[1]), across(stops[0]), up(stops[1])
            lines = (row for row in np.column_stack(places) if np.isfinite(row).all())
            path = "".join("M{} {}L{} {}".format(*map(short_number, row)) for row in lines)
            return f'<path fill="none" {style} d="{path}"/>'

        self._marks.append(draw)

    def bars(
        self,
        x: Coordinates,
        heights: Coordinates,
        floors: Coordinates,
        colour: str,
        *,
        width: float,
        label: str,
    ) -> None:
        """Upright bars from their floors up, so that they can stand on each other."""
        middles, low = np.asarray(x, dtype=np.float64), np.asarray(floors, dtype=np.float64)
        high = low + np.asarray(heights, dtype=np.float64)
        sides = middles - width / 2, middles + width / 2
        for edge in sides:
            self._include(edge, low)
            self._include(edge, high)
        self.entries.append(LegendEntry(label, colour, "square"))

        def draw(across: Place, up: Place) -> str:
            edges = zip(across(sides[0]), across(sides[1]), up(low), up(high), strict=True)
            rects = (
                f'<rect x="{short_number(left)}" y="{short_number(top)}" '
                f'width="{short_number(right - left)}" height="{short_number(bottom - top)}"/>'
                for left, right, bottom, top in edges
                if np.isfinite(top) and bottom > top
            )
            return f'<g fill="{colour}">{"".join(rects)}</g>'

        self._marks.append(draw)

    def vertical(self, x: float) -> None:
        """A dashed line across the whole height at a position."""
        self.x.include(np.array([x]))
        style = f'stroke="{self._muted}" stroke-width="0.8" stroke-dasharray="3 3"'

        def draw(across: Place, up: Place) -> str:
            at = short_number(float(across([x])[0]))
            low, high = (short_number(end) for end in up(list(self.y.ends())))
            return f'<path fill="none" {style} d="M{at} {low}V{high}"/>'

        self._marks.append(draw)

    def text(self, x: float, y: float, words: str, *, right_by: float = 0.0) -> None:
        """Muted words that begin so far to the right of a point, and are centred on its height."""

        def draw(across: Place, up: Place) -> str:
            at, height = float(across([x])[0]) + right_by, float(up([y])[0])
            return words_at(words, at, height + 0.35 * FONT, self._muted)

        self._marks.append(draw)

    def legend(self, entries: Sequence[LegendEntry], *, bottom: bool = False) -> None:
        """A legend inside the axes, at the left, at the top or at the bottom."""

        def draw(box: PlotArea) -> str:
            top = box.bottom - len(entries) * ROW - GAP if bottom else box.top
            return draw_legend(entries, box.left + 4, top, 1, self._ink)

        self._legend = draw

    def left_room(self, height: float) -> float:
        """Width of the tick labels of ``y``, at a height of the axes."""
        if not self.frame or not self.y.line:
            return 0.0
        texts = [text for _, text in self.y.marks(height, Y_ROOM)]
        return max((LETTER * FONT * len(text) for text in texts), default=0.0) + GAP

    def top_room(self) -> float:
        """Height of the title."""
        return TITLE_FONT + 7.0 if self.title else 0.5 * FONT

    def bottom_room(self) -> float:
        """Height of ticks, tick labels and label of ``x``."""
        if not self.frame:
            return 0.0
        return TICK + GAP + FONT + (GAP + FONT if self.x.label else 0.0)

    def draw(self, box: PlotArea, *, labelled: bool = True) -> str:
        """The SVG of title, axes, marks and legend; ``box`` is the rectangle between the axes."""
        box = self._squared(box) if self.square else box

        def across(values: Coordinates) -> FloatArray:
            return self.x.places(values, box.left, box.right)

        def up(values: Coordinates) -> FloatArray:
            return self.y.places(values, box.bottom, box.top)

        parts = [self._frame(box, labelled)] if self.frame else []
        parts += [draw(across, up) for draw in self._marks]
        if self._legend:
            parts.append(self._legend(box))
        if self.title:
            parts.append(words_at(self.title, box.left, box.top - 7.0, self._ink, size=TITLE_FONT))
        return "".join(parts)

    def _include(self, x: Coordinates, y: Coordinates) -> None:
        xs, ys = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        shown = np.isfinite(xs) & np.isfinite(ys)
        self.x.include(xs[shown])
        self.y.include(ys[shown])

    def _squared(self, box: PlotArea) -> PlotArea:
        """The largest rectangle in the middle of a box in which units are equally long."""
        (x_low, x_high), (y_low, y_high) = self.x.ends(), self.y.ends()
        unit = min(
            (box.right - box.left) / (x_high - x_low), (box.bottom - box.top) / (y_high - y_low)
        )
        half_width, half_height = unit * (x_high - x_low) / 2, unit * (y_high - y_low) / 2
        x, y = (box.left + box.right) / 2, (box.top + box.bottom) / 2
        return PlotArea(x - half_width, y - half_height, x + half_width, y + half_height)

    def _frame(self, box: PlotArea, labelled: bool) -> str:
        """Grid, axes, ticks, their labels and the label of ``x``."""
        x_marks = self.x.marks(box.right - box.left, X_ROOM) if self.x.line else []
        y_marks = self.y.marks(box.bottom - box.top, Y_ROOM) if self.y.line else []
        xs = self.x.places([value for value, _ in x_marks], box.left, box.right)
        ys = self.y.places([value for value, _ in y_marks], box.bottom, box.top)
        left, top, right, bottom = map(short_number, (box.left, box.top, box.right, box.bottom))
        rows = (f"M{left} {short_number(at)}H{right}" for at in ys if self.y.grid)
        columns = (f"M{short_number(at)} {top}V{bottom}" for at in xs if self.x.grid)
        grid = "".join(rows) + "".join(columns)
        lines = f"M{left} {bottom}H{right}"
        lines += "".join(f"M{short_number(at)} {bottom}v{TICK:g}" for at in xs)
        if self.y.line:
            lines += f"M{left} {top}V{bottom}"
        parts = [hairlines(grid, self._grid), hairlines(lines, self._muted)]
        below = box.bottom + TICK + GAP + 0.75 * FONT
        parts += [
            words_at(text, min(at, box.right + GAP - half), below, self._muted, "middle")
            for (_, text), at in zip(x_marks, xs, strict=True)
            for half in [LETTER * FONT * len(text) / 2]
        ]
        if labelled:
            parts += [
                words_at(text, box.left - GAP, at + 0.35 * FONT, self._muted, "end")
                for (_, text), at in zip(y_marks, ys, strict=True)
            ]
        if self.x.label:
            middle = (box.left + box.right) / 2
            parts.append(words_at(self.x.label, middle, below + GAP + FONT, self._muted, "middle"))
        return "".join(parts)


def _dashed(dashes: str) -> str:
    return f' stroke-dasharray="{dashes}"' if dashes else ""


def _finite(x: FloatArray, y: FloatArray, *more: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Positions and values that are finite, with what else belongs to each point."""
    # SVG has no missing coordinate: one NaN would spoil the whole path.
    rows = zip(x, y, *more, strict=True)
    return (row for row in rows if np.isfinite(row[0]) and np.isfinite(row[1]))


def _path(xs: FloatArray, ys: FloatArray, steps: bool) -> str:
    """The path through points, interrupted where one of them is not finite."""
    parts, pen = [], "M"
    for x, y in zip(xs.tolist(), ys.tolist(), strict=True):
        if not (np.isfinite(x) and np.isfinite(y)):
            pen = "M"
            continue
        across = f"H{short_number(x)}V{short_number(y)}"
        parts.append(
            across if steps and pen == "L" else f"{pen}{short_number(x)} {short_number(y)}"
        )
        pen = "L"
    return "".join(parts)
