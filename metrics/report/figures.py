"""Figures of a run's page by name, each drawn from tables as one inline SVG."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from markupsafe import Markup

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.agents.files.atomic_files import make_folder, write_atomically
from virsci_society.agents.spelling import cut_text
from virsci_society.metrics.inference.intervals import Interval, t_interval
from virsci_society.metrics.network_layout import (
    MAX_DRAWN,
    Communities,
    pair_numbers,
    run_communities,
)
from virsci_society.metrics.novelty.novelty import embedding_of, settings_of
from virsci_society.metrics.registry import compute_metric
from virsci_society.metrics.report.drawing.axes import Axes, LegendEntry
from virsci_society.metrics.report.drawing.svg import (
    BLUE,
    COLOURS,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    PAST,
    PINK,
    WIDE,
    Plot,
    standalone_svg,
)
from virsci_society.metrics.report.templates import count_of, format_number
from virsci_society.metrics.teams.concurrency import project_spans
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
        axes.text(0.0, 0.0, "not available: citation counts are unknown")
        return
    shown = values
    if len(values) > MAX_DOTS:
        # Evenly spaced by rank and not by chance: the shape stays, and so do both ends.
        rank = np.linspace(0, len(values) - 1, MAX_DOTS).round().astype(int)
        shown = np.sort(values)[rank]
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


def _dot_heights(values: FloatArray) -> FloatArray:
    """Heights in -0.4..0.8 that keep equal values apart, from the order alone."""
    if len(values) == 1:
        return np.array([0.2])
    order = np.argsort(np.argsort(values, kind="stable"), kind="stable").astype(np.float64)
    # Multiples of the golden ratio spread evenly and look like chance, without any.
    return ((order * 0.618033988749895) % 1.0) * 1.2 - 0.4


DASHED = "6 3"
TIES = (("all", BLUE, "", "all ties"), ("grown", ORANGE, DASHED, "new ties only"))
"""The two networks: colour and dashes of each, and its words in a legend."""


def largest_component(table: pd.DataFrame) -> Markup | None:
    """Share of scientists with a co-author in the largest component, of both networks over time."""
    if not table["edges"].fillna(0).any():
        return None
    title = "Share in the largest component"
    drawn, axes = _frame(2.3, title)
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
    drawn, axes = _frame(2.0, "Teams at work at the same time")
    axes.line(_floats(weekly["date"]), _floats(weekly["teams_in_flight"]), BLUE, steps=True)
    axes.x.margin, axes.y.low, axes.y.margin = 0.0, 0.0, 0.04
    axes.y.whole, axes.y.most = True, 5
    return drawn.svg("Number of teams at work over simulated time")


def _frame(height: float, title: str, label: str = "simulated days") -> tuple[Plot, Axes]:
    """A small figure with one pair of axes; ``height`` is in inches, ``label`` that of x."""
    drawn = Plot(WIDE, height)
    axes = drawn.axes()
    axes.title, axes.x.label, axes.y.grid = title, label, True
    return drawn, axes


def _floats(values: pd.Series) -> FloatArray:
    return values.to_numpy(dtype=np.float64, na_value=np.nan)


AT_LEAST = "Share of scientists with at least this many co-authors"


def degrees(table: pd.DataFrame) -> Markup | None:
    """Complementary cumulative distribution of co-authors, on logarithmic axes."""
    if not len(table):
        return None
    drawn, axes = _frame(2.3, AT_LEAST, "co-authors")
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


ROWS_DRAWN = 40
"""Teams of the timeline."""
NAME_SHOWN = 24
ROW_HEIGHT = 0.165
"""Inches."""
MARKED_STAGES = {
    "topic": ("triangle", GREEN),
    "ideas": ("circle", ORANGE),
    "novelty": ("square", PINK),
    "abstract": ("diamond", BLUE),
}
"""Shape and colour of the meetings of each stage; others have the last of the shapes."""
OTHER_STAGE = ("circle", MUTED)
AT_WORK, WAITING = 6.0, 1.3
UNSEEN = "1.5 2.5"
"""Dashes from the end of the work to the publication."""


def team_timeline(run: Run) -> Markup | None:
    """Draw each team as a row, the earliest founded on top; None where no team was founded."""
    teams = run.table("teams", plain=True).dropna(subset=["founded"])
    if not len(teams):
        return None
    # Of many some are drawn, evenly chosen, the first and the last included.
    chosen = np.unique(np.linspace(0, len(teams) - 1, ROWS_DRAWN).round().astype(int))
    rows = teams.sort_values(["founded", "team"]).iloc[chosen]
    place = {str(team): float(number) for number, team in enumerate(rows["team"])}
    drawn = Plot(WIDE, 0.95 + ROW_HEIGHT * len(rows))
    axes = drawn.axes()
    axes.y.ticks, axes.y.grid = range(len(rows)), True
    axes.y.labels = [cut_text(name, NAME_SHOWN) for name in place]
    # Upside down, so that the first row is on top.
    axes.y.low, axes.y.high = len(rows) - 0.4, -0.6
    axes.x.low, axes.x.high = 0.0, max(run.days, 1e-6)
    axes.x.label, axes.x.grid = "simulated days", True

    def mark(table: pd.DataFrame, column: str, shape: str, colour: str) -> None:
        height = table["team"].map(place).to_numpy(dtype=np.float64)
        size = 7.0 if shape in ("star", "cross") else 4.6
        axes.symbols(table[column].to_numpy(np.float64), height, shape, colour, size=size)

    # Waiting over the whole span, work on top of it, then the time in press.
    at, founded = np.arange(len(rows), dtype=np.float64), rows["founded"].to_numpy(np.float64)
    finished = rows["finished"].fillna(run.days).to_numpy(dtype=np.float64)
    axes.segments((founded, at), (finished, at), MUTED, width=WAITING)
    axes.segments((founded, at - 0.22), (founded, at + 0.22), MUTED, width=WAITING)
    spans = project_spans(run, list(place))
    spans = spans[spans["kind"].isin(["effort", "switching", "meetings"])]
    height = spans["team"].map(place).to_numpy(dtype=np.float64)
    begun, ended = (spans[name].to_numpy(np.float64) for name in ("start", "end"))
    met = run.table("meetings", plain=True)
    if not len(met):
        # Teams without meetings are at work from the day on which their members are known.
        begun, ended, height = rows["formed"].fillna(rows["founded"]).to_numpy(), finished, at
    axes.segments((begun, height), (ended, height), BLUE, width=AT_WORK, opacity=0.55)
    visible = rows["published"].to_numpy(dtype=np.float64)
    axes.segments((finished, at), (visible, at), INK, width=1.2, dashes=UNSEEN)
    met = met[met["team"].isin(list(place))].dropna(subset=["held", "stage"])
    others = sorted(set(met["stage"]) - set(MARKED_STAGES))
    stages = [stage for stage in (*MARKED_STAGES, *others) if (met["stage"] == stage).any()]
    for stage in stages:
        mark(met[met["stage"] == stage], "held", *MARKED_STAGES.get(stage, OTHER_STAGE))
    published = rows.dropna(subset=["published"])
    gone = rows[rows["state"] == "dissolved"].dropna(subset=["finished"])
    mark(published, "published", "star", INK)
    mark(gone, "finished", "cross", PINK)
    entries = []
    if (finished > founded).any():
        entries.append(LegendEntry("at work", BLUE, width=AT_WORK - 1))
        entries.append(LegendEntry("waiting", MUTED, width=WAITING))
        if len(published):
            unseen = LegendEntry("paper in press", INK, dashes=UNSEEN, width=1.2)
            entries.append(unseen)
    for stage in stages:
        shape, colour = MARKED_STAGES.get(stage, OTHER_STAGE)
        words = "meeting" if stage == "meetings" else f"meeting: {stage}"
        entries.append(LegendEntry(words, colour, shape))
    entries += [LegendEntry("paper published", INK, "star")] if len(published) else []
    entries += [LegendEntry("dissolved", PINK, "cross")] if len(gone) else []
    drawn.legend(entries)
    return drawn.svg("Teams over simulated time, from founding to paper")


SHAPES = ("circle", "square", "diamond", "triangle")
NAMED = 30
"""Scientists whose names are written, those with most papers and ties first."""
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
        axes.y.low, axes.y.high = _height(whole)
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
        axes.y.low, axes.y.high = _height(whole)
        since = np.unique(ends[(dates >= 0) & (dates <= date)], axis=0)
        _draw_edges(axes, whole.positions[np.unique(ends[dates < 0], axis=0)], PAST, 0.6)
        _draw_edges(axes, whole.positions[since], INK, 0.9)
        everybody = np.full(len(whole.names), size)
        _draw_symbols(axes, whole.positions, whole.community, everybody)
    return drawn.svg("Co-authorship network at four dates, by community")


def _height(whole: Communities) -> tuple[float, float]:
    """The lowest and the highest position with a margin, so that the network fills its axes."""
    y = whole.positions[:, 1]
    middle, half = (y.max() + y.min()) / 2, max((y.max() - y.min()) / 2, 0.25) + 0.04
    return float(middle - half), float(middle + half)


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


MEASURED: dict[str, tuple[Callable[[pd.DataFrame], Markup | None], str]] = {
    "teams-at-work": (teams_at_work, "weekly"),
    "giant-share": (largest_component, "structure"),
    "degrees": (degrees, "degrees"),
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
    """The figures of a run's page by name, as far as there is data.

    Returns:
        ``teams``, ``network``, ``network-over-time``, ``novelty``, ``teams-at-work``,
        ``giant-share`` and ``degrees``: inline SVG.

    Example:
        >>> figures = vs.run_figures(run)
        >>> figures["teams"][:4], "network" in figures
        (Markup('<svg'), True)
    """
    whole = run.once(run_communities)
    drawn = {
        "teams": team_timeline(run),
        "network": network_figure(run, whole),
        "network-over-time": network_over_time(run, whole),
        "novelty": novelty_figure(run),
    }
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
