"""Compare: what the society did beside what a real community did in the same time.

The same measures of the run's papers and of the real papers after the boundary, with distances.
What stands beside them makes them readable: the real papers of the society's own scientists
alone, since a society may have no newcomers; and the real papers of as long a time before the
boundary, whose distance is that between a community and its own next years. All sides are dated
by the year, as real papers are: papers of one year know nothing of each other on any of them.
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

from metrics import powerlaw
from metrics.inequality import gini
from metrics.network.assembly import assembled
from metrics.presence import on_day_0
from metrics.structure import adjacency, describe
from metrics.works import Works, incumbency, links, looked_up, works_of
from society.literature.paper import DAYS_PER_YEAR
from society.run import Run

Floats = NDArray[np.float64]
NONE: Floats = np.empty(0)
_WORD = re.compile(r"\w+")
SOURCES = ("simulated", "observed", "observed_inside", "before")


@dataclass(frozen=True)
class Side:
    """Papers of one source over one stretch of time.

    Attributes:
        works: who wrote them, dated by the year, and what was known before.
        topics: weight of each keyword; a paper's keywords share a weight of 1.
        words: likewise of each word of the keywords.
        without: papers without a keyword.
        sizes: authors of each paper, where ``works`` holds only some of them; None: it holds all.
        people: scientists of the society, where only they could write; None where anybody could.
    """

    works: Works
    topics: Mapping[str, float]
    words: Mapping[str, float]
    without: int
    sizes: Floats | None = None
    people: int | None = None


class Found(NamedTuple):
    """One quantity of one side: its value, and what it summarises (numbers, weights or none)."""

    value: float
    sample: Any = NONE


def simulated(run: Run, days: float) -> Side:
    """The papers that the run's society published before a day."""
    works, papers = works_of(run), run.table("papers")
    rows = works.rows[works.rows["date"] < days]
    years = np.floor(rows["date"].to_numpy(dtype=np.float64) / DAYS_PER_YEAR)
    rows = rows.assign(date=years * DAYS_PER_YEAR)
    keywords = papers.loc[papers["published"] < days, "keywords"].fillna("")
    known = replace(works, rows=rows)
    return side_of(known, [text.split("; ") for text in keywords], people=_people(run))


def side_of(
    works: Works,
    keywords: Sequence[Sequence[str]],
    sizes: Floats | None = None,
    people: int | None = None,
) -> Side:
    """A side from its papers and their keywords; the rest as in ``Side``."""
    topics, without = topics_of(keywords)
    words, _ = topics_of([_WORD.findall(" ".join(listed)) for listed in keywords])
    return Side(works, topics, words, without, sizes, people)


def topics_of(keywords: Sequence[Sequence[str]]) -> tuple[dict[str, float], int]:
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
    return on_day_0(run) + int(run.table("scientists")["arrived"].notna().sum())


def compare(sides: Mapping[str, Side]) -> pd.DataFrame:
    """Every quantity of every side, and how far the others are from what was observed.

    Args:
        sides: ``simulated``, ``observed``, ``observed_inside`` and ``before``.

    Returns:
        One row per ``quantity``: its value of each side (missing where it is not known), the
        ``unit``, and the ``kind`` of distance: ``KS`` (Kolmogorov-Smirnov, 0..1, of the samples),
        ``JS`` (Jensen-Shannon, square root, base 2, 0..1: Lin 1991) or ``difference``; and
        ``distance`` (simulated to observed), ``distance_inside`` (simulated to
        observed_inside) and ``distance_before`` (before to observed).
    """
    found = {name: _quantities(side) for name, side in sides.items()}
    rows = []
    for quantity, (unit, kind) in QUANTITIES.items():
        of = {name: found[name][quantity] for name in SOURCES}
        row: dict[str, Any] = {"quantity": quantity, "unit": unit, "kind": kind}
        row |= {name: one.value for name, one in of.items()}
        apart = DISTANCES[kind]
        pairs = {"": ("simulated", "observed"), "_inside": ("simulated", "observed_inside")}
        for end, (one, other) in {**pairs, "_before": ("before", "observed")}.items():
            row[f"distance{end}"] = apart(of[one], of[other])
        rows.append(row)
    table = pd.DataFrame(rows)
    texts = ["quantity", "unit", "kind"]
    numbers = [name for name in table.columns if name not in texts]
    table = table.astype({**dict.fromkeys(texts, "string"), **dict.fromkeys(numbers, "Float64")})
    return table.mask(table.isna(), pd.NA)


