"""Figures of a run's page by name, each drawn from tables as one inline SVG."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from markupsafe import Markup

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.files.atomic_files import make_folder, write_atomically
from virsci_society.metrics.inference.intervals import Interval, t_interval
from virsci_society.metrics.novelty.novelty import embedding_of, settings_of
from virsci_society.metrics.registry import compute_metric
from virsci_society.metrics.report.drawing.axes import Axes
from virsci_society.metrics.report.drawing.elements import LegendEntry
from virsci_society.metrics.report.drawing.svg import (
    BLUE,
    INK,
    ORANGE,
    PAGE,
    WIDE,
    Plot,
    standalone_svg,
)
from virsci_society.metrics.report.network_figures import network_figure, network_over_time
from virsci_society.metrics.report.network_layout import run_communities
from virsci_society.metrics.report.timeline_figures import people_timeline, team_timeline
from virsci_society.society.results.run import Run

MAX_DOTS = 800

PARTS = {
    "HD": "HD  historical dissimilarity",
    "CD": "CD  contemporary dissimilarity",
    "CI": "CI  contemporary impact",
    "ON": "ON  overall novelty = HD × CI / CD",
}


def novelty(table: pd.DataFrame, relative: bool = True, embedding: str = "") -> Markup | None:
    """Every paper as a dot in four strips, with mean and interval."""
    known = {name: _floats(table[name].dropna()) for name in PARTS}
    if not any(len(values) for values in known.values()):
        return None
    drawn = Plot(WIDE, 3.9)
    strips = [row[0] for row in drawn.panels(4, 1)]
    distances = np.concatenate([known["HD"], known["CD"]])
    for axes, (name, title) in zip(strips, PARTS.items(), strict=True):
        colour = ORANGE if name == "ON" else BLUE
        # The two distances share one axis, so that they can be compared by eye.
        span = distances if name in ("HD", "CD") else known[name]
        _strip(axes, known[name], title, colour, np.append(span, 1.0) if relative else span)
        if relative and len(known[name]):
            axes.vertical(1.0)
    told = ["relative to the mean of the neighbours’ year (1)"] if relative else []
    told += [f"vectors by {embedding}"] if embedding else []
    strips[-1].x.label = "; ".join(told)
    return drawn.svg("HD, CD, CI and ON of each paper, with means and intervals")


def _strip(axes: Axes, values: FloatArray, title: str, colour: str, span: FloatArray) -> None:
    axes.title = title
    axes.y.line = False
    axes.y.low, axes.y.high = -1.0, 1.0
    if not len(values):
        axes.x.ticks = []
        axes.x.low, axes.x.high = 0.0, 1.0
        axes.text(0.0, 0.0, "not available: no citation count is known")
        return
    shown = _thinned(values)
    axes.dots(shown, _dot_heights(shown), colour, size=4.5, opacity=0.6)
    band = mean_interval(values)
    if band.low < band.high:
        axes.segments(([band.low], [-0.72]), ([band.high], [-0.72]), INK)
    axes.dots([band.value], [-0.72], INK, size=4.5)
    low, high = span.min(), span.max()
    pad = 0.06 * (high - low) or 0.1
    axes.x.low, axes.x.high = max(low - pad, -pad), high + pad


def mean_interval(values: FloatArray) -> Interval:
    """The 95 % interval of a mean as a run's page gives it: Student's t (docs/statistics.md)."""
    # Below 50 values the bootstrap holds the mean less often, and it takes scipy.stats, whose
    # import alone would be a quarter of the time in which a small page is made.
    return t_interval(values)


def _thinned(values: FloatArray) -> FloatArray:
    """At most ``MAX_DOTS`` values, evenly spaced by rank, the extremes included."""
    if len(values) <= MAX_DOTS:
        return values
    # By rank and not by chance: the shape stays, and so do both ends.
    rank = np.linspace(0, len(values) - 1, MAX_DOTS).round().astype(int)
    chosen: FloatArray = np.sort(values)[rank]
    return chosen


def _dot_heights(values: FloatArray) -> FloatArray:
    """Heights in -0.4..0.8 that keep equal values apart, from the order alone."""
    if len(values) == 1:
        return np.array([0.2])
    order = np.argsort(np.argsort(values, kind="stable"), kind="stable").astype(np.float64)
    # Multiples of the golden ratio spread evenly and look like chance, without any.
    heights: FloatArray = ((order * 0.618033988749895) % 1.0) * 1.2 - 0.4
    return heights


DASHED = "6 3"
TIES = (("all", BLUE, "", "with day 0"), ("grown", ORANGE, DASHED, "since day 0"))
"""The two networks: colour and dashes of each, and its words in a legend."""


def largest_component(table: pd.DataFrame) -> Markup | None:
    """Share of scientists with a co-author in the largest component, of both networks over time."""
    if not table["edges"].fillna(0).any():
        return None
    title = "Share of scientists with a co-author in the largest component"
    drawn, axes = _frame(2.2, title)
    for network, colour, dashes, _ in TIES:
        rows = table[table["network"] == network]
        axes.line(_floats(rows["date"]), _floats(rows["giant_share"]), colour, dashes=dashes)
    axes.y.low, axes.y.high, axes.y.bounds = 0.0, 1.04, (0.0, 1.0)
    axes.y.headroom = 0.28
    axes.legend([LegendEntry(words, colour, dashes=dashes) for _, colour, dashes, words in TIES])
    return drawn.svg(f"{title}, over simulated time")


def teams_at_work(weekly: pd.DataFrame) -> Markup | None:
    """Teams at work at the same time, week by week."""
    if not weekly["teams_in_flight"].any():
        return None
    drawn, axes = _frame(2.5, "Teams at work at the same time")
    axes.line(_floats(weekly["date"]), _floats(weekly["teams_in_flight"]), BLUE, steps=True)
    axes.x.margin, axes.y.low, axes.y.margin = 0.0, 0.0, 0.04
    axes.y.whole, axes.y.most = True, 5
    return drawn.svg("Number of teams in flight over simulated time")


def acceptance(table: pd.DataFrame) -> Markup | None:
    """Share of invitations accepted against the invitee's load, with intervals."""
    if not len(table):
        return None
    drawn, axes = _frame(2.7, "Share of invitations accepted", "teams the invitee was already in")
    load, share = _floats(table["load"]), _floats(table["share"])
    axes.segments((load, _floats(table["low"])), (load, _floats(table["high"])), BLUE)
    axes.dots(load, share, BLUE, size=6.0, edge=PAGE)
    for at, height, count in zip(load, share, table["answered"], strict=True):
        axes.text(at, height, f"n = {count}", right_by=6.0)
    axes.x.low, axes.x.high = load.min() - 0.4, load.max() + 0.8
    axes.y.low, axes.y.high = -0.04, 1.04
    axes.x.whole, axes.x.most = True, 8
    return drawn.svg("Share of invitations accepted by the load of the invitee")


