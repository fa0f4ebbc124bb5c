"""The progress of a run, as a bar on a terminal and as plain lines now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from typing import TYPE_CHECKING, Self, TextIO

from virsci_society.agents.spelling import printable
from virsci_society.society.ecosystem.build_options import BuildProgress

if TYPE_CHECKING:
    from virsci_society.agents.gateway.gateway import Gateway
    from virsci_society.society.model import Society

LINE_SECONDS, BAR_SECONDS = 10.0, 0.2
"""Least real time between two lines of a phase, and between two changes of a bar."""
WAIT_SECONDS = 2.0
"""Real time between two looks at what a run waits for."""
LEAST_SHARE = 0.02
"""Share of a phase from which on the remaining time is estimated."""


def standing_of(society: Society, calls: int | None = None) -> str:
    """How far a society has come, in one sentence."""
    from virsci_society.society.results.tables import TABLES

    inside, rows = list(society.world.teams.values()), society.log.rows
    state = [column.name for column in TABLES["teams"]].index("state")
    states = Counter(team.state for team in inside)
    states.update(str(row[state]) for row in rows["teams"])
    teams = ", ".join(f"{count} {name}" for name, count in sorted(states.items()))
    if calls is None:
        # Calls become rows when their team ends; until then they are with its answers.
        calls = len(rows["calls"]) + sum(
            len(answer.calls) for team in inside for answer in team.answers
        )
    day = f"day {int(society.day)} of {society.until:.0f}, {_share(society):.0%} of simulated time"
    when = simulated_date(society.ecosystem.boundary, society.day)
    return f"{when} ({day}); teams: {teams or 'none yet'}; calls: {calls:,}"


def _share(society: Society) -> float:
    return (society.day - society.first_day) / (society.until - society.first_day)


def _spent(gateway: Gateway) -> list[str]:
    """Tokens and cost of this session, if any, for the progress line."""
    tokens, usd = gateway.spent
    return [f"{tokens:,} tokens"] * bool(tokens) + [f"${usd:,.2f}"] * bool(usd)


class Progress(BuildProgress):
    """Takes reports on how a build or a run goes; this one shows nothing of them."""

    def step(self, society: Society, of: str = "") -> None:
        """The society of a run, or of a rehearsal ``of`` something, has advanced by one period."""

    def wait(self, standing: str) -> None:
        """The society waits for replies of a model; called from another thread."""

    def warn(self, warning: str) -> None:
        """Warn about a problem of the run, which continues; called from other threads, too."""


class ConsoleProgress(Progress):
    """Shows a bar on a terminal; elsewhere prints every phase, and a line every few seconds."""

    def __init__(self, stream: TextIO | None = None, every: float | None = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar
        from rich.table import Column

        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        pause = BAR_SECONDS if self._live else LINE_SECONDS
        self._every = pause if every is None else every
        self._bar = Bar(
            BarColumn(bar_width=16),
            TimeElapsedColumn(),
            TimeRemainingColumn(compact=True),
            TextColumn("{task.description}", markup=False, table_column=Column(ratio=1)),
            console=Console(file=self._stream),
            transient=True,
            expand=True,
            disable=not self._live,
            # The mean of the whole phase: a model's replies come in bursts.
            speed_estimate_period=float("inf"),
            get_time=time.monotonic,
        )
        self._task = self._bar.add_task("", total=None)
        self._last = time.monotonic()

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def begin(self, phase: str) -> None:
        """Show the phase, and count its time from now."""
        # Without a total the bar moves and shows no share.
        self._bar.remove_task(self._task)
        self._task = self._bar.add_task("", total=None)
        self._show(phase)

    def step(self, society: Society, of: str = "") -> None:
        """Show how far the society has come."""
        if self._is_due():
            gateway = society.dispatcher.gateway
            asked = [f"{gateway.under_way} under way"] if gateway.under_way else []
            self._bar.update(self._task, total=1.0, completed=_share(society))
            stood = f"{of}: {standing_of(society)}" if of else standing_of(society)
            self._show("; ".join([stood, *asked, *_spent(gateway)]))

    def wait(self, standing: str) -> None:
        """Show the state of the calls."""
        if self._is_due():
            self._show(standing)

    def warn(self, warning: str) -> None:
        """Print a line that stays, also above a bar."""
        console, wrapped = self._bar.console, self._live
        console.print(printable(warning), markup=False, highlight=False, soft_wrap=not wrapped)

    def count(self, done: int) -> None:
        """Show how many records have been read."""
        if self._is_due():
            self._show(f"{done:,} records read")

    def texts(self, done: int, of: int, known: int) -> None:
        """Show how many texts are embedded, and how many were known."""
        if self._is_due() or done == of:
            self._bar.update(self._task, total=of, completed=done)
            suffix = f"; {known:,} known" if known else ""
            self._show(f"{done:,} of {of:,} texts embedded{suffix}")

    def _is_due(self) -> bool:
        return time.monotonic() - self._last >= self._every

    def _show(self, text: str) -> None:
        self._last, text = time.monotonic(), printable(text)
        self._bar.update(self._task, description=text)
        if not self._live:
            (task,) = self._bar.tasks
            if task.total:
                text = f"{elapsed_and_left(task.elapsed or 0.0, task.percentage / 100)}; {text}"
            print(text, file=self._stream, flush=True)


def elapsed_and_left(elapsed: float, share: float) -> str:
    """Such as ``0:00:12 elapsed, about 0:01:37 left``; without an estimate where it is early."""
    words = f"{timedelta(seconds=round(elapsed))} elapsed"
    if not LEAST_SHARE <= share < 1:
        return words
    return f"{words}, about {timedelta(seconds=round(elapsed * (1 - share) / share))} left"


def make_progress() -> ConsoleProgress:
    """A bar on a terminal, plain lines elsewhere.

    Example:
        >>> progress = vs.make_progress()
        >>> with progress:
        ...     same = vs.run_scenario(scenario, folder, progress)
        >>> same == folder
        True
    """
    return ConsoleProgress()


def simulated_date(boundary: int, day: float) -> str:
    """The calendar date of a simulated day; every simulated year has 365 days."""
    years, rest = divmod(int(day), 365)
    # 2001 stands for a year without a leap day.
    in_year = date(2001, 1, 1) + timedelta(days=rest)
    return f"{boundary + years:04d}-{in_year:%m-%d}"


@contextmanager
def report_waiting(
    society: Society, progress: Progress, every: float = WAIT_SECONDS
) -> Iterator[None]:
    """Report the state of the calls every few seconds in this block, from a new thread."""
    gateway = society.dispatcher.gateway
    # Such answers come at once: there is nothing to wait for.
    if gateway.inline:
        yield
        return
    from virsci_society.agents.loop_thread import repeated

    warned: set[str] = set()

    def report() -> None:
        if not gateway.shut:
            for mark, warning in gateway.readability.warnings.items():
                # The line below shows the count of a mark already warned of.
                if mark not in warned:
                    warned.add(mark)
                    progress.warn(f"warning: {warning}")
            day = f"day {int(society.day)} of {society.until:.0f}"
            progress.wait("; ".join([day, gateway.status_line(), *_spent(gateway)]))

    with repeated("progress", every, report):
        yield
