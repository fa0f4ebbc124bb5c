"""Features of every authorship (newcomers, former partners), and models of the choice of members.

Not by statsmodels: its conditional logit has no prior, so that coefficients can be infinite.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
from scipy import optimize

from virsci_society.agents.arrays import BoolArray, FloatArray, IntArray
from virsci_society.scenarios.calibration.rates import Estimate, standard_errors
from virsci_society.society.literature.authorships import FIRST, LAST, Authorships
from virsci_society.society.literature.papers import DAYS_PER_YEAR

Leader = Literal["first", "last"]
"""Which author of a real paper is taken for the leader of its team."""
RECENT = 3
"""Periods within which a team is one that writes again."""


class CareerHistory:
    """The papers of everybody by period (a year), from which every seat is described."""

    def __init__(self, works: Authorships, leader: Leader = "last") -> None:
        self.works, self.leader = works, leader
        self.periods: IntArray = np.floor(works.dates / DAYS_PER_YEAR).astype(np.int64)
        self.teams, self.papers_of = works.teams, works.papers_by_person
        never = int(self.periods.max(initial=0)) + 1
        self.first: IntArray = np.full(works.people, never, dtype=np.int64)
        np.minimum.at(self.first, works.authors, np.repeat(self.periods, works.sizes))

    def papers_before(self, person: int, period: int) -> Iterator[int]:
        """Numbers of the papers of a person in earlier periods, the latest first."""
        for number in reversed(self.papers_of[person]):
            if self.periods[number] < period:
                yield number

    def partners(self, person: int, period: int) -> dict[int, tuple[int, int]]:
        """Joint papers and the period of the last one, of each co-author in earlier periods."""
        found: dict[int, tuple[int, int]] = {}
        for number in self.papers_before(person, period):
            when = int(self.periods[number])
            for other in self.teams[number]:
                if other != person:
                    joint, last = found.get(other, (0, when))
                    found[other] = joint + 1, last
        return found


@dataclass(frozen=True, eq=False)
class Seats:
    """Every authorship of some papers.

    Attributes:
        entries: of an author without a paper in an earlier period, 1 / its papers in this one: one
            entry per person, spread over the papers of the first period; 0 for an incumbent.
        repeated: the paper's team wrote again: at least half of it, and two people, wrote one
            paper together in the three periods before.
        relation: of an incumbent that does not lead: 1 a former partner of another author, 2 a
            partner of such a partner, 3 a stranger; 0 else, and where no other incumbent is there.
    """

    paper: IntArray
    period: IntArray
    person: IntArray
    size: IntArray
    entries: FloatArray
    repeated: BoolArray
    stayed: BoolArray
    others: IntArray
    leads: BoolArray
    relation: IntArray

    @classmethod
    def of(cls, history: CareerHistory, first: int, last: int) -> Seats:
        """Describe every authorship of the periods ``first`` to ``last`` - 1."""
        low, high = np.searchsorted(history.periods, [first, last], side="left")
        rows = [row for number in range(low, high) for row in _seats_of(history, number)]
        columns = list(zip(*rows, strict=True)) or [()] * len(KINDS)
        return cls(*(np.array(one, dtype=kind) for one, kind in zip(columns, KINDS, strict=True)))

    def at(self, rows: BoolArray | IntArray) -> Seats:
        """Some of them, by a mask or by their numbers."""
        return Seats(*(getattr(self, one.name)[rows] for one in fields(self)))

    def of_papers(self, papers: IntArray) -> Seats:
        """The authorships of some papers, repeated for repeated papers."""
        order = np.argsort(self.paper, kind="stable")
        ordered = self.paper[order]
        low = np.searchsorted(ordered, papers, side="left")
        counts = np.searchsorted(ordered, papers, side="right") - low
        within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        return self.at(order[np.repeat(low, counts) + within])


KINDS = (*[np.int64] * 4, np.float64, bool, bool, np.int64, bool, np.int64)
"""Types of the columns of ``Seats``, in their order."""


def _seats_of(history: CareerHistory, number: int) -> Iterator[tuple[float, ...]]:
    """The authorships of one paper, as rows of ``Seats``."""
    team, period = history.teams[number], int(history.periods[number])
    known = [one for one in team if history.first[one] < period]
    overlaps: dict[int, int] = {}
    for one in known:
        for paper in history.papers_before(one, period):
            if history.periods[paper] < period - RECENT:
                break
            overlaps[paper] = overlaps.get(paper, 0) + 1
    # The recent paper that most of the team wrote, where it is at least half of the team; of
    # papers that are equally alike the latest, since numbers are by date.
    earlier: tuple[int, ...] = ()
    most = 0.0
    for paper in sorted(overlaps):
        joint, size = overlaps[paper], len(history.teams[paper])
        alike = joint / (len(team) + size - joint)
        if joint >= 2 and 2 * joint >= len(team) and alike >= most:
            earlier, most = history.teams[paper], alike
    partners = {one: history.partners(one, period) for one in known}
    leader = 0 if history.leader == "first" else len(team) - 1
    for position, one in enumerate(team):
        share, relation, leads = 0.0, 0, position == leader
        if one not in partners:
            mine = [n for n in history.papers_of[one] if history.periods[n] == period]
            share = 1 / len(mine)
        elif not leads and len(known) > 1:
            others = [other for other in known if other != one]
            near = {far for other in others for far in partners[other]}
            if any(other in partners[one] for other in others):
                relation = 1
            else:
                relation = 2 if any(friend in near for friend in partners[one]) else 3
        yield (
            *(number, period, one, len(team), share),
            *(bool(earlier), one in earlier, max(0, len(earlier) - 1), leads, relation),
        )


RECENCY = 3.0
"""Periods after which the recency of a joint paper has fallen to 1/e."""
NON_CASES = 60
"""Largest number of candidates who were not chosen."""
LONGEST = 40
"""Periods that are looked back."""
NO_LIMIT = 1e4
"""A limit that no number of papers comes near."""
BOUNDS = (
    (math.log(0.3), math.log(60.0)),
    (0.0, 3.0),
    (0.001, 1.0),
    (math.log(0.5), math.log(NO_LIMIT)),
)
"""Of the logarithm of the memory, in periods, of the exponent, of the share of a paper that one did
not lead, and of the logarithm of the limit."""
LEAST_GAIN = 1.92
"""Log likelihood that a limit has to gain to be believed: half the 95 % quantile of chi square."""


def fit_conditional_logit(covariates: FloatArray, starts: IntArray) -> list[Estimate]:
    """Coefficients of a conditional logit by maximum likelihood (McFadden 1974).

    The candidates of a choice are rows one after another, the chosen one first.
    """
    width, n = covariates.shape[1], len(starts) - 1
    if n < 1:
        return [Estimate()] * width
    first, owner = starts[:-1], np.repeat(np.arange(n), np.diff(starts))

    def loss(beta: FloatArray) -> float:
        value = covariates @ beta
        highest = np.maximum.reduceat(value, first)
        total = np.add.reduceat(np.exp(value - highest[owner]), first)
        # A weak prior keeps coefficients finite where the choices say nothing of one.
        return float((highest + np.log(total) - value[first]).sum() + 0.005 * beta @ beta)

    found = optimize.minimize(loss, np.zeros(width), method="BFGS")
    errors = standard_errors(loss, found.x)
    return [Estimate(float(value), error, n) for value, error in zip(found.x, errors, strict=True)]


def partner_choices(
    history: CareerHistory, seats: Seats, rng: np.random.Generator, most: int
) -> tuple[FloatArray, IntArray]:
    """The choices of former partners, as ``fit_conditional_logit`` takes them.

    Covariates: log of joint papers, exp(-periods since the last / 3), log of the candidate's.
    """
    rows = np.flatnonzero(seats.relation == 1)
    if len(rows) > most:
        rows = np.sort(rng.choice(rows, size=most, replace=False))
    known: dict[tuple[int, int], dict[int, tuple[int, int]]] = {}
    covariates: list[tuple[float, float, float]] = []
    starts = [0]
    for row in rows.tolist():
        period, chosen = int(seats.period[row]), int(seats.person[row])
        team = history.teams[int(seats.paper[row])]
        found: dict[int, tuple[int, int]] = {}
        for member in team:
            if member == chosen:
                continue
            key = member, period
            if key not in known:
                known[key] = history.partners(member, period)
            for other, (joint, last) in known[key].items():
                before, latest = found.get(other, (0, last))
                found[other] = before + joint, max(latest, last)
        others = [one for one in found if one not in team]
        if not others:
            continue
        # With non-cases that are sampled alike the estimates stay consistent (McFadden 1978).
        if len(others) > NON_CASES:
            picked = rng.choice(len(others), size=NON_CASES, replace=False)
            others = [others[one] for one in np.sort(picked).tolist()]
        for one in (chosen, *others):
            joint, last = found[one]
            papers = sum(1 for _ in history.papers_before(one, period))
            covariates.append(
                (np.log(joint), np.exp(-(period - last) / RECENCY), np.log(max(1, papers)))
            )
        starts.append(len(covariates))
    table = np.array(covariates, dtype=np.float64).reshape(-1, 3)
    return table, np.array(starts, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class PastPapers:
    """Papers of people by their age at a period, and how often each person was drawn in it.

    Attributes:
        ages: papers that are 1, 2, ... periods old, one row per person and period.
        led: those of them that the person led, of the same shape.
    """

    ages: FloatArray
    led: FloatArray
    drawn: FloatArray
    starts: IntArray


def past_papers(
    history: CareerHistory, persons: IntArray, periods: IntArray, first: int, last: int
) -> PastPapers:
    """Everybody with an earlier paper, in the periods ``first`` to ``last`` - 1."""
    works, people = history.works, history.works.people
    by_paper = np.repeat(history.periods, works.sizes)
    leads = works.led(FIRST if history.leader == "first" else LAST)
    # An empty period first, so that no period at all gives arrays as well.
    none = np.zeros((0, LONGEST))
    ages, led, drawn, starts = [none], [none], [np.zeros(0)], [0]
    for period in range(first, last):
        earlier = (by_paper < period) & (by_paper >= period - LONGEST)
        age = period - by_paper[earlier] - 1
        counts, own = np.zeros((people, LONGEST)), np.zeros((people, LONGEST))
        np.add.at(counts, (works.authors[earlier], age), 1.0)
        np.add.at(own, (works.authors[earlier], age), leads[earlier].astype(float))
        known = np.flatnonzero(history.first < period)
        ages.append(counts[known])
        led.append(own[known])
        times = np.bincount(persons[periods == period], minlength=people)
        drawn.append(times[known].astype(float))
        starts.append(starts[-1] + len(known))
    parts = np.concatenate(ages), np.concatenate(led), np.concatenate(drawn)
    return PastPapers(*parts, np.array(starts, dtype=np.int64))


def fit_memory(past: PastPapers, *, leaders: bool = False) -> tuple[Estimate, ...]:
    """Memory and exponent of a draw in proportion to (fading papers)^exponent.

    A Poisson regression with a constant per period. The fading papers of a person are
    sum(share x exp(-age / memory)), where the share is 1; for ``leaders`` it is 1 for a paper that
    they led and estimated for others, and n count as n / (1 + n / limit), if that gains enough
    (else ``NO_LIMIT``). Errors allow for dispersion (Pearson).
    """
    begin = np.array([math.log(3.0), 0.8, 0.5, math.log(20.0)])
    if not past.drawn.any():
        return (Estimate(),) * (4 if leaders else 2)
    model, n = _FadingDraw(past, leaders), int(past.drawn.sum())

    def fitted(size: int) -> tuple[float, FloatArray]:
        found = optimize.minimize(model.loss, begin[:size], method="L-BFGS-B", bounds=BOUNDS[:size])
        return float(found.fun), found.x

    lost, at = fitted(3 if leaders else 2)
    dispersion = model.dispersion(at)
    if leaders:
        begin[:3] = at
        less, limited = fitted(4)
        if (lost - less) / dispersion > LEAST_GAIN:
            at = limited
    errors = [one * math.sqrt(dispersion) for one in standard_errors(model.loss, at)]
    values = at.tolist()
    # Of memory and limit the logarithm is fitted, which has no bound at zero (delta method).
    for place in [one for one in (0, 3) if one < len(values)]:
        values[place] = math.exp(values[place])
        errors[place] *= values[place]
    found = tuple(Estimate(value, error, n) for value, error in zip(values, errors, strict=True))
    return (*found, Estimate(NO_LIMIT, math.nan, n)) if leaders and len(found) == 3 else found


class _FadingDraw:
    """Draws in proportion to (fading papers)^exponent, at points of ``fit_memory``'s parameters."""

    def __init__(self, past: PastPapers, leaders: bool) -> None:
        rows = np.concatenate([past.ages, past.led], axis=1) if leaders else past.ages
        self._leaders, self._drawn = leaders, past.drawn
        self._distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
        self._kind = inverse.reshape(-1)
        size = len(past.starts) - 1
        self._period = np.repeat(np.arange(size), np.diff(past.starts))
        # People with the same ages of papers are equivalent, so few groups represent all.
        self._people = np.zeros((size, len(self._distinct)))
        self._times = np.zeros_like(self._people)
        np.add.at(self._people, (self._period, self._kind), 1.0)
        np.add.at(self._times, (self._period, self._kind), past.drawn)

    def log_weight(self, point: FloatArray) -> FloatArray:
        """The logarithm of the weight of each kind of people."""
        fading = np.exp(-np.arange(LONGEST) / math.exp(point[0]))
        papers = self._distinct[:, :LONGEST] @ fading
        if self._leaders:
            papers = point[2] * papers + (1 - point[2]) * (self._distinct[:, LONGEST:] @ fading)
        if len(point) == 4:
            papers = papers / (1 + papers / math.exp(point[3]))
        return np.asarray(point[1] * np.log(np.maximum(papers, 1e-300)))

    def loss(self, point: FloatArray) -> float:
        """The negative log likelihood."""
        value = self.log_weight(point)
        highest = float(value.max())
        # Less the highest, or the exponential of a large weight would overflow.
        total = self._people @ np.exp(value - highest)
        busy = total > 0
        drawn = self._times.sum(axis=1)[busy]
        return -float((self._times @ value)[busy].sum()) + float(
            (drawn * (np.log(total[busy]) + highest)).sum()
        )

    def dispersion(self, point: FloatArray) -> float:
        """Pearson's chi square over its degrees of freedom, at least 1."""
        value = self.log_weight(point)
        weight = np.exp(value - value.max())
        total = (self._people @ weight)[:, None]
        none = np.zeros_like(self._people)
        share = np.divide(weight[None, :], total, where=total > 0, out=none)
        mean = share[self._period, self._kind] * self._times.sum(axis=1)[self._period]
        likely = mean > 0
        pearson = float(((self._drawn - mean)[likely] ** 2 / mean[likely]).sum())
        # A constant for each period takes a degree of freedom as the parameters do.
        free = int(likely.sum()) - len(point) - len(self._people)
        return max(1.0, pearson / max(1, free))
