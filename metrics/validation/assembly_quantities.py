"""Quantities of team assembly and co-authorship of the papers of one window of time.

A pure function of papers, given as dates with author ids, and of what was known before them. It
takes no run, folder or data frame, so that a calibration may call it thousands of times. A
simulated and a real community are measured by it alike, by one definition of each quantity.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import NamedTuple

import numpy as np
from scipy import sparse

from virsci_society.agents.arrays import BoolArray, FloatArray, IntArray
from virsci_society.metrics.impact import gini
from virsci_society.metrics.networks.structure import network_statistics
from virsci_society.society.literature.papers import DAYS_PER_YEAR

DatedAuthors = tuple[float, Sequence[Hashable]]
"""Publication date of a paper in days, and the ids of its authors in author order."""
NO_VALUES: IntArray = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class AuthorHistory:
    """Who had written, and with whom, before a window begins.

    Made once and used for many windows, since encoding 4,000 earlier papers takes longer than
    measuring a window.

    Attributes:
        pairs: sorted keys (``pair_keys``) of the pairs of them with a joint paper.
        since: date of the first joint paper of each of these pairs in days; NaN where it is not
            known.
    """

    numbers: Mapping[Hashable, int] = field(default_factory=dict, repr=False)
    pairs: IntArray = field(default_factory=lambda: NO_VALUES, repr=False)
    since: FloatArray = field(default_factory=lambda: np.zeros(0), repr=False)

    @classmethod
    def from_papers(
        cls,
        papers: Iterable[DatedAuthors],
        authors: Iterable[Hashable] = (),
        pairs: Iterable[tuple[Hashable, Hashable]] = (),
    ) -> AuthorHistory:
        """The history that some papers make."""
        numbers: dict[Hashable, int] = {}
        dates, named = [], []
        for date, authors_of_one in papers:
            dates.append(float(date))
            # Each once, and in order: who comes first and last is measured.
            named.append(list(dict.fromkeys(authors_of_one)))
        for listed in named:
            for author in listed:
                numbers.setdefault(author, len(numbers))
        for author in authors:
            numbers.setdefault(author, len(numbers))
        ends = [
            [numbers.setdefault(author, len(numbers)) for author in pair]
            for pair in pairs
            if pair[0] != pair[1]
        ]
        flat = np.array([numbers[one] for listed in named for one in listed], dtype=np.int64)
        sizes = np.array([len(listed) for listed in named], dtype=np.int64)
        left, right = pair_positions(sizes)
        known = np.array(ends, dtype=np.int64).reshape(-1, 2)
        keys = np.concatenate(
            [pair_keys(flat[left], flat[right]), pair_keys(known[:, 0], known[:, 1])]
        )
        dated = np.repeat(np.array(dates, dtype=np.float64), sizes)[left]
        return cls(numbers, *_first_dates(keys, dated))

    def with_ties(
        self, authors: Sequence[Hashable], one: IntArray, other: IntArray
    ) -> AuthorHistory:
        """The same history with further people and pairs, given in columns."""
        numbers = dict(self.numbers)
        rows = np.array(
            [numbers.setdefault(author, len(numbers)) for author in authors], dtype=np.int64
        )
        apart = one != other
        keys = pair_keys(rows[one[apart]], rows[other[apart]])
        both = np.concatenate([self.pairs, keys])
        return AuthorHistory(numbers, *_first_dates(both, self.since))


def _first_dates(keys: IntArray, dates: FloatArray) -> tuple[IntArray, FloatArray]:
    """Sorted keys of pairs, and the first date of each."""
    pairs, place = np.unique(keys, return_inverse=True)
    first = np.full(len(pairs), np.inf)
    np.minimum.at(first, place[: len(dates)], np.where(np.isnan(dates), np.inf, dates))
    # A pair that is known without a date may have written earlier than what is dated.
    first[place[len(dates) :]] = np.nan
    first[np.isinf(first)] = np.nan
    return pairs, first


NO_HISTORY = AuthorHistory()


@dataclass(frozen=True)
class AssemblyQuantities:
    """Quantities of the papers of one window; NaN where there is nothing to divide by.

    A newcomer is an author without a paper dated before; an incumbent has one. A link is a pair of
    authors of one paper. The co-authorship network has a node for every author and a tie for every
    pair with a joint paper in the window.

    Attributes:
        alone: share of the papers with one author, 0..1.
        gini: Gini coefficient of the papers per author, 0..1.
        newcomers: share of the authorships that are those of newcomers, 0..1.
        first_newcomers: share of newcomers among the first authors, 0..1, of papers with two
            authors or more.
        q: share of the links of two incumbents whose pair had a joint paper before, 0..1.
        repeat_rate: share of all links whose pair had a joint paper before, 0..1.
        newcomer_newcomer: share of the links that join two newcomers, 0..1.
        newcomer_incumbent: share that join a newcomer and an incumbent.
        incumbent_incumbent: share that join two incumbents.
        giant_component: share of the authors in the largest component; 0 without any tie.
        clustering: mean local clustering coefficient, 0..1, of the authors with a tie (those with
            one co-author count as 0).
        assortativity: correlation of the degrees at the two ends of a tie, -1..1.
        tie_lifetime: years from the first joint paper of a pair, of before the window too, to its
            last one in the window, mean over the pairs with a joint paper in the window; 0 for a
            pair with papers of one year. Pairs whose first paper has no date are left out.

    Source:
        Guimera et al. 2005 (newcomers, incumbents, q), Watts and Strogatz 1998 (clustering),
        Newman 2001 and 2002 (degrees, giant component, assortativity), Gini 1912, Petersen 2015
        (lifetimes of ties).
    """

    papers: int
    authors: int
    team_size: float
    alone: float
    papers_per_author: float
    gini: float
    newcomers: float
    first_newcomers: float
    middle_newcomers: float
    last_newcomers: float
    q: float
    repeat_rate: float
    newcomer_newcomer: float
    newcomer_incumbent: float
    incumbent_incumbent: float
    coauthors: float
    giant_component: float
    clustering: float
    assortativity: float
    tie_lifetime: float
    sizes: IntArray = field(repr=False)
    papers_by_author: IntArray = field(repr=False)
    coauthors_by_author: IntArray = field(repr=False)

    def scalars(self) -> dict[str, float]:
        """All but the three distributions, by name."""
        return {name: float(getattr(self, name)) for name in SCALARS}


DISTRIBUTIONS = ("sizes", "papers_by_author", "coauthors_by_author")
SCALARS = tuple(one.name for one in fields(AssemblyQuantities) if one.name not in DISTRIBUTIONS)


def assembly_quantities(
    papers: Iterable[DatedAuthors],
    before: AuthorHistory | Iterable[DatedAuthors] = NO_HISTORY,
    *,
    period: float = DAYS_PER_YEAR,
) -> AssemblyQuantities:
    """Measure the papers of a window.

    Papers of one period know nothing of each other: an author's or a pair's first paper is dated
    before another one only if it is of an earlier period. Real papers are mostly dated by the
    year, and the periods make those of a run comparable. Papers without an author are left out; an
    author who is named twice on a paper counts once.

    Args:
        papers: of the window, in any order; dates in days.
        period: length of a period in days, > 0; periods begin at multiples of it.
    """
    known = before if isinstance(before, AuthorHistory) else AuthorHistory.from_papers(before)
    works = _encode(papers, known, period)
    left, right = pair_positions(works.sizes)
    links = _Links(left, right, pair_keys(works.authors[left], works.authors[right]))
    return _measure(works, links, known, period)


def pair_positions(sizes: IntArray) -> tuple[IntArray, IntArray]:
    """Positions of the two authors of every pair of every paper."""
    places = np.arange(int(sizes.sum()), dtype=np.int64)
    later = np.repeat(np.cumsum(sizes), sizes) - places - 1
    left = np.repeat(places, later)
    first_of = np.repeat(np.cumsum(later) - later, later)
    return left, left + 1 + np.arange(len(left), dtype=np.int64) - first_of


def pair_keys(one: IntArray, other: IntArray) -> IntArray:
    """One whole number per pair of author numbers below 2^31, whichever of the two comes first."""
    # One integer per pair: sorted and searched far faster than pairs of two.
    keys: IntArray = (np.minimum(one, other) << 32) | np.maximum(one, other)
    return keys


class _Works(NamedTuple):
    """Papers of a window: their sizes, and per authorship the author's number and the period."""

    sizes: IntArray
    authors: IntArray
    periods: IntArray


