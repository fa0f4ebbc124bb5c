"""Leaks: could the model have known the papers of the years that the society cannot see?

Two things are told. The training cut-off that the model's makers state stands beside the boundary.
And each abstract is compared with its nearest contemporary papers: how similar they are, and the
longest run of words that both have. The same with past papers, which the model was shown, says
what a run among papers of one field is like.

A long run is a reason to look, and no proof; a model that knows the future need not quote it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metrics import novelty
from metrics.novelty import Database
from metrics.written import fits, fitted
from society.run import Run

LONG = 8
"""Words of a run from which a reader should look; an assumption, not a test."""
_AFTER = " It may have read papers of the years that measure novelty."
_BEFORE = " It was trained before the years that measure novelty."
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


COLUMNS = {
    "paper": "string",
    "words": "Int64",
    "similarity": "Float64",
    "nearest": "string",
    "shared": "Int64",
    "shared_with": "string",
    "shared_text": "string",
    "past_similarity": "Float64",
    "past_shared": "Int64",
}
_Found = tuple[float | None, str | None, int | None, str | None, str | None]
"""Similarity, nearest, words of the longest run, with whom, and the run."""


@dataclass(frozen=True)
class Cutoff:
    """A model's training cut-off beside the boundary of a run.

    Attributes:
        stated: such as ``2023-12`` or ``2023``; empty where the scenario states none.
        boundary: first calendar year that the society cannot see; None where unknown.
        told: one sentence for every page.
        after: does the training reach into the years that measure novelty? None where unknown.
    """

    stated: str
    boundary: int | None
    told: str
    after: bool | None


def cutoff_of(manifest: Mapping[str, Any]) -> Cutoff:
    """The cut-off of the model that spoke, as the manifest of its run says it."""
    backend = manifest.get("backend")
    given = backend if isinstance(backend, Mapping) else {}
    boundary = None if manifest.get("boundary") is None else int(manifest["boundary"])
    stated = str(given.get("cutoff") or "")
    before = f"The boundary is {'unknown' if boundary is None else f'1 January {boundary}'}"
    if not stated and "not a language model" in str(given.get("about") or ""):
        return Cutoff("", boundary, f"{before}. Rules have no training cut-off.", False)
    if not stated:
        told = f"{before}; the model's training cut-off is unknown, for none is stated."
        return Cutoff("", boundary, told, None)
    told = f"{before}; the model's stated training cut-off is {stated}."
    after = None if boundary is None else int(stated[:4]) >= boundary
    if after is not None:
        told += _AFTER if after else _BEFORE
    return Cutoff(stated, boundary, told, after)


def leak_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The same as data, for the page of a study: stated, boundary, after, told."""
    found = cutoff_of(manifest)
    names = ("stated", "boundary", "after", "told")
    return {name: getattr(found, name) for name in names}


def words(text: str) -> list[str]:
    """The words of a text as they are compared: without case and punctuation."""
    return _WORD.findall(text.casefold())


def longest_run(one: Sequence[str], other: Sequence[str]) -> tuple[int, int]:
    """The longest run of words that two texts share: its length and where it begins in ``one``.

    Token-level longest common substring, by dynamic programming over one row at a time; of several
    runs of that length, the first.
    """
    known = {word: number for number, word in enumerate(dict.fromkeys(other))}
    codes = np.array([known[word] for word in other], dtype=np.int64)
    ending = np.zeros(len(codes), dtype=np.int64)
    best, start = 0, 0
    for place, word in enumerate(one):
        shifted = np.concatenate([[0], ending[:-1]]) if len(codes) else ending
        ending = np.where(codes == known.get(word, -1), shifted + 1, 0)
        longest = int(ending.max(initial=0))
        if longest > best:
            best, start = longest, place + 1 - longest
    return best, start


def of_run(run: Run) -> pd.DataFrame:
    """Each abstract of a run beside its nearest contemporary and past papers.

    Long shared runs are how test sets are searched for what a model was trained on
    (Brown et al. 2020). The neighbours are those of the novelty measure, with its settings.

    Returns:
        One row per abstract: ``paper``, ``words`` (in title and abstract), ``similarity`` (cosine
        to the nearest contemporary paper), ``nearest`` (its id), ``shared`` (words of the longest
        run shared with one of the k nearest), ``shared_with`` (whose), ``shared_text`` (the words),
        ``past_similarity`` and ``past_shared`` (the same among past papers). Missing where the
        ecosystem has no contemporary side, or no texts. No rows where the run was opened
        without databases and was written without this measure.
    """
    nothing = _table([])
    held = run.measure("leaks") if "leaks" in run.measures() else None
    if held is not None and fits(held, nothing):
        return held
    if run.databases is None or run.vectors is None or not len(run.vectors.ids):
        return nothing if held is None else fitted(held, nothing)
    near = novelty.of_run(run).set_index("paper").loc[list(run.vectors.ids)]
    texts = run.table("papers").set_index("paper")
    sides = [
        _Side(run.databases.contemporary, near["contemporary_neighbours"]),
        _Side(run.databases.past, near["past_neighbours"]),
    ]
    rows = []
    for place, paper in enumerate(run.vectors.ids):
        title, abstract = texts.loc[paper, ["title", "abstract"]].fillna("")
        own = words(f"{title} {abstract}")
        vector = np.asarray(run.vectors.values[place], dtype=np.float64)
        now, past = (side.beside(place, own, vector) for side in sides)
        rows.append((paper, len(own), *now, past[0], past[2]))
    return _table(rows)


class _Side:
    """One database as the abstracts of a run meet it: the neighbours of each, with their texts."""

    def __init__(self, database: Database, neighbours: pd.Series) -> None:
        self._database = database
        self._near = [str(ids).split() for ids in neighbours.fillna("")]
        wanted = {id_ for ids in self._near for id_ in ids}
        self._row = {id_: row for row, id_ in enumerate(database.ids) if id_ in wanted}
        self._words: dict[str, list[str]] = {}

    def beside(self, place: int, own: Sequence[str], vector: NDArray[np.float64]) -> _Found:
        """The abstract of a place beside its neighbours."""
        near = [id_ for id_ in self._near[place] if id_ in self._row]
        if not near:
            return (None,) * 5
        similarity = _cosine(vector, self._database.vectors[self._row[near[0]]])
        if self._database.text is None:
            return (similarity, near[0], None, None, None)
        runs = [(*longest_run(own, self._words_of(id_)), id_) for id_ in near]
        length, start, whose = max(runs, key=lambda run: run[0])
        return (similarity, near[0], length, whose, " ".join(own[start : start + length]))

    def _words_of(self, id_: str) -> list[str]:
        if id_ not in self._words and self._database.text is not None:
            self._words[id_] = words(self._database.text(self._row[id_]))
        return self._words[id_]


def _cosine(one: NDArray[np.float64], other: Any) -> float:
    second = np.asarray(other, dtype=np.float64)
    scale = float(np.sqrt((one @ one) * (second @ second)))
    return float(one @ second) / scale if scale > 0 else 0.0


def _table(rows: Sequence[tuple[Any, ...]]) -> pd.DataFrame:
    columns: dict[str, Any] = {}
    for place, (name, dtype) in enumerate(COLUMNS.items()):
        build: Any = pd.array
        columns[name] = build([row[place] for row in rows], dtype=dtype)
    return pd.DataFrame(columns)
