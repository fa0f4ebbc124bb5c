"""The file to which every simulation is appended, so that a stopped calibration can go on.

One line per simulation, each with a check sum. A line that was cut short by a stop is dropped and
simulated again; so is one of other parameters, which another release has drawn.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import open_in_place, open_plain
from virsci_society.scenarios.calibration.design import Job

LOG = "simulations.jsonl"
Key = tuple[str, int, int, str]
"""Stage, point and window of a simulation, and a hash of its seed and parameters."""


class SimulationLog:
    """The simulations of one calibration.

    Args:
        folder: of the calibration.

    Raises:
        InputError: a line before the last one is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / LOG
        self._known: dict[Key, list[float]] = {}
        length = 0
        for end, key, values in _read(self.path):
            length, self._known[key] = end, values
        if self.path.exists() and self.path.stat().st_size > length:
            # What a kill has left of a line must not stand before the next one.
            with open_in_place(self.path, "r+b") as file:
                file.truncate(length)

    def __len__(self) -> int:
        return len(self._known)

    def find(self, job: Job) -> list[float] | None:
        """What a job measured; None where it was not done."""
        return self._known.get(_key(job))

    def append(self, jobs: Sequence[Job], results: Iterator[list[float]]) -> Iterator[Job]:
        """Write results as they come, each before the next one is waited for.

        Args:
            jobs: those that are done, in order.
            results: of each.

        Yields:
            Each job when its line is written.
        """
        with open_in_place(self.path, "a") as file:
            for job, values in zip(jobs, results, strict=True):
                key = _key(job)
                file.write(_line(key, values))
                file.flush()
                self._known[key] = values
                yield job


def _key(job: Job) -> Key:
    what = json.dumps([job.seed, sorted(job.parameters.items())])
    return job.stage, job.point, job.window, hashlib.sha256(what.encode()).hexdigest()[:16]


def _line(key: Key, values: Sequence[float]) -> str:
    content = json.dumps([*key, list(values)])
    return f"{zlib.crc32(content.encode()):08x} {content}\n"


def _read(path: Path) -> Iterator[tuple[int, Key, list[float]]]:
    """Every whole line with the length of the file up to its end."""
    try:
        with open_plain(path) as file:
            lines = file.read().splitlines(keepends=True)
    except FileNotFoundError:
        return
    length = 0
    for number, line in enumerate(lines, 1):
        sound = line.endswith(b"\n") and line[:8] == b"%08x" % zlib.crc32(line[9:-1])
        if not sound and number < len(lines):
            raise InputError(
                f"{path}:{number}: this line was changed after it was written; remove the folder "
                "and calibrate again"
            )
        if not sound:
            return
        length += len(line)
        stage, point, window, drawn, values = json.loads(line[9:])
        yield length, (stage, point, window, drawn), values
