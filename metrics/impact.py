"""Who wrote what when, and measures of citations, productivity, inequality and disruption."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from virsci_society.agents.arrays import BoolArray, FloatArray, IntArray, gini
from virsci_society.agents.lazy_imports import sparse
from virsci_society.metrics.registry import NAN, measure, measures, metric
from virsci_society.society.results.dataframes import counts_of, typed_table
from virsci_society.society.results.run import Run

Pair = tuple[str, str]


@dataclass(frozen=True)
class AuthorshipTable:
    """Authorships by date, and what was known before the first of them."""

    rows: pd.DataFrame
    prior_authors: frozenset[str] = frozenset()
    prior_pairs: frozenset[Pair] = field(default=frozenset(), repr=False)


def authorships_of(run: Run) -> AuthorshipTable:
    """The authorships of a run's papers, with the scientists and ties of day 0."""
    papers, by = run.table("papers"), run.table("authorships")
    rows = by[["paper", "scientist"]].merge(
        papers[["paper", "published"]].rename(columns={"published": "date"}), on="paper"
    )
    people, ties = run.table("scientists"), run.table("ties")
    early = ties[ties["date"] < 0]
    known = people.loc[people["papers"].fillna(0) > 0, "scientist"]
    return AuthorshipTable(
        rows[["paper", "scientist", "date"]],
        frozenset(known),
        frozenset(zip(early["source"], early["target"], strict=True)),
    )


def inside_citations(run: Run) -> pd.DataFrame:
    """The citations of the society's papers by its own papers: rows of ``citations``."""
    cites = run.table("citations")
    return cites[cites["inside"].fillna(False).astype(bool)]


def coauthor_links(works: AuthorshipTable) -> pd.DataFrame:
    """Every pair of authors of every paper."""
    rows = works.rows[["paper", "scientist", "date"]]
    both = rows.merge(rows[["paper", "scientist"]], on="paper", suffixes=("", "_other"))
    # By name: each pair once, and its key does not depend on the order of authors.
    both = both[both["scientist"] < both["scientist_other"]]
    both = both.rename(columns={"scientist": "source", "scientist_other": "target"})
    first = first_paper_dates(works)
    early = [pair in works.prior_pairs for pair in zip(both["source"], both["target"], strict=True)]
    met = both.groupby(["source", "target"])["date"].transform("min")
    started = [map_numbers(both[end], first) < both["date"] for end in ("source", "target")]
    both["incumbents"] = started[0].astype("Int64") + started[1].astype("Int64")
    both["repeat"] = (met < both["date"]).astype(bool) | pd.Series(early, both.index, dtype=bool)
    return both[["paper", "date", "source", "target", "incumbents", "repeat"]]


def first_paper_dates(works: AuthorshipTable) -> pd.Series:
    """Date of the first paper of every author; minus infinity for prior authors."""
    first = works.rows.groupby("scientist")["date"].min().astype("Float64")
    # Their first paper has no date here, and is older than any.
    first[first.index.isin(list(works.prior_authors))] = float("-inf")
    return first


def map_numbers(keys: pd.Series, values: pd.Series) -> pd.Series:
    """The number of each key, as nullable floats also where there are no keys."""
    return keys.map(values).astype("Float64")


def h_index(citations: Any) -> int:
    """Largest h such that h papers have at least h citations each (Hirsch 2005)."""
    ordered = np.sort(np.asarray(citations, dtype=np.int64))[::-1]
    return int((ordered >= np.arange(1, len(ordered) + 1)).sum())


def _society_citations(run: Run) -> pd.DataFrame:
    """The citations within the society, one row for each pair of papers."""
    # A paper that names another twice cites it once.
    return inside_citations(run).drop_duplicates(["citing", "cited"])


@metric("impact")
def impact(run: Run) -> pd.DataFrame:
    """Citations of each paper of the society, from the society (this project)."""
    papers = run.table("papers")[["paper", "published"]].rename(columns={"published": "date"})
    table, by_paper = papers.reset_index(drop=True), _society_citations(run).groupby("cited")
    table["cited"] = counts_of(table["paper"], by_paper.size())
    first = map_numbers(table["paper"], by_paper["date"].min())
    table["first_cited"] = first - table["date"]
    return table


@metric("impact")
def standing(run: Run) -> pd.DataFrame:
    """Citations of each author, and its h-index, from the society's papers (Hirsch 2005)."""
    counts = _society_citations(run).groupby("cited").size()
    by = run.table("authorships")[["paper", "scientist"]]
    cited = counts_of(by["paper"], counts)
    grouped = cited.groupby(by["scientist"], sort=True)
    table = grouped.agg(papers="size", citations="sum", h=h_index).reset_index()
    kinds = dict.fromkeys(("papers", "citations", "h"), "Int64")
    return table.astype({"scientist": "string", **kinds})


