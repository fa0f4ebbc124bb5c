"""Embedding: texts to vectors, under a name and a revision.

``Lsa`` is the default and needs no download: TF-IDF and a truncated SVD fitted on the past
papers. The fit is scikit-learn's, imported only when a fit is asked for; encoding is a sparse
product of our own, one text at a time, so that a row never depends on its neighbours.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Container, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.errors import InputError

Vectors = npt.NDArray[np.float32]

DIMENSIONS = 256
VOCABULARY = 20_000
MEMO = 4096
DECIMALS = 5
WORD = re.compile(r"[^\W_](?:[^\W_]|-)*[^\W_]")
SETTINGS_FILE = "embedding.json"
ARRAYS_FILE = "embedding.npz"

# Small on purpose: words that carry no subject in any field, so that no library is needed
# to read a text the way the fit read it.
_FUNCTION_WORDS = """
about above across after again against all almost also although always among an and another
any are around as at based be became because been before being below between both but by can
could did do does doing done down due during each either et al etc even every few first for
from further given had has have having he hence her here him his how however if in into is it
its itself just less like made make many may me might more most much must my near need neither
new next no nor not now of off often on once one only onto or other our ours out over own per
quite rather same second several shall she should show shown since so some still such take
than that the their them then there therefore these they this those three through thus to too
toward towards two under until up upon us use used uses using very via was we well were what
when where whether which while who whom whose why will with within without would yet you your
"""
STOP_WORDS = frozenset(_FUNCTION_WORDS.split())


def paper_text(title: str, abstract: str) -> str:
    """The text that stands for a paper wherever it is embedded."""
    return f"{title}. {abstract}"


def words_and_pairs(text: str) -> list[str]:
    """The terms of a text: its words without stop words, then the pairs of adjacent ones."""
    words = [word for word in WORD.findall(text.lower()) if word not in STOP_WORDS]
    return words + [f"{left} {right}" for left, right in pairwise(words)]


class Embedding(ABC):
    """Texts to float32 rows of unit length; a text with no known word gives a zero row."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Short name, usable as a folder name."""

    @property
    @abstractmethod
    def revision(self) -> str:
        """What exactly made the vectors: a hash or a pinned version."""

    @property
    @abstractmethod
    def dim(self) -> int:
        """Length of a row."""

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> Vectors:
        """One row per text; each row depends on its own text only."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write what ``load_embedding`` needs into an existing folder."""


class Lsa(Embedding):
    """Latent semantic analysis: sublinear TF-IDF of words and word pairs, then an SVD.

    Args:
        vocabulary: the known terms, in the order of the rows of ``projection``.
        idf: inverse document frequency of each term.
        projection: one row per term; a text's vector is the weighted sum of its terms' rows.
    """

    def __init__(
        self, vocabulary: Sequence[str], idf: npt.NDArray[np.float64], projection: Vectors
    ) -> None:
        self._terms = tuple(vocabulary)
        self._row_of = {term: row for row, term in enumerate(self._terms)}
        self._idf = np.asarray(idf, dtype=np.float64)
        self._projection = np.ascontiguousarray(projection, dtype=np.float32)
        self._memo = lru_cache(maxsize=MEMO)(self._encode_one)
        self._revision = self._content_hash()

    def __reduce__(self) -> tuple[type[Lsa], tuple[Any, ...]]:
        # The memo cannot be copied and need not be.
        return Lsa, (self._terms, self._idf, self._projection)

    @classmethod
    def fit(cls, texts: Sequence[str], *, seed: int = 0, dim: int = DIMENSIONS) -> Lsa:
        """Fit on a corpus; the vector is shorter than ``dim`` where the corpus is small."""
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
        return cls([str(term) for term in tfidf.get_feature_names_out()], tfidf.idf_, projection)

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
            "vocabulary": list(self._terms),
        }
        text = json.dumps(settings, ensure_ascii=False, indent=0)
        (folder / SETTINGS_FILE).write_text(text, encoding="utf-8")
        np.savez(folder / ARRAYS_FILE, idf=self._idf, projection=self._projection)

    @classmethod
    def load(cls, folder: Path) -> Lsa:
        """Read what ``save`` wrote."""
        return cls.from_settings(folder, _read_settings(folder))

    @classmethod
    def from_settings(cls, folder: Path, settings: dict[str, Any]) -> Lsa:
        """Rebuild from settings already read; the arrays stand beside them."""
        path = folder / ARRAYS_FILE
        try:
            with np.load(path, allow_pickle=False) as arrays:
                lsa = cls(settings["vocabulary"], arrays["idf"], arrays["projection"])
        except (OSError, KeyError, ValueError) as error:
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


def load_embedding(folder: Path) -> Embedding:
    """Read the embedding that stands in a folder, whatever its kind."""
    settings = _read_settings(folder)
    if settings.get("kind") != "lsa":
        raise InputError(
            f"{folder / SETTINGS_FILE}: embedding kind {settings.get('kind')!r} is not known; "
            "known: 'lsa'"
        )
    return Lsa.from_settings(folder, settings)


def _read_settings(folder: Path) -> dict[str, Any]:
    path = folder / SETTINGS_FILE
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({error}); build the ecosystem again") from error
    if not isinstance(settings, dict):
        raise InputError(f"{path}: not a saved embedding; build the ecosystem again")
    return settings
