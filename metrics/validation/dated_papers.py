"""Papers of a run and of a real community in one form: date, authors, keywords.

What is compared is measured on these alone, so that a run and a real community cannot be measured
differently.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

import pandas as pd

from virsci_society.metrics.validation.assembly_quantities import AuthorHistory
from virsci_society.society.literature.papers import DAYS_PER_YEAR, Papers
from virsci_society.society.results.run import Run


class DatedPaper(NamedTuple):
    """One paper as it is compared.

    Attributes:
        date: publication date in days; the boundary is 0.
        authors: their ids in author order.
        keywords: as they are spelt; possibly none.
    """

    date: float
    authors: tuple[str, ...]
    keywords: tuple[str, ...] = ()


def simulated_papers(run: Run) -> list[DatedPaper]:
    """The papers that a run's society published, by date, then id, with outside authors."""
    papers = run.table("papers").dropna(subset=["published"]).sort_values(["published", "paper"])
    rows = run.table("authorships").sort_values(["paper", "position"])
    authors: dict[str, list[tuple[int, str]]] = {}
    for paper, place, name in zip(rows["paper"], rows["position"], rows["scientist"], strict=True):
        authors.setdefault(paper, []).append((int(place), name))
    keywords = papers["keywords"].fillna("").tolist()
    # Tables made by hand may lack the column.
    outside = papers.reindex(columns=["outside_authors"])["outside_authors"].fillna("").tolist()
    return [
        DatedPaper(
            float(date),
            _author_list(authors.get(paper, []), [name for name in others.split("; ") if name]),
            _keywords(text.split("; ")),
        )
        for paper, date, text, others in zip(
            papers["paper"], papers["published"], keywords, outside, strict=True
        )
    ]


def _author_list(members: Sequence[tuple[int, str]], outside: Sequence[str]) -> tuple[str, ...]:
    """All authors of a paper in author order.

    Args:
        members: place and name of the authors in the society, by place.
        outside: those outside it, who take the places in between and at the end.
    """
    listed: list[str] = []
    left = iter(outside)
    for place, name in members:
        listed += islice(left, max(0, place - len(listed)))
        listed.append(name)
    return (*listed, *left)


def real_papers(papers: Papers) -> list[DatedPaper]:
    """The papers of one side of an ecosystem, in its order."""
    columns = (papers.table[name].to_pylist() for name in ("date", "authors", "keywords"))
    return [
        DatedPaper(float(date), tuple(authors or ()), _keywords(keywords or ()))
        for date, authors, keywords in zip(*columns, strict=True)
    ]


def papers_between(papers: Iterable[DatedPaper], first: float, end: float) -> list[DatedPaper]:
    """The papers with an author that are dated from ``first`` (years) to before ``end``.

    Args:
        papers: in any order.
        first: years since the boundary; negative before it.
        end: the same.
    """
    begin, stop = first * DAYS_PER_YEAR, end * DAYS_PER_YEAR
    return [one for one in papers if begin <= one.date < stop and one.authors]


def papers_of(papers: Iterable[DatedPaper], scientists: frozenset[str]) -> list[DatedPaper]:
    """The papers of some scientists, with those of their authors who are among them."""
    parts = (
        one._replace(authors=tuple(name for name in one.authors if name in scientists))
        for one in papers
    )
    return [one for one in parts if one.authors]


def history_of(papers: Sequence[DatedPaper]) -> AuthorHistory:
    """Who had written, and with whom, when some papers had appeared."""
    return AuthorHistory.from_papers(dated_authors(papers))


def dated_authors(papers: Iterable[DatedPaper]) -> list[tuple[float, tuple[str, ...]]]:
    """Date and authors of each paper."""
    return [(one.date, one.authors) for one in papers]


def _keywords(listed: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({str(word).casefold().strip() for word in listed} - {""}))


def compared_frame(rows: Sequence[dict[str, object]], texts: Sequence[str]) -> pd.DataFrame:
    """A data frame of nullable columns."""
    table = pd.DataFrame(rows)
    kinds = {
        name: "string" if name in texts else "boolean" if _is_flag(table[name]) else "Float64"
        for name in table.columns
    }
    made = table.astype(kinds)
    return made.mask(made.isna(), pd.NA)


def _is_flag(column: pd.Series) -> bool:
    known = column.dropna()
    return len(known) > 0 and all(isinstance(value, bool) for value in known)
