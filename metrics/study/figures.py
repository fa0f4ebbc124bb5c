"""Figures of a study, with means, 95 % t intervals and single replicates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from agents.arrays import FloatArray
from metrics.inference.intervals import t_interval
from metrics.inference.two_lines import FittedLine, TwoLines
from metrics.report.svg import (
    BLUE,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    PINK,
    figure,
    inline_svg,
    integer_ticks,
)
from metrics.scalars.measures import measure_extent
from metrics.study.comparisons import ComparisonResult, key_and_measure
from metrics.study.study import StackedFigure, Study

SERIES = (BLUE, ORANGE, GREEN, PINK)
"""Colours of the lines of a figure; with more settings, the arms are drawn one below another."""
ARMS_SHOWN = 40
MAX_NAME_LENGTH = 34
"""Letters of an arm's name that are drawn."""


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
    with figure(f"{measure} against {key}", 4.6, 2.9) as drawn:
        axes = drawn.subplots()
        places = sorted({study.key_value(arm, key) for arm in study.arms})
        gap = min(np.diff(places), default=1.0)
        for number, arms in enumerate(groups.values()):
            shift = 0.12 * gap * (number - (len(groups) - 1) / 2)
            _draw_series(axes, study, measure, key, arms, SERIES[number], shift)
        axes.set_xlabel(_key_label(key))
        if all(float(place).is_integer() for place in places) and len(places) <= 12:
            axes.set_xticks(places)
        axes.set_title(_truncated(measure))
        axes.grid(axis="y")
        if len(groups) > 1:
            _series_legend(axes, list(groups))
        return inline_svg(
            drawn, f"{measure} against {key}: means with 95 % intervals, and replicates"
        )


def _draw_series(
    axes: Any, study: Study, measure: str, key: str, arms: list[str], colour: str, shift: float
) -> None:
    """Means joined by a line, their intervals, and the replicates beside them."""
    middles = []
    for arm in arms:
        values = study.numbers(measure, arm)
        if not len(values):
            continue
        at = study.key_value(arm, key) + shift
        band = t_interval(values, extent=measure_extent(measure))
        axes.scatter([at] * len(values), values, s=9, color=colour, alpha=0.3, linewidths=0)
        if np.isfinite(band.low):
            axes.vlines(at, band.low, band.high, color=colour, linewidth=1.8)
        middles.append((at, band.value))
    xs, ys = zip(*middles, strict=True) if middles else ((), ())
    axes.plot(xs, ys, "o-", color=colour, markersize=5, linewidth=1.1)


def _figure_by_arm(study: Study, measure: str) -> Markup:
    """One row per arm, the first on top."""
    arms = study.arms[:ARMS_SHOWN]
    with figure(f"{measure} by arm", 7.0, 0.75 + 0.3 * len(arms)) as drawn:
        axes = drawn.subplots()
        for row, arm in enumerate(arms):
            values = study.numbers(measure, arm)
            if not len(values):
                continue
            band = t_interval(values, extent=measure_extent(measure))
            axes.scatter(
                values, [row + 0.24] * len(values), s=12, color=BLUE, alpha=0.3, linewidths=0
            )
            if np.isfinite(band.low):
                axes.hlines(row, band.low, band.high, color=INK, linewidth=1.6)
            axes.plot([band.value], [row], "o", color=INK, markersize=4.5)
        axes.set_yticks(range(len(arms)), [_truncated(arm) for arm in arms])
        axes.set_ylim(len(arms) - 0.5, -0.5)
        axes.set_title(_truncated(measure))
        axes.grid(axis="x")
        return inline_svg(
            drawn, f"{measure} in each arm: means with 95 % intervals, and replicates"
        )


def _figure_of_points(study: Study, measure: str, key: str) -> Markup:
    """The mean of each point of a sampled design against one key."""
    x, y = key_and_measure(study, measure, key, study.arms)
    with figure(f"{measure} against {key} sampled", 4.2, 2.6) as drawn:
        axes = drawn.subplots()
        axes.scatter(x, y, s=18, color=BLUE, alpha=0.6, linewidths=0)
        axes.set_xlabel(_key_label(key))
        axes.set_title(_truncated(measure))
        axes.grid(axis="y")
        return inline_svg(drawn, f"{measure} against {key}: the mean of each point")


def two_lines_figure(study: Study, one: ComparisonResult, arms: Sequence[str]) -> Markup | None:
    """Draw the two lines of a test over the replicates; None where the test could not be estimated.

    Args:
        study: the study.
        one: result of a two-lines test.
        arms: names of the arms that the test was planned for.
    """
    shape = one.result
    if not isinstance(shape, TwoLines) or not np.isfinite(shape.p):
        return None
    key = one.of[0]
    x, y = key_and_measure(study, one.measure, key, list(arms))
    with figure(f"{one.measure} two lines {key} {len(arms)}", 4.6, 2.9) as drawn:
        axes = drawn.subplots()
        axes.scatter(x, y, s=12, color=MUTED, alpha=0.45, linewidths=0)
        sides = (
            (shape.first, x <= shape.break_point, BLUE),
            (shape.second, x >= shape.break_point, ORANGE),
        )
        for line, side, colour in sides:
            _draw_fitted_line(axes, line, x[side], y[side], colour)
        axes.axvline(shape.break_point, color=MUTED, linewidth=0.8, dashes=(3, 3))
        axes.set_xlabel(_key_label(key))
        axes.set_title(f"{_truncated(one.measure)}: {shape.note}")
        axes.grid(axis="y")
        if len(np.unique(x)) <= 12 and (x == np.round(x)).all():
            integer_ticks(axes.xaxis, 8)
        return inline_svg(
            drawn, f"Two lines of {one.measure} over {key}, break at {shape.break_point:g}"
        )


