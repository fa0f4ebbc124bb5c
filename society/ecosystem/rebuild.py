"""The audit against the source, by building the ecosystem again from its past papers.

A build that never sees a paper of the boundary year or after cannot know of one. The folder's
manifest has the options of the build; masked names follow from the seed, so that no key is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from virsci_society.agents.errors import InputError
from virsci_society.society.ecosystem.audit import Check, compared_check, undecided_check
from virsci_society.society.ecosystem.building.build_options import (
    BuildOptions,
    BuildProgress,
    PaperFilters,
    PeopleFilters,
    fields_of,
)
from virsci_society.society.ecosystem.building.builder import BuildResult, build
from virsci_society.society.ecosystem.building.profiles import read_evidence
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.ecosystem.importers.records import RawRecord
from virsci_society.society.ecosystem.storage import read_manifest
from virsci_society.society.literature.papers import Papers


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
    papers = _same_papers(ecosystem.past, rebuilt.ecosystem.past)
    return [papers, *_same_people(ecosystem, rebuilt, Path(folder))]


def reading_options(folder: Path | str) -> dict[str, Any]:
    """The options with which the source of a folder was read, by its manifest."""
    recorded = read_manifest(Path(folder)).get("options")
    return dict(recorded) if isinstance(recorded, dict) else {}


def options_from_manifest(ecosystem: Ecosystem) -> BuildOptions:
    """The options of an ecosystem's build by its manifest; with an LSA, whatever made its vectors.

    InputError where the manifest has no filters of a build.
    """
    manifest = ecosystem.manifest
    recorded: dict[str, Any] = dict(manifest.get("filters") or {})
    known = {one.name for kind in (PaperFilters, PeopleFilters) for one in fields(kind)}
    if not recorded.keys() <= known or "min_papers" not in recorded:
        raise InputError(
            f"the manifest of this ecosystem (source {manifest.get('source')!r}) does not tell "
            "filters that a source could be read with; audit it without a source"
        )
    return BuildOptions(
        boundary=ecosystem.boundary,
        papers=PaperFilters(**fields_of(PaperFilters, recorded)),
        people=PeopleFilters(**fields_of(PeopleFilters, recorded)),
        seed=int(manifest.get("seed", 0)),
    )


def _same_papers(past: Papers, rebuilt: Papers) -> Check:
    given, expected = ({paper.id: paper for paper in papers} for papers in (past, rebuilt))
    wrong = [f"{key}: not among the source's past papers" for key in given.keys() - expected.keys()]
    wrong += [f"{key}: missing in the folder" for key in expected.keys() - given.keys()]
    for key in given.keys() & expected.keys():
        for name in ("year", "title", "abstract", "citations", "keywords", "references", "authors"):
            if getattr(given[key], name) != getattr(expected[key], name):
                wrong.append(f"{key}: its {name} differ from the source's before the boundary")
                break
    # Sorted, because the order of sets of texts changes from process to process.
    return compared_check("past papers (source)", f"{len(expected):,} read again", sorted(wrong))


def _same_people(ecosystem: Ecosystem, rebuilt: BuildResult, folder: Path) -> Iterator[Check]:
    expected = rebuilt.ecosystem
    detail = f"{len(expected.profiles):,} scientists built again"
    people, rebuilt_people = ecosystem.profiles, expected.profiles
    if len(people) != len(rebuilt_people):
        wrong = [
            f"{len(people):,} scientists, but papers before the boundary give "
            f"{len(rebuilt_people):,}"
        ]
        yield compared_check("scientists (source)", detail, wrong)
        return
    model = ecosystem.manifest.get("interests")
    figures = {
        name: (people.table[name].to_pylist(), rebuilt_people.table[name].to_pylist())
        for name in ("affiliations", "interests", "papers", "citations", "collaborators")
    }
    figures["career starts"] = ecosystem.career_starts.tolist(), expected.career_starts.tolist()
    for name, columns in figures.items():
        if name == "interests" and model:
            yield undecided_check("interests (source)", f"they were put into words by {model}")
            continue
        pairs = zip(people.names, *columns, strict=True)
        wrong = [f"{who}: {one}, but {other}" for who, one, other in pairs if one != other]
        yield compared_check(f"{name} (source)", detail, wrong)
    yield compared_check("co-author counts (source)", detail, _other_ties(ecosystem, expected))
    evidence = read_evidence(folder)
    if evidence is not None:
        same = evidence.equals(rebuilt.evidence)
        lines = f"{rebuilt.evidence.num_rows:,} papers"
        yield compared_check("evidence (source)", lines, [] if same else ["it is not the source's"])


def _other_ties(ecosystem: Ecosystem, expected: Ecosystem) -> list[str]:
    names, given, rebuilt = ecosystem.profiles.names, ecosystem.coauthors, expected.coauthors
    differ = (given != rebuilt).tocoo()
    return [
        f"{names[row]} and {names[column]}: {given[row, column]} joint papers, but "
        f"{rebuilt[row, column]}"
        for row, column in zip(differ.row.tolist(), differ.col.tolist(), strict=True)
    ]
