"""The record of beginnings of a run that never ended because its process was killed.

A run that stops cleanly (a signal, the budget, a fault it reports) has ended; a kill, a crash of
the interpreter or a machine that ran out of memory leaves no end. Some runs kill whatever process
does them, so a run that has crashed three times in a row at the same place is put into quarantine.
A run that came clearly further each time was merely unlucky with its machines.
"""

from __future__ import annotations

import os
from itertools import takewhile
from pathlib import Path

from virsci_society.agents.errors import InputError, Stopped
from virsci_society.agents.files.atomic_files import make_folder, open_in_place, open_plain

QUARANTINE = 3
"""A run that has died so many times at one place is not begun again."""
FURTHER = 64
"""Answered calls that two deaths at one place may differ by: what was under way, or not written."""
_BEGUN, _ENDED = "begun", "ended"


def record_begin(folder: Path, owner: str = "") -> None:
    """Note that a run is being begun; call it under the lease.

    Args:
        folder: the run folder; the note lies in ``FOLDER.begun``.
        owner: the process that begins it, for people who look into its crashes.

    Raises:
        Stopped: it cannot be written.
    """
    _note(folder, f"{_BEGUN} {_place(folder)} {' '.join(owner.split())}".rstrip())


def record_end(folder: Path) -> None:
    """Note that the run that was begun last has ended, however it ended.

    Raises:
        Stopped: it cannot be written.
    """
    _note(folder, _ENDED)


def count_begins(folder: Path) -> int:
    """How often the run has been begun since its last clean end.

    Raises:
        Stopped: the log cannot be read.
    """
    return len(_births(folder))


def count_crashes(folder: Path) -> int:
    """How often the run has crashed in a row without coming further; 0 after a clean end.

    Ask under the lease and before ``record_begin``: a run that is under way looks like a crashed
    one.

    Raises:
        Stopped: the log cannot be read.
    """
    births = _births(folder)
    if not births:
        return 0
    # Where a life ended shows where the next one began; the last one ended where the run is now.
    ends = [*births[1:], _place(folder)]
    alike = takewhile(lambda end: abs(end - ends[-1]) <= FURTHER, reversed(ends))
    return sum(1 for _ in alike)


def _births(folder: Path) -> list[int]:
    """Number of kept answers at each beginning of the run since its last clean end."""
    try:
        with open_plain(_file(folder)) as file:
            lines = file.read().decode("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Stopped(f"{_file(folder)}: cannot be read: {error.strerror}") from error
    births: list[int] = []
    for line in lines:
        word, _, rest = line.partition(" ")
        place = rest.partition(" ")[0]
        if word == _BEGUN and place.isdigit():
            births.append(int(place))
        elif word == _ENDED:
            births.clear()
    return births


def _place(folder: Path) -> int:
    """How far a run has come: the number of calls whose answers it has kept."""
    from virsci_society.agents.journal.journal import Journal
    from virsci_society.scenarios.runs.run_journal import JOURNAL

    path = folder / JOURNAL
    if not path.is_file():
        return 0
    try:
        with Journal.open(path, frozen=True, verify=False) as journal:
            return journal.unreplayed
    except InputError:
        return 0  # a kill came before its first table, or it is damaged: the run will say so


def _note(folder: Path, line: str) -> None:
    """Add a line, in one write, so that a kill leaves all of it or nothing."""
    path = _file(folder)
    try:
        make_folder(path.parent, within=path.parent.parent)
        with open_in_place(path, "a+b", within=path.parent.parent, buffering=0) as file:
            file.write(f"{line}\n".encode())
            os.fsync(file.fileno())
    except OSError as error:
        raise Stopped(f"{path}: cannot be written: {error.strerror}") from error


def _file(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.begun")
