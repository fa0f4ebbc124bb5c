"""Papers that nearly repeat an earlier one, by their words and by their vectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.lazy_imports import sparse
from virsci_society.metrics.novelty.nearest_papers import VectorSpace
from virsci_society.metrics.novelty.training_leaks import words_of
from virsci_society.metrics.registry import measures, metric
from virsci_society.society.literature.embedding.base import paper_text
from virsci_society.society.results.run import Run

WORDS, VECTORS = 0.5, 0.99
"""Least resemblance of words, and least cosine, of near-duplicates. Fewer than two in a thousand
real papers reach the first, and the second if the embedding knows their language."""
BLOCK = 256
"""Papers that are compared at a time."""


def resemblance_to_earlier(texts: Iterable[str]) -> FloatArray:
    """The highest resemblance of each text to one before it, 0..1 (Broder 1997).

    Resemblance is the Jaccard index of the sets of three words in a row, without case.

    Example:
        >>> resemblance_to_earlier(["a b c d", "x y z", "A b c d, e."]).tolist()
        [0.0, 0.0, 0.666...]
    """
    numbers: dict[tuple[str, ...], int] = {}
    listed, ends = list[int](), [0]
    for text in texts:
        words = words_of(text)
        runs = dict.fromkeys(zip(words, words[1:], words[2:], strict=False))
        listed += [numbers.setdefault(run, len(numbers)) for run in runs]
        ends.append(len(listed))
    sizes, found = np.diff(ends), np.zeros(len(ends) - 1)
    held = sparse.csr_array((np.ones(len(listed)), listed, ends), (len(sizes), len(numbers)))
    for start in range(0, len(sizes), BLOCK):
        stop = start + BLOCK
        shared = sparse.tril(held[start:stop] @ held[:stop].T, start - 1).tocoo()
        ones, others = shared.coords[0] + start, shared.coords[1]
        np.maximum.at(found, ones, shared.data / (sizes[ones] + sizes[others] - shared.data))
    return found


def cosine_to_earlier(vectors: NDArray[Any]) -> FloatArray:
    """The highest cosine of each row of a matrix of shape (n, d) to one before it, at least 0."""
    unit = VectorSpace(vectors, unit=True, squared=False).rows(slice(None))
    found = np.zeros(len(unit))
    for start in range(0, len(unit), BLOCK):
        stop = start + BLOCK
        found[start:stop] = np.tril(unit[start:stop] @ unit[:stop].T, start - 1).max(axis=1)
    return found


@measures(
    "novelty",
    """
    near_duplicates=by_words  share  share of papers whose words nearly repeat an earlier paper:
        resemblance of .5 or more (Broder 1997)
    near_duplicate_vectors=by_vectors  share  share of papers whose vector nearly repeats an
        earlier one: cosine of .99 or more
    """,
)
@metric("copies")
def near_duplicates(run: Run) -> pd.DataFrame:
    """Each paper with an abstract beside the earlier papers of the run (Broder 1997)."""
    papers = run.table("papers").dropna(subset=["published", "abstract"])
    papers = papers.sort_values(["published", "paper"])
    written, ids = papers[["title", "abstract"]].fillna(""), papers["paper"].tolist()
    texts = [paper_text(*one) for one in written.itertuples(index=False)]
    if run.vectors is None:
        return compared_with_earlier(ids, texts)
    rows = pd.Index(run.vectors.ids, dtype=object).get_indexer(pd.Index(ids, dtype=object))
    return compared_with_earlier(ids, texts, None if -1 in rows else run.vectors.values[rows])


def compared_with_earlier(
    ids: Sequence[str], texts: Sequence[str], vectors: NDArray[Any] | None = None
) -> pd.DataFrame:
    """The table of papers in order of publication; without vectors cosines are unknown."""
    known = np.full(len(ids), np.nan) if vectors is None else cosine_to_earlier(vectors)
    table = pd.DataFrame({"paper": ids, "resemblance": resemblance_to_earlier(texts)})
    table["cosine"] = pd.array(known, dtype="Float64")
    table = table.astype({"paper": "string", "resemblance": "Float64"})
    by_words, by_vectors = table["resemblance"] >= WORDS, table["cosine"] >= VECTORS
    return table.assign(by_words=by_words, by_vectors=by_vectors)
