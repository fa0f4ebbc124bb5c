"""The result of one audit check, and the checks of an ecosystem's embedding and vectors.

An embedding must be fitted on the past alone, and the vectors must be its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np

from virsci_society.agents.arrays import FloatArray
from virsci_society.society.ecosystem import storage
from virsci_society.society.ecosystem.building.terms import fit_lsa, paper_texts
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.ecosystem.synthetic.topic_vectors import DRAWN_VECTORS
from virsci_society.society.literature.embedding.base import SETTINGS_FILE
from virsci_society.society.literature.embedding.lsa import (
    ARRAYS_FILE,
    LSAEmbedding,
    words_and_pairs,
)
from virsci_society.society.literature.papers import Papers

SHOWN = 3
"""Examples of errors that a check reports."""

State = Literal["passed", "leaked", "cannot be told"]


@dataclass(frozen=True)
class Check:
    """The result of one check of an audit.

    Attributes:
        name: what was checked.
        state: ``passed``; ``leaked``: it is not what papers before the boundary give; ``cannot be
            told``.
        detail: what was compared, or why it cannot be told.
        examples: the first errors.
    """

    name: str
    state: State
    detail: str
    examples: tuple[str, ...] = ()


def compared_check(name: str, detail: str, wrong: Sequence[str]) -> Check:
    """The check of a comparison: passed without errors, otherwise leaked with the first ones.

    Args:
        name: what was checked.
        detail: what was compared.
        wrong: one sentence per error.
    """
    if not wrong:
        return Check(name, "passed", detail)
    return Check(name, "leaked", f"{len(wrong):,} wrong; {detail}", tuple(wrong[:SHOWN]))


def undecided_check(name: str, why: str) -> Check:
    """A check that cannot be decided, and why."""
    return Check(name, "cannot be told", why)


SAMPLE = 500
"""Vectors of the past, and of the contemporary papers, that are made again."""
NEAR = 1e-4
"""Largest difference of a number of a vector that counts as equal."""


def embedding_checks(ecosystem: Ecosystem, folder: Path) -> Iterator[Check]:
    """Check the fit of the embedding, then the vectors."""
    if DRAWN_VECTORS in ecosystem.manifest.get("notes", ()):
        yield undecided_check(
            "embedding", "it was fitted on a sample, which the folder does not name"
        )
        yield undecided_check("vectors", DRAWN_VECTORS)
        return
    texts = paper_texts(Papers.of(ecosystem.past))
    if isinstance(ecosystem.embedding, LSAEmbedding):
        yield _fit(ecosystem, texts, folder)
        yield _vectors(ecosystem)
        return
    name = ecosystem.embedding.name
    yield undecided_check(
        "embedding",
        f"{name} was not fitted here; whether what it was trained on is older than "
        f"{ecosystem.boundary} only its makers can tell",
    )
    yield undecided_check("vectors", f"they are not made again, which {name} would have to do")


def _fit(ecosystem: Ecosystem, texts: Sequence[str], folder: Path) -> Check:
    """Check that the embedding, fitted again on the past alone, is the same."""
    name, detail = "embedding", f"fitted again on the {len(texts):,} past papers alone"
    refitted, _ = fit_lsa(
        texts, int(ecosystem.manifest.get("seed", 0)), f"lsa:{ecosystem.embedding.dim}"
    )
    if refitted.revision == ecosystem.embedding.revision:
        return compared_check(name, detail, [])
    words, weights = _saved(folder / storage.embedding_folder(ecosystem.embedding.name))
    with TemporaryDirectory() as temporary:
        refitted.save(Path(temporary))
        expected, expected_weights = _saved(Path(temporary))
    if words == expected and np.allclose(weights, expected_weights, rtol=0, atol=1e-9):
        return compared_check(
            name, f"{detail}: the same but for the last digits of its numbers", []
        )
    return compared_check(name, detail, _strange(words, expected, texts))


def _saved(folder: Path) -> tuple[list[str], FloatArray]:
    settings: dict[str, Any] = json.loads((folder / SETTINGS_FILE).read_text(encoding="utf-8"))
    with np.load(folder / ARRAYS_FILE, allow_pickle=False) as arrays:
        return list(settings["vocabulary"]), np.asarray(arrays["idf"], dtype=np.float64)


def _strange(words: Sequence[str], expected: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Words that the embedding can only have from other papers, those of no past paper first."""
    past_words = {word for text in texts for word in words_and_pairs(text)}
    unexpected = sorted(set(words) - set(expected), key=lambda word: (word in past_words, word))
    if not unexpected:
        return ["it knows the words of the past papers with weights that they do not give"]
    return [
        f"it knows {w!r}, which "
        + ("no past paper says" if w not in past_words else "the past papers say too seldom")
        for w in unexpected
    ]


def _vectors(ecosystem: Ecosystem) -> Check:
    wrong: list[str] = []
    checked = 0
    sides = (
        (ecosystem.past, ecosystem.past_vectors),
        (ecosystem.contemporary, ecosystem.contemporary_vectors),
    )
    for papers, rows in sides:
        # Spread over all years, and the same ones at every audit.
        chosen_rows = np.unique(np.linspace(0, max(0, len(papers) - 1), SAMPLE).astype(int))
        chosen_rows = chosen_rows[: len(papers)]
        chosen = Papers.of([papers[int(row)] for row in chosen_rows])
        vectors = ecosystem.embedding.encode(paper_texts(chosen))
        checked += len(chosen_rows)
        far = np.abs(vectors - rows[chosen_rows]).max(axis=1, initial=0.0) > NEAR
        wrong.extend(f"{chosen[int(row)].id}: not of its own text" for row in np.flatnonzero(far))
    return compared_check(
        "vectors", f"{checked:,} of them made again from the papers' own text", wrong
    )
