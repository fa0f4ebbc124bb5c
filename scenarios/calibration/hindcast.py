"""The held-out years, simulated from the papers before them and judged beside three rivals.

Persistence repeats the last window; the trend adds half the slope of the earlier ones; counted is
the society without the fit, with the medians of the priors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import special, stats

from virsci_society.agents.arrays import FloatArray
from virsci_society.metrics.validation.assembly_measures import ASSEMBLY_MEASURES
from virsci_society.metrics.validation.dated_papers import DatedPaper
from virsci_society.metrics.validation.people_predictions import predict_people
from virsci_society.metrics.validation.tolerances import (
    TOLERANCES,
    deviation_of_known,
    known_of,
    mean_of_known,
    scalar_error,
    score,
    within_tolerance,
)
from virsci_society.scenarios.calibration.counting import known_values
from virsci_society.scenarios.calibration.fitting import (
    CHECK,
    COUNTED,
    DRAWS,
    Fit,
    between_windows,
    windows_before,
)
from virsci_society.scenarios.calibration.parameters import Link
from virsci_society.scenarios.calibration.windows import DISTANCES, MEASURED, ObservedWindow
from virsci_society.society.literature.authorships import Authorships

RIVALS = ("persistence", "trend", "counted")
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
    """The next window (measures,): the last one plus half the least-squares slope of all of them.

    The method "theta" of Assimakopoulos and Nikolopoulos (2000), which won the M3 competition.
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
    """Compare simulations of the held-out window with its papers: a row per measure, and scores."""
    effort, years = fit.file.effort, fit.file.held_out
    window = ObservedWindow.of(fit.corpus, years)
    settings = [fit.of_base(known_values(fit.counted))]
    centre = np.tile(fit.posterior.centre, (effort.seeds, 1))
    runs = fit.simulate(CHECK, centre, settings, [window])[:, 0]
    draws = fit.posterior.resampled(effort.draws)
    counted = fit.simulate(COUNTED, np.zeros_like(centre), settings, [window])[:, 0]
    drawn = fit.simulate(DRAWS, draws, settings, [window])[:, 0]
    real = np.array([[*one.measures.numbers().values()] for one in fit.real_windows])
    discrepancy = dict(zip(ASSEMBLY_MEASURES, np.sqrt(between_windows(real)).tolist(), strict=True))
    last = ObservedWindow.of(fit.corpus, years.earlier())
    rivals = {
        "persistence": window.compare(last.measures, last.patterns),
        "trend": trend_values(windows_before(fit.corpus, years, TREND_WINDOWS, skipped=3), window),
    }
    observed = window.measures.numbers() | dict.fromkeys(DISTANCES, 0.0)
    rows = []
    for name in (*TOLERANCES, *(n for n in MEASURED if n not in TOLERANCES)):
        values, many = (part[:, MEASURED.index(name)] for part in (runs, drawn))
        low, high = interval(known_of(many), discrepancy.get(name, 0.0))
        found = {"simulated": mean_of_known(values)}
        found |= {rival: known[name] for rival, known in rivals.items()}
        found["counted"] = mean_of_known(counted[:, MEASURED.index(name)])
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
            # A trend without a value for a measure is not scored on it; a society always is.
            if tolerance is not None and (
                forecaster in ("simulated", "counted") or not math.isnan(value)
            ):
                off = scalar_error(tolerance, value, observed[name]) / tolerance.size
            row[f"off_{forecaster}"] = off
        row["inside_90"] = None if name in DISTANCES else bool(low <= observed[name] <= high)
        rows.append(row)
    table = pd.DataFrame(rows)
    scores = _scores(table) | {"score_error": score_error(runs, observed)}
    return table, pd.DataFrame([{"window": years.name, **scores}])


def score_error(runs: FloatArray, observed: Mapping[str, float]) -> float:
    """Standard error over seeds (seeds, ``MEASURED``) of the score of their mean (jackknife)."""
    scores = []
    for left_out in range(len(runs)):
        kept = dict(zip(MEASURED, np.delete(runs, left_out, axis=0).T, strict=True))
        errors = {
            name: scalar_error(one, mean_of_known(kept[name]), observed[name]) / one.size
            for name, one in TOLERANCES.items()
        }
        scores.append(score(errors))
    return float(np.sqrt((len(scores) - 1) * np.var(scores)))


def people_held_out(fit: Fit) -> pd.DataFrame:
    """Predictions of who published, led, stopped and wrote with whom in the held-out window."""
    window = ObservedWindow.of(fit.corpus, fit.file.held_out)
    centre = np.tile(fit.posterior.centre, (fit.file.effort.seeds, 1))
    fit.tell("people: who publishes, and with whom")
    simulate, parts = fit.simulations.simulator.simulate, (window.before, 0.0, window.days)
    settings = [fit.of_base(known_values(fit.counted))]
    # The log keeps measures, not papers: the runs of the check are repeated.
    runs = [simulate(job.parameters, *parts, job.seed) for job in fit.jobs(CHECK, centre, settings)]
    known = frozenset(map(str, range(window.before.people)))
    past, later, *made = (_named(works) for works in (window.before, window.papers, *runs))
    return predict_people(past, later, made, known, fit.file.held_out.years)


def _named(works: Authorships) -> list[DatedPaper]:
    """Papers whose authors are called by their numbers."""
    return [DatedPaper(date, tuple(map(str, team))) for date, team in works.dated()]


def interval(known: FloatArray, discrepancy: float) -> tuple[float, float]:
    """The central 90 % of simulated values with a normal error of this deviation (NaN: none)."""
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
    for forecaster in ("simulated", *RIVALS):
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
