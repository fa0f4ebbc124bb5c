"""The held-out years, simulated from the papers before them and judged beside two rivals.

The rivals know only what the field itself was before: persistence repeats the last window, and the
trend continues the last one by half the slope of the earlier windows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import special, stats

from virsci_society.agents.arrays import FloatArray
from virsci_society.metrics.validation.assembly_measures import ASSEMBLY_MEASURES
from virsci_society.metrics.validation.tolerances import (
    TOLERANCES,
    deviation_of_known,
    known_of,
    mean_of_known,
    scalar_error,
    score,
    within_tolerance,
)
from virsci_society.scenarios.calibration.fitting import (
    CHECK,
    HELD_OUT_DRAWS,
    Fit,
    between_windows,
    windows_before,
)
from virsci_society.scenarios.calibration.parameters import Link
from virsci_society.scenarios.calibration.windows import DISTANCES, MEASURED, ObservedWindow

FORECASTERS = ("simulated", "persistence", "trend")
INTERVAL = (0.05, 0.95)
TREND_WINDOWS, FEWEST_WINDOWS = 8, 3
"""Windows whose slope is continued, at most and at least."""
POSITIVE = (
    *("papers", "authors", "authors_per_paper", "papers_per_author", "coauthors_per_author"),
    "tie_lifetime",
)
"""Measures on a logarithmic scale; assortativity is on its own, all others are shares."""
STEPS = 40
"""A distribution is the shares of papers or authors with at most 0, 1, ... 39."""


def trend(values: FloatArray, link: Link) -> FloatArray:
    """The next window: the last one plus half the least-squares slope of all of them.

    Assimakopoulos and Nikolopoulos (2000), International Journal of Forecasting 16:521: the method
    "theta", which won the M3 competition.

    Returns:
        (measures,); NaN where there are fewer than three windows.
    """
    if len(values) < FEWEST_WINDOWS:
        return np.full(values.shape[1:], np.nan)
    levels = values
    if link == "log":
        levels = np.log(np.maximum(values, 1e-9))
    elif link == "logit":
        levels = special.logit(np.clip(values, 1e-3, 1 - 1e-3))
    place = np.arange(len(levels)) - (len(levels) - 1) / 2
    level = levels[-1] + place @ levels / (place @ place) / 2
    inverse = {"identity": np.asarray, "log": np.exp, "logit": special.expit}
    return np.asarray(inverse[link](level), dtype=np.float64)


def trend_values(earlier: Sequence[ObservedWindow], window: ObservedWindow) -> dict[str, float]:
    """``MEASURED`` of a window by the trend of earlier ones; m-patterns have none."""
    found = dict.fromkeys(MEASURED, math.nan)
    known = [one.measures for one in earlier]
    for name in ASSEMBLY_MEASURES:
        link: Link = "log" if name in POSITIVE else "logit"
        values = np.array([[float(getattr(one, name))] for one in known]).reshape(-1, 1)
        found[name] = float(trend(values, "identity" if name == "assortativity" else link)[0])
    for name in DISTANCES[:-1]:
        # Shares of the numbers that are at most 0, 1, ...
        shares = [
            np.searchsorted(np.sort(numbers), np.arange(STEPS), side="right") / max(1, len(numbers))
            for numbers in (getattr(one, name) for one in (*known, window.measures))
        ]
        guess = np.maximum.accumulate(trend(np.array(shares[:-1]).reshape(-1, STEPS), "logit"))
        found[name] = float(np.abs(guess - shares[-1]).max())
    return found


def judge_held_out(fit: Fit) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Simulate the held-out windows and compare them with what came.

    Returns:
        A row per window and measure, and a row of scores per window.
    """
    effort = fit.file.effort
    years = sorted(fit.file.held_out, key=lambda one: one.first)
    windows = [ObservedWindow.of(fit.corpus, one) for one in years]
    # Counted values at the first day of each window, from the papers before all of them.
    ahead = [float(one.first - fit.file.first_held_out) for one in years]
    settings = [fit.of_base(fit.counted.values(one)) for one in ahead]
    centre = np.tile(fit.posterior.centre, (effort.seeds, 1))
    runs = fit.simulate(CHECK, centre, settings, windows)
    draws = fit.posterior.resampled(effort.draws)
    drawn = fit.simulate(HELD_OUT_DRAWS, draws, settings, windows)
    real = np.array([[*one.measures.numbers().values()] for one in fit.real_windows])
    discrepancy = dict(zip(ASSEMBLY_MEASURES, np.sqrt(between_windows(real)).tolist(), strict=True))
    tables, scores = [], []
    for place, (one, window) in enumerate(zip(years, windows, strict=True)):
        earlier = windows_before(fit.corpus, one, TREND_WINDOWS, skipped=3)
        last = ObservedWindow.of(fit.corpus, one.earlier())
        rivals = {
            "persistence": window.compare(last.measures, last.patterns),
            "trend": trend_values(earlier, window),
        }
        table = _compared(fit, window, runs[:, place], drawn[:, place], rivals, discrepancy)
        tables.append(table)
        scores.append({"window": one.name, **_scores(table)})
    return pd.concat(tables, ignore_index=True), pd.DataFrame(scores)


