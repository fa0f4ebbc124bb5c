"""Papers of a run and of a real community in one form: date, authors, keywords.

Topics are compared in equal numbers of papers: fewer papers are farther apart by chance.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.lazy_imports import scipy, sparse
from virsci_society.metrics.registry import measures, metric
from virsci_society.metrics.validation.assembly_measures import AuthorHistory, assembly_measures
from virsci_society.society.kernel.durations import TICK
from virsci_society.society.literature.papers import DAYS_PER_YEAR, Papers
from virsci_society.society.results.run import Run


class DatedPaper(NamedTuple):
    """One paper in a comparison."""

    date: float
    authors: tuple[str, ...]
    keywords: tuple[str, ...] = ()
    outside: int = 0


def simulated_papers(run: Run) -> list[DatedPaper]:
    """The papers that a run's society published, by date, then id."""
    papers = run.table("papers").dropna(subset=["published"]).sort_values(["published", "paper"])
    rows = run.table("authorships").sort_values(["paper", "position"])
    authors: dict[str, list[str]] = {}
    for paper, name in zip(rows["paper"], rows["scientist"], strict=True):
        authors.setdefault(paper, []).append(name)
    keywords = papers["keywords"].fillna("").tolist()
    # Tables made by hand may lack the column.
    outside = papers.reindex(columns=["external_authors"])["external_authors"].fillna(0).tolist()
    return [
        DatedPaper(
            float(date), tuple(authors.get(paper, ())), _keywords(text.split("; ")), int(others)
        )
        for paper, date, text, others in zip(
            papers["paper"], papers["published"], keywords, outside, strict=True
        )
    ]


@measures(
    "structure",
    """
    authors  authors  number of authors: scientists with a paper since day 0
    authors_per_paper  authors  mean number of authors per paper
    single_authored  share  share of papers with one author
    papers_per_author  papers  mean number of papers per author
    newcomer_rate  share  share of authorships by newcomers: without an earlier paper (Guimera et
        al. 2005)
    newcomer_rate_first  share  share of newcomers among first authors: of papers with two authors
        or more (Guimera et al. 2005)
    newcomer_rate_middle  share  share of newcomers among middle authors: neither first nor last
        (Guimera et al. 2005)
    newcomer_rate_last  share  share of newcomers among last authors: of papers with two authors or
        more (Guimera et al. 2005)
    q  share  share of links between incumbents that repeat an earlier joint paper (Guimera et al.
        2005)
    repeat_rate  share  share of links that repeat an earlier joint paper (Guimera et al. 2005)
    newcomer_newcomer  share  share of links between two newcomers (Guimera et al. 2005)
    newcomer_incumbent  share  share of links between newcomer and incumbent (Guimera et al. 2005)
    incumbent_incumbent  share  share of links between two incumbents (Guimera et al. 2005)
    coauthors_per_author  co-authors  mean number of co-authors per author: joint papers since day
        0, at the end (Newman 2001)
    giant_component_authors  share  share of authors in the largest component: of joint papers since
        day 0, at the end (Newman 2001)
    clustering  index  mean local clustering coefficient: authors with a co-author, joint papers
        since day 0, at the end (Watts and Strogatz 1998)
    assortativity  correlation  degree assortativity of the co-authorship network: joint papers
        since day 0, at the end (Newman 2002)
    tie_lifetime  years  mean time from the first to the last joint paper of a pair: pairs with a
        joint paper since day 0 whose first one has a date (Petersen 2015)
    """,
)
@measures(
    "impact",
    """
    gini_papers  index  Gini coefficient of papers per author (Gini 1912)
    """,
)
@metric("structure")
def coauthorship(run: Run) -> pd.DataFrame:
    """Papers, authors and their co-authorship over the whole run (Guimera et al. 2005)."""
    people = run.rows("scientists", "scientist", "papers")
    known = dict.fromkeys(who for who, papers in people if papers)
    ties = run.rows("ties", "source", "target", "date")
    pairs = [(a, b) for a, b, date in ties if date < 0 and known.keys() >= {a, b}]
    history = AuthorHistory.from_papers([], known, pairs)
    papers = dated_authors(simulated_papers(run))
    found = assembly_measures(papers, history, period=TICK)
    return pd.DataFrame([found.numbers()]).astype("Float64")


def real_papers(papers: Papers) -> list[DatedPaper]:
    """The papers of one side of an ecosystem, in its order."""
    columns = (papers.table[name].to_pylist() for name in ("date", "authors", "keywords"))
    return [
        DatedPaper(float(date), tuple(authors or ()), _keywords(keywords or ()))
        for date, authors, keywords in zip(*columns, strict=True)
    ]


def papers_between(papers: Iterable[DatedPaper], first: float, end: float) -> list[DatedPaper]:
    """The papers with an author that are dated from ``first`` (years) to before ``end``."""
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
    """The authors and pairs of some papers, as the history of later ones."""
    return AuthorHistory.from_papers(dated_authors(papers))


