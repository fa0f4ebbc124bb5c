"""Embedding: texts to vectors, under a name and a revision."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from agents.errors import InputError

if TYPE_CHECKING:
    from society.literature.embedding.cache import EmbeddingCache

Vectors = npt.NDArray[np.float32]
Progress = Callable[[int, int], None]
"""Told how many texts are embedded, of how many."""

DECIMALS = 5
AT_ONCE = 2048
"""Texts of a corpus that are taken together."""
SETTINGS_FILE = "embedding.json"


class Embedding(ABC):
    """Texts to float32 rows of unit length; a text that says nothing gives a zero row."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Short name; ``folder.embedding_folder`` makes a folder's name of it."""

    @property
    @abstractmethod
    def revision(self) -> str:
        """What exactly made the vectors: a hash or a pinned version."""

    @property
    @abstractmethod
    def dim(self) -> int:
        """Length of a row."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What whoever uses the vectors should know of how they are made."""
        return ()

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> Vectors:
        """One row per text; each row depends on its own text only."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write what ``load_embedding`` needs into an existing folder."""

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """One row per text that is searched for, not searched in; for most models the same."""
        return self.encode(texts)

    def encode_all(
        self,
        texts: Sequence[str],
        *,
        out: Vectors | None = None,
        cache: EmbeddingCache | None = None,
        progress: Progress | None = None,
    ) -> Vectors:
        """The rows of a corpus, made in stretches.

        Args:
            texts: the corpus.
            out: where the rows go, len(texts) x dim, such as a memory-mapped file; None: a new
                array.
            cache: where rows are kept from one attempt at the corpus to the next, by models
                whose rows are worth it.
            progress: told after every stretch.
        """
        rows = self._room_for(texts, out)
        for start in range(0, len(texts), AT_ONCE):
            some = texts[start : start + AT_ONCE]
            rows[start : start + len(some)] = self.encode(some)
            if progress is not None:
                progress(start + len(some), len(texts))
        return rows

    def _room_for(self, texts: Sequence[str], out: Vectors | None) -> Vectors:
        shape = (len(texts), self.dim)
        if out is None:
            return np.zeros(shape, dtype=np.float32)
        if out.shape != shape or out.dtype != np.float32:
            raise ValueError(f"rows of shape {out.shape}, {out.dtype}; expected {shape}, float32")
        return out


def paper_text(title: str, abstract: str) -> str:
    """The text that stands for a paper wherever it is embedded."""
    return f"{title}. {abstract}"


def unit_rows(rows: npt.ArrayLike) -> Vectors:
    """The rows at unit length, rounded to 1e-5; rows of length zero stay so."""
    wide = np.asarray(rows, dtype=np.float64)
    lengths = np.sqrt(np.square(wide).sum(axis=1, keepdims=True))
    return np.round(wide / np.where(lengths > 0, lengths, 1.0), DECIMALS).astype(np.float32)


def write_settings(folder: Path, settings: Mapping[str, Any]) -> None:
    """Write ``embedding.json`` into an existing folder."""
    text = json.dumps(settings, ensure_ascii=False, indent=0)
    (folder / SETTINGS_FILE).write_text(text, encoding="utf-8")


def read_settings(folder: Path) -> dict[str, Any]:
    """What ``write_settings`` wrote.

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
