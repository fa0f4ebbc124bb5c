"""The folder of a study, prepared before a run and checked before it is gone on with.

::

    study.yaml  base.yaml  lock.json
    runs/0000/  runs/0000.status.json  runs/0000.measures.json  ...
    study.json  runs.parquet  results.parquet  tables/*.parquet  report.html  report/
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import read_plain_text, refuse_links
from virsci_society.agents.gateway.attempt import Budget
from virsci_society.scenarios.config.yaml_io import read_yaml, write_yaml
from virsci_society.scenarios.runs.identity import NUMBER, require_identity
from virsci_society.scenarios.study.design import Design
from virsci_society.scenarios.study.execution.lease import is_abandoned
from virsci_society.scenarios.study.lock import (
    LEVELS,
    LOCK,
    Lock,
    differences,
    make_lock,
    read_lock,
    write_lock,
)
from virsci_society.scenarios.study.status import Status, folder_of, read_status, write_text
from virsci_society.scenarios.study.study_file import STUDY, about_of

BASE = "base.yaml"
CUT_OFF = "no process works on it now; the same command goes on with it"
"""Why a run is told as stopped whose process was killed."""


def open_folder(design: Design, folder: Path, by: str = "run") -> Lock:
    """Make the folder of a study, or check that an existing one is of this very study.

    Args:
        design: checked.
        folder: where.
        by: the command that writes the lock, if there is none: ``lock`` or ``run``.

    Returns:
        The lock that holds.

    Raises:
        InputError: it holds another study, whose difference is named, or something else.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; give another folder with --out")
    refuse_links(folder, LEVELS)
    held = read_lock(folder)
    if held is not None:
        require_identity(held.data.get(NUMBER), folder, "going on with it")
    wanted = make_lock(design, by, held)
    if held is None and folder.is_dir() and any(folder.iterdir()) and not _ours(folder):
        raise InputError(f"{folder}: holds other files; give another folder with --out")
    if held is not None and (changes := differences(held, wanted)):
        lines = "\n".join(f"  {line}" for line in changes)
        raise InputError(
            f"{folder}: was locked for another study:\n{lines}\n"
            "go on with what it was locked for, or give another folder with --out"
        )
    for name, text in (
        (BASE, _base_text(design)),
        (STUDY, _study_text(design)),
    ):
        path = folder / name
        if not path.is_file() or read_plain_text(path) != text:
            write_text(path, text)
    if held is None:
        write_lock(folder, wanted)
    return held or wanted


def read_statuses(folder: Path, lock: Lock) -> list[Status]:
    """The status of every run, in the order of the index."""
    return [read_status(folder, index) or lock.waiting(index) for index in range(lock.runs)]


def statuses_to_show(folder: Path, lock: Lock) -> list[Status]:
    """The same for people to look at: a run whose process was killed is told as stopped."""
    return [
        replace(one, state="stopped", reason=CUT_OFF)
        if one.state == "running" and is_abandoned(folder_of(folder, one.index))
        else one
        for one in read_statuses(folder, lock)
    ]


def _ours(folder: Path) -> bool:
    """Does the folder hold only files that a command killed before its lock can have left?"""
    known = (BASE, STUDY, LOCK)
    return all(path.name.startswith(known) for path in folder.iterdir())


def _base_text(design: Design) -> str:
    data = design.base.to_data()
    data["out"] = None
    return (
        "# The scenario that every arm of the study beside this file starts from, every key with\n"
        "# its value.\n" + write_yaml(data)
    )


def _study_text(design: Design) -> str:
    data: dict[str, Any] = {**design.file.model_dump(mode="json"), "base": BASE, "set": {}}
    data["arms"] = {key: one for key, one in data["arms"].items() if one is not None}
    about = about_of(design.path) or design.file.study
    head = f"# {about}.\n# As it is run: 'society study run' of this folder goes on with it.\n"
    return head + write_yaml(data)


def unfinished_runs(statuses: Sequence[Status]) -> list[int]:
    """Indices of the runs that the same command would begin, or go on with."""
    return [one.index for one in statuses if one.state not in ("done", "quarantined")]


def read_budget(study: Path) -> Budget | None:
    """The budget of all runs of a study together; None: each has its scenario's own budget."""
    data = read_yaml(study / STUDY).data.get("budget")
    return None if data is None else Budget.model_validate(data)
