"""Status files of a study, with the state of each run, its measures, its log and its beginnings.

``runs/0007.status.json`` has one line for a failure. ``runs/0007.log`` has the traceback of a fault
of the program, and how a process ended that was killed; a run without failures has no log.
``runs/0007.measures.json`` keeps the measures, so that gathering need not open the run.
``runs/0007.begun`` notes each beginning. A run that stops cleanly has ended; a kill, or a machine
that ran out of memory, leaves no end. Some runs kill whatever process does them, so one that has
crashed three times in a row at the same place is put into quarantine.
"""

from __future__ import annotations

import json
import math
import os
import signal
import traceback
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal

from virsci_society.agents.errors import (
    BudgetReached,
    Diverged,
    InputError,
    SocietyError,
    Stopped,
    disk_errors_as,
)
from virsci_society.agents.files.atomic_files import (
    make_folder,
    open_in_place,
    open_plain,
    read_plain_text,
    write_atomically,
)
from virsci_society.agents.files.file_hashes import signed, unsigned
from virsci_society.agents.redaction import redact
from virsci_society.scenarios.terminal.arguments import tell
from virsci_society.scenarios.terminal.console import print_table

State = Literal["waiting", "running", "done", "failed", "stopped", "quarantined"]
STATES: tuple[State, ...] = ("waiting", "running", "done", "failed", "stopped", "quarantined")
ENDED = ("done", "quarantined")
"""What the same command does not begin again."""
DECIDED = ("failed", "quarantined")
MOST = 20
"""Arms, and runs that are not done, that are shown one by one."""
PARTIAL = 3
"""Exit code: some runs failed, and all others are done."""


@dataclass(frozen=True)
class Status:
    """The state of one run.

    Attributes:
        index: of the run; arm * replicates + replicate.
        arm: its name.
        replicate: from 0.
        seed: of the run.
        state: ``stopped`` runs are resumed by the same command, ``failed`` ones tried again.
        reason: why it is not done.
        code: exit code of that reason; 0 where there is none.
        deaths: how often it has killed its process in a row.
        calls: answers that its journal holds.
        tokens: spent.
        usd: spent, in US dollars.
        digest: of what happened; empty where it is not done.
        boundary: the calendar year of day 0; None where it is not done.
    """

    index: int
    arm: str
    replicate: int
    seed: int
    state: State = "waiting"
    reason: str = ""
    code: int = 0
    deaths: int = 0
    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    digest: str = ""
    boundary: int | None = None

    def to_data(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Status:
        """A status from plain data.

        Raises:
            InputError: the data is no status.
        """
        try:
            made = cls(**data)
        except TypeError as error:
            raise InputError(f"not the status of a run: {error}") from error
        if made.state not in STATES:
            raise InputError(f"not the status of a run: state {made.state!r}")
        return made


def folder_of(study: Path, index: int) -> Path:
    """The run folder of an index."""
    return study / "runs" / f"{index:04d}"


def status_file(study: Path, index: int) -> Path:
    """The path of the status of a run."""
    return study / "runs" / f"{index:04d}.status.json"


def read_status(study: Path, index: int) -> Status | None:
    """The status of a run; None if it was never begun.

    Raises:
        InputError: its file is damaged.
    """
    path = status_file(study, index)
    try:
        return Status.from_data(unsigned(json.loads(read_plain_text(path, within=study))))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError, TypeError, InputError) as error:
        raise InputError(f"{path}: cannot be read ({error}); delete it, and run again") from error


