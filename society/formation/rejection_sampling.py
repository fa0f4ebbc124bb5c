"""Rejection sampling, the draw of one person without the weights of everybody else.

A draw proposes people in proportion to their weights and rejects those who may not be drawn, which
leaves the proportions among the others as they are. Only where so many are rejected that nobody
is accepted are the weights of all who are left computed. So a draw takes no time in proportion to
the population.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

import numpy as np

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.society.formation.world_view import ExcludedRows

if TYPE_CHECKING:
    from virsci_society.society.formation.world_view import WorldView

MAX_PROPOSALS = 512
"""Proposals before the weights of all who are left are computed."""


def sample_by_rejection(
    propose: Callable[[], int | None],
    weights: Callable[[IntArray], FloatArray],
    people: int,
    excluded: AbstractSet[int],
    rng: np.random.Generator,
) -> int | None:
    """Draw one person who is not excluded, in proportion to weights, by rejection.

    Args:
        propose: draws a row in proportion to its weight; None is a proposal that is rejected.
        weights: computes the weights (>= 0, not normalised) of an array of rows; it is called
            only if all proposals are rejected.
        people: how many rows there are.
        excluded: rows that may not be drawn.
        rng: the random stream of this draw, the one from which ``propose`` draws.

    Returns:
        A row, or None where nobody who is left has a weight above 0.
    """
    if len(excluded) < people:
        for _ in range(MAX_PROPOSALS):
            row = propose()
            if row is not None and row not in excluded:
                return row
    return sample_exactly(weights, people, excluded, rng)


def sample_exactly(
    weights: Callable[[IntArray], FloatArray],
    people: int,
    excluded: AbstractSet[int],
    rng: np.random.Generator,
) -> int | None:
    """Draw one person who is not excluded by computing the weights of all who are left.

    Args:
        weights: computes the weights (>= 0, not normalised) of an array of rows.
        people: how many rows there are.
        excluded: rows that may not be drawn.
        rng: the random stream of this draw.

    Returns:
        A row, or None where nobody who is left has a weight above 0.
    """
    left = np.ones(people, dtype=bool)
    left[sorted(excluded)] = False
    rows = np.flatnonzero(left)
    mass = weights(rows)
    total = float(mass.sum())
    return int(rng.choice(rows, p=mass / total)) if total > 0 else None


def sample_uniformly(
    people: int, excluded: AbstractSet[int], rng: np.random.Generator
) -> int | None:
    """Draw one person who is not excluded, everybody with equal probability.

    Args:
        people: how many rows there are.
        excluded: rows that may not be drawn.
        rng: the random stream of this draw.

    Returns:
        A row, or None where nobody is left.
    """

    def propose() -> int:
        return int(rng.integers(people))

    return sample_by_rejection(propose, lambda rows: np.ones(len(rows)), people, excluded, rng)


def sample_present(
    world: WorldView, without: AbstractSet[int], rng: np.random.Generator
) -> int | None:
    """Draw one person who is in the society and has not arrived on this very date, uniformly.

    Args:
        world: as of now.
        without: rows of further people who may not be drawn.
        rng: the random stream of this draw.

    Returns:
        A row, or None where nobody is left.
    """
    people = world.population
    excluded = ExcludedRows(people.departed.keys(), people.just_arrived() | without)
    return sample_uniformly(len(people), excluded, rng)
