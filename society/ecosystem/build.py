"""From raw records to an ecosystem: filters, population, masks and vectors, in that order."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from society.ecosystem.ecosystem import Ecosystem
from society.ecosystem.filters import PaperFilters, Selection, select
from society.ecosystem.population import Careers, choose, joint_papers, mask, profile
from society.ecosystem.records import RawRecord
from society.literature.embedding import Embedding, Lsa, paper_text
from society.literature.paper import DAYS_PER_YEAR, Paper

TERMS_PER_PAPER = 4


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
    seed: int = 0,
    source: str = "",
    licence: str = "",
) -> Ecosystem:
    """Apply the filters to a source and make an ecosystem of what is left.

    Raises InputError where the boundary year lies outside the data.
    """
    filters = PaperFilters(
        first_year=first_year,
        last_year=last_year,
        require_abstract=require_abstract,
        min_citations_past=min_citations_past,
        min_citations_contemporary=min_citations_contemporary,
    )
    selection = select(records, boundary, filters)
    careers = Careers(selection.known)
    chosen, steps = choose(careers, selection.past, min_papers, min_coauthors)
    people = {"min_papers": min_papers, "min_coauthors": min_coauthors}
    manifest: dict[str, Any] = {
        "source": source,
        "licence": licence,
        "filters": asdict(filters) | people,
        "steps": selection.steps + steps,
    }
    return assemble(selection, careers, chosen, boundary=boundary, seed=seed, manifest=manifest)


def assemble(
    selection: Selection,
    careers: Careers,
    chosen: Sequence[str],
    *,
    boundary: int,
    seed: int,
    manifest: dict[str, Any],
) -> Ecosystem:
    """The ecosystem of the chosen people, masked, with an embedding fitted on its past."""
    kept = selection.past + selection.contemporary
    names = mask(chosen, kept, seed)
    past = [_paper(record, names, boundary) for record in selection.past]
    contemporary = [_paper(record, names, boundary) for record in selection.contemporary]
    embedding = _fit(past, seed)
    used = {keyword.lower() for record in selection.known for keyword in record.keywords}
    terms = lru_cache(maxsize=None)(lambda record: _terms(record, embedding, used))
    scientists = set(chosen)
    in_order = sorted(chosen, key=lambda author: int(names[author].removeprefix("Scientist")))
    return Ecosystem(
        boundary=boundary,
        past=tuple(past),
        contemporary=tuple(contemporary),
        profiles=tuple(profile(a, careers, names, scientists, terms) for a in in_order),
        career_starts=tuple(min(r.year for r in careers.papers[a]) for a in in_order),
        coauthors=joint_papers(chosen, names, selection.known),
        embedding=embedding,
        past_vectors=_vectors(past, embedding),
        contemporary_vectors=_vectors(contemporary, embedding),
        manifest=manifest | {"seed": seed, "notes": _notes(selection)},
        key=_key(names, kept),
    )


def _paper(record: RawRecord, names: dict[str, str], boundary: int) -> Paper:
    return Paper(
        id=record.id,
        title=record.title,
        abstract=record.abstract,
        date=(record.year - boundary) * DAYS_PER_YEAR,
        year=record.year,
        authors=tuple(names[author.id] for author in record.authors),
        references=record.references,
        keywords=record.keywords,
        venue=record.venue,
        citations=record.citations,
    )


def _fit(past: Sequence[Paper], seed: int) -> Lsa:
    texts = [paper_text(paper.title, paper.abstract) for paper in past]
    if not texts:
        return Lsa([], np.zeros(0), np.zeros((0, 1), dtype=np.float32))
    return Lsa.fit(texts, seed=seed)


def _vectors(papers: Sequence[Paper], embedding: Embedding) -> npt.NDArray[np.float32]:
    return embedding.encode([paper_text(paper.title, paper.abstract) for paper in papers])


def _terms(record: RawRecord, embedding: Lsa, used: Container[str]) -> tuple[str, ...]:
    if record.keywords:
        return tuple(keyword.lower() for keyword in record.keywords)
    # What others call their papers by reads better than any other term of the text.
    return embedding.keywords(paper_text(record.title, record.abstract), TERMS_PER_PAPER, used)


def _notes(selection: Selection) -> list[str]:
    notes = [selection.citations_are]
    if not selection.contemporary:
        notes.append("there are no contemporary papers: CD, CI and ON are not available")
    elif all(record.citations is None for record in selection.contemporary):
        notes.append("citations of contemporary papers are unknown: CI and ON are not available")
    else:
        notes.append("citations of contemporary papers (for CI) are counts at collection time")
    if any(not record.keywords for record in selection.known):
        notes.append("interests of papers without keywords are terms of their own text")
    return notes


def _key(names: dict[str, str], kept: Iterable[RawRecord]) -> dict[str, tuple[str, str]]:
    return {names[a.id]: (a.id, a.name) for record in kept for a in record.authors}
