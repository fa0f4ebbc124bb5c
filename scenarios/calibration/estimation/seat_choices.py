"""A conditional logit, with sampled non-cases, of which former partner takes a seat.

Written by hand: the conditional logit of statsmodels takes no prior, without which a coefficient of
which the choices tell nothing is infinite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import optimize

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.scenarios.calibration.estimation.overdispersion import standard_errors
from virsci_society.scenarios.calibration.estimation.seats import CareerHistory, Seats
from virsci_society.scenarios.calibration.estimation.trends import Estimate

RECENCY = 3.0
"""Periods after which the recency of a joint paper has fallen to 1/e."""
NON_CASES = 60
"""Largest number of candidates beside the one who was chosen."""
COVARIATES = ("joint", "recency", "papers")


@dataclass(frozen=True, eq=False)
class ChoiceSets:
    """Candidates of many choices, those of one choice one after another, the chosen one first.

    Attributes:
        covariates: one row per candidate.
        starts: where the candidates of each choice begin; one more than there are choices.
        offsets: logarithm of the chance with which each candidate was sampled, subtracted from its
            value; all zero where the non-cases of a choice are sampled alike.
    """

    covariates: FloatArray
    starts: IntArray
    offsets: FloatArray


def fit_conditional_logit(sets: ChoiceSets) -> list[Estimate]:
    """Coefficients of a conditional logit by maximum likelihood.

    Args:
        sets: the choices.

    Returns:
        One estimate per covariate; NaN where there is no choice.

    Source:
        McFadden (1974); sampled candidates with offsets: McFadden (1978), Modelling the choice of
        residential location.
    """
    width, n = sets.covariates.shape[1], len(sets.starts) - 1
    if n < 1:
        return [Estimate(float("nan"), float("nan"), 0)] * width
    first, owner = sets.starts[:-1], np.repeat(np.arange(n), np.diff(sets.starts))

    def loss(beta: FloatArray) -> float:
        value = sets.covariates @ beta - sets.offsets
        highest = np.maximum.reduceat(value, first)
        total = np.add.reduceat(np.exp(value - highest[owner]), first)
        # A weak prior keeps coefficients finite where the choices tell nothing of one.
        return float((highest + np.log(total) - value[first]).sum() + 0.005 * beta @ beta)

    found = optimize.minimize(loss, np.zeros(width), method="BFGS")
    errors = standard_errors(loss, found.x)
    return [Estimate(float(value), error, n) for value, error in zip(found.x, errors, strict=True)]


def partner_choices(
    history: CareerHistory, seats: Seats, rng: np.random.Generator, most: int
) -> ChoiceSets:
    """The choices of former partners, with what is known of each candidate.

    The candidates of a seat are the former partners of the other authors. Covariates are those of
    ``COVARIATES``: log of the joint papers with the other authors, exp(-periods since the last / 3)
    and log of the candidate's papers.

    Args:
        history: of everybody.
        seats: those with ``relation`` 1 are used.
        rng: draws the seats that are used, where there are more than ``most``, and the non-cases.
        most: largest number of choices.
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
    table = np.array(covariates, dtype=np.float64).reshape(-1, len(COVARIATES))
    return ChoiceSets(table, np.array(starts, dtype=np.int64), np.zeros(len(table)))
