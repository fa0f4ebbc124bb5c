"""Strengths of arms from comparisons in pairs, and what the place on the sheet does to them.

The model of Bradley and Terry (1952) with an effect of position (Davidson and Beaver 1977): the
logit of "A is preferred to B" is the strength of A minus that of B plus an advantage of standing
first. A tie counts half for each. Answers to one pair are not independent, so errors are clustered
by pair of papers. Half a win and half a loss against an average arm are added to each arm, without
which one that always wins would be infinitely strong (Firth 1993 has such a penalty in general).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.errors import InputError
from virsci_society.metrics.inference.correlations import krippendorff_alpha

LEVEL = 0.95


@dataclass(frozen=True)
class PairFit:
    """A fit of the model of Bradley and Terry.

    Attributes:
        arms: one row per arm, the strongest first: ``arm``, ``answers``, ``wins`` (a tie is half a
            win), ``strength`` (logit against an average arm; all sum to 0) with ``low`` and
            ``high`` (95 %), ``chance`` (of being preferred to an average arm).
        first: logit by which standing first helps; 0: it does not matter.
        first_low: lower end of its 95 % interval.
        first_high: upper end.
        first_share: share of the decided answers in which the first of two was preferred.
    """

    arms: pd.DataFrame
    first: float
    first_low: float
    first_high: float
    first_share: float


def fit_pairs(choices: pd.DataFrame) -> PairFit:
    """Fit strengths of arms and the effect of position.

    Args:
        choices: one row per answer: ``pair`` (of papers), ``first`` and ``second`` (arms as the
            sheet has them), ``preferred`` (arm) and ``tie`` (boolean).

    Raises:
        InputError: no answers, or arms that no chain of comparisons connects.
    """
    if choices.empty:
        raise InputError("no pair has been answered")
    sides = choices[["first", "second"]].astype(str).to_numpy()
    arms, places = np.unique(sides, return_inverse=True)
    places = places.reshape(sides.shape)
    _must_be_connected(list(arms), places)
    answers, count = len(choices), len(arms)
    won = np.where(choices["preferred"].astype(str).to_numpy() == sides[:, 0], 1.0, 0.0)
    won[choices["tie"].astype(bool).to_numpy()] = 0.5
    design = np.zeros((answers, count + 1))
    design[np.arange(answers), places[:, 0]] += 1.0
    design[np.arange(answers), places[:, 1]] -= 1.0
    design[:, count] = 1.0
    estimate, covariance = _fit(design, won, choices["pair"].to_numpy())
    centred = np.eye(count + 1)
    centred[:count, :count] -= 1.0 / count
    # No digit is kept beyond those to which the fit converges.
    estimate = np.round(centred @ estimate, 6) + 0.0
    covariance = centred @ covariance @ centred.T
    half = _quantile() * np.sqrt(np.diag(covariance))
    wins = np.array([won[places[:, 0] == at].sum() for at in range(count)])
    wins += [(1 - won)[places[:, 1] == at].sum() for at in range(count)]
    table = pd.DataFrame(
        {
            "arm": arms,
            "answers": [int((places == at).sum()) for at in range(count)],
            "wins": wins,
            "strength": estimate[:count],
            "low": (estimate - half)[:count],
            "high": (estimate + half)[:count],
            "chance": 1 / (1 + np.exp(-estimate[:count])),
        }
    )
    decided = won[won != 0.5]
    return PairFit(
        table.sort_values(["strength", "arm"], ascending=[False, True], ignore_index=True),
        float(estimate[count]),
        float(estimate[count] - half[count]),
        float(estimate[count] + half[count]),
        float(decided.mean()) if len(decided) else float("nan"),
    )


def pair_agreement(choices: pd.DataFrame) -> float:
    """Krippendorff's alpha (2011) of all answers to one pair: of several raters, and both ways.

    Args:
        choices: one row per answer: ``pair``, ``rater``, ``item`` and ``earlier``.

    Returns:
        1 is perfect, 0 what chance gives; NaN where no pair was answered twice.
    """
    table = choices.pivot_table("earlier", ["rater", "item"], "pair", aggfunc="first")
    return krippendorff_alpha(table.to_numpy(dtype=np.float64))


def _fit(design: FloatArray, won: FloatArray, pairs: np.ndarray) -> tuple[FloatArray, FloatArray]:
    """Estimates of all parameters, and their covariance with errors clustered by pair."""
    from scipy.optimize import minimize
    from scipy.special import expit

    count = design.shape[1] - 1
    # Half a win and half a loss of each arm against one of strength 0, on neither side.
    prior = np.eye(count, count + 1)

    def loss(values: FloatArray) -> tuple[float, FloatArray]:
        real, extra = design @ values, prior @ values
        total = np.logaddexp(0, real).sum() - won @ real
        total += np.logaddexp(0, extra).sum() - 0.5 * extra.sum()
        slope = design.T @ (expit(real) - won) + prior.T @ (expit(extra) - 0.5)
        return float(total), slope

    found = minimize(loss, np.zeros(count + 1), jac=True, method="BFGS", options={"gtol": 1e-8})
    values = np.asarray(found.x, dtype=np.float64)
    chance, at_prior = expit(design @ values), expit(prior @ values)
    bend = (design.T * (chance * (1 - chance))) @ design
    bend += (prior.T * (at_prior * (1 - at_prior))) @ prior
    inverse = np.linalg.inv(bend)
    _, groups = np.unique(pairs, return_inverse=True)
    sums = np.zeros((groups.max() + 1, count + 1))
    np.add.at(sums, groups, design * (won - chance)[:, None])
    spread = sums.T @ sums * (len(sums) / max(len(sums) - 1, 1))
    return values, np.asarray(inverse @ spread @ inverse)


def _must_be_connected(arms: list[str], places: np.ndarray) -> None:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = len(arms)
    ties = coo_array((np.ones(len(places)), (places[:, 0], places[:, 1])), shape=(size, size))
    parts, labels = connected_components(ties, directed=False)
    if parts > 1:
        named = [
            [arm for arm, at in zip(arms, labels, strict=True) if at == n] for n in range(parts)
        ]
        groups = ["; ".join(group) for group in named]
        raise InputError(
            f"no chain of comparisons connects all arms, so that they have no common scale: "
            f"{' | '.join(groups)}"
        )


def _quantile() -> float:
    from scipy.special import ndtri

    return float(ndtri(0.5 + LEVEL / 2))
