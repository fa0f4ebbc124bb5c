"""Latent semantic analysis (LSA): the default embedding, which needs no download.

Not scikit-learn's, whose import takes longer than the fit; a test shows that both are equal.
Sources: Deerwester et al. 1990; Salton and Buckley 1988; Halko, Martinsson and Tropp 2011.
"""

from __future__ import annotations

import hashlib
import math
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import count, pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from virsci_society.agents.arrays import DAMAGED_ARCHIVE, FloatArray, VectorArray, one_blas_thread
from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import replacing
from virsci_society.agents.lazy_imports import sparse
from virsci_society.society.literature.embedding.base import (
    BATCH_TEXTS,
    DECIMALS,
    SETTINGS_FILE,
    Embedding,
    Progress,
)

# Two letters or digits or more, hyphens among them; in runs, which is faster than one by one.
WORD = re.compile(r"[^\W_]{2,}(?:-+[^\W_]+)*|[^\W_](?:-+[^\W_]+)+")
ASCII_WORD = re.compile(WORD.pattern.replace(r"[^\W_]", "[0-9a-z]"))
"""The same of texts in ASCII and lower case, in two thirds of the time."""

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
    text = text.lower()
    found = (ASCII_WORD if text.isascii() else WORD).findall(text)
    words = [word for word in found if word not in STOP_WORDS]
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


TermCounts: TypeAlias = "tuple[list[str], sparse.csr_array]"
"""Terms in order of appearance, and the count of each in each text (texts x terms)."""


