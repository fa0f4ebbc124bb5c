"""Figures of a study, with means, single replicates, and 95 % t intervals of five or more.

A figure shows a measure over the varied keys or arm by arm, differences of pairs, or a correlation.
Measures that add up are in ``stacked_figures``, outcomes against measures in ``scatter_figures``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.spelling import cut_text
from virsci_society.metrics.inference.correlations import RANK_TREND, Correlation
from virsci_society.metrics.inference.intervals import MIN_REPLICATES, Interval, t_interval
from virsci_society.metrics.inference.two_lines import TwoLines
from virsci_society.metrics.measures import measure_extent
from virsci_society.metrics.report.drawing.axes import Axes
from virsci_society.metrics.report.drawing.elements import LegendEntry
from virsci_society.metrics.report.drawing.svg import BLUE, GREEN, INK, MUTED, ORANGE, PINK, Plot
from virsci_society.scenarios.study.design import short_names
from virsci_society.scenarios.study.results.answer import percentage, words
from virsci_society.scenarios.study.results.comparisons import (
    ComparisonResult,
    key_and_measure,
    pairs,
)
from virsci_society.scenarios.study.results.study import ScatterFigure, StackedFigure, Study

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
    """Means joined by a line, their intervals, and the replicates beside them."""
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
    """Draw a row for each, the first on top: values, an estimate, and from five on its interval."""
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
    axes.title += f": {shape.note}" if study.shows_p else ""
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


REVIEW_EXTENT = (1.0, 10.0)
WIDE = 10.0
"""From this ratio of its largest to its least value on, an axis is logarithmic."""
ABOUT = (
    "Means over the replicates of each arm; budgets of one arm are joined by a line. Names are "
    "left out where there is no room, and the table has them all. This tests nothing."
)
LETTERS = 6.5
"""Height of the names of arms."""


def scatter_section(study: Study, figure: ScatterFigure) -> dict[str, Any]:
    """The figure and its points for the page: picture, table, columns, their texts and a note."""
    columns: list[tuple[Any, str]] = [("arm", "arm"), ("n", "n")]
    columns += [(name, name) for name in figure.against]
    for name in outcomes(study, figure):
        columns += [(name, name), ((f"{name} low", f"{name} high"), "95 %")]
    return {
        "picture": scatter_figure(study, figure),
        "table": scatter_points(study, figure),
        "columns": columns,
        "words": ("arm",),
        "about": ABOUT,
    }


def scatter_points(study: Study, figure: ScatterFigure) -> pd.DataFrame:
    """The points of a scatter figure in numbers."""
    rows = []
    for arm in study.description.arms:
        marked = all(arm.set.get(key) == value for key, value in figure.mark.items())
        row = {"arm": arm.name, "marked": bool(figure.mark) and marked}
        row["n"] = max(len(study.numbers(name, arm.name)) for name in figure.against)
        row |= {name: _mean(study, name, arm.name) for name in figure.against}
        for name in outcomes(study, figure):
            extent = REVIEW_EXTENT if name.startswith("review.") else measure_extent(name)
            band = t_interval(study.numbers(name, arm.name), extent=extent)
            row |= {name: band.value, f"{name} low": band.low, f"{name} high": band.high}
        rows.append(row)
    table = pd.DataFrame(rows)
    return table[table["n"] > 0].reset_index(drop=True)


def outcomes(study: Study, figure: ScatterFigure) -> list[str]:
    """The outcomes that have values; a score of reviews is one for each panel that gave it."""
    named = [label for name in figure.of for label in (study.panels(name) or [name])]
    return [one for one in named if any(len(study.numbers(one, arm)) for arm in study.arms)]


def scatter_figure(study: Study, figure: ScatterFigure) -> Markup | None:
    """Draw a scatter figure, a row of panels per outcome; None without values.

    Budgets of one arm are joined by a line.
    """
    table, named = scatter_points(study, figure), outcomes(study, figure)
    if not len(table) or not named:
        return None
    drawn = Plot(0.6 + 4.4 * len(figure.against), 0.6 + 3.2 * len(named))
    panels = drawn.panels(len(named), len(figure.against))
    for row, outcome in zip(panels, named, strict=True):
        for axes, measure in zip(row, figure.against, strict=True):
            x, y = (table[name].to_numpy(dtype=np.float64) for name in (measure, outcome))
            for places in _lines(study, table):
                axes.line(x[places], y[places], MUTED, width=1.0)
            if (table["n"] >= MIN_REPLICATES).all():
                ends = (table[f"{outcome} {end}"].to_numpy(np.float64) for end in ("low", "high"))
                low, high = ends
                axes.segments((x, low), (x, high), INK, width=0.8, opacity=0.35)
            marked = table["marked"].to_numpy(dtype=bool)
            axes.dots(x[~marked], y[~marked], BLUE, size=4.5)
            axes.symbols(x[marked], y[marked], "diamond", ORANGE, size=7)
            axes.names(x, y, [_short(study, arm) for arm in table["arm"]], size=LETTERS, gap=4.5)
            axes.x.log = bool((x > 0).all() and x.max() >= WIDE * x.min())
            axes.x.label, axes.title, axes.y.grid = measure, outcome, True
    if figure.mark:
        names = short_names(list(figure.mark))
        told = ", ".join(f"{names[key]} {value}" for key, value in figure.mark.items())
        drawn.legend([LegendEntry(told, ORANGE, "diamond"), LegendEntry("others", BLUE, "circle")])
    return drawn.svg(f"{figure.title}: {', '.join(named)} against {', '.join(figure.against)}")


def _mean(study: Study, measure: str, arm: str) -> float:
    values = study.numbers(measure, arm)
    return float(values.mean()) if len(values) else float("nan")


def _lines(study: Study, table: pd.DataFrame) -> list[list[int]]:
    """The rows of arms that are one arm at several budgets."""
    known = {one.name: one for one in study.description.arms}
    lines: dict[str, list[int]] = {}
    for place, name in enumerate(table["arm"]):
        lines.setdefault(known[name].of or name, []).append(place)
    return [places for places in lines.values() if len(places) > 1]


def _short(study: Study, arm: str) -> str:
    """The name of an arm, without its budget, which the axis shows."""
    return next(one.of for one in study.description.arms if one.name == arm) or arm


COLOURS = (MUTED, BLUE, GREEN, PINK, ORANGE)
"""From the foot of a column upwards."""
AS_BASE = "as the base"
ABOUT_STACKS = (
    "Measures that add up, part upon part: means over the replicates, and the interval of their "
    "sum. Each replicate is a dot."
)


def stack_heights(study: Study, stack: StackedFigure) -> pd.DataFrame:
    """The columns of a stacked figure in numbers.

    Arms that are alike in both keys are averaged within each replicate, so that a column shows
    the marginal mean of a grid; a replicate without some part is left out.
    """
    rows = []
    for key, beside, place, arms in _columns(study, stack):
        parts = _part_means(study, stack, arms)
        sums = parts.sum(axis=1).to_numpy(dtype=np.float64)
        total = t_interval(sums, extent=_sum_extent(stack))
        means = {str(label): float(mean) for label, mean in parts.mean().items()}
        head = {"over": key, "place": place, "beside": beside, "n": len(parts)}
        band = {"total": total.value, "low": total.low, "high": total.high}
        rows.append({**head, **means, **band})
    table = pd.DataFrame(rows)
    return table[table["n"] > 0].reset_index(drop=True) if len(table) else table


def stacked_section(study: Study, stack: StackedFigure) -> dict[str, Any]:
    """The figure and its columns for the page: picture, table, columns, their texts and a note."""
    columns = [
        *(("place", "value"), ("over", "of")),
        *([("beside", stack.beside.replace("_", " "))] if stack.beside else []),
        *(("n", "n"), *((label, label) for label in stack.parts), ("total", "sum")),
        (("low", "high"), "95 %"),
    ]
    return {
        "picture": stacked_figure(study, stack),
        "table": stack_heights(study, stack),
        "columns": columns,
        "words": ("over", "beside"),
        "about": ABOUT_STACKS,
    }


def _sum_extent(stack: StackedFigure) -> tuple[float, float]:
    """The least and the largest value of the sum of the parts."""
    extents = [measure_extent(measure) for measure in stack.parts.values()]
    return sum(low for low, _ in extents), sum(high for _, high in extents)


def stacked_figure(study: Study, stack: StackedFigure) -> Markup | None:
    """Draw a stacked figure, a row of panels per key; None without values."""
    table = stack_heights(study, stack)
    if not len(table):
        return None
    keys, sides = table["over"].unique(), table["beside"].unique()
    size = (0.6 + 3.3 * len(sides), 0.5 + 2.3 * len(keys))
    drawn = Plot(*size)
    panels = drawn.panels(len(keys), len(sides), share_y=True)
    for row, key in zip(panels, keys, strict=True):
        for axes, side in zip(row, sides, strict=True):
            rows = table[(table["over"] == key) & (table["beside"] == side)]
            _panel(axes, study, stack, stack_arms(study, stack, key, side), rows)
            axes.x.label = words(key)
            axes.title = f"{words(stack.beside)}: {side}" if stack.beside else ""
    first = panels[0][0]
    first.title = ", ".join(filter(None, (stack.title, first.title)))
    # The first entry is that of the foot: a legend reads as the columns do, from the top.
    drawn.legend(first.entries[::-1])
    return drawn.svg(f"{stack.title}: {', '.join(stack.parts)}, part upon part")


def stack_arms(study: Study, stack: StackedFigure, key: str, side: str) -> list[str]:
    """Names of the arms that set a key to a number, and the other key to a value."""
    return [
        arm
        for arm in study.arms
        if np.isfinite(study.key_value(arm, key)) and _beside_value(study, stack, arm) == side
    ]


def _columns(study: Study, stack: StackedFigure) -> Iterator[tuple[str, str, float, list[str]]]:
    sides = dict.fromkeys(_beside_value(study, stack, arm) for arm in study.arms)
    for key in stack.over:
        for side in sides:
            arms = stack_arms(study, stack, key, side)
            for place in sorted({study.key_value(arm, key) for arm in arms}):
                yield key, side, place, [arm for arm in arms if study.key_value(arm, key) == place]


def _part_means(study: Study, stack: StackedFigure, arms: list[str]) -> pd.DataFrame:
    """One row per replicate, one column per part; the mean over these arms."""
    told = [
        pd.DataFrame({label: study.values(one, arm) for label, one in stack.parts.items()})
        for arm in arms
    ]
    return pd.concat(told).dropna().groupby(level=0).mean()


def _beside_value(study: Study, stack: StackedFigure, arm: str) -> str:
    if stack.beside is None:
        return ""
    given = next(one.set for one in study.description.arms if one.name == arm)
    return str(given[stack.beside]) if stack.beside in given else AS_BASE


def _panel(
    axes: Axes, study: Study, stack: StackedFigure, arms: list[str], rows: pd.DataFrame
) -> None:
    """Columns side by side, the interval of each sum, and a dot for each run behind it."""
    floor, at = np.zeros(len(rows)), np.arange(len(rows))
    for label, colour in zip(stack.parts, COLOURS, strict=False):
        height = rows[label].to_numpy(dtype=np.float64)
        axes.bars(at, height, floor, colour, width=0.66, label=label)
        floor = floor + height
    many = rows["n"].to_numpy() >= MIN_REPLICATES
    low, high = (
        np.where(many, rows[end].to_numpy(dtype=np.float64), np.nan) for end in ("low", "high")
    )
    axes.segments((at, low), (at, high), INK)
    key = rows["over"].iloc[0] if len(rows) else ""
    for spot, place in enumerate(rows["place"]):
        here = [arm for arm in arms if study.key_value(arm, key) == place]
        totals = _part_means(study, stack, here).sum(axis=1)
        axes.dots(
            spot + 0.1 + 3 * jitter(totals.to_numpy(np.float64)),
            totals.to_numpy(np.float64),
            INK,
            size=2.4,
            opacity=0.45,
        )
    axes.x.ticks, axes.x.labels = at.tolist(), [f"{place:g}" for place in rows["place"]]
    axes.y.low = min(0.0, axes.y.low or 0.0, *low[np.isfinite(low)])
    axes.y.grid = True