class _Links(NamedTuple):
    """Pairs of authors of one paper: the positions of both, and the key of the pair."""

    left: IntArray
    right: IntArray
    keys: IntArray


def _encode(papers: Iterable[DatedAuthors], known: AuthorHistory, period: float) -> _Works:
    numbers = known.numbers
    fresh: dict[Hashable, int] = {}
    first, dates, sizes, coded = len(numbers), [], [], []
    for date, listed in papers:
        authors = dict.fromkeys(listed)
        if authors:
            dates.append(date)
            sizes.append(len(authors))
        for author in authors:
            number = numbers.get(author)
            if number is None:
                number = fresh.setdefault(author, first + len(fresh))
            coded.append(number)
    counts = np.array(sizes, dtype=np.int64)
    # Floor, not truncation: years before the boundary are negative.
    periods = np.floor(np.array(dates, dtype=np.float64) / period).astype(np.int64)
    return _Works(counts, np.array(coded, dtype=np.int64), np.repeat(periods, counts))


def _measure(
    works: _Works, links: _Links, history: AuthorHistory, period: float
) -> AssemblyQuantities:
    """Every quantity."""
    known, pairs = len(history.numbers), history.pairs
    _, author, written = np.unique(works.authors, return_inverse=True, return_counts=True)
    # Numbers from ``known`` on were given to authors whom the history does not have.
    new = (works.authors >= known) & ~_seen_before(author, works.periods)
    tied, pair = np.unique(links.keys, return_inverse=True)
    repeated = np.isin(tied, pairs, assume_unique=True)[pair]
    repeated |= _seen_before(pair, works.periods[links.left])
    newcomers = new[links.left].astype(np.int64) + new[links.right]
    degrees, network = _network(author, links, len(written))
    first, last = _first_and_last(works.sizes)
    # A single author is first and last at once, and would count as both.
    joint = np.repeat(works.sizes > 1, works.sizes)
    return AssemblyQuantities(
        papers=len(works.sizes),
        authors=len(written),
        team_size=_mean(works.sizes),
        alone=_mean(works.sizes == 1),
        papers_per_author=_mean(written),
        gini=gini(written),
        newcomers=_mean(new),
        first_newcomers=_mean(new[first & joint]),
        middle_newcomers=_mean(new[~first & ~last]),
        last_newcomers=_mean(new[last & joint]),
        q=_mean(repeated[newcomers == 0]),
        repeat_rate=_mean(repeated),
        newcomer_newcomer=_mean(newcomers == 2),
        newcomer_incumbent=_mean(newcomers == 1),
        incumbent_incumbent=_mean(newcomers == 0),
        coauthors=_mean(degrees),
        **network,
        tie_lifetime=_tie_lifetime(tied, pair, works.periods[links.left], history, period),
        sizes=works.sizes,
        papers_by_author=written,
        coauthors_by_author=degrees,
    )


