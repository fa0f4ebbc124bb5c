"""A registered forecast as one dated file, which bears the hash of all that it says.

A distribution is a list of values that are equally likely (its quantiles in the middle of as many
equal shares), so that the file can be scored without this program.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import make_folder, open_new, read_plain_text
from virsci_society.agents.files.file_hashes import hash_json, signed, source_digest
from virsci_society.metrics.validation.assembly_quantities import DISTRIBUTIONS
from virsci_society.scenarios.calibration.simulation import SIMULATED
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.forecasting.combination import Predictive
from virsci_society.scenarios.forecasting.forecast import BASE, FieldForecast
from virsci_society.scenarios.forecasting.hindcasts import SEED
from virsci_society.scenarios.forecasting.quantities import NAMES, QUANTITIES, shares_of, to_value

FORMAT = 1
DRAWS = 100
"""Equally likely values of each distribution."""


def sealed(forecast: FieldForecast, date: str) -> dict[str, Any]:
    """Everything that is registered, with its hash.

    Args:
        forecast: what is forecast.
        date: on which it is registered, as ``2026-11-26``; nothing else depends on it.
    """
    base = load_scenario(BASE).to_data()
    return signed(
        {
            "format": FORMAT,
            "registered": date,
            "field": forecast.field,
            "first_year": forecast.window.first,
            "last_year": forecast.window.last,
            "past": {"papers": forecast.papers, "sha256": forecast.digest},
            "code": {"sources": source_digest(), **_versions()},
            "base": {"scenario": BASE, "sha256": hash_json([base[one] for one in SIMULATED])},
            "seed": SEED,
            "change": {name: _rounded(value) for name, value in forecast.change.items()},
            "forecasters": {name: _listed(one) for name, one in forecast.predictions.items()},
        }
    )


def _versions() -> dict[str, str]:
    return {name: metadata.version(name) for name in ("virsci-society", "numpy", "scipy")}


def _listed(one: Predictive) -> dict[str, Any]:
    """The values of each quantity, and the median of each share of a distribution."""
    levels = one.quantiles((np.arange(DRAWS) + 0.5) / DRAWS)
    quantities = {
        name: [_rounded(to_value(name, level)) for level in levels[place].tolist()]
        for place, name in enumerate(QUANTITIES)
    }
    centre = {name: to_value(name, level) for name, level in zip(NAMES, one.centre, strict=True)}
    shares = {
        name: [_rounded(share) for share in shares_of(name, centre).tolist()]
        for name in DISTRIBUTIONS
    }
    return {"quantities": quantities, "at_most": shares}


def _rounded(value: float) -> float | None:
    """Eight digits: the last ones belong to the machine's libraries; None: not known."""
    return float(f"{value:.8g}") if np.isfinite(value) else None


def write_sealed(path: Path, data: Mapping[str, Any]) -> None:
    """Write a registered forecast.

    Raises:
        InputError: the file is there already.
        OSError: it cannot be written.
    """
    make_folder(path.parent)
    try:
        with open_new(path) as file:
            file.write(json.dumps(data, indent=1) + "\n")
    except FileExistsError as error:
        raise InputError(
            f"{path}: is there already, and a registered forecast is not written over; give "
            "another file with --out"
        ) from error


def read_sealed(path: Path) -> dict[str, Any]:
    """Read a registered forecast and see that it is as it was sealed.

    Raises:
        InputError: it is none, it was changed, or it cannot be read.
    """
    try:
        data = dict(json.loads(read_plain_text(path)))
        found, held = signed(data)["hash"], data["hash"]
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file") from error
    except (OSError, ValueError, TypeError, LookupError, RecursionError) as error:
        raise InputError(f"{path}: not a registered forecast: {error}") from error
    if found != held:
        raise InputError(
            f"{path}: was changed after it was sealed: it does not bear its own hash; restore it"
        )
    if data.get("format") != FORMAT:
        raise InputError(f"{path}: its format is {data.get('format')}, and this reads {FORMAT}")
    return data
