"""The base class of embeddings whose vectors are expensive: it caches in memory and on disk.

The latest rows stay in memory, and all of them in a cache on disk where one is given. The model is
asked for each text once, empty texts excepted, and its answers are stored at once: an error or a
kill in the middle of a corpus loses only the batch under way.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Iterator, Sequence

import numpy as np

from virsci_society.agents.arrays import VectorArray
from virsci_society.society.literature.embedding.base import BATCH_TEXTS, Embedding, Progress
from virsci_society.society.literature.embedding.cache import CachePartition, EmbeddingCache

MEMO = 4096
"""Rows that stay in memory."""
EncodedBatch = tuple[list[int], VectorArray]
"""Positions of texts in the list that was asked for, and their rows."""


class CachedEmbedding(Embedding):
    """An embedding that computes the row of each text once.

    Args:
        query_prompt: put before a text that is searched for; part of the revision.
    """

    def __init__(self, query_prompt: str = "") -> None:
        self.query_prompt = query_prompt
        self._memo: OrderedDict[str, VectorArray] = OrderedDict()
        self._cache: EmbeddingCache | None = None
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

    def use_cache(self, cache: EmbeddingCache | None) -> None:
        """Store rows in a cache from now on, and take them from there; None: memory only."""
        self._cache = cache

    def encode(self, texts: Sequence[str]) -> VectorArray:
        """Encode texts, one unit row each (texts x dim), rounded to 1e-5."""
        with self._lock:
            row_of = self._lookup_or_compute(texts, self._cache)
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

    def encode_all(
        self,
        texts: Sequence[str],
        *,
        out: VectorArray | None = None,
        cache: EmbeddingCache | None = None,
        progress: Progress | None = None,
    ) -> VectorArray:
        """Encode a corpus in batches; rows that are cached are not computed again.

        Args:
            texts: the corpus.
            out: array that receives the rows, texts x dim and float32; None: a new array.
            cache: used instead of that of ``use_cache``.
            progress: called after every batch.

        Returns:
            The rows, texts x dim; ``out`` where it is given.
        """
        rows = self._output_array(texts, out)
        for start in range(0, len(texts), BATCH_TEXTS):
            batch = texts[start : start + BATCH_TEXTS]
            with self._lock:
                row_of = self._lookup_or_compute(batch, cache or self._cache)
            rows[start : start + len(batch)] = self._stack_rows(batch, row_of)
            if progress is not None:
                progress(start + len(batch), len(texts))
        return rows

    def _lookup_or_compute(
        self, texts: Sequence[str], cache: EmbeddingCache | None
    ) -> dict[str, VectorArray]:
        """The row of every non-empty text, from memory, the cache or the model."""
        partition = None if cache is None else cache.partition(self.origin)
        row_of: dict[str, VectorArray] = {}
        missing: list[str] = []
        for text in dict.fromkeys(texts):
            row = self._memo.get(text)
            if row is None and partition is not None:
                row = partition.get(text)
            if row is not None:
                row_of[text] = row
            elif text.strip():
                missing.append(text)
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
