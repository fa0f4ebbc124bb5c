"""Simulations of windows and their measurement, one by one or in worker processes.

A simulation depends on its job alone, so its result is the same in any process. Results come back
in the order of the jobs, whatever the number of workers. Each is appended to a file at once, so
that a calibration that was stopped can go on.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np

from virsci_society.agents.errors import InputError, SocietyError
from virsci_society.agents.files.atomic_files import open_in_place, open_plain
from virsci_society.metrics.networks.team_patterns import pattern_counts, pattern_distance
from virsci_society.metrics.validation.assembly_quantities import (
    SCALARS,
    AssemblyQuantities,
    AuthorHistory,
    assembly_quantities,
)
from virsci_society.metrics.validation.tolerances import TOLERANCES, error_of
from virsci_society.scenarios.calibration import parameters as keys
from virsci_society.scenarios.calibration.calibration_file import CalibrationFile, Window
from virsci_society.scenarios.calibration.corpus import Corpus
from virsci_society.scenarios.calibration.design import Job
from virsci_society.scenarios.calibration.estimation.seats import Leader
from virsci_society.scenarios.config.diagnostics import Diagnostics
from virsci_society.scenarios.config.document import Document, FittedOn
from virsci_society.scenarios.config.outside_code import import_member
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.society.literature.authorships import Authorships
from virsci_society.society.literature.papers import DAYS_PER_YEAR

DISTANCES_OF_DISTRIBUTIONS = tuple(name for name, one in TOLERANCES.items() if one.kind == "KS")
PATTERNS = "m_patterns"
DISTANCES = (*DISTANCES_OF_DISTRIBUTIONS, PATTERNS)
MEASURED = (*SCALARS, *DISTANCES)
"""What is kept of every simulation: quantities, and distances of distributions to the observed."""
AT_ONCE = 8
"""Jobs that go to a worker together."""
SIMULATED = ("founding", "protocol")
"""Sections of the base that a calibration simulates."""


class WindowSimulator(Protocol):
    """A fast simulation of who writes with whom, as ``protocols.assembly_runs`` has one."""

    def simulate(
        self,
        parameters: Mapping[str, float],
        before: Authorships,
        begin: float,
        until: float,
        seed: int,
    ) -> Authorships:
        """The papers of some time.

        Args:
            parameters: values by dotted scenario key.
            before: all earlier papers.
            begin: the first day.
            until: the first day that is not simulated.
            seed: of everything random.

        Returns:
            Papers dated from ``begin`` on and before ``until``, by people of ``before``, who keep
            their numbers, and by newcomers, whose numbers begin at ``before.people``.
        """


def assembly_simulator(base: Scenario, recent: int | None) -> WindowSimulator:
    """The mechanism of a scenario.

    Args:
        base: the scenario.
        recent: only people with a paper in the last so many years may be drawn; None: everybody.

    Raises:
        InputError: its rules need more of a society than its papers.
    """
    from virsci_society.protocols.assembly_runs import AssemblySimulator
    from virsci_society.protocols.wordless import Wordless

    if not isinstance(base.protocol, Wordless):
        raise InputError(
            "the base's protocol is not wordless; calibrate a wordless scenario, and let talking "
            "teams extend the result"
        )
    if base.population.outside_seats is not None:
        raise InputError(
            "population.outside_seats: a calibration simulates everybody who has written, so "
            "nobody is outside; leave it out of the base"
        )
    days = None if recent is None else recent * DAYS_PER_YEAR
    return AssemblySimulator(base.founding, base.protocol, days)


def import_simulator(path: str) -> WindowSimulator:
    """The mechanism of a dotted path ``module:Class``.

    Raises:
        InputError: it cannot be imported.
    """
    try:
        made: WindowSimulator = import_member(path)()
    except TypeError as error:
        raise InputError(f"{path!r} cannot be imported: {error}") from error
    return made


@dataclass(frozen=True, eq=False)
class ObservedWindow:
    """A window of real papers, and what was known before it; day 0 is its first day.

    Attributes:
        name: its years.
        before: the papers before it.
        papers: its papers.
        days: its length.
    """

    name: str
    before: Authorships
    papers: Authorships
    days: float

    @classmethod
    def of(cls, corpus: Corpus, window: Window) -> Self:
        """The window of a corpus."""
        begin = corpus.day(window.first)
        before, papers = corpus.before(window.first), corpus.inside(window)
        return cls(
            window.name,
            before.counted_from(begin),
            papers.counted_from(begin),
            window.years * DAYS_PER_YEAR,
        )

    @cached_property
    def history(self) -> AuthorHistory:
        """Who had written, and with whom."""
        return AuthorHistory.from_papers(self.before.dated())

    @cached_property
    def quantities(self) -> AssemblyQuantities:
        """Of the real papers."""
        return self.measure(self.papers)

    def measure(self, papers: Authorships) -> AssemblyQuantities:
        """Quantities of real or simulated papers of the window."""
        return assembly_quantities(papers.dated(), self.history)

    def resampled(self, rng: np.random.Generator) -> AssemblyQuantities:
        """Quantities of as many of its papers, drawn with replacement."""
        listed = self.papers.dated()
        chosen = np.sort(rng.integers(len(listed), size=len(listed)))
        return assembly_quantities([listed[one] for one in chosen.tolist()], self.history)

    @cached_property
    def patterns(self) -> Counter[tuple[int, str]]:
        """The m-patterns of the real papers (Juul et al. 2024)."""
        return self._patterns_of(self.papers)

    @cached_property
    def observed(self) -> dict[str, float]:
        """Everything in ``MEASURED`` of the real papers; their distances to themselves are 0."""
        return self._compare(self.quantities, self.patterns)

    def values(self, papers: Authorships) -> dict[str, float]:
        """Everything in ``MEASURED`` of real or simulated papers of the window."""
        return self._compare(self.measure(papers), self._patterns_of(papers))

    def measured(self, papers: Authorships) -> list[float]:
        """What is kept of a simulation: the values of ``MEASURED``."""
        values = self.values(papers)
        return [values[name] for name in MEASURED]

    def compare(self, other: ObservedWindow) -> dict[str, float]:
        """Everything in ``MEASURED`` of the real papers of another window."""
        return self._compare(other.quantities, other.patterns)

    def _compare(
        self, found: AssemblyQuantities, patterns: Counter[tuple[int, str]]
    ) -> dict[str, float]:
        values = found.scalars()
        for name in DISTANCES_OF_DISTRIBUTIONS:
            values[name] = error_of(TOLERANCES[name], found, self.quantities)
        values[PATTERNS] = pattern_distance(patterns, self.patterns)
        return values

    def _patterns_of(self, papers: Authorships) -> Counter[tuple[int, str]]:
        years = np.floor(papers.dates / DAYS_PER_YEAR).astype(int).tolist()
        return pattern_counts(zip(years, papers.teams, strict=True), self.before.papers_by_person)


@dataclass(frozen=True, eq=False)
class PreparedCalibration:
    """A calibration file that was checked, with the papers it may use.

    Attributes:
        file: its keys.
        corpus: all papers that may be used.
        simulator: the mechanism of the base scenario, or another one that the file names.
        base: the scenario that is extended.
        base_file: its file; None for one of the library.
        fitted_on: those papers in the words of the calibrated scenario.
        notes: what the report says of how it was made.
        diagnostics: knows the lines of the file.
        settings: ``a.b=c`` of the command, which change the base.
    """

    file: CalibrationFile
    corpus: Corpus
    simulator: WindowSimulator
    base: Scenario
    fitted_on: FittedOn
    base_file: Path | None = None
    notes: tuple[str, ...] = ()
    diagnostics: Diagnostics = field(default_factory=lambda: Diagnostics(Document()))
    settings: tuple[str, ...] = ()

    @property
    def boundary(self) -> int:
        """The year on whose 1 January the calibrated values hold."""
        return self.file.boundary_year

    @property
    def first_held_out(self) -> int:
        """The first year that is held out."""
        return min(one.first for one in self.file.held_out)

    @property
    def counted(self) -> tuple[str, ...]:
        """Keys of the base that are read off, in the order of the table of parameters."""
        named = self.file.read_off
        return tuple(
            key
            for key, one in keys.PARAMETERS.items()
            if one.counted
            and key in self.base_values
            and any(key == name or key.startswith(f"{name}.") for name in named)
        )

    @cached_property
    def base_values(self) -> dict[str, float | None]:
        """Values of the base for those keys that it has; None where it switches one off."""
        return keys.values_of(self.base)

    @property
    def leader(self) -> Leader:
        """Which author is taken for the leader of a real team."""
        if self.file.leader is not None:
            return self.file.leader
        order = getattr(self.base.protocol, "author_order", "leader_last")
        return "first" if order == "leader_first" else "last"

    def base_data(self) -> dict[str, Any]:
        """What of the base decides what is simulated."""
        data = self.base.to_data()
        return {name: data[name] for name in SIMULATED}


class Simulations:
    """Does jobs in some windows; its processes live until it is closed.

    Args:
        simulator: the mechanism; it can be sent to another process.
        windows: those that the jobs' numbers mean.
        workers: processes; 1: this one.
    """

    def __init__(
        self, simulator: WindowSimulator, windows: Sequence[ObservedWindow], workers: int
    ) -> None:
        self.simulator, self.windows, self.workers = simulator, tuple(windows), workers
        self._pool: ProcessPoolExecutor | None = None

    def results(self, jobs: Sequence[Job]) -> Iterator[list[float]]:
        """What every job measures, in their order.

        Raises:
            SocietyError: a worker process died.
        """
        if self.workers <= 1 or len(jobs) < 2:
            yield from (run_job(self.simulator, self.windows, job) for job in jobs)
            return
        # Kept for the next jobs: each process is sent all windows when it starts.
        self._pool = self._pool or self._start()
        try:
            yield from self._pool.map(_do, jobs, chunksize=AT_ONCE)
        except BrokenProcessPool as error:
            raise SocietyError(
                "a worker process died; what was simulated is kept, and the same command resumes it"
            ) from error

    def close(self) -> None:
        """End the processes, and what they have not begun."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True, cancel_futures=True)

    def _start(self) -> ProcessPoolExecutor:
        # Mesa makes "spawn" the way to start a process: nothing of this one is inherited.
        import multiprocessing

        state = self.simulator, self.windows
        spawn = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self.workers, spawn, _begin, state)


def run_job(simulator: WindowSimulator, windows: Sequence[ObservedWindow], job: Job) -> list[float]:
    """Simulate a window and measure it."""
    window = windows[job.window]
    papers = simulator.simulate(job.parameters, window.before, 0.0, window.days, job.seed)
    return window.measured(papers)


_AT_WORK: tuple[WindowSimulator, tuple[ObservedWindow, ...]] | None = None


def _begin(simulator: WindowSimulator, windows: tuple[ObservedWindow, ...]) -> None:
    """Make a worker process ready."""
    global _AT_WORK
    _AT_WORK = simulator, windows


def _do(job: Job) -> list[float]:
    if _AT_WORK is None:
        raise SocietyError("a worker was given a job before it was ready")
    return run_job(*_AT_WORK, job)


LOG = "simulations.jsonl"
Key = tuple[str, int, int, str]
"""Stage, point and window of a simulation, and a hash of its seed and parameters."""


class SimulationLog:
    """The simulations of one calibration.

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
