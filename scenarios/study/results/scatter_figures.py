"""Figures of outcomes against measures of the same runs, such as quality against tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from virsci_society.metrics.inference.intervals import MIN_REPLICATES, t_interval
from virsci_society.metrics.report.drawing.elements import LegendEntry
from virsci_society.metrics.report.drawing.svg import (
    BLUE,
    INK,
    MUTED,
    ORANGE,
    Plot,
)
from virsci_society.metrics.scalars.measures import measure_extent
from virsci_society.scenarios.study.design import short_names
from virsci_society.scenarios.study.results.study import ScatterFigure, Study

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
