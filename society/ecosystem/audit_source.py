"""Audit against the source: built again from its papers before the boundary, is it the same?

A build that never sees a paper of the boundary year or after cannot know of one. The folder's
manifest tells how it was built; masked names follow from the seed, so that no key is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from itertools import chain
from pathlib import Path
from typing import Any

from agents.errors import InputError
from society.ecosystem.build import Built, build
from society.ecosystem.check import Check, compared, untold
from society.ecosystem.ecosystem import Ecosystem
from society.ecosystem.evidence import read_evidence
from society.ecosystem.filters import PaperFilters
from society.ecosystem.folder import read_manifest
from society.ecosystem.people import People
from society.ecosystem.plan import Listener, Plan
from society.ecosystem.population import PeopleFilters
from society.ecosystem.records import RawRecord


@dataclass(frozen=True)
class Before:
    """The records of a source that are older than a boundary; may be read several times."""

    records: Iterable[RawRecord]
    boundary: int

    def __iter__(self) -> Iterator[RawRecord]:
        return (record for record in self.records if record.year < self.boundary)


def audit_source(
    folder: Path | str, records: Iterable[RawRecord], progress: Listener | None = None
) -> list[Check]:
    """Compare a folder with what the source's papers before the boundary give.

    Raises:
        InputError: no ecosystem folder, a damaged one, or one that was not built from a source.
    """
    ecosystem = Ecosystem.load(folder)
    source = records if not isinstance(records, Iterator) else list(records)
    before = Before(source, ecosystem.boundary)
    plan = plan_of(ecosystem)
    if next(iter(before), None) is None:
        past = [f"{paper.id}: not among the source's past papers" for paper in ecosystem.past]
        return [compared("past papers (source)", "the source has none", past)]
    again = build(before, plan, progress=progress)
    return list(chain(_same_papers(ecosystem, again), _same_people(ecosystem, again, Path(folder))))


def reading_options(folder: Path | str) -> dict[str, Any]:
    """How the source of a folder was read, by its manifest."""
    told = read_manifest(Path(folder)).get("options")
    return dict(told) if isinstance(told, dict) else {}


def plan_of(ecosystem: Ecosystem) -> Plan:
    """How an ecosystem was built, by its manifest; with an LSA, whatever made its vectors."""
    manifest = ecosystem.manifest
    told: dict[str, Any] = dict(manifest.get("filters") or {})
    known = {one.name for kind in (PaperFilters, PeopleFilters) for one in fields(kind)}
    if not told.keys() <= known or "min_papers" not in told:
        raise InputError(
            f"the manifest of this ecosystem (source {manifest.get('source')!r}) does not tell "
            "filters that a source could be read with; audit it without a source"
        )
    papers = {one.name: told[one.name] for one in fields(PaperFilters) if one.name in told}
    people = {one.name: told[one.name] for one in fields(PeopleFilters) if one.name in told}
    return Plan(
        boundary=ecosystem.boundary,
        papers=PaperFilters(**papers),
        people=PeopleFilters(**people),
        seed=int(manifest.get("seed", 0)),
    )


def _same_papers(ecosystem: Ecosystem, again: Built) -> Iterator[Check]:
    said = {paper.id: paper for paper in ecosystem.past}
    expected = {paper.id: paper for paper in again.ecosystem.past}
    wrong = [f"{key}: not among the source's past papers" for key in said.keys() - expected.keys()]
    wrong += [f"{key}: missing in the folder" for key in expected.keys() - said.keys()]
    for key in said.keys() & expected.keys():
        one, other = said[key], expected[key]
        for name in ("year", "title", "abstract", "citations", "keywords", "references", "authors"):
            if getattr(one, name) != getattr(other, name):
                wrong.append(f"{key}: its {name} differ from the source's before the boundary")
                break
    yield compared("past papers (source)", f"{len(expected):,} read again", sorted(wrong))


def _same_people(ecosystem: Ecosystem, again: Built, folder: Path) -> Iterator[Check]:
    expected = again.ecosystem
    told = f"{len(expected.profiles):,} scientists built again"
    said, given = People.of(ecosystem.profiles), People.of(expected.profiles)
    if len(said) != len(given):
        wrong = [f"{len(said):,} scientists, but papers before the boundary give {len(given):,}"]
        yield compared("scientists (source)", told, wrong)
        return
    model = ecosystem.manifest.get("interests")
    for name in ("affiliations", "interests", "papers", "citations", "collaborators"):
        if name == "interests" and model:
            yield untold("interests (source)", f"they were put into words by {model}")
            continue
        columns = said.table[name].to_pylist(), given.table[name].to_pylist()
        pairs = zip(said.names, *columns, strict=True)
        wrong = [f"{who}: {one}, but {other}" for who, one, other in pairs if one != other]
        yield compared(f"{name} (source)", told, wrong)
    starts = ecosystem.career_starts.tolist(), expected.career_starts.tolist()
    wrong = [
        f"{who}: {one}, but {other}"
        for who, one, other in zip(said.names, *starts, strict=True)
        if one != other
    ]
    yield compared("career starts (source)", told, wrong)
    differ = (ecosystem.coauthors != expected.coauthors).tocoo()
    wrong = [
        f"{said.names[row]} and {said.names[column]}: {ecosystem.coauthors[row, column]} joint "
        f"papers, but {expected.coauthors[row, column]}"
        for row, column in zip(differ.row.tolist(), differ.col.tolist(), strict=True)
    ]
    yield compared("co-author counts (source)", told, wrong)
    evidence = read_evidence(folder)
    if evidence is not None:
        same = evidence.equals(again.evidence)
        lines = f"{again.evidence.num_rows:,} papers"
        yield compared("evidence (source)", lines, [] if same else ["it is not the source's"])