def _draw_fitted_line(
    axes: Any, line: FittedLine, x: FloatArray, y: FloatArray, colour: str
) -> None:
    """A line through the middle of its own observations."""
    if not len(x) or not np.isfinite(line.slope):
        return
    ends = np.array([x.min(), x.max()])
    axes.plot(ends, y.mean() + line.slope * (ends - x.mean()), color=colour, linewidth=2.2)


def _series_legend(axes: Any, names: list[str]) -> None:
    """A legend of coloured lines above the data."""
    from matplotlib.lines import Line2D

    entries = [
        Line2D([], [], color=colour, linewidth=2.5, label=_truncated(name) or "nothing else set")
        for name, colour in zip(names, SERIES, strict=False)
    ]
    low, high = axes.get_ylim()
    axes.set_ylim(top=high + (high - low) * 0.13 * len(names))
    axes.legend(handles=entries, loc="upper left", handlelength=1.0, borderaxespad=0.1)


def _key_label(key: str) -> str:
    return key.rsplit(".", 1)[-1].replace("_", " ")


def _truncated(text: str) -> str:
    return text if len(text) <= MAX_NAME_LENGTH else f"{text[: MAX_NAME_LENGTH - 1]}…"


COLOURS = (MUTED, BLUE, GREEN, PINK, ORANGE)
"""From the foot of a column upwards."""
AS_BASE = "as the base"


def stack_heights(study: Study, stack: StackedFigure) -> pd.DataFrame:
    """The columns of a stacked figure in numbers.

    Arms that are alike in both keys are averaged within each replicate, so that a column shows
    the marginal mean of a grid; a replicate without some part is left out.

    Returns:
        One row per column: ``over`` (the key), ``place`` (its value), ``beside`` (value of the
        other key; empty without one), ``n`` (replicates), the mean of every part by its label,
        and ``total``, their sum, with its 95 % t interval ``low`` and ``high``.
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
    with figure(f"stack {stack.title}", *size) as drawn:
        panels = drawn.subplots(len(keys), len(sides), sharey=True, squeeze=False)
        for row, key in zip(panels, keys, strict=True):
            for axes, side in zip(row, sides, strict=True):
                rows = table[(table["over"] == key) & (table["beside"] == side)]
                _panel(axes, study, stack, stack_arms(study, stack, key, side), rows)
                axes.set_xlabel(_key_label(key))
                axes.set_title(f"{_key_label(stack.beside)}: {side}" if stack.beside else "")
        first = panels[0][0]
        first.set_title(", ".join(filter(None, (stack.title, first.get_title("left")))))
        handles, labels = first.get_legend_handles_labels()
        # The first label is that of the foot: a legend reads as the columns do, from the top.
        drawn.legend(
            handles[::-1], labels[::-1], loc="outside upper left", ncols=3, handlelength=1.0
        )
        return inline_svg(drawn, f"{stack.title}: {', '.join(stack.parts)}, part upon part")


def stack_arms(study: Study, stack: StackedFigure, key: str, side: str) -> list[str]:
    """Names of the arms that set a key to a number, and the other key to a value.

    Args:
        study: the study.
        stack: the stacked figure.
        key: the key on the x-axis.
        side: value of the key ``beside``; empty without one.
    """
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
    axes: Any, study: Study, stack: StackedFigure, arms: list[str], rows: pd.DataFrame
) -> None:
    """Columns side by side, the interval of each sum, and a dot for each run behind it."""
    floor, at = np.zeros(len(rows)), np.arange(len(rows))
    for label, colour in zip(stack.parts, COLOURS, strict=False):
        height = rows[label].to_numpy(dtype=np.float64)
        axes.bar(at, height, bottom=floor, width=0.66, color=colour, label=label)
        floor += height
    low, high = (rows[end].to_numpy(dtype=np.float64) for end in ("low", "high"))
    axes.vlines(at, low, high, color=INK, linewidth=1.4)
    key = rows["over"].iloc[0] if len(rows) else ""
    for spot, place in enumerate(rows["place"]):
        here = [arm for arm in arms if study.key_value(arm, key) == place]
        totals = _part_means(study, stack, here).sum(axis=1)
        axes.scatter([spot + 0.22] * len(totals), totals, s=6, color=INK, alpha=0.45, linewidths=0)
    axes.set_xticks(at, [f"{place:g}" for place in rows["place"]])
    axes.grid(axis="y")
