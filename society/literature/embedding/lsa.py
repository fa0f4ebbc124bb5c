"""Latent semantic analysis (LSA): the default embedding, which needs no download.

Sublinear TF-IDF of words and word pairs, and a truncated SVD fitted on the past papers: see
``lsa_fit``, imported only when a fit is asked for. Encoding is a sparse product written by hand,
one text at a time, because a row must never depend on its neighbours.

Source: Deerwester et al. 1990.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Container, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from virsci_society.agents.arrays import FloatArray, VectorArray
from virsci_society.agents.errors import DAMAGED_ARCHIVE, InputError
from virsci_society.agents.files.atomic_files import replacing
from virsci_society.society.literature.embedding.base import (
    DECIMALS,
    SETTINGS_FILE,
    Embedding,
    read_settings,
    write_settings,
)

# Two letters or digits or more, hyphens among them; in runs, which is faster than one by one.
WORD = re.compile(r"[^\W_]{2,}(?:-+[^\W_]+)*|[^\W_](?:-+[^\W_]+)+")

# A short list of words without a subject in any field. It is kept here so that texts are split
# the same way for the fit and for encoding, and without a library.
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


def words_and_pairs(text: str) -> list[str]:
    """Extract the terms of a text: words without stop words, then the pairs of adjacent ones."""
    words = [word for word in WORD.findall(text.lower()) if word not in STOP_WORDS]
    return words + [f"{left} {right}" for left, right in pairwise(words)]


DIMENSIONS = 256
"""Length of a vector, where the corpus is large enough."""
VOCABULARY = 20_000
"""Most terms of a fit, the most frequent ones."""
SAMPLE = 100_000
"""Texts on which a larger corpus is fitted."""
MEMO = 4096
"""Encoded texts that stay in memory."""
ARRAYS_FILE = "embedding.npz"


class LSAEmbedding(Embedding):
    """Latent semantic analysis: sublinear TF-IDF of words and word pairs, then an SVD.

    Args:
        vocabulary: the known terms, in the order of the rows of ``projection``.
        idf: inverse document frequency of each term.
        projection: one row per term (terms x dim); a text's vector is the weighted sum of its
            terms' rows, at unit length.
        notes: remarks on the fit.
    """

    def __init__(
        self,
        vocabulary: Sequence[str],
        idf: FloatArray,
        projection: VectorArray,
        notes: Sequence[str] = (),
    ) -> None:
        self._terms = tuple(vocabulary)
        self._row_of = {term: row for row, term in enumerate(self._terms)}
        self._idf = np.asarray(idf, dtype=np.float64)
        self._projection = np.ascontiguousarray(projection, dtype=np.float32)
        self._notes = tuple(notes)
        self._memo = lru_cache(maxsize=MEMO)(self._encode_one)
        digest = hashlib.sha256("\n".join(self._terms).encode())
        digest.update(self._idf.tobytes())
        digest.update(self._projection.tobytes())
        self._revision = digest.hexdigest()[:16]

    def __reduce__(self) -> tuple[type[LSAEmbedding], tuple[Any, ...]]:
        # The memo cannot be pickled and is made anew.
        return LSAEmbedding, (self._terms, self._idf, self._projection, self._notes)

    @classmethod
    def fit(
        cls, texts: Sequence[str], *, seed: int = 0, dim: int = DIMENSIONS, sample: int = SAMPLE
    ) -> LSAEmbedding:
        """Fit on a corpus, or on a seeded sample of a corpus of more than ``sample`` texts.

        Args:
            texts: the corpus; of past papers only, so that no vector knows the future.
            seed: of the sample and of the SVD.
            dim: length of a vector; shorter where the corpus is small.
            sample: most texts that the fit looks at.

        Returns:
            The fitted embedding; the same on any number of cores.

        Raises:
            InputError: the corpus has no words.
        """
        notes: tuple[str, ...] = ()
        if len(texts) > sample:
            notes = (f"the LSA is fitted on a seeded sample of {sample:,} of {len(texts):,} texts",)
            texts = _sample(texts, sample, seed)
        from virsci_society.society.literature.embedding.lsa_fit import fit_lsa_arrays

        documents = map(words_and_pairs, texts)
        return cls(*fit_lsa_arrays(documents, seed, dim, VOCABULARY), notes)

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

    def encode(self, texts: Sequence[str]) -> VectorArray:
        """Encode texts, one unit row each, rounded to 1e-5 so that equal texts search equally."""
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        for number, text in enumerate(texts):
            rows[number] = self._memo(text)
        return rows

    def keywords(
        self, text: str, count: int, preferred: Container[str] = frozenset()
    ) -> tuple[str, ...]:
        """Choose up to ``count`` terms of a text with the highest TF-IDF weight, the best first.

        Preferred terms (in lower case) come first, then pairs of words, then single words. A term
        that shares a word with one chosen before it is left out.
        """
        rows, weights = self._weigh(text)
        ranked = sorted(
            (term not in preferred, " " not in term, -weight, term)
            for term, weight in zip((self._terms[row] for row in rows), weights, strict=True)
        )
        chosen: list[str] = []
        used: set[str] = set()
        for *_, term in ranked:
            words = set(term.split())
            if not words & used and not any(word.isdigit() for word in words):
                chosen.append(term)
                used |= words
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
        with replacing(folder / ARRAYS_FILE) as path:
            np.savez(path, idf=self._idf, projection=self._projection)

    @classmethod
    def load(cls, folder: Path) -> LSAEmbedding:
        """Read what ``save`` wrote."""
        return cls.from_settings(folder, read_settings(folder))

    @classmethod
    def from_settings(cls, folder: Path, settings: dict[str, Any]) -> LSAEmbedding:
        """Rebuild from settings that are already read, and from the arrays beside them."""
        path = folder / ARRAYS_FILE
        try:
            with np.load(path, allow_pickle=False) as arrays:
                numbers = arrays["idf"], arrays["projection"]
                lsa = cls(settings["vocabulary"], *numbers, settings.get("notes", ()))
        except (TypeError, *DAMAGED_ARCHIVE) as error:
            raise InputError(f"{path}: not a saved embedding ({error}); build it again") from error
        if lsa.revision != settings.get("revision"):
            raise InputError(f"{path}: its numbers are not those of {SETTINGS_FILE}; build again")
        return lsa

    def _weigh(self, text: str) -> tuple[npt.NDArray[np.intp], FloatArray]:
        # In the order of the text, in which the weighted rows are summed: another order would
        # change the last bits of a vector.
        counts = Counter(map(self._row_of.get, words_and_pairs(text)))
        counts.pop(None, None)
        rows = np.array([*counts], dtype=np.intp)
        often = np.array([1.0 if n == 1 else 1.0 + math.log(n) for n in counts.values()])
        return rows, often * self._idf[rows]

    def _encode_one(self, text: str) -> VectorArray:
        rows, weights = self._weigh(text)
        row = weights @ self._projection[rows].astype(np.float64)
        length = float(np.sqrt(np.square(row).sum()))
        # A length this close to zero is rounding noise of the SVD, not a direction.
        if length <= 1e-9 * float(np.sqrt(np.square(weights).sum())):
            return np.zeros(self.dim, dtype=np.float32)
        return np.round(row / length, DECIMALS).astype(np.float32)


def _sample(texts: Sequence[str], count: int, seed: int) -> list[str]:
    """Draw ``count`` of the texts, in their order, the same for the same seed."""
    rng = np.random.default_rng(seed % 2**64)
    chosen = np.sort(rng.choice(len(texts), size=count, replace=False))
    return [texts[row] for row in chosen.tolist()]
