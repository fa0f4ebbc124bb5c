"""The interface of an embedding, and what all embeddings share: rounding, paper texts, settings.

An embedding turns texts into float32 vectors of unit length. It has a name and a revision, so that
vectors of different models are never mixed.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from virsci_society.agents.arrays import VectorArray
from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import write_atomically

if TYPE_CHECKING:
    from virsci_society.society.literature.embedding.cache import EmbeddingCache

Progress = Callable[[int, int], None]
"""Called with the number of texts that are embedded and the number of all texts."""

DECIMALS = 5
"""Decimals to which vectors are rounded, so that equal texts search equally on any machine."""
BATCH_TEXTS = 2048
"""Texts of a corpus that are encoded together."""
SETTINGS_FILE = "embedding.json"


class Embedding(ABC):
    """Maps texts to float32 rows of unit length; a text without meaning gives a zero row."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Short name; the name of the folder in an ecosystem is made from it."""

    @property
    @abstractmethod
    def revision(self) -> str:
        """Identifies exactly what makes the vectors: a hash or a pinned version."""

    @property
    @abstractmethod
    def dim(self) -> int:
        """Length of a row."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on how the vectors are made, for every report that uses them."""
        return ()

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> VectorArray:
        """Encode texts, one row each (texts x dim); a row depends on its own text only."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write what ``load_embedding`` needs into an existing folder."""

    def encode_queries(self, texts: Sequence[str]) -> VectorArray:
        """Encode texts that are searched for; for most models the same as ``encode``."""
        return self.encode(texts)

    def encode_all(
        self,
        texts: Sequence[str],
        *,
        out: VectorArray | None = None,
        cache: EmbeddingCache | None = None,
        progress: Progress | None = None,
    ) -> VectorArray:
        """Encode a corpus in batches.

        Args:
            texts: the corpus.
            out: array that receives the rows, texts x dim and float32, such as a memory-mapped
                file; None: a new array.
            cache: keeps rows from one attempt at the corpus to the next; used by models whose rows
                are expensive.
            progress: called after every batch.

        Returns:
            The rows, texts x dim; ``out`` where it is given.
        """
        rows = self._output_array(texts, out)
        for start in range(0, len(texts), BATCH_TEXTS):
            some = texts[start : start + BATCH_TEXTS]
            rows[start : start + len(some)] = self.encode(some)
            if progress is not None:
                progress(start + len(some), len(texts))
        return rows

    def _output_array(self, texts: Sequence[str], out: VectorArray | None) -> VectorArray:
        """The given output array after a check of its shape and type, or a new array of zeros."""
        shape = (len(texts), self.dim)
        if out is None:
            return np.zeros(shape, dtype=np.float32)
        if out.shape != shape or out.dtype != np.float32:
            raise ValueError(f"rows of shape {out.shape}, {out.dtype}; expected {shape}, float32")
        return out


def paper_text(title: str, abstract: str) -> str:
    """The text by which a paper is embedded: its title and its abstract."""
    return f"{title}. {abstract}"


def unit_rows(rows: npt.ArrayLike) -> VectorArray:
    """Scale rows to unit length and round them to 1e-5; rows of length zero stay zero."""
    wide = np.asarray(rows, dtype=np.float64)
    lengths = np.sqrt(np.square(wide).sum(axis=1, keepdims=True))
    return np.round(wide / np.where(lengths > 0, lengths, 1.0), DECIMALS).astype(np.float32)


def write_settings(folder: Path, settings: Mapping[str, Any]) -> None:
    """Write ``embedding.json`` into an existing folder."""
    text = json.dumps(settings, ensure_ascii=False, indent=0)
    write_atomically(folder / SETTINGS_FILE, text)


def read_settings(folder: Path) -> dict[str, Any]:
    """Read what ``write_settings`` wrote.

    Raises:
        InputError: there is no such file, or it holds something else.
    """
    path = folder / SETTINGS_FILE
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({error}); build the ecosystem again") from error
    if not isinstance(settings, dict):
        raise InputError(f"{path}: not a saved embedding; build the ecosystem again")
    return settings
