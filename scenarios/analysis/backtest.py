"""Which ideas of finished runs appeared later in reality, beside controls, in words.

``metrics.novelty.backtest`` has the computation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.analysis.observed import ComparedRuns, require_later_papers

if TYPE_CHECKING:
    import pandas as pd

    from virsci_society.agents.arrays import IntArray, VectorArray
    from virsci_society.metrics.novelty.backtest import Threshold
    from virsci_society.society.ecosystem.ecosystem import Ecosystem
    from virsci_society.society.results.run import Run

SAME = 1e-3
"""Vectors of a text this close are of one embedding; stored ones are rounded to 1e-5."""


@dataclass(frozen=True)
class Backtest:
    """The ideas of runs of one scenario beside the papers that came.

    Attributes:
        summary: one row per kind of idea, the society's and the controls.
        ideas: one row per idea of the society.
    """

    name: str
    threshold: Threshold
    summary: pd.DataFrame
    ideas: pd.DataFrame
    notes: tuple[str, ...]


def backtest_runs(compared: ComparedRuns, ecosystem: Ecosystem) -> Backtest:
    """Hold the ideas of runs against the papers after the boundary of their ecosystem."""
    import numpy as np
    import pandas as pd
    import pyarrow.compute as pc

    from virsci_society.metrics.novelty import backtest
    from virsci_society.metrics.novelty.other_papers import databases_of

    written = [_ideas_of(run, ecosystem) for run in compared.runs]
    ids, values = (list(chain(*parts)) for parts in zip(*written, strict=True))
    if not ids:
        raise InputError(f"{compared.name}: no paper was written: there is no idea to look for")
    vectors = np.array(values)
    group = np.repeat(np.arange(len(written)), [len(one[0]) for one in written])
    old, new = ecosystem.past_vectors, ecosystem.contemporary_vectors
    references = ecosystem.contemporary.table["references"]
    cited = ecosystem.past.rows_of(pc.list_flatten(references))
    lengths = np.asarray(pc.list_value_length(references).to_numpy(), dtype=np.int64)
    citing = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    threshold = backtest.calibrate_threshold(old, new, (cited[cited >= 0], citing[cited >= 0]))
    later = databases_of(ecosystem).contemporary

    def match(rows: VectorArray, themselves: IntArray | None = None) -> pd.DataFrame:
        return backtest.match_ideas(rows, later, threshold.value, themselves)

    ideas, (near, similarity) = match(vectors), backtest.nearest(vectors, old)
    kinds = [("ideas of the society", ideas, group)]
    kinds.append(("past papers nearest to them", match(old[near]), group))
    taken = backtest.sample_rows(new)
    # Real papers are of no run: one group.
    kinds.append(("real later papers", match(new[taken]), taken * 0))
    kinds.append(("real later papers, without themselves", match(new[taken], taken), taken * 0))
    ideas = ideas.assign(past_similarity=similarity)
    ideas.insert(0, "run", [str(compared.runs[at].folder or compared.name) for at in group])
    ideas.insert(1, "paper", ids)
    summary = pd.DataFrame([_summary(*kind, ecosystem.boundary) for kind in kinds])
    notes = (*_of_threshold(threshold, ecosystem), *_of_runs(compared.runs))
    return Backtest(compared.name, threshold, summary, ideas, notes)


def _ideas_of(run: Run, ecosystem: Ecosystem) -> tuple[Sequence[Any], ...]:
    """Ids and vectors of the papers of a run, if it fits the ecosystem."""
    import numpy as np

    from virsci_society.metrics.novelty.novelty import Novelty, measured_texts
    from virsci_society.society.literature.embedding.registry import is_hosted

    require_later_papers(run, ecosystem)
    where = run.folder or run.name
    if run.digest is None or run.vectors is None:
        raise InputError(f"{where}: has no digest or no vectors: the run has not finished")
    cited = run.table("citations")
    outside = cited.loc[~cited["inside"].astype(bool), "cited"].tolist()
    if (ecosystem.past.rows_of(outside) < 0).any():
        raise InputError(
            f"{where}: cites past papers that the ecosystem does not have: give the one that the "
            "run started from"
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
            "give the ecosystem that the run started from, with the same embedding"
        )
    return ids, list(vectors)


def _summary(name: str, found: pd.DataFrame, group: IntArray, boundary: int) -> dict[str, Any]:
    """One row of the summary; ``group`` numbers the run of each idea."""
    import numpy as np

    from virsci_society.metrics.inference.intervals import t_interval, wilson_interval

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


def _of_threshold(threshold: Threshold, ecosystem: Ecosystem) -> list[str]:
    from virsci_society.metrics.novelty.backtest import CHANCE

    years = ecosystem.contemporary.years
    pairs = "a later paper and a past paper that it cites"
    if not threshold.cited:
        pairs = "a later paper and its nearest past paper (none cites one)"
    return [
        f"Threshold: cosine {threshold.value:.3f} in {ecosystem.embedding.name}. Of past papers "
        f"taken as ideas {CHANCE:.0%} have one of {len(years):,} later papers ({years.min()} to "
        f"{years.max()}) so near that does not cite them.",
        f"Of {threshold.follow_ups:,} pairs of {pairs} {threshold.recognised:.1%} reach it; such a "
        f"pair is nearer than a random one with chance {threshold.separation:.2f}. What came true "
        "in other words is missed: read no share by itself, compare the rows.",
        "The past papers nearest to the ideas are the floor: repeating them comes true as often. "
        "Real later papers match themselves (1); without themselves they show how often a real "
        "idea of those years is met again.",
    ]


def _of_runs(runs: Sequence[Run]) -> list[str]:
    """Who spoke, what a model may have read before, and how far the intervals hold."""
    from virsci_society.metrics.novelty.training_leaks import training_cutoff
    from virsci_society.society.results.speaker import speaker_of

    speakers = sorted({speaker_of(run.manifest) for run in runs})
    notes = [f"Who spoke: {one}." for one in speakers]
    if any("not a language model" in one for one in speakers):
        notes.append("Words by rules say nothing about people or language models.")
    cutoffs = {one.sentence: one.after for one in (training_cutoff(run.manifest) for run in runs)}
    for sentence, after in cutoffs.items():
        notes.append(sentence)
        if after is None:
            notes.append("LEAK possible: nobody can tell whether it had read the later papers.")
        elif after:
            notes.append("LEAK: what a model had read does not come true; no foresight is shown.")
    if len(runs) < 2:
        notes.append("One run: its ideas share people and papers; the intervals are too narrow.")
    return notes
