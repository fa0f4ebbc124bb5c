"""Building an ecosystem from the raw records of a source.

The source is read once into a corpus of columns, on which papers and scientists are selected. The
notes of the manifest say what the source cannot tell; every report repeats them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from virsci_society.agents.arrays import IntArray, VectorArray
from virsci_society.agents.errors import InputError
from virsci_society.agents.lazy_imports import pa, pc
from virsci_society.society.ecosystem.building.build_options import BuildOptions, BuildProgress
from virsci_society.society.ecosystem.building.filters import (
    COLLECTED,
    UNDATED,
    PaperSelection,
    count_joint_papers,
    count_scientists,
    select_papers,
    select_scientists,
)
from virsci_society.society.ecosystem.building.profiles import fit_lsa, make_profiles, paper_texts
from virsci_society.society.ecosystem.building.raw_corpus import RawCorpus
from virsci_society.society.ecosystem.ecosystem import Ecosystem, encode_interests, require_past
from virsci_society.society.ecosystem.importers.records import RawRecord
from virsci_society.society.ecosystem.knowledge_bank import MASK, numbered_names
from virsci_society.society.literature.embedding.base import Embedding
from virsci_society.society.literature.embedding.lsa import DIMENSIONS
from virsci_society.society.literature.embedding.registry import join, make_model, parts_of
from virsci_society.society.literature.papers import DAYS_PER_YEAR, Papers

COLLECTED_LATER = "citations of contemporary papers (for CI) are counts at collection time"
NO_CI = "citations of contemporary papers are unknown: CI and ON are not available"
NO_CONTEMPORARY = "there are no contemporary papers: CD, CI and ON are not available"
NO_VECTOR = "paper without a vector: no word of it is known to the embedding"
OWN_TERMS = "interests of papers without keywords are terms of their own text"


def _source_notes(corpus: RawCorpus, selection: PaperSelection, scientists: int) -> list[str]:
    """The notes on a source: origin of its citation counts, unknown values, and empty sides."""
    notes = [selection.citation_source]
    if selection.citation_source == COLLECTED:
        notes.append(UNDATED)
    counts = selection.citations[selection.contemporary]
    if not len(counts):
        notes.append(NO_CONTEMPORARY)
    elif not (counts >= 0).any():
        notes.append(NO_CI)
    else:
        notes.append(COLLECTED_LATER)
        if unknown := int((counts < 0).sum()):
            notes.append(
                f"citations of {unknown:,} of the {len(counts):,} contemporary papers are unknown; "
                "they are left out of CI"
            )
    if not bool(corpus.keywords[corpus.known].all()):
        notes.append(OWN_TERMS)
    notes.extend(selection.notes)
    first, last = int(corpus.years.min()), int(corpus.years.max())
    span = f"the source's years are {first} to {last}"
    if not selection.past.any():
        inside = first < corpus.boundary <= last + 1
        other = "another boundary" if inside else f"a boundary from {first + 1} to {last + 1}"
        why = "the filters leave none" if corpus.known.any() else f"{span}, all from it on"
        notes.append(
            f"EMPTY: no past papers before {corpus.boundary}: {why}; a society cannot start "
            f"from this, choose {other} or weaker filters"
        )
    if not selection.contemporary.any():
        why = f"{span}, all before it" if corpus.known.all() else "the filters leave none"
        notes.append(f"EMPTY: no contemporary papers from {corpus.boundary} on: {why}")
    if not scientists:
        notes.append(
            "EMPTY: no scientists: nobody passes the filters on people; a society cannot start "
            "from this"
        )
    return notes


def build(
    records: Iterable[RawRecord],
    options: BuildOptions,
    facts: Callable[[], Mapping[str, Any]] = dict,
    progress: BuildProgress | None = None,
    folder: Path | None = None,
) -> Ecosystem:
    """Build an ecosystem by options.

    Args:
        folder: holds the records while it is built; None: a temporary one.
    """
    # Before anything is read, so that a wrong name or a missing extra is an error at once.
    model = make_model(options.embedding, options.hosting)
    progress = progress or BuildProgress()
    with TemporaryDirectory(prefix="society-", dir=folder) as temporary:
        progress.begin("reading the source")
        path = Path(temporary, "records.parquet")
        corpus = RawCorpus.read(records, options.boundary, path, progress.count)
        if not len(corpus):
            raise InputError("the source has no record; give one with papers")
        return _build(corpus, options, facts(), progress, model)


def _build(
    corpus: RawCorpus,
    options: BuildOptions,
    facts: Mapping[str, Any],
    progress: BuildProgress,
    model: Embedding | None,
) -> Ecosystem:
    selection = select_papers(corpus, options.papers)
    scientists, steps = select_scientists(corpus, selection, options.people)
    if options.scientists is not None:
        listed = np.intersect1d(scientists, corpus.columns_of(options.scientists))
        removed = len(scientists) - len(listed)
        steps.append({"filter": "people: listed", "in": len(scientists), "removed": removed})
        scientists = listed
    # By id first, so that masks do not depend on the order of the source; then shuffled, so that
    # they reveal nothing about a name.
    by_id = pc.sort_indices(corpus.author_ids.take(pa.array(scientists))).to_numpy()
    rng = np.random.default_rng([options.seed % 2**64, len(scientists)])
    scientists = scientists[by_id][rng.permutation(len(scientists))]
    progress.begin("reading the words of the papers that are kept")
    past, contemporary, key = _kept_papers(corpus, selection, scientists)
    # Arrow keeps the memory of the unsorted columns, which the LSA needs.
    pa.default_memory_pool().release_unused()

    require_past(past.years, options.boundary, "the vectors")
    texts = paper_texts(past)
    length = parts_of(options.embedding)[0]
    # Always, also beside a model: terms of papers without keywords come from it.
    why = " for terms" if length is None else ""
    progress.begin(f"fitting the LSA to {len(texts):,} past papers{why}")
    lsa, fit_notes = fit_lsa(texts, options.seed, length or DIMENSIONS)
    embedding = model if model is not None and length is None else join(lsa, model, texts)
    progress.begin(f"embedding {len(past):,} past papers")
    past_vectors = embedding.encode(texts, progress.texts)
    progress.begin(f"embedding {len(contemporary):,} contemporary papers")
    later_vectors = embedding.encode(paper_texts(contemporary), progress.texts)

    progress.begin(f"reading what the papers of {len(scientists):,} scientists are about")
    joint = count_joint_papers(corpus.people, scientists)
    citations = selection.dated_citations
    people, starts = make_profiles(corpus, scientists, citations, joint, lsa, progress.count)
    interests = None
    if model is not None:
        progress.begin(f"embedding the interests of {len(people):,} scientists")
        interests = encode_interests(people, embedding, progress.texts)
    counted = {"heads": count_scientists(corpus, selection, options.people)}
    notes = _source_notes(corpus, selection, len(scientists))
    cleaning = [*facts.get("cleaning", ())]
    blank = _without_vector(past, past_vectors) + _without_vector(contemporary, later_vectors)
    if blank:
        cleaning.append({"what": NO_VECTOR, "number": len(blank), "example": blank[0]})
        total = len(past) + len(contemporary)
        notes.append(
            f"{len(blank):,} of the {total:,} papers have no vector: the embedding knows no word "
            "of their title and abstract, so that no search finds them by meaning"
        )
    manifest = {
        "filters": asdict(options.papers) | asdict(options.people),
        "steps": selection.steps + steps,
        "records": len(corpus),
        **(counted if options.scientists is None else {}),
        "seed": options.seed,
        **facts,
        "cleaning": cleaning,
        "notes": [*notes, *fit_notes, *embedding.notes, *facts.get("unknown", ())],
    }
    return Ecosystem(
        boundary=options.boundary,
        past=past,
        contemporary=contemporary,
        profiles=people,
        career_starts=starts,
        coauthors=joint,
        embedding=embedding,
        past_vectors=past_vectors,
        contemporary_vectors=later_vectors,
        manifest=manifest,
        key=key,
        interest_vectors=interests,
    )


def _without_vector(papers: Papers, vectors: VectorArray) -> list[str]:
    """The ids of the papers whose vector is zero, as no word of theirs is known."""
    return [papers[row].id for row in np.flatnonzero(~vectors.any(axis=1)).tolist()]


def _kept_papers(
    corpus: RawCorpus, selection: PaperSelection, scientists: IntArray
) -> tuple[Papers, Papers, dict[str, tuple[str, str]]]:
    """Past and contemporary papers that are kept, with masked names, and what the names stand for.

    Names are ``Scientist0..`` for scientists and ``Author0..`` for all other authors.
    """
    rows = corpus.by_date(np.flatnonzero(selection.kept))
    columns = ("id", "title", "abstract", "references", "keywords", "venue", "author_names")
    table = corpus.table(selection.kept, *columns)
    table = table.take(pa.array(np.searchsorted(np.flatnonzero(selection.kept), rows)))

    authors = corpus.authors.take(pa.array(rows))
    seats = authors.flatten().to_numpy()
    # As the papers name them, by year and id: the order of the source must not show.
    named, first = np.unique(seats, return_index=True)
    named = named[np.argsort(first)]
    others = named[~np.isin(named, scientists)]
    people = np.concatenate([scientists, others])
    names = pa.concat_arrays(
        [numbered_names(MASK, len(scientists)), numbered_names("Author", len(others))]
    )
    number_of = np.zeros(len(corpus.author_ids), dtype=np.int64)
    number_of[people] = np.arange(len(people))
    masked = names.take(pa.array(number_of[seats]))

    # Names change; the key has the one on the newest paper.
    newest = np.zeros(len(people), dtype=np.int64)
    newest[number_of[seats]] = np.arange(len(seats))
    real = pc.list_flatten(table["author_names"]).take(pa.array(newest)).to_pylist()
    ids = corpus.author_ids.take(pa.array(people)).to_pylist()
    key = dict(zip(names.to_pylist(), zip(ids, real, strict=True), strict=True))

    counts = selection.citations[rows]
    more = {
        "date": (corpus.years[rows] - corpus.boundary) * DAYS_PER_YEAR,
        "year": corpus.years[rows],
        "authors": pa.LargeListArray.from_arrays(authors.offsets, masked),
        "citations": pa.array(counts, pa.int64(), mask=counts < 0),
    }
    for name, column in more.items():
        table = table.append_column(name, pa.array(column))
    papers = Papers(table.select(Papers.schema().names).cast(Papers.schema()))
    past = int((corpus.years[rows] < corpus.boundary).sum())
    return papers[:past], papers[past:], key
