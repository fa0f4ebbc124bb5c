"""Which ideas of finished runs appeared later in reality, compared with controls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.compute as pc
from numpy.typing import NDArray

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.agents.errors import InputError
from virsci_society.metrics.inference.intervals import t_interval, wilson_interval
from virsci_society.metrics.novelty.nearest_papers import VectorSpace
from virsci_society.metrics.novelty.novelty import Database, Novelty, measured_texts
from virsci_society.metrics.novelty.other_papers import databases_of
from virsci_society.metrics.novelty.training_leaks import training_cutoff
from virsci_society.scenarios.analysis.compare_with_corpus import ComparedRuns, require_later_papers
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.literature.embedding.registry import is_hosted
from virsci_society.society.results.dataframes import typed_table
from virsci_society.society.results.run import Run
from virsci_society.society.results.text_provenance import speaker_of

SAME = 1e-3
"""Vectors of a text this close are of one embedding; stored ones are rounded to 1e-5."""
CHANCE = 0.05
"""Share of unrelated past papers that reach the threshold; a convention, as of tests."""
SAMPLE = 5000
"""Papers that are taken as ideas for the threshold and the controls, at most."""
DECIMALS = 9
"""Decimals to which cosines are rounded, so that their last bits decide nothing."""
EDGE = 1e-6
"""Least distance of a threshold from 1, the paper itself, and from 0, a text of unknown words."""
BLOCK = 256
"""Ideas whose similarities to all papers are in memory at a time."""
MATCHES = {
    "similarity": "Float64",
    "nearest": "string",
    "came_true": "boolean",
    "papers": "Int64",
    "first": "string",
    "first_year": "Int64",
    "citations": "Float64",
    "relative_citations": "Float64",
}


@dataclass(frozen=True)
class Backtest:
    """The ideas of runs of one scenario, compared with later papers."""

    name: str
    threshold: float
    summary: pd.DataFrame
    """One row per kind of idea, the society's and the controls."""
    ideas: pd.DataFrame
    """One row per idea of the society."""
    notes: tuple[str, ...]


def backtest_runs(compared: ComparedRuns, ecosystem: Ecosystem) -> Backtest:
    """Hold the ideas of runs against the papers after the boundary of their ecosystem."""
    written = [_ideas_of(run, ecosystem) for run in compared.runs]
    ids, values = (list(chain(*parts)) for parts in zip(*written, strict=True))
    if not ids:
        raise InputError(f"{compared.name}: no paper was published, so there are no ideas to test")
    vectors = np.array(values)
    group = np.repeat(np.arange(len(written)), [len(one[0]) for one in written])
    old, new = ecosystem.past_vectors, ecosystem.contemporary_vectors
    references = ecosystem.contemporary.table["references"]
    cited = ecosystem.past.rows_of(pc.list_flatten(references))
    lengths = np.asarray(pc.list_value_length(references).to_numpy(), dtype=np.int64)
    citing = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    threshold = threshold_of(old, new, (cited[cited >= 0], citing[cited >= 0]))
    later = databases_of(ecosystem).contemporary
    ideas, (near, similarity) = match_ideas(vectors, later, threshold), nearest(vectors, old)
    taken = sample_rows(new)
    others = match_ideas(new[taken], later, threshold, taken)
    kinds = [
        ("ideas of the society", ideas, group),
        ("past papers nearest to them", match_ideas(old[near], later, threshold), group),
        # Real papers are of no run: one group.
        ("real later papers, without themselves", others, taken * 0),
    ]
    ideas = ideas.assign(past_similarity=similarity)
    ideas.insert(0, "run", [str(compared.runs[at].folder or compared.name) for at in group])
    ideas.insert(1, "paper", ids)
    summary = pd.DataFrame([_summary(*kind, ecosystem.boundary) for kind in kinds])
    years = ecosystem.contemporary.years
    notes = [
        f"Threshold: cosine {threshold:.3f} in {ecosystem.embedding.name}. By "
        f"chance {CHANCE:.0%} of past papers have one of {len(years):,} later papers "
        f"({years.min()} to {years.max()}) this close that does not cite them. Ideas that came "
        "true in different words are missed, so compare rows rather than single shares.",
        "Baseline: the past papers nearest to the ideas, as repeating them comes true as often. "
        "Upper reference: real later papers.",
        *_notes_of(compared.runs),
    ]
    return Backtest(compared.name, threshold, summary, ideas, tuple(notes))


def _ideas_of(run: Run, ecosystem: Ecosystem) -> tuple[Sequence[Any], ...]:
    """Ids and vectors of the papers of a run, if it fits the ecosystem."""
    require_later_papers(run, ecosystem)
    where = run.folder or run.name
    if run.digest is None or run.vectors is None:
        raise InputError(f"{where}: has no digest or no vectors: the run has not finished")
    cited = run.table("citations")
    outside = cited.loc[~cited["inside"].astype(bool), "cited"].tolist()
    if (ecosystem.past.rows_of(outside) < 0).any():
        raise InputError(
            f"{where}: cites past papers that are not in the ecosystem; give the ecosystem "
            "of the run"
        )
    ids, vectors, encoder = run.vectors.ids, run.vectors.values, ecosystem.embedding
    other = vectors.shape[1] != encoder.dim
    # To embed a text again costs a call where the embedding is hosted.
    if len(ids) and not other and not is_hosted(encoder.name):
        texts = measured_texts(run.table("papers"), Novelty())["query"].loc[list(ids)].tolist()
        other = bool(np.abs(encoder.encode(texts) - vectors).max() > SAME)
    if other:
        raise InputError(
            f"{where}: its vectors were not made by the ecosystem's embedding ({encoder.name}): "
            "give the ecosystem of the run, with the same embedding"
        )
    return ids, list(vectors)


