"""Figures of a run's page by name, each drawn from tables as one inline SVG, or None without data.

``run_figures`` has them all, and ``write_run_figures`` writes them as files of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from markupsafe import Markup

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.files.atomic_files import make_folder, write_atomically
from virsci_society.metrics.inference.intervals import Interval, t_interval
from virsci_society.metrics.novelty.novelty import settings_of
from virsci_society.metrics.registry import compute_metric
from virsci_society.metrics.report.drawing.axes import Axes
from virsci_society.metrics.report.drawing.elements import LegendEntry
from virsci_society.metrics.report.drawing.svg import (
    BLUE,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    PAGE,
    PINK,
    WIDE,
    Plot,
    standalone_svg,
)
from virsci_society.metrics.report.network_figures import (
    communities_figure,
    community_map_figure,
    community_map_over_time,
    network_over_time,
)
from virsci_society.metrics.report.network_layout import (
    MAX_DRAWN,
    Communities,
    CommunityMap,
    map_communities,
    run_communities,
)
from virsci_society.metrics.report.timeline_figures import people_timeline, team_timeline
from virsci_society.society.results.run import Run

MAX_DOTS = 800

PARTS = {
    "HD": "HD  historical dissimilarity",
    "CD": "CD  contemporary dissimilarity",
    "CI": "CI  contemporary impact",
    "ON": "ON  overall novelty = HD × CI / CD",
}


def novelty(table: pd.DataFrame, relative: bool = True) -> Markup | None:
    """Every paper as a dot in four strips, with mean and interval.

    Args:
        relative: the values are relative to a year's mean, which is marked at 1.
    """
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
    if relative:
        strips[-1].x.label = "relative to the mean of the neighbours’ year (1: like that mean)"
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


DASHED, DOTTED = "6 3", "1.5 2.5"
Line = tuple[str, str, str, str]
"""Column (or network), colour and dashes of a line, and its words in a legend."""
TIES = (("all", BLUE, "", "with day 0"), ("grown", ORANGE, DASHED, "since day 0"))


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
    _legend(axes, _entries(TIES))
    return drawn.svg(f"{title}, over simulated time")


def teams_in_flight(weekly: pd.DataFrame) -> Markup | None:
    """Teams at work at the same time, week by week."""
    lines = (("teams_in_flight", BLUE, "", "teams"),)
    label = "Number of teams in flight over simulated time"
    return _counts_over_time(weekly, lines, "Teams at work at the same time", label)


def memberships(weekly: pd.DataFrame) -> Markup | None:
    """Scientists in at least one, two and three teams, week by week."""
    lines = (
        ("in_1", BLUE, "", "1 or more"),
        ("in_2", ORANGE, DASHED, "2 or more"),
        ("in_3", GREEN, DOTTED, "3 or more"),
    )
    label = "Scientists in one, two and three or more teams over time"
    return _counts_over_time(weekly, lines, "Scientists in so many teams at once", label)


def _counts_over_time(
    weekly: pd.DataFrame, lines: Sequence[Line], title: str, label: str
) -> Markup | None:
    """Counts of each week as steps; None where all are zero."""
    if not any(weekly[name].any() for name, *_ in lines):
        return None
    drawn, axes = _frame(2.5, title)
    _draw_lines(axes, weekly, lines, steps=True)
    axes.x.margin, axes.y.low, axes.y.margin = 0.0, 0.0, 0.04
    axes.y.whole, axes.y.most = True, 5
    if len(lines) > 1:
        _legend(axes, _entries(lines))
    return drawn.svg(label)


def _draw_lines(
    axes: Axes, table: pd.DataFrame, lines: Sequence[Line], *, steps: bool = False
) -> None:
    for name, colour, dashes, _ in lines:
        days, values = _floats(table["date"]), _floats(table[name])
        axes.line(days, values, colour, steps=steps, dashes=dashes)


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


def _entries(lines: Sequence[Line]) -> list[LegendEntry]:
    return [LegendEntry(words, colour, dashes=dashes) for _, colour, dashes, words in lines]


def _legend(axes: Axes, entries: list[LegendEntry]) -> None:
    """A legend inside the axes, at the top left, above the marks."""
    axes.y.headroom = 0.14 * len(entries)
    axes.legend(entries)


def _floats(values: pd.Series) -> FloatArray:
    return values.to_numpy(dtype=np.float64, na_value=np.nan)


WAITING_PARTS = {
    "notice": ("notice", MUTED),
    "teammates": ("team-mates at their homework", BLUE),
    "desk_queue": ("homework of other projects", GREEN),
    "meeting_queue": ("meetings of other teams", PINK),
}


def delays(table: pd.DataFrame) -> Markup | None:
    """Waiting of a member per round, by team size and by memberships, part upon part."""
    if not len(table):
        return None
    drawn = Plot(WIDE, 2.7)
    [panels] = drawn.panels(1, 2, share_y=True)
    labels = {"size": "people in the meeting", "memberships": "teams the member is in"}
    for axes, (by, label) in zip(panels, labels.items(), strict=True):
        _stacked(axes, table[table["by"] == by])
        axes.x.label = label
    panels[0].title = "Days of waiting per round"
    drawn.legend(panels[0].entries)
    return drawn.svg("Mean days of waiting per round by team size and by memberships")


def _stacked(axes: Axes, rows: pd.DataFrame) -> None:
    value = rows["value"].to_numpy(dtype=np.float64)
    floor = np.zeros(len(rows))
    for name, (label, colour) in WAITING_PARTS.items():
        height = rows[name].to_numpy(dtype=np.float64, na_value=0.0)
        axes.bars(value, height, floor, colour, width=0.62, label=label)
        floor = floor + height
    axes.x.whole, axes.x.most = True, 8
    axes.y.low, axes.y.grid = 0.0, True


def assembly(table: pd.DataFrame) -> Markup | None:
    """Shares of incumbents and of repeats among all papers so far, over simulated time."""
    if not table["links"].any():
        return None
    drawn, axes = _frame(2.5, "Incumbents and old partners")
    shares = (
        ("p_so_far", BLUE, "", "p: authorships of incumbents"),
        ("q_so_far", ORANGE, DASHED, "q: repeats, of links of two incumbents"),
    )
    _draw_lines(axes, table, shares)
    axes.y.low, axes.y.high = -0.02, 1.4
    axes.y.ticks = [0, 0.5, 1]
    axes.legend(_entries(shares))
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


def run_figures(run: Run) -> dict[str, Markup]:
    """Every figure of a run's page that there is data for, by name.

    Returns:
        ``teams``, ``people``, ``network``, ``network-over-time``, ``novelty``, ``teams-at-work``,
        ``memberships``, ``delays``, ``acceptance``, ``degrees``, ``assembly`` and
        ``giant-share``: inline SVG.

    Example:
        >>> figures = vs.run_figures(run)
        >>> figures["teams"][:4], "network" in figures
        (Markup('<svg'), True)
    """
    whole = run_communities([run])
    timelines = {"teams": team_timeline(run), "people": people_timeline(run, whole)}
    drawn: dict[str, Markup | None] = {
        name: None if one is None else one.figure for name, one in timelines.items()
    }
    if (network := draw_run_network(run, whole)) is not None:
        drawn["network-over-time"], drawn["network"], _ = network
    known = {name: figure for name, figure in drawn.items() if figure is not None}
    return known | measure_figures(run)


def measure_figures(run: Run) -> dict[str, Markup]:
    """The figures that are drawn from measures alone, by the names of ``run_figures``."""
    weekly, relative = compute_metric(run, "weekly"), settings_of(run).normalise != "none"
    drawn: dict[str, Markup | None] = {}
    drawn["novelty"] = novelty(compute_metric(run, "novelty"), relative)
    # Teams at work when a run was stopped are not in its tables: counts would sink.
    if run.partial is None:
        drawn["teams-at-work"] = teams_in_flight(weekly)
        drawn["memberships"] = memberships(weekly)
    for draw in (delays, acceptance, degrees, assembly):
        drawn[draw.__name__] = draw(compute_metric(run, draw.__name__))
    drawn["giant-share"] = largest_component(compute_metric(run, "structure"))
    return {name: figure for name, figure in drawn.items() if figure is not None}


def draw_run_network(
    run: Run, whole: Communities
) -> tuple[Markup, Markup, CommunityMap | None] | None:
    """The network of a run over time and at its end; None where nobody has a tie.

    Of a large network communities are drawn, which come last.
    """
    if not whole.names:
        return None
    wrote = run.table("authorships")["scientist"].value_counts()
    papers = {str(who): int(count) for who, count in wrote.items()}
    ties = run.table("ties")
    if len(whole.names) > MAX_DRAWN:
        found = map_communities(whole, papers)
        over_time = community_map_over_time(found, ties, run.days)
        return over_time, community_map_figure(found), found
    over_time = network_over_time(whole, ties, run.days)
    return over_time, communities_figure(whole, papers), None


def write_run_figures(folder: Path, run: Run) -> list[Path]:
    """Write each figure of a run as ``NAME.svg``, in the colours of paper."""
    make_folder(folder)
    written = []
    for name, figure in run_figures(run).items():
        path = folder / f"{name}.svg"
        write_atomically(path, standalone_svg(figure))
        written.append(path)
    return written
