"""The LSA of an ecosystem's past: the text of each paper, and the fit on all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agents.errors import InputError
from society.literature.embedding import Lsa, paper_text
from society.literature.embedding.lsa import DIMENSIONS
from society.literature.papers import Papers

MOST_DIMENSIONS = 4096


def texts_of(papers: Papers) -> list[str]:
    """The text that stands for each paper."""
    columns = papers.table["title"].to_pylist(), papers.table["abstract"].to_pylist()
    pairs = zip(*columns, strict=True)
    return [paper_text(title, abstract) for title, abstract in pairs]


def fitted(texts: Sequence[str], seed: int, name: str = "lsa") -> tuple[Lsa, list[str]]:
    """An LSA of these texts, and what is to be said of it; one that knows no word without them.

    ``name`` may ask for a length (``lsa:64``); another kind's asks for none.
    """
    nothing = Lsa([], np.zeros(0), np.zeros((0, 1), dtype=np.float32))
    if not texts:
        return nothing, []
    length = length_of(name)
    try:
        return Lsa.fit(texts, seed=seed, dim=length), []
    except InputError:
        told = f"the {len(texts):,} past papers have no words to fit an embedding on"
        return nothing, [f"{told}: every vector is zero and searches find nothing near"]


def length_of(name: str) -> int:
    """The length of an LSA's rows that a name asks for; InputError where it asks for nonsense."""
    kind, _, length = name.partition(":")
    if kind != "lsa" or not length:
        return DIMENSIONS
    if not length.isdecimal() or not 1 <= int(length) <= MOST_DIMENSIONS:
        raise InputError(f"embedding {name}: expected a length, such as lsa:64")
    return int(length)
