"""HD, CD, CI and ON of a finished run against the papers of other ecosystems, without any call."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd

from virsci_society.agents.arrays import VectorArray
from virsci_society.agents.errors import InputError
from virsci_society.agents.files.file_hashes import hash_json
from virsci_society.metrics.novelty.novelty import (
    Database,
    Databases,
    encoded_texts,
    in_embedding,
    novelty_scores,
    settings_of,
)
from virsci_society.society.ecosystem.build import paper_texts
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.literature.embedding.base import Progress, paper_text
from virsci_society.society.literature.embedding.registry import is_hosted
from virsci_society.society.literature.papers import Papers
from virsci_society.society.results.run import Run


def databases_of(ecosystem: Ecosystem, progress: Progress | None = None) -> Databases:
    """The papers of an ecosystem that novelty is measured against."""
    past = _database(ecosystem.past, ecosystem.past_vectors)
    later = _database(ecosystem.contemporary, ecosystem.contemporary_vectors)
    return Databases(past, later, ecosystem.embedding, progress)


def novelty_against(
    run: Run,
    past: Path | str,
    contemporary: Path | str | None = None,
    embedding: str | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Measure the papers of a run with the novelty settings of the run; its files do not change."""
    if run.vectors is None:
        raise InputError(f"{run.folder or run.name}: has no vectors: the run has not finished")
    held = Ecosystem.load(past)
    later = held if contemporary is None else Ecosystem.load(contemporary)
    boundary = run.boundary
    if boundary is not None and held.boundary > boundary:
        raise InputError(
            f"{past}: its past ends in {held.boundary}, after the run's boundary {boundary}; "
            "give an ecosystem with that boundary or an earlier one"
        )
    if not len(later.contemporary):
        raise InputError(f"{contemporary or past}: has no contemporary papers to measure against")
    if boundary is not None and later.boundary < boundary:
        raise InputError(
            f"{contemporary or past}: its contemporary papers begin in {later.boundary}, before "
            f"the run's boundary {boundary}; the society knew some of them"
        )
    databases = Databases(
        _database(held.past, held.past_vectors),
        _database(later.contemporary, later.contemporary_vectors),
        held.embedding,
        progress,
    )
    if embedding is not None:
        _refuse_hosted(embedding)
        databases, _ = in_embedding(databases, embedding, run.seed)
    elif later.embedding.revision != held.embedding.revision:
        _refuse_hosted(held.embedding.name)
        vectors = held.embedding.encode(paper_texts(later.contemporary), progress)
        databases = replace(databases, contemporary=_database(later.contemporary, vectors))
    settings, queries = settings_of(run), None
    own = run.manifest.get("ecosystem", {}).get("manifest") == hash_json(held.manifest)
    # The vectors of the run are used only where they are of the very same space and texts.
    if own and embedding is None and settings.measures_queries:
        evaluated = run.vectors.values
    else:
        _refuse_hosted(embedding or held.embedding.name)
        evaluated, queries = encoded_texts(run, settings, databases.embedding)
    return novelty_scores(
        evaluated, databases.past, databases.contemporary, settings, run.vectors.ids, queries
    )


def _database(papers: Papers, vectors: VectorArray) -> Database:
    def text(row: int) -> str:
        return paper_text(papers[row].title, papers[row].abstract)

    ids = tuple(papers.table["id"].to_pylist())
    return Database(vectors, papers.years, papers.citations, ids, text)


def _refuse_hosted(name: str) -> None:
    if is_hosted(name):
        raise InputError(
            f"embedding {name}: would have to be asked for, and measuring makes no calls; build "
            "both ecosystems with it, or give an embedding of this machine"
        )
