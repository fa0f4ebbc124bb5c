"""The day on which two runs, or a run and its fork, part: the first thing that differs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from virsci_society.society.results.run import Run


def parting_day(one: Run, other: Run) -> float | None:
    """The date of the first event or call that only one of two runs has; None: they are the same.

    Calls count because two runs may say different things long before an event differs. Runs that
    begin with different people or ties part on day 0.

    Args:
        one: a run.
        other: another one.
    """
    for table in ("scientists", "ties"):
        first, second = (run.table(table) for run in (one, other))
        if table == "ties":
            first, second = (
                ties[ties["date"] < 0].reset_index(drop=True) for ties in (first, second)
            )
        if not first.equals(second):
            if table == "ties":
                return 0.0
            here, there = (
                people[people["arrived"].isna()].reset_index(drop=True)
                for people in (first, second)
            )
            if not here.equals(there):
                return 0.0
    dates = [_first_difference(_events(one), _events(other))]
    dates.append(_first_difference(_calls(one), _calls(other)))
    found = [date for date in dates if date is not None]
    if not found:
        return None if one.days == other.days else min(one.days, other.days)
    return min(found)


def _events(run: Run) -> Iterator[tuple[float, Any]]:
    for event in run.events():
        rest = {key: value for key, value in event.items() if key != "sequence"}
        yield float(event["date"]), rest


def _calls(run: Run) -> Iterator[tuple[float, Any]]:
    """Calls by date and id, with what was asked and answered."""
    calls = run.table("calls")[["asked", "call", "prompt_hash", "reply"]].fillna("")
    for asked, *rest in calls.itertuples(index=False, name=None):
        yield float(asked), rest


def _first_difference(
    first: Iterator[tuple[float, Any]], second: Iterator[tuple[float, Any]]
) -> float | None:
    """The earlier date of the first two entries that differ."""
    for here, there in zip_longest(first, second):
        if here != there:
            return min(entry[0] for entry in (here, there) if entry is not None)
    return None
