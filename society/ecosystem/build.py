"""From raw records to an ecosystem, in passes over the source.

First its outline, on which the filters and the population are decided; then the words of the
papers that are kept, and vectors; then what the scientists' papers are about. The words of a
paper that is dropped are never held.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.errors import InputError
from society.ecosystem import folder as files
from society.ecosystem.careers import Careers, profiles, read_careers
from society.ecosystem.ecosystem import Ecosystem
from society.ecosystem.evidence import EVIDENCE, evidence_of, write_evidence
from society.ecosystem.filters import Given, PaperFilters, Selection, Step, select_papers
from society.ecosystem.fit import fitted, length_of, texts_of
from society.ecosystem.kept import Kept, gather
from society.ecosystem.notes import notes_on
from society.ecosystem.outline import Numbers, Outline
from society.ecosystem.plan import Listener, Plan, Quiet
from society.ecosystem.population import (
    CountOn,
    PeopleFilters,
    choose,
    heads,
    joint_papers,
    shuffled,
)
from society.ecosystem.records import RawRecord
from society.ecosystem.terms import Terms
from society.literature.embedding import (
    Embedding,
    EmbeddingCache,
    Lsa,
    embedding_kind,
    make_embedding,
)
from society.literature.papers import Papers

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Built:
    """An ecosystem fresh from its source.

    Attributes:
        ecosystem: what a society starts from.
        evidence: what its figures were counted on; see ``evidence``.
    """

    ecosystem: Ecosystem
    evidence: pa.Table

    def told(self, facts: Mapping[str, Any]) -> Built:
        """The same with more facts in the manifest; ``unknown`` ones become notes, too."""
        manifest = self.ecosystem.manifest
        notes = [*manifest["notes"], *facts.get("unknown", ())]
        whole = {**manifest, **facts, "notes": notes}
        return replace(self, ecosystem=replace(self.ecosystem, manifest=whole))

    def save(self, folder: Path | str, *, key: bool = False) -> None:
        """Write the folder with the evidence; the key file only on request."""
        target = Path(folder)
        (target / EVIDENCE).unlink(missing_ok=True)
        self.ecosystem.save(target, key=key)
        write_evidence(target, self.evidence)
        files.write_manifest(target, files.read_manifest(target))


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
    embedding: str = "lsa",
    seed: int = 0,
    source: str = "",
    licence: str = "",
) -> Ecosystem:
    """Apply the filters to a source and make an ecosystem of what is left.

    Raises InputError where the source has no record.
    """
    filters = PaperFilters(
        first_year=first_year,
        last_year=last_year,
        require_abstract=require_abstract,
        min_citations_past=min_citations_past,
        min_citations_contemporary=min_citations_contemporary,
    )
    people = PeopleFilters(min_papers, min_coauthors, count_on)
    plan = Plan(boundary, filters, people, embedding=embedding, seed=seed)
    return build(records, plan, {"source": source, "licence": licence}).ecosystem


def build(
    records: Iterable[RawRecord],
    plan: Plan,
    facts: Mapping[str, Any] | None = None,
    progress: Listener | None = None,
    cache: Path | None = None,
) -> Built:
    """Build by a plan.

    Args:
        records: read several times; what can be read only once is held in memory.
        plan: how.
        facts: stand in the manifest beside what the build itself tells.
        progress: told how it goes.
        cache: folder in which rows of a model are kept, so that none is made or paid for twice.

    Raises:
        InputError: the source has no record or changed while it was read, or the embedding
            cannot be had.
    """
    # Before anything is read: a wrong name, or an extra that is missing, is told at once.
    kind = embedding_kind(plan.embedding)
    length_of(plan.embedding)
    model = None if kind.fitted else make_embedding(plan.embedding, hosting=plan.hosting)
    source = records if not isinstance(records, Iterator) else list(records)
    heard: Listener = progress or Quiet()
    heard.begin("reading years, authors and references")
    outline = Outline.of(source, plan.boundary, heard.count)
    if not len(outline):
        raise InputError("the source has no record; give one with papers")
    return _Building(source, outline, plan, heard, model, cache).finished(dict(facts or {}))


def assemble(
    given: Given,
    _: object,
    chosen: Sequence[str],
    *,
    boundary: int,
    seed: int,
    manifest: dict[str, Any],
) -> Ecosystem:
    """The ecosystem of invented records and the people chosen among their authors."""
    plan = Plan(boundary=boundary, scientists=chosen, seed=seed)
    return build(given.records, plan).told(manifest).ecosystem


class _Building:
    """One build, after its first pass."""

    def __init__(
        self,
        source: Iterable[RawRecord],
        outline: Outline,
        plan: Plan,
        heard: Listener,
        model: Embedding | None,
        cache: Path | None,
    ) -> None:
        self._source, self._outline, self._plan, self._heard = source, outline, plan, heard
        self._model, self._cache = model, cache
        self._selection: Selection = select_papers(outline, plan.papers)

    def finished(self, facts: dict[str, Any]) -> Built:
        """Everything, in order."""
        columns, steps = self._chosen()
        self._heard.begin("reading the words of the papers that are kept")
        kept = gather(self._source, self._outline, self._selection, self._heard.count)
        columns = self._in_mask_order(columns, kept)
        names = self._names(columns, kept)
        past, contemporary = kept.papers(names)
        embedding, past_rows, later_rows, lsa, untold = self._vectors(past, contemporary)
        careers = self._careers(columns, Terms(lsa, kept.used))
        joint = joint_papers(self._outline.people, columns)
        people, starts = profiles(careers, self._outline, self._selection.citations, joint)
        ecosystem = Ecosystem(
            boundary=self._plan.boundary,
            past=past,
            contemporary=contemporary,
            profiles=people,
            career_starts=starts,
            coauthors=joint,
            embedding=embedding,
            past_vectors=past_rows,
            contemporary_vectors=later_rows,
            manifest=self._told(steps, len(columns), untold) | facts,
            key=dict(zip(names, kept.people, strict=True)),
        )
        return Built(ecosystem, evidence_of(self._outline, self._selection, careers))

    def _chosen(self) -> tuple[Numbers, list[Step]]:
        columns, steps = choose(self._outline, self._selection, self._plan.people)
        if self._plan.scientists is not None:
            listed = np.intersect1d(columns, self._outline.columns_of(self._plan.scientists))
            removed = len(columns) - len(listed)
            steps.append({"filter": "people: listed", "in": len(columns), "removed": removed})
            columns = listed
        return columns, steps

    def _in_mask_order(self, columns: Numbers, kept: Kept) -> Numbers:
        """The scientists in the order of their masked names."""
        numbers = self._numbers_of(columns, kept)
        by_id = sorted(range(len(columns)), key=lambda one: kept.people[numbers[one]][0])
        masked = np.empty_like(columns)
        masked[shuffled(len(columns), self._plan.seed)] = columns[by_id]
        return masked

    def _numbers_of(self, columns: Numbers, kept: Kept) -> Numbers:
        """The numbers of these people among those of the kept papers."""
        seats = self._outline.people[kept.rows[: kept.past]].indices
        number_of = np.zeros(self._outline.people.shape[1], dtype=np.int64)
        number_of[seats] = kept.seats[: len(seats)]
        found: Numbers = number_of[columns]
        return found

    def _names(self, columns: Numbers, kept: Kept) -> list[str]:
        """``Scientist0..`` for the scientists, ``Author0..`` for everybody else on a paper."""
        names = [""] * len(kept.people)
        for scientist, number in enumerate(self._numbers_of(columns, kept).tolist()):
            names[number] = f"Scientist{scientist}"
        others = (number for number in kept.in_order() if not names[number])
        for other, number in enumerate(others):
            names[number] = f"Author{other}"
        return names

    def _vectors(
        self, past: Papers, contemporary: Papers
    ) -> tuple[Embedding, Any, Any, Lsa, list[str]]:
        texts = texts_of(past)
        self._heard.begin(f"fitting the LSA to {len(texts):,} past papers")
        lsa, untold = fitted(texts, self._plan.seed, self._plan.embedding)
        embedding = self._model or lsa
        self._heard.begin(f"embedding {len(past) + len(contemporary):,} papers")
        cache = EmbeddingCache(self._cache) if self._model and self._cache else None
        with cache or nullcontext():
            rows = [
                self._encoded(embedding, some, cache) for some in (texts, texts_of(contemporary))
            ]
        return embedding, *rows, lsa, [*untold, *embedding.notes]

    def _encoded(
        self, embedding: Embedding, texts: Sequence[str], cache: EmbeddingCache | None
    ) -> Any:
        return embedding.encode_all(
            texts, cache=cache, progress=lambda done, _: self._heard.count(done)
        )

    def _careers(self, columns: Numbers, terms: Terms) -> Careers:
        self._heard.begin(f"reading what the papers of {len(columns):,} scientists are about")
        return read_careers(self._source, self._outline, columns, terms, self._heard.count)

    def _heads(self) -> dict[str, Any]:
        if self._plan.scientists is not None:
            return {}
        return {"heads": heads(self._outline, self._selection, self._plan.people)}

    def _told(self, steps: list[Step], scientists: int, untold: list[str]) -> dict[str, Any]:
        plan = self._plan
        return {
            "filters": asdict(plan.papers) | asdict(plan.people),
            "steps": self._selection.steps + steps,
            "records": len(self._outline),
            **self._heads(),
            "seed": plan.seed,
            "notes": [*notes_on(self._outline, self._selection, scientists), *untold],
        }