def threshold_of(
    past: NDArray[Any], later: NDArray[Any], cited: tuple[IntArray, IntArray], seed: int = 0
) -> float:
    """The cosine that few past papers reach, taken as ideas, with later papers not citing them."""
    chosen = sample_rows(past, seed)
    if not len(chosen) or not later.any():
        raise InputError("no past paper, or no later one, has a word that its embedding knows")
    best = np.empty(len(chosen))
    for block, table in _similarities(past[chosen], later):
        followed = np.isin(cited[0], chosen[block])
        table[np.searchsorted(chosen[block], cited[0][followed]), cited[1][followed]] = -1.0
        best[block] = table.max(axis=1)
    return float(np.clip(np.quantile(best, 1 - CHANCE, method="higher"), EDGE, 1 - EDGE))


def match_ideas(
    ideas: NDArray[Any], later: Database, threshold: float, themselves: IntArray | None = None
) -> pd.DataFrame:
    """Find the later papers that are at least as similar to each idea as the threshold."""
    order = np.lexsort((np.asarray(later.ids, dtype=np.str_), later.years))
    given = later.citations
    counts = pd.Series(np.full(len(later.ids), np.nan) if given is None else given, dtype="float64")
    means = counts.groupby(np.asarray(later.years)).transform("mean")
    relative = counts / means.where(means > 0)
    rows: list[tuple[Any, ...]] = []
    for block, table in _similarities(ideas, later.vectors):
        if themselves is not None:
            table[np.arange(len(table)), themselves[block]] = -1.0
        for similarity in table:
            best = order[np.argmax(similarity[order])]
            hits = order[similarity[order] >= threshold]
            near = (similarity[best], later.ids[best], len(hits) > 0, len(hits))
            first = (later.ids[hits[0]], later.years[hits[0]]) if len(hits) else (None, None)
            rows.append((*near, *first, counts.iloc[hits].mean(), relative.iloc[hits].mean()))
    return typed_table(rows, MATCHES)


def nearest(ideas: NDArray[Any], papers: NDArray[Any]) -> tuple[IntArray, FloatArray]:
    """The row of the paper most similar to each idea, of equal ones the first, and the cosine."""
    rows, cosines = np.zeros(len(ideas), dtype=np.int64), np.zeros(len(ideas))
    for block, table in _similarities(ideas, papers):
        rows[block], cosines[block] = table.argmax(axis=1), table.max(axis=1)
    return rows, cosines


def sample_rows(vectors: NDArray[Any], seed: int = 0) -> IntArray:
    """At most ``SAMPLE`` rows of papers, ascending, none of a zero vector."""
    rows = np.flatnonzero(vectors.any(axis=1))
    rng = np.random.default_rng([seed, len(vectors)])
    return rows if len(rows) <= SAMPLE else np.sort(rng.choice(rows, SAMPLE, replace=False))


def _similarities(ideas: NDArray[Any], papers: NDArray[Any]) -> Iterator[tuple[slice, FloatArray]]:
    """Cosines by blocks of ideas, in new arrays."""
    rows, columns = (
        VectorSpace(one, unit=True, squared=False).rows(slice(None)) for one in (ideas, papers)
    )
    for start in range(0, len(rows), BLOCK):
        block = slice(start, min(start + BLOCK, len(rows)))
        yield block, np.round(rows[block] @ columns.T, DECIMALS)


def _summary(name: str, found: pd.DataFrame, group: IntArray, boundary: int) -> dict[str, Any]:
    """One row of the summary; ``group`` numbers the run of each idea."""
    came, runs = found["came_true"].to_numpy(dtype=float), np.unique(group)
    # The shares of several runs are the cases; of one run its ideas are.
    if len(runs) < 2:
        share = wilson_interval(int(came.sum()), len(came))
    else:
        share = t_interval([came[group == run].mean() for run in runs], extent=(0.0, 1.0))
    true = found[found["came_true"]].astype({"first_year": "Float64"})
    figures = true[["papers", "citations", "relative_citations"]].mean()
    interval = {"came_true": share.value, "low": share.low, "high": share.high}
    years = true["first_year"].median() - boundary
    return {"ideas": name, "number": len(found), **interval, "years": years, **figures}


def _notes_of(runs: Sequence[Run]) -> list[str]:
    """Notes on the backend, its training data and the limits of the intervals."""
    speakers = sorted({speaker_of(run.manifest) for run in runs})
    notes = [f"Answers: {one}." for one in speakers]
    if any("not a language model" in one for one in speakers):
        notes.append("Texts by rules say nothing about people or language models.")
    cutoffs = {one.sentence: one.after for one in (training_cutoff(run.manifest) for run in runs)}
    for sentence, after in cutoffs.items():
        notes.append(sentence)
        if after is None:
            notes.append(
                "Leakage possible: it is unknown whether the model was trained on the later papers."
            )
        elif after:
            notes.append(
                "Leakage: the model may have read the later papers; this is not a prediction."
            )
    if len(runs) < 2:
        notes.append(
            "One run: its ideas share authors and papers, so the intervals are too narrow."
        )
    return notes
