"""Disruption: do those who cite a paper leave what it builds on behind?"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from society.run import Run

YEAR = 365.0
AT_ONCE = 512
"""Papers looked at together, which bounds memory."""
KINDS = ("only_it", "both", "only_its_references")


def disruption(run: Run) -> pd.DataFrame:
    """CD index of each paper of the society of Funk and Owen-Smith 2017 (Wu et al. 2019).

    Later papers cite it alone, it and something that it cites, or only what it cites: CD =
    (only_it - both) / (only_it + both + only_its_references). What it cites may be of the past
    corpus. Later papers are the society's: none of the past is later than a paper of the run.

    Returns:
        One row per ``paper`` (``date``): ``only_it``, ``both``, ``only_its_references`` (later
        papers of each kind), ``CD`` (-1: develops, 1: disrupts), and the same over the 365 days
        after it, as far as the run goes, with the ending ``_1y``. CD is missing for a paper
        without references, or to whose neighbourhood no later paper belongs.
    """
    papers = run.table("papers")[["paper", "published"]].rename(columns={"published": "date"})
    table = papers.reset_index(drop=True)
    cites = run.table("citations")
    names = table["paper"]
    dates = table["date"].to_numpy(dtype=np.float64)
    graph = _graph(names, cites)
    for ending, window in (("", np.inf), ("_1y", YEAR)):
        counts = disrupted(graph, dates, window)
        for name, column in zip(KINDS, counts.T, strict=True):
            table[name + ending] = pd.array(column, dtype="Int64")
        index = cd_index(counts)
        index[np.diff(graph.indptr) == 0] = np.nan
        table["CD" + ending] = pd.Series(index).astype("Float64")
        table["CD" + ending] = table["CD" + ending].mask(np.isnan(index))
    return table


def disrupted(
    graph: sparse.csr_array, dates: NDArray[np.float64], window: float = np.inf
) -> NDArray[np.int64]:
    """Later papers of each kind for every paper.

    Args:
        graph: row cites column; the first columns are the papers of the rows, others follow.
        dates: of the rows, in days.
        window: days after a paper within which later ones count.

    Returns:
        n x 3: those that cite it alone, it and a reference of it, only a reference of it.
    """
    count = len(dates)
    found = np.zeros((count, 3), dtype=np.int64)
    among = graph[:, :count].tocsc()
    for first in range(0, count, AT_ONCE):
        some = slice(first, min(first + AT_ONCE, count))
        shares = (graph @ graph[some].T).tocoo()
        cites = among[:, some].tocoo()
        keys = [one.coords[0].astype(np.int64) * AT_ONCE + one.coords[1] for one in (cites, shares)]
        keys = [_later(key, dates, first, window) for key in keys]
        both = np.intersect1d(keys[0], keys[1], assume_unique=True)
        for kind, of in enumerate((np.setdiff1d(keys[0], both), both, np.setdiff1d(keys[1], both))):
            width = some.stop - first
            found[some, kind] = np.bincount(of % AT_ONCE, minlength=width)[:width]
    return found


def _later(
    keys: NDArray[np.int64], dates: NDArray[np.float64], first: int, window: float
) -> NDArray[np.int64]:
    apart = dates[keys // AT_ONCE] - dates[first + keys % AT_ONCE]
    return keys[(apart > 0) & (apart <= window)]


def cd_index(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """CD of each row of three counts; NaN where all are zero."""
    total = counts.sum(axis=1)
    difference = (counts[:, 0] - counts[:, 1]).astype(np.float64)
    index = np.full(len(total), np.nan)
    np.divide(difference, total, out=index, where=total > 0)
    return index


def _graph(names: pd.Series, cites: pd.DataFrame) -> sparse.csr_array:
    """Row cites column, once; papers of the society first, those of the past after them."""
    known = cites.drop_duplicates(["citing", "cited"])
    known = known[known["citing"].isin(names) & (known["citing"] != known["cited"])]
    columns = pd.Index([*names, *sorted(set(known["cited"]) - set(names))])
    rows, cited = columns.get_indexer(known["citing"]), columns.get_indexer(known["cited"])
    ones = np.ones(len(known))
    return sparse.coo_array((ones, (rows, cited)), shape=(len(names), len(columns))).tocsr()
