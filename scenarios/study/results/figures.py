"""Figures of a study, with means, single replicates, and 95 % t intervals of five or more.

A figure shows a measure over the varied keys or arm by arm, differences of pairs, or a correlation.
Measures that add up are in ``stacked_figures``, outcomes against measures in ``scatter_figures``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.spelling import cut_text
from virsci_society.metrics.inference.correlations import RANK_TREND, Correlation
from virsci_society.metrics.inference.intervals import MIN_REPLICATES, Interval, t_interval
from virsci_society.metrics.inference.two_lines import TwoLines
from virsci_society.metrics.report.drawing.axes import Axes
from virsci_society.metrics.report.drawing.elements import LegendEntry
from virsci_society.metrics.report.drawing.svg import (
    BLUE,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    PINK,
    Plot,
)
from virsci_society.metrics.scalars.measures import measure_extent
from virsci_society.scenarios.study.results.answer import percentage, words
from virsci_society.scenarios.study.results.comparisons import (
    ComparisonResult,
    key_and_measure,
    pairs,
)
from virsci_society.scenarios.study.results.study import Study

SERIES = (BLUE, ORANGE, GREEN, PINK)
"""Colours of the lines of a figure; with more settings, the arms are drawn one below another."""
ARMS_SHOWN = 40
MAX_NAME_LENGTH, MAX_TITLE_LENGTH = 34, 60
"""Letters of an arm's name, and of a title, that are drawn."""


def measure_figures(study: Study, measure: str) -> list[Markup]:
    """Figures of a measure against the varied key, or arm by arm; none without values."""
    if not any(len(study.values(measure, arm)) for arm in study.arms):
        return []
    if is_drawn_by_arm(study):
        return [_figure_by_arm(study, measure)]
    if study.sampled:
        return [_figure_of_points(study, measure, key) for key in study.numeric_keys()]
    key = x_axis_key(study)
    return [_figure_against_key(study, measure, key, arms_by_series(study, key))]


def shown_values(study: Study, measure: str, arm: str) -> FloatArray:
    """The values of a measure in an arm as the page shows them: shares in per cent."""
    return study.numbers(measure, arm) * percentage(study, measure)


def shown_extent(study: Study, measure: str) -> tuple[float, float]:
    """The least and the largest value of a measure as the page shows it."""
    low, high = measure_extent(measure)
    return low * percentage(study, measure), high * percentage(study, measure)


def _shown_label(study: Study, measure: str, most: int) -> str:
    unit = ", %" if percentage(study, measure) > 1 else ""
    return cut_text(study.label(measure), most - len(unit)) + unit


def is_drawn_by_arm(study: Study) -> bool:
    """Whether a figure is drawn arm by arm, because no key is a number in all of them."""
    if not study.numeric_keys():
        return True
    return not study.sampled and len(arms_by_series(study, x_axis_key(study))) > len(SERIES)


def x_axis_key(study: Study) -> str:
    """The key against which a figure is drawn: the one that leaves the fewest lines."""
    return min(study.numeric_keys(), key=lambda key: len(arms_by_series(study, key)))


def arms_by_series(study: Study, key: str) -> dict[str, list[str]]:
    """The arms by what else they set, each list in the order of the key."""
    groups: dict[str, list[str]] = {}
    for arm in study.description.arms:
        others = [
            f"{name.rsplit('.', 1)[-1]} {value}" for name, value in arm.set.items() if name != key
        ]
        groups.setdefault(", ".join(others), []).append(arm.name)
    return {
        name: sorted(arms, key=lambda arm: study.key_value(arm, key))
        for name, arms in groups.items()
    }


def _figure_against_key(
    study: Study, measure: str, key: str, groups: dict[str, list[str]]
) -> Markup:
    drawn = Plot(4.6, 2.9)
    axes = drawn.axes()
    places = sorted({study.key_value(arm, key) for arm in study.arms})
    gap = min(np.diff(places), default=1.0)
    for number, arms in enumerate(groups.values()):
        shift = 0.16 * gap * (number - (len(groups) - 1) / 2)
        _draw_series(axes, study, measure, key, arms, SERIES[number], shift, gap)
    _against_key(axes, study, measure, key)
    if all(float(place).is_integer() for place in places) and len(places) <= 12:
        axes.x.ticks = places
    if len(groups) > 1:
        _series_legend(axes, list(groups))
    return drawn.svg(f"{measure} against {key}: means with 95 % intervals, and replicates")


