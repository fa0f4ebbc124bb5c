"""Figures of the co-authorship network by community, at the end and over time."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.agents.spelling import cut_text
from virsci_society.metrics.report.drawing.axes import Axes
from virsci_society.metrics.report.drawing.elements import LegendEntry
from virsci_society.metrics.report.drawing.svg import COLOURS, INK, MUTED, PAST, WIDE, Plot
from virsci_society.metrics.report.network_layout import MAX_DRAWN, Communities, pair_numbers
from virsci_society.metrics.report.templates import count_of, format_number
from virsci_society.society.results.run import Run

SHAPES = ("circle", "square", "diamond", "triangle")
NAMED = 30
"""Scientists whose names are written, those with most papers and ties first."""
NAME_SHOWN = 24
ACROSS, ACROSS_SMALL = 280.0, 130.0
"""Length of the unit square in a figure of one and of four panels, in units of the SVG."""


def network_figure(run: Run, whole: Communities) -> Markup | None:
    """Draw the network at the end by community; None where nobody has a tie."""
    if not whole.names:
        return None
    drawn = Plot(WIDE, 4.6)
    axes = _bare(drawn.axes())
    if len(whole.names) > MAX_DRAWN:
        centres, radius, lines = whole.circles
        _draw_edges(axes, centres[lines], PAST, 1.2)
        _draw_symbols(axes, centres, np.arange(len(centres)), 2 * ACROSS * radius, ("circle",))
    else:
        axes.square, axes.x.low, axes.x.high = False, -0.05, 1.14
        papers = run.table("authorships")["scientist"].value_counts()
        written = papers.reindex(whole.names, fill_value=0).to_numpy(dtype=np.float64)
        base = float(np.clip(2400 / len(written), 8, 40)) ** 0.5
        size = base * (0.85 + 0.75 * np.sqrt(written / max(1.0, written.max())))
        _draw_edges(axes, whole.positions[whole.edges], PAST, 0.7)
        _draw_symbols(axes, whole.positions, whole.community, size)
        # The last key decides first: papers, then ties, then the name.
        order = np.lexsort((np.arange(len(written)), -whole.degree, -written))
        names = [cut_text(whole.names[place], NAME_SHOWN) for place in order[:NAMED]]
        x, y = whole.positions[order].T
        axes.names(x, y, names, size=7.5, gap=0.9 * base)
    sizes, shown = whole.sizes, min(len(COLOURS), len(whole.sizes))
    shapes = SHAPES if len(whole.names) <= MAX_DRAWN else ("circle",)
    entries = [
        LegendEntry(
            f"{format_number(sizes[number])} people: {whole.labels[number]}",
            COLOURS[number],
            shapes[number % len(shapes)],
        )
        for number in range(shown)
    ]
    if len(sizes) > shown:
        others = count_of(len(sizes) - shown, "smaller community", "smaller communities")
        rest = f"{format_number(sizes[shown:].sum())} people in {others}"
        entries.append(LegendEntry(rest, MUTED, "circle"))
    drawn.legend(entries)
    return drawn.svg("Co-authorship network at the end, by community")


def network_over_time(run: Run, whole: Communities) -> Markup | None:
    """Draw the network at four dates, everybody at the same place; None where nobody has a tie."""
    if not whole.names:
        return None
    drawn, ties = Plot(WIDE, 4.7), run.table("ties").dropna(subset=["date"])
    panels = [axes for row in drawn.panels(2, 2) for axes in row]
    ends = np.sort(pair_numbers(ties, whole.names), axis=1)
    known, dates = ends[:, 0] >= 0, ties["date"].to_numpy(dtype=np.float64)
    ends, dates = ends[known], dates[known]
    size = float(np.clip(1100 / len(whole.names), 2.5, 18)) ** 0.5
    for axes, date in zip(panels, np.linspace(0.0, run.days, len(panels)), strict=True):
        _bare(axes).title = f"day {date:.0f}"
        if len(whole.names) > MAX_DRAWN:
            centres, radius, lines = whole.circles
            tied = np.bincount(whole.community[np.unique(ends[dates <= date])], None, len(radius))
            radius = radius * np.sqrt(tied[: len(radius)] / whole.sizes[: len(radius)])
            _draw_edges(axes, centres[lines], PAST, 0.6)
            width = 2 * ACROSS_SMALL * radius
            _draw_symbols(axes, centres, np.arange(len(centres)), width, ("circle",))
            continue
        since = np.unique(ends[(dates >= 0) & (dates <= date)], axis=0)
        _draw_edges(axes, whole.positions[np.unique(ends[dates < 0], axis=0)], PAST, 0.6)
        _draw_edges(axes, whole.positions[since], INK, 0.9)
        everybody = np.full(len(whole.names), size)
        _draw_symbols(axes, whole.positions, whole.community, everybody)
    return drawn.svg("Co-authorship network at four dates, by community")


def _bare(axes: Axes) -> Axes:
    """Axes without a frame, for positions between 0 and 1."""
    axes.frame, axes.square = False, True
    axes.x.low = axes.y.low = -0.03
    axes.x.high = axes.y.high = 1.03
    return axes


def _draw_edges(axes: Axes, ends: FloatArray, colour: str, width: float) -> None:
    """Draw edges (m x 2 x 2), the fainter the more there are."""
    opacity = float(np.clip(350 / max(len(ends), 1), 0.22, 1.0))
    starts, stops = ((ends[:, end, 0], ends[:, end, 1]) for end in (0, 1))
    axes.segments(starts, stops, colour, width=width, opacity=opacity)


def _draw_symbols(
    axes: Axes,
    places: FloatArray,
    group: IntArray,
    size: FloatArray,
    shapes: tuple[str, ...] = SHAPES,
) -> None:
    """A symbol at each place in the colour of its group: the small groups first, in grey."""
    rest = group >= len(COLOURS)
    x, y = places.T
    axes.symbols(x[rest], y[rest], "circle", MUTED, size=(0.8 * size[rest]).tolist())
    # The largest last, so that its symbols lie on top.
    for number in range(len(COLOURS) - 1, -1, -1):
        rows = group == number
        shape = shapes[number % len(shapes)]
        axes.symbols(x[rows], y[rows], shape, COLOURS[number], size=size[rows].tolist())