class LSAEmbedding(Embedding):
    """Sublinear TF-IDF of words and pairs; a vector is the weighted sum of its terms' rows."""

    name, revision, dim = "lsa", "", 0
    notes: tuple[str, ...] = ()

    def __init__(
        self,
        vocabulary: Sequence[str],
        idf: FloatArray,
        projection: VectorArray,
        notes: Sequence[str] = (),
        fitted_on: int | None = None,
    ) -> None:
        self._terms = tuple(vocabulary)
        self._row_of = {term: row for row, term in enumerate(self._terms)}
        self._idf = np.asarray(idf, dtype=np.float64)
        self._projection = np.ascontiguousarray(projection, dtype=np.float32)
        self.notes, self._fitted_on = tuple(notes), fitted_on
        self.dim = int(self._projection.shape[1])
        self._memo = lru_cache(maxsize=MEMO)(self._encode_one)
        digest = hashlib.sha256("\n".join(self._terms).encode())
        digest.update(self._idf.tobytes())
        digest.update(self._projection.tobytes())
        self.revision = digest.hexdigest()[:16]

    def __reduce__(self) -> tuple[type[LSAEmbedding], tuple[Any, ...]]:
        # The memo cannot be pickled and is made anew.
        arguments = (self._terms, self._idf, self._projection, self.notes, self._fitted_on)
        return LSAEmbedding, arguments

    @classmethod
    def fit(
        cls,
        texts: Sequence[str],
        *,
        seed: int = 0,
        dim: int = DIMENSIONS,
        sample: int = SAMPLE,
        counted: TermCounts | None = None,
    ) -> LSAEmbedding:
        """Fit on a corpus, or on a seeded sample of a corpus of more than ``sample`` texts."""
        notes: tuple[str, ...] = ()
        if len(texts) > sample:
            notes = (f"the LSA is fitted on a seeded sample of {sample:,} of {len(texts):,} texts",)
            rng = np.random.default_rng(seed % 2**64)
            chosen = np.sort(rng.choice(len(texts), size=sample, replace=False))
            texts, counted = [texts[row] for row in chosen.tolist()], None
        arrays = fit_lsa_arrays(counted or count_terms(texts), seed, dim, VOCABULARY)
        return cls(*arrays, notes, len(texts))

    @property
    def title(self) -> str:
        """``LSA`` and its length."""
        return f"LSA {self.dim}"

    @property
    def label(self) -> str:
        """Its length, and the number of past papers that it was fitted on."""
        fitted = "" if self._fitted_on is None else f", fitted on {self._fitted_on:,} past papers"
        return f"LSA, {self.dim} dimensions{fitted}"

    def encode(
        self,
        texts: Sequence[str],
        progress: Progress | None = None,
        counted: TermCounts | None = None,
    ) -> VectorArray:
        """Encode texts, one unit row each, rounded to 1e-5 so that equal texts search equally."""
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        # Texts counted for the fit are not tokenised again.
        vectors = map(self._memo, texts) if counted is None else self._encode_counted(counted)
        for number, vector in enumerate(vectors, 1):
            rows[number - 1] = vector
            if progress is not None and (number % BATCH_TEXTS == 0 or number == len(texts)):
                progress(number, len(texts), 0)
        return rows

    def keywords(
        self, text: str, count: int, preferred: Container[str] = frozenset()
    ) -> tuple[str, ...]:
        """Choose terms of a text by TF-IDF weight, preferred ones and then pairs before others."""
        rows, counts = self._count(text)
        weights = self._weigh(rows, counts)
        ranked = sorted(
            (term not in preferred, " " not in term, -weight, term)
            for term, weight in zip((self._terms[row] for row in rows), weights, strict=True)
        )
        chosen: list[str] = []
        used: set[str] = set()
        for *_, term in ranked:
            words = set(term.split())
            # A term that shares a word with one chosen before it is left out.
            if not words & used and not any(word.isdigit() for word in words):
                chosen.append(term)
                used |= words
            if len(chosen) == count:
                break
        return tuple(chosen)

    def save(self, folder: Path) -> None:
        """Write the vocabulary as JSON and the numbers as arrays; nothing is pickled."""
        fit = {"notes": list(self.notes), "fitted_on": self._fitted_on}
        self.write_settings(folder, "lsa", fit | {"vocabulary": list(self._terms)})
        with replacing(folder / ARRAYS_FILE) as path:
            np.savez(path, idf=self._idf, projection=self._projection)

    @classmethod
    def from_settings(cls, folder: Path, settings: dict[str, Any]) -> LSAEmbedding:
        """Rebuild from settings that are already read, and from the arrays beside them."""
        path = folder / ARRAYS_FILE
        try:
            with np.load(path, allow_pickle=False) as arrays:
                numbers = arrays["idf"], arrays["projection"]
                facts = settings.get("notes", ()), settings.get("fitted_on")
                lsa = cls(settings["vocabulary"], *numbers, *facts)
        except (TypeError, *DAMAGED_ARCHIVE) as error:
            raise InputError(f"{path}: not a saved embedding ({error}); rebuild it") from error
        if lsa.revision != settings.get("revision"):
            raise InputError(f"{path}: does not match {SETTINGS_FILE}; rebuild it")
        return lsa

    def _count(self, text: str) -> tuple[npt.NDArray[np.intp], Iterable[int]]:
        # In the order of the text, in which the weighted rows are summed: another order would
        # change the last bits of a vector.
        counts = Counter(map(self._row_of.get, words_and_pairs(text)))
        counts.pop(None, None)
        return np.array([*counts], dtype=np.intp), counts.values()

    def _weigh(self, rows: npt.NDArray[np.intp], counts: Iterable[int]) -> FloatArray:
        often = np.array([1.0 if n == 1 else 1.0 + math.log(n) for n in counts])
        return often * self._idf[rows]

    def _encode_one(self, text: str) -> VectorArray:
        return self._vector(*self._count(text))

    def _encode_counted(self, counted: TermCounts) -> Iterator[VectorArray]:
        terms, table = counted
        rows = np.array([self._row_of.get(term, -1) for term in terms], dtype=np.intp)
        rows = rows[table.indices]
        for start, end in pairwise(table.indptr.tolist()):
            known = np.flatnonzero(rows[start:end] >= 0) + start
            yield self._vector(rows[known], table.data[known].tolist())

    def _vector(self, rows: npt.NDArray[np.intp], counts: Iterable[int]) -> VectorArray:
        weights = self._weigh(rows, counts)
        row = weights @ self._projection[rows].astype(np.float64)
        length = float(np.sqrt(np.square(row).sum()))
        # A length this close to zero is rounding noise of the SVD, not a direction.
        if length <= 1e-9 * float(np.sqrt(np.square(weights).sum())):
            return np.zeros(self.dim, dtype=np.float32)
        return np.round(row / length, DECIMALS).astype(np.float32)


OVERSAMPLES = 10
"""Random directions beyond the rank that is asked for (Halko et al., section 4.2)."""
ITERATIONS = 4
"""Power iterations (Halko et al., section 4.5)."""
SMALL = 50
"""Number of texts below which a term may occur in one text only, or in all."""