@metric("impact")
def productivity(run: Run) -> pd.DataFrame:
    """Papers of each scientist who wrote any (Lotka 1926)."""
    before = dict(run.rows("scientists", "scientist", "papers"))
    dated = dict(run.rows("papers", "paper", "published"))
    works: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for who, paper, position in run.rows("authorships", "scientist", "paper", "position"):
        if paper in dated:
            works[who].append((dated[paper], position == 0))
    rows = [
        (who, len(own), sum(led for _, led in own), before.get(who), min(own)[0])
        for who, own in sorted(works.items())
    ]
    kinds = {"scientist": "string", **dict.fromkeys(("papers", "led", "before"), "Int64")}
    return typed_table(rows, {**kinds, "first": "Float64"})


@measure("impact", "share")
def top_tenth_papers(run: Run) -> float:
    """Share of authorships of the most productive tenth of authors."""
    papers = run.table("authorships")["scientist"].value_counts().to_numpy(dtype=np.int64)
    # Rounded up, so that a society of nine has a first tenth.
    first = papers[: int(np.ceil(len(papers) / 10))]
    return float(first.sum() / papers.sum()) if len(papers) else NAN


@measure("impact", "index")
def gini_citations(run: Run) -> float:
    """Gini coefficient of citations per paper: citations within the society (Gini 1912)."""
    counts = inside_citations(run)["cited"].value_counts()
    return gini(counts_of(run.table("papers")["paper"], counts))


PAPERS_PER_BLOCK = 512
CITATIONS_PER_BLOCK = 100_000
"""Papers, and citations, looked at together, which bounds memory."""
KINDS = ("only_it", "both", "only_its_references")


@measures(
    "impact",
    """
    disruption=CD  correlation  mean disruption index (CD) of papers: papers that are, or whose
        references are, cited later (Funk and Owen-Smith 2017)
    """,
)
@metric("impact")
def disruption(run: Run) -> pd.DataFrame:
    """CD index of each paper of the society of Funk and Owen-Smith 2017 (Wu et al. 2019)."""
    papers = run.table("papers")[["paper", "published"]].rename(columns={"published": "date"})
    table = papers.reset_index(drop=True)
    cites, names, count = run.table("citations"), table["paper"], len(table)
    dates = table["date"].to_numpy(dtype=np.float64)
    # Row cites column, once; papers of the society first, then past papers.
    ends = pd.concat([names, cites["citing"], cites["cited"]]).to_numpy(dtype=object)
    codes, _ = pd.factorize(ends)
    rows, cited = np.split(codes[count:].astype(np.int64), 2)
    width = max(int(codes.max(initial=-1)) + 1, 1)
    own = (rows >= 0) & (rows < count) & (cited >= 0) & (rows != cited)
    keys = np.unique((rows * width + cited)[own])
    places = keys // width, keys % width
    graph = sparse.coo_array((np.ones(len(keys)), places), shape=(count, width)).tocsr()
    counts = count_later_papers(graph, dates)
    for name, column in zip(KINDS, counts.T, strict=True):
        table[name] = pd.array(column, dtype="Int64")
    index = cd_index(counts)
    # Without references nothing can be developed, so CD would always be 1.
    index[np.diff(graph.indptr) == 0] = np.nan
    table["CD"] = pd.Series(index).astype("Float64").mask(np.isnan(index))
    return table


def count_later_papers(
    graph: sparse.csr_array, dates: FloatArray, window: float = np.inf
) -> IntArray:
    """Count the later papers of each of ``KINDS`` for every paper (papers, 3).

    Rows of ``graph`` cite its columns, the first of which are the papers of the rows; ``dates`` and
    ``window`` are in days, and only papers within ``window`` after a paper count.
    """
    count = len(dates)
    ends = graph[:, :count].tocoo()
    citing, cited = (place.astype(np.int64) for place in ends.coords)
    # For each citation between papers of the rows, whether both cite something in common.
    sharing = np.zeros(len(citing), dtype=bool)
    for start in range(0, len(citing), CITATIONS_PER_BLOCK):
        some = slice(start, start + CITATIONS_PER_BLOCK)
        sharing[some] = graph[citing[some]].multiply(graph[cited[some]]).sum(axis=1) > 0
    # How many later papers share a reference with each paper.
    related, turned = np.zeros(count, dtype=np.int64), graph.T.tocsr()
    for start in range(0, count, PAPERS_PER_BLOCK):
        some = slice(start, start + PAPERS_PER_BLOCK)
        shares, own = (graph[some] @ turned).tocoo(), dates[some]
        row = shares.coords[0]
        later = _within(dates[shares.coords[1]] - own[row], window)
        related[some] = np.bincount(row[later], minlength=len(own))
    later = _within(dates[citing] - dates[cited], window)
    it = np.bincount(cited[later], minlength=count)
    both = np.bincount(cited[later & sharing], minlength=count)
    return np.column_stack([it - both, both, related - both])


def _within(apart: FloatArray, window: float) -> BoolArray:
    # Papers of the same day know nothing of each other (rule 16).
    return (apart > 0) & (apart <= window)


def cd_index(counts: IntArray) -> FloatArray:
    """CD index of each row of three counts, -1..1; NaN where all are zero."""
    total = counts.sum(axis=1)
    difference = (counts[:, 0] - counts[:, 1]).astype(np.float64)
    index = np.full(len(total), np.nan)
    np.divide(difference, total, out=index, where=total > 0)
    return index
