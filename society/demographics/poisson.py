"""A Poisson process over people, in which each has events at the same constant rate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from virsci_society.society.kernel.durations import Process, to_ticks
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.literature.papers import DAYS_PER_YEAR

if TYPE_CHECKING:
    from virsci_society.society.teams.world import World

FAR_FUTURE = 1e9
"""A waiting time in days that is longer than any run."""


def poisson_process(
    world: World,
    streams: Streams,
    purpose: str,
    rows: Sequence[int],
    per_year: float,
    act: Callable[[int, np.random.Generator], None],
) -> Process[None]:
    """A process without end in which an event happens to one of some people now and then.

    It draws the superposition of one Poisson process per person: an exponential gap, then a
    uniform person, both from the stream of the event's number (rule 9). An event of a person who
    has left is dropped, so the rate of those who remain stays the same.

    Args:
        world: as of now.
        streams: the random streams of these people.
        purpose: names the streams of these events.
        rows: the people; -1 may stand for the whole society.
        per_year: events per person and year, >= 0; 0: none.
        act: makes the event happen, given the row and the random stream of the event.
    """
    if not per_year:
        return
    mean_gap = DAYS_PER_YEAR / (per_year * len(rows))
    for ordinal in count():
        rng = streams.stream(purpose, ordinal)
        yield world.env.timeout(to_ticks(min(rng.exponential(mean_gap), FAR_FUTURE)))
        row = rows[int(rng.integers(len(rows)))]
        if row not in world.population.departed:
            act(row, rng)
