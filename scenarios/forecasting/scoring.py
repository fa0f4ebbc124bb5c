"""Scores of a registered forecast against the papers that came.

The continuous ranked probability score is that of Matheson and Winkler (1976): the area between the
distribution that was forecast and the step at what was observed, 0 at best, in the unit of the
quantity. The probability integral transform is the share of the distribution below the observed
value; over many quantities it is uniform where distributions are honest (Dawid 1984).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from virsci_society.agents.errors import InputError
from virsci_society.metrics.validation.assembly_quantities import DISTRIBUTIONS
from virsci_society.metrics.validation.tolerances import (
    mean_of_known,
    score,
    within_tolerance,
)
from virsci_society.scenarios.calibration.calibration_file import Window
from virsci_society.scenarios.calibration.corpus import Corpus, ecosystem_corpus
from virsci_society.scenarios.calibration.simulation import ObservedWindow
from virsci_society.scenarios.forecasting.quantities import (
    NAMES,
    levels_of,
    point_errors,
    to_value,
)

LEVELS = (0.8, 0.9)
"""Central intervals whose coverage is told."""


def crps(values: Sequence[float], observed: float) -> float:
    """Continuous ranked probability score of equally likely values, in their unit.

    The mean distance to what was observed, less half the mean distance of two of them (Gneiting and
    Raftery 2007, JASA 102:359, equation 21).
    """
    drawn, n = np.sort(np.asarray(values, dtype=np.float64)), len(values)
    apart = (2 * np.arange(1, n + 1) - n - 1) @ drawn / n**2
    return float(np.abs(drawn - observed).mean() - apart)


def integral_transform(values: Sequence[float], observed: float) -> float:
    """Share of equally likely values below the observed one, 0..1; of equal ones half counts."""
    drawn = np.asarray(values, dtype=np.float64)
    return float((drawn < observed).mean() + (drawn == observed).mean() / 2)


def scores_of(data: Mapping[str, Any], observed: Mapping[str, float]) -> pd.DataFrame:
    """One row per forecaster and quantity: median, observed, CRPS and integral transform.

    Args:
        data: a registered forecast.
        observed: values of ``quantities.NAMES``.
    """
    rows = []
    for forecaster, made in data["forecasters"].items():
        for name, values in made["quantities"].items():
            if any(one is None for one in values) or math.isnan(observed[name]):
                continue
            low, high = np.quantile(values, [0.05, 0.95])
            rows.append(
                {
                    "forecaster": forecaster,
                    "quantity": name,
                    "median": float(np.median(values)),
                    "low": float(low),
                    "high": float(high),
                    "observed": observed[name],
                    "crps": crps(values, observed[name]),
                    "pit": integral_transform(values, observed[name]),
                    "change": data["change"][name],
                }
            )
    return pd.DataFrame(rows)


def summary_of(
    data: Mapping[str, Any], table: pd.DataFrame, observed: Mapping[str, float]
) -> pd.DataFrame:
    """One row per forecaster.

    Returns:
        ``score``: root mean square of the errors of the medians of fourteen quantities in
        tolerances; ``within``: how many are within; ``crps``: mean over quantities, each in its
        root mean square change from window to window; ``cover_80``, ``cover_90``: share of the
        quantities inside the central interval; ``quantities``: their number.
    """
    rows = []
    for forecaster, part in table.groupby("forecaster", sort=False):
        errors = point_errors(_medians(data["forecasters"][forecaster]), observed)
        pit = part["pit"].to_numpy()
        inside = {
            f"cover_{100 * level:.0f}": float((np.abs(pit - 0.5) <= level / 2 + 1e-9).mean())
            for level in LEVELS
        }
        rows.append(
            {
                "forecaster": forecaster,
                "score": score(errors),
                "within": within_tolerance(errors),
                "crps": mean_of_known((part["crps"] / part["change"]).to_numpy()),
                **inside,
                "quantities": len(part),
            }
        )
    return pd.DataFrame(rows)


def _medians(made: Mapping[str, Any]) -> dict[str, float]:
    """A value for each of ``NAMES``; NaN where none was forecast."""
    found = {
        name: math.nan if None in values else float(np.median(values))
        for name, values in made["quantities"].items()
    }
    for name in DISTRIBUTIONS:
        for number, share in enumerate(made["at_most"][name]):
            found[f"{name}<={number}"] = math.nan if share is None else share
    return found


def observed_in(corpus: Corpus, window: Window) -> dict[str, float]:
    """What the papers of a window were, by ``quantities.NAMES``."""
    levels = levels_of(ObservedWindow.of(corpus, window).quantities)
    return {name: to_value(name, level) for name, level in zip(NAMES, levels.tolist(), strict=True)}


def papers_that_came(data: Mapping[str, Any], folder: Path) -> tuple[dict[str, float], str | None]:
    """What an ecosystem holds of the years that were forecast.

    Returns:
        The values, and a warning where its earlier papers are not those of the forecast.

    Raises:
        InputError: its papers do not reach so far.
    """
    from virsci_society.society.ecosystem.ecosystem import Ecosystem

    ecosystem = Ecosystem.load(folder)
    window = Window(first=data["first_year"], last=data["last_year"])
    corpus = ecosystem_corpus(ecosystem, window.last + 1, later=True)
    last = corpus.last_year
    if last < window.last:
        raise InputError(
            f"{folder}: its papers end in {last}, and the forecast is of {window.name}; score it "
            f"with an ecosystem that has the papers of {window.last}"
        )
    sealed, past = data["past"], ecosystem_corpus(ecosystem, window.first, later=True)
    warning = None
    if past.digest(None, window.first) != sealed["sha256"]:
        warning = (
            f"{folder}: its {len(past.works):,} papers before {window.first} are not the "
            f"{sealed['papers']:,} from which the forecast was made; who is new and who wrote "
            "together is told by those of this ecosystem"
        )
    return observed_in(corpus, window), warning
