"""Figures of the co-authorship network by community and over time, and around each removal.

Figures of a removal show the scientists in the society at a date, and their joint papers of the
year up to it. All ties ever made would be so many that they hid those that a removal leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from virsci_society.agents.arrays import BoolArray, FloatArray, IntArray
from virsci_society.agents.spelling import cut_text
from virsci_society.metrics.networks.removals import snapshots
from virsci_society.metrics.report.drawing.axes import Axes
from virsci_society.metrics.report.drawing.elements import LegendEntry
from virsci_society.metrics.report.drawing.svg import (
    BLUE,
    COLOURS,
    INK,
    MUTED,
    ORANGE,
    PAGE,
    PAST,
    PINK,
    WIDE,
    Plot,
)
from virsci_society.metrics.report.network_layout import (
    MAX_DRAWN,
    Communities,
    CommunityMap,
    count_pairs,
    force_directed_positions,
    pair_numbers,
    strongest_pairs,
)
from virsci_society.metrics.report.templates import count_of, format_number
from virsci_society.society.results.run import Run

SHAPES = ("circle", "square", "diamond", "triangle")
NAMED = 30
"""Scientists whose names are written, those with most papers and ties first."""
NAME_SHOWN = 24


def communities_figure(whole: Communities, papers: Mapping[str, int]) -> Markup:
    """Draw the network at the end by community, with the names of the first scientists.

    Symbols are the larger the more papers somebody has written in the run.
    """
    drawn = Plot(WIDE, 4.6)
    axes = _bare(drawn.axes(), square=False)
    axes.x.low, axes.x.high = -0.05, 1.14
    places, written = whole.positions, np.array([papers.get(who, 0) for who in whole.names])
    draw_edges(axes, places[whole.edges], PAST, 0.7)
    base = float(np.clip(2400 / len(written), 8, 40)) ** 0.5
    _draw_members(axes, whole, base * (0.85 + 0.75 * np.sqrt(written / max(1, written.max()))))
    # The last key decides first: papers, then ties, then the name.
    order = np.lexsort((np.arange(len(written)), -whole.degree, -written))
    axes.names(
        places[order, 0],
        places[order, 1],
        [cut_text(whole.names[place], NAME_SHOWN) for place in order[:NAMED]],
        size=7.5,
        gap=0.9 * base,
    )
    drawn.legend(_community_entries(whole))
    return drawn.svg("Co-authorship network at the end, by community")


def network_over_time(whole: Communities, ties: pd.DataFrame, days: float) -> Markup:
    """Draw the network at four dates, everybody at the same position in all."""
    drawn, panels = _at_four_dates(days)
    ends = np.sort(pair_numbers(ties, whole.names), axis=1)
    dates = ties["date"].to_numpy(dtype=np.float64)
    ends, dates = ends[ends[:, 0] >= 0], dates[ends[:, 0] >= 0]
    size = float(np.clip(1100 / len(whole.names), 2.5, 18)) ** 0.5
    for axes, date in panels:
        _bare(axes)
        since = np.unique(ends[(dates >= 0) & (dates <= date)], axis=0)
        draw_edges(axes, whole.positions[np.unique(ends[dates < 0], axis=0)], PAST, 0.6)
        draw_edges(axes, whole.positions[since], INK, 0.9)
        _draw_members(axes, whole, np.full(len(whole.names), size))
    return drawn.svg("Co-authorship network at four dates, by community")


def community_map_figure(found: CommunityMap) -> Markup:
    """Draw the communities of a large network as circles with lines for the ties between them.

    The largest are numbered and stand in the legend by these numbers.
    """
    drawn = Plot(WIDE, 4.6)
    axes = drawn.axes()
    axes.frame = False
    _draw_lines(axes, found, found.lines, found.pairs, MUTED, 5.0)
    _draw_circles(axes, found, found.radius, numbered=True)
    entries = []
    for number in range(min(len(COLOURS), len(found.people))):
        words = f"{number + 1}: {format_number(found.people[number])} people, "
        entries.append(LegendEntry(words + found.labels[number], COLOURS[number], "circle"))
    if found.rest:
        _draw_rest(axes, found)
        words = count_of(found.rest_communities, "smaller community", "smaller communities")
        entries.append(
            LegendEntry(f"{format_number(found.rest)} people in {words}", MUTED, "circle")
        )
    drawn.legend(entries)
    return drawn.svg("Communities of the co-authorship network at the end")


def community_map_over_time(found: CommunityMap, ties: pd.DataFrame, days: float) -> Markup:
    """Draw the communities at four dates; each circle fills with those who have a tie by then."""
    drawn, panels = _at_four_dates(days)
    count = len(found.people)
    known = ties.dropna(subset=["date", "source", "target"])
    ends = pair_numbers(known, found.names)
    dates = known["date"].to_numpy(dtype=np.float64)
    for axes, date in panels:
        axes.frame = False
        now = ends[(dates <= date) & (ends >= 0).all(axis=1)]
        pairs = np.unique(np.sort(now, axis=1), axis=0)
        # Each person once, however many ties it has.
        tied = np.bincount(found.community[np.unique(pairs)], minlength=count + 1)[:count]
        first, second = found.community[pairs[:, 0]], found.community[pairs[:, 1]]
        across = count_pairs(first, second, count + 1)[:count, :count]
        lines = strongest_pairs(across)
        _draw_lines(axes, found, lines, across[lines[:, 0], lines[:, 1]], MUTED, 3.0)
        axes.discs(found.centres, found.radius, PAST, opacity=0.0)
        _draw_circles(axes, found, found.radius * np.sqrt(tied / found.people), numbered=False)
    return drawn.svg("Communities of the co-authorship network at four dates")


def _at_four_dates(days: float) -> tuple[Plot, list[tuple[Axes, float]]]:
    """A figure of small pictures, and the axes of each with its date, which is its title."""
    drawn = Plot(WIDE, 4.7)
    panels = [axes for row in drawn.panels(2, 2) for axes in row]
    dated = list(zip(panels, np.linspace(0.0, days, len(panels)), strict=True))
    for axes, date in dated:
        axes.title = f"day {date:.0f}"
    return drawn, dated


def _draw_lines(
    axes: Axes, found: CommunityMap, lines: IntArray, pairs: IntArray, colour: str, widest: float
) -> None:
    """Lines between circles in four widths, by pairs of scientists; the widest has the most."""
    most = max(int(found.pairs.max(initial=0)), 1)
    steps = np.ceil(4 * np.sqrt(np.minimum(pairs / most, 1.0))).astype(np.int64)
    for step in range(1, 5):
        ends = found.centres[lines[steps == step]]
        if len(ends):
            starts, stops = ((ends[:, end, 0], ends[:, end, 1]) for end in (0, 1))
            width = widest * (step / 4) ** 2 + 0.3
            axes.segments(starts, stops, colour, width=width, opacity=0.45)


def _draw_circles(axes: Axes, found: CommunityMap, radius: FloatArray, *, numbered: bool) -> None:
    """A circle for each community, those of the legend in its colours."""
    told = min(len(COLOURS), len(found.people))
    words = [str(number + 1) for number in range(len(found.people))] if numbered else []
    axes.discs(found.centres[told:], radius[told:], MUTED, opacity=0.15, words=words[told:])
    for number in range(told):
        one = slice(number, number + 1)
        axes.discs(found.centres[one], radius[one], COLOURS[number], opacity=0.35, words=words[one])


def _draw_rest(axes: Axes, found: CommunityMap) -> None:
    """All smaller communities as one dashed circle at the same scale, on the right."""
    radius = float(np.sqrt(found.rest / found.people.sum()))
    right = float((found.centres[:, 0] + found.radius).max())
    middle = float(found.centres[:, 1].mean())
    centre = np.array([[right + 0.08 + radius, middle]])
    word = format_number(found.rest)
    axes.discs(centre, np.array([radius]), MUTED, opacity=0.0, dashes="3 3", words=[word])


def _draw_members(axes: Axes, whole: Communities, sizes: FloatArray) -> None:
    """A symbol for everybody, those of small communities first."""
    rest = whole.community >= len(COLOURS)
    _dots(axes, whole.positions[rest], MUTED, float(sizes.min()) * 0.8, PAGE)
    # The largest last, so that its symbols lie on top.
    for number in range(len(COLOURS) - 1, -1, -1):
        rows = whole.community == number
        axes.symbols(
            whole.positions[rows, 0],
            whole.positions[rows, 1],
            SHAPES[number % len(SHAPES)],
            COLOURS[number],
            size=sizes[rows].tolist(),
        )


def _community_entries(whole: Communities) -> list[LegendEntry]:
    """Shape, number of members and name of the largest communities, and the rest."""
    sizes = whole.sizes
    entries = [
        LegendEntry(
            f"{sizes[number]} people: {whole.labels[number]}",
            COLOURS[number],
            SHAPES[number % len(SHAPES)],
        )
        for number in range(min(len(COLOURS), len(sizes)))
    ]
    if len(sizes) > len(COLOURS):
        others = sizes[len(COLOURS) :]
        words = f"{others.sum()} people in {len(others)} smaller communities"
        entries.append(LegendEntry(words, MUTED, "circle"))
    return entries


def _bare(axes: Axes, *, square: bool = True) -> Axes:
    """Axes without a frame, for positions between 0 and 1."""
    axes.frame, axes.square = False, square
    axes.x.low = axes.y.low = -0.03
    axes.x.high = axes.y.high = 1.03
    return axes


def draw_edges(axes: Axes, ends: FloatArray, colour: str, width: float) -> None:
    """Draw edges, the fainter the more there are."""
    opacity = float(np.clip(350 / max(len(ends), 1), 0.22, 1.0))
    starts, stops = ((ends[:, end, 0], ends[:, end, 1]) for end in (0, 1))
    axes.segments(starts, stops, colour, width=width, opacity=opacity)


TITLES = {"before": "before", "without": "without them", "later": "half a year later"}


def removal_figures(run: Run, date: float, removed: list[str]) -> dict[str, Any]:
    """``figures`` of a removal, everybody at the same position in all, and a ``note``."""
    seen = list(snapshots(run, date, removed))
    before = seen[0].pairs(run, "all")
    recent = [moment.pairs(run, "recent") for moment in seen]
    names, note = _choose_drawn(recent, removed)
    if not names:
        return {"figures": [], "note": "Nobody has such a tie."}
    ends = [_edge_rows(pairs, names) for pairs in recent]
    # By the ties of all moments, so that nobody moves between the pictures.
    places = force_directed_positions(len(names), np.unique(np.concatenate(ends), axis=0))
    out, older = np.isin(names, removed), _edge_rows(before, names)
    figures = []
    for moment, pairs in zip(seen, ends, strict=True):
        there = ~np.isin(names, list(moment.gone))
        title = snapshot_title(moment.name, moment.date)
        figures.append(_snapshot_figure(places, pairs, older, there, out, title))
    return {"figures": figures, "note": note}


def snapshot_title(moment: str, date: float) -> str:
    """Title of a snapshot: its day, and what it shows."""
    return f"Day {date:.0f}, {TITLES.get(moment, 'the end')}"


def _choose_drawn(recent: list[pd.DataFrame], removed: list[str]) -> tuple[list[str], str]:
    """Who is drawn: all with a tie, or of a crowd the removed and the best connected before."""
    names = sorted({name for pairs in recent for name in (*pairs["source"], *pairs["target"])})
    untied = len(set(removed) - set(names))
    left = f" Of those who left {untied} had none and are not shown." if untied else ""
    if len(names) <= MAX_DRAWN:
        return names, f"All {len(names)} people with such a tie are drawn.{left}"
    first = pd.concat([recent[0]["source"], recent[0]["target"]]).value_counts()
    degree = first.reindex(names, fill_value=0).to_numpy()
    order = np.lexsort((-degree, ~np.isin(names, removed)))[:MAX_DRAWN]
    note = (
        f"Of {len(names)} people with such a tie {len(order)} are drawn: those who left, and the "
        f"best connected of before.{left}"
    )
    return sorted(names[place] for place in order), note


def _edge_rows(pairs: pd.DataFrame, names: list[str]) -> IntArray:
    """Pairs as numbers of the people named, smaller first; of others none."""
    ends = pair_numbers(pairs, names)
    return ends[(ends >= 0).all(axis=1)]


def _snapshot_figure(
    places: FloatArray,
    pairs: IntArray,
    older: IntArray,
    there: BoolArray,
    out: BoolArray,
    title: str,
) -> Markup:
    """One moment. Pink: who is to leave, with their ties, and crosses where they were."""
    keys, known = (ends[:, 0] * len(places) + ends[:, 1] for ends in (pairs, older))
    old, leaving = np.isin(keys, known), out[pairs].any(axis=1)
    tied = np.bincount(pairs.ravel(), minlength=len(places)) > 0
    dot = float(np.clip(4000 / len(places), 11, 60))
    thin = 0.6 if len(places) > 120 else 1.0
    drawn = Plot(4.2, 4.0)
    axes = _bare(drawn.axes())
    axes.title = title
    for chosen, colour in ((old & ~leaving, PAST), (leaving, PINK), (~old, ORANGE)):
        draw_edges(axes, places[pairs[chosen]], colour, thin)
    _dots(axes, places[there & ~tied & ~out], PAST, dot**0.5, PAGE)
    _dots(axes, places[there & tied & ~out], BLUE, dot**0.5, PAGE)
    _dots(axes, places[there & out], PINK, (2.5 * dot) ** 0.5, INK)
    gone = places[~there]
    axes.symbols(gone[:, 0], gone[:, 1], "cross", PINK, size=(2 * dot) ** 0.5)
    return drawn.svg(f"Co-authorship network around a removal: {title}")


def _dots(axes: Axes, places: FloatArray, colour: str, size: float, edge: str) -> None:
    axes.dots(places[:, 0], places[:, 1], colour, size=size, edge=edge)