def fit_lsa_arrays(
    counted: TermCounts, seed: int, dim: int, most_terms: int
) -> tuple[list[str], FloatArray, VectorArray]:
    """Fit on the terms of each text: vocabulary, inverse document frequencies, projection."""
    terms, counts = _chosen_terms(*counted, most_terms)
    # The inverse document frequency, as if one more text held every term: none is divided by zero.
    often = np.bincount(counts.indices, minlength=len(terms)).astype(np.float64)
    idf: FloatArray = np.log((counts.shape[0] + 1) / (often + 1.0)) + 1.0
    # ``(1 + log count) * idf``, each text at unit length.
    data = (np.log(counts.data.astype(np.float64)) + 1.0) * idf[counts.indices]
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    # bincount adds one after another, whatever the machine.
    data /= np.sqrt(np.bincount(rows, weights=data * data, minlength=counts.shape[0]))[rows]
    weights = sparse.csr_array((data, counts.indices, counts.indptr), shape=counts.shape)
    rank = min(dim, min(counts.shape) - 1)
    if rank < 1:
        return terms, idf, np.eye(len(terms), dtype=np.float32)
    with one_blas_thread():
        components = _right_singular_vectors(weights, rank, seed % 2**32)
    return terms, idf, components.T.astype(np.float32)


def count_terms(texts: Iterable[str]) -> TermCounts:
    """Count the terms of each text."""
    number_of = defaultdict[str, int](count().__next__)
    numbers, counts, ends = array("i"), array("i"), array("q", [0])
    for text in texts:
        tally = Counter(words_and_pairs(text))
        numbers.extend(map(number_of.__getitem__, tally))
        counts.extend(tally.values())
        ends.append(len(numbers))
    if not number_of:
        raise _unfit(len(ends) - 1, "they contain no text")
    held = (np.array(counts), np.array(numbers), np.array(ends))
    return [*number_of], sparse.csr_array(held, shape=(len(ends) - 1, len(number_of)))


def _chosen_terms(
    known: list[str], counts: sparse.csr_array, most_terms: int
) -> tuple[list[str], sparse.csr_array]:
    """Leave out terms in one text or in more than half of the texts, then all but the commonest."""
    terms = sorted(known)
    column_of = np.argsort(sorted(range(len(known)), key=known.__getitem__))
    # In a row the terms stay in the order in which the corpus comes to them: sums are made in it.
    table, shape = counts.sorted_indices(), counts.shape
    counts = sparse.csr_array((table.data, column_of[table.indices], table.indptr), shape=shape)
    documents = counts.shape[0]
    least, most = (1, float(documents)) if documents < SMALL else (2, 0.5 * documents)
    often = np.bincount(counts.indices, minlength=len(terms))
    chosen = (often >= least) & (often <= most)
    if not chosen.any():
        raise _unfit(documents, "no word is in at least two and at most half of them")
    if chosen.sum() > most_terms:
        total = np.asarray(counts.sum(axis=0)).ravel()
        # Among equals the first: which ones another way of sorting takes depends on the processor.
        first = (-total[chosen]).argsort(kind="stable")[:most_terms]
        kept = np.zeros(len(terms), dtype=bool)
        kept[np.flatnonzero(chosen)[first]] = True
        chosen = kept
    columns = np.flatnonzero(chosen)
    return [terms[column] for column in columns.tolist()], counts[:, columns]


def _unfit(documents: int, why: str) -> InputError:
    return InputError(
        f"the LSA embedding cannot be fitted on {documents} texts ({why}); "
        "give past papers that have titles or abstracts"
    )


def _right_singular_vectors(weights: sparse.csr_array, rank: int, seed: int) -> FloatArray:
    """The first right singular vectors (rank x terms), the largest entry of each positive."""
    from scipy import linalg

    # The smaller side is decomposed, as scikit-learn does.
    wide = weights.shape[0] < weights.shape[1]
    matrix = weights.T if wide else weights
    rng = np.random.RandomState(seed)
    basis = rng.normal(size=(matrix.shape[1], rank + OVERSAMPLES))
    for _ in range(ITERATIONS):
        for one in (matrix, matrix.T):
            # LU keeps the columns apart between the products, at a fraction of the cost of QR.
            basis, _ = linalg.lu(one @ basis, permute_l=True, check_finite=False)
    basis, _ = linalg.qr(matrix @ basis, mode="economic", check_finite=False)
    left, _, right = linalg.svd(basis.T @ matrix, full_matrices=False, lapack_driver="gesdd")
    vectors = (basis @ left).T[:rank] if wide else right[:rank]
    # A singular vector has no sign of its own: without this one, machines would differ in it.
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=1)[:, None], axis=1)
    signed: FloatArray = vectors * np.sign(largest)
    return signed
