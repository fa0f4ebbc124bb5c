"""What the program is measured by: each mark, and where a script says its figure.

A figure is a ratio of two things that were measured in one run, a size, or a time or rate in
calibration loops; in seconds is told how soon a page is on the screen. A mark is what is aimed at;
a limit, where it is known, is what no program could do better.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks.machine import LOOP
from benchmarks.start_up import commands

Figures = Any
"""What a script has written as JSON."""


class Mark(NamedTuple):
    """One figure that is aimed at.

    ``of`` finds the figure in what the script has written, or None where the script's short form
    does not measure it. A time in seconds has ``in_loops`` 1 and a rate a second -1: both are told
    in calibration loops.
    """

    key: str
    what: str
    script: str
    of: Callable[[Figures], float | None]
    mark: float
    at_least: bool = False
    limit: str = ""
    in_loops: int = 0

    def figure(self, figures: Figures, loop: float) -> float | None:
        """The figure in what a script has written, a calibration loop taking so many seconds."""
        found = self.of(figures)
        return None if found is None else found / loop**self.in_loops

    def is_met(self, figure: float) -> bool:
        """Whether a figure is as good as the mark, or better."""
        return figure >= self.mark if self.at_least else figure <= self.mark


def _row(figures: Figures, **wanted: object) -> dict[str, Any]:
    """The first row of a table that holds these values; empty if there is none."""
    matching = (row for row in figures if all(row.get(key) == wanted[key] for key in wanted))
    return next(matching, {})


def overlap(slots: object) -> Callable[[Figures], float | None]:
    """Ratio of wall time to its bound at so many slots."""
    return lambda rows: _row(rows, slots=slots, read="decisions").get("ratio")


def over_lock_step(rows: Figures) -> float | None:
    """How many times as near to its bound a run is as one in lock-step."""
    ours, lock = overlap(64)(rows), _row(rows, read="lock-step").get("ratio")
    return None if ours is None or lock is None else round(lock / ours, 2)


def waiting(way: str) -> Callable[[Figures], float | None]:
    """Wall time over bound with long waits: adaptive turns, or latencies with a heavy tail."""
    return lambda rows: _row(rows, slots=64, read=way).get("ratio")


def live(row: str, figure: str) -> Callable[[Figures], float | None]:
    """A figure of the split of a live run's time."""
    return lambda rows: _row(rows, row=row).get("split", {}).get(figure)


def litellm_cpu(rows: Figures) -> float | None:
    """Processor time of a call of the society over that of bare litellm."""
    ours = _row(rows, row="society through litellm, many teams").get("ms a call")
    bare = _row(rows, row="litellm").get("ms a call")
    return round(ours / bare, 2) if ours and bare else None


def million(name: str) -> Callable[[Figures], float | None]:
    """A figure of a million people."""
    return lambda told: _row(told["rows"], people=1_000_000).get(name)


def searched(figure: str) -> Callable[[Figures], float | None]:
    """A figure of the index among 200,000 rows of 1,024 numbers."""
    return lambda rows: _row(rows, rows=200_000, dim=1024, index="ours").get(figure)


def command(name: str) -> Callable[[Figures], float | None]:
    """A command's processor time, in its unit."""
    return lambda rows: _row(rows, command=name).get("ratio")


def explorer(people: int, figure: str) -> Callable[[Figures], float | None]:
    """A figure of the explorer's page."""
    return lambda rows: _row(rows, people=people).get(figure)


def kilobytes_a_call(rows: Figures) -> float | None:
    """Memory that each call adds to a run without a journal, once its first uses are over."""
    found: float | None = rows.get("later", {}).get("kB a call later")
    return found


def sweep(kind: str) -> Callable[[Figures], float | None]:
    """How many times as quick a study of societies is as a command for each."""
    return lambda rows: _row(rows, kind=kind).get("times a command each")


def worked_out_anew(rows: Figures) -> float:
    """The kB of a team's prompts that a cache of its own does not find."""
    row = _row(rows, scene="one team", order="now", stage="total")
    return float(round(row["kB"] * (1 - row["team"])))


def drawn(figure: str) -> Callable[[Figures], float | None]:
    """The smaller of the draws a second, over both ways to draw from strangers."""

    def least(told: Figures) -> float | None:
        row = _row(told["rows"], people=1_000_000)
        found = [row[f"{figure} {way}"] for way in ("e = 1", "share 0.2") if row]
        return min(found, default=None)

    return least


