"""Checks of a fit by held-out windows, by its predictions of fit windows, and by known truths."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from virsci_society.agents.arrays import FloatArray
from virsci_society.metrics.validation.assembly_quantities import SCALARS
from virsci_society.metrics.validation.tolerances import (
    TOLERANCES,
    deviation_of_known,
    errors_in_tolerances,
    known_of,
    mean_of_known,
    scalar_error,
    score,
    within_tolerance,
    z_score,
)
from virsci_society.scenarios.calibration.calibration_file import Window
from virsci_society.scenarios.calibration.design import (
    CHECK,
    HELD_OUT_DRAWS,
    PREDICTION,
    TRUTH,
    Setting,
    middle,
)
from virsci_society.scenarios.calibration.estimation.reference_table import between_windows
from virsci_society.scenarios.calibration.fitting import Fit, continued
from virsci_society.scenarios.calibration.simulation import DISTANCES, MEASURED, ObservedWindow

BOOTSTRAP = 200
STRUCTURE = (
    *("team_size", "newcomers", "q", "repeat_rate", "papers_per_author", "gini", "coauthors"),
    *("newcomer_newcomer", "newcomer_incumbent", "incumbent_incumbent"),
    *("giant_component", "clustering", "assortativity"),
)
"""Thirteen quantities whose errors are told in standard deviations between real windows."""
INTERVAL = (0.05, 0.95)


@dataclass(frozen=True, eq=False)
class HeldOutCheck:
    """Held-out windows, simulated at the calibrated values and at draws from the posterior.

    Attributes:
        table: one row per window and quantity.
        scores: per window: score and number within tolerance, of the society and of ``before``.
        told: how often the held-out papers were opened.
    """

    table: pd.DataFrame
    scores: pd.DataFrame
    told: str


def check_held_out(fit: Fit, told: str) -> HeldOutCheck:
    """Simulate the held-out windows and compare them."""
    years = sorted(fit.file.held_out, key=lambda one: one.first)
    windows = [ObservedWindow.of(fit.corpus, one) for one in years]
    settings = [_forecast(fit, one) for one in years]
    centre = np.tile(fit.posterior.centre, (fit.file.effort.seeds, 1))
    runs = fit.simulate(CHECK, centre, settings, windows)
    drawn = fit.simulate(HELD_OUT_DRAWS, posterior_draws(fit), settings, windows)
    tables, scores = [], []
    for place, (one, window) in enumerate(zip(years, windows, strict=True)):
        earlier = Window(first=one.first - one.years, last=one.first - 1)
        before = ObservedWindow.of(fit.corpus, earlier)
        table = _compared(fit, window, runs[:, place], drawn[:, place], before)
        tables.append(table)
        scores.append(_scores(one.name, table))
    return HeldOutCheck(pd.concat(tables, ignore_index=True), pd.DataFrame(scores), told)


def predict_fit_windows(fit: Fit) -> pd.DataFrame:
    """The posterior predictive check: fit windows, simulated at draws from the posterior.

    Returns:
        One row per window and quantity: the observed value, mean, sd and 90 % interval of the
        simulations, and the share of them below the observed value.
    """
    runs = fit.simulate(PREDICTION, posterior_draws(fit), fit.settings, fit.windows)
    rows = []
    for place, window in enumerate(fit.windows):
        observed = window.observed
        for name in (*fit.file.targets, *fit.file.checks):
            values = runs[:, place, MEASURED.index(name)]
            known = known_of(values)
            low, high = _central(known)
            rows.append(
                {
                    "window": window.name,
                    "quantity": name,
                    "role": "target" if name in fit.file.targets else "check",
                    "simulated": mean_of_known(known),
                    "sd": deviation_of_known(known),
                    "low": low,
                    "high": high,
                    "observed": observed[name],
                    "below": mean_of_known((known < observed[name]).astype(float)),
                    "inside": bool(low <= observed[name] <= high),
                }
            )
    return pd.DataFrame(rows)


def known_truths(fit: Fit, count: int) -> pd.DataFrame:
    """Simulation-based calibration: posteriors of synthetic societies whose truth is known.

    The truths are drawn from the prior, and each is estimated from the first wave alone, because
    the second was drawn for the real papers.

    Returns:
        One row per dimension: p of uniform ranks (Kolmogorov and Smirnov), share of truths inside
        the 90 % interval, and correlation of truth and estimate.
    """
    # A number of its own: 1 and 2 are those of the counts, 11 that of the bootstrap.
    rng = np.random.default_rng([fit.file.seed, 7])
    truths = rng.standard_normal((count, fit.space.size))
    moments = fit.moments(fit.simulate(TRUTH, truths, fit.settings, fit.windows))
    estimation, recovered = fit.prior_estimation, fit.recovered
    ranks, centres, known = [], [], []
    for truth, one in zip(truths, moments, strict=True):
        # A society in which a target is unknown has no distance to any other.
        if not np.isfinite(one).all():
            continue
        sample = estimation.posterior(one, recovered)
        ranks.append(weighted_rank(sample.draws, sample.weights, truth))
        centres.append(sample.centre)
        known.append(truth)
    table = []
    for place, name in enumerate(fit.space.names):
        mine = np.array([one[place] for one in ranks])
        pairs = np.array([[a[place], b[place]] for a, b in zip(known, centres, strict=True)])
        identified = bool(fit.posterior.estimator[place])
        table.append(
            {
                "parameter": name,
                "truths": len(mine),
                "p_uniform": uniformity(mine),
                "coverage_90": coverage(mine),
                "correlation": float(np.corrcoef(pairs.T)[0, 1]) if identified else math.nan,
            }
        )
    return pd.DataFrame(table)


def posterior_draws(fit: Fit) -> FloatArray:
    """Draws from the posterior with equal weights, by systematic resampling (draws, dimensions)."""
    sample, count = fit.posterior, fit.file.effort.draws
    edges = np.cumsum(sample.weights)
    places = (np.arange(count) + 0.5) / count * edges[-1]
    chosen: FloatArray = sample.draws[np.searchsorted(edges, places, side="right")]
    return chosen


def _forecast(fit: Fit, window: Window) -> Setting:
    """Counted values at the first day of a held-out window, from papers before all of them."""
    years = float(window.first - fit.calibration.first_held_out)
    counted = fit.read_off(continued(fit.counted, years))
    return Setting(window.name, middle(window, fit.calibration.boundary), counted)


def _compared(
    fit: Fit, window: ObservedWindow, runs: FloatArray, drawn: FloatArray, before: ObservedWindow
) -> pd.DataFrame:
    observed = window.observed
    earlier = window.compare(before)
    spread, discrepancy = _deviations(fit), _discrepancies(fit)
    errors = _bootstrap(window, fit.file.seed)
    persistence = errors_in_tolerances(before.quantities, window.quantities)
    rows = []
    for name in (*TOLERANCES, *(n for n in MEASURED if n not in TOLERANCES)):
        # Runs at the centre give error and z; draws from the posterior, with what differs between
        # windows whatever the parameters, give the interval.
        values, many = (part[:, MEASURED.index(name)] for part in (runs, drawn))
        mean, sd = mean_of_known(values), deviation_of_known(values)
        distance = name in DISTANCES
        low, high = _widened(known_of(many), 0.0 if distance else discrepancy[name])
        target = 0.0 if distance else observed[name]
        error = math.nan if distance else errors[name]
        off = _error(name, mean, target)
        rows.append(
            {
                "window": window.name,
                "quantity": name,
                "role": _role(fit, name),
                "simulated": mean,
                "sd": sd,
                "low": low,
                "high": high,
                "observed": math.nan if distance else target,
                "observed_error": error,
                "before": earlier[name],
                "z": math.nan if distance else z_score(values, target, error),
                "error_in_tolerances": off,
                "within": None if math.isnan(off) else bool(abs(off) <= 1 + 1e-9),
                "before_in_tolerances": persistence.get(name, math.nan),
                "between_windows": spread.get(name, math.nan),
                "inside_90": None if distance else bool(low <= target <= high),
            }
        )
    return pd.DataFrame(rows)


def _central(known: FloatArray) -> tuple[float, float]:
    """The central 90 % of simulated values."""
    if not len(known):
        return math.nan, math.nan
    low, high = np.quantile(known, INTERVAL)
    return float(low), float(high)


def _widened(known: FloatArray, discrepancy: float) -> tuple[float, float]:
    """The central 90 % of simulated values to which an error is added.

    Args:
        known: the values.
        discrepancy: standard deviation of a normal error; NaN: none is known, and none is added.
    """
    low, high = _central(known)
    if not discrepancy > 0 or math.isnan(low):
        return low, high
    middle, error = float(np.median(known)), float(scipy.stats.norm.ppf(INTERVAL[1])) * discrepancy
    # No quantity is below zero that no simulation has there.
    least = min(0.0, float(known.min()))
    return max(least, middle - math.hypot(middle - low, error)), middle + math.hypot(
        high - middle, error
    )


def _discrepancies(fit: Fit) -> Mapping[str, float]:
    """Standard deviation of each quantity between real windows, free of a trend."""
    rows = np.array([[one.observed[name] for name in SCALARS] for one in fit.real_windows])
    return dict(zip(SCALARS, np.sqrt(between_windows(rows)).tolist(), strict=True))


def _scores(name: str, table: pd.DataFrame) -> dict[str, object]:
    judged = table[table["quantity"].isin(list(TOLERANCES))]
    found: dict[str, object] = {"window": name}
    for side, column in (("", "error_in_tolerances"), ("before_", "before_in_tolerances")):
        errors = dict(zip(judged["quantity"], judged[column].astype(float), strict=True))
        found[f"{side}score"] = score(errors)
        found[f"{side}within"] = within_tolerance(errors)
    checked = judged[(judged["role"] != "target")]
    errors = dict(zip(checked["quantity"], checked["error_in_tolerances"], strict=True))
    found["score_of_unfitted"] = score(errors)
    structure = table[table["quantity"].isin(STRUCTURE)]
    for side in ("simulated", "before"):
        gaps = (structure[side] - structure["observed"]).abs() / structure["between_windows"]
        found[f"{side}_in_deviations"] = mean_of_known(gaps.to_numpy(dtype=np.float64))
    found["inside_90"] = int(structure["inside_90"].astype(bool).sum())
    found["of"] = len(structure)
    return found


def _deviations(fit: Fit) -> Mapping[str, float]:
    """Standard deviation of each of ``STRUCTURE`` between the real windows before the held-out."""
    rows = [one.observed for one in fit.real_windows]
    return {name: deviation_of_known(np.array([row[name] for row in rows])) for name in STRUCTURE}


def _role(fit: Fit, name: str) -> str:
    return "target" if name in fit.file.targets else "check" if name in fit.file.checks else ""


def _error(name: str, mean: float, observed: float) -> float:
    """The error of a mean in tolerances; NaN for a quantity without one."""
    tolerance = TOLERANCES.get(name)
    return (
        math.nan if tolerance is None else scalar_error(tolerance, mean, observed) / tolerance.size
    )


def _bootstrap(window: ObservedWindow, seed: int) -> Mapping[str, float]:
    """Standard errors of the observed quantities, by a bootstrap over papers."""
    rng = np.random.default_rng([seed, 11])
    rows: Sequence[dict[str, float]] = [window.resampled(rng).scalars() for _ in range(BOOTSTRAP)]
    return {name: deviation_of_known(np.array([row[name] for row in rows])) for name in rows[0]}


def weighted_rank(draws: FloatArray, weights: FloatArray, truth: FloatArray) -> FloatArray:
    """Share of the posterior's mass below the truth, for each parameter (0..1).

    Args:
        draws: (draws, parameters).
        weights: of the draws, summing to one.
        truth: of each parameter.
    """
    below = weights @ (draws < truth) + weights @ (draws == truth) / 2
    ranks: FloatArray = np.clip(below, 0.0, 1.0)
    return ranks


def uniformity(ranks: FloatArray) -> float:
    """Probability of ranks at least as far from uniform, by Kolmogorov and Smirnov.

    Small: the posterior is too narrow, too wide or shifted (Talts et al. 2018, arXiv 1804.06788).
    """
    if not len(ranks):
        return float("nan")
    return float(scipy.stats.kstest(ranks, "uniform").pvalue)


def coverage(ranks: FloatArray, level: float = 0.9) -> float:
    """Share of the truths that lie in the central interval of a level."""
    if not len(ranks):
        return float("nan")
    return float((np.abs(ranks - 0.5) <= level / 2).mean())
