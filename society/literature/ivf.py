"""An inverted file (IVF) of scalar-quantised vectors over rows that never change.

As many cells are searched as a target recall needs. Source: Jegou et al. 2011; faiss.
"""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import faiss
import numpy as np
import numpy.typing as npt

from virsci_society.agents.arrays import FloatArray, IntArray, VectorArray, one_blas_thread
from virsci_society.society.literature.embedding.cache import vector_table

Metric = Literal["distance", "cosine"]

SEED = 20_240_417
SAMPLE = 40
"""Rows per cell on which k-means is trained."""
ROUNDS = 10
"""Iterations of k-means."""
PROBES = 200
"""Rows on which recall is measured; each is excluded from its own search."""
DRAWN = 4096
"""Rows among which the probes are taken."""
NEAREST = 5
"""Neighbours of a probe that recall counts."""
TARGET_RECALL = 0.985
"""Measured recall at which no more cells are added to a search.

The promise is 0.97: a query of two words lies farther from the rows than these do from each other,
and its recall was measured to be 0.015 lower.
"""
COMPARED = 16
"""Rows proposed for each one wanted, because codes do not separate near-equal distances."""
WIDER = 4
"""Factor by which a search is widened that has found too few rows."""
BLOCK = 65_536
"""Rows that are handled at a time when all are read."""


@dataclass(frozen=True, eq=False)
class IVFLayout:
    """What it takes to build the same index of the same rows again without training."""

    centres: VectorArray
    cell_of: npt.NDArray[np.int32]
    scale: VectorArray
    probed: int = 1
    recall: float = math.nan


