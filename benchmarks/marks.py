"""The marks of the program, and where a script writes the figure for each.

A figure is a size, a ratio of two measurements of one run, or a time or rate in calibration loops;
only the first paint of a page is in seconds. A mark is the aim; a limit is the theoretical optimum,
where it is known.
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


def live(figure: str, client: str) -> Find:
    """A figure of the split of a live run's time."""
    name = f"society through {client}, many teams"
    return lambda rows: row(rows, row=name).get("split", {}).get(figure)


def litellm_cpu(rows: Figures) -> float | None:
    """Processor time of a call of the society over that of bare litellm."""
    ours = cell("ms a call", row="society through litellm, many teams")(rows)
    bare = cell("ms a call", row="litellm")(rows)
    return round(ours / bare, 2) if ours and bare else None


def of(*path: str) -> Find:
    """A figure by the keys that lead to it."""
    return lambda figures: float(reduce(getitem, path, figures))


HELP = cell("ratio", command="--help")
WORK, CHAIN = "work / slots", "the longest chain"
"""Bounds: the time of all calls over the slots; the longest chain of dependent calls."""
WAITING = "slots over calls in flight, while requests wait"
"""What the slots lose between two calls."""
PAGES = {60: (1, 0.7, 30), 1_000: (3, 2, 60)}
SHOWN = {"MB": "MB", "first paint, s": "network", "ms a frame": "frame"}

MARKS: tuple[Mark, ...] = (
    *(
        Mark("H1", f"overlap, {slots} slots: {what}", "overlap", find, mark, False, "1")
        for slots, what, figure, mark in (
            *((8, f"wall over {WORK}", "ratio", 1.05), (8, WAITING, "waiting", 1.05)),
            *((16, f"wall over {WORK}", "ratio", 1.05), (16, WAITING, "waiting", 1.05)),
            (64, f"wall over {CHAIN}", "ratio", 1.25),
        )
        for find in [cell(figure, slots=slots, read="decisions")]
    ),
    *(
        Mark("H3", f"throughput through {name}, of the bare client", "live", find, mark, True, "1")
        for name, mark in (("litellm", 0.85), ("openai", 0.93))
        for find in [live("of the bare client", name)]
    ),
    Mark(
        "H4", "CPU a call through litellm, of bare litellm", "live", litellm_cpu, 1.25, False, "1"
    ),
    Mark("H4", "our CPU a call, loops / 1000", "live", live("ours", "openai"), 1, False, "0.15", 1),
    Mark("H9", "events a second, of bare SimPy", "kernel", of("ratio"), 0.5, True, "1"),
    Mark("H10", "`--help`, in `import typer`", "start_up", HELP, 2, False, "1"),
    Mark("H11", "4,000 waiting teams: share of a core", "kernel", of("parked"), 0.01),
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
    *(
        Mark("H18", f"eight societies: {what}", "studies", find, 1.05, False, "1")
        for what, figure in ((f"wall over {WORK}", "ratio"), (WAITING, "waiting"))
        for find in [of("shared slots", figure)]
    ),
    Mark("H18", "two workers: speed-up", "studies", of("cluster", "speed-up"), 1.7, True, "2"),
    Mark("H19", "kB of memory a call", "resume", of("later", "kB a call later"), 2),
    *(
        Mark("H20", f"overlap, heavy tail: wall over {what}", "overlap", find, mark, False, "1")
        for what, figure, mark in (
            (CHAIN, "ratio", 1.2),
            (f"{CHAIN} in simulated order", "ordered", 1.05),
        )
        for find in [cell(figure, slots=64, read="tail")]
    ),
    *(
        Mark(
            "explorer", f"{people:,} people: {what}", "explorer", cell(figure, people=people), mark
        )
        for people, marks in PAGES.items()
        for (what, figure), mark in zip(SHOWN.items(), marks, strict=True)
    ),
)
