"""The progress of a run, as a bar on a terminal, one line in a notebook and lines in a log.

Each shows the share done, real time gone and left, teams, calls, tokens and money, in 80 columns.
A terminal also gets a second line, which charts published teams and teams at work over time.

The society reports every step of its clock. The clock stands still while a run waits for a model,
for a minute when the model is slow and for an hour when its provider is down; so a thread of its
own reports what is waited for.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self, TextIO

from virsci_society.agents.spelling import cut_text, printable
from virsci_society.metrics.report.drawing.text_charts import can_encode, sparkline

if TYPE_CHECKING:
    from virsci_society.society.model import Society

EVERY = 5.0
REPEAT = 60.0
"""Seconds after which a line about waiting is printed again although nothing has changed."""
YEAR = 365
WIDTH = 80
"""Columns of a line."""
LEAST_SHARE = 0.02
"""Share of the simulated time from which on the time left is estimated."""


class Pace:
    """Real time since the simulation began, and an estimate of what is left.

    The estimate takes it that the rest goes as fast as what has been simulated in this session.
    """

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._first: float | None = None
        self._late = self._least = 0.0
        self._last = (0.0, 0.0)

    def begin(self) -> None:
        """Start to count."""
        self._began, self._first = time.monotonic(), None

    def leave_out(self, done: float, least: float) -> None:
        """Leave what is done, and the time that it took, out of the estimate.

        Args:
            done: so far, such as the runs that were begun first, which waited for the start.
            least: done before there is an estimate.
        """
        self._first, self._late, self._least = done, time.monotonic() - self._began, least

    def text(self, day: float, until: float) -> str:
        """Such as ``0:12 gone, 1:37 left``.

        Args:
            day: simulated day.
            until: the last one.
        """
        self._last = day, until
        gone = time.monotonic() - self._began
        left = self._left(gone, day, until)
        return f"{_clock(gone)} gone" + ("" if left is None else f", {_clock(left)} left")

    def seconds_left(self, done: float, whole: float) -> float | None:
        """Estimate of the real seconds to the end; None: too little is done to tell.

        Args:
            done: simulated day, or any other count of what is done.
            whole: the same at the end.
        """
        return self._left(time.monotonic() - self._began, done, whole)

    def _left(self, gone: float, done: float, whole: float) -> float | None:
        if self._first is None:
            self._first = done
        since = done - self._first
        if whole <= self._first or since / (whole - self._first) < LEAST_SHARE:
            return None
        if done < self._least:
            return None
        return (gone - self._late) * (whole - done) / since

    def again(self) -> str:
        """The same for the day that was told last; empty before there is one."""
        return "" if self._first is None else self.text(*self._last)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


@dataclass(frozen=True, slots=True)
class RunProgress:
    """Where a run stands, as progress is shown.

    Attributes:
        date: simulated calendar date.
        day: the same in days.
        until: the last day.
        share: of the simulated time, from 0 to 1.
        teams: by state.
        calls: questions asked, with those taken from the journal.
        under_way: requests sent and not answered.
        tokens: of this session's attempts.
        usd: their price in US dollars, 0 where none is known.
    """

    date: str
    day: float
    until: float
    share: float
    teams: Mapping[str, int]
    calls: int
    under_way: int
    tokens: int
    usd: float

    @classmethod
    def of(cls, society: Society) -> RunProgress:
        """The state of a society."""
        inside = list(society.world.teams.values())
        states = Counter(team.state for team in inside)
        states.update(_states_written(society))
        calls = len(society.log.rows["calls"])
        # Calls become rows when their team ends; until then they are with its answers.
        calls += sum(len(answer.calls) for team in inside for answer in team.answers)
        gateway = society.dispatcher.gateway
        first = society.first_day
        return cls(
            date=simulated_date(society.ecosystem.boundary, society.day),
            day=society.day,
            until=society.until,
            share=(society.day - first) / (society.until - first),
            teams=dict(sorted(states.items())),
            calls=calls,
            under_way=gateway.under_way,
            tokens=gateway.spent[0],
            usd=gateway.spent[1],
        )

    def line(self, pace: str = "", width: int = WIDTH) -> str:
        """One line of at most ``width`` columns; what matters least is left out first.

        Args:
            pace: time gone and left; empty: not known.
            width: columns.
        """
        teams = ", ".join(f"{count} {state}" for state, count in self.teams.items())
        calls = f"{self.calls:,} calls" + (f" ({self.under_way} open)" if self.under_way else "")
        paid, money = _spent(self.tokens, self.usd)
        total = f"{sum(self.teams.values()):,} teams"
        share, day = f"{self.share:.0%}", f"day {int(self.day)} of {self.until:.0f}"
        choices = (
            (share, self.date, day, pace, teams or "no team yet", calls, paid, money),
            (share, day, pace, teams or "no team yet", calls, paid, money),
            (share, day, pace, total, calls, paid, money),
            (share, pace, total, calls, paid, money),
            (share, pace, calls, paid, money),
            (share, pace),
        )
        lines = ["; ".join(filter(None, parts)) for parts in choices]
        return next((one for one in lines if len(one) <= width), lines[-1])

    def sentence(self) -> str:
        """The same in words, for the message of a run that was stopped."""
        teams = ", ".join(f"{count} {state}" for state, count in self.teams.items())
        words = f"{self.date} (day {int(self.day)} of {self.until:.0f}, {self.share:.0%})"
        return f"{words}; teams: {teams or 'none yet'}; calls: {self.calls:,}"


def _spent(tokens: int, usd: float) -> tuple[str, str]:
    """Tokens and money in words, each empty where there are none."""
    return f"{_short(tokens)} tokens" if tokens else "", f"${usd:,.2f}" if usd else ""


def _short(number: int) -> str:
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if number >= 1000 * size:
            return f"{number // size}{letter}"
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return str(number)


class TeamCharts:
    """Teams over the simulated time of a run, for charts that fill from the left.

    Args:
        steps: of the whole simulated time.
    """

    def __init__(self, steps: int = 60) -> None:
        self._published: list[int] = []
        self._running: list[int] = []
        self._steps = steps

    def record(self, state: RunProgress) -> None:
        """Take in where a run stands; steps that were passed over are as at the one before."""
        step = min(int(state.share * self._steps), self._steps - 1)
        for counts, name in ((self._published, "published"), (self._running, "running")):
            while len(counts) <= step:
                counts.append(counts[-1] if counts else 0)
            counts[step] = state.teams.get(name, 0)

    def line(self, encoding: str | None, width: int) -> str:
        """Both charts in one line, each as long as the simulated time; empty before a step.

        Args:
            encoding: of the terminal.
            width: columns.
        """
        if not self._running or not any(self._running + self._published):
            return ""
        new = [now - before for before, now in pairwise((0, *self._published))]
        charts = (
            ("published", new, self._published[-1]),
            ("at work", self._running, self._running[-1]),
        )
        words = sum(len(name) + len(f"{now:,}") + 2 for name, _, now in charts) + 2
        columns = min((width - words) // 2, self._steps)
        if columns < LEAST_CHART:
            return ""
        parts = []
        for name, values, now in charts:
            to_come = [None] * (self._steps - len(values))
            chart = sparkline([*map(float, values), *to_come], encoding, columns)
            parts.append(f"{name} {chart} {now:,}")
        return "  ".join(parts)


class Progress:
    """Takes reports on how a run goes; this one shows nothing of them."""

    def begin(self, phase: str) -> None:
        """A new phase has begun."""

    def step(self, society: Society) -> None:
        """The society has advanced by one period."""

    def rehearse(self, what: str, society: Society) -> None:
        """The society of a rehearsal has advanced by one period."""

    def wait(self, standing: str) -> None:
        """The society waits for replies of a model; called from another thread."""


class LineProgress(Progress):
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
        self._pace = Pace()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to close."""

    def begin(self, phase: str) -> None:
        """Print the phase."""
        self._pace.begin()
        self._print(phase)

    def step(self, society: Society) -> None:
        """Print where the society is, if the last line is old enough."""
        if time.monotonic() - self._last >= self._every:
            pace = self._pace.text(society.day, society.until)
            self._print(RunProgress.of(society).line(pace))

    def rehearse(self, what: str, society: Society) -> None:
        """Print how far the rehearsal of something is, if the last line is old enough."""
        if time.monotonic() - self._last >= self._every:
            self._print(f"{what}: {RunProgress.of(society).line(width=WIDTH - len(what) - 2)}")

    def wait(self, standing: str) -> None:
        """Print the state of the calls, if the last line is old enough.

        A state that has not changed is printed every minute only: people take hours to answer.
        """
        least = max(self._every, REPEAT) if standing == self._waiting else self._every
        if time.monotonic() - self._last >= least:
            self._waiting = standing
            self._print("; ".join(filter(None, (self._pace.again(), standing))))

    def count(self, done: int) -> None:
        """Print how many records have been read, if the last line is old enough."""
        if time.monotonic() - self._last >= self._every:
            self._print(f"{done:,} records read")

    def _print(self, text: str) -> None:
        self._last = time.monotonic()
        print(printable(text), file=self._stream, flush=True)


