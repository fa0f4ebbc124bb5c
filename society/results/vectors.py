"""Vectors: the embeddings of a run's papers, and the plain files of a run folder."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.errors import InputError
from society.archives import TROUBLE

MAX_VECTOR_BYTES = 16 * 2**30


@dataclass(frozen=True)
class Vectors:
    """Embeddings of the society's papers.

    Attributes:
        ids: paper ids, one per row.
        values: float32, papers x dimensions.
    """

    ids: tuple[str, ...]
    values: NDArray[np.float32]

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or len(self.ids) != len(self.values):
            raise InputError(
                f"vectors of shape {self.values.shape} for {len(self.ids)} papers: expected one "
                "row per paper"
            )


def write_vectors(folder: Path | str, vectors: Vectors) -> None:
    """Write ``vectors.npz``: ``paper_ids`` (text) and ``vectors`` (float32, papers x d)."""
    ids = np.asarray(vectors.ids, dtype=np.str_)
    np.savez(Path(folder) / "vectors.npz", paper_ids=ids, vectors=vectors.values)


def read_vectors(path: Path) -> Vectors:
    """Read ``vectors.npz``; nothing is unpickled.

    Raises:
        InputError: not such a file, or it would unfold to more than vectors can be.
    """
    try:
        with zipfile.ZipFile(regular(path)) as archive:
            if sum(member.file_size for member in archive.infolist()) > MAX_VECTOR_BYTES:
                raise InputError(f"{path}: unfolds to more than {MAX_VECTOR_BYTES} bytes")
        with np.load(path, allow_pickle=False) as arrays:
            ids, values = arrays["paper_ids"], arrays["vectors"]
        return Vectors(tuple(str(one) for one in ids), np.asarray(values, dtype=np.float32))
    except TROUBLE as error:
        raise InputError(f"{path}: cannot be read as vectors: {error}") from error


def regular(path: Path) -> Path:
    """The path of a plain file.

    Raises:
        InputError: it is a link or a device.
    """
    if path.is_symlink() or not path.is_file():
        raise InputError(f"{path}: not a regular file; a run folder holds plain files only")
    return path
