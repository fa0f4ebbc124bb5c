"""CD index of disruption (Funk and Owen-Smith 2017; Wu, Wang and Evans 2019).

A paper disrupts where later papers cite it without what it cites, and develops where they cite
both.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import sparse

from virsci_society.agents.arrays import BoolArray, FloatArray, IntArray
from virsci_society.society.literature.papers import DAYS_PER_YEAR
from virsci_society.society.results.run import Run

PAPERS_PER_BLOCK = 512
CITATIONS_PER_BLOCK = 100_000
"""Papers, and citations, looked at together, which bounds memory."""
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
    ways = count_later_papers(graph, dates, (np.inf, DAYS_PER_YEAR))
    for ending, counts in zip(("", "_1y"), ways, strict=True):
        for name, column in zip(KINDS, counts.T, strict=True):
            table[name + ending] = pd.array(column, dtype="Int64")
        index = cd_index(counts)
        index[np.diff(graph.indptr) == 0] = np.nan
        table["CD" + ending] = pd.Series(index).astype("Float64")
        table["CD" + ending] = table["CD" + ending].mask(np.isnan(index))
    return table


def count_later_papers(
    graph: sparse.csr_array, dates: FloatArray, windows: Sequence[float] = (np.inf,)
) -> list[IntArray]:
    """Later papers of each kind for every paper.

    Args:
        graph: row cites column; the first columns are the papers of the rows, others follow.
        dates: of the rows, in days.
        windows: days after a paper within which later ones count.

    Returns:
        For each window n x 3: those that cite it alone, it and a reference of it, only a
        reference of it.
    """
    count = len(dates)
    ends = graph[:, :count].tocoo()
    citing, cited = (place.astype(np.int64) for place in ends.coords)
    sharing = _sharing(graph, citing, cited)
    found = []
    for window, related in zip(windows, _related(graph, dates, windows), strict=True):
        later = _within(dates[citing] - dates[cited], window)
        it = np.bincount(cited[later], minlength=count)
        both = np.bincount(cited[later & sharing], minlength=count)
        found.append(np.column_stack([it - both, both, related - both]))
    return found


def _sharing(graph: sparse.csr_array, citing: IntArray, cited: IntArray) -> BoolArray:
    """For each citation between papers of the rows, whether both cite something in common."""
    common = np.zeros(len(citing), dtype=bool)
    for first in range(0, len(citing), CITATIONS_PER_BLOCK):
        some = slice(first, first + CITATIONS_PER_BLOCK)
        both = graph[citing[some]].multiply(graph[cited[some]])
        common[some] = both.sum(axis=1) > 0
    return common


def _related(
    graph: sparse.csr_array, dates: FloatArray, windows: Sequence[float]
) -> list[IntArray]:
    """For each window, how many later papers share a reference with each paper."""
    turned = graph.T.tocsr()
    found = [np.zeros(len(dates), dtype=np.int64) for _ in windows]
    for first in range(0, len(dates), PAPERS_PER_BLOCK):
        some = slice(first, first + PAPERS_PER_BLOCK)
        shares = (graph[some] @ turned).tocoo()
        row, own = shares.coords[0], dates[some]
        apart = dates[shares.coords[1]] - own[row]
        for counts, window in zip(found, windows, strict=True):
            counts[some] = np.bincount(row[_within(apart, window)], minlength=len(own))
    return found


def _within(apart: FloatArray, window: float) -> BoolArray:
    return (apart > 0) & (apart <= window)


def cd_index(counts: IntArray) -> FloatArray:
    """CD index of each row of three counts, -1..1; NaN where all are zero."""
    total = counts.sum(axis=1)
    difference = (counts[:, 0] - counts[:, 1]).astype(np.float64)
    index = np.full(len(total), np.nan)
    np.divide(difference, total, out=index, where=total > 0)
    return index


def _graph(names: pd.Series, cites: pd.DataFrame) -> sparse.csr_array:
    """Row cites column, once; papers of the society first, those of the past after them."""
    count = len(names)
    ends = pd.concat([names, cites["citing"], cites["cited"]]).to_numpy(dtype=object)
    codes, _ = pd.factorize(ends)
    rows, cited = np.split(codes[count:].astype(np.int64), 2)
    width = max(int(codes.max(initial=-1)) + 1, 1)
    own = (rows >= 0) & (rows < count) & (cited >= 0) & (rows != cited)
    keys = np.unique((rows * width + cited)[own])
    places = keys // width, keys % width
    return sparse.coo_array((np.ones(len(keys)), places), shape=(count, width)).tocsr()
