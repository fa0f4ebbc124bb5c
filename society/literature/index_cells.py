"""Cells: an inverted file over rows that never change, for what is too much to search whole.

The rows are sorted into cells around centres found by k-means; a search looks into the nearest
cells only and compares codes of one byte a number. It is approximate, so its recall is measured
when it is built, on probes drawn by a fixed seed, and as many cells are looked into as the mark
needs. It proposes rows, several for each one sought, because codes do not tell near equals apart;
whoever asks ranks them from the rows themselves.

The same rows give the same cells on any number of threads: training and sorting use one.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import faiss
import numpy as np
import numpy.typing as npt

from society.literature.index_flat import Rows, Vectors

Gaps = npt.NDArray[np.float64]
Metric = Literal["distance", "cosine"]

SEED = 20_240_417
SAMPLE = 40
"""Rows per cell that the centres are found on."""
ROUNDS = 10
PROBES = 200
"""Rows that recall is measured with, each left out of what is searched for it."""
DRAWN = 4096
"""Rows among which the probes are taken."""
NEAREST = 5
"""Neighbours that recall counts."""
AIM = 0.985
"""Measured recall that decides how many cells are looked into.

The promise is 0.97: a query of two words lies farther from the rows than these do from each other,
and was seen to find 1.5 % less.
"""
COMPARED = (4, 16, 64)
"""Rows proposed for each one sought: the first of these with which codes allow the aim."""
SHORT = 0.01
"""Where none of them does, recall may stay this much below what looking into every cell finds."""
WIDER = 4
BLOCK = 65_536


@dataclass(frozen=True, eq=False)
class Sorting:
    """What it takes to sort the same rows into the same cells again.

    Attributes:
        centres: one float32 row per cell.
        cell_of: the cell of each row.
        scale: the ranges of the one-byte codes, as faiss lays them out.
        probed: cells looked into when every row is visible.
        compared: rows proposed for each one sought.
        recall: share of the true nearest rows found so; NaN before it is measured.
    """

    centres: Vectors
    cell_of: npt.NDArray[np.int32]
    scale: Vectors
    probed: int = 1
    compared: int = COMPARED[0]
    recall: float = math.nan


def cells_for(count: int) -> int:
    """The number of cells for so many rows: the power of two at or above 2 sqrt(count)."""
    return 1 << max(0, math.ceil(math.log2(2.0 * math.sqrt(max(1, count)))))


class Cells:
    """Rows in cells.

    Args:
        rows: float32, of unit length where the metric is the cosine; only codes are kept.
        sorting: how they were sorted before; found from the rows where it is not given.
        metric: what near means: a small Euclidean distance or a large cosine.
    """

    def __init__(
        self, rows: Vectors, sorting: Sorting | None = None, metric: Metric = "distance"
    ) -> None:
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        self.count, self.dim = len(rows), int(rows.shape[1])
        self._metric = metric
        faiss.omp_set_num_threads(1)
        with threadpool_limits(limits=1):
            found = sorting or _sort(rows, metric)
            self._index = _filled(rows, found, metric)
            self.sorting = found if sorting else self._measured(rows, found)

    @property
    def facts(self) -> dict[str, Any]:
        """How rows are searched, and with what measured recall."""
        return {
            "search": "cells",
            "recall": self.sorting.recall,
            "cells": len(self.sorting.centres),
            "probed": self.sorting.probed,
            "compared": self.sorting.compared,
        }

    def propose(self, point: Vectors, k: int, visible: int, hidden: Collection[int] = ()) -> Rows:
        """Some of the first ``visible`` rows, among which to look for the ``k`` nearest.

        They are the ``compared`` times k nearest by their codes, or more; fewer only where fewer
        are visible. Rows with equal codes are proposed together or not at all, so that which of
        them is chosen is left to their ids.
        """
        count = k * self.sorting.compared
        return self._propose(point, count, visible, hidden, self._probes(visible))

    def _probes(self, visible: int) -> int:
        # The nearest of fewer rows are farther away: as many rows are compared as ever.
        share = self.sorting.probed * self.count / max(1, visible)
        return min(len(self.sorting.centres), math.ceil(share))

    def _propose(
        self, point: Vectors, count: int, visible: int, hidden: Collection[int], probed: int
    ) -> Rows:
        faiss.omp_set_num_threads(1)
        every = int(self._index.nlist)
        want, enough = count + 1, min(count, visible - len(hidden))
        chosen = _selector(visible, hidden)
        while True:
            settings = faiss.SearchParametersIVF()
            settings.nprobe, settings.sel = probed, chosen
            gaps, rows = self._index.search(point[None, :], want, params=settings)
            proposed: Rows = rows[0].astype(np.int64)
            found = int((proposed >= 0).sum())
            if found == want:
                # The last may have equals that were left out.
                whole = int((gaps[0] != gaps[0, -1]).sum())
                if whole >= count:
                    return proposed[:whole]
                want *= WIDER
            elif found >= enough or probed == every:
                return proposed[:found]
            else:
                probed = min(every, WIDER * probed)

    def _measured(self, rows: Vectors, sorting: Sorting) -> Sorting:
        """The sorting with the fewest cells, and rows for each one sought, that reach the aim."""
        picked, truth = _truth(rows, self._metric)
        every = len(sorting.centres)
        for compared in COMPARED:
            possible = self._recall(rows, picked, truth, every, compared)
            if possible >= AIM:
                break
        aim, probed = AIM if possible >= AIM else possible - SHORT, 1
        while True:
            recall = self._recall(rows, picked, truth, probed, compared)
            if recall >= aim or probed == every:
                found = round(recall, 4)
                return replace(sorting, probed=probed, compared=compared, recall=found)
            probed = min(every, probed + max(1, probed // 2))

    def _recall(
        self, rows: Vectors, picked: Rows, truth: Gaps, probed: int, compared: int
    ) -> float:
        found = 0
        for row, farthest in zip(picked.tolist(), truth, strict=True):
            point = np.ascontiguousarray(rows[row])
            near = self._propose(point, compared * NEAREST, self.count, (row,), probed)
            gaps = np.sort(_gaps(np.asarray(rows[np.sort(near)]), point, self._metric))
            # By distance, not by row: of equals any is right.
            found += int((gaps[:NEAREST] <= farthest + 1e-6).sum())
        return found / (NEAREST * len(picked)) if len(picked) else 1.0


def _sort(rows: Vectors, metric: Metric) -> Sorting:
    count, dim = rows.shape
    cells = min(cells_for(count), count)
    rng = np.random.default_rng(SEED)
    sample = np.sort(rng.choice(count, min(count, SAMPLE * cells), replace=False))
    index = _empty(dim, cells, metric)
    index.cp.seed, index.cp.niter = SEED, ROUNDS
    index.cp.min_points_per_centroid, index.cp.max_points_per_centroid = 1, SAMPLE
    index.cp.spherical = metric == "cosine"
    index.train(np.ascontiguousarray(rows[sample]))
    cell_of = np.empty(count, dtype=np.int32)
    for start, block in _blocks(rows):
        cell_of[start : start + len(block)] = index.quantizer.search(block, 1)[1][:, 0]
    centres = index.quantizer.reconstruct_n(0, cells)
    return Sorting(centres, cell_of, faiss.vector_to_array(index.sq.trained))


def _empty(dim: int, cells: int, metric: Metric) -> faiss.IndexIVFScalarQuantizer:
    inner = metric == "cosine"
    coarse = faiss.IndexFlatIP(dim) if inner else faiss.IndexFlatL2(dim)
    near = faiss.METRIC_INNER_PRODUCT if inner else faiss.METRIC_L2
    code = faiss.ScalarQuantizer.QT_8bit
    return faiss.IndexIVFScalarQuantizer(coarse, dim, cells, code, near, True)


def _filled(rows: Vectors, sorting: Sorting, metric: Metric) -> faiss.IndexIVFScalarQuantizer:
    index = _empty(rows.shape[1], len(sorting.centres), metric)
    index.quantizer.add(sorting.centres)
    faiss.copy_array_to_vector(sorting.scale, index.sq.trained)
    index.is_trained = True
    for start, block in _blocks(rows):
        cells = sorting.cell_of[start : start + len(block)].astype(np.int64)
        place = faiss.swig_ptr(cells)
        index.add_core(len(block), faiss.swig_ptr(block), None, place)
    return index


def _blocks(rows: Vectors) -> Iterator[tuple[int, Vectors]]:
    for start in range(0, len(rows), BLOCK):
        yield start, np.ascontiguousarray(rows[start : start + BLOCK], dtype=np.float32)


def _selector(visible: int, hidden: Collection[int]) -> faiss.IDSelector:
    seen = faiss.IDSelectorRange(0, visible)
    if not hidden:
        return seen
    gone = faiss.IDSelectorBatch(np.fromiter(hidden, np.int64, len(hidden)))
    return faiss.IDSelectorAnd(seen, faiss.IDSelectorNot(gone))


def _truth(rows: Vectors, metric: Metric) -> tuple[Rows, Gaps]:
    """Probe rows and the gap of the last of each one's true nearest, itself left out."""
    rng = np.random.default_rng(SEED + 1)
    drawn = rng.choice(len(rows), min(DRAWN, len(rows)), replace=False)
    # A row without any number is equally near to all: whatever is found for it would be right.
    known = np.asarray(rows[np.sort(drawn)]).any(axis=1)
    picked = np.sort(np.sort(drawn)[known][:: max(1, int(known.sum()) // PROBES)][:PROBES])
    points = np.ascontiguousarray(rows[picked])
    best = np.full((len(picked), NEAREST), np.inf, dtype=np.float64)
    for start, block in _blocks(rows):
        near = faiss.METRIC_INNER_PRODUCT if metric == "cosine" else faiss.METRIC_L2
        _, found = faiss.knn(points, block, min(len(block), NEAREST + 1), metric=near)
        for place, point in enumerate(points):
            others = found[place][found[place] + start != picked[place]]
            gaps = _gaps(block[others], point, metric)
            best[place] = np.sort(np.concatenate([best[place], gaps]))[:NEAREST]
    return picked, best[:, -1]


def _gaps(rows: Vectors, point: Vectors, metric: Metric) -> Gaps:
    """What is least for the nearest: squared distances, or cosines turned round."""
    exact = rows.astype(np.float64)
    gaps: Gaps = np.square(exact - point).sum(axis=1)
    if metric == "cosine":
        gaps = -(exact * point).sum(axis=1)
    return gaps
