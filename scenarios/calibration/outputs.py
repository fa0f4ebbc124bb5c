"""The files of a calibration, which are a scenario, tables, a page, and everything as JSON."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from virsci_society.agents.files.atomic_files import replacing, write_atomically
from virsci_society.agents.files.file_hashes import write_hashes
from virsci_society.metrics.report.templates import (
    records,
    style_sheet,
    template_environment,
    write_html,
)
from virsci_society.scenarios.calibration import parameters as keys
from virsci_society.scenarios.calibration.counting import CountedValues
from virsci_society.scenarios.calibration.fitting import ESTIMATORS, IDENTIFIED, Fit
from virsci_society.scenarios.calibration.hindcast import INTERVAL
from virsci_society.scenarios.config.yaml_io import write_yaml
from virsci_society.society.results.table_files import write_csv

SCENARIO = "calibrated.yaml"


@dataclass(frozen=True, eq=False)
class Outcome:
    """Everything that a calibration found.

    Attributes:
        check: the held-out windows, a row per window and measure.
        scores: a row per held-out window.
    """

    fit: Fit
    counted: CountedValues
    check: pd.DataFrame
    scores: pd.DataFrame
    opened: str

    @cached_property
    def start(self) -> dict[str, float]:
        """Counted values at the boundary."""
        return self.fit.of_base(self.counted.values())

    @cached_property
    def values(self) -> dict[str, float]:
        """Every parameter at the boundary."""
        return self.fit.parameters(self.fit.posterior.centre, self.start)

    @cached_property
    def draws(self) -> pd.DataFrame:
        """The posterior: weights, values of the fitted parameters at the boundary, scores."""
        fit, sample = self.fit, self.fit.posterior
        values = [fit.parameters(scores, self.start) for scores in sample.draws]
        columns = {"weight": sample.weights}
        columns |= {key: np.array([one[key] for one in values]) for key in fit.names}
        columns |= {f"score of {key}": sample.draws[:, n] for n, key in enumerate(fit.names)}
        return pd.DataFrame(columns)

    @cached_property
    def parameters(self) -> pd.DataFrame:
        """One row per parameter: its value at the boundary, and how it came about."""
        sample, base = self.fit.posterior, self.fit.calibration.base_values
        rows = []
        for key, one in keys.PARAMETERS.items():
            if key not in self.values and base.get(key) is None:
                continue
            row: dict[str, Any] = {"key": key, "value": self.values.get(key, base.get(key))}
            row |= {"origin": "base", "error": math.nan, "low": math.nan, "high": math.nan}
            row |= {"estimator": "", "recovered": math.nan, "meaning": one.meaning}
            if key in self.fit.names:
                place = self.fit.names.index(key)
                row["estimator"] = sample.estimator[place]
                row["origin"] = "posterior" if row["estimator"] else "prior, not identified"
                row["recovered"] = float(sample.recovered[:, place].max())
                drawn = self.draws[key].to_numpy(), sample.weights
                row["low"], row["high"] = (weighted_quantile(*drawn, share) for share in INTERVAL)
            elif key in self.start:
                row["origin"], row["error"] = "counted", self.counted.estimates[key].error
            rows.append(row)
        return pd.DataFrame(rows)


def weighted_quantile(values: np.ndarray, weights: np.ndarray, share: float) -> float:
    """The quantile of values with weights, interpolated between them."""
    order = np.argsort(values, kind="stable")
    mass = np.cumsum(weights[order]) - weights[order] / 2
    return float(np.interp(share, mass / weights.sum(), values[order]))


def write_outputs(folder: Path, outcome: Outcome) -> None:
    """Write every file of a calibration, the same bytes every time."""
    fit = outcome.fit
    write_atomically(folder / SCENARIO, scenario_text(outcome, folder))
    with replacing(folder / "posterior.parquet") as path:
        outcome.draws.to_parquet(path, index=False)
    tables = {"table": simulated_points(fit), "check": outcome.check}
    # Ten digits: the last ones of a sum depend on the libraries of the machine.
    write_csv(folder, tables, float_format="%.10g")
    data = everything(outcome)
    text = json.dumps(_plain(data), indent=1, ensure_ascii=False, allow_nan=False)
    write_atomically(folder / "calibration.json", text + "\n")
    environment = template_environment(
        "virsci_society.scenarios.calibration", "virsci_society.metrics.report"
    )
    page = environment.get_template("calibration.html").render(
        data,
        style=style_sheet(environment),
        title=fit.file.calibrate,
        notes=[*fit.calibration.notes, outcome.opened],
        boundary=str(fit.file.boundary_year),
        fitted=", ".join(one.name for one in fit.windows),
        held=", ".join(one.name for one in fit.file.held_out),
        identified=IDENTIFIED,
    )
    write_html(folder / "report.html", page)
    write_hashes(folder, (path for path in folder.iterdir() if path.is_file()))


def scenario_text(outcome: Outcome, folder: Path) -> str:
    """The calibrated scenario: it extends the base, and says of each value where it is from."""
    calibration, file = outcome.fit.calibration, outcome.fit.file
    base = file.base
    if calibration.base_file is not None:
        base = os.path.relpath(calibration.base_file.resolve(), folder.resolve())
    facts = {k: v for k, v in asdict(calibration.fitted_on).items() if v is not None}
    lines = [
        f"# {file.calibrate}: fitted on {', '.join(one.name for one in outcome.fit.windows)},",
        f"# judged on {', '.join(one.name for one in file.held_out)};",
        f"# values of 1 January {file.boundary_year}.",
        "# counted: from papers, with a standard error; posterior: fitted by simulation, with its",
        "# 90 % interval; prior: not identified by the simulations.",
        f"extends: {base}",
        *write_yaml({"fitted_on": facts}).splitlines(),
    ]
    tree: dict[str, Any] = {}
    for row in records(outcome.parameters):
        if row["origin"] != "base":
            *sections, last = row["key"].split(".")
            node = tree
            for section in sections:
                node = node.setdefault(section, {})
            told = row["origin"] + (f" ({row['estimator']})" if row["estimator"] else "")
            if told != "counted":
                told += f", 90 % {_rounded(row['low'])} to {_rounded(row['high'])}"
            elif not math.isnan(row["error"]):
                told += f", standard error {_rounded(row['error'])}"
            node[last] = f"{_rounded(row['value'])}  # {told}"
    return "\n".join([*lines, *_yaml_lines(tree, "")]) + "\n"


def _yaml_lines(tree: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, node in tree.items():
        if isinstance(node, str):
            yield f"{indent}{key}: {node}"
        else:
            yield f"{indent}{key}:"
            yield from _yaml_lines(node, indent + "  ")


def _rounded(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"


def simulated_points(fit: Fit) -> pd.DataFrame:
    """One row per simulated point: its scores, distance and moments."""
    waves = fit.waves
    columns: dict[str, Any] = {
        "wave": np.where(np.arange(len(waves.points)) < waves.first, 1, 2),
        "distance": waves.distances,
        "plausible": waves.plausible,
        "weight": waves.weights,
    }
    columns |= {f"score of {key}": waves.points[:, n] for n, key in enumerate(fit.names)}
    for window, one in enumerate(fit.windows):
        for place, name in enumerate(fit.file.targets):
            columns[f"{name} {one.name}"] = waves.moments[:, window, place]
    return pd.DataFrame(columns)


def everything(outcome: Outcome) -> dict[str, Any]:
    """All that was found, as plain data."""
    fit, sample, waves = outcome.fit, outcome.fit.posterior, outcome.fit.waves
    packages = ("virsci-society", "numpy", "scipy", "scikit-learn")
    recovered = (dict(zip(ESTIMATORS, one, strict=True)) for one in sample.recovered.T.tolist())
    return {
        "calibration": fit.file.to_data(),
        "versions": {name: metadata.version(name) for name in packages},
        "notes": list(fit.calibration.notes),
        "boundary": fit.file.boundary_year,
        "parameters": records(outcome.parameters),
        "counted": {key: asdict(one) for key, one in outcome.counted.estimates.items()},
        "counted_in_windows": {
            one.name: setting for one, setting in zip(fit.windows, fit.settings, strict=True)
        },
        "recovered": dict(zip(fit.names, recovered, strict=True)),
        "points": {
            "all": len(waves.points),
            "plausible": int(waves.plausible.sum()),
            "accepted": len(sample.draws),
            "nearest": float(waves.distances.min()),
        },
        "held_out": outcome.opened,
        "scores": records(outcome.scores),
        "check": records(outcome.check),
    }


def _plain(value: Any) -> Any:
    """Plain data for JSON: NaN and infinity are null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float):
        # The last digits of a sum depend on the machine's libraries.
        return float(f"{value:.10g}") if math.isfinite(value) else None
    return value
