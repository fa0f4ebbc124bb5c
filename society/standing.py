"""Standing: what a scientist is known for, as a number that leaders and partners are drawn by."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Literal

import numpy as np

from society.drawing import Rows, Weights, draw

if TYPE_CHECKING:
    from society.surroundings import Surroundings
    from society.tally import Tally

By = Literal["coauthors", "papers", "citations"]
"""Distinct co-authors, papers, or citations received; as of the date."""


def tally_of(world: Surroundings, by: By) -> Tally:
    """The events that a standing counts."""
    if by == "coauthors":
        return world.network.acquaintances
    return world.population.papers if by == "papers" else world.population.citations


def weights_by(world: Surroundings, by: By, floor: float, rows: Sequence[int] | Rows) -> Weights:
    """Standing plus floor of some people: the definition."""
    counts = tally_of(world, by).counts(len(world.population))
    return counts[np.asarray(rows, dtype=np.int64)].astype(float) + floor


def draw_by(
    world: Surroundings,
    by: By,
    floor: float,
    excluded: AbstractSet[int],
    rng: np.random.Generator,
) -> int | None:
    """One person with probability in proportion to standing plus floor; no scan of the people."""
    people, tally = len(world.population), tally_of(world, by)
    known = tally.total()
    mass = known + floor * people

    def propose() -> int:
        at = rng.random() * mass
        return tally.whose(int(at)) if at < known else int(rng.integers(people))

    def weights(rows: Rows) -> Weights:
        return weights_by(world, by, floor, rows)

    return draw(propose, weights, people, excluded, rng) if mass else None
