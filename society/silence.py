"""Silence: who has neither written nor worked with anybody for long is no scientist any more."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from society.steps import Steps

if TYPE_CHECKING:
    from society.world import World

Due = tuple[float, int]
"""A date, and the row of whoever is looked at on it."""


def fall_silent(world: World, rows: range, limit: float) -> Steps:
    """A process in which who had no paper and no team for ``limit`` days leaves.

    The silence of those of day 0 begins then, whenever they wrote last: that they are in the
    ecosystem says that they are scientists on that day.
    """
    people = world.population
    # Rows are in order of coming, so these are in order of date.
    first = ((max(people.since(row) + limit, world.day), row) for row in rows)
    again: list[Due] = []
    for date, row in _in_turn(first, again):
        yield world.env.timeout(date - world.day)
        until = people.last_act(row) + limit
        if row in people.gone:
            continue
        if until <= world.day:
            world.depart(row, "inactive")
        else:
            heappush(again, (until, row))


def _in_turn(first: Iterator[Due], again: list[Due]) -> Iterator[Due]:
    """Those of an ordered series and of a heap that grows meanwhile, in order of date."""
    coming = next(first, None)
    while coming is not None or again:
        if coming is None or (again and again[0] < coming):
            yield heappop(again)
        else:
            yield coming
            coming = next(first, None)
