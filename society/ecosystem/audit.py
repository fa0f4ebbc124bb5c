"""The audit of an ecosystem folder by itself: every figure of the past is counted again.

All figures of past papers and scientists are counted again from papers before the boundary and
compared. What the folder cannot show is reported as such, with the reason; the source settles most
of it (see ``rebuild``).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.lazy_imports import pa, pq
from virsci_society.society.ecosystem import storage
from virsci_society.society.ecosystem.building.filters import COLLECTED, COUNTED, NO_COUNTS
from virsci_society.society.ecosystem.building.profiles import (
    fit_lsa,
    paper_texts,
    read_evidence,
    schema,
)
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.literature.embedding.base import SETTINGS_FILE, paper_text
from virsci_society.society.literature.embedding.lsa import (
    ARRAYS_FILE,
    LSAEmbedding,
    words_and_pairs,
)
from virsci_society.society.literature.papers import DAYS_PER_YEAR, Papers

SHOWN = 3
"""Examples of errors that a check reports."""

State = Literal["passed", "leaked", "cannot be told"]


@dataclass(frozen=True)
class Check:
    """The result of one check of an audit.

    Attributes:
        name: what was checked.
        state: ``passed``; ``leaked``: it is not what papers before the boundary give; ``cannot be
            told``.
        detail: what was compared, or why it cannot be told.
        examples: the first errors.
    """

    name: str
    state: State
    detail: str
    examples: tuple[str, ...] = ()


def compared_check(name: str, detail: str, wrong: Sequence[str]) -> Check:
    """The check of a comparison: passed without errors, otherwise leaked with the first ones."""
    if not wrong:
        return Check(name, "passed", detail)
    return Check(name, "leaked", f"{len(wrong):,} wrong; {detail}", tuple(wrong[:SHOWN]))


def undecided_check(name: str, why: str) -> Check:
    """A check that cannot be decided, and why."""
    return Check(name, "cannot be told", why)


SAMPLE = 500
"""Vectors of the past, and of the contemporary papers, that are made again."""
NEAR = 1e-4
"""Largest difference of a number of a vector that counts as equal."""


def embedding_checks(ecosystem: Ecosystem, folder: Path) -> Iterator[Check]:
    """Check the fit of the embedding, then the vectors."""
    texts = paper_texts(ecosystem.past)
    if isinstance(ecosystem.embedding, LSAEmbedding):
        yield _fit(ecosystem, texts, folder)
        yield _vectors(ecosystem)
        return
    name = ecosystem.embedding.name
    yield undecided_check(
        "embedding",
        f"{name} was not fitted here; whether what it was trained on is older than "
        f"{ecosystem.boundary} only its makers can tell",
    )
    yield undecided_check("vectors", f"they are not made again, which {name} would have to do")


def _fit(ecosystem: Ecosystem, texts: Sequence[str], folder: Path) -> Check:
    """Check that the embedding, fitted again on the past alone, is the same."""
    name, detail = "embedding", f"fitted again on the {len(texts):,} past papers alone"
    refitted, _ = fit_lsa(
        texts, int(ecosystem.manifest.get("seed", 0)), f"lsa:{ecosystem.embedding.dim}"
    )
    if refitted.revision == ecosystem.embedding.revision:
        return compared_check(name, detail, [])
    words, weights = _saved(folder / storage.embedding_folder(ecosystem.embedding.name))
    with TemporaryDirectory() as temporary:
        refitted.save(Path(temporary))
        expected, expected_weights = _saved(Path(temporary))
    # Another machine's logarithms may differ in their last digits, which no paper can cause.
    if words == expected and np.allclose(weights, expected_weights, rtol=0, atol=1e-9):
        detail = f"{detail}: the same but for the last digits of its numbers"
        return compared_check(name, detail, [])
    return compared_check(name, detail, _strange(words, expected, texts))


def _saved(folder: Path) -> tuple[list[str], FloatArray]:
    settings: dict[str, Any] = json.loads((folder / SETTINGS_FILE).read_text(encoding="utf-8"))
    with np.load(folder / ARRAYS_FILE, allow_pickle=False) as arrays:
        return list(settings["vocabulary"]), np.asarray(arrays["idf"], dtype=np.float64)


def _strange(words: Sequence[str], expected: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Words that the embedding can only have from other papers, those of no past paper first."""
    past_words = {word for text in texts for word in words_and_pairs(text)}
    unexpected = sorted(set(words) - set(expected), key=lambda word: (word in past_words, word))
    if not unexpected:
        return ["it knows the words of the past papers with weights that they do not give"]
    return [
        f"it knows {w!r}, which "
        + ("no past paper says" if w not in past_words else "the past papers say too seldom")
        for w in unexpected
    ]


