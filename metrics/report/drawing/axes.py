"""The axes of a figure, with marks drawn from numbers between two scales, as SVG.

Marks are kept as they are added, and turned into SVG when the figure knows how large the axes are.
A mark without a finite position is left out, and a line is broken there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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

Draw = Callable[[Callable[[Coordinates], FloatArray], Callable[[Coordinates], FloatArray]], str]


@dataclass(frozen=True)
class PlotArea:
    """A rectangle in units of the SVG; ``top`` is less than ``bottom``."""

    left: float
    top: float
    right: float
    bottom: float


class Axes:
    """Two scales, a title, a legend, and the marks between them.

    Attributes:
        title: above the axes.
        x: the scale from left to right.
        y: the scale from the bottom to the top.
        entries: what the bars stand for, for a legend.
        frame: draw axes, ticks and grid; without it only title and marks.
        square: a unit is as long across as upwards.
    """

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
        """A line through points in their order.

        Args:
            x: positions.
            y: as many values.
            colour: of the line.
            width: of the line.
            steps: each value holds until the next position.
            dashes: lengths of dashes and gaps; none: an unbroken line.
        """
        self._include(x, y)
        more = f' stroke-dasharray="{dashes}"' if dashes else ""

        def draw(across: Callable[..., FloatArray], up: Callable[..., FloatArray]) -> str:
            path = _path(across(x), up(y), steps)
            style = f'fill="none" stroke="{colour}" stroke-width="{width:g}"{more}'
            return f'<path {style} stroke-linecap="round" stroke-linejoin="round" d="{path}"/>'

        self._marks.append(draw)

    def area(self, x: Coordinates, y: Coordinates, colour: str, opacity: float) -> None:
        """Fill what lies between 0 and values that each hold until the next position."""
        self._include(x, y)
        self.y.include(np.zeros(1))

        def draw(across: Callable[..., FloatArray], up: Callable[..., FloatArray]) -> str:
            xs, floor = across(x), short_number(float(up([0.0])[0]))
            path = f"M{short_number(xs[0])} {floor}L{_path(xs, up(y), True)[1:]}V{floor}Z"
            return f'<path fill="{colour}" fill-opacity="{opacity:g}" d="{path}"/>'

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
        edge_width: float = 0.4,
    ) -> None:
        """A circle at each point.

        Args:
            x: positions.
            y: as many values.
            colour: of all circles, or of each.
            size: the diameter.
            opacity: 0..1.
            edge: colour of the outline; none: no outline.
            edge_width: of the outline.
        """
        self._include(x, y)
        style = f' stroke="{edge}" stroke-width="{edge_width:g}"' if edge else ""
        style += f' fill-opacity="{opacity:g}"' if opacity < 1 else ""
        style += f' fill="{colour}"' if isinstance(colour, str) else ""
        each = [""] * len(x) if isinstance(colour, str) else [f' fill="{one}"' for one in colour]

        def draw(across: Callable[..., FloatArray], up: Callable[..., FloatArray]) -> str:
            points = zip(across(x), up(y), each, strict=True)
            radius = f'r="{size / 2:.3g}"'
            circles = (
                f'<circle cx="{short_number(at)}" cy="{short_number(height)}" {radius}{face}/>'
                for at, height, face in points
                if np.isfinite(at) and np.isfinite(height)
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
        hollow: bool = False,
    ) -> None:
        """A symbol at each point, so that colour need not tell kinds apart.

        Args:
            x: positions.
            y: as many values.
            shape: circle, square, diamond, triangle, cross or star.
            colour: of all.
            size: the width of all, or of each.
            hollow: draw the outline in this colour, and fill with that of the page.
        """
        self._include(x, y)
        widths = [size] * len(x) if isinstance(size, int | float) else size
        edge = 'fill="var(--page)" stroke="{}" stroke-width="1.2"' if hollow else 'fill="{}"'
        paint = edge.format(colour)

        def draw(across: Callable[..., FloatArray], up: Callable[..., FloatArray]) -> str:
            path = "".join(
                symbol_path(shape, at, height, width)
                for at, height, width in zip(across(x), up(y), widths, strict=True)
                if np.isfinite(at) and np.isfinite(height)
            )
            return f'<path {paint} d="{path}"/>' if path else ""

        self._marks.append(draw)

    def discs(
        self,
        centres: FloatArray,
        radius: FloatArray,
        colour: str,
        *,
        opacity: float = 1.0,
        dashes: str = "",
        words: Sequence[str] = (),
    ) -> None:
        """Circles whose radius is in units of both scales, which are then equally long.

        They hide what is drawn below.

        Args:
            centres: n x 2.
            radius: of each.
            colour: of the outline, and of the face.
            opacity: of the face, 0..1.
            dashes: of the outline; none: an unbroken line.
            words: written in the middle of each where they fit.
        """
        self.square = True
        for side in (-1.0, 1.0):
            self._include(centres[:, 0] + side * radius, centres[:, 1] + side * radius)
        more = f' stroke-dasharray="{dashes}"' if dashes else ""

        def draw(across: Callable[..., FloatArray], up: Callable[..., FloatArray]) -> str:
            sizes = across(centres[:, 0] + radius) - across(centres[:, 0])
            rows = list(zip(across(centres[:, 0]), up(centres[:, 1]), sizes, strict=True))
            circles = "".join(
                f'<circle cx="{short_number(x)}" cy="{short_number(y)}" r="{short_number(size)}"/>'
                for x, y, size in rows
            )
            face = f'fill="{colour}" fill-opacity="{opacity:g}" stroke="{colour}"{more}'
            parts = [f'<g fill="var(--page)">{circles}</g>', f"<g {face}>{circles}</g>"]
            for text, (x, y, size) in zip(words, rows, strict=False):
                if LETTER * FONT * len(text) < 1.8 * size and 1.8 * size > 0.8 * FONT:
                    parts.append(words_at(text, x, y + 0.35 * FONT, self._ink, "middle"))
            return "".join(parts)

        self._marks.append(draw)

    def names(
        self, x: Coordinates, y: Coordinates, texts: Sequence[str], *, size: float, gap: float
    ) -> None:
        """Names beside points where there is room, those given first before the others.

        Args:
            x: positions of all points; a name covers none of them.
            y: as many values.
            texts: names of the first points.
            size: height of the letters.
            gap: distance of a name from its point.
        """
        widths = [1.15 * LETTER * size * len(text) for text in texts]

        def draw(across: Callable[..., FloatArray], up: Callable[..., FloatArray]) -> str:
            points = list(zip(across(x).tolist(), up(y).tolist(), strict=True))
            (left, right), (bottom, top) = across(list(self.x.ends())), up(list(self.y.ends()))
            places = place_labels(points, widths, 0.8 * size, gap, (left, top, right, bottom))
            return "".join(
                words_at(text, *place, self._ink, size=size)
                for text, place in zip(texts, places, strict=True)
                if place is not None
            )

        self._marks.append(draw)

    def crosses(self, x: Coordinates, y: Coordinates, colour: str, size: float) -> None:
        """A diagonal cross of this width at each point."""
        self._include(x, y)
        half = size / 2

        def draw(across: Callable[..., FloatArray], up: Callable[..., FloatArray]) -> str:
            path = "".join(
                f"M{short_number(at - half)} {short_number(height - half)}l{size:.3g} {size:.3g}"
                f"m{-size:.3g} 0l{size:.3g} {-size:.3g}"
                for at, height in zip(across(x), up(y), strict=True)
            )
            return f'<path fill="none" stroke="{colour}" stroke-width="1.4" d="{path}"/>'

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
        """A straight line for each pair of points.

        Args:
            starts: positions and values of the first ends.
            stops: as many of the other ends.
            colour: of all lines.
            width: of all lines.
            opacity: 0..1.
            dashes: lengths of dashes and gaps; none: unbroken lines.
        """
        for x, y in (starts, stops):
            self._include(x, y)
        more = f' stroke-opacity="{opacity:.3g}"' if opacity < 1 else ""
        more += f' stroke-dasharray="{dashes}"' if dashes else ""

        def draw(across: Callable[..., FloatArray], up: Callable[..., FloatArray]) -> str:
            ends = np.column_stack(
                [across(starts[0]), up(starts[1]), across(stops[0]), up(stops[1])]
            )
            path = "".join(
                "M{} {}L{} {}".format(*map(short_number, row))
                for row in ends
                if np.isfinite(row).all()
            )
            return (
                f'<path fill="none" stroke="{colour}" stroke-width="{width:.3g}"{more} d="{path}"/>'
            )

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
        """Upright bars.

        Args:
            x: positions of their middles.
            heights: from the floor up.
            floors: where each begins.
            colour: of all bars.
            width: in units of x.
            label: entry of the legend.
        """
        middles, low = np.asarray(x, dtype=np.float64), np.asarray(floors, dtype=np.float64)
        high = low + np.asarray(heights, dtype=np.float64)
        for edge in (middles - width / 2, middles + width / 2):
            self._include(edge, low)
            self._include(edge, high)
        self.entries.append(LegendEntry(label, colour, "square"))

        def draw(across: Callable[..., FloatArray], up: Callable[..., FloatArray]) -> str:
            edges = zip(
                across(middles - width / 2),
                across(middles + width / 2),
                up(low),
                up(high),
                strict=True,
            )
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

        def draw(across: Callable[..., FloatArray], up: Callable[..., FloatArray]) -> str:
            at = short_number(float(across([x])[0]))
            low, high = (short_number(end) for end in up(list(self.y.ends())))
            return f'<path fill="none" {style} d="M{at} {low}V{high}"/>'

        self._marks.append(draw)

    def text(self, x: float, y: float, words: str, *, right_by: float = 0.0) -> None:
        """Muted words that begin so far to the right of a point, and are centred on its height."""

        def draw(across: Callable[..., FloatArray], up: Callable[..., FloatArray]) -> str:
            at, height = float(across([x])[0]) + right_by, float(up([y])[0])
            return words_at(words, at, height + 0.35 * FONT, self._muted)

        self._marks.append(draw)

    def legend(self, entries: Sequence[LegendEntry], *, bottom: bool = False) -> None:
        """A legend inside the axes, at the left.

        Args:
            entries: one for each row.
            bottom: at the bottom, not at the top.
        """

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
        """The SVG of title, axes, marks and legend.

        Args:
            box: the rectangle between the axes.
            labelled: write the tick labels of ``y``.
        """
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
        grid = "".join(
            f"M{short_number(box.left)} {short_number(at)}H{short_number(box.right)}"
            for at in ys
            if self.y.grid
        ) + "".join(
            f"M{short_number(at)} {short_number(box.top)}V{short_number(box.bottom)}"
            for at in xs
            if self.x.grid
        )
        lines = f"M{short_number(box.left)} {short_number(box.bottom)}H{short_number(box.right)}"
        lines += "".join(f"M{short_number(at)} {short_number(box.bottom)}v{TICK:g}" for at in xs)
        if self.y.line:
            lines += f"M{short_number(box.left)} {short_number(box.top)}V{short_number(box.bottom)}"
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
