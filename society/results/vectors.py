"""The embeddings of the papers of a run, and their file."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from virsci_society.agents.arrays import VectorArray
from virsci_society.agents.errors import DAMAGED_ARCHIVE, InputError
from virsci_society.agents.files.atomic_files import replacing, require_regular_file

MAX_VECTOR_BYTES = 16 * 2**30
"""A file of vectors may hold this much when it is unpacked."""


@dataclass(frozen=True)
class Vectors:
    """The embeddings of the papers that a society has written.

    Attributes:
        ids: ids of the papers, one per row.
        values: float32 array of shape (papers, dimensions).

    Raises:
        InputError: not one row per paper.
    """

    ids: tuple[str, ...]
    values: VectorArray

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or len(self.ids) != len(self.values):
            raise InputError(
                f"vectors of shape {self.values.shape} for {len(self.ids)} papers: expected one "
                "row per paper"
            )


def write_vectors(folder: Path | str, vectors: Vectors) -> None:
    """Write ``vectors.npz`` into a run folder: ``paper_ids`` (text) and ``vectors`` (float32)."""
    ids = np.asarray(vectors.ids, dtype=np.str_)
    with replacing(Path(folder) / "vectors.npz") as path:
        np.savez(path, paper_ids=ids, vectors=vectors.values)


def read_vectors(path: Path) -> Vectors:
    """Read a file ``vectors.npz``; nothing in it is unpickled.

    Raises:
        InputError: not such a file, or it would unfold to more than vectors can be.
    """
    try:
        with zipfile.ZipFile(require_regular_file(path)) as archive:
            if sum(member.file_size for member in archive.infolist()) > MAX_VECTOR_BYTES:
                raise InputError(f"{path}: unfolds to more than {MAX_VECTOR_BYTES} bytes")
        with np.load(path, allow_pickle=False) as arrays:
            ids, values = arrays["paper_ids"], arrays["vectors"]
        return Vectors(tuple(str(paper) for paper in ids), np.asarray(values, dtype=np.float32))
    except DAMAGED_ARCHIVE as error:
        raise InputError(f"{path}: cannot be read as vectors: {error}") from error
