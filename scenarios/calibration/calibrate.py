"""A calibration from its lock to its files.

The lock holds its file, papers and base before the first run, and the held-out papers as a hash.
When they are opened, the hash of the fit is written beside it, so that a fit that was changed
afterwards is noticed and reported.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import (
    holds_others,
    make_folder,
    refuse_links,
    remove_file,
    write_atomically,
)
from virsci_society.agents.files.file_hashes import HASHES, hash_json
from virsci_society.agents.files.json_files import read_json_object
from virsci_society.agents.lazy_imports import require_extra
from virsci_society.scenarios.calibration import parameters as keys
from virsci_society.scenarios.calibration.calibration_file import PreparedCalibration
from virsci_society.scenarios.calibration.counting import Counting
from virsci_society.scenarios.calibration.fitting import FIRST, Fit
from virsci_society.scenarios.calibration.hindcast import judge_held_out
from virsci_society.scenarios.calibration.outputs import Outcome, write_outputs
from virsci_society.scenarios.calibration.windows import Tell, run_job
from virsci_society.scenarios.runs.run_journal import key_differences

LOCK, OPENED = "lock.json", "held_out.json"


def plan(calibration: PreparedCalibration) -> tuple[dict[str, int], float]:
    """How many simulations a calibration takes by stage, and the seconds of one."""
    fit = Fit(calibration, Path("nowhere"))
    jobs = fit.jobs(FIRST, np.zeros((2, len(fit.names))), fit.settings[-1:])
    began = time.perf_counter()
    for job in jobs:
        run_job(calibration.simulator, fit.windows[-1:], job)
    effort, windows = fit.file.effort, len(fit.windows)
    runs = {
        "seeds at the centre": effort.noise * windows,
        "first wave": effort.first_wave * windows,
        "second wave": effort.second_wave * windows,
        "held-out windows": (effort.seeds + effort.draws) * len(fit.file.held_out),
    }
    return runs, (time.perf_counter() - began) / len(jobs)


def calibrate(
    calibration: PreparedCalibration,
    folder: Path,
    *,
    workers: int = 1,
    tell: Tell = lambda text: None,
) -> Outcome:
    """Calibrate, or resume a calibration that was stopped."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    # Estimators come after all simulations, which would be made for nothing.
    require_extra("calibration", "sklearn", "a calibration needs scikit-learn")
    fit = Fit(calibration, folder, workers, tell)
    # Sums in another order would be other bytes.
    with closing(fit.simulations), threadpool_limits(limits=1):
        fit.observed  # noqa: B018 - an unknown target is reported before the lock is written
        take_lock(folder, lock_data(calibration))
        remove_file(folder / HASHES)
        # Noted before they are opened, so that a check that was stopped counts as well.
        centre = [round(float(one), 9) for one in fit.posterior.centre]
        opened = open_held_out(folder, hash_json(centre))
        table, scores = judge_held_out(fit)
        tell("counting again for the boundary")
        counted, boundary = fit.counted, fit.file.boundary_year
        if boundary != (first := fit.file.first_held_out):
            # Over as many years as for the fit, so that both counts are of one kind.
            since = boundary - (first - fit.fit_windows[0].first)
            parts = calibration.leader, fit.file.seed
            counted = Counting(fit.corpus, boundary, since, *parts).values()
        outcome = Outcome(fit, counted, table, scores, opened)
    write_outputs(folder, outcome)
    return outcome


def lock_data(calibration: PreparedCalibration) -> dict[str, Any]:
    """Everything that must stay the same in a folder."""
    file, corpus = calibration.file, calibration.corpus
    opened, base = file.first_held_out, calibration.base.to_data()
    data = {
        "file": file.to_data(),
        # The sections that are simulated.
        "base": {name: base[name] for name in ("founding", "protocol")},
        "papers": corpus.digest(None, opened),
        "held_out": corpus.digest(opened, file.end),
        "parameters": hash_json({key: str(one) for key, one in keys.PARAMETERS.items()}),
    }
    plain: dict[str, Any] = json.loads(json.dumps(data, default=str))
    return plain | {"hash": hash_json(plain)}


def take_lock(folder: Path, data: Mapping[str, Any]) -> None:
    """Write the lock, or find that the folder holds this calibration already."""
    refuse_links(folder)
    held = _read(folder / LOCK)
    if held is None:
        if holds_others(folder, LOCK):
            raise InputError(f"{folder}: holds other files; give an empty folder with --out")
        make_folder(folder)
        write_atomically(folder / LOCK, _text(data), durable=True)
    elif held.get("hash") != data["hash"]:
        old, new = ({k: v for k, v in one.items() if k != "hash"} for one in (held, data))
        lines = "\n".join(f"  {line}" for line in key_differences(old, new))
        raise InputError(
            f"{folder}: holds another calibration; give another folder with --out\n{lines}"
        )


def open_held_out(folder: Path, fit: str) -> str:
    """Note that the held-out papers are opened now, for a fit; returns what is reported of it."""
    held = _read(folder / OPENED)
    fits = list(held["fits"]) if held else []
    if fit not in fits:
        fits.append(fit)
        write_atomically(folder / OPENED, _text({"fits": fits}), durable=True)
    if len(fits) == 1:
        return "The held-out papers were opened once, after the fit."
    return (
        f"The held-out papers were opened {len(fits)} times, for as many different fits: the "
        "result is not independent of them."
    )


def _text(data: Mapping[str, Any]) -> str:
    return json.dumps(data, indent=1, sort_keys=True) + "\n"


def _read(path: Path) -> dict[str, Any] | None:
    try:
        return read_json_object(path)
    except FileNotFoundError:
        return None
