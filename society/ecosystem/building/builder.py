"""Building an ecosystem from raw records, in three passes over the source.

The first pass makes an outline, on which papers and scientists are selected. The second reads the
words of the kept papers, which are then embedded. The third reads what the scientists' papers are
about. The words of a paper that is dropped are never held. The notes of the manifest say what the
source cannot tell; every report repeats them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from virsci_society.agents.arrays import IntArray
from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import remove_file
from virsci_society.agents.lazy_imports import pa
from virsci_society.society.ecosystem import storage
from virsci_society.society.ecosystem.building.build_options import (
    BuildOptions,
    BuildProgress,
    CountOn,
    PaperFilters,
    PeopleFilters,
    SilentProgress,
)
from virsci_society.society.ecosystem.building.evidence import (
    EVIDENCE,
    make_evidence,
    write_evidence,
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
    AuthorPapers,
    make_profiles,
    read_author_papers,
)
from virsci_society.society.ecosystem.building.terms import (
    TermExtractor,
    fit_lsa,
    lsa_dimensions,
    paper_texts,
)
from virsci_society.society.ecosystem.ecosystem import Ecosystem
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
    """Make the notes on a source: origin of its citation counts, unknown values, and empty sides.

    Args:
        outline: of the source.
        selection: the papers that are kept.
        scientists: size of the population.

    Returns:
        One sentence per note.
    """
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


def _empty(outline: Outline, selection: PaperSelection, scientists: int) -> list[str]:
    first, last = outline.year_range
    span = f"the source's years are {first} to {last}"
    notes = []
    if not selection.past.any():
        why = "the filters leave none" if outline.known.any() else f"{span}, all from it on"
        notes.append(
            f"EMPTY: no past papers before {outline.boundary}: {why}; a society cannot start "
            f"from this, choose {_other(outline)}weaker filters"
        )
    if not selection.contemporary.any():
        why = f"{span}, all before it" if outline.known.all() else "the filters leave none"
        notes.append(f"EMPTY: no contemporary papers from {outline.boundary} on: {why}")
    if not scientists:
        notes.append(
            "EMPTY: no scientists: nobody passes the filters on people; a society cannot start "
            "from this"
        )
    return notes


def _other(outline: Outline) -> str:
    first, last = outline.year_range
    if first < outline.boundary <= last + 1:
        return "another boundary or "
    return f"a boundary from {first + 1} to {last + 1} or "


@dataclass(frozen=True, eq=False)
class BuildResult:
    """A newly built ecosystem and the evidence for its figures.

    Attributes:
        ecosystem: what a society starts from.
        evidence: the counted papers; see the module ``evidence``.
    """

    ecosystem: Ecosystem
    evidence: pa.Table

    def with_facts(self, facts: Mapping[str, Any]) -> BuildResult:
        """The same result with more facts in the manifest; ``unknown`` ones become notes, too."""
        manifest = self.ecosystem.manifest
        notes = [*manifest["notes"], *facts.get("unknown", ())]
        whole = {**manifest, **facts, "notes": notes}
        return replace(self, ecosystem=replace(self.ecosystem, manifest=whole))

    def save(self, folder: Path | str, *, key: bool = False) -> None:
        """Write the folder with the evidence.

        Args:
            folder: made where it is missing; must be empty or hold an ecosystem.
            key: whether the key file with real names is written, too.
        """
        target = Path(folder)
        remove_file(target / EVIDENCE)
        self.ecosystem.save(target, key=key)
        write_evidence(target, self.evidence)
        storage.write_manifest(target, storage.read_manifest(target))


def build_ecosystem(
    records: Iterable[RawRecord],
    *,
    boundary: int,
    min_papers: int = 1,
    min_coauthors: int = 0,
    min_citations_past: int = 0,
    min_citations_contemporary: int = 0,
    first_year: int | None = None,
    last_year: int | None = None,
    require_abstract: bool = True,
    count_on: CountOn = "all",
    active_years: int | None = None,
    embedding: str = "lsa",
    seed: int = 0,
    source: str = "",
    licence: str = "",
) -> Ecosystem:
    """Select from a source by filters and build an ecosystem, with all options as arguments.

    Args:
        records: the source; read several times, and held in memory where it is an iterator.
        boundary: the year in which the society starts.
        min_papers: least papers of a scientist before the boundary.
        min_coauthors: least different co-authors on them.
        min_citations_past: least citations of a past paper (see ``PaperFilters``).
        min_citations_contemporary: least citations of a contemporary paper at collection time.
        first_year: earlier papers are left out; None: no limit.
        last_year: later papers are left out; None: no limit.
        require_abstract: whether papers without abstract are left out.
        count_on: whether people are counted on ``all`` papers or the ``kept`` ones.
        active_years: only people with a paper in so many years before the boundary; None: all.
        embedding: name of the embedding.
        seed: of the masked names and the fit.
        source: name of the source, for the manifest.
        licence: of the source, for the manifest.

    Returns:
        The ecosystem.

    Raises:
        InputError: the source has no record.
    """
    filters = PaperFilters(
        first_year=first_year,
        last_year=last_year,
        require_abstract=require_abstract,
        min_citations_past=min_citations_past,
        min_citations_contemporary=min_citations_contemporary,
    )
    people = PeopleFilters(min_papers, min_coauthors, count_on, active_years)
    plan = BuildOptions(boundary, filters, people, embedding=embedding, seed=seed)
    return build(records, plan, {"source": source, "licence": licence}).ecosystem


def build(
    records: Iterable[RawRecord],
    options: BuildOptions,
    facts: Mapping[str, Any] | None = None,
    progress: BuildProgress | None = None,
    cache: Path | None = None,
) -> BuildResult:
    """Build an ecosystem by options.

    Args:
        records: the source; read several times, and held in memory where it is an iterator.
        options: filters, embedding and seed.
        facts: stand in the manifest beside those of the build itself.
        progress: shows the phases.
        cache: folder in which rows of a model are kept, so that none is made or paid for twice.

    Returns:
        The ecosystem and its evidence.

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
    return _Building(source, outline, options, progress, model, cache).finished(dict(facts or {}))