class IVFIndex:
    """An inverted file over fixed float32 rows, of unit length where the metric is the cosine."""

    def __init__(
        self, rows: VectorArray, layout: IVFLayout | None = None, metric: Metric = "distance"
    ) -> None:
        self.count, self.dim = len(rows), int(rows.shape[1])
        self._metric = metric
        # Several threads add numbers in another order, and the same rows would give other cells.
        faiss.omp_set_num_threads(1)
        with one_blas_thread():
            arrays = layout or _train(rows, metric)
            self._index = _filled(rows, arrays, metric)
            self.layout = arrays if layout else self._tuned(rows, arrays)

    @property
    def facts(self) -> dict[str, Any]:
        """How rows are searched and with what measured recall, for the manifest of a run."""
        return {
            "search": "cells",
            "recall": self.layout.recall,
            "cells": len(self.layout.centres),
            "probed": self.layout.probed,
        }

    def propose(
        self, point: VectorArray, k: int, visible: int, hidden: Collection[int] = ()
    ) -> IntArray:
        """Propose visible rows among which the ``k`` nearest are to be found."""
        # Where fewer rows are visible, more cells are searched, so that the number of rows
        # compared, and with it the recall, stays as it was measured.
        probed = math.ceil(self.layout.probed * self.count / max(1, visible))
        probed = min(len(self.layout.centres), probed)
        return self._propose(point, k * COMPARED, visible, hidden, probed)

    def _propose(
        self, point: VectorArray, count: int, visible: int, hidden: Collection[int], probed: int
    ) -> IntArray:
        # Before each search: OpenMP keeps this number per thread, and any thread may search.
        faiss.omp_set_num_threads(1)
        every = int(self._index.nlist)
        # One more than is needed shows whether rows equal to the last one were cut off.
        want, enough = count + 1, min(count, visible - len(hidden))
        chosen: faiss.IDSelector = faiss.IDSelectorRange(0, visible)
        if hidden:
            gone = faiss.IDSelectorBatch(np.fromiter(hidden, np.int64, len(hidden)))
            chosen = faiss.IDSelectorAnd(chosen, faiss.IDSelectorNot(gone))
        while True:
            settings = faiss.SearchParametersIVF()
            settings.nprobe, settings.sel = probed, chosen
            gaps, rows = self._index.search(point[None, :], want, params=settings)
            proposed: IntArray = rows[0].astype(np.int64)
            count_found = int((proposed >= 0).sum())
            if count_found == want:
                # Codes equal to the last one may have been cut off: propose equals together or
                # not at all, because their ids decide between them (rule 14).
                whole = int((gaps[0] != gaps[0, -1]).sum())
                if whole >= count:
                    return proposed[:whole]
                want *= WIDER
            elif count_found >= enough or probed == every:
                return proposed[:count_found]
            else:
                probed = min(every, WIDER * probed)

    def _tuned(self, rows: VectorArray, layout: IVFLayout) -> IVFLayout:
        """The layout with the fewest cells searched that reach the target recall."""
        picked, truth = _truth(rows, self._metric)
        probed = 1
        while True:
            hits = 0
            for row, farthest in zip(picked.tolist(), truth, strict=True):
                point = np.ascontiguousarray(rows[row])
                near = self._propose(point, COMPARED * NEAREST, self.count, (row,), probed)
                gaps = np.sort(_gaps(np.asarray(rows[np.sort(near)]), point, self._metric))
                # By distance, not by row number: any of several equal rows counts as found.
                hits += int((gaps[:NEAREST] <= farthest + 1e-6).sum())
            recall = hits / (NEAREST * len(picked)) if len(picked) else 1.0
            if recall >= TARGET_RECALL or probed == len(layout.centres):
                return replace(layout, probed=probed, recall=round(recall, 4))
            probed = min(len(layout.centres), probed + max(1, probed // 2))


def _train(rows: VectorArray, metric: Metric) -> IVFLayout:
    count, dim = rows.shape
    # The power of two at or above 2 sqrt(count).
    cells = min(1 << math.ceil(math.log2(2.0 * math.sqrt(count))), count)
    rng = np.random.default_rng(SEED)
    sample = np.sort(rng.choice(count, min(count, SAMPLE * cells), replace=False))
    index = _empty(dim, cells, metric)
    # k-means begins at random rows; a fixed seed gives the same cells for the same rows.
    index.cp.seed, index.cp.niter = SEED, ROUNDS
    # Outside these bounds faiss would warn, or draw its own sample.
    index.cp.min_points_per_centroid, index.cp.max_points_per_centroid = 1, SAMPLE
    index.cp.spherical = metric == "cosine"
    index.train(np.ascontiguousarray(rows[sample]))
    cell_of = np.empty(count, dtype=np.int32)
    for start, block in _blocks(rows):
        cell_of[start : start + len(block)] = index.quantizer.search(block, 1)[1][:, 0]
    centres = index.quantizer.reconstruct_n(0, cells)
    return IVFLayout(centres, cell_of, faiss.vector_to_array(index.sq.trained))


def _empty(dim: int, cells: int, metric: Metric) -> faiss.IndexIVFScalarQuantizer:
    inner = metric == "cosine"
    coarse = faiss.IndexFlatIP(dim) if inner else faiss.IndexFlatL2(dim)
    near = faiss.METRIC_INNER_PRODUCT if inner else faiss.METRIC_L2
    code = faiss.ScalarQuantizer.QT_8bit
    return faiss.IndexIVFScalarQuantizer(coarse, dim, cells, code, near, True)


def _filled(rows: VectorArray, layout: IVFLayout, metric: Metric) -> faiss.IndexIVFScalarQuantizer:
    index = _empty(rows.shape[1], len(layout.centres), metric)
    index.quantizer.add(layout.centres)
    faiss.copy_array_to_vector(layout.scale, index.sq.trained)
    index.is_trained = True
    for start, block in _blocks(rows):
        # The cells are given and not searched again, so a layout makes the same index wherever it
        # is read.
        cells = layout.cell_of[start : start + len(block)].astype(np.int64)
        pointer = faiss.swig_ptr(cells)
        index.add_core(len(block), faiss.swig_ptr(block), None, pointer)
    return index


def _blocks(rows: VectorArray) -> Iterator[tuple[int, VectorArray]]:
    for start in range(0, len(rows), BLOCK):
        yield start, np.ascontiguousarray(rows[start : start + BLOCK], dtype=np.float32)


def _truth(rows: VectorArray, metric: Metric) -> tuple[IntArray, FloatArray]:
    """Choose probe rows; compute for each the gap of its last true neighbour, without itself."""
    rng = np.random.default_rng(SEED + 1)
    drawn = rng.choice(len(rows), min(DRAWN, len(rows)), replace=False)
    # A zero row is equally near to all rows; as a probe it would raise the recall.
    drawn = np.sort(drawn)
    drawn = drawn[np.asarray(rows[drawn]).any(axis=1)]
    picked = drawn[:: max(1, len(drawn) // PROBES)][:PROBES]
    points = np.ascontiguousarray(rows[picked])
    best = np.full((len(picked), NEAREST), np.inf, dtype=np.float64)
    for start, block in _blocks(rows):
        near = faiss.METRIC_INNER_PRODUCT if metric == "cosine" else faiss.METRIC_L2
        _, neighbours = faiss.knn(points, block, min(len(block), NEAREST + 1), metric=near)
        for index, point in enumerate(points):
            others = neighbours[index][neighbours[index] + start != picked[index]]
            gaps = _gaps(block[others], point, metric)
            best[index] = np.sort(np.concatenate([best[index], gaps]))[:NEAREST]
    return picked, best[:, -1]


def _gaps(rows: VectorArray, point: VectorArray, metric: Metric) -> FloatArray:
    """Dissimilarities that are least for the nearest: squared distances, or negative cosines."""
    # In float64, as the distances by which the caller ranks the rows (rule 14).
    exact = rows.astype(np.float64)
    gaps: FloatArray = np.square(exact - point).sum(axis=1)
    if metric == "cosine":
        gaps = -(exact * point).sum(axis=1)
    return gaps


VERSION = 4
ORIGIN = "layout of an inverted file"
"""Under which a layout is kept in the table of vectors."""
NAMES = ("centres", "cell_of", "scale")


def load_or_build_index(rows: VectorArray, metric: Metric = "distance") -> IVFIndex:
    """Build the index of rows; its layout is kept in the table of vectors for the next run."""
    table, key = vector_table(), layout_key(rows, metric)
    if (kept := table.get(ORIGIN, key)) is not None:
        with np.load(io.BytesIO(kept), allow_pickle=False) as arrays:
            probed, recall = arrays["measured"].tolist()
            stored = {name: arrays[name] for name in NAMES}
            layout = IVFLayout(**stored, probed=int(probed), recall=recall)
        return IVFIndex(rows, layout, metric)
    index = IVFIndex(rows, None, metric)
    layout, held = index.layout, io.BytesIO()
    numbers = {name: getattr(layout, name) for name in NAMES}
    np.savez(held, measured=np.array([layout.probed, layout.recall]), **numbers)
    table.put(ORIGIN, {key: held.getvalue()})
    return index


def layout_key(rows: VectorArray, metric: Metric) -> str:
    """SHA-256 of all that a layout depends on: rows, constants of the training, and faiss."""
    training = (SEED, SAMPLE, ROUNDS, PROBES, DRAWN, NEAREST, TARGET_RECALL, COMPARED)
    parameters = (VERSION, faiss.__version__, metric, rows.shape, *training)
    hasher = hashlib.sha256(repr(parameters).encode())
    for start in range(0, len(rows), BLOCK):
        # In one byte order, so that the key is the same on every machine.
        hasher.update(np.ascontiguousarray(rows[start : start + BLOCK], dtype="<f4").data)
    return hasher.hexdigest()
