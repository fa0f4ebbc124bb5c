"""A calibration from its lock to its files."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from virsci_society.agents.files.atomic_files import remove_file
from virsci_society.agents.files.file_hashes import HASHES, hash_json
from virsci_society.scenarios.calibration.checking import (
    HeldOutCheck,
    check_held_out,
    known_truths,
    predict_fit_windows,
)
from virsci_society.scenarios.calibration.design import FIRST, Setting, jobs_of
from virsci_society.scenarios.calibration.estimation.counted import CountedValues, Counting
from virsci_society.scenarios.calibration.estimation.estimators import require_scikit_learn
from virsci_society.scenarios.calibration.fitting import Fit, Tell, continued
from virsci_society.scenarios.calibration.lock import lock_data, open_held_out, take_lock
from virsci_society.scenarios.calibration.outputs import Outcome, write_outputs
from virsci_society.scenarios.calibration.reader import PreparedCalibration
from virsci_society.scenarios.calibration.simulation import run_job


@dataclass(frozen=True)
class Forecast:
    """What a calibration will take.

    Attributes:
        runs: simulations of each stage.
        seconds_a_run: of a timed pair.
        workers: processes.
    """

    runs: Mapping[str, int]
    seconds_a_run: float
    workers: int

    @property
    def minutes(self) -> float:
        """Estimated time of all simulations."""
        return sum(self.runs.values()) * self.seconds_a_run / max(1, self.workers) / 60


def calibrate(
    calibration: PreparedCalibration,
    folder: Path,
    *,
    workers: int = 1,
    truths: int = 0,
    tell: Tell = lambda text: None,
) -> Outcome:
    """Calibrate, or go on with a calibration that was stopped.

    Args:
        calibration: the file and its papers.
        folder: everything is written into it.
        workers: processes; the results do not depend on their number.
        truths: number of synthetic truths of the simulation-based calibration.
        tell: is told what is being done.

    Raises:
        InputError: scikit-learn is not installed, the folder holds another calibration, or a
            target is not known.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    # Estimators come after all simulations, which would be made for nothing.
    require_scikit_learn()
    fit = Fit(calibration, folder, workers, tell)
    # Sums in another order would be other bytes.
    with closing(fit), threadpool_limits(limits=1):
        fit.observed  # noqa: B018 - a target that is not known is told before the lock is written
        take_lock(folder, lock_data(calibration))
        remove_file(folder / HASHES)
        posterior, predicted = fit.posterior, predict_fit_windows(fit)
        centre = posterior.centre
        told = open_held_out(folder, hash_json([round(float(one), 9) for one in centre]))
        checked = check_held_out(fit, told)
        tell("counting again for the boundary")
        counted = _recounted(fit)
        ranks = known_truths(fit, truths) if truths else None
        outcome = _outcome(fit, counted, checked, predicted, ranks)
    write_outputs(folder, outcome)
    return outcome


def forecast(calibration: PreparedCalibration, workers: int, truths: int) -> Forecast:
    """How many simulations a calibration takes, and how long, by a timed pair.

    Args:
        calibration: the file and its papers.
        workers: processes.
        truths: number of synthetic truths.
    """
    fit, simulator = Fit(calibration, Path("nowhere")), calibration.simulator
    zeros = np.zeros((2, fit.space.size))
    jobs = jobs_of(FIRST, zeros, fit.space, fit.settings[-1:], fit.file.seed)
    began = time.perf_counter()
    for job in jobs:
        run_job(simulator, fit.windows[-1:], job)
    each = (time.perf_counter() - began) / len(jobs)
    effort, windows = fit.file.effort, len(fit.windows)
    held = len(fit.file.held_out)
    runs = {
        "seeds at the centre": effort.noise * windows,
        "first wave": effort.first_wave * windows,
        "second wave": effort.second_wave * windows,
        "prediction of the fit windows": effort.draws * windows,
        "held-out windows": (effort.seeds + effort.draws) * held,
        "known truths": truths * windows,
    }
    return Forecast(runs, each, workers)


def _recounted(fit: Fit) -> CountedValues:
    """Counted values for the boundary: again, where papers of held-out windows lie before it."""
    boundary, first = fit.calibration.boundary, fit.calibration.first_held_out
    if boundary == first:
        return fit.counted
    span = first - fit.fit_windows[0].first
    return Counting(
        fit.corpus, boundary, boundary - span, fit.calibration.leader, fit.file.seed
    ).values()


def _outcome(
    fit: Fit,
    counted: CountedValues,
    checked: HeldOutCheck,
    predicted: pd.DataFrame,
    ranks: pd.DataFrame | None,
) -> Outcome:
    start = Setting("boundary", 0.0, fit.read_off(continued(counted, 0.0)))
    values = fit.space.values(fit.posterior.centre, start)
    return Outcome(fit, counted, start, values, checked, predicted, ranks)
