"""Ideas held against the papers that really came later: which of them came true?

Past papers taken as ideas set the threshold: among many later papers something is always near.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.agents.errors import InputError
from virsci_society.metrics.novelty.nearest_papers import VectorSpace
from virsci_society.metrics.novelty.novelty import Database
from virsci_society.society.results.dataframes import typed_table

CHANCE = 0.05
"""Share of unrelated past papers that reach the threshold; a convention, as of tests."""
SAMPLE = 5000
"""Papers that are taken as ideas for the threshold and the controls, at most."""
PAIRS = 10_000
"""Follow-ups and random pairs that are compared, at most."""
DECIMALS = 9
"""Cosines are rounded to so many, so that their last bits decide nothing."""
EDGE = 1e-6
"""Least distance of a threshold from 1, the paper itself, and from 0, a text of unknown words."""
BLOCK = 256
"""Ideas whose similarities to all papers are held at a time."""
MATCHES = {
    "similarity": "Float64",
    "nearest": "string",
    "came_true": "boolean",
    "papers": "Int64",
    "first": "string",
    "first_year": "Int64",
    "citations": "Float64",
    "relative_citations": "Float64",
}


@dataclass(frozen=True)
class Threshold:
    """The similarity from which a later paper counts as an idea come true."""

    value: float
    follow_ups: int
    cited: bool
    recognised: float
    separation: float


def calibrate_threshold(
    past: NDArray[Any], later: NDArray[Any], cited: tuple[IntArray, IntArray], seed: int = 0
) -> Threshold:
    """Set the threshold on the papers of a corpus."""
    old, new = _unit(past), _unit(later)
    chosen, taken = sample_rows(past, seed), sample_rows(later, seed)
    if not len(chosen) or not len(taken):
        raise InputError("no past paper, or no later one, has a word that its embedding knows")
    best = np.empty(len(chosen))
    for block, table in _similarities(old[chosen], new):
        followed = np.isin(cited[0], chosen[block])
        table[np.searchsorted(chosen[block], cited[0][followed]), cited[1][followed]] = -1.0
        best[block] = table.max(axis=1)
    value = float(np.clip(np.quantile(best, 1 - CHANCE, method="higher"), EDGE, 1 - EDGE))
    rng = np.random.default_rng([seed, len(past), len(later)])
    pairs = cited if len(cited[0]) else (nearest(later[taken], past)[0], taken)
    place = rng.permutation(len(pairs[0]))[:PAIRS]
    real = np.einsum("ij,ij->i", old[pairs[0][place]], new[pairs[1][place]])
    drawn = rng.choice(chosen, PAIRS), rng.choice(taken, PAIRS)
    random = np.sort(np.einsum("ij,ij->i", old[drawn[0]], new[drawn[1]]))
    below = [np.searchsorted(random, real, side) for side in ("left", "right")]
    separation = float(np.mean(below) / PAIRS)
    recognised = float(np.mean(real >= value))
    return Threshold(value, len(real), bool(len(cited[0])), recognised, separation)


def match_ideas(
    ideas: NDArray[Any], later: Database, threshold: float, themselves: IntArray | None = None
) -> pd.DataFrame:
    """Find the later papers that are at least as similar to each idea as the threshold."""
    if ideas.ndim != 2 or ideas.shape[1] != later.vectors.shape[1] or not len(later.ids):
        raise InputError("ideas and later papers must be of one embedding, and some be later")
    order = np.lexsort((np.asarray(later.ids, dtype=np.str_), later.years))
    citations = _citations(later)
    rows: list[tuple[Any, ...]] = []
    for block, table in _similarities(_unit(ideas), _unit(later.vectors)):
        if themselves is not None:
            table[np.arange(len(table)), themselves[block]] = -1.0
        for similarity in table:
            best = order[np.argmax(similarity[order])]
            hits = order[similarity[order] >= threshold]
            near = (similarity[best], later.ids[best], len(hits) > 0, len(hits))
            first = (later.ids[hits[0]], later.years[hits[0]]) if len(hits) else (None, None)
            rows.append((*near, *first, *(one.iloc[hits].mean() for one in citations)))
    return typed_table(rows, MATCHES)


def nearest(ideas: NDArray[Any], papers: NDArray[Any]) -> tuple[IntArray, FloatArray]:
    """The row of the paper most similar to each idea, of equal ones the first, and the cosine."""
    rows, cosines = np.zeros(len(ideas), dtype=np.int64), np.zeros(len(ideas))
    for block, table in _similarities(_unit(ideas), _unit(papers)):
        rows[block], cosines[block] = table.argmax(axis=1), table.max(axis=1)
    return rows, cosines


def sample_rows(vectors: NDArray[Any], seed: int = 0) -> IntArray:
    """At most ``SAMPLE`` rows of papers, ascending, none of a zero vector."""
    rows = np.flatnonzero(vectors.any(axis=1))
    rng = np.random.default_rng([seed, len(vectors)])
    return rows if len(rows) <= SAMPLE else np.sort(rng.choice(rows, SAMPLE, replace=False))


def _unit(vectors: NDArray[Any]) -> FloatArray:
    return VectorSpace(vectors, unit=True, squared=False).rows(slice(None))


def _similarities(ideas: FloatArray, papers: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
    """Cosines of unit rows, block by block, in arrays of their own."""
    for start in range(0, len(ideas), BLOCK):
        block = slice(start, min(start + BLOCK, len(ideas)))
        yield block, np.round(ideas[block] @ papers.T, DECIMALS)


def _citations(later: Database) -> tuple[pd.Series, pd.Series]:
    """Counts of the later papers, and each over the mean of its year; NaN where unknown."""
    given = later.citations
    counts = pd.Series(np.full(len(later.ids), np.nan) if given is None else given, dtype="float64")
    means = counts.groupby(np.asarray(later.years)).transform("mean")
    return counts, counts / means.where(means > 0)
