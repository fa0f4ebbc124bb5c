"""Signs that the model knew papers of the years that the society cannot see."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from virsci_society.agents.arrays import FloatArray
from virsci_society.metrics.novelty import novelty
from virsci_society.metrics.novelty.novelty import Database
from virsci_society.metrics.registry import measures, metric
from virsci_society.society.results.dataframes import typed_table
from virsci_society.society.results.run import Run
from virsci_society.society.results.text_provenance import backend_of

LONG_RUN = 8
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
_Overlap = tuple[float | None, str | None, int | None, str | None, str | None]
"""Similarity, nearest, words of the longest run, with whom, and the run."""


@dataclass(frozen=True)
class Cutoff:
    """A model's training cut-off beside the boundary of a run."""

    stated: str
    boundary: int | None
    sentence: str
    after: bool | None


def training_cutoff(manifest: Mapping[str, Any]) -> Cutoff:
    """The training cut-off of the model of a run, from the run's manifest."""
    given = backend_of(manifest)
    boundary = None if manifest.get("boundary") is None else int(manifest["boundary"])
    stated = str(given.get("cutoff") or "")
    start = f"The boundary is {'unknown' if boundary is None else f'1 January {boundary}'}"
    if not stated and "not a language model" in str(given.get("about") or ""):
        return Cutoff("", boundary, f"{start}. Rules have no training cut-off.", False)
    if not stated:
        sentence = f"{start}; the model's training cut-off is unknown, for none is stated."
        return Cutoff("", boundary, sentence, None)
    sentence = f"{start}; the model's stated training cut-off is {stated}."
    after = None if boundary is None else int(stated[:4]) >= boundary
    if after is not None:
        sentence += _AFTER if after else _BEFORE
    return Cutoff(stated, boundary, sentence, after)


def words_of(text: str) -> list[str]:
    """The words of a text, without case and punctuation."""
    return _WORD.findall(text.casefold())


def longest_run(one: Sequence[str], other: Sequence[str]) -> tuple[int, int]:
    """The longest run of words that two texts share: its length and where it begins in ``one``."""
    # With autojunk, frequent words are skipped in texts above 200 words.
    found = SequenceMatcher(None, one, other, autojunk=False).find_longest_match()
    return found.size, found.a


@measures(
    "novelty",
    """
    contemporary_similarity=similarity  correlation  mean cosine similarity of a paper to its
        nearest contemporary paper
    contemporary_words=shared  words  mean length of the longest passage that a paper shares with a
        contemporary paper: consecutive words
    """,
)
@metric("leaks", "leaks")
def run_leaks(run: Run) -> pd.DataFrame:
    """Each abstract beside its nearest contemporary and past papers (Brown et al. 2020)."""
    if "leaks" in run.metric_names():
        return run.metric("leaks")
    if run.databases is None or run.vectors is None or not len(run.vectors.ids):
        return typed_table([], COLUMNS)
    near = novelty.run_novelty(run).set_index("paper").loc[list(run.vectors.ids)]
    texts = run.table("papers").set_index("paper")
    sides = [
        _overlaps(run.databases.contemporary, near["contemporary_neighbours"]),
        _overlaps(run.databases.past, near["past_neighbours"]),
    ]
    rows = []
    for row, paper in enumerate(run.vectors.ids):
        title, abstract = texts.loc[paper, ["title", "abstract"]].fillna("")
        own = words_of(f"{title} {abstract}")
        vector = np.asarray(run.vectors.values[row], dtype=np.float64)
        now, past = (overlap(row, own, vector) for overlap in sides)
        rows.append((paper, len(own), *now, past[0], past[2]))
    return typed_table(rows, COLUMNS)


def _overlaps(
    database: Database, neighbours: pd.Series
) -> Callable[[int, Sequence[str], FloatArray], _Overlap]:
    """Similarity and longest shared run of one abstract with its neighbours in a database."""
    near = [str(ids).split() for ids in neighbours.fillna("")]
    wanted = {id_ for ids in near for id_ in ids}
    row_of = {id_: row for row, id_ in enumerate(database.ids) if id_ in wanted}
    text = database.text
    words = cache(lambda id_: words_of(text(row_of[id_])) if text else [])

    def overlap(row: int, own: Sequence[str], vector: FloatArray) -> _Overlap:
        known = [id_ for id_ in near[row] if id_ in row_of]
        if not known:
            return (None,) * 5
        other = np.asarray(database.vectors[row_of[known[0]]], dtype=np.float64)
        scale = float(np.sqrt((vector @ vector) * (other @ other)))
        similarity = float(vector @ other) / scale if scale > 0 else 0.0
        if text is None:
            return (similarity, known[0], None, None, None)
        runs = [(*longest_run(own, words(id_)), id_) for id_ in known]
        # The first of equal runs: neighbours are in order of distance.
        length, start, whose = max(runs, key=lambda run: run[0])
        return (similarity, known[0], length, whose, " ".join(own[start : start + length]))

    return overlap
