"""Lsa: the default embedding, which needs no download.

TF-IDF and a truncated SVD fitted on the past papers. The fit is scikit-learn's, imported only
when a fit is asked for; encoding is a sparse product of our own, one text at a time, so that a
row never depends on its neighbours.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Container, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.errors import InputError
from society.archives import TROUBLE
from society.literature.embedding.embedding import (
    DECIMALS,
    SETTINGS_FILE,
    Embedding,
    Vectors,
    read_settings,
    write_settings,
)
from society.literature.embedding.words import words_and_pairs

DIMENSIONS = 256
VOCABULARY = 20_000
SAMPLE = 100_000
"""Texts of a larger corpus that the fit looks at."""
MEMO = 4096
ARRAYS_FILE = "embedding.npz"


class Lsa(Embedding):
    """Latent semantic analysis: sublinear TF-IDF of words and word pairs, then an SVD.

    Args:
        vocabulary: the known terms, in the order of the rows of ``projection``.
        idf: inverse document frequency of each term.
        projection: one row per term; a text's vector is the weighted sum of its terms' rows.
    """

    def __init__(
        self,
        vocabulary: Sequence[str],
        idf: npt.NDArray[np.float64],
        projection: Vectors,
        notes: Sequence[str] = (),
    ) -> None:
        self._terms = tuple(vocabulary)
        self._row_of = {term: row for row, term in enumerate(self._terms)}
        self._idf = np.asarray(idf, dtype=np.float64)
        self._projection = np.ascontiguousarray(projection, dtype=np.float32)
        self._notes = tuple(notes)
        self._memo = lru_cache(maxsize=MEMO)(self._encode_one)
        self._revision = self._content_hash()

    def __reduce__(self) -> tuple[type[Lsa], tuple[Any, ...]]:
        # The memo cannot be copied and need not be.
        return Lsa, (self._terms, self._idf, self._projection, self._notes)

    @classmethod
    def fit(
        cls,
        texts: Sequence[str],
        *,
        seed: int = 0,
        dim: int = DIMENSIONS,
        sample: int = SAMPLE,
    ) -> Lsa:
        """Fit on a corpus, or on a seeded sample of a corpus of more than ``sample`` texts.

        The vector is shorter than ``dim`` where the corpus is small.

        Raises:
            InputError: the corpus has no words.
        """
        notes: tuple[str, ...] = ()
        if len(texts) > sample:
            notes = (f"the LSA is fitted on a seeded sample of {sample:,} of {len(texts):,} texts",)
            texts = _sample(texts, sample, seed)
        return cls(*_fitted(texts, seed, dim), notes)

    @property
    def name(self) -> str:
        """``lsa``."""
        return "lsa"

    @property
    def revision(self) -> str:
        """Hash of the fitted vocabulary and numbers."""
        return self._revision

    @property
    def dim(self) -> int:
        """Length of a row: 256, or fewer for a small corpus."""
        return int(self._projection.shape[1])

    @property
    def notes(self) -> tuple[str, ...]:
        """That it was fitted on a sample, if it was."""
        return self._notes

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One unit row per text, rounded to 1e-5 so that equal texts search equally."""
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        for number, text in enumerate(texts):
            rows[number] = self._memo(text)
        return rows

    def keywords(
        self, text: str, count: int, preferred: Container[str] = frozenset()
    ) -> tuple[str, ...]:
        """The terms of a text with the highest TF-IDF weight, no word told twice.

        Preferred terms come first, then pairs of words, then single words. A term that shares
        a word with one chosen before it is left out.
        """
        rows, weights = self._weigh(text)
        ranked = sorted(
            (term not in preferred, " " not in term, -weight, term)
            for term, weight in zip((self._terms[row] for row in rows), weights, strict=True)
        )
        chosen: list[str] = []
        told: set[str] = set()
        for *_, term in ranked:
            words = set(term.split())
            if not words & told and not any(word.isdigit() for word in words):
                chosen.append(term)
                told |= words
            if len(chosen) == count:
                break
        return tuple(chosen)

    def save(self, folder: Path) -> None:
        """Write the vocabulary as JSON and the numbers as arrays; nothing is pickled."""
        settings = {
            "kind": "lsa",
            "name": self.name,
            "revision": self.revision,
            "dim": self.dim,
            "notes": list(self._notes),
            "vocabulary": list(self._terms),
        }
        write_settings(folder, settings)
        np.savez(folder / ARRAYS_FILE, idf=self._idf, projection=self._projection)

    @classmethod
    def load(cls, folder: Path) -> Lsa:
        """Read what ``save`` wrote."""
        return cls.from_settings(folder, read_settings(folder))

    @classmethod
    def from_settings(cls, folder: Path, settings: dict[str, Any]) -> Lsa:
        """Rebuild from settings already read; the arrays stand beside them."""
        path = folder / ARRAYS_FILE
        try:
            with np.load(path, allow_pickle=False) as arrays:
                numbers = arrays["idf"], arrays["projection"]
                lsa = cls(settings["vocabulary"], *numbers, settings.get("notes", ()))
        except (TypeError, *TROUBLE) as error:
            raise InputError(f"{path}: not a saved embedding ({error}); build it again") from error
        if lsa.revision != settings.get("revision"):
            raise InputError(f"{path}: its numbers are not those of {SETTINGS_FILE}; build again")
        return lsa

    def _weigh(self, text: str) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
        counts = Counter(term for term in words_and_pairs(text) if term in self._row_of)
        rows = np.fromiter((self._row_of[term] for term in counts), np.intp, len(counts))
        often = np.fromiter((1.0 + math.log(n) for n in counts.values()), float, len(counts))
        return rows, often * self._idf[rows]

    def _encode_one(self, text: str) -> Vectors:
        rows, weights = self._weigh(text)
        row = weights @ self._projection[rows].astype(np.float64)
        length = float(np.sqrt(np.square(row).sum()))
        # A length this close to zero is rounding noise of the SVD, not a direction.
        if length <= 1e-9 * float(np.sqrt(np.square(weights).sum())):
            return np.zeros(self.dim, dtype=np.float32)
        return np.round(row / length, DECIMALS).astype(np.float32)

    def _content_hash(self) -> str:
        digest = hashlib.sha256("\n".join(self._terms).encode())
        digest.update(self._idf.tobytes())
        digest.update(self._projection.tobytes())
        return digest.hexdigest()[:16]


