"""What the program is measured by: each mark, and where a script writes its figure.

A figure is a size, a ratio of two things that were measured in one run, or a time or rate in
calibration loops; only how soon a page is on the screen is in seconds. A mark is the aim; a limit,
where it is known, is what no program could do better.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import getitem
from typing import Any, NamedTuple

from benchmarks.machine import LOOP
from benchmarks.start_up import commands

Figures = Any
"""What a script has written as JSON."""
Find = Callable[[Figures], float | None]
"""Finds a figure; None where the script's short form does not measure it."""


class Mark(NamedTuple):
    """One figure that is aimed at.

    A time in seconds has ``in_loops`` 1 and a rate a second -1: both are shown in calibration
    loops.
    """

    key: str
    what: str
    script: str
    find: Find
    mark: float
    at_least: bool = False
    limit: str = ""
    in_loops: int = 0

    def figure(self, figures: Figures, loop: float) -> float | None:
        """The figure in what a script has written, where a loop takes this many seconds."""
        found = self.find(figures)
        return None if found is None else found / loop**self.in_loops

    def is_met(self, figure: float) -> bool:
        """Whether a figure is as good as the mark, or better."""
        return figure >= self.mark if self.at_least else figure <= self.mark


def row(figures: Figures, **wanted: object) -> dict[str, Any]:
    """The first row of a table with these values; empty if there is none."""
    matching = (row for row in figures if all(row.get(key) == wanted[key] for key in wanted))
    return next(matching, {})


def cell(figure: str, **wanted: object) -> Find:
    """A figure of the row with these values."""
    return lambda rows: row(rows, **wanted).get(figure)


def million(*figures: str) -> Find:
    """The smallest of some figures of a million people."""

    def least(written: Figures) -> float | None:
        found = row(written["rows"], people=1_000_000)
        return min((found[name] for name in figures), default=None) if found else None

    return least


def live(figure: str, client: str) -> Find:
    """A figure of the split of a live run's time."""
    name = f"society through {client}, many teams"
    return lambda rows: row(rows, row=name).get("split", {}).get(figure)


def over_lock_step(rows: Figures) -> float | None:
    """How many times as near to its bound a run is as one in lock-step."""
    ours, lock = (cell("ratio", slots=64, read=read)(rows) for read in ("decisions", "lock-step"))
    return round(lock / ours, 2) if ours and lock else None


def litellm_cpu(rows: Figures) -> float | None:
    """Processor time of a call of the society over that of bare litellm."""
    ours = cell("ms a call", row="society through litellm, many teams")(rows)
    bare = cell("ms a call", row="litellm")(rows)
    return round(ours / bare, 2) if ours and bare else None


def overlap(slots: object, read: str = "decisions") -> Find:
    """Wall time over its bound."""
    return cell("ratio", slots=slots, read=read)


def searched(figure: str) -> Find:
    """A figure of the index among 200,000 rows of 1,024 numbers."""
    return cell(figure, rows=200_000, dim=1024, index="ours")


def of(*path: str) -> Find:
    """A figure by the keys that lead to it."""
    return lambda figures: float(reduce(getitem, path, figures))


HELP = cell("ratio", command="--help")
DRAWS = ("draws/s e = 1", "draws/s share 0.2")
PAGES = {60: (1, 0.7, 30), 1_000: (3, 2, 60), 100_000: (6, 3, 100)}
SHOWN = {"MB": "MB", "first paint, s": "network", "ms a frame": "frame"}

MARKS: tuple[Mark, ...] = (
    Mark("H1", "overlap, 8 slots: wall over bound", "overlap", overlap(8), 1.05, False, "1"),
    Mark("H1", "overlap, 16 slots: wall over bound", "overlap", overlap(16), 1.05, False, "1"),
    Mark("H1", "overlap, 64 slots: wall over bound", "overlap", overlap(64), 1.25, False, "1"),
    Mark("H1", "overlap, no limit of slots", "overlap", overlap("unlimited"), 1.25, False, "1"),
    Mark("H2", "overlap: times nearer than in lock-step", "overlap", over_lock_step, 2, True),
    *(
        Mark("H3", f"throughput through {name}, of the bare client", "live", find, mark, True, "1")
        for name, mark in (("litellm", 0.85), ("openai", 0.93))
        for find in [live("of the bare client", name)]
    ),
    Mark(
        "H4", "CPU a call through litellm, of bare litellm", "live", litellm_cpu, 1.25, False, "1"
    ),
    Mark("H4", "our CPU a call, loops / 1000", "live", live("ours", "openai"), 1, False, "0.15", 1),
    Mark("H6", "a million people: loops", "scale", million("population s"), 0.5, False, "0.02", 1),
    Mark("H6", "a million people: bytes each", "scale", million("population bytes a person"), 100),
    Mark("H7", "draws a loop, one by one", "scale", million(*DRAWS), 3e5, True, "1.06 M", -1),
    Mark("H8", "network of a million people: MB", "scale", million("network MB"), 200, False, "81"),
    Mark("H9", "events a second, of bare SimPy", "kernel", of("ratio"), 0.5, True, "1"),
    Mark("H10", "`--help`, in `import typer`", "start_up", HELP, 2, False, "1"),
    Mark("H11", "4,000 waiting teams: share of a core", "kernel", of("parked"), 0.01),
    Mark(
        "H12", "search: loops / 1000 each", "search", searched("ms a query"), 1.2, False, "0.8", 1
    ),
    Mark("H12", "search: recall of five", "search", searched("recall@5"), 0.97, True, "1"),
    Mark(
        "H12", "search: worst add, loops / 1000", "search", searched("worst add ms"), 5, in_loops=1
    ),
    Mark(
        "H14", "calls replayed a loop", "resume", of("resume", "calls a second"), 5e3, True, "", -1
    ),
    Mark("H16", "kB of prompts worked out anew", "prefix", lambda rows: rows[-1]["kB anew"], 335),
    *(
        Mark("H17", f"{name}, in calibration loops", "start_up", cell("ratio", command=name), mark)
        for name, unit, mark, _ in commands((), ())
        if unit == LOOP
    ),
    *(
        Mark("H18", f"sweep, {kind}: times as quick as a command each", "sweep", find, 10, True)
        for kind in ("wordless", "offline")
        for find in [cell("times a command each", kind=kind)]
    ),
    Mark("H18", "eight societies on shared slots", "studies", of("shared slots", "ratio"), 1.05),
    Mark("H18", "two workers: speed-up", "studies", of("cluster", "speed-up"), 1.7, True, "2"),
    Mark("H19", "kB of memory a call", "resume", of("later", "kB a call later"), 2),
    Mark("H20", "overlap, adaptive turns", "overlap", overlap(64, "adaptive"), 1.4, False, "1"),
    Mark("H20", "overlap, heavy tail", "overlap", overlap(64, "tail"), 1.2, False, "1"),
    *(
        Mark(
            "explorer", f"{people:,} people: {what}", "explorer", cell(figure, people=people), mark
        )
        for people, marks in PAGES.items()
        for (what, figure), mark in zip(SHOWN.items(), marks, strict=True)
    ),
)
