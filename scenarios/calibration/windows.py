"""Windows of years with their real papers, and simulations of them from the papers before.

Papers after the last year used leave no trace: people are numbered in order of first papers.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from virsci_society.agents.errors import InputError, SocietyError
from virsci_society.agents.files.atomic_files import open_in_place, require_plain
from virsci_society.metrics.networks.team_patterns import pattern_counts, pattern_distance
from virsci_society.metrics.validation.assembly_measures import (
    ASSEMBLY_MEASURES,
    AssemblyMeasures,
    AuthorHistory,
    assembly_measures,
)
from virsci_society.metrics.validation.tolerances import TOLERANCES, error_of
from virsci_society.protocols.assembly_runs import AssemblySimulator
from virsci_society.protocols.wordless import Wordless
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.society.literature.authorships import Authorships
from virsci_society.society.literature.papers import DAYS_PER_YEAR

if TYPE_CHECKING:
    from virsci_society.society.ecosystem.ecosystem import Ecosystem

PATTERNS = "m_patterns"
DISTANCES = (*(name for name, one in TOLERANCES.items() if one.kind == "KS"), PATTERNS)
"""Distances of the distributions of a simulation to the observed ones."""
MEASURED = (*ASSEMBLY_MEASURES, *DISTANCES)
"""What is kept of every simulation."""
AT_ONCE = 8
"""Jobs that go to a worker together."""
Tell = Callable[[str], None]
_YEARS = re.compile(r"^\s*(\d{1,4})\s*(?:-\s*(\d{1,4})\s*)?$")


@dataclass(frozen=True, slots=True)
class Window:
    """Whole calendar years, the last one included."""

    first: int
    last: int

    @classmethod
    def parse(cls, value: Any) -> Window:
        """The window that a file writes as ``2008-2009`` or ``2008``."""
        if isinstance(value, Window):
            return value
        found = None if isinstance(value, bool) else _YEARS.match(str(value))
        if found is None:
            raise ValueError(f"got {value!r}, expected years such as 2008-2009 or 2008")
        first, last = int(found[1]), int(found[2] or found[1])
        if not 1 <= first <= last:
            raise ValueError(f"the years {first}-{last} run backwards")
        return cls(first, last)

    @property
    def years(self) -> int:
        """How many years."""
        return self.last - self.first + 1

    @property
    def name(self) -> str:
        """``2008-2009``, or ``2008``."""
        return f"{self.first}-{self.last}" if self.last > self.first else str(self.first)

    def earlier(self, steps: int = 1) -> Window:
        """The window of the same length, this many lengths before."""
        return Window(self.first - steps * self.years, self.last - steps * self.years)

    def overlaps(self, other: Window) -> bool:
        """Have both a year in common?"""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True, eq=False)
class Corpus:
    """Papers in order of year and id, dated in days since 1 January of an origin year."""

    works: Authorships
    origin: int

    @property
    def first_year(self) -> int:
        """The year of the first paper."""
        return self.origin + round(float(self.works.dates[0]) / DAYS_PER_YEAR)

    def day(self, year: int) -> float:
        """The day of 1 January of a year."""
        return (year - self.origin) * DAYS_PER_YEAR

    def before(self, year: int) -> Authorships:
        """The papers before a year, by people who have one: numbers of later people are unused."""
        early = self.works.between(-np.inf, self.day(year))
        return replace(early, people=int(early.authors.max(initial=-1)) + 1)

    def inside(self, window: Window) -> Authorships:
        """The papers of a window."""
        return self.works.between(self.day(window.first), self.day(window.last + 1))

    def digest(self, first: int | None, end: int) -> str:
        """sha256 of the papers from a year on (None: from the first) and before another one."""
        part = self.works.between(-np.inf if first is None else self.day(first), self.day(end))
        hasher = hashlib.sha256(f"{self.origin}\n".encode())
        # Whole numbers in one order of bytes: the digest is the same on every machine.
        for numbers in (part.dates / DAYS_PER_YEAR, part.starts, part.authors):
            hasher.update(np.asarray(np.round(numbers), dtype="<i8").tobytes())
        return hasher.hexdigest()


def make_corpus(papers: Iterable[tuple[int, str, Sequence[str]]], end: int, where: str) -> Corpus:
    """The corpus of the papers (year, id, authors) before a year, whose 1 January is day 0."""
    # By year and id: sources list papers in any order. An author named twice is one.
    kept = sorted(
        (year, paper, tuple(dict.fromkeys(authors)))
        for year, paper, authors in papers
        if year < end and authors
    )
    if not kept:
        raise InputError(f"{where}: contains no paper with an author before {end}")
    numbers: dict[str, int] = {}
    dated = [
        ((year - end) * DAYS_PER_YEAR, [numbers.setdefault(one, len(numbers)) for one in authors])
        for year, _, authors in kept
    ]
    return Corpus(Authorships.of(dated, len(numbers)), end)


def read_source(kind: str, paths: Sequence[Path], end: int) -> Corpus:
    """The corpus of the papers before a year in the files of a source, such as ``jsonl``."""
    from virsci_society.society.ecosystem.importers.source import open_source

    records = open_source(kind, list(paths))
    papers = ((one.year, one.id, [author.id for author in one.authors]) for one in records)
    return make_corpus(papers, end, ", ".join(path.name for path in paths))


def ecosystem_corpus(ecosystem: Ecosystem, end: int) -> Corpus:
    """The corpus of an ecosystem's past papers before a year."""
    table = ecosystem.past.table.select(["year", "id", "authors"])
    columns = (table[name].to_pylist() for name in ("year", "id", "authors"))
    return make_corpus(zip(*columns, strict=True), end, "the ecosystem")