def write_status(study: Path, status: Status) -> None:
    """Write a status, whole or not at all.

    Raises:
        Stopped: it cannot be written.
    """
    write_text(status_file(study, status.index), json.dumps(signed(status.to_data())) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file of a study, whole or not at all; several processes may write the same one.

    Raises:
        Stopped: it cannot be written.
    """
    with disk_errors_as(Stopped, f"{path}: cannot be written"):
        make_folder(path.parent, within=path.parent.parent)
        write_atomically(path, text, within=path.parent.parent, shared=True)


def exit_code(statuses: Iterable[Status]) -> int:
    """The exit code of a study: 0 all done, 5 or 4 to be resumed, 3 some have failed."""
    every = list(statuses)
    open_ones = [one for one in every if one.state in ("waiting", "running", "stopped")]
    if any(one.code != BudgetReached.exit_code for one in open_ones):
        return Stopped.exit_code
    if open_ones:
        return BudgetReached.exit_code
    return PARTIAL if any(one.state != "done" for one in every) else 0


def exit_code_of(error: BaseException) -> int:
    """The exit code of an error; 1 for a fault of the program."""
    known = (InputError, Stopped, Diverged)
    return error.exit_code if isinstance(error, known) else 1


def log_file(study: Path, index: int) -> Path:
    """The path of the log of a run."""
    return folder_of(study, index).with_suffix(".log")


def append_log(study: Path, index: int, text: str) -> None:
    """Add a text without secrets to the log of a run; errors of the disk are passed over."""
    path = log_file(study, index)
    with suppress(OSError):
        make_folder(path.parent, within=study)
        with open_in_place(path, "a", within=study) as file:
            file.write(redact(text).rstrip() + "\n")


def log_error(study: Path, index: int, error: BaseException) -> None:
    """Add an error to the log: the message of one of ours, the traceback of any other."""
    ours = isinstance(error, SocietyError)
    append_log(study, index, str(error) if ours else "".join(traceback.format_exception(error)))


def log_crash(study: Path, index: int, code: int | None) -> None:
    """Add to the log how the process of a run ended before the run did.

    Args:
        study: its folder.
        index: of the run.
        code: exit code of the process; below zero it was a signal.
    """
    how = f"exit code {code}"
    if code is not None and code < 0:
        with suppress(ValueError):
            how = signal.Signals(-code).name
    hint = "; so ends what takes more memory than there is" if how == "SIGKILL" else ""
    append_log(study, index, f"its process ended before it did: {how}{hint}")


def describe_status(study: Path, one: Status) -> str:
    """A run that is not done, in one line: which run, why, and where its log is."""
    place = log_file(study, one.index)
    where = f"; log: {place}" if place.is_file() else ""
    why = f": {one.reason}" if one.reason else ""
    return f"run {one.index:04d} ({one.arm}, replicate {one.replicate}) {one.state}{why}{where}"


def print_statuses(folder: Path, found: Sequence[Status]) -> None:
    """Print how many runs of each arm are in which state, and why some are not done."""
    shown = [state for state in STATES if any(one.state == state for one in found)]
    arms = dict.fromkeys(one.arm for one in found)
    counts = Counter((one.arm, one.state) for one in found)
    rows = [(arm, *(str(counts[arm, state]) for state in shown)) for arm in arms]
    tell(f"{folder}: {len(found)} runs")
    print_table("runs by arm", ("arm", *shown), rows)
    _print_said(folder, found, err=False)
    tokens, usd = sum(one.tokens for one in found), math.fsum(one.usd for one in found)
    if tokens or usd:
        tell(f"spent: {tokens:,} tokens, {usd:.4f} US dollars")


def print_ends(folder: Path, found: Sequence[Status]) -> None:
    """Print, as an error, which runs are not done, why, and what the same command would do."""
    _print_said(folder, found, err=True)
    counts = Counter(one.state for one in found if one.state != "done")
    counted = ", ".join(f"{count} {state}" for state, count in counts.items())
    open_ones = sum(count for state, count in counts.items() if state not in DECIDED)
    effects = [
        *(["resumes it"] if open_ones else []),
        *(["tries those that failed again"] if counts["failed"] else []),
        *(["begins those in quarantine with --again"] if counts["quarantined"] else []),
    ]
    line = f"of {len(found)} runs, {counted}; the same command {' and '.join(effects)}"
    tell(line, err=True)


def _print_said(folder: Path, found: Sequence[Status], *, err: bool) -> None:
    said = [one for one in found if one.reason and one.state != "done"]
    for one in said[:MOST]:
        tell(describe_status(folder, one), err=err)
    if len(said) > MOST:
        tell(f"... and {len(said) - MOST} more; 'society study status --json' has all", err=err)


def measure_run_folder(folder: Path, names: Iterable[str]) -> dict[str, float]:
    """The measures of a finished run folder; NaN where the run does not have one."""
    from virsci_society.metrics.scalars.measures import measure_run
    from virsci_society.society.results.run import Run

    return measure_run(Run.open(folder), names)


def read_run_measures(study: Path, index: int) -> dict[str, float]:
    """The measures of a run that were kept; none where there is no file of them.

    Raises:
        InputError: the file is damaged.
    """
    path = measures_file(study, index)
    try:
        stored = unsigned(json.loads(read_plain_text(path, within=study)))
        return {
            str(name): math.nan if value is None else float(value) for name, value in stored.items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path}: cannot be read ({error}); delete it: it is made again from the run"
        ) from error


def write_run_measures(study: Path, index: int, values: dict[str, float]) -> None:
    """Keep the measures of a run beside its folder; NaN becomes null."""
    stored = {name: value if math.isfinite(value) else None for name, value in values.items()}
    write_text(measures_file(study, index), json.dumps(signed(stored)) + "\n")


def measures_file(study: Path, index: int) -> Path:
    """The path of the measures of a run."""
    return study / "runs" / f"{index:04d}.measures.json"


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
    with disk_errors_as(Stopped, f"{path}: cannot be written"):
        make_folder(path.parent, within=path.parent.parent)
        with open_in_place(path, "a+b", within=path.parent.parent, buffering=0) as file:
            file.write(f"{line}\n".encode())
            os.fsync(file.fileno())


def _file(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.begun")
