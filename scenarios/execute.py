"""Execute: a scenario becomes a run folder.

The manifest is written last, and nothing without one is taken for a finished run. A folder
that already holds this run is left alone; one that holds anything else is never written to.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from agents.errors import InputError, Stopped
from scenarios.ecosystems import Folder
from scenarios.progress import Progress, Silence
from scenarios.runfolder import DIGEST, MANIFEST, SCENARIO, identity_hash, write_run
from scenarios.schema import Scenario


def default_folder(scenario: Scenario) -> Path:
    """``runs/<scenario>-<seed>``, or what the scenario says."""
    if scenario.out is not None:
        return Path(scenario.out)
    name = re.sub(r"[^\w.-]+", "-", scenario.name or "").strip("-.") or "scenario"
    return Path("runs") / f"{name}-{scenario.seed}"


def run(
    scenario: Scenario, out: Path | str | None = None, progress: Progress | None = None
) -> Path:
    """Run a scenario and write its run folder; a folder that holds this run is left alone.

    Args:
        scenario: what to run.
        out: the run folder; ``runs/<scenario>-<seed>`` by default.
        progress: told of every phase, and of the society after every step.

    Returns:
        The run folder.

    Raises:
        InputError: the folder cannot be used, or the scenario's ecosystem cannot.
        Stopped: the backend gave up, or the disk did; nothing that looks finished is left.
    """
    from scenarios.build import build_ecosystem_of, build_society

    folder = default_folder(scenario) if out is None else Path(out)
    if is_finished(scenario, folder):
        return folder
    told = Silence() if progress is None else progress
    if (folder / MANIFEST).is_file():
        told.begin(f"{folder} holds this run until an earlier day; running it again, for longer")
    prepare(scenario, folder)
    told.begin("preparing the ecosystem")
    ecosystem = build_ecosystem_of(scenario)
    told.begin("founding the society")
    society = build_society(scenario, ecosystem)
    told.begin("simulating")
    society.run_to_end(told.step)
    told.begin("measuring and writing")
    try:
        write_run(scenario, society, ecosystem, folder)
    except OSError as error:
        raise Stopped(f"{folder}: cannot be written to: {error.strerror}") from error
    return folder


def is_finished(scenario: Scenario, folder: Path) -> bool:
    """Does the folder hold this very run already?

    Raises:
        InputError: it holds another run, or files of something else.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; give another folder with --out")
    if not folder.is_dir() or not any(folder.iterdir()):
        return False
    if not (folder / MANIFEST).is_file():
        if (folder / SCENARIO).is_file():
            return False
        raise InputError(f"{folder}: holds other files; give another folder with --out")
    held = _manifest(folder / MANIFEST)
    if held.get("identity") != identity_hash(scenario):
        raise InputError(
            f"{folder}: holds a run of another scenario ({held.get('name')}, seed "
            f"{held.get('seed')}, other keys); give another folder with --out"
        )
    if scenario.until < float(held.get("until", 0.0)):
        raise InputError(
            f"{folder}: holds this run until day {held['until']:g}, longer than day "
            f"{scenario.until:g}; give another folder with --out"
        )
    return bool(scenario.until == held.get("until"))


def prepare(scenario: Scenario, folder: Path) -> None:
    """Make sure of the ecosystem's folder and the run's own, before anything is simulated.

    Raises:
        InputError: the one is not there, or the other cannot be written to.
    """
    source = scenario.population.ecosystem
    if isinstance(source, Folder):
        source.require()
    probe = folder / ".writable"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.write_text("", encoding="utf-8")
        probe.unlink()
        for name in (MANIFEST, DIGEST):
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"{folder}: cannot be written to ({error.strerror}); give another folder with --out"
        ) from error


def _manifest(path: Path) -> dict[str, Any]:
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    if not isinstance(held, dict):
        raise InputError(f"{path}: not the manifest of a run")
    return held