def build_from_invented(
    records: Iterable[RawRecord],
    scientists: Sequence[str],
    *,
    boundary: int,
    seed: int,
    manifest: dict[str, Any],
) -> Ecosystem:
    """Build a synthetic ecosystem: the records of an invented community, by the usual build.

    All records are kept, and the scientists are given instead of selected.

    Args:
        records: the papers of the community; sorted here by year, then id.
        scientists: ids of the authors who are the population.
        boundary: the year in which the society starts.
        seed: of the masked names and the fit of the LSA.
        manifest: facts that stand in the manifest beside those of the build.

    Returns:
        The ecosystem.
    """
    in_order = sorted(records, key=lambda record: (record.year, record.id))
    options = BuildOptions(boundary=boundary, scientists=scientists, seed=seed)
    return build(in_order, options).with_facts(manifest).ecosystem


class _Building:
    """A build after its first pass."""

    def __init__(
        self,
        source: Iterable[RawRecord],
        outline: Outline,
        options: BuildOptions,
        progress: BuildProgress,
        model: Embedding | None,
        cache: Path | None,
    ) -> None:
        self._source, self._outline, self._options, self._progress = (
            source,
            outline,
            options,
            progress,
        )
        self._model, self._cache = model, cache
        self._selection: PaperSelection = select_papers(outline, options.papers)

    def finished(self, facts: dict[str, Any]) -> BuildResult:
        """Run the other passes and put the ecosystem together."""
        columns, steps = self._select_scientists()
        self._progress.begin("reading the words of the papers that are kept")
        kept = read_kept_papers(self._source, self._outline, self._selection, self._progress.count)
        columns = self._in_mask_order(columns, kept)
        names = self._names(columns, kept)
        past, contemporary = kept.papers(names)
        embedding, past_rows, later_rows, lsa, fit_notes = self._vectors(past, contemporary)
        author_papers = self._author_papers(columns, TermExtractor(lsa, kept.used_keywords))
        joint = count_joint_papers(self._outline.people, columns)
        people, starts = make_profiles(
            author_papers, self._outline, self._selection.dated_citations, joint
        )
        ecosystem = Ecosystem(
            boundary=self._options.boundary,
            past=past,
            contemporary=contemporary,
            profiles=people,
            career_starts=starts,
            coauthors=joint,
            embedding=embedding,
            past_vectors=past_rows,
            contemporary_vectors=later_rows,
            manifest=self._manifest(steps, len(columns), fit_notes) | facts,
            key=dict(zip(names, kept.people, strict=True)),
        )
        return BuildResult(ecosystem, make_evidence(self._outline, self._selection, author_papers))

    def _select_scientists(self) -> tuple[IntArray, list[Step]]:
        columns, steps = select_scientists(self._outline, self._selection, self._options.people)
        if self._options.scientists is not None:
            listed = np.intersect1d(columns, self._outline.columns_of(self._options.scientists))
            removed = len(columns) - len(listed)
            steps.append({"filter": "people: listed", "in": len(columns), "removed": removed})
            columns = listed
        return columns, steps

    def _in_mask_order(self, columns: IntArray, kept: KeptPapers) -> IntArray:
        """The scientists in the order of their masked names."""
        numbers = self._numbers_of(columns, kept)
        by_id = sorted(range(len(columns)), key=lambda one: kept.people[numbers[one]][0])
        masked = np.empty_like(columns)
        masked[shuffled_numbers(len(columns), self._options.seed)] = columns[by_id]
        return masked

    def _numbers_of(self, columns: IntArray, kept: KeptPapers) -> IntArray:
        """The numbers of people among the people of the kept papers."""
        seats = self._outline.people[kept.rows[: kept.past]].indices
        number_of = np.zeros(self._outline.people.shape[1], dtype=np.int64)
        number_of[seats] = kept.seats[: len(seats)]
        numbers: IntArray = number_of[columns]
        return numbers

    def _names(self, columns: IntArray, kept: KeptPapers) -> list[str]:
        """Masked names: ``Scientist0..`` for scientists, ``Author0..`` for all other authors."""
        names = [""] * len(kept.people)
        for scientist, number in enumerate(self._numbers_of(columns, kept).tolist()):
            names[number] = f"Scientist{scientist}"
        others = (number for number in kept.people_in_order() if not names[number])
        for other, number in enumerate(others):
            names[number] = f"Author{other}"
        return names

    def _vectors(
        self, past: Papers, contemporary: Papers
    ) -> tuple[Embedding, Any, Any, LSAEmbedding, list[str]]:
        texts = paper_texts(past)
        self._progress.begin(f"fitting the LSA to {len(texts):,} past papers")
        lsa, fit_notes = fit_lsa(texts, self._options.seed, self._options.embedding)
        embedding = self._model or lsa
        self._progress.begin(f"embedding {len(past) + len(contemporary):,} papers")
        cache = EmbeddingCache(self._cache) if self._model and self._cache else None
        with cache or nullcontext():
            rows = [
                self._encoded(embedding, some, cache) for some in (texts, paper_texts(contemporary))
            ]
        return embedding, *rows, lsa, [*fit_notes, *embedding.notes]

    def _encoded(
        self, embedding: Embedding, texts: Sequence[str], cache: EmbeddingCache | None
    ) -> Any:
        return embedding.encode_all(
            texts, cache=cache, progress=lambda done, _: self._progress.count(done)
        )

    def _author_papers(self, columns: IntArray, terms: TermExtractor) -> AuthorPapers:
        self._progress.begin(f"reading what the papers of {len(columns):,} scientists are about")
        return read_author_papers(self._source, self._outline, columns, terms, self._progress.count)

    def _heads(self) -> dict[str, Any]:
        if self._options.scientists is not None:
            return {}
        return {"heads": count_scientists(self._outline, self._selection, self._options.people)}

    def _manifest(self, steps: list[Step], scientists: int, fit_notes: list[str]) -> dict[str, Any]:
        options = self._options
        return {
            "filters": asdict(options.papers) | asdict(options.people),
            "steps": self._selection.steps + steps,
            "records": len(self._outline),
            **self._heads(),
            "seed": options.seed,
            "notes": [*source_notes(self._outline, self._selection, scientists), *fit_notes],
        }