@dataclass(frozen=True, eq=False)
class ObservedWindow:
    """A window of real papers, and what was known before it; day 0 is its first day."""

    name: str
    before: Authorships
    papers: Authorships
    days: float

    @classmethod
    def of(cls, corpus: Corpus, window: Window) -> Self:
        """The window of a corpus."""
        begin = corpus.day(window.first)
        before, papers = corpus.before(window.first), corpus.inside(window)
        parts = (before.counted_from(begin), papers.counted_from(begin))
        return cls(window.name, *parts, window.years * DAYS_PER_YEAR)

    @cached_property
    def history(self) -> AuthorHistory:
        """Who had written, and with whom."""
        return AuthorHistory.from_papers(self.before.dated())

    @cached_property
    def measures(self) -> AssemblyMeasures:
        """Of the real papers."""
        return assembly_measures(self.papers.dated(), self.history)

    @cached_property
    def patterns(self) -> Counter[tuple[int, str]]:
        """The m-patterns of the real papers (Juul et al. 2024)."""
        return self._patterns_of(self.papers)

    def values(self, papers: Authorships) -> dict[str, float]:
        """``MEASURED`` of simulated papers of the window."""
        found = assembly_measures(papers.dated(), self.history)
        return self.compare(found, self._patterns_of(papers))

    def compare(
        self, found: AssemblyMeasures, patterns: Counter[tuple[int, str]]
    ) -> dict[str, float]:
        """``MEASURED`` for other papers, or for another window."""
        values = found.numbers()
        for name in DISTANCES[:-1]:
            values[name] = error_of(TOLERANCES[name], found, self.measures)
        values[PATTERNS] = pattern_distance(patterns, self.patterns)
        return values

    def _patterns_of(self, papers: Authorships) -> Counter[tuple[int, str]]:
        years = np.floor(papers.dates / DAYS_PER_YEAR).astype(int).tolist()
        return pattern_counts(zip(years, papers.teams, strict=True), self.before.papers_by_person)


def assembly_simulator(base: Scenario) -> AssemblySimulator:
    """The mechanism of a scenario; InputError where it needs more of a society than papers."""
    if not isinstance(base.protocol, Wordless):
        raise InputError(
            "the base's protocol is not wordless; calibrate a wordless scenario, and let talking "
            "teams extend the result"
        )
    if base.population.external_authors is not None:
        raise InputError(
            "population.external_authors: a calibration simulates every author, so there are "
            "no external authors; leave it out of the base"
        )
    return AssemblySimulator(base.founding, base.protocol)


@dataclass(frozen=True, slots=True)
class Job:
    """One simulation of one window."""

    stage: str
    point: int
    window: int
    seed: int
    parameters: Mapping[str, float]


def run_job(
    simulator: AssemblySimulator, windows: Sequence[ObservedWindow], job: Job
) -> list[float]:
    """Simulate a window and measure it; the result depends on the job alone."""
    window = windows[job.window]
    papers = simulator.simulate(job.parameters, window.before, 0.0, window.days, job.seed)
    return [*window.values(papers).values()]


