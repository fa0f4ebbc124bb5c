"""Was an ecosystem's embedding made of the past, and its vectors by the embedding?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt

from society.ecosystem import folder as files
from society.ecosystem.check import Check, compared, untold
from society.ecosystem.ecosystem import Ecosystem
from society.ecosystem.fit import fitted, texts_of
from society.ecosystem.mixture import DRAWN
from society.literature.embedding import ARRAYS_FILE, SETTINGS_FILE, Lsa, words_and_pairs
from society.literature.papers import Papers

SAMPLE = 500
"""Vectors of each side that are made again."""
NEAR = 1e-4


def embedding_checks(ecosystem: Ecosystem, folder: Path) -> Iterator[Check]:
    """The fit, then the vectors."""
    if DRAWN in ecosystem.manifest.get("notes", ()):
        yield untold("embedding", "it was fitted on a sample, which the folder does not name")
        yield untold("vectors", DRAWN)
        return
    texts = texts_of(Papers.of(ecosystem.past))
    if isinstance(ecosystem.embedding, Lsa):
        yield _fit(ecosystem, texts, folder)
        yield _vectors(ecosystem)
        return
    name = ecosystem.embedding.name
    yield untold(
        "embedding",
        f"{name} was not fitted here; whether what it was trained on is older than "
        f"{ecosystem.boundary} only its makers can tell",
    )
    yield untold("vectors", f"they are not made again, which {name} would have to do")


def _fit(ecosystem: Ecosystem, texts: Sequence[str], folder: Path) -> Check:
    """Fitted again on the past alone, is it the same?"""
    name, told = "embedding", f"fitted again on the {len(texts):,} past papers alone"
    again, _ = fitted(
        texts, int(ecosystem.manifest.get("seed", 0)), f"lsa:{ecosystem.embedding.dim}"
    )
    if again.revision == ecosystem.embedding.revision:
        return compared(name, told, [])
    words, weights = _saved(folder / files.embedding_folder(ecosystem.embedding.name))
    with TemporaryDirectory() as place:
        again.save(Path(place))
        expected, expected_weights = _saved(Path(place))
    if words == expected and np.allclose(weights, expected_weights, rtol=0, atol=1e-9):
        return compared(name, f"{told}: the same but for the last digits of its numbers", [])
    return compared(name, told, _strange(words, expected, texts))


def _saved(folder: Path) -> tuple[list[str], npt.NDArray[np.float64]]:
    settings: dict[str, Any] = json.loads((folder / SETTINGS_FILE).read_text(encoding="utf-8"))
    with np.load(folder / ARRAYS_FILE, allow_pickle=False) as arrays:
        return list(settings["vocabulary"]), np.asarray(arrays["idf"], dtype=np.float64)


def _strange(words: Sequence[str], expected: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Words that only other papers can have taught, those of no past paper first."""
    said = {word for text in texts for word in words_and_pairs(text)}
    more = sorted(set(words) - set(expected), key=lambda word: (word in said, word))
    if not more:
        return ["it knows the words of the past papers with weights that they do not give"]
    return [
        f"it knows {w!r}, which "
        + ("no past paper says" if w not in said else "the past papers say too seldom")
        for w in more
    ]


def _vectors(ecosystem: Ecosystem) -> Check:
    wrong: list[str] = []
    looked = 0
    sides = (
        (ecosystem.past, ecosystem.past_vectors),
        (ecosystem.contemporary, ecosystem.contemporary_vectors),
    )
    for papers, rows in sides:
        # Spread over all years, and the same ones at every audit.
        some = np.unique(np.linspace(0, max(0, len(papers) - 1), SAMPLE).astype(int))
        some = some[: len(papers)]
        chosen = Papers.of([papers[int(row)] for row in some])
        again = ecosystem.embedding.encode(texts_of(chosen))
        looked += len(some)
        far = np.abs(again - rows[some]).max(axis=1, initial=0.0) > NEAR
        wrong.extend(f"{chosen[int(row)].id}: not of its own text" for row in np.flatnonzero(far))
    return compared("vectors", f"{looked:,} of them made again from the papers' own text", wrong)