def _frame(height: float, title: str, label: str = "simulated days") -> tuple[Plot, Axes]:
    """A small figure with one pair of axes: so many inches high, with a title and label of x."""
    drawn = Plot(4.2, height)
    axes = drawn.axes()
    axes.title, axes.x.label, axes.y.grid = title, label, True
    return drawn, axes


def _floats(values: pd.Series) -> FloatArray:
    return values.to_numpy(dtype=np.float64, na_value=np.nan)


def assembly(table: pd.DataFrame) -> Markup | None:
    """Shares of incumbents and of repeats among all papers so far, over simulated time."""
    if not table["links"].any():
        return None
    drawn, axes = _frame(2.5, "Incumbents and old partners")
    shares = (
        ("p_so_far", BLUE, "", "p: authorships of incumbents"),
        ("q_so_far", ORANGE, DASHED, "q: repeats, of links of two incumbents"),
    )
    for name, colour, dashes, _ in shares:
        axes.line(_floats(table["date"]), _floats(table[name]), colour, dashes=dashes)
    axes.y.low, axes.y.high = -0.02, 1.4
    axes.y.ticks = [0, 0.5, 1]
    axes.legend([LegendEntry(words, colour, dashes=dashes) for _, colour, dashes, words in shares])
    return drawn.svg("Shares p and q of team assembly, over simulated time")


def degrees(table: pd.DataFrame) -> Markup | None:
    """Share of scientists with at least so many co-authors, on logarithmic axes."""
    if not len(table):
        return None
    drawn, axes = _frame(
        2.5, "Share of those with a co-author who have at least so many", "co-authors"
    )
    axes.x.log = axes.y.log = True
    entries = []
    for network, colour, dashes, words in TIES:
        rows = table[table["network"] == network]
        shape = "triangle" if dashes else "circle"
        if len(rows):
            degree, share = _floats(rows["degree"]), _floats(rows["share_above"])
            axes.symbols(degree, share, shape, colour, size=4.0)
            entries.append(LegendEntry(words, colour, shape))
    axes.legend(entries, bottom=True)
    return drawn.svg("Distribution of the number of co-authors, logarithmic axes")


MEASURED: dict[str, tuple[Callable[[pd.DataFrame], Markup | None], str]] = {
    "teams-at-work": (teams_at_work, "weekly"),
    "acceptance": (acceptance, "acceptance"),
    "giant-share": (largest_component, "structure"),
    "degrees": (degrees, "degrees"),
    "assembly": (assembly, "assembly"),
}
"""The figures that are drawn of one metric each."""


def measured_figure(run: Run, name: str) -> Markup | None:
    """A figure of ``MEASURED``; None without data."""
    draw, metric = MEASURED[name]
    # Teams at work when a run was stopped are not in its tables: counts would sink.
    if name == "teams-at-work" and run.partial is not None:
        return None
    return draw(compute_metric(run, metric))


def novelty_figure(run: Run) -> Markup | None:
    """The novelty of each paper of a run, with the name of the embedding."""
    relative = settings_of(run).normalise != "none"
    return novelty(compute_metric(run, "novelty"), relative, embedding_of(run, "title"))


def run_figures(run: Run) -> dict[str, Markup]:
    """Every figure of a run's page that there is data for, by name.

    Returns:
        ``teams``, ``people``, ``network``, ``network-over-time``, ``novelty``, ``teams-at-work``,
        ``acceptance``, ``giant-share``, ``degrees`` and ``assembly``: inline SVG.

    Example:
        >>> figures = vs.run_figures(run)
        >>> figures["teams"][:4], "network" in figures
        (Markup('<svg'), True)
    """
    whole = run_communities([run])
    timelines = {"teams": team_timeline(run), "people": people_timeline(run, whole)}
    drawn: dict[str, Markup | None] = {
        name: None if one is None else one.picture for name, one in timelines.items()
    }
    drawn["network"], drawn["network-over-time"] = (
        network_figure(run, whole),
        network_over_time(run, whole),
    )
    drawn["novelty"] = novelty_figure(run)
    drawn |= {name: measured_figure(run, name) for name in MEASURED}
    return {name: figure for name, figure in drawn.items() if figure is not None}


def write_run_figures(folder: Path, run: Run) -> list[Path]:
    """Write each figure of a run as ``NAME.svg``, in the colours of paper."""
    make_folder(folder)
    written = []
    for name, figure in run_figures(run).items():
        path = folder / f"{name}.svg"
        write_atomically(path, standalone_svg(figure))
        written.append(path)
    return written