LOG = "simulations.jsonl"
Key = tuple[str, int, int, str]
"""Stage, point and window of a simulation, and a hash of its seed and parameters."""


def _key(job: Job) -> Key:
    what = json.dumps([job.seed, sorted(job.parameters.items())])
    return job.stage, job.point, job.window, hashlib.sha256(what.encode()).hexdigest()[:16]


class Simulations:
    """The simulations of one calibration, each logged at once, so that a stop loses none."""

    def __init__(self, folder: Path, simulator: AssemblySimulator, workers: int = 1) -> None:
        self.path, self.simulator, self.workers = folder / LOG, simulator, workers
        self.known: dict[Key, list[float]] = {}
        self._pool: ProcessPoolExecutor | None = None
        self._windows: tuple[ObservedWindow, ...] = ()
        length = 0
        for end, key, values in _read(self.path):
            length, self.known[key] = end, values
        if self.path.exists() and self.path.stat().st_size > length:
            # A line cut off by a kill must not precede the next one.
            with open_in_place(self.path, "r+b") as file:
                file.truncate(length)

    def measured(
        self, jobs: Sequence[Job], windows: Sequence[ObservedWindow], tell: Tell
    ) -> list[list[float]]:
        """The measurements of every job in its window; logged results are not simulated again."""
        missing = [job for job in jobs if _key(job) not in self.known]
        if missing:
            name = missing[0].stage.replace("_", " ")
            tell(f"{name}: {len(missing):,} simulations")
            results = self._results(missing, tuple(windows))
            with open_in_place(self.path, "a") as file:
                for done, (job, values) in enumerate(zip(missing, results, strict=True), 1):
                    content = json.dumps([*_key(job), values])
                    file.write(f"{zlib.crc32(content.encode()):08x} {content}\n")
                    file.flush()
                    self.known[_key(job)] = values
                    if done % 100 == 0:
                        tell(f"{name}: {done:,} of {len(missing):,}")
        return [self.known[_key(job)] for job in jobs]

    def _results(
        self, jobs: Sequence[Job], windows: tuple[ObservedWindow, ...]
    ) -> Iterator[list[float]]:
        if self.workers <= 1 or len(jobs) < 2:
            yield from (run_job(self.simulator, windows, job) for job in jobs)
            return
        if self._pool is None or self._windows != windows:
            # Mesa sets "spawn" as the start method: nothing of this process is inherited.
            import multiprocessing

            self.close()
            spawn, state = multiprocessing.get_context("spawn"), (self.simulator, windows)
            # Kept for the next jobs: each process is sent all windows when it starts.
            self._pool = ProcessPoolExecutor(self.workers, spawn, _begin, state)
            self._windows = windows
        try:
            yield from self._pool.map(_do, jobs, chunksize=AT_ONCE)
        except BrokenProcessPool as error:
            raise SocietyError(
                "a worker process died; what was simulated is kept, and the same command resumes it"
            ) from error

    def close(self) -> None:
        """End the processes and their queue; the next simulation starts new ones."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True, cancel_futures=True)


_AT_WORK: list[Any] = []
"""Simulator and windows of a worker process."""


def _begin(simulator: AssemblySimulator, windows: tuple[ObservedWindow, ...]) -> None:
    _AT_WORK[:] = simulator, windows


def _do(job: Job) -> list[float]:
    return run_job(_AT_WORK[0], _AT_WORK[1], job)


def _read(path: Path) -> Iterator[tuple[int, Key, list[float]]]:
    """Every valid line, with the length of the file up to its end."""
    try:
        with require_plain(path).open("rb") as file:
            lines = file.read().splitlines(keepends=True)
    except FileNotFoundError:
        return
    length = 0
    for number, line in enumerate(lines, 1):
        valid = line.endswith(b"\n") and line[:8] == b"%08x" % zlib.crc32(line[9:-1])
        if not valid and number < len(lines):
            raise InputError(
                f"{path}:{number}: this line was changed after it was written; remove the folder "
                "and calibrate again"
            )
        if not valid:
            return
        length += len(line)
        stage, point, window, drawn, values = json.loads(line[9:])
        yield length, (stage, point, window, drawn), values
