"""Progress: what is going on, on a terminal as a bar, elsewhere as a line now and then."""

from __future__ import annotations

import sys
import time
from collections import Counter
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Protocol, Self, TextIO

if TYPE_CHECKING:
    from society.model import Society

EVERY = 5.0
YEAR = 365


class Progress(Protocol):
    """Who is told how a run goes."""

    def begin(self, phase: str) -> None:
        """A new phase has begun."""

    def step(self, society: Society) -> None:
        """The society has advanced by one period."""

    def wait(self, standing: str) -> None:
        """The society waits for words; told from another thread."""


class Silence:
    """Tells nobody."""

    def begin(self, phase: str) -> None:
        """Nothing."""

    def step(self, society: Society) -> None:
        """Nothing."""

    def wait(self, standing: str) -> None:
        """Nothing."""


class Lines:
    """Plain lines: every phase, and within it one line every few seconds."""

    def __init__(self, stream: TextIO | None = None, every: float = EVERY) -> None:
        self._stream = stream or sys.stderr
        self._every = every
        self._last = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to close."""

    def begin(self, phase: str) -> None:
        """Print the phase."""
        self._print(phase)

    def step(self, society: Society) -> None:
        """Print where the society is, if the last line is old enough."""
        if time.monotonic() - self._last >= self._every:
            self._print(position(society))

    def wait(self, standing: str) -> None:
        """Print how the calls stand, if the last line is old enough."""
        if time.monotonic() - self._last >= self._every:
            self._print(standing)

    def count(self, done: int) -> None:
        """Print how many records have been read, if the last line is old enough."""
        if time.monotonic() - self._last >= self._every:
            self._print(f"{done:,} records read")

    def _print(self, text: str) -> None:
        self._last = time.monotonic()
        print(text, file=self._stream, flush=True)


class Bar:
    """A bar that fills with simulated time."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task: Any = None

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def begin(self, phase: str) -> None:
        """Show the phase, with a bar that only moves."""
        if self._task is not None:
            self._bar.remove_task(self._task)
        self._task = self._bar.add_task(phase, total=None)

    def step(self, society: Society) -> None:
        """Show where the society is."""
        if self._task is not None:
            self._bar.update(
                self._task,
                description=position(society),
                total=society.until,
                completed=society.day,
            )

    def wait(self, standing: str) -> None:
        """Show how the calls stand."""
        if self._task is not None:
            self._bar.update(self._task, description=standing)

    def count(self, done: int) -> None:
        """Show how many records have been read."""
        if self._task is not None:
            self._bar.update(self._task, description=f"{done:,} records read")


def shown_progress() -> Lines | Bar:
    """A bar on a terminal, lines elsewhere."""
    return Bar() if sys.stderr.isatty() else Lines()


def position(society: Society) -> str:
    """Simulated date, teams by state and calls done, in one line."""
    inside = [team for team, _ in society.teams_in_world.values()]
    states = Counter(team.state for team in inside)
    states.update(_states_written(society))
    teams = ", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "none yet"
    day = simulated_date(society.ecosystem.boundary, society.day)
    calls = len(society.log.rows["calls"])
    # Calls become rows when their team ends; until then they are with its answers.
    calls += sum(len(answer.calls) for team in inside for answer in team.answers)
    return f"{day} (day {society.day:.0f} of {society.until:.0f}); teams: {teams}; calls: {calls}"


def _states_written(society: Society) -> Counter[str]:
    from society.tables import TABLES

    place = [column.name for column in TABLES["teams"]].index("state")
    return Counter(str(row[place]) for row in society.log.rows["teams"])


def simulated_date(boundary: int, day: float) -> str:
    """The calendar date of a simulated day; every simulated year has 365 days."""
    years, rest = divmod(int(day), YEAR)
    # 2001 stands for a year without a leap day.
    in_year = date(2001, 1, 1) + timedelta(days=rest)
    return f"{boundary + years:04d}-{in_year:%m-%d}"
