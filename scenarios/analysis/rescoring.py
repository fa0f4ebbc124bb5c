"""HD, CD, CI and ON of finished runs against other papers, without any call.

What the run wrote stays as it is: results lie in its folder ``rescored/``, one table and one note
for each comparison.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from virsci_society.agents.errors import InputError, disk_errors_as
from virsci_society.agents.files.atomic_files import write_atomically
from virsci_society.agents.files.file_hashes import check_file
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.runs.build import build_ecosystem_of

if TYPE_CHECKING:
    import pandas as pd

    from virsci_society.metrics.novelty.novelty import Database
    from virsci_society.society.ecosystem.ecosystem import Ecosystem
    from virsci_society.society.literature.embedding.base import Embedding
    from virsci_society.society.literature.papers import Papers
    from virsci_society.society.results.run import Run

FOLDER = "rescored"
HOSTED = "litellm"


@dataclass(frozen=True)
class Baseline:
    """The papers and the embedding that runs are measured against.

    Without ``past`` each run's own is taken; ``embedding`` names another one, fitted on the past.
    """

    contemporary: Path
    past: Path | None = None
    embedding: str | None = None
    trust: bool = False

    @property
    def name(self) -> str:
        """The name of the tables that it leaves in a run folder."""
        parts = [self.contemporary.resolve().name]
        parts += [] if self.past is None else [f"past-{self.past.resolve().name}"]
        parts += [] if self.embedding is None else [self.embedding]
        return re.sub(r"[^\w.-]+", "-", "-".join(parts)).strip("-.") or "other"


def measure_again(folder: Path, baseline: Baseline) -> pd.DataFrame:
    """Measure the abstracts of a finished run against a baseline; write the table beside the run.

    Returns:
        ``paper``, the columns of the novelty measure, and ``HD_before`` to ``ON_before``, as the
        run was written.

    Raises:
        InputError: no finished run, an ecosystem that cannot be used, or an embedding that would
            have to be asked for.
    """
    from virsci_society.metrics.novelty.novelty import (
        COLUMNS,
        encoded_texts,
        novelty_scores,
        run_novelty,
        settings_of,
    )
    from virsci_society.society.results.run import Run

    run = Run.open(folder)
    if run.digest is None or run.vectors is None:
        raise InputError(f"{folder}: has no digest or no vectors: the run has not finished")
    held, same = _past_of(run, folder, baseline)
    later = _later(baseline.contemporary, run)
    encoder = _encoder(held, baseline, run.seed)
    settings = settings_of(run)
    # Vectors of the run are used again only where they are of the very same space and texts.
    if same and encoder is held.embedding and settings.measures_queries:
        evaluated, queries = run.vectors.values, None
    else:
        require_ideas(run)
        _refuse_hosted(encoder.name)
        evaluated, queries = encoded_texts(run, settings, encoder.encode)
    past = _database(held.past, held.past_vectors, held.embedding, encoder)
    beyond = _database(later.contemporary, later.contemporary_vectors, later.embedding, encoder)
    table = novelty_scores(evaluated, past, beyond, settings, run.vectors.ids, queries)
    before = run_novelty(run).set_index("paper").reindex(table["paper"])
    for name in COLUMNS:
        table[f"{name}_before"] = before[name].to_numpy()
    note = {
        "run": run.digest,
        "past": {"papers": len(held.past), "boundary": held.boundary},
        "contemporary": {"papers": len(later.contemporary), "boundary": later.boundary},
        "embedding": {"name": encoder.name, "revision": encoder.revision},
        "settings": settings.model_dump(),
    }
    _keep(folder, baseline.name, table, note, run)
    return table


def _keep(
    folder: Path, name: str, table: pd.DataFrame, note: Mapping[str, object], run: Run
) -> None:
    """Write the table and what it was measured with beside the run, whose own files stay."""
    from virsci_society.society.results.speaker import speaker_of
    from virsci_society.society.results.table_files import write_parquet

    target = folder / FOLDER / f"{name}.parquet"
    with disk_errors_as(InputError, f"{target}: cannot be written"):
        write_parquet(target, table, speaker=speaker_of(run.manifest), within=folder)
        text = json.dumps(note, indent=2) + "\n"
        write_atomically(target.with_suffix(".json"), text, within=folder)


def compare_before_after(tables: Sequence[pd.DataFrame]) -> tuple[str, list[tuple[Any, ...]]]:
    """Before and after, with 95 % intervals: over runs, or over the abstracts of a single run.

    Returns:
        The unit of a case, and rows of: measure, cases, mean before, mean now, mean difference
        (each an ``Interval``), and the rank correlation of before and now over all abstracts.
    """
    import numpy as np
    import pandas as pd

    from virsci_society.metrics.inference.correlations import spearman
    from virsci_society.metrics.novelty.novelty import COLUMNS
    from virsci_society.metrics.report.figures import mean_interval

    rows: list[tuple[Any, ...]] = []
    for name in COLUMNS:
        both = [t[[f"{name}_before", name]].dropna().astype("float64") for t in tables]
        every = pd.concat(both, ignore_index=True).to_numpy(dtype=np.float64)
        means = np.array([one.to_numpy().mean(axis=0) for one in both if len(one)]).reshape(-1, 2)
        cases = means if len(tables) > 1 else every
        if len(cases):
            columns = (cases[:, 0], cases[:, 1], cases[:, 1] - cases[:, 0])
            ranks = spearman(every[:, 0], every[:, 1])
            rows.append((name, len(cases), *map(mean_interval, columns), ranks.r))
    return ("runs" if len(tables) > 1 else "abstracts"), rows


def _past_of(run: Run, folder: Path, baseline: Baseline) -> tuple[Ecosystem, bool]:
    """The ecosystem whose past is taken, and whether it is the one that the run started from."""
    from virsci_society.society.ecosystem.ecosystem import Ecosystem

    if baseline.past is None:
        return build_ecosystem_of(
            load_scenario(check_file(folder / "scenario.yaml"), trust=baseline.trust)
        ), True
    held = Ecosystem.load(baseline.past)
    if run.boundary is not None and held.boundary > run.boundary:
        raise InputError(
            f"{baseline.past}: its past reaches to {held.boundary}, beyond the run's boundary "
            f"{run.boundary}; give one of that boundary or an earlier one"
        )
    return held, False


def _later(path: Path, run: Run) -> Ecosystem:
    from virsci_society.society.ecosystem.ecosystem import Ecosystem

    later = Ecosystem.load(path)
    if not len(later.contemporary):
        raise InputError(f"{path}: has no contemporary papers to measure against")
    if run.boundary is not None and later.boundary < run.boundary:
        raise InputError(
            f"{path}: its contemporary papers begin in {later.boundary}, before the run's boundary "
            f"{run.boundary}; the society knew some of them"
        )
    return later


def _encoder(held: Ecosystem, baseline: Baseline, seed: int) -> Embedding:
    from virsci_society.society.ecosystem.building.profiles import paper_texts
    from virsci_society.society.literature.embedding.registry import make_embedding

    if baseline.embedding is None:
        return held.embedding
    _refuse_hosted(baseline.embedding)
    return make_embedding(baseline.embedding, texts=paper_texts(held.past), seed=seed)


def _database(papers: Papers, vectors: Any, own: Embedding, encoder: Embedding) -> Database:
    """Papers in the encoder's space: as they are stored where that is their own."""
    from virsci_society.metrics.novelty.novelty import Database
    from virsci_society.society.ecosystem.building.profiles import paper_texts

    if own.revision != encoder.revision:
        _refuse_hosted(encoder.name)
        vectors = encoder.encode(paper_texts(papers))
    return Database(vectors, papers.years, papers.citations, tuple(papers.table["id"].to_pylist()))


def require_ideas(run: Run) -> None:
    """Refuse a run whose papers are found by texts that an earlier release has not kept."""
    by_idea = dict(run.scenario.get("protocol") or {}).get("found_by") == "idea"
    papers = run.table("papers")
    if by_idea and len(papers) and papers["found_by"].isna().all():
        raise InputError(
            f"{run.folder}: its papers are found by their ideas, which the release that wrote it "
            "did not keep; 'society replay RUN --out NEW' writes them, without a call"
        )


def _refuse_hosted(name: str) -> None:
    if name.partition(":")[0] == HOSTED:
        raise InputError(
            f"embedding {name}: would have to be asked for, and measuring makes no call; build "
            "both ecosystems with it, or give --embedding with one of this machine"
        )
