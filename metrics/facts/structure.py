"""Facts of the network of co-authors and its growth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from scipy import optimize, sparse, special
from scipy.sparse import csgraph

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.metrics.facts.fact import Fact
from virsci_society.metrics.facts.tables import WINDOW, FactTables, mean_over_windows
from virsci_society.metrics.networks.structure import network_statistics


def people_before(tables: FactTables, end: int) -> IntArray:
    """Numbers of those who have written before a year, ascending."""
    seats = np.searchsorted(tables.year_of_seat, end)
    return np.unique(tables.works.authors[:seats])


def network(tables: FactTables, end: int) -> sparse.csr_array:
    """The symmetric matrix of ones of all pairs with a joint paper before a year."""
    ties = tables.ties
    chosen = int(np.searchsorted(ties.first, end))
    rows = np.full(tables.works.people, -1, dtype=np.int64)
    people = people_before(tables, end)
    rows[people] = np.arange(len(people))
    one, other = rows[ties.one[:chosen]], rows[ties.other[:chosen]]
    ends = np.concatenate([one, other]), np.concatenate([other, one])
    matrix = sparse.coo_array((np.ones(2 * chosen), ends), (len(people), len(people)))
    return sparse.csr_array(matrix)


class Densification(Fact):
    """Ties grow faster than people: the network of co-authors densifies."""

    source = "Leskovec, Kleinberg and Faloutsos 2007, ACM TKDD 1, article 2"
    published, low, high = 1.2, 1.08, 1.7
    population = (
        "affiliation and citation networks, 1992-2003: 1.08 to 1.15 for authors and papers, up to "
        "1.68 for citations; both ends"
    )
    null = "strangers"
    neutral = 1.0
    least_years = 5

    def measure(self, tables: FactTables) -> float:
        """Slope of log ties on log people of the network since the boundary, at ends of years."""
        ends = np.arange(1, tables.years + 1)
        ties = tables.ties
        _, seat = np.unique(tables.works.authors, return_index=True)
        people = np.searchsorted(np.sort(tables.year_of_seat[seat]), ends)
        edges = np.searchsorted(ties.first, ends)
        there = edges > 0
        if there.sum() < 3:
            return math.nan
        return float(np.polyfit(np.log(people[there]), np.log(edges[there]), 1)[0])


DIAMETER_SOURCES = 100
"""People from whom distances are measured, at most; evenly spread over the order of degrees."""


class ShrinkingDiameter(Fact):
    """Distances shrink while the network grows."""

    source = "Leskovec, Kleinberg and Faloutsos 2007, ACM TKDD 1, article 2"
    published, low, high = -0.5, -2.0, -0.03
    population = (
        "citation and affiliation networks, 1992-2003: the effective diameter falls from about 10 "
        "to 5 in ten years; ends judged"
    )
    null = "strangers"
    neutral = 0.0
    least_years = 10

    def measure(self, tables: FactTables) -> float:
        """Slope a year of the effective diameter in the second half of the years.

        The effective diameter is the distance within which nine of ten pairs of the largest
        component lie.
        """
        ends = np.unique(np.linspace(tables.years / 2, tables.years, 4).round().astype(int))
        lengths = [effective_diameter(network(tables, int(end))) for end in ends]
        return float(np.polyfit(ends, lengths, 1)[0]) if len(ends) > 2 else math.nan


def effective_diameter(matrix: sparse.csr_array) -> float:
    """The 90th percentile of the distances within the largest component."""
    if not matrix.nnz:
        return 0.0
    _, label = csgraph.connected_components(matrix, directed=False)
    inside = np.flatnonzero(label == np.bincount(label).argmax())
    giant = matrix[inside][:, inside]
    order = np.argsort(np.diff(giant.indptr), kind="stable")
    chosen = np.unique(np.linspace(0, len(order) - 1, DIAMETER_SOURCES).round().astype(int))
    distances = csgraph.dijkstra(giant, unweighted=True, indices=order[chosen])
    return float(np.quantile(distances[distances > 0], 0.9))


FIVE_YEARS = "Newman 2001, PNAS 98, 404-409; Newman 2004, PNAS 101, 5200-5205"


def _mean_statistic(tables: FactTables, name: str) -> float:
    return mean_over_windows(tables, lambda one: network_statistics(network(one, WINDOW))[name])


class GiantComponentAuthors(Fact):
    """Most authors of five years are connected in a giant component."""

    source = FIVE_YEARS
    published, low, high = 0.85, 0.57, 0.93
    population = "physics, biomedicine and computer science, 1995-99; lowest is NCSTRL"
    null = "strangers"
    least_years = WINDOW

    def measure(self, tables: FactTables) -> float:
        """Share of the authors of five years in the largest component, mean over windows."""
        return _mean_statistic(tables, "giant_share")


class Transitivity(Fact):
    """Two co-authors of the same person often write together."""

    source = FIVE_YEARS
    published, low, high = 0.4, 0.3, 0.76
    population = "physics, mathematics, computer science and high-energy physics, 1995-99"
    null = "rewired authors"
    least_years = WINDOW

    def measure(self, tables: FactTables) -> float:
        """Triangles (three times) over connected triples of five years, 0..1, mean over windows."""
        return _mean_statistic(tables, "transitivity")


class Assortativity(Fact):
    """People with many co-authors write with others who have many."""

    source = "Newman 2002, Physical Review Letters 89, 208701"
    published, low, high = 0.2, 0.12, 0.363
    population = "co-authors in mathematics (.120), biology (.127) and physics (.363), 1995-99"
    null = "rewired authors"
    neutral = 0.0
    least_years = WINDOW

    def measure(self, tables: FactTables) -> float:
        """Correlation of degrees at both ends of a tie of five years, -1..1, mean over windows."""
        return _mean_statistic(tables, "assortativity")


class Attachment(Fact):
    """Who has many co-authors finds new ones, in proportion to their number."""

    source = (
        "Newman 2001, Physical Review E 64, 025102; Jeong, Neda and Barabasi 2003, Europhysics "
        "Letters 61, 567-572"
    )
    published, low, high = 0.9, 0.75, 1.1
    population = (
        "exponents .79 (neuroscience), .89 (physics) and 1.04 (biomedicine), 1991-99; the ends "
        "with their errors"
    )
    null = "random authors"
    neutral = 0.0
    least_years = 5

    def measure(self, tables: FactTables) -> float:
        """Exponent b of the rate k^b of new co-authors with the number k of co-authors before.

        By maximum likelihood, over the ends of new ties of each year at people with a tie before.
        """
        ties, events = tables.ties, []
        degree = np.zeros(tables.works.people)
        for year in range(tables.years):
            new = ties.first == year
            ends = np.concatenate([ties.one[new], ties.other[new]])
            known = np.log(degree[degree > 0])
            chosen = np.log(degree[ends][degree[ends] > 0])
            if len(known) > 1 and len(chosen):
                events.append((chosen, known))
            np.add.at(degree, ends, 1.0)
        return choice_exponent(events)


def choice_exponent(events: Sequence[tuple[FloatArray, FloatArray]]) -> float:
    """Exponent b of the chance k^b to be chosen, by maximum likelihood; NaN without an event."""

    def loss(exponent: float) -> float:
        return -sum(
            float(exponent * chosen.sum() - len(chosen) * special.logsumexp(exponent * known))
            for chosen, known in events
        )

    if not events:
        return math.nan
    return float(optimize.minimize_scalar(loss, (-1, 3), method="brent").x)


CLOSURE = "Newman 2001, Physical Review E 64, 025102"
KINDS = 3
"""No mutual partner, one, and two or more."""


@lru_cache(maxsize=1)
def chances(tables: FactTables) -> FloatArray:
    """By mutual partners (0, 1, 2 or more), the chance that a pair writes its first paper."""
    pairs, tied = np.zeros(KINDS), np.zeros(KINDS)
    ties = tables.ties
    for year in range(1, tables.years):
        people, matrix = people_before(tables, year), network(tables, year)
        active = np.isin(people, np.unique(tables.works.authors[tables.year_of_seat == year]))
        rows = np.flatnonzero(active)
        if len(rows) < 2:
            continue
        among = matrix[rows]
        mutual = sparse.csr_array(among @ among.T)
        before = sparse.csr_array(among[:, rows])
        new = np.zeros(tables.works.people, dtype=np.int64) - 1
        new[people[rows]] = np.arange(len(rows))
        here = ties.first == year
        ends = np.stack([new[ties.one[here]], new[ties.other[here]]])
        ends = ends[:, (ends >= 0).all(axis=0)]
        open_pairs = sparse.triu(mutual - mutual.multiply(before), 1).tocoo().data
        counts = np.bincount(np.minimum(open_pairs, 2).astype(int), minlength=KINDS)
        counts[0] = len(rows) * (len(rows) - 1) // 2 - before.nnz // 2 - counts[1:].sum()
        pairs += counts
        found = np.asarray(mutual[ends[0], ends[1]]).ravel() if ends.size else np.zeros(0)
        tied += np.bincount(np.minimum(found, 2).astype(int), minlength=KINDS)
    with np.errstate(invalid="ignore"):
        return np.asarray(tied / np.where(pairs, pairs, np.nan))


def _ratio(over: float, under: float) -> float:
    return float(over / under) if under > 0 and over > 0 else math.nan


class MutualPartner(Fact):
    """A mutual partner brings two people together."""

    source = CLOSURE
    published, low, high = 45.0, 5.0, 500.0
    population = (
        "physics and biomedicine, 1995-99: pairs with five mutual partners are 200 times as likely "
        "as pairs without any, and twice as likely as pairs with two; ends judged, since the "
        "chance of pairs without one falls with the size of a field"
    )
    null = "rewired authors"
    neutral = 1.0
    least_years = 5

    def measure(self, tables: FactTables) -> float:
        """Chance of a first joint paper with one mutual partner over that with none."""
        none, one, _ = chances(tables)
        return _ratio(one, none)


class MoreMutualPartners(Fact):
    """Several mutual partners bring two people together more than one does."""

    source = CLOSURE
    published, low, high = 2.0, 1.2, 4.0
    population = "physics and biomedicine, 1995-99: five partners twice as much as two; ends judged"
    null = "rewired authors"
    neutral = 1.0
    least_years = 5

    def measure(self, tables: FactTables) -> float:
        """Chance of a first joint paper with two or more mutual partners over that with one."""
        _, one, more = chances(tables)
        return _ratio(more, one)


OWN = "own measurement, IEEE VIS 1994-2020 and language technology 2000-17"


def written_again(tables: FactTables, later: int) -> float:
    """Share of the ties that have a joint paper so many years after their first one, 0..1."""
    keys, year = tables.links
    pairs, place = np.unique(keys, return_inverse=True)
    first = np.full(len(pairs), tables.years)
    np.minimum.at(first, place, year)
    asked = first + later < tables.years
    again = np.zeros(len(pairs), dtype=bool)
    again[place[year == first[place] + later]] = True
    return float(again[asked].mean()) if asked.any() else math.nan


class TiesAgain(Fact):
    """Few new pairs write together again in the next year, and far more than by chance."""

    source = OWN
    published, low, high = 0.1, 0.05, 0.17
    population = "windows of nine years: VIS .06 to .09, language .11 to .14; ends widened"
    null = "rewired authors"
    least_years = 5
    own = True

    def measure(self, tables: FactTables) -> float:
        """Share of new ties with another joint paper in the year after the first, 0..1."""
        return written_again(tables, 1)


class TieDecay(Fact):
    """A pair that has not yet written again becomes less and less likely to."""

    source = OWN
    published, low, high = 2.2, 1.6, 3.0
    population = "windows of nine years: VIS 1.8 to 2.7, language 2.1 to 2.2; ends widened"
    null = "shuffled dates"
    neutral = 1.0
    least_years = 8
    own = True

    def measure(self, tables: FactTables) -> float:
        """Share of new ties that write again one year later over that three years later."""
        late = written_again(tables, 3)
        return written_again(tables, 1) / late if late > 0 else math.nan


class RichClub(Fact):
    """Those with the most co-authors write with each other more than their numbers say."""

    source = "Colizza, Flammini, Serrano and Vespignani 2006, Nature Physics 2, 110-115"
    published, low, high = 1.5, 1.1, 6.0
    population = (
        "condensed matter, 1995-2000: above 1 and rising with the number of co-authors; ends judged"
    )
    null = "rewired authors"
    neutral = 1.0
    least_years = 5

    def measure(self, tables: FactTables) -> float:
        """Ties among the 5 % with most co-authors, over what their numbers of co-authors give.

        Mean over windows of five years.
        """
        return mean_over_windows(tables, _density)


def _density(tables: FactTables) -> float:
    matrix = network(tables, WINDOW)
    degree = np.diff(matrix.indptr).astype(np.float64)
    if not degree.any():
        return math.nan
    rich = np.flatnonzero(degree > np.quantile(degree, 0.95))
    among = matrix[rich][:, rich].nnz / 2
    expected = (degree[rich].sum() ** 2 - (degree[rich] ** 2).sum()) / 2 / degree.sum()
    return float(among / expected) if expected else math.nan