def _first_and_last(sizes: IntArray) -> tuple[BoolArray, BoolArray]:
    """For each authorship, whether it is the first, and the last, of its paper."""
    ends = np.cumsum(sizes)
    first = np.zeros(int(sizes.sum()), dtype=bool)
    last = first.copy()
    first[ends - sizes], last[ends - 1] = True, True
    return first, last


def _tie_lifetime(
    tied: IntArray, pair: IntArray, periods: IntArray, history: AuthorHistory, period: float
) -> float:
    """Years from the first to the last joint paper, mean over pairs.

    ``tied`` are sorted keys of pairs, in which each link has the place ``pair`` and a period.
    """
    last = np.full(len(tied), np.iinfo(np.int64).min)
    first = np.full(len(tied), np.inf)
    np.maximum.at(last, pair, periods)
    np.minimum.at(first, pair, periods)
    # A key beyond the last would point outside; it is compared below and fails there.
    place = np.minimum(np.searchsorted(history.pairs, tied), max(0, len(history.pairs) - 1))
    if len(history.pairs):
        old = history.pairs[place] == tied
        first[old] = np.floor(history.since[place[old]] / period)
    lived = last - first
    return _mean(lived[np.isfinite(lived)]) * period / DAYS_PER_YEAR


def _seen_before(number: IntArray, periods: IntArray) -> BoolArray:
    """Is there an entry of the same number and an earlier period? One answer per entry."""
    if not len(number):
        return np.zeros(0, dtype=bool)
    earliest = np.full(int(number.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(earliest, number, periods)
    before: BoolArray = earliest[number] < periods
    return before


def _network(author: IntArray, links: _Links, authors: int) -> tuple[IntArray, dict[str, float]]:
    """Co-authors of each author, and the statistics of the network of those with a tie."""
    left, right = author[links.left], author[links.right]
    both = (np.concatenate([left, right]), np.concatenate([right, left]))
    matrix = sparse.coo_array((np.ones(len(both[0])), both), shape=(authors, authors)).tocsr()
    degrees = np.diff(matrix.indptr).astype(np.int64)
    tied = np.flatnonzero(degrees)
    found = network_statistics(matrix[tied][:, tied])
    # The share is among those with a tie; who wrote alone is an author too.
    giant = float(found["giant_share"] or 0.0) * len(tied) / max(authors, 1)
    values = {
        "giant_component": giant if authors else float("nan"),
        "clustering": _number(found["clustering"]),
        "assortativity": _number(found["assortativity"]),
    }
    return degrees, values


def _mean(values: IntArray | BoolArray | FloatArray) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)
