"""The interface of an embedding, and the base class of those whose vectors are kept."""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from virsci_society.agents.arrays import VectorArray, require_vectors
from virsci_society.agents.files.atomic_files import write_atomically
from virsci_society.society.literature.embedding.cache import vector_table

Progress = Callable[[int, int, int], None]
"""Called with the numbers of texts that have a row, of all, and of those whose row was known."""

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
    def title(self) -> str:
        """The name that heads a column, without its kind."""
        return self.name.partition(":")[2]

    @property
    def label(self) -> str:
        """Shown with every figure that depends on the vectors."""
        return f"{self.title}, {self.dim} dimensions, revision {self.revision}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on how the vectors are made, for every report that uses them."""
        return ()

    @abstractmethod
    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> VectorArray:
        """Encode texts, one row each (texts x dim); a row depends on its own text only."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write what ``load_embedding`` needs into an existing folder."""

    def write_settings(self, folder: Path, kind: str, more: Mapping[str, Any]) -> None:
        """Write ``embedding.json`` into an existing folder: what the embedding is, and more."""
        facts = {"kind": kind, "name": self.name, "revision": self.revision, "dim": self.dim}
        text = json.dumps({**facts, **more}, ensure_ascii=False, indent=0)
        write_atomically(folder / SETTINGS_FILE, text)


def paper_text(title: str, abstract: str) -> str:
    """The text by which a paper is embedded: its title and its abstract."""
    return f"{title}. {abstract}"


def unit_rows(rows: npt.ArrayLike) -> VectorArray:
    """Scale rows to unit length and round them to 1e-5; rows of length zero stay zero."""
    wide = np.asarray(rows, dtype=np.float64)
    lengths = np.sqrt(np.square(wide).sum(axis=1, keepdims=True))
    return np.round(wide / np.where(lengths > 0, lengths, 1.0), DECIMALS).astype(np.float32)


EncodedBatch = tuple[list[int], VectorArray]
"""Positions of texts in the list that was asked for, and their rows."""


class CachedEmbedding(Embedding):
    """An embedding that computes the row of a text once; the table of vectors keeps each batch."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    @property
    @abstractmethod
    def origin(self) -> str:
        """The cache key of rows: everything they depend on besides their text."""

    @abstractmethod
    def _compute(self, texts: Sequence[str]) -> Iterator[EncodedBatch]:
        """Compute the rows of distinct, non-empty texts; yield each batch as soon as it is made."""

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> VectorArray:
        """Encode texts, one unit row each (texts x dim), rounded to 1e-5."""
        rows, known = np.zeros((0, 0), dtype=np.float32), 0
        for start in range(0, len(texts), BATCH_TEXTS):
            some = texts[start : start + BATCH_TEXTS]
            with self._lock:
                row_of = {text: row for text in some if (row := self.kept_row(text)) is not None}
                if row_of:
                    kept = np.stack(list(row_of.values()))
                    require_vectors(kept, f"{vector_table().path}", "remove this table of vectors")
                missing = [
                    text for text in dict.fromkeys(some) if text.strip() and text not in row_of
                ]
                done = start + len(some) - len(missing)
                known += sum(text in row_of for text in some)
                if progress is not None:
                    progress(done, len(texts), known)
                for positions, made in self._compute(missing) if missing else ():
                    batch = [missing[position] for position in positions]
                    require_vectors(made, self.name, "this model cannot be used for these texts")
                    self.keep_rows(batch, made)
                    row_of.update(zip(batch, made, strict=True))
                    done += len(batch)
                    if progress is not None:
                        progress(done, len(texts), known)
            if not len(rows):
                dim = len(next(iter(row_of.values()))) if row_of else self.dim
                rows = np.zeros((len(texts), dim), dtype=np.float32)
            for number, text in enumerate(some, start):
                if text in row_of:
                    rows[number] = row_of[text]
        return rows if len(texts) else np.zeros((0, self.dim), dtype=np.float32)

    def kept_row(self, text: str) -> VectorArray | None:
        """The row of a text in the table of vectors; None where it is not there."""
        data = vector_table().get(self.origin, text) if text.strip() else None
        return None if data is None else np.frombuffer(data, "<f4")

    def keep_rows(self, texts: Sequence[str], rows: VectorArray) -> None:
        """Keep the rows of texts in the table of vectors."""
        data = (row.tobytes() for row in np.ascontiguousarray(rows, "<f4"))
        vector_table().put(self.origin, zip(texts, data, strict=True))
