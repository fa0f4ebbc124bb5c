"""HD, CD, CI and ON of a finished run against the papers of other ecosystems, without any call."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from virsci_society.agents.arrays import VectorArray
from virsci_society.agents.errors import InputError
from virsci_society.agents.files.file_hashes import hash_json
from virsci_society.metrics.novelty.novelty import (
    Database,
    encoded_texts,
    novelty_scores,
    settings_of,
)
from virsci_society.society.ecosystem.building.profiles import paper_texts
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.literature.embedding.base import Embedding
from virsci_society.society.literature.embedding.registry import make_embedding
from virsci_society.society.literature.papers import Papers
from virsci_society.society.results.run import Run

HOSTED = "litellm"


def novelty_against(
    run: Run, past: Path | str, contemporary: Path | str | None = None, embedding: str | None = None
) -> pd.DataFrame:
    """Measure the papers of a run with the novelty settings of the run; its files do not change."""
    if run.vectors is None:
        raise InputError(f"{run.folder or run.name}: has no vectors: the run has not finished")
    held = Ecosystem.load(past)
    later = held if contemporary is None else Ecosystem.load(contemporary)
    boundary = run.boundary
    if boundary is not None and held.boundary > boundary:
        raise InputError(
            f"{past}: its past reaches to {held.boundary}, beyond the run's boundary {boundary}; "
            "give one of that boundary or an earlier one"
        )
    if not len(later.contemporary):
        raise InputError(f"{contemporary or past}: has no contemporary papers to measure against")
    if boundary is not None and later.boundary < boundary:
        raise InputError(
            f"{contemporary or past}: its contemporary papers begin in {later.boundary}, before "
            f"the run's boundary {boundary}; the society knew some of them"
        )
    encoder = held.embedding
    if embedding is not None:
        _refuse_hosted(embedding)
        encoder = make_embedding(embedding, texts=paper_texts(held.past), seed=run.seed)
    settings, queries = settings_of(run), None
    own = run.manifest.get("ecosystem", {}).get("manifest") == hash_json(held.manifest)
    # The vectors of the run are used only where they are of the very same space and texts.
    if own and embedding is None and settings.measures_queries:
        evaluated = run.vectors.values
    else:
        _refuse_hosted(encoder.name)
        evaluated, queries = encoded_texts(run, settings, encoder.encode)
    return novelty_scores(
        evaluated,
        _database(held.past, held.past_vectors, held.embedding, encoder),
        _database(later.contemporary, later.contemporary_vectors, later.embedding, encoder),
        settings,
        run.vectors.ids,
        queries,
    )


def _database(papers: Papers, vectors: VectorArray, own: Embedding, encoder: Embedding) -> Database:
    """Papers in the encoder's space, with the stored vectors where that is their own."""
    if own.revision != encoder.revision:
        _refuse_hosted(encoder.name)
        vectors = encoder.encode(paper_texts(papers))
    ids = tuple(papers.table["id"].to_pylist())
    return Database(vectors, papers.years, papers.citations, ids)


def _refuse_hosted(name: str) -> None:
    if name.partition(":")[0] == HOSTED:
        raise InputError(
            f"embedding {name}: would have to be asked for, and measuring makes no call; build "
            "both ecosystems with it, or give an embedding of this machine"
        )