def kolmogorov_smirnov(one: Floats, other: Floats) -> float:
    """Largest distance of the two distribution functions; NaN where a sample is empty."""
    if not len(one) or not len(other):
        return float("nan")
    return float(stats.ks_2samp(one, other, method="asymp").statistic)


def jensen_shannon(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Square root of the Jensen-Shannon divergence, base 2; NaN where a side has no topic.

    Two samples of one source are apart too, the more the fewer papers they are of.
    """
    if not one or not other:
        return float("nan")
    names = sorted({*one, *other})
    p, q = (np.array([side.get(name, 0.0) for name in names]) for side in (one, other))
    p, q = p / p.sum(), q / q.sum()
    middle = (p + q) / 2
    halves = [float(stats.entropy(part, middle, base=2)) for part in (p, q)]
    return float(np.sqrt(max(sum(halves) / 2, 0.0)))


DISTANCES: Mapping[str, Callable[[Found, Found], float]] = {
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


def _quantities(side: Side) -> dict[str, Found]:
    """Every quantity of one side; NaN where it is not known. Networks are those of its papers."""
    rows = side.works.rows
    own = rows.groupby("paper").size().to_numpy(dtype=np.float64)
    sizes = own if side.sizes is None else side.sizes
    papers = rows.groupby("scientist").size().to_numpy(dtype=np.float64)
    first = looked_up(rows["scientist"], incumbency(side.works))
    told = assembled(side.works, [np.inf]).iloc[-1]
    tied = links(side.works).drop_duplicates(["source", "target"])
    matrix = adjacency(tied.assign(papers=1))
    network = describe(matrix)
    degree = np.diff(matrix.indptr).astype(np.float64)
    alone = len(papers) - len(degree)
    everybody = np.concatenate([degree, np.zeros(alone)])
    tail = powerlaw.fit(degree.astype(np.int64))
    enough = tail is not None and tail.n >= powerlaw.LEAST_TAIL
    giant = float(network["giant_share"] or 0.0) * len(degree) / max(len(papers), 1)
    counted = len(sizes)
    values = {
        "papers": Found(counted),
        "authors": Found(len(papers)),
        "active": Found(len(papers) / side.people if side.people else float("nan")),
        "team size": _mean(sizes),
        "alone": _mean(sizes == 1),
        "papers per author": _mean(papers),
        "productivity Gini": Found(gini(papers)),
        "newcomer rate": _mean((first >= rows["date"]).to_numpy(dtype=np.float64)),
        "incumbents p": Found(_number(told["p"])),
        "repeats q": Found(_number(told["q"])),
        "repeat rate": Found(_number(told["repeat_rate"])),
        "co-authors": _mean(everybody),
        "degree tail alpha": Found(tail.alpha if enough and tail else float("nan")),
        "degree tail from": Found(tail.xmin if enough and tail else float("nan")),
        "giant component": Found(giant if counted else float("nan")),
        "clustering": Found(_number(network["clustering"])),
        "assortativity": Found(_number(network["assortativity"])),
        "topic mix": Found(float(len(side.topics)), side.topics),
        "topic words": Found(float(len(side.words)), side.words),
        "without keywords": Found(side.without / counted if counted else float("nan")),
    }
    return values


def _mean(values: NDArray[Any]) -> Found:
    sample = np.asarray(values, dtype=np.float64)
    return Found(float(sample.mean()) if len(sample) else float("nan"), sample)


def _number(value: Any) -> float:
    return float("nan") if value is None or pd.isna(value) else float(value)
