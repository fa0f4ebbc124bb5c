"""Building an ecosystem from raw records, in three passes over the source.

The first pass makes an outline, on which papers and scientists are selected. The second reads the
words of the kept papers, which are then embedded. The third reads what the scientists' papers are
about. The words of a paper that is dropped are never held. The notes of the manifest say what the
source cannot tell; every report repeats them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from virsci_society.agents.arrays import IntArray
from virsci_society.agents.errors import InputError
from virsci_society.society.ecosystem.building.build_options import (
    BuildOptions,
    BuildProgress,
    SilentProgress,
)
from virsci_society.society.ecosystem.building.filters import (
    COLLECTED,
    UNDATED,
    PaperSelection,
    Step,
    count_joint_papers,
    count_scientists,
    select_papers,
    select_scientists,
    shuffled_numbers,
)
from virsci_society.society.ecosystem.building.kept_papers import KeptPapers, read_kept_papers
from virsci_society.society.ecosystem.building.outline import Outline
from virsci_society.society.ecosystem.building.profiles import (
    TermExtractor,
    fit_lsa,
    lsa_dimensions,
    make_profiles,
    paper_texts,
    read_author_papers,
)
from virsci_society.society.ecosystem.ecosystem import Ecosystem, require_past
from virsci_society.society.ecosystem.importers.records import RawRecord
from virsci_society.society.literature.embedding.base import Embedding
from virsci_society.society.literature.embedding.cache import EmbeddingCache
from virsci_society.society.literature.embedding.lsa import LSAEmbedding
from virsci_society.society.literature.embedding.registry import embedding_kind, make_embedding
from virsci_society.society.literature.papers import Papers

COLLECTED_LATER = "citations of contemporary papers (for CI) are counts at collection time"
NO_CI = "citations of contemporary papers are unknown: CI and ON are not available"
NO_CONTEMPORARY = "there are no contemporary papers: CD, CI and ON are not available"
OWN_TERMS = "interests of papers without keywords are terms of their own text"


def source_notes(outline: Outline, selection: PaperSelection, scientists: int) -> list[str]:
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
    if not bool(outline.keywords[outline.known].all()):
        notes.append(OWN_TERMS)
    notes.extend(selection.notes)
    notes.extend(_empty(outline, selection, scientists))
    return notes


def _empty(outline: Outline, selection: PaperSelection, scientists: int) -> Iterator[str]:
    first, last = outline.year_range
    span = f"the source's years are {first} to {last}"
    if not selection.past.any():
        inside = first < outline.boundary <= last + 1
        other = "another boundary" if inside else f"a boundary from {first + 1} to {last + 1}"
        why = "the filters leave none" if outline.known.any() else f"{span}, all from it on"
        yield (
            f"EMPTY: no past papers before {outline.boundary}: {why}; a society cannot start "
            f"from this, choose {other} or weaker filters"
        )
    if not selection.contemporary.any():
        why = f"{span}, all before it" if outline.known.all() else "the filters leave none"
        yield f"EMPTY: no contemporary papers from {outline.boundary} on: {why}"
    if not scientists:
        yield (
            "EMPTY: no scientists: nobody passes the filters on people; a society cannot start "
            "from this"
        )


def build(
    records: Iterable[RawRecord],
    options: BuildOptions,
    facts: Callable[[], Mapping[str, Any]] = dict,
    progress: BuildProgress | None = None,
    cache: Path | None = None,
) -> Ecosystem:
    """Build an ecosystem by options.

    Args:
        records: the source; read several times, and held in memory where it is an iterator.
        options: filters, embedding and seed.
        facts: more facts for the manifest, asked for once the source has been read to its end;
            what is ``unknown`` of the source becomes notes, too.
        progress: shows the phases.
        cache: folder in which rows of a model are kept, so that none is made or paid for twice.

    Raises:
        InputError: the source has no record or changed while it was read, or the embedding cannot
            be had.
    """
    # Before anything is read, so that a wrong name or a missing extra is an error at once.
    kind = embedding_kind(options.embedding)
    lsa_dimensions(options.embedding)
    model = None if kind.fitted else make_embedding(options.embedding, hosting=options.hosting)
    source = records if not isinstance(records, Iterator) else list(records)
    progress = progress or SilentProgress()
    progress.begin("reading years, authors and references")
    outline = Outline.read(source, options.boundary, progress.count)
    if not len(outline):
        raise InputError("the source has no record; give one with papers")
    return _Building(source, outline, options, progress, model, cache).finished(facts)


def build_from_invented(
    records: Iterable[RawRecord],
    scientists: Sequence[str],
    *,
    boundary: int,
    seed: int,
    manifest: dict[str, Any],
) -> Ecosystem:
    """Build a synthetic ecosystem: the records of an invented community, by the usual build.

    All records are kept, and the ids of the scientists are given, who are not selected. The facts
    stand in the manifest beside those of the build.
    """
    in_order = sorted(records, key=lambda record: (record.year, record.id))
    options = BuildOptions(boundary=boundary, scientists=scientists, seed=seed)
    return build(in_order, options, lambda: manifest)


@dataclass(frozen=True, eq=False)
class _Building:
    """A build after its first pass."""

    source: Iterable[RawRecord]
    outline: Outline
    options: BuildOptions
    progress: BuildProgress
    model: Embedding | None
    cache: Path | None

    @cached_property
    def selection(self) -> PaperSelection:
        """The papers that are kept."""
        return select_papers(self.outline, self.options.papers)

    def finished(self, facts: Callable[[], Mapping[str, Any]]) -> Ecosystem:
        """Run the other passes and put the ecosystem together."""
        source, outline, progress = self.source, self.outline, self.progress
        selection = self.selection
        columns, steps = self._select_scientists()
        progress.begin("reading the words of the papers that are kept")
        kept = read_kept_papers(source, outline, selection, progress.count)
        columns = self._in_mask_order(columns, kept)
        names = self._names(columns, kept)
        past, contemporary = kept.papers(names)
        embedding, past_rows, later_rows, lsa, fit_notes = self._vectors(past, contemporary)
        progress.begin(f"reading what the papers of {len(columns):,} scientists are about")
        terms = TermExtractor(lsa, kept.used_keywords)
        author_papers = read_author_papers(source, outline, columns, terms, progress.count)
        joint = count_joint_papers(outline.people, columns)
        people, starts = make_profiles(author_papers, outline, selection.dated_citations, joint)
        return Ecosystem(
            boundary=self.options.boundary,
            past=past,
            contemporary=contemporary,
            profiles=people,
            career_starts=starts,
            coauthors=joint,
            embedding=embedding,
            past_vectors=past_rows,
            contemporary_vectors=later_rows,
            manifest=self._manifest(steps, len(columns), fit_notes, facts()),
            key=dict(zip(names, kept.people, strict=True)),
        )

    def _select_scientists(self) -> tuple[IntArray, list[Step]]:
        columns, steps = select_scientists(self.outline, self.selection, self.options.people)
        if self.options.scientists is not None:
            listed = np.intersect1d(columns, self.outline.columns_of(self.options.scientists))
            removed = len(columns) - len(listed)
            steps.append({"filter": "people: listed", "in": len(columns), "removed": removed})
            columns = listed
        return columns, steps

    def _in_mask_order(self, columns: IntArray, kept: KeptPapers) -> IntArray:
        """The scientists in the order of their masked names."""
        numbers = self._numbers_of(columns, kept)
        # By id first, so that the shuffled order does not depend on the order of the source.
        by_id = sorted(range(len(columns)), key=lambda one: kept.people[numbers[one]][0])
        masked = np.empty_like(columns)
        masked[shuffled_numbers(len(columns), self.options.seed)] = columns[by_id]
        return masked

    def _numbers_of(self, columns: IntArray, kept: KeptPapers) -> IntArray:
        """The numbers of people among the people of the kept papers."""
        seats = self.outline.people[kept.rows[: kept.past]].indices
        number_of = np.zeros(self.outline.people.shape[1], dtype=np.int64)
        number_of[seats] = kept.seats[: len(seats)]
        numbers: IntArray = number_of[columns]
        return numbers

    def _names(self, columns: IntArray, kept: KeptPapers) -> list[str]:
        """Masked names: ``Scientist0..`` for scientists, ``Author0..`` for all other authors."""
        names = [""] * len(kept.people)
        for scientist, number in enumerate(self._numbers_of(columns, kept).tolist()):
            names[number] = f"Scientist{scientist}"
        # As the papers name them, by year and id: the order of the source must not show.
        others = (number for number in kept.people_in_order() if not names[number])
        for other, number in enumerate(others):
            names[number] = f"Author{other}"
        return names

    def _vectors(
        self, past: Papers, contemporary: Papers
    ) -> tuple[Embedding, Any, Any, LSAEmbedding, list[str]]:
        require_past(past.years, self.options.boundary, "the vectors")
        texts = paper_texts(past)
        self.progress.begin(f"fitting the LSA to {len(texts):,} past papers")
        # Always, also beside a model: terms of papers without keywords come from it.
        lsa, fit_notes = fit_lsa(texts, self.options.seed, self.options.embedding)
        embedding = self.model or lsa
        self.progress.begin(f"embedding {len(past) + len(contemporary):,} papers")
        cache = EmbeddingCache(self.cache) if self.model and self.cache else None
        with cache or nullcontext():
            rows: list[Any] = [
                embedding.encode_all(
                    some, cache=cache, progress=lambda done, _: self.progress.count(done)
                )
                for some in (texts, paper_texts(contemporary))
            ]
        return embedding, *rows, lsa, [*fit_notes, *embedding.notes]

    def _manifest(
        self, steps: list[Step], scientists: int, fit_notes: list[str], facts: Mapping[str, Any]
    ) -> dict[str, Any]:
        outline, selection, options = self.outline, self.selection, self.options
        heads = {"heads": count_scientists(outline, selection, options.people)}
        notes = source_notes(outline, selection, scientists)
        return {
            "filters": asdict(options.papers) | asdict(options.people),
            "steps": selection.steps + steps,
            "records": len(outline),
            **(heads if options.scientists is None else {}),
            "seed": options.seed,
            **facts,
            "notes": [*notes, *fit_notes, *facts.get("unknown", ())],
        }
