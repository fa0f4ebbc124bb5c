"""Kept cells: how rows were sorted into cells, on disk, so that the next run need not find it.

Kept are plain arrays, never an index of a library: nothing in the file is an address or code,
and one that does not belong to the rows, or that is damaged, is passed over and made again.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np

from society.archives import TROUBLE
from society.literature.index_cells import (
    AIM,
    COMPARED,
    SAMPLE,
    SEED,
    Cells,
    Metric,
    Sorting,
    cells_for,
)
from society.literature.index_flat import Vectors

VERSION = 2
BLOCK = 65_536
NAMES = ("centres", "cell_of", "scale", "measured", "key")
HEADERS = 4096


def cells_of(rows: Vectors, path: Path | None = None, metric: Metric = "distance") -> Cells:
    """The cells of some rows, as kept in a file, or found anew and kept there if it may be."""
    if path is None:
        return Cells(rows, metric=metric)
    key = key_of(rows, metric)
    sorting = read_sorting(path, key, len(rows), rows.shape[1])
    cells = Cells(rows, sorting, metric)
    if sorting is None:
        write_sorting(path, key, cells.sorting)
    return cells


def key_of(rows: Vectors, metric: Metric) -> str:
    """Hash of all that a sorting depends on: the rows, and how they are sorted."""
    settled = (VERSION, metric, rows.shape, SEED, SAMPLE, AIM, COMPARED)
    whole = hashlib.sha256(repr(settled).encode())
    for start in range(0, len(rows), BLOCK):
        whole.update(np.ascontiguousarray(rows[start : start + BLOCK], dtype="<f4").data)
    return whole.hexdigest()


def write_sorting(path: Path, key: str, sorting: Sorting) -> bool:
    """Write a sorting whole or not at all; False where the folder takes no file."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with unfinished.open("wb") as file:
            np.savez(
                file,
                centres=sorting.centres,
                cell_of=sorting.cell_of,
                scale=sorting.scale,
                measured=np.array([sorting.probed, sorting.compared, sorting.recall]),
                key=np.frombuffer(bytes.fromhex(key), dtype=np.uint8),
            )
        unfinished.replace(path)
    except OSError:
        with suppress(OSError):
            unfinished.unlink()
        return False
    return True


def read_sorting(path: Path, key: str, count: int, dim: int) -> Sorting | None:
    """The sorting that a file keeps of rows with this key; None where it keeps no such thing."""
    cells = min(cells_for(count), count)
    try:
        # A file that would unpack to more than the arrays can hold is not unpacked.
        room = 4 * (cells * dim + count + 2 * dim) + HEADERS * len(NAMES)
        with zipfile.ZipFile(path) as inside:
            if sum(entry.file_size for entry in inside.infolist()) > room:
                return None
        with np.load(path, allow_pickle=False) as arrays:
            found = {name: arrays[name] for name in NAMES}
    except TROUBLE:
        return None
    if found["key"].tobytes() != bytes.fromhex(key) or found["measured"].shape != (3,):
        return None
    probed, compared, recall = found["measured"].tolist()
    arrays = (found["centres"], found["cell_of"], found["scale"])
    if not (1 <= probed <= cells and compared in COMPARED and 0 <= recall <= 1):
        return None
    sorting = Sorting(*arrays, int(probed), int(compared), recall)
    return sorting if _fits(sorting, cells, count, dim) else None


def _fits(sorting: Sorting, cells: int, count: int, dim: int) -> bool:
    """Every array has its shape and kind, and no cell lies outside."""
    shapes = ((sorting.centres, (cells, dim), "f4"), (sorting.scale, (2 * dim,), "f4"))
    for array, shape, kind in shapes:
        if array.shape != shape or array.dtype != kind or not np.isfinite(array).all():
            return False
    cell_of = sorting.cell_of
    if cell_of.shape != (count,) or cell_of.dtype != "i4":
        return False
    return not count or (int(cell_of.min()) >= 0 and int(cell_of.max()) < cells)