def _against_key(axes: Axes, study: Study, measure: str, key: str) -> None:
    """Name the axes of a measure against a key."""
    axes.y.bounds, axes.y.grid, axes.x.label = shown_extent(study, measure), True, words(key)
    axes.title = _shown_label(study, measure, MAX_TITLE_LENGTH - 16)


JITTER = 0.06
"""Widest distance of a replicate from the middle of its column, as a share of that of two arms."""


def jitter(values: FloatArray) -> FloatArray:
    """Small steps aside that keep equal values apart, from their order alone."""
    order = np.arange(len(values), dtype=np.float64)
    # Multiples of the golden ratio: neighbours lie far apart, and the same page is drawn each time.
    return np.asarray((order * 0.618033988749895) % 1.0 * JITTER, dtype=np.float64)


def _draw_series(
    axes: Axes,
    study: Study,
    measure: str,
    key: str,
    arms: list[str],
    colour: str,
    shift: float,
    gap: float,
) -> None:
    """Means joined by a line, their intervals, and the replicates beside them.

    Below five replicates no interval is drawn: Student's is then wider than the data, or luck.
    """
    middles = []
    for arm in arms:
        values = shown_values(study, measure, arm)
        if not len(values):
            continue
        at = study.key_value(arm, key) + shift
        band = t_interval(values, extent=shown_extent(study, measure))
        axes.dots(at + gap * (0.06 + jitter(values)), values, colour, size=3.0, opacity=0.4)
        if len(values) >= MIN_REPLICATES:
            axes.segments(([at], [band.low]), ([at], [band.high]), colour, width=1.8)
        middles.append((at, band.value))
    xs, ys = zip(*middles, strict=True) if middles else ((), ())
    axes.line(xs, ys, colour, width=1.1)
    axes.dots(xs, ys, colour)


Row = tuple[str, FloatArray, Interval]
"""One row of a figure: its name, single values, and what is estimated of them."""


def _figure_by_arm(study: Study, measure: str) -> Markup:
    extent = shown_extent(study, measure)
    samples = [(arm, shown_values(study, measure, arm)) for arm in study.arms]
    rows = [(arm, values, t_interval(values, extent=extent)) for arm, values in samples]
    drawn, axes = _figure_of_rows(rows)
    axes.title, axes.x.bounds = _shown_label(study, measure, MAX_TITLE_LENGTH), extent
    return drawn.svg(f"{measure} in each arm: means with 95 % intervals, and replicates")


def difference_figure(study: Study, measure: str, found: Sequence[dict[str, Any]]) -> Markup | None:
    """Draw the differences of a measure between arms, with a line at zero; None without a value.

    A row for each, as the page has it, with a dot for every pair of one seed, their mean and its
    95 % interval.
    """
    if not any(np.isfinite(one["difference"]) for one in found):
        return None
    alone, scale = len({one["first"] for one in found}) == 1, percentage(study, measure)
    rows = []
    for one in found:
        band = Interval(one["difference"], one["low"], one["high"], one["n"])
        gaps = np.subtract(*pairs(study, measure, one["arms"])) * -scale
        name = one["name"] if alone else f"{one['name']} against {one['first']}"
        rows.append((name, gaps if study.description.paired else np.zeros(0), band))
    drawn, axes = _figure_of_rows(rows)
    axes.vertical(0.0)
    axes.title = f"difference from {found[0]['first']}" if alone else "difference"
    axes.title += ", percentage points" if scale > 1 else ""
    return drawn.svg(f"Differences of {measure} between arms: pairs, means, 95 % intervals, zero")


