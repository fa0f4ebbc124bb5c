"""Figures of measures that add up, such as the parts of a paper's time, stacked arm by arm."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from virsci_society.metrics.inference.intervals import MIN_REPLICATES, t_interval
from virsci_society.metrics.report.drawing.axes import Axes
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
from virsci_society.scenarios.study.results.answer import words
from virsci_society.scenarios.study.results.figures import jitter
from virsci_society.scenarios.study.results.study import StackedFigure, Study

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
