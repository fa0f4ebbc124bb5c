"""The files of a calibration, which are a scenario, tables, a page, and everything as JSON."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
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
from virsci_society.scenarios.calibration.calibration_file import file_data
from virsci_society.scenarios.calibration.checking import INTERVAL, HeldOutCheck
from virsci_society.scenarios.calibration.design import Setting
from virsci_society.scenarios.calibration.estimation.counted import CountedValues
from virsci_society.scenarios.calibration.estimation.estimators import (
    ESTIMATORS,
    IDENTIFIED,
    weighted_quantile,
)
from virsci_society.scenarios.calibration.fitting import Fit
from virsci_society.scenarios.calibration.simulation import MEASURED
from virsci_society.scenarios.config.document import from_settings
from virsci_society.scenarios.config.yaml_io import write_yaml

SCENARIO = "calibrated.yaml"


@dataclass(frozen=True, eq=False)
class Outcome:
    """Everything that a calibration found.

    Attributes:
        fit: with its posterior.
        counted: values for the boundary.
        start: the boundary, with those of them that are read off.
        values: of every parameter at the boundary.
        checked: the held-out windows.
        predicted: the fit windows, predicted.
        ranks: of known truths; None where none were simulated.
    """

    fit: Fit
    counted: CountedValues
    start: Setting
    values: Mapping[str, float]
    checked: HeldOutCheck
    predicted: pd.DataFrame
    ranks: pd.DataFrame | None

    def parameter_table(self) -> pd.DataFrame:
        """One row per parameter: its value at the boundary, and how it came about."""
        return pd.DataFrame(list(self._parameters()))

    def _parameters(self) -> Iterator[dict[str, Any]]:
        sample, space = self.fit.posterior, self.fit.space
        intervals = self._intervals()
        base = self.fit.calibration.base_values
        for key, one in keys.PARAMETERS.items():
            if key not in self.values and base.get(key) is None:
                continue
            row: dict[str, Any] = {
                "key": key,
                "value": self.values.get(key, base.get(key)),
                "origin": "base",
                "low": math.nan,
                "high": math.nan,
                "error": math.nan,
                "meaning": one.meaning,
                "estimator": "",
                "recovered": math.nan,
            }
            estimate = self.counted.estimates.get(key)
            if key in space.priors:
                place = space.names.index(key)
                named = sample.estimator[place]
                row["origin"] = "posterior" if named else "prior, not identified"
                row["estimator"] = named
                row["recovered"] = float(sample.recovered[:, place].max())
                row["low"], row["high"] = intervals[key]
            elif key in self.start.counted and estimate is not None:
                row["origin"], row["error"] = "counted", estimate.error
            yield row

    def _intervals(self) -> dict[str, tuple[float, float]]:
        """90 % of the posterior, or of the prior where it is not identified."""
        found, draws = {}, self.draws()
        weights = draws["weight"].to_numpy()
        for key in self.fit.space.priors:
            values = draws[key].to_numpy()
            low, high = (weighted_quantile(values, weights, share) for share in INTERVAL)
            found[key] = (low, high)
        return found

    def draws(self) -> pd.DataFrame:
        """The posterior: weights and the values of the fitted parameters at the boundary."""
        sample, space = self.fit.posterior, self.fit.space
        rows = []
        for weight, scores in zip(sample.weights, sample.draws, strict=True):
            values = space.values(scores, self.start)
            fitted = {key: values[key] for key in space.priors}
            scored = {
                f"score of {name}": float(one)
                for name, one in zip(space.names, scores, strict=True)
            }
            rows.append({"weight": float(weight), **fitted, **scored})
        return pd.DataFrame(rows)


def write_outputs(folder: Path, outcome: Outcome) -> None:
    """Write every file of a calibration, the same bytes every time."""
    write_atomically(folder / SCENARIO, scenario_text(outcome, folder))
    with replacing(folder / "posterior.parquet") as path:
        outcome.draws().to_parquet(path, index=False)
    tables = {"table": reference_rows(outcome.fit), "check": outcome.checked.table}
    for name, table in tables.items():
        # Ten digits: the last ones of a sum depend on the libraries of the machine.
        with replacing(folder / f"{name}.csv") as path:
            table.to_csv(path, index=False, float_format="%.10g", lineterminator="\n")
    text = json.dumps(_plain(everything(outcome)), indent=1, ensure_ascii=False, allow_nan=False)
    write_atomically(folder / "calibration.json", text + "\n")
    write_html(folder / "report.html", render_page(outcome))
    write_hashes(folder, (path for path in folder.iterdir() if path.is_file()))


def scenario_text(outcome: Outcome, folder: Path) -> str:
    """The calibrated scenario: it extends the base, and says of each value where it is from."""
    file = outcome.fit.file
    path, base = outcome.fit.calibration.base_file, file.base
    if path is not None:
        base = os.path.relpath(path.resolve(), folder.resolve())
    boundary = outcome.fit.calibration.boundary
    facts = {k: v for k, v in asdict(outcome.fit.calibration.fitted_on).items() if v is not None}
    lines = [
        f"# {file.calibrate}: fitted on {', '.join(one.name for one in outcome.fit.windows)},",
        f"# judged on {', '.join(one.name for one in file.held_out)};",
        f"# values of 1 January {boundary}.",
        "# counted: from papers, with a standard error; posterior: fitted by simulation, with its",
        "# 90 % interval; prior: not identified by the simulations.",
        f"extends: {base}",
        *write_yaml({"fitted_on": facts}).splitlines(),
    ]
    rows = {row["key"]: row for row in records(outcome.parameter_table())}
    tree: dict[str, Any] = {}
    for key, row in rows.items():
        if row["origin"] == "base":
            continue
        *sections, last = key.split(".")
        node = tree
        for section in sections:
            node = node.setdefault(section, {})
        node[last] = row
    _lay_settings(tree, from_settings(outcome.fit.calibration.settings).data)
    lines += _yaml_lines(tree, 0)
    return "\n".join(lines) + "\n"


def _lay_settings(tree: dict[str, Any], data: Mapping[Any, Any]) -> None:
    """Add the keys of the command to those that were calibrated; they were simulated as well."""
    for key, value in data.items():
        if isinstance(value, Mapping) and value:
            _lay_settings(tree.setdefault(key, {}), value)
        else:
            tree[key] = {"origin": "set", "value": value}


def _yaml_lines(tree: Mapping[str, Any], depth: int) -> Iterator[str]:
    for key, node in tree.items():
        indent = "  " * depth
        if "origin" not in node:
            yield f"{indent}{key}:"
            yield from _yaml_lines(node, depth + 1)
        elif node["origin"] == "set":
            # JSON is YAML on one line.
            yield f"{indent}{key}: {json.dumps(node['value'])}  # set"
        else:
            yield f"{indent}{key}: {_rounded(node['value'])}  # {_origin(node)}"


def _origin(row: Mapping[str, Any]) -> str:
    if row["origin"] == "counted":
        error = "" if math.isnan(row["error"]) else f", standard error {_rounded(row['error'])}"
        return f"counted{error}"
    span = f"{_rounded(row['low'])} to {_rounded(row['high'])}"
    if row["origin"] == "posterior":
        return f"posterior ({row['estimator']}), 90 % {span}"
    return f"prior, not identified, 90 % {span}"


def reference_rows(fit: Fit) -> pd.DataFrame:
    """The reference table: one row per point, with its scores, distance and moments."""
    waves = fit.waves
    columns: dict[str, Any] = {
        "point": np.arange(len(waves.points)),
        "wave": np.where(np.arange(len(waves.points)) < waves.first, 1, 2),
        "distance": waves.distances,
        "plausible": waves.plausible,
        "weight": waves.weights,
    }
    for place, name in enumerate(fit.space.names):
        columns[f"score of {name}"] = waves.points[:, place]
    for window, one in enumerate(fit.windows):
        for name in fit.file.targets:
            columns[f"{name} {one.name}"] = waves.measured[:, window, MEASURED.index(name)]
    return pd.DataFrame(columns)


def everything(outcome: Outcome) -> dict[str, Any]:
    """All that was found, as plain data."""
    fit = outcome.fit
    sample = fit.posterior
    return {
        "calibration": file_data(fit.file),
        "seed": fit.file.seed,
        "versions": {
            name: metadata.version(name)
            for name in ("virsci-society", "numpy", "scipy", "scikit-learn")
        },
        "notes": list(fit.calibration.notes),
        "boundary": fit.calibration.boundary,
        "parameters": records(outcome.parameter_table()),
        "counted": {
            key: {"value": one.value, "error": one.error, "n": one.n}
            for key, one in outcome.counted.estimates.items()
        },
        "newcomers_by_place": {
            name: {"share": one.estimate.value, "slope": one.slope, "slope_error": one.slope_error}
            for name, one in outcome.counted.places.items()
        },
        "counted_in_windows": {one.name: dict(one.counted) for one in fit.settings},
        "dimensions": [
            {
                "name": name,
                "estimator": sample.estimator[place],
                "recovered": dict(
                    zip(ESTIMATORS, sample.recovered[:, place].tolist(), strict=True)
                ),
                "centre": float(sample.centre[place]),
            }
            for place, name in enumerate(fit.space.names)
        ],
        "points": {
            "first_wave": fit.waves.first,
            "all": len(fit.waves.points),
            "plausible": int(fit.waves.plausible.sum()),
            "accepted": len(sample.rows),
            "nearest": float(fit.waves.distances.min()),
        },
        "held_out": outcome.checked.told,
        "scores": records(outcome.checked.scores),
        "check": records(outcome.checked.table),
        "prediction": records(outcome.predicted),
        "known_truths": None if outcome.ranks is None else records(outcome.ranks),
    }


def render_page(outcome: Outcome) -> str:
    """The page as HTML text."""
    environment = template_environment(
        "virsci_society.scenarios.calibration", "virsci_society.metrics.report"
    )
    fit = outcome.fit
    check = outcome.checked.table
    return environment.get_template("calibration.html").render(
        style=style_sheet(environment),
        title=fit.file.calibrate,
        notes=[*fit.calibration.notes, outcome.checked.told],
        boundary=str(fit.calibration.boundary),
        fitted=", ".join(one.name for one in fit.windows),
        held=", ".join(one.name for one in fit.file.held_out),
        parameters=[_shown(row) for row in records(outcome.parameter_table())],
        identified=IDENTIFIED,
        scores=records(outcome.checked.scores),
        check=[_shown(row) for row in records(check)],
        prediction=[_shown(row) for row in records(outcome.predicted)],
        ranks=None if outcome.ranks is None else records(outcome.ranks),
        places={name: one.estimate for name, one in outcome.counted.places.items()},
        points=everything(outcome)["points"],
    )


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row whose truth values are words."""
    return {key: _word(value) for key, value in row.items()}


def _word(value: Any) -> Any:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return "–" if value is None else value


def _rounded(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"


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