BAR = 10
"""Columns of the bar."""
LEAST_CHART = 6
"""Columns below which a chart is left out."""


class BarProgress(Progress):
    """A bar that fills with simulated time, with charts of teams in a line below it."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, SpinnerColumn, TextColumn
        from rich.progress import Progress as RichProgress

        self._console = Console(stderr=True)
        self._bar = RichProgress(
            SpinnerColumn("dots" if can_encode("⠋", self._console.encoding) else "line"),
            BarColumn(bar_width=BAR),
            TextColumn("{task.description}", markup=False),
            console=self._console,
            transient=True,
        )
        self._task: Any = None
        self._pace = Pace()
        self._teams = TeamCharts()

    def _with_charts(self, text: str) -> str:
        charts = self._teams.line(self._console.encoding, self._width())
        return f"{text}\n{charts}" if charts else text

    def _shown(self, text: str) -> str:
        """The text in one line beside the bar."""
        return cut_text(printable(text), self._width(), "...")

    def _width(self) -> int:
        # Spinner and bar, each with a space behind it.
        return max(self._console.width - BAR - 4, 20)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def begin(self, phase: str) -> None:
        """Show the phase, with a bar that only moves."""
        if self._task is not None:
            self._bar.remove_task(self._task)
        self._pace.begin()
        self._teams = TeamCharts()
        # Without a total the bar moves and shows no share: a phase has none before the simulation.
        self._task = self._bar.add_task(self._shown(phase), total=None)

    def step(self, society: Society) -> None:
        """Show where the society is."""
        if self._task is not None:
            state = RunProgress.of(society)
            pace = self._pace.text(society.day, society.until)
            self._teams.record(state)
            self._bar.update(
                self._task,
                description=self._with_charts(state.line(pace, self._width())),
                total=1.0,
                completed=state.share,
            )

    def rehearse(self, what: str, society: Society) -> None:
        """Show how far the rehearsal of something is."""
        if self._task is not None:
            state = RunProgress.of(society)
            text = f"{what}: {state.line(width=self._width() - len(what) - 2)}"
            self._bar.update(
                self._task, description=self._shown(text), total=1.0, completed=state.share
            )

    def wait(self, standing: str) -> None:
        """Show the state of the calls."""
        if self._task is not None:
            text = "; ".join(filter(None, (self._pace.again(), standing)))
            self._bar.update(self._task, description=self._with_charts(self._shown(text)))

    def count(self, done: int) -> None:
        """Show how many records have been read."""
        if self._task is not None:
            self._bar.update(self._task, description=f"{done:,} records read")


class NotebookProgress(LineProgress):
    """One line below the cell of a notebook, which is written over by the next.

    Args:
        every: least seconds between two states of the line.
    """

    def __init__(self, every: float = 0.5) -> None:
        super().__init__(every=every)
        self._handle: Any = None

    def _print(self, text: str) -> None:
        from IPython.display import display

        self._last = time.monotonic()
        # As plain text: a message may quote a stranger's file.
        if self._handle is None:
            line = _PlainLine(text)
            self._handle = display(line, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(_PlainLine(text))


class _PlainLine:
    """A text that a notebook shows as it is."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def make_progress() -> LineProgress | BarProgress:
    """A bar on a terminal, one line in a notebook, lines elsewhere.

    Example:
        >>> progress = vs.make_progress()
        >>> with progress:
        ...     same = vs.run_scenario(scenario, folder, progress)
        >>> same == folder
        True
    """
    if sys.stderr.isatty():
        return BarProgress()
    return NotebookProgress() if _in_notebook() else LineProgress()


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def _states_written(society: Society) -> Counter[str]:
    from virsci_society.society.results.tables import TABLES

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
    """Report the state of the calls every few seconds in this block, from a thread of its own."""
    gateway = society.dispatcher.gateway
    # Such answers come at once: there is nothing to wait for.
    if gateway.inline:
        yield
        return
    from virsci_society.agents.loop_thread import repeated

    def report() -> None:
        if not gateway.shut:
            date = f"day {int(society.day)} of {society.until:.0f}"
            parts = (date, gateway.status_line(), *_spent(*gateway.spent))
            progress.wait("; ".join(filter(None, parts)))

    with repeated("watch", every, report):
        yield
