"""The society's papers compared with those of a real community in the same time.

The same quantities are computed of the run's papers and of the real papers after the boundary,
with distances. Two further samples make the distances readable: the real papers of the society's
own scientists alone, since a society may have no newcomers; and the real papers of as long a time
before the boundary, whose distance is that between a community and its own next years. All samples
are dated by the year, as real papers are: papers of one year cannot know each other in any of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats
from scipy.spatial import distance

from agents.arrays import FloatArray
from metrics.impact.authorships import (
    AuthorshipTable,
    authorships_of,
    coauthor_links,
    first_paper_dates,
    map_numbers,
)
from metrics.impact.inequality import gini
from metrics.networks import powerlaw
from metrics.networks.assembly import assembly_table
from metrics.networks.structure import adjacency, network_statistics
from metrics.population import initial_population
from society.literature.papers import DAYS_PER_YEAR
from society.results.run import Run

NONE: FloatArray = np.empty(0)
_WORD = re.compile(r"\w+")
SOURCES = ("simulated", "observed", "observed_inside", "before")


@dataclass(frozen=True)
class PaperSample:
    """Papers of one source over one stretch of time.

    Attributes:
        authorships: authors of the papers, dated by the year, and what was known before.
        topics: weight of each keyword; a paper's keywords share a weight of 1.
        words: likewise of each word of the keywords.
        without_keywords: number of papers without a keyword.
        sizes: authors of each paper, where ``authorships`` holds only some of them; None: it
            holds all.
        people: scientists of the society, where only they could write; None where anybody could.
    """

    authorships: AuthorshipTable
    topics: Mapping[str, float]
    words: Mapping[str, float]
    without_keywords: int
    sizes: FloatArray | None = None
    people: int | None = None


class Quantity(NamedTuple):
    """One quantity of one side: its value, and what it summarises (numbers, weights or none)."""

    value: float
    sample: Any = NONE


def simulated_sample(run: Run, days: float) -> PaperSample:
    """The papers that the run's society published before a day.

    Args:
        run: the run.
        days: the day.
    """
    works, papers = authorships_of(run), run.table("papers")
    rows = works.rows[works.rows["date"] < days]
    years = np.floor(rows["date"].to_numpy(dtype=np.float64) / DAYS_PER_YEAR)
    rows = rows.assign(date=years * DAYS_PER_YEAR)
    keywords = papers.loc[papers["published"] < days, "keywords"].fillna("")
    known = replace(works, rows=rows)
    return paper_sample(known, [text.split("; ") for text in keywords], people=_people(run))


def paper_sample(
    works: AuthorshipTable,
    keywords: Sequence[Sequence[str]],
    sizes: FloatArray | None = None,
    people: int | None = None,
) -> PaperSample:
    """A sample from its authorships and the keywords of its papers.

    Args:
        works: authors of the papers, dated by the year.
        keywords: of each paper.
        sizes: authors of each paper, where ``works`` holds only some of them.
        people: scientists who could write; None where anybody could.
    """
    topics, without = keyword_weights(keywords)
    words, _ = keyword_weights([_WORD.findall(" ".join(listed)) for listed in keywords])
    return PaperSample(works, topics, words, without, sizes, people)


def keyword_weights(keywords: Sequence[Sequence[str]]) -> tuple[dict[str, float], int]:
    """Weight of each keyword, and the number of papers without one."""
    weight: dict[str, float] = {}
    without = 0
    for listed in keywords:
        words = sorted({word.casefold().strip() for word in listed} - {""})
        without += not words
        for word in words:
            weight[word] = weight.get(word, 0.0) + 1 / len(words)
    return weight, without


def _people(run: Run) -> int:
    """Everybody who was ever in the society, also those whom a large one does not list."""
    return initial_population(run) + int(run.table("scientists")["arrived"].notna().sum())


def compare_samples(sides: Mapping[str, PaperSample]) -> pd.DataFrame:
    """Every quantity of every sample, and the distances of the others to what was observed.

    Args:
        sides: ``simulated``, ``observed``, ``observed_inside`` and ``before``.

    Returns:
        One row per ``quantity``: its value of each sample (missing where it is not known), the
        ``unit``, and the ``kind`` of distance: ``KS`` (Kolmogorov-Smirnov, 0..1, of the samples),
        ``JS`` (Jensen-Shannon, square root, base 2, 0..1: Lin 1991) or ``difference``; and
        ``distance`` (simulated to observed), ``distance_inside`` (simulated to
        observed_inside) and ``distance_before`` (before to observed).
    """
    quantities = {name: _quantities(side) for name, side in sides.items()}
    rows = []
    for quantity, (unit, kind) in QUANTITIES.items():
        by_sample = {name: quantities[name][quantity] for name in SOURCES}
        row: dict[str, Any] = {"quantity": quantity, "unit": unit, "kind": kind}
        row |= {name: one.value for name, one in by_sample.items()}
        distance_of = DISTANCES[kind]
        pairs = {"": ("simulated", "observed"), "_inside": ("simulated", "observed_inside")}
        for end, (one, other) in {**pairs, "_before": ("before", "observed")}.items():
            row[f"distance{end}"] = distance_of(by_sample[one], by_sample[other])
        rows.append(row)
    table = pd.DataFrame(rows)
    texts = ["quantity", "unit", "kind"]
    numbers = [name for name in table.columns if name not in texts]
    table = table.astype({**dict.fromkeys(texts, "string"), **dict.fromkeys(numbers, "Float64")})
    return table.mask(table.isna(), pd.NA)


def kolmogorov_smirnov(one: FloatArray, other: FloatArray) -> float:
    """Largest distance of the two distribution functions; NaN where a sample is empty."""
    if not len(one) or not len(other):
        return float("nan")
    return float(stats.ks_2samp(one, other, method="asymp").statistic)


def jensen_shannon(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Jensen-Shannon distance of two mixes: square root of the divergence, base 2, 0..1.

    Two samples of one source have a distance too, the larger the fewer papers they are of.

    Args:
        one: name -> weight > 0.
        other: name -> weight > 0.

    Returns:
        0..1; NaN where a mix is empty.

    Source:
        Lin, J. (1991). Divergence measures based on the Shannon entropy. IEEE Transactions on
        Information Theory 37.
    """
    if not one or not other:
        return float("nan")
    names = sorted({*one, *other})
    p, q = (np.array([weights.get(name, 0.0) for name in names]) for weights in (one, other))
    # Two equal mixes may differ by rounding, which makes the divergence a tiny number below zero.
    with np.errstate(invalid="ignore"):
        return float(np.nan_to_num(distance.jensenshannon(p, q, base=2)))