def _compared(
    fit: Fit,
    window: ObservedWindow,
    runs: FloatArray,
    drawn: FloatArray,
    rivals: Mapping[str, Mapping[str, float]],
    discrepancy: Mapping[str, float],
) -> pd.DataFrame:
    """A row per measure: observed, simulated and by the rivals, with errors in tolerances."""
    observed = window.measures.numbers() | dict.fromkeys(DISTANCES, 0.0)
    rows = []
    for name in (*TOLERANCES, *(n for n in MEASURED if n not in TOLERANCES)):
        values, many = (part[:, MEASURED.index(name)] for part in (runs, drawn))
        low, high = interval(known_of(many), discrepancy.get(name, 0.0))
        found = {"simulated": mean_of_known(values)}
        found |= {rival: values[name] for rival, values in rivals.items()}
        row: dict[str, object] = {
            "window": window.name,
            "measure": name,
            "role": "target" if name in fit.file.targets else "check",
            "observed": math.nan if name in DISTANCES else observed[name],
            **found,
            "sd": deviation_of_known(values),
            "low": low,
            "high": high,
        }
        tolerance = TOLERANCES.get(name)
        for forecaster, value in found.items():
            off = math.nan
            # A rival that says nothing of a measure is not judged by it; a society always is.
            if tolerance is not None and (forecaster == "simulated" or not math.isnan(value)):
                off = scalar_error(tolerance, value, observed[name]) / tolerance.size
            row[f"off_{forecaster}"] = off
        row["inside_90"] = None if name in DISTANCES else bool(low <= observed[name] <= high)
        rows.append(row)
    return pd.DataFrame(rows)


def interval(known: FloatArray, discrepancy: float) -> tuple[float, float]:
    """The central 90 % of simulated values to which a normal error is added.

    Args:
        discrepancy: standard deviation of the error; NaN: none is known, and none is added.
    """
    if not len(known):
        return math.nan, math.nan
    low, high = (float(one) for one in np.quantile(known, INTERVAL))
    if not discrepancy > 0:
        return low, high
    middle, error = float(np.median(known)), float(stats.norm.ppf(INTERVAL[1])) * discrepancy
    # No measure is below zero that no simulation has there.
    least = min(0.0, float(known.min()))
    return max(least, middle - math.hypot(middle - low, error)), middle + math.hypot(
        high - middle, error
    )


def _scores(table: pd.DataFrame) -> dict[str, object]:
    """Scores of the simulation and its rivals over the fourteen measures with a tolerance."""
    judged = table[table["measure"].isin(list(TOLERANCES))].set_index("measure")
    found: dict[str, object] = {}
    for forecaster in FORECASTERS:
        off = judged[f"off_{forecaster}"]
        errors = {str(name): float(one) for name, one in off.items()}
        found[f"score_{forecaster}"] = score(errors)
        known = len(known_of([*errors.values()]))
        found[f"within_{forecaster}"] = within_tolerance(errors) if known else None
    unfitted = judged.loc[judged["role"] != "target", "off_simulated"]
    found["score_of_unfitted"] = score({str(name): float(one) for name, one in unfitted.items()})
    inside = judged["inside_90"].dropna()
    found["inside_90"], found["of"] = int(inside.astype(bool).sum()), len(inside)
    return found
