"""Figures of the co-authorship network at day 0 and the end, and around each removal.

Figures of a removal show the scientists in the society at a date, and their joint papers of the
year up to it. All ties ever made would be so many that they hid those that a removal leaves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from markupsafe import Markup

from agents.arrays import BoolArray, FloatArray, IntArray
from metrics.networks.removals import snapshots
from metrics.report.axes import Axes
from metrics.report.network_layout import MAX_DRAWN, NetworkLayout, force_directed_positions
from metrics.report.svg import BLUE, INK, ORANGE, PAGE, PAST, PINK, Plot
from society.results.run import Run


def coauthorship_figure(part: NetworkLayout, authors: BoolArray, late: bool) -> Markup:
    """Draw co-authorship at day 0 or at the end, everybody at the same position in both.

    Args:
        part: the scientists drawn, and their positions.
        authors: for each scientist drawn, whether it published in the run.
        late: at the end of the run, else at day 0.
    """
    crowd = len(part.names)
    dot = float(np.clip(4000 / max(crowd, 1), 11, 60))
    thin = 0.6 if crowd > 120 else 1.0
    title = "At the end" if late else "Day 0"
    drawn, axes = _network_axes(title)
    draw_edges(axes, part.positions[part.before], PAST, thin)
    if late:
        draw_edges(axes, part.positions[part.since], ORANGE, thin + 0.2)
    face = np.where(authors & late, ORANGE, BLUE).tolist()
    axes.dots(part.positions[:, 0], part.positions[:, 1], face, size=dot**0.5, edge=PAGE)
    return drawn.svg(f"Co-authorship network: {title}")


def _network_axes(title: str) -> tuple[Plot, Axes]:
    """A figure for positions between 0 and 1, equally long both ways and without a frame."""
    drawn = Plot(4.2, 4.0)
    axes = drawn.axes()
    axes.title, axes.frame, axes.square = title, False, True
    axes.x.low = axes.y.low = -0.03
    axes.x.high = axes.y.high = 1.03
    return drawn, axes


def draw_edges(axes: Axes, ends: FloatArray, colour: str, width: float) -> None:
    """Draw edges, the fainter the more there are.

    Args:
        axes: of the figure.
        ends: positions of both ends, n x 2 x 2.
        colour: of all edges.
        width: of the lines.
    """
    opacity = float(np.clip(350 / max(len(ends), 1), 0.22, 1.0))
    starts, stops = ((ends[:, end, 0], ends[:, end, 1]) for end in (0, 1))
    axes.segments(starts, stops, colour, width=width, opacity=opacity)


TITLES = {"before": "before", "without": "without them", "later": "half a year later"}


@dataclass(frozen=True)
class RemovalFigures:
    """Figures of the network around one removal.

    Attributes:
        figures: one per snapshot.
        note: which part of the network they show.
    """

    figures: list[Markup]
    note: str


def removal_figures(run: Run, date: float, removed: list[str]) -> RemovalFigures:
    """Draw the network at every snapshot of a removal, everybody at the same position.

    Args:
        run: the run.
        date: of the removal, in days.
        removed: names of the scientists taken out.
    """
    seen = list(snapshots(run, date, removed))
    before = seen[0].pairs(run, "all")
    recent = [moment.pairs(run, "recent") for moment in seen]
    names, note = _choose_drawn(recent, removed)
    if not names:
        return RemovalFigures([], "Nobody has such a tie.")
    ends = [_edge_rows(pairs, names) for pairs in recent]
    places = force_directed_positions(len(names), np.unique(np.concatenate(ends), axis=0))
    out, older = np.isin(names, removed), _edge_rows(before, names)
    figures = []
    for moment, pairs in zip(seen, ends, strict=True):
        there = ~np.isin(names, list(moment.gone))
        title = snapshot_title(moment.name, moment.date)
        figures.append(_snapshot_figure(places, pairs, older, there, out, title))
    return RemovalFigures(figures, note)


def snapshot_title(moment: str, date: float) -> str:
    """Title of a snapshot: its day, and what it shows.

    Args:
        moment: name of the snapshot.
        date: in days.
    """
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
    index = pd.Index(names)
    ends = np.column_stack(
        [index.get_indexer(pd.Index(pairs[end])) for end in ("source", "target")]
    )
    return np.asarray(ends[(ends >= 0).all(axis=1)], dtype=np.int64)


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
    drawn, axes = _network_axes(title)
    for chosen, colour in ((old & ~leaving, PAST), (leaving, PINK), (~old, ORANGE)):
        draw_edges(axes, places[pairs[chosen]], colour, thin)
    _dots(axes, places[there & ~tied & ~out], PAST, dot**0.5, PAGE)
    _dots(axes, places[there & tied & ~out], BLUE, dot**0.5, PAGE)
    _dots(axes, places[there & out], PINK, (2.5 * dot) ** 0.5, INK)
    gone = places[~there]
    axes.crosses(gone[:, 0], gone[:, 1], PINK, (2 * dot) ** 0.5)
    return drawn.svg(f"Co-authorship network around a removal: {title}")


def _dots(axes: Axes, places: FloatArray, colour: str, size: float, edge: str) -> None:
    axes.dots(places[:, 0], places[:, 1], colour, size=size, edge=edge)
