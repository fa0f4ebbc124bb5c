"""The lock of a calibration, which holds its file, papers and base before the first run.

The held-out papers stand in it as a hash. When they are opened, the hash of the fit is written
beside it, so that a fit that was changed afterwards is noticed and told.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import (
    make_folder,
    read_plain_text,
    refuse_links,
    write_atomically,
)
from virsci_society.agents.files.file_hashes import hash_json
from virsci_society.scenarios.calibration import parameters as keys
from virsci_society.scenarios.calibration.calibration_file import CalibrationFile
from virsci_society.scenarios.calibration.reader import PreparedCalibration, end_of
from virsci_society.scenarios.config.reader import write_part
from virsci_society.scenarios.runs.run_journal import key_differences

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
        "held_out": corpus.digest(opened, end_of(file)),
        "parameters": hash_json({key: str(one) for key, one in keys.PARAMETERS.items()}),
    }
    plain: dict[str, Any] = json.loads(json.dumps(data, default=str))
    return plain | {"hash": hash_json(plain)}


def file_data(file: CalibrationFile) -> dict[str, Any]:
    """The keys of a calibration file, without where its papers lie."""
    data = file.model_dump(mode="json", exclude={"priors", "source", "ecosystem"})
    data["priors"] = {
        key: {"use": type(prior).__name__, **write_part(prior)}
        for key, prior in file.priors.items()
    }
    return data


def take_lock(folder: Path, data: Mapping[str, Any]) -> bool:
    """Write the lock, or find that the folder holds this calibration already.

    Args:
        folder: of the calibration.
        data: of the lock.

    Returns:
        Whether the folder was locked before.

    Raises:
        InputError: the folder holds another calibration, or other files.
    """
    refuse_links(folder)
    path = folder / LOCK
    held = _read(path)
    if held is None:
        if folder.is_dir() and any(folder.iterdir()):
            raise InputError(f"{folder}: holds other files; give an empty folder with --out")
        make_folder(folder)
        write_atomically(path, _text(data), durable=True)
        return False
    if held.get("hash") == data["hash"]:
        return True
    old, new = ({k: v for k, v in one.items() if k != "hash"} for one in (held, data))
    # A key that a later release has and leaves off (null) makes no difference.
    lines = "\n".join(f"  {line}" for line in key_differences(old, new))
    if not lines:
        return True
    raise InputError(
        f"{folder}: holds another calibration; give another folder with --out\n{lines}"
    )


def open_held_out(folder: Path, fit: str) -> str:
    """Note that the held-out papers are opened now, for a fit.

    Args:
        folder: of the calibration.
        fit: hash of what was fitted.

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
