"""The terms of a paper, taken from its keywords or, where it has none, from its own text.

The terms of a text are those with the highest TF-IDF weight in an LSA that is fitted on the kept
past papers. Keywords that other papers use are preferred: they read better than other terms.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

import numpy as np

from virsci_society.agents.errors import InputError
from virsci_society.society.ecosystem.importers.records import RawRecord
from virsci_society.society.literature.embedding.base import paper_text
from virsci_society.society.literature.embedding.lsa import DIMENSIONS, LSAEmbedding
from virsci_society.society.literature.papers import Papers

TERMS_PER_PAPER = 4
"""Most terms of a paper without keywords."""


class TermExtractor:
    """Extracts the terms of records.

    Args:
        lsa: weighs the terms of a text; fitted on past papers only.
        used: keywords of papers before the boundary, in lower case.
    """

    def __init__(self, lsa: LSAEmbedding, used: Container[str] = frozenset()) -> None:
        self._lsa, self._used = lsa, used

    def extract(self, record: RawRecord) -> tuple[str, ...]:
        """The terms of a record in lower case, the best first, each once."""
        if record.keywords:
            return tuple(dict.fromkeys(keyword.lower() for keyword in record.keywords))
        text = paper_text(record.title, record.abstract)
        return self._lsa.keywords(text, TERMS_PER_PAPER, self._used)


MOST_DIMENSIONS = 4096


def paper_texts(papers: Papers) -> list[str]:
    """The text by which each paper is embedded."""
    columns = papers.table["title"].to_pylist(), papers.table["abstract"].to_pylist()
    pairs = zip(*columns, strict=True)
    return [paper_text(title, abstract) for title, abstract in pairs]


def fit_lsa(texts: Sequence[str], seed: int, name: str) -> tuple[LSAEmbedding, list[str]]:
    """Fit an LSA on the texts of past papers; without texts or words it knows no word.

    The name of the embedding may give its length (``lsa:64``). Returns notes for the manifest, too.
    """
    nothing = LSAEmbedding([], np.zeros(0), np.zeros((0, 1), dtype=np.float32))
    if not texts:
        return nothing, []
    length = lsa_dimensions(name)
    try:
        return LSAEmbedding.fit(texts, seed=seed, dim=length), []
    except InputError:
        told = f"the {len(texts):,} past papers have no words to fit an embedding on"
        return nothing, [f"{told}: every vector is zero and searches find nothing near"]


def lsa_dimensions(name: str) -> int:
    """The vector length that an embedding's name asks for; the default for other kinds than LSA."""
    kind, _, length = name.partition(":")
    if kind != "lsa" or not length:
        return DIMENSIONS
    if not length.isdecimal() or not 1 <= int(length) <= MOST_DIMENSIONS:
        raise InputError(f"embedding {name}: expected a length, such as lsa:64")
    return int(length)
