"""The file to which every simulation is appended, so that a stopped calibration can go on.

One line per simulation, each with a check sum. A line that was cut short by a stop is dropped and
simulated again.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from agents.errors import InputError
from scenarios.calibration.design import Job

LOG = "simulations.jsonl"
Key = tuple[str, int, int]
"""Stage, point and window of a simulation."""


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
            with self.path.open("rb+") as file:
                file.truncate(length)

    def __len__(self) -> int:
        return len(self._known)

    def find(self, job: Job) -> list[float] | None:
        """What a job measured; None where it was not done."""
        return self._known.get((job.stage, job.point, job.window))

    def append(self, jobs: Sequence[Job], results: Iterator[list[float]]) -> Iterator[Job]:
        """Write results as they come, each before the next one is waited for.

        Args:
            jobs: those that are done, in order.
            results: of each.

        Yields:
            Each job when its line is written.
        """
        with self.path.open("a", encoding="utf-8") as file:
            for job, values in zip(jobs, results, strict=True):
                key = (job.stage, job.point, job.window)
                file.write(_line(key, values))
                file.flush()
                self._known[key] = values
                yield job


def _line(key: Key, values: Sequence[float]) -> str:
    content = json.dumps([*key, list(values)])
    return f"{zlib.crc32(content.encode()):08x} {content}\n"


def _read(path: Path) -> Iterator[tuple[int, Key, list[float]]]:
    """Every whole line with the length of the file up to its end."""
    try:
        lines = path.read_bytes().splitlines(keepends=True)
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
        stage, point, window, values = json.loads(line[9:])
        yield length, (stage, point, window), values