DISTANCES: Mapping[str, Callable[[Quantity, Quantity], float]] = {
    "KS": lambda one, other: kolmogorov_smirnov(one.sample, other.sample),
    "JS": lambda one, other: jensen_shannon(one.sample, other.sample),
    "difference": lambda one, other: one.value - other.value,
}

QUANTITIES: Mapping[str, tuple[str, str]] = {
    "papers": ("papers", "difference"),
    "authors": ("people", "difference"),
    "active": ("share of the society's scientists", "difference"),
    "team size": ("authors of a paper, mean", "KS"),
    "alone": ("share of papers", "difference"),
    "papers per author": ("papers, mean", "KS"),
    "productivity Gini": ("0..1", "difference"),
    "newcomer rate": ("share of authorships", "difference"),
    "incumbents p": ("share of authorships", "difference"),
    "repeats q": ("share of links of incumbents", "difference"),
    "repeat rate": ("share of links", "difference"),
    "co-authors": ("per author, mean", "KS"),
    "degree tail alpha": ("exponent", "difference"),
    "degree tail from": ("co-authors", "difference"),
    "giant component": ("share of authors", "difference"),
    "clustering": ("0..1", "difference"),
    "assortativity": ("-1..1", "difference"),
    "topic mix": ("different keywords", "JS"),
    "topic words": ("different words of keywords", "JS"),
    "without keywords": ("share of papers", "difference"),
}
"""Quantities, their units, and the distance that is taken of them."""


def _quantities(side: PaperSample) -> dict[str, Quantity]:
    """Every quantity of one side; NaN where it is not known. Networks are those of its papers."""
    rows = side.authorships.rows
    own = rows.groupby("paper").size().to_numpy(dtype=np.float64)
    sizes = own if side.sizes is None else side.sizes
    papers = rows.groupby("scientist").size().to_numpy(dtype=np.float64)
    first = map_numbers(rows["scientist"], first_paper_dates(side.authorships))
    assembly = assembly_table(side.authorships, [np.inf]).iloc[-1]
    tied = coauthor_links(side.authorships).drop_duplicates(["source", "target"])
    matrix = adjacency(tied.assign(papers=1))
    network = network_statistics(matrix)
    degree = np.diff(matrix.indptr).astype(np.float64)
    alone = len(papers) - len(degree)
    everybody = np.concatenate([degree, np.zeros(alone)])
    tail = powerlaw.fit_power_law(degree.astype(np.int64))
    enough = tail is not None and tail.n >= powerlaw.MIN_TAIL
    giant = float(network["giant_share"] or 0.0) * len(degree) / max(len(papers), 1)
    counted = len(sizes)
    values = {
        "papers": Quantity(counted),
        "authors": Quantity(len(papers)),
        "active": Quantity(len(papers) / side.people if side.people else float("nan")),
        "team size": _mean(sizes),
        "alone": _mean(sizes == 1),
        "papers per author": _mean(papers),
        "productivity Gini": Quantity(gini(papers)),
        "newcomer rate": _mean((first >= rows["date"]).to_numpy(dtype=np.float64)),
        "incumbents p": Quantity(_number(assembly["p"])),
        "repeats q": Quantity(_number(assembly["q"])),
        "repeat rate": Quantity(_number(assembly["repeat_rate"])),
        "co-authors": _mean(everybody),
        "degree tail alpha": Quantity(tail.alpha if enough and tail else float("nan")),
        "degree tail from": Quantity(tail.xmin if enough and tail else float("nan")),
        "giant component": Quantity(giant if counted else float("nan")),
        "clustering": Quantity(_number(network["clustering"])),
        "assortativity": Quantity(_number(network["assortativity"])),
        "topic mix": Quantity(float(len(side.topics)), side.topics),
        "topic words": Quantity(float(len(side.words)), side.words),
        "without keywords": Quantity(side.without_keywords / counted if counted else float("nan")),
    }
    return values


def _mean(values: NDArray[Any]) -> Quantity:
    sample = np.asarray(values, dtype=np.float64)
    return Quantity(float(sample.mean()) if len(sample) else float("nan"), sample)


def _number(value: Any) -> float:
    return float("nan") if value is None or pd.isna(value) else float(value)
