"""The interface of an embedding, what all share, and the base class of expensive ones.

An embedding turns texts into float32 vectors of unit length. It has a name and a revision, so that
vectors of different models are never mixed. One whose vectors are computed by a large model or paid
for is asked for each text once, empty texts excepted, and its answers are stored at once: an error
or a kill in the middle of a corpus loses only the batch under way.
"""

from __future__ import annotations

import json
import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from virsci_society.agents.arrays import VectorArray, require_vectors
from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import write_atomically
from virsci_society.agents.files.json_files import read_json_object
from virsci_society.society.literature.embedding.cache import CachePartition, EmbeddingCache

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
        """Encode a corpus in batches."""
        shape = (len(texts), self.dim)
        rows = np.zeros(shape, dtype=np.float32) if out is None else out
        if rows.shape != shape or rows.dtype != np.float32:
            raise ValueError(f"rows of shape {rows.shape}, {rows.dtype}; expected {shape}, float32")
        for start in range(0, len(texts), BATCH_TEXTS):
            some = texts[start : start + BATCH_TEXTS]
            rows[start : start + len(some)] = self._encode_batch(some, cache)
            if progress is not None:
                progress(start + len(some), len(texts))
        return rows

    def _encode_batch(self, texts: Sequence[str], cache: EmbeddingCache | None) -> VectorArray:
        """Encode a part of a corpus, which need not stay in memory."""
        return self.encode(texts)


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
    """Read what ``write_settings`` wrote; InputError where that is not there."""
    path = folder / SETTINGS_FILE
    try:
        return read_json_object(path)
    except FileNotFoundError as error:
        raise InputError(
            f"{path}: cannot be read: it is missing; build the ecosystem again"
        ) from error
    except InputError as error:
        raise InputError(f"{error}; build the ecosystem again") from error


MEMO = 4096
"""Rows that stay in memory."""
EncodedBatch = tuple[list[int], VectorArray]
"""Positions of texts in the list that was asked for, and their rows."""


class CachedEmbedding(Embedding):
    """An embedding that computes the row of each text once."""

    def __init__(self, query_prompt: str = "") -> None:
        self.query_prompt = query_prompt
        self._memo: OrderedDict[str, VectorArray] = OrderedDict()
        self._lock = threading.RLock()

    @property
    @abstractmethod
    def origin(self) -> str:
        """The key of the cache partition: everything that a row depends on beside its text."""

    @abstractmethod
    def _compute(self, texts: Sequence[str]) -> Iterator[EncodedBatch]:
        """Compute the rows of distinct, non-empty texts; yield each batch as soon as it is made."""

    def _prepare(self, partition: CachePartition | None) -> None:
        """Called before the model computes, with the partition that holds its earlier rows."""

    def encode(self, texts: Sequence[str]) -> VectorArray:
        """Encode texts, one unit row each (texts x dim), rounded to 1e-5."""
        with self._lock:
            row_of = self._lookup_or_compute(texts, None)
            for text in dict.fromkeys(texts):
                if text in row_of:
                    self._memo[text] = row_of[text].copy()
                    self._memo.move_to_end(text)
            while len(self._memo) > MEMO:
                self._memo.popitem(last=False)
        return self._stack_rows(texts, row_of)

    def encode_queries(self, texts: Sequence[str]) -> VectorArray:
        """Encode texts with the query prompt before each; empty texts stay empty."""
        return self.encode([self.query_prompt + text if text.strip() else "" for text in texts])

    def _encode_batch(self, texts: Sequence[str], cache: EmbeddingCache | None) -> VectorArray:
        # Beside the memory: a corpus would drive out the texts that are asked for again.
        with self._lock:
            row_of = self._lookup_or_compute(texts, cache)
        return self._stack_rows(texts, row_of)

    def _lookup_or_compute(
        self, texts: Sequence[str], cache: EmbeddingCache | None
    ) -> dict[str, VectorArray]:
        """The row of every non-empty text, from memory, the cache or the model."""
        partition = None if cache is None else cache.partition(self.origin)
        row_of: dict[str, VectorArray] = {}
        missing: list[str] = []
        cached: list[VectorArray] = []
        for text in dict.fromkeys(texts):
            row = self._memo.get(text)
            if row is None and partition is not None:
                row = partition.get(text)
                cached += [] if row is None else [row]
            if row is not None:
                row_of[text] = row
            elif text.strip():
                missing.append(text)
        if cached and cache is not None:
            require_vectors(np.stack(cached), f"{cache.folder}", "remove this cache of embeddings")
        if missing:
            row_of |= self._compute_missing(missing, partition)
        return row_of

    def _compute_missing(
        self, texts: Sequence[str], partition: CachePartition | None
    ) -> dict[str, VectorArray]:
        self._prepare(partition)
        row_of: dict[str, VectorArray] = {}
        for positions, rows in self._compute(texts):
            batch = [texts[position] for position in positions]
            require_vectors(rows, self.name, "this model cannot be used for these texts")
            if partition is not None:
                partition.add(batch, rows)
            row_of.update(zip(batch, rows, strict=True))
        return row_of

    def _stack_rows(self, texts: Sequence[str], row_of: dict[str, VectorArray]) -> VectorArray:
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        for number, text in enumerate(texts):
            if text in row_of:
                rows[number] = row_of[text]
        return rows
