"""The audit against the source, by building the ecosystem again from its past papers.

A build that never sees a paper of the boundary year or after cannot know of one. The folder's
manifest has the options of the build; masked names follow from the seed, so that no key is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from itertools import chain
from pathlib import Path
from typing import Any

from virsci_society.agents.errors import InputError
from virsci_society.society.ecosystem.audit import Check, compared_check, undecided_check
from virsci_society.society.ecosystem.building.build_options import (
    BuildOptions,
    BuildProgress,
    PaperFilters,
    PeopleFilters,
)
from virsci_society.society.ecosystem.building.builder import BuildResult, build
from virsci_society.society.ecosystem.building.evidence import read_evidence
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.ecosystem.importers.records import RawRecord
from virsci_society.society.ecosystem.people import People
from virsci_society.society.ecosystem.storage import read_manifest


@dataclass(frozen=True)
class RecordsBefore:
    """The records of a source that are older than a boundary year; may be read several times."""

    records: Iterable[RawRecord]
    boundary: int

    def __iter__(self) -> Iterator[RawRecord]:
        return (record for record in self.records if record.year < self.boundary)


def audit_source(
    folder: Path | str, records: Iterable[RawRecord], progress: BuildProgress | None = None
) -> list[Check]:
    """Compare a folder with a build from the source's papers before the boundary.

    Args:
        folder: of the ecosystem.
        records: the source from which it was built.
        progress: shows the phases of the build.

    Raises:
        InputError: no ecosystem folder, a damaged one, or one that was not built from a source.
    """
    ecosystem = Ecosystem.load(folder)
    source = records if not isinstance(records, Iterator) else list(records)
    before = RecordsBefore(source, ecosystem.boundary)
    options = options_from_manifest(ecosystem)
    if next(iter(before), None) is None:
        past = [f"{paper.id}: not among the source's past papers" for paper in ecosystem.past]
        return [compared_check("past papers (source)", "the source has none", past)]
    rebuilt = build(before, options, progress=progress)
    return list(
        chain(_same_papers(ecosystem, rebuilt), _same_people(ecosystem, rebuilt, Path(folder)))
    )


def reading_options(folder: Path | str) -> dict[str, Any]:
    """The options with which the source of a folder was read, by its manifest."""
    recorded = read_manifest(Path(folder)).get("options")
    return dict(recorded) if isinstance(recorded, dict) else {}


def options_from_manifest(ecosystem: Ecosystem) -> BuildOptions:
    """The options of an ecosystem's build by its manifest; with an LSA, whatever made its vectors.

    Raises:
        InputError: the manifest has no filters of a build.
    """
    manifest = ecosystem.manifest
    recorded: dict[str, Any] = dict(manifest.get("filters") or {})
    known = {one.name for kind in (PaperFilters, PeopleFilters) for one in fields(kind)}
    if not recorded.keys() <= known or "min_papers" not in recorded:
        raise InputError(
            f"the manifest of this ecosystem (source {manifest.get('source')!r}) does not tell "
            "filters that a source could be read with; audit it without a source"
        )
    papers = {one.name: recorded[one.name] for one in fields(PaperFilters) if one.name in recorded}
    people = {one.name: recorded[one.name] for one in fields(PeopleFilters) if one.name in recorded}
    return BuildOptions(
        boundary=ecosystem.boundary,
        papers=PaperFilters(**papers),
        people=PeopleFilters(**people),
        seed=int(manifest.get("seed", 0)),
    )


def _same_papers(ecosystem: Ecosystem, rebuilt: BuildResult) -> Iterator[Check]:
    folder_papers = {paper.id: paper for paper in ecosystem.past}
    expected = {paper.id: paper for paper in rebuilt.ecosystem.past}
    wrong = [
        f"{key}: not among the source's past papers"
        for key in folder_papers.keys() - expected.keys()
    ]
    wrong += [f"{key}: missing in the folder" for key in expected.keys() - folder_papers.keys()]
    for key in folder_papers.keys() & expected.keys():
        paper, other = folder_papers[key], expected[key]
        for name in ("year", "title", "abstract", "citations", "keywords", "references", "authors"):
            if getattr(paper, name) != getattr(other, name):
                wrong.append(f"{key}: its {name} differ from the source's before the boundary")
                break
    yield compared_check("past papers (source)", f"{len(expected):,} read again", sorted(wrong))


def _same_people(ecosystem: Ecosystem, rebuilt: BuildResult, folder: Path) -> Iterator[Check]:
    expected = rebuilt.ecosystem
    detail = f"{len(expected.profiles):,} scientists built again"
    people, rebuilt_people = People.of(ecosystem.profiles), People.of(expected.profiles)
    if len(people) != len(rebuilt_people):
        wrong = [
            f"{len(people):,} scientists, but papers before the boundary give "
            f"{len(rebuilt_people):,}"
        ]
        yield compared_check("scientists (source)", detail, wrong)
        return
    model = ecosystem.manifest.get("interests")
    for name in ("affiliations", "interests", "papers", "citations", "collaborators"):
        if name == "interests" and model:
            yield undecided_check("interests (source)", f"they were put into words by {model}")
            continue
        columns = people.table[name].to_pylist(), rebuilt_people.table[name].to_pylist()
        pairs = zip(people.names, *columns, strict=True)
        wrong = [f"{who}: {one}, but {other}" for who, one, other in pairs if one != other]
        yield compared_check(f"{name} (source)", detail, wrong)
    starts = ecosystem.career_starts.tolist(), expected.career_starts.tolist()
    wrong = [
        f"{who}: {one}, but {other}"
        for who, one, other in zip(people.names, *starts, strict=True)
        if one != other
    ]
    yield compared_check("career starts (source)", detail, wrong)
    differ = (ecosystem.coauthors != expected.coauthors).tocoo()
    wrong = [
        f"{people.names[row]} and {people.names[column]}: {ecosystem.coauthors[row, column]} joint "
        f"papers, but {expected.coauthors[row, column]}"
        for row, column in zip(differ.row.tolist(), differ.col.tolist(), strict=True)
    ]
    yield compared_check("co-author counts (source)", detail, wrong)
    evidence = read_evidence(folder)
    if evidence is not None:
        same = evidence.equals(rebuilt.evidence)
        lines = f"{rebuilt.evidence.num_rows:,} papers"
        yield compared_check("evidence (source)", lines, [] if same else ["it is not the source's"])
