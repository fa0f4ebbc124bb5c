"""The result of one run of a study, with its state, its cost and its measures.

It is one file beside the run folder, ``runs/0007.result.json``, which whoever does the run writes
twice under its lease: when the run begins its own work, and when it has ended, however it ended. So
a result that says ``running`` and that nobody holds a lease of is that of a run whose process was
killed. Some runs kill whatever process does them: after three deaths in a row at the same place a
run is put into quarantine.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal

from virsci_society.agents.errors import BudgetReached, InputError, Stopped, disk_errors_as
from virsci_society.agents.files.atomic_files import make_folder, write_atomically
from virsci_society.agents.files.file_hashes import signed, unsigned
from virsci_society.agents.files.json_files import read_json_object

State = Literal["waiting", "running", "done", "failed", "stopped", "quarantined"]
STATES: tuple[State, ...] = ("waiting", "running", "done", "failed", "stopped", "quarantined")
ENDED = ("done", "quarantined")
"""What the same command does not begin again."""
DECIDED = ("failed", "quarantined")
PARTIAL = 3
"""Exit code: some runs failed, and all others are done."""
QUARANTINE = 3
"""A run that has died so many times at one place is not begun again."""
FURTHER = 64
"""Answered calls that two deaths at one place may differ by: what was under way, or not written."""


@dataclass(frozen=True)
class RunResult:
    """The result of one run.

    Attributes:
        tokens: spent.
        usd: spent, in US dollars.
        boundary: the calendar year of day 0; None where it is not done.
        measures: by their names, NaN where the run does not have one.
    """

    index: int
    arm: str
    replicate: int
    seed: int
    state: State = "waiting"
    reason: str = ""
    code: int = 0
    details: str = ""
    died_at: tuple[int, ...] = ()
    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    digest: str = ""
    boundary: int | None = None
    measures: Mapping[str, float] = field(default_factory=dict)

    @property
    def deaths(self) -> int:
        """How often it has killed its process in a row without coming further."""
        last = self.died_at[-1:]
        alike = takewhile(lambda at: abs(at - last[0]) <= FURTHER, reversed(self.died_at))
        return sum(1 for _ in alike)

    def to_data(self) -> dict[str, Any]:
        """Plain data for JSON; NaN becomes null."""
        measures = {
            name: value if math.isfinite(value) else None for name, value in self.measures.items()
        }
        return {**asdict(self), "died_at": list(self.died_at), "measures": measures}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> RunResult:
        """A result from plain data."""
        try:
            made = cls(
                **{
                    **data,
                    "died_at": tuple(map(int, data.get("died_at", ()))),
                    "measures": {
                        str(name): math.nan if value is None else float(value)
                        for name, value in data.get("measures", {}).items()
                    },
                }
            )
        except (TypeError, ValueError, AttributeError) as error:
            raise InputError(f"not the result of a run: {error}") from error
        if made.state not in STATES:
            raise InputError(f"not the result of a run: state {made.state!r}")
        return made


def folder_of(study: Path, index: int) -> Path:
    """The run folder of an index."""
    return study / "runs" / f"{index:04d}"


def result_file(study: Path, index: int) -> Path:
    """The path of the result of a run."""
    return study / "runs" / f"{index:04d}.result.json"


def read_result(study: Path, index: int) -> RunResult | None:
    """The result of a run; None if it was never begun."""
    path = result_file(study, index)
    try:
        return RunResult.from_data(unsigned(read_json_object(path)))
    except FileNotFoundError:
        return None
    except (ValueError, InputError) as error:
        raise InputError(f"{path}: cannot be read ({error}); delete it, and run again") from error


def write_result(study: Path, result: RunResult) -> None:
    """Write a result, whole or not at all."""
    write_text(result_file(study, result.index), json.dumps(signed(result.to_data())) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file of a study, whole or not at all; several processes may write the same one."""
    with disk_errors_as(Stopped, f"{path}: cannot be written"):
        make_folder(path.parent)
        write_atomically(path, text, durable=True, shared=True)


def measure_run_folder(folder: Path, names: Iterable[str]) -> dict[str, float]:
    """The measures of a finished run folder; NaN where the run does not have one."""
    from virsci_society.metrics.registry import measure_run
    from virsci_society.society.results.run import Run

    return measure_run(Run.open(folder), names)


def exit_code(results: Iterable[RunResult]) -> int:
    """The exit code of a study: 0 all done, 5 or 4 to be resumed, 3 some have failed."""
    every = list(results)
    open_ones = [one for one in every if one.state in ("waiting", "running", "stopped")]
    if any(one.code != BudgetReached.exit_code for one in open_ones):
        return Stopped.exit_code
    if open_ones:
        return BudgetReached.exit_code
    return PARTIAL if any(one.state != "done" for one in every) else 0


def describe_result(study: Path, one: RunResult) -> str:
    """A run that is not done, in one line: which run, why, and where more of it stands."""
    where = f"; more in {result_file(study, one.index)}" if one.details else ""
    why = f": {one.reason}" if one.reason else ""
    return f"run {one.index:04d} ({one.arm}, replicate {one.replicate}) {one.state}{why}{where}"
