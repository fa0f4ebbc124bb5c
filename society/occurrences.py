"""Occurrences: what happens to each of some people at the same rate, whatever else they do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from society.durations import to_ticks
from society.literature.paper import DAYS_PER_YEAR
from society.steps import Steps
from society.streams import Streams

if TYPE_CHECKING:
    from society.world import World

FAR = 1e9
"""Days that no run lasts."""


def occur(
    world: World,
    streams: Streams,
    purpose: str,
    rows: Sequence[int],
    per_year: float,
    act: Callable[[int, np.random.Generator], None],
) -> Steps:
    """A process without end in which something happens to one of these people now and then.

    Poisson processes added up: exponential gaps, and whose turn it is by a uniform draw, each
    from the stream of its ordinal. Who has left by then is passed over, so that it happens to
    everybody who is still here at the same rate.

    Args:
        world: as of now.
        streams: of these people.
        purpose: names the streams.
        rows: the people.
        per_year: how often a year it happens to each of them; 0: never.
        act: what happens, given the row and the stream of the occurrence.
    """
    if not per_year:
        return
    mean_gap = DAYS_PER_YEAR / (per_year * len(rows))
    for ordinal in count():
        rng = streams.stream(purpose, ordinal)
        yield world.env.timeout(to_ticks(min(rng.exponential(mean_gap), FAR)))
        row = rows[int(rng.integers(len(rows)))]
        if row not in world.population.gone:
            act(row, rng)
