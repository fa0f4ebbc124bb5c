"""The fit of the LSA embedding by TF-IDF of terms and a randomized truncated SVD of the weights.

Written here and not taken from scikit-learn, whose import takes longer than the fit of a small
corpus. A test shows that vocabulary, frequencies and projection are equal, bit by bit, to those of
``TfidfVectorizer`` and ``TruncatedSVD``.

Sources: Salton and Buckley 1988 (TF-IDF); Halko, Martinsson and Tropp 2011 (randomized SVD).
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from virsci_society.agents.arrays import FloatArray, IntArray, VectorArray
from virsci_society.agents.errors import InputError
from virsci_society.agents.lazy_imports import sparse

OVERSAMPLES = 10
"""Random directions beyond the rank that is asked for (Halko et al., section 4.2)."""
ITERATIONS = 4
"""Power iterations (Halko et al., section 4.5)."""
SMALL = 50
"""Below so many texts a term may stand in one text only, and in all of them."""


def fit_lsa_arrays(
    documents: Iterable[Sequence[str]], seed: int, dim: int, most_terms: int
) -> tuple[list[str], FloatArray, VectorArray]:
    """Fit TF-IDF and SVD on the terms of each text; InputError where no term is left.

    Returns the vocabulary in alphabetical order, the inverse document frequency of each term, and
    the projection (terms x dim, fewer of a small corpus).
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    terms, counts = _chosen_terms(*_count_terms(documents), most_terms)
    # The inverse document frequency, as if one more text held every term: none is divided by zero.
    often = _document_frequencies(counts).astype(np.float64)
    idf: FloatArray = np.log((counts.shape[0] + 1) / (often + 1.0)) + 1.0
    weights = _sublinear_weights(counts, idf)
    rank = min(dim, min(counts.shape) - 1)
    if rank < 1:
        return terms, idf, np.eye(len(terms), dtype=np.float32)
    # On one thread, so that sums are the same on any number of cores.
    with threadpool_limits(limits=1):
        components = _right_singular_vectors(weights, rank, seed % 2**32)
    return terms, idf, components.T.astype(np.float32)


def _count_terms(documents: Iterable[Sequence[str]]) -> tuple[list[str], sparse.csr_array]:
    """All terms in alphabetical order, and how often each stands in each text (texts x terms)."""
    number_of: dict[str, int] = {}
    columns, counts, ends = array("q"), array("q"), array("q", [0])
    for document in documents:
        tally = Counter(document)
        columns.extend(number_of.setdefault(term, len(number_of)) for term in tally)
        counts.extend(tally.values())
        ends.append(len(columns))
    if not number_of:
        raise _unfit(len(ends) - 1, "there are no words in them")
    terms = sorted(number_of)
    column_of = np.empty(len(terms), dtype=np.int64)
    column_of[[number_of[term] for term in terms]] = np.arange(len(terms))
    held = (np.array(counts), np.array(columns), np.array(ends))
    table = sparse.csr_array(held, shape=(len(ends) - 1, len(terms)))
    # In a row the terms stay in the order in which the corpus comes to them: sums are made in it.
    table.sort_indices()
    table = sparse.csr_array(
        (table.data, column_of[table.indices], table.indptr), shape=table.shape
    )
    return terms, table


def _chosen_terms(
    terms: list[str], counts: sparse.csr_array, most_terms: int
) -> tuple[list[str], sparse.csr_array]:
    """Leave out terms in one text or in more than half of the texts, then all but the commonest."""
    documents = counts.shape[0]
    least, most = (1, float(documents)) if documents < SMALL else (2, 0.5 * documents)
    often = _document_frequencies(counts)
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


def _document_frequencies(counts: sparse.csr_array) -> IntArray:
    """In how many texts each term stands."""
    return np.bincount(counts.indices, minlength=counts.shape[1])


def _sublinear_weights(counts: sparse.csr_array, idf: FloatArray) -> sparse.csr_array:
    """``(1 + log count) * idf``, each text at unit length."""
    data = (np.log(counts.data.astype(np.float64)) + 1.0) * idf[counts.indices]
    texts = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    # bincount adds one after another, as the sums were made that older ecosystems hold.
    squared = np.bincount(texts, weights=data * data, minlength=counts.shape[0])
    data /= np.sqrt(squared)[texts]
    return sparse.csr_array((data, counts.indices, counts.indptr), shape=counts.shape)


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
