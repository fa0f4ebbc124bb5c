"""Figures of a study, with means, single replicates, and 95 % t intervals of five or more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.spelling import cut_text
from virsci_society.metrics.inference.intervals import MIN_REPLICATES, Interval, t_interval
from virsci_society.metrics.registry import MEASURES, measure_extent
from virsci_society.metrics.report.drawing.axes import Axes, LegendEntry
from virsci_society.metrics.report.drawing.svg import BLUE, GREEN, INK, MUTED, ORANGE, PINK, Plot
from virsci_society.scenarios.study.design import short_names
from virsci_society.scenarios.study.study import Study, key_and_measure, pairs
from virsci_society.scenarios.study.study_file import Figure

SERIES = (BLUE, ORANGE, GREEN, PINK)
"""Colours of the lines of a figure; with more settings, the arms are drawn one below another."""
ARMS_SHOWN = 40
MAX_NAME_LENGTH, MAX_TITLE_LENGTH = 34, 60
"""Letters of an arm's name, and of a title, that are drawn."""
JITTER = 0.06
"""Largest jitter of a replicate, as a share of the distance between two arms."""
SCORES = (1.0, 10.0)
"""The least and the largest score that a review can give."""
Row = tuple[str, FloatArray, Interval]
"""One row of a figure: its name, single values, and their estimate."""


def words(key: str) -> str:
    """The last part of a dotted key in words."""
    return key.rsplit(".", 1)[-1].replace("_", " ")


def percentage(measure: str) -> float:
    """100 where differences of a measure are label in percentage points, else 1."""
    return 100.0 if measure in MEASURES and MEASURES[measure].unit == "share" else 1.0


def measure_figures(study: Study, measure: str) -> list[Markup]:
    """Figures of a measure against the varied key, or arm by arm; none without values."""
    scale, (low, high) = percentage(measure), measure_extent(measure)
    shown = {arm: study.numbers(measure, arm) * scale for arm in study.arms}
    if not any(len(values) for values in shown.values()):
        return []
    extent, figures = (low * scale, high * scale), []
    key, series = series_of(study)
    if not study.sampled and (key is None or len(series) > len(SERIES)):
        rows = [(arm, values, t_interval(values, extent=extent)) for arm, values in shown.items()]
        drawn, axes = _figure_of_rows(rows)
        axes.title, axes.x.bounds = _title(study, measure, MAX_TITLE_LENGTH), extent
        return [drawn.svg(f"{measure} in each arm: means with 95 % intervals, and replicates")]
    for one in study.numeric_keys() if study.sampled else [key or ""]:
        drawn = Plot(4.2, 2.6) if study.sampled else Plot(4.6, 2.9)
        axes = drawn.axes()
        if study.sampled:
            x, y = key_and_measure(study, measure, one, study.arms)
            axes.dots(x, y * scale, BLUE, size=4.2, opacity=0.6)
            about = "the mean of each point"
        else:
            _draw_series(axes, study, one, series, shown, extent)
            about = "means with 95 % intervals, and replicates"
        axes.y.bounds, axes.y.grid, axes.x.label = extent, True, words(one)
        axes.title = _title(study, measure, MAX_TITLE_LENGTH - 16)
        figures.append(drawn.svg(f"{measure} against {one}: {about}"))
    return figures


def _title(study: Study, measure: str, most: int) -> str:
    unit = ", %" if percentage(measure) > 1 else ""
    return cut_text(study.label(measure), most - len(unit)) + unit


def series_of(study: Study) -> tuple[str | None, dict[str, list[str]]]:
    """The key that leaves the fewest lines, and the arms of each line, by what else they set."""
    found: dict[str, dict[str, list[str]]] = {}
    for key in study.numeric_keys():
        lines = found.setdefault(key, {})
        for arm in sorted(study.arms, key=lambda arm: study.key_value(arm, key)):
            own = study.settings(arm)
            others = [f"{name.rsplit('.', 1)[-1]} {own[name]}" for name in own if name != key]
            lines.setdefault(", ".join(others), []).append(arm)
    best = min(found, key=lambda key: len(found[key]), default=None)
    return best, {} if best is None else found[best]


def jitter(values: FloatArray) -> FloatArray:
    """Small steps aside that keep equal values apart, from their order alone."""
    order = np.arange(len(values), dtype=np.float64)
    # Multiples of the golden ratio: neighbours are far apart, and pages are reproducible.
    return np.asarray((order * 0.618033988749895) % 1.0 * JITTER, dtype=np.float64)


