"""Memory and exponent of productivity, by regression of this year's papers on fading past ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import optimize

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.scenarios.calibration.estimation.overdispersion import standard_errors
from virsci_society.scenarios.calibration.estimation.seats import CareerHistory
from virsci_society.scenarios.calibration.estimation.trends import Estimate
from virsci_society.society.literature.authorships import FIRST, LAST

LONGEST = 40
"""Periods that are looked back."""
BOUNDS = ((math.log(0.3), math.log(60.0)), (0.0, 3.0), (0.001, 1.0))
"""Of the logarithm of the memory, in periods, of the exponent, and of the share of a paper that one
did not lead."""


@dataclass(frozen=True, eq=False)
class PastPapers:
    """Papers of people by their age at a period, and how often each was drawn in it.

    Attributes:
        ages: papers that are 1, 2, ... periods old, one row per person and period.
        led: those of them that the person led, of the same shape.
        drawn: how often the person was drawn in the period.
        starts: where the people of each period begin; one more than there are periods.
    """

    ages: FloatArray
    led: FloatArray
    drawn: FloatArray
    starts: IntArray


def past_papers(
    history: CareerHistory, persons: IntArray, periods: IntArray, first: int, last: int
) -> PastPapers:
    """Everybody with an earlier paper, in each period, and how often it was drawn.

    Args:
        history: of everybody.
        persons: who was drawn, one entry per draw.
        periods: the period of each draw.
        first: number of the first period.
        last: number of the first period that is left out.
    """
    works, people = history.works, history.works.people
    by_paper = np.repeat(history.periods, np.diff(works.starts))
    leads = works.led(FIRST if history.leader == "first" else LAST)
    ages, led, drawn, starts = [], [], [], [0]
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
    if not ages:
        none = np.zeros((0, LONGEST))
        return PastPapers(none, none, np.zeros(0), np.zeros(1, dtype=np.int64))
    return PastPapers(
        np.concatenate(ages),
        np.concatenate(led),
        np.concatenate(drawn),
        np.array(starts, dtype=np.int64),
    )


def fit_memory(past: PastPapers, *, by_place: bool = False) -> tuple[Estimate, ...]:
    """Memory and exponent of a draw in proportion to (fading papers)^exponent.

    A Poisson regression with a constant for each period, which drops out of the likelihood: given
    how many are drawn in a period, they are multinomial. The fading papers of a person are
    sum(share x exp(-age / memory)) over its earlier papers, where the share is 1 for a paper that
    it led, and for others as well unless ``by_place``.

    Args:
        past: who could be drawn, and who was.
        by_place: whether the share of papers that a person did not lead is estimated.

    Returns:
        The memory in periods and the exponent, and the share where it is estimated; NaN where
        nobody was drawn. Errors allow for people who differ by more than chance (Pearson's
        dispersion).
    """
    begin = np.array([math.log(3.0), 0.8, 0.5][: 3 if by_place else 2])
    draws = float(past.drawn.sum())
    if not draws:
        return tuple(Estimate(float("nan"), float("nan"), 0) for _ in begin)
    rows = np.concatenate([past.ages, past.led], axis=1) if by_place else past.ages
    distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    periods = np.repeat(np.arange(len(past.starts) - 1), np.diff(past.starts))
    size, kinds = len(past.starts) - 1, len(distinct)
    # People with the same ages of papers are alike, so that few kinds stand for all of them.
    people = np.zeros((size, kinds))
    times = np.zeros((size, kinds))
    np.add.at(people, (periods, inverse), 1.0)
    np.add.at(times, (periods, inverse), past.drawn)
    old = np.arange(LONGEST)

    def log_weight(point: FloatArray) -> FloatArray:
        fading = np.exp(-old / math.exp(point[0]))
        papers = distinct[:, :LONGEST] @ fading
        if by_place:
            papers = point[2] * papers + (1 - point[2]) * (distinct[:, LONGEST:] @ fading)
        return np.asarray(point[1] * np.log(np.maximum(papers, 1e-300)))

    def loss(point: FloatArray) -> float:
        value = log_weight(point)
        highest = float(value.max())
        total = people @ np.exp(value - highest)
        busy = total > 0
        return -float((times @ value)[busy].sum()) + float(
            (times.sum(axis=1)[busy] * (np.log(total[busy]) + highest)).sum()
        )

    found = optimize.minimize(loss, begin, method="L-BFGS-B", bounds=BOUNDS[: len(begin)])
    value = log_weight(found.x)
    weight = np.exp(value - value.max())
    total = people @ weight
    share = np.divide(
        weight[None, :], total[:, None], where=total[:, None] > 0, out=np.zeros_like(people)
    )
    mean = share[periods, inverse] * times.sum(axis=1)[periods]
    likely = mean > 0
    pearson = float(((past.drawn - mean)[likely] ** 2 / mean[likely]).sum())
    dispersion = max(1.0, pearson / max(1, int(likely.sum()) - len(begin) - size))
    errors = [one * math.sqrt(dispersion) for one in standard_errors(loss, found.x)]
    values = [math.exp(float(found.x[0])), *map(float, found.x[1:])]
    errors[0] *= values[0]
    return tuple(
        Estimate(value, error, int(draws)) for value, error in zip(values, errors, strict=True)
    )