MARKS: tuple[Mark, ...] = (
    *(
        Mark(
            "H1",
            f"overlap, {slots} slots: wall over bound",
            "overlap",
            overlap(slots),
            most,
            limit="1",
        )
        for slots, most in ((8, 1.05), (16, 1.05), (64, 1.25), ("unlimited", 1.25))
    ),
    Mark("H2", "overlap: times nearer than in lock-step", "overlap", over_lock_step, 2, True),
    *(
        Mark("H3", f"throughput through {name}, of the bare client", "live", found, mark, True, "1")
        for name, found, mark in (
            ("litellm", live("society through litellm, many teams", "of the bare client"), 0.85),
            ("openai", live("society through openai, many teams", "of the bare client"), 0.93),
        )
    ),
    Mark("H4", "CPU a call through litellm, of bare litellm", "live", litellm_cpu, 1.25, limit="1"),
    Mark(
        "H4",
        "our own CPU a call, thousandths of a loop",
        "live",
        live("society through openai, many teams", "ours"),
        1,
        limit="0.15",
        in_loops=1,
    ),
    Mark("H6", "a million people: loops", "scale", million("population s"), 0.5, False, "0.02", 1),
    Mark(
        "H6",
        "a million people: bytes each",
        "scale",
        million("population bytes a person"),
        100,
        limit="12",
    ),
    *(
        Mark("H7", f"draws a loop, {way}", "scale", drawn(column), mark, True, limit, -1)
        for way, column, mark, limit in (
            ("one by one", "draws/s", 300_000, "1.06 M"),
            ("together", "batched draws/s", 3e6, "13.7 M"),
        )
    ),
    Mark("H8", "network of a million people: MB", "scale", million("network MB"), 200, limit="81"),
    Mark(
        "H9", "events a second, of bare SimPy", "kernel", lambda row: row["ratio"], 0.5, True, "1"
    ),
    *(
        Mark("H10", "`--help`, in `import typer`", "start_up", command(name), mark, limit="1")
        for name, _, mark, _ in commands((), ())
        if name == "--help"
    ),
    Mark("H11", "4,000 waiting teams: share of a core", "kernel", lambda row: row["parked"], 0.01),
    Mark(
        "H12",
        "200,000 abstracts: thousandths of a loop a query",
        "search",
        searched("ms a query"),
        1.2,
        limit="0.8",
        in_loops=1,
    ),
    Mark(
        "H12", "200,000 abstracts: recall of five", "search", searched("recall@5"), 0.97, True, "1"
    ),
    Mark(
        "H12",
        "200,000 abstracts: worst add, thousandths of a loop",
        "search",
        searched("worst add ms"),
        5,
        limit="0.4",
        in_loops=1,
    ),
    Mark(
        "H14",
        "calls replayed in the time of a loop",
        "resume",
        lambda rows: rows["resume"]["calls a second"],
        5_000,
        True,
        in_loops=-1,
    ),
    Mark("H16", "kB of prompts worked out anew", "prefix", worked_out_anew, 335),
    *(
        Mark("H17", f"{name}, in calibration loops", "start_up", command(name), mark)
        for name, unit, mark, _ in commands((), ())
        if unit == LOOP
    ),
    *(
        Mark(
            "H18",
            f"a sweep, {kind}: times as quick as a command each",
            "sweep",
            sweep(kind),
            10,
            at_least=True,
        )
        for kind in ("wordless", "offline")
    ),
    Mark("H19", "kB of memory a call", "resume", kilobytes_a_call, 2),
    *(
        Mark("H20", f"overlap, 64 slots, {what}", "overlap", found, most, limit=limit)
        for what, found, most, limit in (
            ("adaptive turns: wall over bound", waiting("adaptive"), 1.4, "1"),
            ("adaptive turns, decision_lag 1", waiting("adaptive, lag 1"), 1.4, "1"),
            ("heavy tail", waiting("tail"), 1.2, "1"),
        )
    ),
    *(
        Mark("explorer", f"{people:,} people: {name}", "explorer", explorer(people, figure), mark)
        for people, *marks in ((60, 1, 0.7, 30), (1_000, 3, 2, 60), (100_000, 6, 3, 100))
        for name, figure, mark in zip(
            ("MB", "first paint, s", "ms a frame"), ("MB", "network", "frame"), marks, strict=True
        )
    ),
    Mark(
        "studies",
        "eight societies on shared slots: wall over bound",
        "studies",
        lambda row: row["ratio"],
        1.05,
        limit="1",
    ),
    Mark(
        "cluster",
        "two workers: times as quick as one",
        "cluster",
        lambda told: told["speed_up"],
        1.7,
        True,
        "2",
    ),
)
