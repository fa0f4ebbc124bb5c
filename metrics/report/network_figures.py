"""Scene: the co-authorship network around a removal, everybody in the same place in each picture.

Drawn are those in the society at a moment, and their joint papers of the year up to it: all ties
ever made would hide in their number those that a removal leaves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from markupsafe import Markup
from numpy.typing import NDArray

from metrics.removals import moments
from metrics.report.drawing import BLUE, INK, ORANGE, PAGE, PAST, PINK, figure, svg
from metrics.report.layout import MOST, placed
from metrics.report.network import lines
from society.run import Run

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]
TITLES = {"before": "before", "without": "without them", "later": "half a year later"}


@dataclass(frozen=True)
class Scene:
    """Pictures of one removal.

    Attributes:
        figures: one per moment.
        note: which part of the network they show.
    """

    figures: list[Markup]
    note: str


def scene_of(run: Run, date: float, removed: list[str]) -> Scene:
    """The network at every moment of a removal."""
    seen = list(moments(run, date, removed))
    before = seen[0].pairs(run, "all")
    recent = [moment.pairs(run, "recent") for moment in seen]
    names, note = _chosen(recent, removed)
    if not names:
        return Scene([], "Nobody has such a tie.")
    ends = [_rows(pairs, names) for pairs in recent]
    places = placed(len(names), np.unique(np.concatenate(ends), axis=0))
    out, older = np.isin(names, removed), _rows(before, names)
    figures = []
    for moment, pairs in zip(seen, ends, strict=True):
        there = ~np.isin(names, list(moment.gone))
        title = head(moment.name, moment.date)
        figures.append(_picture(places, pairs, older, there, out, title, f"{date:g} {title}"))
    return Scene(figures, note)


def head(moment: str, date: float) -> str:
    """What a moment is called: its day, and what it is."""
    return f"Day {date:.0f}, {TITLES.get(moment, 'the end')}"


def _chosen(recent: list[pd.DataFrame], removed: list[str]) -> tuple[list[str], str]:
    """Who is drawn: all with a tie, or of a crowd the removed and the best connected before."""
    names = sorted({name for pairs in recent for name in (*pairs["source"], *pairs["target"])})
    untied = len(set(removed) - set(names))
    left = f" Of those who left {untied} had none and are not shown." if untied else ""
    if len(names) <= MOST:
        return names, f"All {len(names)} people with such a tie are drawn.{left}"
    first = pd.concat([recent[0]["source"], recent[0]["target"]]).value_counts()
    degree = first.reindex(names, fill_value=0).to_numpy()
    order = np.lexsort((-degree, ~np.isin(names, removed)))[:MOST]
    note = (
        f"Of {len(names)} people with such a tie {len(order)} are drawn: those who left, and the "
        f"best connected of before.{left}"
    )
    return sorted(names[place] for place in order), note


def _rows(pairs: pd.DataFrame, names: list[str]) -> Whole:
    """Pairs as numbers of the people named, smaller first; of others none."""
    index = pd.Index(names)
    ends = np.column_stack(
        [index.get_indexer(pd.Index(pairs[end])) for end in ("source", "target")]
    )
    return np.asarray(ends[(ends >= 0).all(axis=1)], dtype=np.int64)


def _picture(
    places: Floats, pairs: Whole, older: Whole, there: Flags, out: Flags, title: str, salt: str
) -> Markup:
    """One moment. Pink: who is to leave, with their ties, and crosses where they were."""
    keys, known = (ends[:, 0] * len(places) + ends[:, 1] for ends in (pairs, older))
    old, leaving = np.isin(keys, known), out[pairs].any(axis=1)
    tied = np.bincount(pairs.ravel(), minlength=len(places)) > 0
    dot = float(np.clip(4000 / len(places), 11, 60))
    thin = 0.6 if len(places) > 120 else 1.0
    with figure(f"removal {salt}", 4.2, 4.0) as drawn:
        axes = drawn.subplots()
        for chosen, colour in ((old & ~leaving, PAST), (leaving, PINK), (~old, ORANGE)):
            lines(axes, places[pairs[chosen]], colour, thin)
        style = {"s": dot, "edgecolors": PAGE, "linewidths": 0.4, "zorder": 3}
        axes.scatter(*places[there & ~tied & ~out].T, c=PAST, **style)
        axes.scatter(*places[there & tied & ~out].T, c=BLUE, **style)
        axes.scatter(*places[there & out].T, c=PINK, **{**style, "s": 2.5 * dot, "edgecolors": INK})
        axes.scatter(*places[~there].T, s=2 * dot, c=PINK, marker="x", linewidths=1.4, zorder=4)
        axes.set_title(title)
        axes.set_xlim(-0.03, 1.03)
        axes.set_ylim(-0.03, 1.03)
        axes.set_aspect("equal")
        axes.set_axis_off()
        return svg(drawn, f"Co-authorship network around a removal: {title}")