def _vectors(ecosystem: Ecosystem) -> Check:
    wrong: list[str] = []
    checked = 0
    sides = (
        (ecosystem.past, ecosystem.past_vectors),
        (ecosystem.contemporary, ecosystem.contemporary_vectors),
    )
    for papers, rows in sides:
        # Spread over all years, and the same ones at every audit.
        chosen_rows = np.unique(np.linspace(0, max(0, len(papers) - 1), SAMPLE).astype(int))
        chosen_rows = chosen_rows[: len(papers)]
        chosen = Papers.of([papers[int(row)] for row in chosen_rows])
        vectors = ecosystem.embedding.encode(paper_texts(chosen))
        checked += len(chosen_rows)
        far = np.abs(vectors - rows[chosen_rows]).max(axis=1, initial=0.0) > NEAR
        wrong.extend(f"{chosen[int(row)].id}: not of its own text" for row in np.flatnonzero(far))
    return compared_check(
        "vectors", f"{checked:,} of them made again from the papers' own text", wrong
    )


LONGEST = 10
"""Most interests and collaborators in a profile."""


@dataclass
class RecountedScientist:
    """The recounted figures of one scientist before the boundary.

    Attributes:
        papers: number of papers.
        first_year: year of the first paper; None without any.
        citations: of the papers whose count is known; None where none is.
        terms: papers per term, in the order of the first.
        ties: joint papers with each other scientist.
    """

    papers: int = 0
    first_year: int | None = None
    citations: int | None = None
    terms: Counter[str] = field(default_factory=Counter)
    ties: Counter[int] = field(default_factory=Counter)

    @property
    def interests(self) -> list[str]:
        """The most frequent terms; among equals the one that came first."""
        return [term for term, _ in self.terms.most_common(LONGEST)]

    def add(self, row: dict[str, Any]) -> None:
        """Count a paper, given as a row of an evidence; papers come in order of their years."""
        self.papers += 1
        self.first_year = row["year"] if self.first_year is None else self.first_year
        if row["citations"] is not None:
            self.citations = row["citations"] + (self.citations or 0)
        self.terms.update(dict.fromkeys(row["terms"], 1))

    def collaborators(self, names: Sequence[str]) -> list[str]:
        """The scientists with the most joint papers; among equals by name."""
        ranked = sorted(self.ties, key=lambda other: (-self.ties[other], names[other]))
        return [names[other] for other in ranked[:LONGEST]]


def recount(
    rows: Iterable[dict[str, Any]], boundary: int, scientists: int
) -> list[RecountedScientist]:
    """Count the figures of each scientist from the rows of an evidence before the boundary."""
    records = [RecountedScientist() for _ in range(scientists)]
    early = (row for row in rows if row["year"] < boundary)
    # In order of date: among equally frequent terms the one that came first counts.
    for row in sorted(early, key=lambda row: (row["year"], row["id"])):
        on_it = [one for one in row["scientists"] if 0 <= one < scientists]
        for one in on_it:
            records[one].add(row)
        for one, other in combinations(on_it, 2):
            records[one].ties[other] += 1
            records[other].ties[one] += 1
    return records


def evidence_from_papers(ecosystem: Ecosystem) -> pa.Table:
    """Make an evidence from an ecosystem's own past papers, where its folder has none.

    Terms are known of papers with keywords only.
    """
    number_of = ecosystem.profiles.rows
    citing: dict[str, list[int]] = {paper.id: [] for paper in ecosystem.past}
    for paper in ecosystem.past:
        for cited in dict.fromkeys(paper.references):
            if cited in citing and cited != paper.id:
                citing[cited].append(paper.year)
    rows = [
        {
            "id": paper.id,
            "year": paper.year,
            "kept": True,
            "scientists": [number_of[name] for name in paper.authors if name in number_of],
            "terms": list(dict.fromkeys(keyword.lower() for keyword in paper.keywords)),
            "citations": paper.citations,
            "cited": citing[paper.id],
        }
        for paper in ecosystem.past
    ]
    return pa.Table.from_pylist(rows, schema=schema())


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
        self._profiles, self._names = ecosystem.profiles, ecosystem.profiles.names
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
        number_of = self._profiles.rows
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
            # By the source's counts per year it may have more than references show, never fewer.
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
            pairs = zip(self._names, self._profiles.table["citations"].to_pylist(), strict=True)
            given = [(who, count) for who, count in pairs if count is not None]
            wrong = [f"{who}: {count}, counted at collection" for who, count in given]
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
            why = f"they were put into words by {model}, which may know more"
            return undecided_check("interests", why)
        if not self._given and any(not paper.keywords for paper in self._ecosystem.past):
            why = "the folder has no evidence of what papers are about"
            return undecided_check("interests", why)
        return self._figure("interests", "interests", lambda one: one.interests)


def _short(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 60 else text[:59] + "…"
