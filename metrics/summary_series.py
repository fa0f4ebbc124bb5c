"""Series of a run over simulated time, short enough for the summary, and papers per person.

``society show`` draws them on a terminal from ``summary.json`` alone, without reading a table.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from virsci_society.agents.arrays import FloatArray
from virsci_society.metrics.networks.structure import MONTH, WEEK
from virsci_society.metrics.population import people_ever
from virsci_society.society.results.run import Run

MOST_PERIODS = 60
EXACT_PAPERS = 10
"""Numbers of papers from this one on are counted together, in classes that double."""


def summary_series(run: Run) -> dict[str, Any]:
    """What happened in equal periods of simulated time.

    Periods are days in runs of up to 30 days, weeks in those of up to half a year, and then months
    of 365 / 12 days, or as many of them as make at most ``MOST_PERIODS`` periods.

    Returns:
        ``period`` (days), ``papers`` (published in each period), ``teams_open`` (mean number at
        work at a time), ``meetings_waiting`` (mean number at a time of meetings that are due and
        wait for people) and ``giant_share`` (of the scientists with a tie, in the largest
        component at the end of the period, 0..1; None before there is a tie). The last period may
        be shorter. Of a run that was stopped ``teams_open`` and ``meetings_waiting`` are None,
        because teams still at work are not in its tables.
    """
    period = period_of(run.days)
    count = max(1, math.ceil(round(run.days / period, 6)))
    edges = np.minimum(period * np.arange(count + 1), run.days)
    whole = run.partial is None
    teams, meetings = run.table("teams"), run.table("meetings")
    return {
        "period": period,
        "papers": _papers(run, edges),
        "teams_open": _mean_open(teams["founded"], teams["finished"], edges) if whole else None,
        "meetings_waiting": _mean_open(meetings["due"], meetings["held"], edges) if whole else None,
        "giant_share": giant_shares(run.table("ties"), edges[1:]),
    }


def period_of(days: float) -> float:
    """Length of the periods of ``summary_series``, in days.

    Args:
        days: length of the run.
    """
    if days <= 30:
        return 1.0
    if days <= 182:
        return WEEK
    return MONTH * max(1, math.ceil(round(days / MONTH / MOST_PERIODS, 6)))


def _papers(run: Run, edges: FloatArray) -> list[int]:
    """Papers published up to the end of each period, and after the end of the one before."""
    dates = np.sort(run.table("papers")["published"].dropna().to_numpy(dtype=np.float64))
    so_far = np.searchsorted(dates, edges[1:], side="right")
    return [int(number) for number in np.diff(so_far, prepend=0)]


def _mean_open(starts: pd.Series, ends: pd.Series, edges: FloatArray) -> list[float]:
    """Mean number of intervals that are open at a time in each period; without end until now."""
    known = starts.notna().to_numpy()
    begun = starts[known].to_numpy(dtype=np.float64)
    ended = ends[known].fillna(np.inf).to_numpy(dtype=np.float64)
    days = np.diff([float((np.minimum(ended, at) - begun).clip(0).sum()) for at in edges])
    length = np.maximum(np.diff(edges), 1e-9)
    return [round(float(mean), 4) for mean in np.maximum(days, 0) / length]


def giant_shares(ties: pd.DataFrame, dates: FloatArray) -> list[float | None]:
    """Share of the scientists with a tie that are in the largest component, at each date.

    Args:
        ties: ``source``, ``target`` and ``date``.
        dates: in days, ascending.

    Returns:
        From 0 to 1; None where nobody has a tie yet.
    """
    dated = ties.dropna(subset=["date", "source", "target"]).sort_values("date")
    codes, known = pd.factorize(pd.concat([dated["source"], dated["target"]]))
    ends = codes.reshape(2, -1)
    so_far = np.searchsorted(dated["date"].to_numpy(dtype=np.float64), dates, side="right")
    component, tied = np.arange(len(known)), np.zeros(len(known), dtype=bool)
    shares: list[float | None] = []
    before = 0
    for count in so_far:
        # Only ties that are new are looked at, between the components of the date before.
        new = ends[:, before:count]
        tied[new.ravel()] = True
        joined = (np.ones(new.shape[1], dtype=bool), tuple(component[new]))
        graph = sparse.coo_array(joined, shape=(len(known), len(known)))
        component = sparse.csgraph.connected_components(graph, directed=False)[1][component]
        before = count
        sizes = np.bincount(component[tied])
        shares.append(round(int(sizes.max()) / int(tied.sum()), 4) if len(sizes) else None)
    return shares


def papers_per_person(run: Run) -> dict[str, int]:
    """Number of scientists by the papers that they wrote in the run, those without any too.

    Returns:
        Scientists by ``0``, ``1``, ..., ``9``, and by classes that double: ``10 to 19``, ``20 to
        39``, ...; up to the class of the scientist with the most papers.
    """
    written = run.table("authorships")["scientist"].value_counts().to_numpy(dtype=np.int64)
    classes = {"0": max(people_ever(run) - len(written), 0)}
    most = int(written.max(initial=0))
    low = 1
    while low <= most:
        high = low if low < EXACT_PAPERS else 2 * low - 1
        name = f"{low}" if high == low else f"{low} to {high}"
        classes[name] = int(((written >= low) & (written <= high)).sum())
        low = high + 1
    return classes