def dated_authors(papers: Iterable[DatedPaper]) -> list[tuple[float, tuple[str, ...]]]:
    """Date and authors of each paper."""
    return [(one.date, one.authors) for one in papers]


def _keywords(listed: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({str(word).casefold().strip() for word in listed} - {""}))


def compared_frame(rows: Sequence[dict[str, object]], texts: Sequence[str]) -> pd.DataFrame:
    """A data frame of nullable columns."""
    table = pd.DataFrame(rows)
    known = {name: column.dropna() for name, column in table.items()}
    flags = [
        name
        for name, values in known.items()
        if len(values) and all(isinstance(value, bool) for value in values)
    ]
    kinds = dict.fromkeys(table.columns, "Float64") | dict.fromkeys(flags, "boolean")
    kinds |= {name: "string" for name in texts if name in table}
    made = table.astype(kinds)
    return made.mask(made.isna(), pd.NA)


DRAWS = 20
"""Pairs of samples over which distances are averaged."""
_GAMMA = 0x9E3779B97F4A7C15


class TopicPapers(NamedTuple):
    """The keywords of some papers."""

    weights: sparse.csr_array
    keys: NDArray[np.uint64]
    unknown: float


def vocabulary(papers: Iterable[DatedPaper]) -> dict[str, int]:
    """The keywords that occur, numbered in alphabetical order."""
    names = sorted({name for one in papers for name in one.keywords})
    return {name: number for number, name in enumerate(names)}


def topic_papers(papers: Sequence[DatedPaper], known: Mapping[str, int]) -> TopicPapers:
    """The keywords of papers, restricted to a vocabulary."""
    named = [one.keywords for one in papers]
    inside = [[known[name] for name in names if name in known] for names in named]
    kept = [row for row, columns in enumerate(inside) if columns]
    columns = np.array([column for row in kept for column in inside[row]], dtype=np.int64)
    counts = np.array([len(inside[row]) for row in kept], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(counts)])
    # Each paper weighs the same, however many keywords it has.
    weights = np.repeat(1 / np.maximum(counts, 1), counts)
    shape = (len(kept), len(known))
    outside = [1 - len(one) / len(names) for one, names in zip(inside, named, strict=True) if names]
    # From the content, so that two sides with the same papers draw the same papers.
    keys = np.array([_key(papers[row]) for row in kept], dtype=np.uint64)
    matrix = sparse.csr_array((weights, columns, starts), shape=shape)
    return TopicPapers(matrix, keys, float(np.mean(outside)) if outside else float("nan"))


def mix_distance(one: TopicPapers, other: TopicPapers, papers: int) -> float:
    """Mean Jensen-Shannon distance of samples of equal size."""
    if not 0 < papers <= min(len(one.keys), len(other.keys)):
        return float("nan")
    sides = ((_sample(one, draw, papers), _sample(other, draw, papers)) for draw in range(DRAWS))
    return float(np.mean([jensen_shannon(*pair) for pair in sides]))


def half_distance(side: TopicPapers, papers: int) -> float:
    """Mean distance of two disjoint samples of one side."""
    if not 0 < 2 * papers <= len(side.keys):
        return float("nan")
    halves = (
        (_sample(side, draw, papers), _sample(side, draw, papers, papers)) for draw in range(DRAWS)
    )
    return float(np.mean([jensen_shannon(*pair) for pair in halves]))


def names_in_samples(side: TopicPapers, papers: int) -> float:
    """Mean number of different names in the samples that ``mix_distance`` draws."""
    if not 0 < papers <= len(side.keys):
        return float("nan")
    return float(np.mean([(_sample(side, draw, papers) > 0).sum() for draw in range(DRAWS)]))


def jensen_shannon(one: FloatArray, other: FloatArray) -> float:
    """Jensen-Shannon distance of two mixes: square root of the divergence, base 2, 0..1."""
    # Two equal mixes may differ by rounding, which makes the divergence a tiny number below zero.
    with np.errstate(invalid="ignore"):
        return float(np.nan_to_num(scipy.spatial.distance.jensenshannon(one, other, base=2)))


def _sample(side: TopicPapers, draw: int, papers: int, skipped: int = 0) -> FloatArray:
    """The weight of each name in ``papers`` papers of one draw, after ``skipped`` ones."""
    # In a random order for each draw: the keys of the papers, hashed with splitmix64.
    mixed = side.keys + np.uint64((draw + 1) * _GAMMA % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    order = np.argsort(mixed ^ (mixed >> np.uint64(31)), kind="stable")
    rows = order[skipped : skipped + papers]
    return np.asarray(side.weights[rows].sum(axis=0), dtype=np.float64).ravel()


def _key(paper: DatedPaper) -> int:
    """A hash of the year, the authors and the keywords of a paper."""
    text = "\x1f".join((str(int(paper.date // DAYS_PER_YEAR)), *paper.authors, "", *paper.keywords))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
