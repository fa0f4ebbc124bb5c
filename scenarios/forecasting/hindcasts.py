"""Windows of the past, each forecast from the papers before it, and the window to be forecast.

Everything that the mechanism needs is counted anew from the papers before each window, and nothing
is fitted to it, so that the error in an earlier window is of the kind that the forecast will make.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.errors import InputError
from virsci_society.metrics.validation.assembly_quantities import AssemblyQuantities
from virsci_society.scenarios.calibration import parameters as keys
from virsci_society.scenarios.calibration.calibration_file import Window
from virsci_society.scenarios.calibration.corpus import Corpus
from virsci_society.scenarios.calibration.design import FORECAST, RIVAL, Job, job_seed
from virsci_society.scenarios.calibration.estimation.counted import Counting
from virsci_society.scenarios.calibration.fitting import Tell
from virsci_society.scenarios.calibration.simulation import (
    ObservedWindow,
    Simulations,
    assembly_simulator,
)
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.forecasting.combination import FEWEST
from virsci_society.scenarios.forecasting.quantities import levels_of
from virsci_society.society.literature.authorships import Authorships

EARLIER = 8
"""Windows of the past that are looked at, at most."""
COUNTED_YEARS = 6
"""Years before a window from which teams, partners and memories are counted."""
SEEDS = 4
"""Simulations of each window."""
SEED = 1
"""Everything random is derived from it."""
P_AND_Q: dict[str, float] = {
    **dict.fromkeys((keys.LEAD_EXPONENT, keys.AGAIN, keys.STAY, keys.FRIENDS, keys.JOINT), 0.0),
    **dict.fromkeys((keys.RECENCY, keys.OWN_PAPERS, keys.EXPONENT, keys.ONE_OFF), 0.0),
    **dict.fromkeys((keys.NEW_TREND, keys.LEAD_TREND), 0.0),
    **{keys.COAUTHORED: 1.0, keys.SPREAD: 1e4},
}
"""What makes the mechanism that of Guimera et al. (2005): every seat a newcomer's with 1 - p, else
with q a former partner's, and anybody's otherwise."""


class ForecastWindow(ObservedWindow):
    """A window of which a simulation is measured by what is forecast."""

    def measured(self, papers: Authorships) -> list[float]:
        """The levels of ``quantities.NAMES``."""
        found: list[float] = levels_of(self.measure(papers)).tolist()
        return found


@dataclass(frozen=True, eq=False)
class TrackRecord:
    """Earlier windows as they were and as they were forecast, and the forecast of the last one.

    Attributes:
        windows: in order of time; the last one is to be forecast.
        observed: levels of all but the last one (windows - 1, names).
        society: simulated with counted values (windows, names).
        rival: simulated by p and q alone (windows, names).
    """

    windows: tuple[Window, ...]
    observed: FloatArray
    society: FloatArray
    rival: FloatArray

    def before(self, window: Window) -> TrackRecord:
        """The record as it was when an earlier window was to be forecast."""
        end = self.windows.index(window) + 1
        first = max(0, end - 1 - EARLIER)
        return TrackRecord(
            self.windows[first:end],
            self.observed[first : end - 1],
            self.society[first:end],
            self.rival[first:end],
        )


def windows_before(corpus: Corpus, window: Window) -> tuple[Window, ...]:
    """As many earlier windows of the same length as are looked at, and the window itself.

    Raises:
        InputError: the papers begin too late for the fewest.
    """
    length = window.years
    # Before its third window almost everybody in a field is new.
    least = corpus.first_year + 3 * length
    found = [
        Window(first=first, last=first + length - 1)
        for first in range(window.first - EARLIER * length, window.first, length)
        if first >= least
    ]
    if len(found) < FEWEST:
        raise InputError(
            f"the papers begin in {corpus.first_year}; a forecast of {window.name} learns from "
            f"{FEWEST} earlier windows of {length} year{'s' * (length > 1)} and wants papers "
            f"since {window.first - (FEWEST + 3) * length} or earlier; forecast fewer years"
        )
    return (*found, window)


def track_record(
    corpus: Corpus,
    windows: Sequence[Window],
    base: Scenario,
    *,
    workers: int = 1,
    tell: Tell = lambda text: None,
) -> TrackRecord:
    """Forecast windows, each from the papers before it.

    Args:
        corpus: papers; those of the last window are not looked at.
        windows: in order of time.
        base: the wordless scenario whose mechanism is simulated.
        workers: processes; the results do not depend on their number.
        tell: is told what is being done.
    """
    known = keys.values_of(base)
    last_author = getattr(base.protocol, "author_order", "leader_last") != "leader_first"
    seen = [ForecastWindow.of(corpus, one) for one in windows]
    jobs = []
    for place, one in enumerate(windows):
        tell(f"counting the papers before {one.first}")
        # Its rates and their trends are counted over ten years.
        counting = Counting(
            corpus, one.first, one.first - COUNTED_YEARS, "last" if last_author else "first", SEED
        )
        values = counting.values().values()
        # The count is a bound: who meant to come again and was not asked counts as a one-off.
        society = {key: values[key] for key in values if key in known} | {keys.ONE_OFF: 0.0}
        p = _before(corpus, one).newcomers
        rival = society | P_AND_Q | {keys.SEAT: p, keys.LEAD: p}
        for stage, found in ((FORECAST, society), (RIVAL, rival)):
            asked = {key: found[key] for key in keys.PARAMETERS if key in found and key in known}
            jobs += [Job(stage, n, place, job_seed(SEED, stage, n), asked) for n in range(SEEDS)]
    tell(f"forecasting {len(windows)} windows: {len(jobs)} simulations")
    with closing(Simulations(assembly_simulator(base, None), seen, workers)) as made:
        levels = np.array(list(made.results(jobs))).reshape(len(windows), 2, SEEDS, -1)
    means = levels.mean(axis=2)
    observed = np.array([levels_of(one.quantities) for one in seen[:-1]])
    return TrackRecord(tuple(windows), observed, means[:, 0], means[:, 1])


def _before(corpus: Corpus, window: Window) -> AssemblyQuantities:
    """The quantities of as long a time before a window."""
    earlier = Window(first=window.first - window.years, last=window.first - 1)
    return ObservedWindow.of(corpus, earlier).quantities
