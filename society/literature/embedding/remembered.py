"""Remembered: an embedding whose rows cost enough to be kept.

The last rows stay in memory, all of them in a cache where one is given. What is asked of the
model is each text once, without the empty ones, and what has been answered is kept at once: an
error or a kill in the middle of a corpus loses no more than what was under way.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Iterator, Sequence

import numpy as np

from society.literature.embedding.cache import EmbeddingCache, Shelf
from society.literature.embedding.embedding import AT_ONCE, Embedding, Progress, Vectors

MEMO = 4096
Piece = tuple[list[int], Vectors]
"""Numbers of texts among those that were asked for, and their rows."""


class Remembered(Embedding):
    """Texts to rows, each made once.

    Args:
        query_prompt: what is put before a text that is searched for.
    """

    def __init__(self, query_prompt: str = "") -> None:
        self.query_prompt = query_prompt
        self._memo: OrderedDict[str, Vectors] = OrderedDict()
        self._cache: EmbeddingCache | None = None
        self._turn = threading.RLock()

    @property
    @abstractmethod
    def origin(self) -> str:
        """What a row depends on beside its text."""

    @abstractmethod
    def _ask(self, texts: Sequence[str]) -> Iterator[Piece]:
        """The rows of texts that all say something, each piece as soon as it is made."""

    def _prepare(self, shelf: Shelf | None) -> None:
        """Called before the model is asked; the shelf holds what it has said before."""

    def keep(self, cache: EmbeddingCache | None) -> None:
        """From now on keep rows there, and take them from there; None: only in memory."""
        self._cache = cache

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One unit row per text, rounded to 1e-5."""
        with self._turn:
            found = self._found(texts, self._cache)
            for text in dict.fromkeys(texts):
                if text in found:
                    self._memo[text] = found[text].copy()
                    self._memo.move_to_end(text)
            while len(self._memo) > MEMO:
                self._memo.popitem(last=False)
        return self._rows(texts, found)

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """One unit row per text, each with the query prompt before it."""
        return self.encode([self.query_prompt + text if text.strip() else "" for text in texts])

    def encode_all(
        self,
        texts: Sequence[str],
        *,
        out: Vectors | None = None,
        cache: EmbeddingCache | None = None,
        progress: Progress | None = None,
    ) -> Vectors:
        """The rows of a corpus, taken from the cache or made in stretches."""
        rows = self._room_for(texts, out)
        for start in range(0, len(texts), AT_ONCE):
            some = texts[start : start + AT_ONCE]
            with self._turn:
                found = self._found(some, cache or self._cache)
            rows[start : start + len(some)] = self._rows(some, found)
            if progress is not None:
                progress(start + len(some), len(texts))
        return rows

    def _found(self, texts: Sequence[str], cache: EmbeddingCache | None) -> dict[str, Vectors]:
        """The row of every text that says something."""
        shelf = None if cache is None else cache.shelf(self.origin)
        found: dict[str, Vectors] = {}
        missing: list[str] = []
        for text in dict.fromkeys(texts):
            row = self._memo.get(text)
            if row is None and shelf is not None:
                row = shelf.get(text)
            if row is not None:
                found[text] = row
            elif text.strip():
                missing.append(text)
        if missing:
            found |= self._made(missing, shelf)
        return found

    def _made(self, texts: Sequence[str], shelf: Shelf | None) -> dict[str, Vectors]:
        self._prepare(shelf)
        made: dict[str, Vectors] = {}
        for places, rows in self._ask(texts):
            some = [texts[place] for place in places]
            if shelf is not None:
                shelf.add(some, rows)
            made.update(zip(some, rows, strict=True))
        return made

    def _rows(self, texts: Sequence[str], found: dict[str, Vectors]) -> Vectors:
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        for number, text in enumerate(texts):
            if text in found:
                rows[number] = found[text]
        return rows