def _draw_series(
    axes: Axes,
    study: Study,
    key: str,
    groups: Mapping[str, list[str]],
    shown: Mapping[str, FloatArray],
    extent: tuple[float, float],
) -> None:
    """For each setting of the other keys, means joined by a line, intervals, and replicates."""
    places = sorted({study.key_value(arm, key) for arm in study.arms})
    gap = min(np.diff(places), default=1.0)
    for number, arms in enumerate(groups.values()):
        colour, middles = SERIES[number], []
        for arm in arms:
            values = shown[arm]
            if not len(values):
                continue
            at = study.key_value(arm, key) + 0.16 * gap * (number - (len(groups) - 1) / 2)
            band = t_interval(values, extent=extent)
            axes.dots(at + gap * (0.06 + jitter(values)), values, colour, size=3.0, opacity=0.4)
            if len(values) >= MIN_REPLICATES:
                axes.segments(([at], [band.low]), ([at], [band.high]), colour, width=1.8)
            middles.append((at, band.value))
        xs, ys = zip(*middles, strict=True) if middles else ((), ())
        axes.line(xs, ys, colour, width=1.1)
        axes.dots(xs, ys, colour)
    if all(float(place).is_integer() for place in places) and len(places) <= 12:
        axes.x.ticks = places
    if len(groups) > 1:
        axes.y.headroom = 0.13 * len(groups)
        names = (cut_text(name, MAX_NAME_LENGTH) or "nothing else set" for name in groups)
        axes.legend([LegendEntry(*one) for one in zip(names, SERIES, strict=False)])


def difference_figure(study: Study, measure: str, found: Sequence[dict[str, Any]]) -> Markup | None:
    """Draw the differences of a measure between arms, with a line at zero; None without a value."""
    if not any(np.isfinite(one["difference"]) for one in found):
        return None
    alone, scale = len({one["first"] for one in found}) == 1, percentage(measure)
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


WIDE = 10.0
"""From this ratio of its largest to its least value on, an axis is logarithmic."""
ABOUT_SCATTER = (
    "Means over the replicates of each arm; budgets of one arm are joined by a line. Names are "
    "left out where there is no room, and the table has them all. This is not a test."
)


def scatter_section(study: Study, figure: Figure) -> dict[str, Any]:
    """A figure of outcomes against measures for the page: picture, table, columns and a note."""
    # A score of reviews is one outcome for each panel that gave it.
    named = [label for name in figure.of for label in (study.panels(name) or [name])]
    named = [one for one in named if one in study.measured]
    columns: list[tuple[Any, str]] = [("arm", "arm"), ("n", "n")]
    columns += [(name, name) for name in figure.against]
    for name in named:
        columns += [(name, name), ((f"{name} low", f"{name} high"), "95 %")]
    rows = []
    for arm in study.arms:
        own = study.settings(arm)
        marked = all(own.get(key) == value for key, value in figure.mark.items())
        samples = {name: study.numbers(name, arm) for name in figure.against}
        row = {"arm": arm, "marked": bool(figure.mark) and marked}
        row["n"] = max(map(len, samples.values()))
        row |= {name: one.mean() if len(one) else np.nan for name, one in samples.items()}
        for name in named:
            extent = SCORES if name.startswith("review.") else measure_extent(name)
            band = t_interval(study.numbers(name, arm), extent=extent)
            row |= {name: band.value, f"{name} low": band.low, f"{name} high": band.high}
        rows.append(row)
    table = pd.DataFrame(rows)
    table = table[table["n"] > 0].reset_index(drop=True)
    picture = _scatter(study, figure, named, table) if len(table) and named else None
    section = {"picture": picture, "table": table, "columns": columns}
    return section | {"words": ("arm",), "about": ABOUT_SCATTER}


def _scatter(study: Study, figure: Figure, named: Sequence[str], table: pd.DataFrame) -> Markup:
    """Draw the points of a scatter figure, a row of panels per outcome."""
    known, lines = {one.name: one.of for one in study.description.arms}, dict[str, list[int]]()
    for place, arm in enumerate(table["arm"]):
        lines.setdefault(known[arm] or arm, []).append(place)
    drawn = Plot(0.6 + 4.4 * len(figure.against), 0.6 + 3.2 * len(named))
    panels = drawn.panels(len(named), len(figure.against))
    marked = table["marked"].to_numpy(dtype=bool)
    for row, outcome in zip(panels, named, strict=True):
        for axes, measure in zip(row, figure.against, strict=True):
            x, y = (table[name].to_numpy(dtype=np.float64) for name in (measure, outcome))
            for places in lines.values():
                if len(places) > 1:
                    axes.line(x[places], y[places], MUTED, width=1.0)
            if (table["n"] >= MIN_REPLICATES).all():
                ends = (table[f"{outcome} {end}"].to_numpy(np.float64) for end in ("low", "high"))
                low, high = ends
                axes.segments((x, low), (x, high), INK, width=0.8, opacity=0.35)
            axes.dots(x[~marked], y[~marked], BLUE, size=4.5)
            axes.symbols(x[marked], y[marked], "diamond", ORANGE, size=7)
            # Without its budget, which the axis shows.
            axes.names(x, y, [known[arm] or arm for arm in table["arm"]], size=6.5, gap=4.5)
            axes.x.log = bool((x > 0).all() and x.max() >= WIDE * x.min())
            axes.x.label = measure + study.by_embedding(measure)
            axes.title, axes.y.grid = outcome + study.by_embedding(outcome), True
    if figure.mark:
        names = short_names(list(figure.mark))
        label = ", ".join(f"{names[key]} {value}" for key, value in figure.mark.items())
        drawn.legend([LegendEntry(label, ORANGE, "diamond"), LegendEntry("others", BLUE, "circle")])
    return drawn.svg(f"{figure.title}: {', '.join(named)} against {', '.join(figure.against)}")