def _sample(texts: Sequence[str], count: int, seed: int) -> list[str]:
    """So many of the texts, in their order, the same for the same seed."""
    rng = np.random.default_rng(seed % 2**64)
    chosen = np.sort(rng.choice(len(texts), size=count, replace=False))
    return [texts[row] for row in chosen.tolist()]


def _fitted(
    texts: Sequence[str], seed: int, dim: int
) -> tuple[list[str], npt.NDArray[np.float64], Vectors]:
    """The vocabulary, its inverse document frequencies and the projection."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    tfidf = TfidfVectorizer(
        analyzer=words_and_pairs,
        sublinear_tf=True,
        min_df=1 if len(texts) < 50 else 2,
        max_df=1.0 if len(texts) < 50 else 0.5,
        max_features=VOCABULARY,
    )
    try:
        weights = tfidf.fit_transform(texts)
    except ValueError as error:
        raise InputError(
            f"the LSA embedding cannot be fitted on {len(texts)} texts ({error}); "
            "give past papers that have titles or abstracts"
        ) from error
    rank = min(dim, min(weights.shape) - 1)
    if rank < 1:
        projection = np.eye(weights.shape[1], dtype=np.float32)
    else:
        svd = TruncatedSVD(n_components=rank, n_iter=4, random_state=seed % 2**32)
        # One thread, so that the sums are the same on any number of cores.
        with threadpool_limits(limits=1):
            projection = svd.fit(weights).components_.T.astype(np.float32)
    return [str(term) for term in tfidf.get_feature_names_out()], tfidf.idf_, projection
