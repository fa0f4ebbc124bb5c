"""Scales, axes, legends and the marks between two scales, drawn from numbers as SVG."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np

from virsci_society.agents.arrays import Coordinates, FloatArray
from virsci_society.agents.spelling import plain_text

FONT, TITLE_FONT, LETTER = 8.5, 9.0, 0.54
"""Height of text and of titles, and the mean width of a letter as a share of the height."""
HAIR = 0.7
"""Width of axes and grid."""


def words_at(
    text: str, x: float, y: float, colour: str, anchor: str = "start", size: float = FONT
) -> str:
    """A line of text, escaped and without characters that are invalid in XML."""
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


OUTLINES: dict[str, tuple[tuple[float, float], ...]] = {
    "square": ((-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88)),
    "diamond": ((0.0, -1.22), (1.22, 0.0), (0.0, 1.22), (-1.22, 0.0)),
    "triangle": ((0.0, -1.15), (1.1, 0.85), (-1.1, 0.85)),
    "cross": (
        *((0.0, -0.32), (0.68, -1.0), (1.0, -0.68), (0.32, 0.0), (1.0, 0.68), (0.68, 1.0)),
        *((0.0, 0.32), (-0.68, 1.0), (-1.0, 0.68), (-0.32, 0.0), (-1.0, -0.68), (-0.68, -1.0)),
    ),
    "star": (
        *((0.0, -1.35), (0.33, -0.45), (1.28, -0.42), (0.53, 0.17), (0.79, 1.09)),
        *((0.0, 0.56), (-0.79, 1.09), (-0.53, 0.17), (-1.28, -0.42), (-0.33, -0.45)),
    ),
}
"""Corners of symbols by name, in halves of their width."""


def symbol_path(shape: str, x: float, y: float, size: float) -> str:
    """The outline of a symbol, to be filled."""
    r = size / 2
    if shape == "circle":
        arcs = f"a{r:.3g} {r:.3g} 0 1 0 {2 * r:.3g} 0a{r:.3g} {r:.3g} 0 1 0 {-2 * r:.3g} 0z"
        return f"M{short_number(x - r)} {short_number(y)}{arcs}"
    corners = OUTLINES[shape]
    steps = [
        f"l{r * (there[0] - here[0]):.3g} {r * (there[1] - here[1]):.3g}"
        for here, there in itertools.pairwise(corners)
    ]
    start = f"M{short_number(x + r * corners[0][0])} {short_number(y + r * corners[0][1])}"
    return f"{start}{''.join(steps)}z"


def place_labels(
    points: Sequence[tuple[float, float]],
    widths: Sequence[float],
    height: float,
    gap: float,
    within: tuple[float, float, float, float],
) -> list[tuple[float, float] | None]:
    """Positions of labels, in order of priority: right, left, above or below their point."""
    taken = np.array([(x - gap, y - gap, x + gap, y + gap) for x, y in points])
    placed: list[tuple[float, float] | None] = []
    for number, ((x, y), width) in enumerate(zip(points, widths, strict=False)):
        # All points but its own.
        left, top, right, bottom = np.delete(taken, number, axis=0).T
        placed.append(None)
        for start, low in (
            (x + gap, y + height / 2),
            (x - gap - width, y + height / 2),
            (x - width / 2, y - gap),
            (x - width / 2, y + gap + height),
        ):
            end, high = start + width, low - height
            inside_x = within[0] <= start and end <= within[2]
            inside_y = within[1] <= high and low <= within[3]
            hits = (start < right) & (left < end) & (high < bottom) & (top < low)
            if inside_x and inside_y and not hits.any():
                placed[-1] = (start, low)
                taken = np.vstack([taken, (start, high, end, low)])
                break
    return placed


ROW = 1.35 * FONT
"""Height of a row of a legend."""


class LegendEntry(NamedTuple):
    """One row of a legend; colour and shape both identify it."""

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
    """Width of a legend in this number of columns, in points."""
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


STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
WHOLE_STEPS = (1.0, 2.0, 5.0, 10.0)
_TOLERANCE = 1e-9


class Scale:
    """One direction of axes; the range follows the data unless an end is given."""

    def __init__(self) -> None:
        """A linear scale without data."""
        self.low: float | None = None
        self.high: float | None = None
        self.margin = 0.05
        self.bounds = (-math.inf, math.inf)
        self.headroom = 0.0
        self.ticks: Sequence[float] | None = None
        self.labels: Sequence[str] | None = None
        self.whole = False
        self.most: int | None = None
        self.log = False
        self.label = ""
        self.grid = False
        self.line = True
        self._least, self._largest = math.inf, -math.inf

    def include(self, values: FloatArray) -> None:
        """Extend the range to these values; non-finite values are ignored."""
        held = values[np.isfinite(values)]
        if len(held):
            self._least = min(self._least, float(held.min()))
            self._largest = max(self._largest, float(held.max()))

    def ends(self) -> tuple[float, float]:
        """Both ends of the range, never the same number."""
        least, largest = self._least, self._largest
        if least > largest:
            least, largest = (1.0, 10.0) if self.log else (0.0, 1.0)
        if self.log:
            pad = max((largest / least) ** self.margin, 1.1)
            low = least / pad if self.low is None else self.low
            high = largest * pad if self.high is None else self.high
            return low, high * (high / low) ** self.headroom
        start = least if self.low is None else self.low
        stop = largest if self.high is None else self.high
        if start == stop:
            wider = max(1.0, abs(stop) * 0.1)
            stop = max(stop, min(stop + wider, self.bounds[1])) if self.high is None else stop
            start = min(start, max(start - wider, self.bounds[0])) if self.low is None else start
        pad = self.margin * (stop - start)
        low = max(start - pad, min(self.bounds[0], start)) if self.low is None else start
        high = min(stop + pad, max(self.bounds[1], stop)) if self.high is None else stop
        return low, high + self.headroom * (high - low)

    def places(self, values: Iterable[float] | FloatArray, start: float, stop: float) -> FloatArray:
        """Positions of values."""
        low, high = self.ends()
        data = np.asarray(values, dtype=np.float64)
        if self.log:
            data, low, high = np.log(data), math.log(low), math.log(high)
        return np.asarray(start + (data - low) / (high - low) * (stop - start), dtype=np.float64)

    def marks(self, length: float, room: float) -> list[tuple[float, str]]:
        """The ticks: values and texts."""
        low, high = sorted(self.ends())
        if self.ticks is not None:
            texts = self.labels if self.labels is not None else [f"{one:g}" for one in self.ticks]
            return [
                (float(value), text.replace("-", "\N{MINUS SIGN}") if self.labels is None else text)
                for value, text in zip(self.ticks, texts, strict=True)
            ]
        if self.log:
            return [(value, f"{value:g}") for value in _log_ticks(low, high)]
        most = max(1, min(9, int(length / room)) if self.most is None else self.most)
        # The smallest round step with at most this many ticks in the range.
        least = max((high - low) / most, 1.0 if self.whole else 0.0)
        power = 10.0 ** math.floor(math.log10(least))
        steps = (one * power for one in (WHOLE_STEPS if self.whole else STEPS))
        step = next(one for one in steps if one >= least * (1 - _TOLERANCE))
        # Room for a legend may exceed the measure's bounds: no tick is drawn there.
        high = min(high, max(self.bounds[1], self._largest))
        # A tick at an end of the range may miss it by rounding.
        first, last = math.ceil(low / step - _TOLERANCE), math.floor(high / step + _TOLERANCE)
        return [(number * step, _text(number * step, step)) for number in range(first, last + 1)]


def _text(value: float, step: float) -> str:
    """A tick's number with the decimals that its distance to the next one needs."""
    if abs(value) >= 1e7 or step < 1e-6:
        return f"{value:g}".replace("-", "\N{MINUS SIGN}")
    decimals = next(n for n in range(9) if abs(round(step, n) - step) < step * 1e-6)
    return f"{value + 0.0:.{decimals}f}".replace("-", "\N{MINUS SIGN}")


