"""Measures of team assembly and co-authorship of the papers of one window of time.

They take no run, folder or data frame, so that a calibration may call them thousands of times.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields

import numpy as np

from virsci_society.agents.arrays import BoolArray, FloatArray, IntArray, gini
from virsci_society.agents.lazy_imports import sparse
from virsci_society.metrics.networks.structure import network_statistics
from virsci_society.metrics.registry import mean
from virsci_society.society.literature.papers import DAYS_PER_YEAR

DatedAuthors = tuple[float, Sequence[Hashable]]
"""Publication date of a paper in days, and the ids of its authors in author order."""
NO_VALUES: IntArray = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class AuthorHistory:
    """Authors and their joint papers before a window."""

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
        """The history of some papers."""
        # Without duplicates, in author order: first and last authors are measured.
        named = [(float(date), dict.fromkeys(listed)) for date, listed in papers]
        numbers: dict[Hashable, int] = {}
        coded = [numbers.setdefault(one, len(numbers)) for _, listed in named for one in listed]
        for author in authors:
            numbers.setdefault(author, len(numbers))
        ends = [
            [numbers.setdefault(author, len(numbers)) for author in pair]
            for pair in pairs
            if pair[0] != pair[1]
        ]
        flat = np.array(coded, dtype=np.int64)
        sizes = np.array([len(listed) for _, listed in named], dtype=np.int64)
        left, right = pair_positions(sizes)
        known = np.array(ends, dtype=np.int64).reshape(-1, 2)
        keys = pair_keys(flat[left], flat[right]), pair_keys(known[:, 0], known[:, 1])
        dated = np.repeat(np.array([date for date, _ in named], dtype=np.float64), sizes)[left]
        return cls(numbers, *_first_dates(np.concatenate(keys), dated))

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
    # An undated pair may be older than its dated papers.
    first[place[len(dates) :]] = np.nan
    first[np.isinf(first)] = np.nan
    return pairs, first


NO_HISTORY = AuthorHistory()


@dataclass(frozen=True)
class AssemblyMeasures:
    """The measures of the papers of one window, by name; NaN where nothing is to divide by."""

    papers: int
    authors: int
    authors_per_paper: float
    single_authored: float
    papers_per_author: float
    gini_papers: float
    newcomer_rate: float
    newcomer_rate_first: float
    newcomer_rate_middle: float
    newcomer_rate_last: float
    q: float
    repeat_rate: float
    newcomer_newcomer: float
    newcomer_incumbent: float
    incumbent_incumbent: float
    coauthors_per_author: float
    giant_component_authors: float
    clustering: float
    assortativity: float
    tie_lifetime: float
    authors_by_paper: IntArray = field(repr=False)
    papers_by_author: IntArray = field(repr=False)
    coauthors_by_author: IntArray = field(repr=False)

    def numbers(self) -> dict[str, float]:
        """All but the three distributions, by name."""
        return {name: float(getattr(self, name)) for name in ASSEMBLY_MEASURES}


DISTRIBUTIONS = ("authors_by_paper", "papers_by_author", "coauthors_by_author")
ASSEMBLY_MEASURES = tuple(
    one.name for one in fields(AssemblyMeasures) if one.name not in DISTRIBUTIONS
)


def assembly_measures(
    papers: Iterable[DatedAuthors],
    before: AuthorHistory | Iterable[DatedAuthors] = NO_HISTORY,
    *,
    period: float = DAYS_PER_YEAR,
) -> AssemblyMeasures:
    """Measure the papers of a window; dates and ``period`` are in days."""
    history = before if isinstance(before, AuthorHistory) else AuthorHistory.from_papers(before)
    numbers, fresh = history.numbers, dict[Hashable, int]()
    dates, counts, coded = [], [], []
    for date, listed in papers:
        team = dict.fromkeys(listed)
        if team:
            dates.append(date)
            counts.append(len(team))
        for name in team:
            number = numbers.get(name)
            if number is None:
                number = fresh.setdefault(name, len(numbers) + len(fresh))
            coded.append(number)
    sizes, authors = np.array(counts, dtype=np.int64), np.array(coded, dtype=np.int64)
    # Papers of one period do not see each other: real papers are mostly dated by the year.
    # Floor, not truncation: years before the boundary are negative.
    years = np.floor(np.array(dates, dtype=np.float64) / period).astype(np.int64)
    when = np.repeat(years, sizes)
    _, author, written = np.unique(authors, return_inverse=True, return_counts=True)
    # Numbers from ``len(numbers)`` on belong to authors who are not in the history.
    new = (authors >= len(numbers)) & ~_seen_before(author, when)
    left, right = pair_positions(sizes)
    tied, pair = np.unique(pair_keys(authors[left], authors[right]), return_inverse=True)
    repeated = np.isin(tied, history.pairs, assume_unique=True)[pair]
    repeated |= _seen_before(pair, when[left])
    newcomers = new[left].astype(np.int64) + new[right]
    first, last = np.zeros((2, len(authors)), dtype=bool)
    ends = np.cumsum(sizes)
    first[ends - sizes], last[ends - 1] = True, True
    # A single author is first and last at once, and would count as both.
    joint = np.repeat(sizes > 1, sizes)
    both = (
        np.concatenate([author[left], author[right]]),
        np.concatenate([author[right], author[left]]),
    )
    shape = (len(written), len(written))
    matrix = sparse.coo_array((np.ones(len(both[0])), both), shape=shape).tocsr()
    degrees = np.diff(matrix.indptr).astype(np.int64)
    # Clustering is over authors with a tie; the giant component over all authors.
    some = np.flatnonzero(degrees)
    network = network_statistics(matrix[some][:, some])
    giant = float(network["giant_share"] or 0.0) * len(some) / max(len(written), 1)
    clustering, assortativity = (network[name] for name in ("clustering", "assortativity"))
    return AssemblyMeasures(
        papers=len(sizes),
        authors=len(written),
        authors_per_paper=mean(sizes),
        single_authored=mean(sizes == 1),
        papers_per_author=mean(written),
        gini_papers=gini(written),
        newcomer_rate=mean(new),
        newcomer_rate_first=mean(new[first & joint]),
        newcomer_rate_middle=mean(new[~first & ~last]),
        newcomer_rate_last=mean(new[last & joint]),
        q=mean(repeated[newcomers == 0]),
        repeat_rate=mean(repeated),
        newcomer_newcomer=mean(newcomers == 2),
        newcomer_incumbent=mean(newcomers == 1),
        incumbent_incumbent=mean(newcomers == 0),
        coauthors_per_author=mean(degrees),
        giant_component_authors=giant if len(written) else math.nan,
        clustering=math.nan if clustering is None else float(clustering),
        assortativity=math.nan if assortativity is None else float(assortativity),
        tie_lifetime=_tie_lifetime(tied, pair, when[left], history, period),
        authors_by_paper=sizes,
        papers_by_author=written,
        coauthors_by_author=degrees,
    )


def pair_positions(sizes: IntArray) -> tuple[IntArray, IntArray]:
    """Positions of the two authors of every pair of every paper."""
    places = np.arange(int(sizes.sum()), dtype=np.int64)
    later = np.repeat(np.cumsum(sizes), sizes) - places - 1
    left = np.repeat(places, later)
    first_of = np.repeat(np.cumsum(later) - later, later)
    return left, left + 1 + np.arange(len(left), dtype=np.int64) - first_of


def pair_keys(one: IntArray, other: IntArray) -> IntArray:
    """Encode an unordered pair of author numbers below 2^31 as one integer, which sorts faster."""
    return (np.minimum(one, other) << 32) | np.maximum(one, other)


def _tie_lifetime(
    tied: IntArray, pair: IntArray, periods: IntArray, history: AuthorHistory, period: float
) -> float:
    """Years from the first to the last joint paper, mean over pairs."""
    last = np.full(len(tied), np.iinfo(np.int64).min)
    first = np.full(len(tied), np.inf)
    np.maximum.at(last, pair, periods)
    np.minimum.at(first, pair, periods)
    # A key after the last is clamped to it, and the comparison below fails.
    place = np.minimum(np.searchsorted(history.pairs, tied), max(0, len(history.pairs) - 1))
    if len(history.pairs):
        old = history.pairs[place] == tied
        first[old] = np.floor(history.since[place[old]] / period)
    lived = last - first
    return mean(lived[np.isfinite(lived)]) * period / DAYS_PER_YEAR


def _seen_before(number: IntArray, periods: IntArray) -> BoolArray:
    """For each entry, whether the same number occurs in an earlier period."""
    if not len(number):
        return np.zeros(0, dtype=bool)
    earliest = np.full(int(number.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(earliest, number, periods)
    return earliest[number] < periods
