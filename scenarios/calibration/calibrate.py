"""A calibration from its lock to its files, which are a scenario, tables and a page.

When the held-out papers are opened, the hash of the fit is written, so that a later fit is noticed.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from virsci_society.agents.arrays import one_blas_thread
from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import (
    holds_others,
    make_folder,
    refuse_links,
    remove_file,
    replacing,
    write_atomically,
)
from virsci_society.agents.files.file_hashes import HASHES, hash_json, write_hashes
from virsci_society.agents.files.json_files import read_json_object
from virsci_society.metrics.report.templates import (
    records,
    style_sheet,
    template_environment,
    write_html,
)
from virsci_society.metrics.validation.people_predictions import verdicts
from virsci_society.scenarios.calibration import parameters as keys
from virsci_society.scenarios.calibration.calibration_file import PreparedCalibration
from virsci_society.scenarios.calibration.counting import Counting, known_values
from virsci_society.scenarios.calibration.fitting import FARTHEST, IDENTIFIED, Fit
from virsci_society.scenarios.calibration.hindcast import INTERVAL, judge_held_out, people_held_out
from virsci_society.scenarios.calibration.rates import Estimate
from virsci_society.scenarios.calibration.windows import Tell
from virsci_society.scenarios.config.yaml_io import write_yaml
from virsci_society.scenarios.runs.run_journal import key_differences
from virsci_society.society.results.table_files import write_csv

LOCK, OPENED, SCENARIO = "lock.json", "held_out.json", "calibrated.yaml"


@dataclass(frozen=True, eq=False)
class Outcome:
    """Everything that a calibration found."""

    fit: Fit
    counted: Mapping[str, Estimate]
    check: pd.DataFrame
    scores: pd.DataFrame
    people: pd.DataFrame
    opened: str

    @property
    def notes(self) -> list[str]:
        """Notes on the windows, the held-out papers and the fit."""
        notes = [*self.fit.calibration.notes, self.opened]
        sample = self.fit.posterior
        beyond = self.fit.beyond()
        if beyond or sample.extrapolated:
            notes.append(
                f"No simulated point reaches the observed {', '.join(beyond) or 'targets jointly'}:"
                " the fit extrapolates, and its intervals may be too narrow. Widen the priors, or "
                "change the base."
            )
        if limits := [key for key, one in zip(self.fit.names, sample.at_limit, strict=True) if one]:
            notes.append(
                f"The fit of {', '.join(limits)} lies at the limit of the prior ({FARTHEST:g} "
                "standard deviations): its value is a bound and its interval is meaningless. Widen "
                "the prior, or change the base."
            )
        return notes

    @cached_property
    def start(self) -> dict[str, float]:
        """Counted values at the boundary."""
        return self.fit.of_base(known_values(self.counted))

    @cached_property
    def values(self) -> dict[str, float]:
        """Every parameter at the boundary."""
        return self.fit.parameters(self.fit.posterior.centre, self.start)

    @cached_property
    def draws(self) -> pd.DataFrame:
        """The posterior: weights, and values of the fitted parameters at the boundary."""
        sample = self.fit.posterior
        values = pd.DataFrame([self.fit.parameters(one, self.start) for one in sample.draws])
        return values[[*self.fit.names]].assign(weight=sample.weights)

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
            row |= {"recovered": math.nan, "meaning": one.meaning}
            if key in self.fit.names:
                place = self.fit.names.index(key)
                row["recovered"] = float(sample.recovered[place])
                identified = sample.identified[place]
                row["origin"] = "posterior" if identified else "prior, not identified"
                if sample.at_limit[place]:
                    row["origin"] = "posterior, at the limit of its prior"
                drawn = self.draws[key].to_numpy(), sample.weights
                row["low"], row["high"] = (weighted_quantile(*drawn, share) for share in INTERVAL)
            elif key in self.start:
                row["origin"], row["error"] = "counted", self.counted[key].error
            rows.append(row)
        return pd.DataFrame(rows)


def calibrate(
    calibration: PreparedCalibration,
    folder: Path,
    *,
    workers: int = 1,
    tell: Tell = lambda text: None,
) -> Outcome:
    """Calibrate, or resume a calibration that was stopped."""
    fit = Fit(calibration, folder, workers, tell)
    with closing(fit.simulations), one_blas_thread():
        fit.observed  # noqa: B018 - an unknown target is reported before the lock is written
        take_lock(folder, lock_data(calibration))
        remove_file(folder / HASHES)
        # Noted before they are opened, so that a check that was stopped counts as well.
        centre = [round(float(one), 9) for one in fit.posterior.centre]
        opened = open_held_out(folder, hash_json(centre))
        table, scores = judge_held_out(fit)
        people = people_held_out(fit)
        tell("counting again for the boundary")
        counted, boundary = fit.counted, fit.file.boundary_year
        if boundary != (first := fit.file.held_out.first):
            # Over the same number of years as the fit, so that both counts are comparable.
            since = boundary - (first - fit.fit_windows[0].first)
            parts = calibration.leader, fit.file.seed
            counted = Counting(fit.corpus, boundary, since, *parts).estimates()
        outcome = Outcome(fit, counted, table, scores, people, opened)
    write_outputs(folder, outcome)
    return outcome


def lock_data(calibration: PreparedCalibration) -> dict[str, Any]:
    """Everything that must stay the same in a folder."""
    file, corpus = calibration.file, calibration.corpus
    opened, base = file.held_out.first, calibration.base.to_data()
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
    """Write the lock, or check that the folder contains this calibration."""
    refuse_links(folder)
    held = _read(folder / LOCK)
    if held is None:
        if holds_others(folder, LOCK):
            raise InputError(f"{folder}: contains other files; give an empty folder with --out")
        make_folder(folder)
        _write(folder / LOCK, data)
    elif held.get("hash") != data["hash"]:
        old, new = ({k: v for k, v in one.items() if k != "hash"} for one in (held, data))
        lines = "\n".join(f"  {line}" for line in key_differences(old, new))
        raise InputError(
            f"{folder}: contains another calibration; give another folder with --out\n{lines}"
        )


def open_held_out(folder: Path, fit: str) -> str:
    """Record that the held-out papers are opened for a fit; returns a sentence for the report."""
    held = _read(folder / OPENED)
    fits = list(held["fits"]) if held else []
    if fit not in fits:
        fits.append(fit)
        _write(folder / OPENED, {"fits": fits})
    if len(fits) == 1:
        return "The held-out papers were opened once, after the fit."
    return (
        f"The held-out papers were opened {len(fits)} times, for as many different fits: the "
        "result is not independent of them."
    )


def _write(path: Path, data: Mapping[str, Any]) -> None:
    write_atomically(path, json.dumps(data, indent=1, sort_keys=True) + "\n", durable=True)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        return read_json_object(path)
    except FileNotFoundError:
        return None


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
    tables = {"parameters": outcome.parameters, "check": outcome.check, "scores": outcome.scores}
    tables["people"] = outcome.people
    # Ten digits: the last ones of a sum depend on the libraries of the machine.
    write_csv(folder, tables, float_format="%.10g")
    environment = template_environment(
        "virsci_society.scenarios.calibration", "virsci_society.metrics.report"
    )
    page = environment.get_template("calibration.html").render(
        {name: records(table) for name, table in tables.items()},
        style=style_sheet(environment),
        title=fit.file.calibrate,
        notes=outcome.notes,
        verdicts=verdicts(outcome.people),
        boundary=str(fit.file.boundary_year),
        fitted=", ".join(one.name for one in fit.windows),
        held=fit.file.held_out.name,
        points=len(fit.points),
        accepted=len(fit.posterior.draws),
        nearest=float(fit.distances.min()),
        identified=IDENTIFIED,
    )
    write_html(folder / "report.html", page)
    write_hashes(folder, (path for path in folder.iterdir() if path.is_file()))


def scenario_text(outcome: Outcome, folder: Path) -> str:
    """The calibrated scenario: it extends the base and names the source of each value."""
    calibration, file = outcome.fit.calibration, outcome.fit.file
    base = file.base
    if calibration.base_file is not None:
        base = os.path.relpath(calibration.base_file.resolve(), folder.resolve())
    facts = {k: v for k, v in asdict(calibration.fitted_on).items() if v is not None}
    lines = [
        f"# {file.calibrate}: fitted on {', '.join(one.name for one in outcome.fit.windows)},",
        f"# judged on {file.held_out.name};",
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
            told = row["origin"]
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