def _log_ticks(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    within = [10.0**power for power in powers if low <= 10.0**power <= high]
    if len(within) > 2:
        return within
    fine = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    return [value for value in fine if low <= value <= high]


TICK, GAP = 3.0, 3.5
"""Length of a tick, and distance of texts from what they name."""
X_ROOM, Y_ROOM = 32.0, 17.0
"""Least distance of two ticks across and upwards."""

HALO = 'stroke="var(--page)" stroke-width="2.4" stroke-linejoin="round" paint-order="stroke"'
"""Of names, so that no line runs through their letters."""

Place = Callable[[Coordinates], FloatArray]
"""Positions of values on one scale, in units of the SVG."""
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
        """A line through points in their order; with ``steps`` each value lasts until the next."""
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
    ) -> None:
        """A circle at each point, in one colour or one colour each."""
        self._include(x, y)
        style = f' fill-opacity="{opacity:g}"' if opacity < 1 else ""
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
        """A symbol at each point, so that kinds differ by more than colour."""
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
        """Labels next to points where there is room, in order of priority."""
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
        """Muted text to the right of a point, centred vertically."""

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

    def draw(self, box: PlotArea) -> str:
        """The SVG of title, axes, marks and legend; ``box`` is the rectangle between the axes."""
        box = self._squared(box) if self.square else box

        def across(values: Coordinates) -> FloatArray:
            return self.x.places(values, box.left, box.right)

        def up(values: Coordinates) -> FloatArray:
            return self.y.places(values, box.bottom, box.top)

        parts = [self._frame(box)] if self.frame else []
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

    def _frame(self, box: PlotArea) -> str:
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