def correlation_figures(study: Study, results: Sequence[ComparisonResult]) -> dict[str, Markup]:
    """Draw the planned correlations of each measure with their intervals and a line at zero."""
    rows: dict[str, list[Row]] = {}
    for one in results:
        if isinstance(found := one.result, Correlation) and np.isfinite(found.r):
            what = study.label(one.of[0]) if one.test != RANK_TREND else words(one.of[0])
            name = ", ".join(filter(None, (what, one.among)))
            band = Interval(found.r, found.low, found.high, found.n)
            name += "" if one.test == RANK_TREND else f", {one.test}"
            rows.setdefault(one.measure, []).append((name, np.zeros(0), band))
    figures = {}
    for measure, mine in rows.items():
        drawn, axes = _figure_of_rows(mine)
        axes.vertical(0.0)
        axes.title = cut_text(f"correlations of the {study.label(measure)}", MAX_TITLE_LENGTH - 16)
        axes.x.bounds = (-1.0, 1.0)
        figures[measure] = drawn.svg(f"Correlations of {measure}: 95 % intervals, and zero")
    return figures


def _figure_of_rows(rows: Sequence[Row]) -> tuple[Plot, Axes]:
    """A figure with one row for each, the first on top: dots of values, an estimate, its interval.

    Below five replicates no interval is drawn: Student's is then wider than the data, or luck.
    """
    rows = rows[:ARMS_SHOWN]
    drawn = Plot(4.9, 0.75 + 0.26 * len(rows))
    axes = drawn.axes()
    for row, (_, values, band) in enumerate(rows):
        axes.dots(values, row + 0.2 + 3 * jitter(values), BLUE, size=3.5, opacity=0.4)
        if band.n >= MIN_REPLICATES:
            axes.segments(([band.low], [row]), ([band.high], [row]), INK, width=1.6)
        axes.dots([band.value], [row], INK, size=4.5)
    axes.y.ticks, axes.x.grid = range(len(rows)), True
    axes.y.labels = [cut_text(name, MAX_NAME_LENGTH) for name, *_ in rows]
    axes.y.low, axes.y.high = len(rows) - 0.5, -0.5
    return drawn, axes


def _figure_of_points(study: Study, measure: str, key: str) -> Markup:
    """The mean of each point of a sampled design against one key."""
    x, y = key_and_measure(study, measure, key, study.arms)
    drawn = Plot(4.2, 2.6)
    axes = drawn.axes()
    axes.dots(x, y * percentage(study, measure), BLUE, size=4.2, opacity=0.6)
    _against_key(axes, study, measure, key)
    return drawn.svg(f"{measure} against {key}: the mean of each point")


def two_lines_figure(study: Study, one: ComparisonResult, arms: Sequence[str]) -> Markup | None:
    """Draw the two lines of a test over the replicates; None where it could not be estimated."""
    shape = one.result
    if not isinstance(shape, TwoLines) or not np.isfinite(shape.p):
        return None
    key = one.of[0]
    x, y = key_and_measure(study, one.measure, key, list(arms))
    scale = percentage(study, one.measure)
    y *= scale
    drawn = Plot(4.6, 2.9)
    axes = drawn.axes()
    axes.dots(x, y, MUTED, size=3.5, opacity=0.45)
    sides = (
        (shape.first, x <= shape.break_point, BLUE),
        (shape.second, x >= shape.break_point, ORANGE),
    )
    for line, side, colour in sides:
        _draw_fitted_line(axes, line.slope * scale, x[side], y[side], colour)
    axes.vertical(shape.break_point)
    _against_key(axes, study, one.measure, key)
    axes.title += f": {shape.note}"
    if len(np.unique(x)) <= 12 and (x == np.round(x)).all():
        axes.x.whole, axes.x.most = True, 8
    return drawn.svg(f"Two lines of {one.measure} over {key}, break at {shape.break_point:g}")


def _draw_fitted_line(axes: Axes, slope: float, x: FloatArray, y: FloatArray, colour: str) -> None:
    """A line through the middle of its own observations."""
    if not len(x) or not np.isfinite(slope):
        return
    ends = np.array([x.min(), x.max()])
    axes.line(ends, y.mean() + slope * (ends - x.mean()), colour, width=2.2)


def _series_legend(axes: Axes, names: list[str]) -> None:
    """A legend of coloured lines above the data."""
    axes.y.headroom = 0.13 * len(names)
    axes.legend(
        [
            LegendEntry(cut_text(name, MAX_NAME_LENGTH) or "nothing else set", colour)
            for name, colour in zip(names, SERIES, strict=False)
        ]
    )
