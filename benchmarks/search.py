"""What a search among very many rows takes, beside a bare flat index over the same rows (H12).

Rows are drawn from a mixture of clusters by a fixed seed, at unit length, into a memory-mapped
file. Each size is a row: seconds to build (wall, CPU), bytes held a row beside that file,
milliseconds a query alone (wall, CPU), recall of the five nearest of queries drawn afterwards, and
the longest time that adding one row took. Flat is faiss alone, which holds every row and is exact.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import faiss
import pyarrow as pa

from virsci_society.society.literature.columns import IdColumn, Ids
from virsci_society.society.literature.vector_index import VectorIndex

SIZES = ((10_000, 1024), (50_000, 1024), (200_000, 1024), (2_000_000, 64))
SHORT_SIZES = ((10_000, 1024), (50_000, 1024), (200_000, 64))
CLUSTERS, NOISE = 500, 1.0
"""Clusters, and the length of a row's own part against that of its cluster."""
QUERIES, ADDED, K = 200, 2_000, 5
BLOCK = 20_000


class Mixture:
    """Unit rows around random centres."""

    def __init__(self, dim: int, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._centres = _unit(self._rng.standard_normal((CLUSTERS, dim), dtype=np.float32))

    def draw(self, count: int) -> np.ndarray:
        """So many new rows."""
        centres = self._centres[self._rng.integers(CLUSTERS, size=count)]
        own = self._rng.standard_normal(centres.shape, dtype=np.float32)
        return _unit(centres + NOISE * own / np.sqrt(centres.shape[1], dtype=np.float32))


class Bare:
    """A flat index of the library, called as ours is."""

    def __init__(self, dim: int, rows: np.ndarray) -> None:
        faiss.omp_set_num_threads(1)
        self._index = faiss.IndexFlatL2(dim)
        self._index.add(rows)

    def search(self, query: np.ndarray, k: int, visible: int) -> list[tuple[int, float]]:
        """The nearest of the first rows, in the library's own order."""
        settings = faiss.SearchParameters()
        settings.sel = before = faiss.IDSelectorRange(0, visible)
        squares, rows = self._index.search(query[None, :], k, params=settings)
        del before
        return list(zip(rows[0].tolist(), np.sqrt(squares[0]).tolist(), strict=True))

    def add(self, ids: list[str], rows: np.ndarray) -> None:
        """Append a row."""
        self._index.add(rows)


def measure(count: int, dim: int, folder: Path) -> list[dict[str, Any]]:
    """Both indexes over the same rows."""
    mixture = Mixture(dim, seed=1)
    path = folder / "rows.npy"
    file = np.lib.format.open_memmap(path, "w+", np.float32, (count, dim))
    for start in range(0, count, BLOCK):
        file[start : start + BLOCK] = mixture.draw(min(BLOCK, count - start))
    file.flush()
    rows = np.load(path, mmap_mode="r")
    queries, added = mixture.draw(QUERIES), mixture.draw(ADDED)
    truth = None
    told = []
    ids = IdColumn(pa.chunked_array([[f"p{number:07d}" for number in range(count)]]))
    # Puts them in order, as a literature does when it starts.
    ids.repeated()
    makers: dict[str, Callable[[], Any]] = {
        "flat": lambda: Bare(dim, rows),
        "ours": lambda: VectorIndex(dim, Ids(ids, ids.row_of), rows),
    }
    for name, make in makers.items():
        figures, found = one(make, rows, queries, added)
        truth = found if truth is None else truth
        recall = np.mean([len(set(a) & set(b)) / K for a, b in zip(truth, found, strict=True)])
        told.append({"rows": count, "dim": dim, "index": name} | figures | {"recall@5": recall})
    return [{key: _short(value) for key, value in row.items()} for row in told]


def one(
    make: Callable[[], Any], rows: np.ndarray, queries: np.ndarray, added: np.ndarray
) -> tuple[dict[str, Any], list[list[int]]]:
    """Figures of one index, and what it found."""
    before, wall, cpu = held(), time.perf_counter(), time.process_time()
    index = make()
    built = (time.perf_counter() - wall, time.process_time() - cpu)
    size = (held() - before) / len(rows)
    for query in queries[:20]:
        index.search(query, K, len(rows))
    wall, cpu = time.perf_counter(), time.process_time()
    found = [[row for row, _ in index.search(query, K, len(rows))] for query in queries]
    asked = (time.perf_counter() - wall, time.process_time() - cpu)
    worst = 0.0
    for number, row in enumerate(added):
        began = time.perf_counter()
        index.add([f"new{number}"], row[None, :])
        worst = max(worst, time.perf_counter() - began)
    figures = {
        "build s": built[0],
        "build CPU s": built[1],
        "bytes a row": round(size),
        "ms a query": 1000 * asked[0] / len(queries),
        "CPU ms a query": 1000 * asked[1] / len(queries),
        "worst add ms": 1000 * worst,
    }
    if isinstance(index, VectorIndex):
        figures |= {"told": index.facts}
    return figures, found


def held() -> int:
    """Bytes of memory of this process that no file stands behind."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("RssAnon"):
            return 1024 * int(line.split()[1])
    return 0


def _unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _short(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value


def main() -> None:
    """Print a row per size and index."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--full", action="store_true", help="more rows, ten minutes")
    parser.add_argument("--json", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    table: list[dict[str, Any]] = []
    for count, dim in SIZES if args.full else SHORT_SIZES:
        with tempfile.TemporaryDirectory() as folder:
            told = measure(count, dim, Path(folder))
        for row in told:
            print(", ".join(f"{key} {value}" for key, value in row.items()), flush=True)
        table += told
    args.json.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
