"""A calibration from its lock to its files.

The lock holds its file, papers and base before the first run, and the held-out papers as a hash.
When they are opened, the hash of the fit is written beside it, so that a fit that was changed
afterwards is noticed and told.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import (
    holds_others,
    make_folder,
    read_plain_text,
    refuse_links,
    remove_file,
    write_atomically,
)
from virsci_society.agents.files.file_hashes import HASHES, hash_json
from virsci_society.agents.lazy_imports import require_extra
from virsci_society.scenarios.calibration import parameters as keys
from virsci_society.scenarios.calibration.calibration_file import file_data
from virsci_society.scenarios.calibration.checking import (
    HeldOutCheck,
    check_held_out,
    known_truths,
    predict_fit_windows,
)
from virsci_society.scenarios.calibration.design import FIRST, Setting, jobs_of
from virsci_society.scenarios.calibration.estimation.counted import CountedValues, Counting
from virsci_society.scenarios.calibration.fitting import Fit, Tell, continued
from virsci_society.scenarios.calibration.outputs import Outcome, write_outputs
from virsci_society.scenarios.calibration.simulation import PreparedCalibration, run_job
from virsci_society.scenarios.runs.run_journal import key_differences


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
    """Calibrate, or resume a calibration that was stopped.

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
    require_extra("calibration", "sklearn", "a calibration needs scikit-learn")
    fit = Fit(calibration, folder, workers, tell)
    # Sums in another order would be other bytes.
    with closing(fit), threadpool_limits(limits=1):
        fit.observed  # noqa: B018 - a target that is not known is told before the lock is written
        take_lock(folder, lock_data(calibration))
        remove_file(folder / HASHES)
        posterior, predicted = fit.posterior, predict_fit_windows(fit)
        centre = posterior.centre
        # Noted before they are opened, so that a check that was stopped counts as well.
        told = open_held_out(folder, hash_json([round(float(one), 9) for one in centre]))
        checked = check_held_out(fit, told)
        tell("counting again for the boundary")
        counted = _recounted(fit)
        ranks = known_truths(fit, truths) if truths else None
        outcome = _outcome(fit, counted, checked, predicted, ranks)
    write_outputs(folder, outcome)
    return outcome


def forecast(calibration: PreparedCalibration, workers: int, truths: int) -> Forecast:
    """How many simulations a calibration takes, and how long, by a timed pair."""
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
    # Over as many years as for the fit, so that both counts are of one kind.
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


LOCK, OPENED = "lock.json", "held_out.json"
FORMAT = 1


def lock_data(calibration: PreparedCalibration) -> dict[str, Any]:
    """Everything that must stay the same in a folder."""
    file, corpus = calibration.file, calibration.corpus
    opened = calibration.first_held_out
    data = {
        "format": FORMAT,
        "file": file_data(file),
        "base": calibration.base_data(),
        "papers": corpus.digest(None, opened),
        "held_out": corpus.digest(opened, file.end),
        "parameters": hash_json({key: str(one) for key, one in keys.PARAMETERS.items()}),
    }
    plain: dict[str, Any] = json.loads(json.dumps(data, default=str))
    return plain | {"hash": hash_json(plain)}


def take_lock(folder: Path, data: Mapping[str, Any]) -> None:
    """Write the lock, or find that the folder holds this calibration already.

    Raises:
        InputError: the folder holds another calibration, or other files.
    """
    refuse_links(folder)
    path = folder / LOCK
    held = _read(path)
    if held is None:
        if holds_others(folder, LOCK):
            raise InputError(f"{folder}: holds other files; give an empty folder with --out")
        make_folder(folder)
        write_atomically(path, _text(data), durable=True)
        return
    if held.get("hash") == data["hash"]:
        return
    old, new = ({k: v for k, v in one.items() if k != "hash"} for one in (held, data))
    # A key that a later release has and leaves off (null) makes no difference.
    lines = "\n".join(f"  {line}" for line in key_differences(old, new))
    if lines:
        raise InputError(
            f"{folder}: holds another calibration; give another folder with --out\n{lines}"
        )


def open_held_out(folder: Path, fit: str) -> str:
    """Note that the held-out papers are opened now, for a fit.

    Returns:
        What is told of it.
    """
    path = folder / OPENED
    held = _read(path)
    fits = list(held["fits"]) if held else []
    if fit not in fits:
        fits.append(fit)
        write_atomically(path, _text({"fits": fits}), durable=True)
    if len(fits) == 1:
        return "The held-out papers were opened once, after the fit."
    return (
        f"The held-out papers were opened {len(fits)} times, for as many different fits: what they "
        "say is not independent of the last one."
    )


def _text(data: Mapping[str, Any]) -> str:
    return json.dumps(data, indent=1, sort_keys=True) + "\n"


def _read(path: Path) -> dict[str, Any] | None:
    try:
        data = json.loads(read_plain_text(path))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    return dict(data)
