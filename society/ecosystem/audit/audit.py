"""The audit of an ecosystem folder by itself: every figure of the past is counted again.

All figures of past papers and scientists are counted again from papers before the boundary and
compared. What the folder cannot show is reported as such, with the reason; the source settles most
of it (see ``rebuild``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from virsci_society.society.ecosystem import storage
from virsci_society.society.ecosystem.audit.checks import (
    Check,
    compared_check,
    embedding_checks,
    undecided_check,
)
from virsci_society.society.ecosystem.audit.recount import (
    RecountedScientist,
    evidence_from_papers,
    recount,
)
from virsci_society.society.ecosystem.building.evidence import read_evidence
from virsci_society.society.ecosystem.building.filters import COLLECTED, COUNTED, NO_COUNTS
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.ecosystem.people import People
from virsci_society.society.literature.embedding.base import paper_text
from virsci_society.society.literature.embedding.lsa import words_and_pairs
from virsci_society.society.literature.papers import DAYS_PER_YEAR

INCOMPLETE = (
    "the folder has no evidence, and people were counted on papers that the filters left out; "
    "give the source"
)


def audit(folder: Path | str) -> list[Check]:
    """Run every check of an ecosystem folder by itself.

    Raises:
        InputError: no ecosystem folder, or a damaged one.
    """
    source = Path(folder)
    dates = _dates(source, int(storage.read_manifest(source)["boundary"]))
    if dates.state == "leaked":
        # Nothing else can be read as what it should be.
        return [dates]
    return [dates, *_Audit(Ecosystem.load(source), source).checks()]


def _dates(folder: Path, boundary: int) -> Check:
    import pyarrow.parquet as pq

    table = pq.read_table(folder / storage.PAPERS, columns=["id", "year", "date"])
    wrong = [
        f"{row['id']} of {row['year']} is dated {row['date']:g} days from the boundary"
        for row in table.to_pylist()
        if row["date"] // DAYS_PER_YEAR != row["year"] - boundary
    ]
    detail = f"{table.num_rows:,} papers stand on their side of {boundary}, dated by their year"
    return compared_check("dates", detail, wrong)


class _Audit:
    """The checks of one ecosystem against its evidence."""

    def __init__(self, ecosystem: Ecosystem, folder: Path) -> None:
        self._ecosystem, self._folder = ecosystem, folder
        self._profiles = People.of(ecosystem.profiles)
        self._names = self._profiles.names
        given = read_evidence(folder)
        self._rows = (evidence_from_papers(ecosystem) if given is None else given).to_pylist()
        steps = ecosystem.manifest.get("steps", [])
        left_out = any(s["removed"] for s in steps if str(s["filter"]).startswith("past:"))
        self._given, self._whole = given is not None, given is not None or not left_out
        self._notes = tuple(ecosystem.manifest.get("notes", ()))

    def checks(self) -> Iterator[Check]:
        """Every check, in the order of the report."""
        yield self._evidence()
        yield self._figure("papers of scientists", "papers", lambda one: one.papers)
        yield self._career_starts()
        yield self._coauthors()
        names = self._names
        yield self._figure("collaborators", "collaborators", lambda one: one.collaborators(names))
        yield self._citations_of_papers()
        yield self._citations_of_scientists()
        yield self._terms()
        yield self._interests()
        yield undecided_check("affiliations", "only the source tells when they were given")
        yield from embedding_checks(self._ecosystem, self._folder)

    @cached_property
    def _records(self) -> list[RecountedScientist]:
        return recount(self._rows, self._ecosystem.boundary, len(self._names))

    def _evidence(self) -> Check:
        """Check that past papers are among the counted ones, with the same year and scientists."""
        boundary = self._ecosystem.boundary
        late = [row for row in self._rows if row["year"] >= boundary]
        wrong = [f"{row['id']} of {row['year']} was counted as past" for row in late]
        counted = {row["id"]: row for row in self._rows if row["kept"]}
        number_of = {name: row for row, name in enumerate(self._names)}
        later = {paper.id for paper in self._ecosystem.contemporary}
        for paper in self._ecosystem.past:
            row = counted.pop(paper.id, None)
            on_it = [number_of[name] for name in paper.authors if name in number_of]
            if row is None:
                wrong.append(f"{paper.id} is past, but was not counted before {boundary}")
            elif row["year"] != paper.year or sorted(row["scientists"]) != sorted(on_it):
                wrong.append(f"{paper.id} has another year or other scientists than was counted")
            if paper.id in later:
                wrong.append(f"{paper.id} is both past and contemporary")
        wrong.extend(f"{key} was counted as kept, but is not there" for key in counted)
        source = "the evidence" if self._given else "the folder's own past papers"
        return compared_check("what was counted", f"{len(self._rows):,} papers of {source}", wrong)

    def _figure(self, name: str, column: str, figure: Callable[[RecountedScientist], Any]) -> Check:
        """Compare a column of the profiles with the recounted scientists."""
        if not self._whole:
            return undecided_check(name, INCOMPLETE)
        profile_values = self._profiles.table[column].to_pylist()
        return self._same(name, profile_values, [figure(one) for one in self._records])

    def _same(self, check: str, profile_values: list[Any], counted: list[Any]) -> Check:
        wrong = [
            f"{name}: {_short(one)}, but papers before the boundary give {_short(other)}"
            for name, one, other in zip(self._names, profile_values, counted, strict=True)
            if one != other
        ]
        return compared_check(check, f"{len(profile_values):,} scientists counted again", wrong)

    def _career_starts(self) -> Check:
        name = "career starts"
        if not self._whole:
            return undecided_check(name, INCOMPLETE)
        starts = self._ecosystem.career_starts.tolist()
        return self._same(name, starts, [one.first_year or 0 for one in self._records])

    def _coauthors(self) -> Check:
        name = "co-author counts"
        if not self._whole:
            return undecided_check(name, INCOMPLETE)
        joint = self._ecosystem.coauthors
        wrong = []
        for number, record in enumerate(self._records):
            start, end = joint.indptr[number], joint.indptr[number + 1]
            others = joint.indices[start:end].tolist()
            ties_of = dict(zip(others, joint.data[start:end].tolist(), strict=True))
            for other in sorted(ties_of.keys() | record.ties.keys()):
                given, counted = ties_of.get(other, 0), record.ties.get(other, 0)
                if given != counted:
                    pair = f"{self._names[number]} and {self._names[other]}"
                    wrong.append(f"{pair}: {given} joint papers, but {counted} before the boundary")
        return compared_check(name, f"{joint.nnz:,} ties counted again", wrong)

    def _citations_of_papers(self) -> Check:
        name, past = "citations of past papers", self._ecosystem.past
        given = {paper.id: paper.citations for paper in past}
        row_of = {row["id"]: row for row in self._rows if row["kept"]}
        wrong = [
            f"{key}: {count} citations, but {row_of[key]['citations']} were counted"
            for key, count in given.items()
            if key in row_of and row_of[key]["citations"] != count
        ]
        if not wrong and NO_COUNTS in self._notes:
            known = [key for key, count in given.items() if count is not None]
            return compared_check(name, "unknown, and none is given", known)
        if not wrong and COLLECTED in self._notes:
            return undecided_check(name, COLLECTED)
        if not wrong and not self._whole:
            return undecided_check(name, INCOMPLETE)
        return self._counted(wrong)

    def _counted(self, wrong: list[str]) -> Check:
        """Check that the counts are those of citing papers before the boundary."""
        name, exact = "citations of past papers", COUNTED in self._notes
        for row in self._rows:
            early = sum(year < self._ecosystem.boundary for year in row["cited"])
            citations = row["citations"]
            if citations is None or early > citations or (exact and early < citations):
                wrong.append(f"{row['id']}: {citations} citations, but {early} before the boundary")
        if exact or wrong:
            detail = f"{len(self._rows):,} papers counted again by the years of what cites them"
            return compared_check(name, detail, wrong)
        return undecided_check(
            name, "they are the source's counts per year, which only the source can confirm"
        )

    def _citations_of_scientists(self) -> Check:
        name = "citations of scientists"
        if COLLECTED in self._notes:
            counts = self._profiles.table["citations"].to_pylist()
            pairs = zip(self._names, counts, strict=True)
            wrong = [
                f"{who}: {count}, counted at collection"
                for who, count in pairs
                if count is not None
            ]
            return compared_check(name, "unknown, and none is given", wrong)
        return self._figure(name, "citations", lambda one: one.citations)

    def _terms(self) -> Check:
        """Check that the terms of the kept papers are their own keywords or words."""
        name = "what papers are about"
        if not self._given:
            return undecided_check(name, "the folder has no evidence; give the source")
        row_of = {row["id"]: row for row in self._rows}
        wrong = []
        for paper in self._ecosystem.past:
            terms = row_of[paper.id]["terms"] if paper.id in row_of else []
            own = {keyword.lower() for keyword in paper.keywords}
            own = own or set(words_and_pairs(paper_text(paper.title, paper.abstract)))
            strange = [term for term in terms if term not in own]
            if strange:
                wrong.append(f"{paper.id} does not speak of {strange[0]!r}")
        detail = "keywords or words of each past paper; those of papers left out are taken on trust"
        return compared_check(name, detail, wrong)

    def _interests(self) -> Check:
        model = self._ecosystem.manifest.get("interests")
        if model:
            return undecided_check(
                "interests", f"they were put into words by {model}, which may know more"
            )
        if not self._given and any(not paper.keywords for paper in self._ecosystem.past):
            return undecided_check(
                "interests", "the folder has no evidence of what papers are about"
            )
        return self._figure("interests", "interests", lambda one: one.interests)


def _short(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 60 else text[:59] + "…"
