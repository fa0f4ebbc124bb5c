"""Drawing: one person by weight, without the weights of all the others.

A draw proposes people in proportion to their weights and refuses those who may not be drawn,
which leaves the proportions among the others as they are. Only where so many are refused that
nobody is found are the weights of those who are left computed.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet

import numpy as np
import numpy.typing as npt

ROUNDS = 512
"""Proposals before the weights of all who are left are computed."""

Rows = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float64]


def draw(
    propose: Callable[[], int | None],
    weights: Callable[[Rows], Weights],
    people: int,
    excluded: AbstractSet[int],
    rng: np.random.Generator,
) -> int | None:
    """One person who is not excluded, or None where nobody with a weight is left.

    Args:
        propose: one row in proportion to its weight, or None for a proposal that is refused.
        weights: of some rows, by definition; needed only where proposing finds nobody.
        people: how many there are.
        excluded: rows that may not be drawn.
        rng: the stream of this draw.
    """
    if len(excluded) < people:
        for _ in range(ROUNDS):
            row = propose()
            if row is not None and row not in excluded:
                return row
    return draw_densely(weights, people, excluded, rng)


def draw_densely(
    weights: Callable[[Rows], Weights],
    people: int,
    excluded: AbstractSet[int],
    rng: np.random.Generator,
) -> int | None:
    """The same by the weights of all who are left."""
    left = np.ones(people, dtype=bool)
    left[sorted(excluded)] = False
    rows = np.flatnonzero(left)
    mass = weights(rows)
    total = float(mass.sum())
    return int(rng.choice(rows, p=mass / total)) if total > 0 else None
