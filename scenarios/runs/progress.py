"""The progress of a run, shown as a bar on a terminal and as lines elsewhere.

The society reports every step of its clock. The clock stands still while a run waits for a model,
for a minute when the model is slow and for an hour when its provider is down; so a thread of its
own reports what is waited for.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Protocol, Self, TextIO

if TYPE_CHECKING:
    from society.model import Society

EVERY = 5.0
REPEAT = 60.0
"""Seconds after which a line about waiting is printed again although nothing has changed."""
YEAR = 365


class Progress(Protocol):
    """Takes reports on how a run goes, and shows them."""

    def begin(self, phase: str) -> None:
        """A new phase has begun."""

    def step(self, society: Society) -> None:
        """The society has advanced by one period."""

    def wait(self, standing: str) -> None:
        """The society waits for replies of a model; called from another thread."""


class NoProgress:
    """Shows nothing."""

    def begin(self, phase: str) -> None:
        """Nothing."""

    def step(self, society: Society) -> None:
        """Nothing."""

    def wait(self, standing: str) -> None:
        """Nothing."""


class LineProgress:
    """Plain lines: every phase, and within a phase one line every few seconds.

    Args:
        stream: where they are printed; stderr by default.
        every: least seconds between two lines of a phase.
    """

    def __init__(self, stream: TextIO | None = None, every: float = EVERY) -> None:
        self._stream = stream or sys.stderr
        self._every = every
        self._last = time.monotonic()
        self._waiting = ""

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
            self._print(progress_line(society))

    def wait(self, standing: str) -> None:
        """Print the state of the calls, if the last line is old enough.

        A state that has not changed is printed every minute only: people take hours to answer.
        """
        least = max(self._every, REPEAT) if standing == self._waiting else self._every
        if time.monotonic() - self._last >= least:
            self._waiting = standing
            self._print(standing)

    def count(self, done: int) -> None:
        """Print how many records have been read, if the last line is old enough."""
        if time.monotonic() - self._last >= self._every:
            self._print(f"{done:,} records read")

    def _print(self, text: str) -> None:
        self._last = time.monotonic()
        print(text, file=self._stream, flush=True)


class BarProgress:
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
                description=progress_line(society),
                total=society.until,
                completed=society.day,
            )

    def wait(self, standing: str) -> None:
        """Show the state of the calls."""
        if self._task is not None:
            self._bar.update(self._task, description=standing)

    def count(self, done: int) -> None:
        """Show how many records have been read."""
        if self._task is not None:
            self._bar.update(self._task, description=f"{done:,} records read")


def make_progress() -> LineProgress | BarProgress:
    """A bar on a terminal, lines elsewhere."""
    return BarProgress() if sys.stderr.isatty() else LineProgress()


def progress_line(society: Society) -> str:
    """Simulated date, teams by state and calls done, in one line."""
    inside = list(society.world.teams.values())
    states = Counter(team.state for team in inside)
    states.update(_states_written(society))
    teams = ", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "none yet"
    day = simulated_date(society.ecosystem.boundary, society.day)
    calls = len(society.log.rows["calls"])
    # Calls become rows when their team ends; until then they are with its answers.
    calls += sum(len(answer.calls) for team in inside for answer in team.answers)
    return f"{day} (day {society.day:.0f} of {society.until:.0f}); teams: {teams}; calls: {calls}"


def _states_written(society: Society) -> Counter[str]:
    from society.results.tables import TABLES

    place = [column.name for column in TABLES["teams"]].index("state")
    return Counter(str(row[place]) for row in society.log.rows["teams"])


def simulated_date(boundary: int, day: float) -> str:
    """The calendar date of a simulated day; every simulated year has 365 days."""
    years, rest = divmod(int(day), YEAR)
    # 2001 stands for a year without a leap day.
    in_year = date(2001, 1, 1) + timedelta(days=rest)
    return f"{boundary + years:04d}-{in_year:%m-%d}"


@contextmanager
def report_waiting(society: Society, progress: Progress, every: float = EVERY) -> Iterator[None]:
    """Report the state of the calls every few seconds within this block, from a thread of its own.

    Args:
        society: its gateway is asked for the state of the calls.
        progress: takes the reports.
        every: seconds between two reports.
    """
    gateway = society.dispatcher.gateway
    if gateway.inline:
        yield
        return
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(every):
            if not gateway.shut:
                date = f"day {society.day:.0f} of {society.until:.0f}"
                progress.wait(f"{date}; {gateway.status_line()}")

    thread = threading.Thread(target=watch, name="watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
