"""Positions of the nodes of a small network by forces, the same every time."""

from __future__ import annotations

import numpy as np

from virsci_society.agents.arrays import FloatArray, IntArray

STEPS = 220
GOLDEN_ANGLE = 2.399963229728653


def force_directed_positions(count: int, edges: IntArray) -> FloatArray:
    """Positions by springs, repulsion and a pull to the middle (Fruchterman and Reingold 1991).

    The layout starts from a spiral, the best connected innermost, and draws no random number.

    Args:
        count: number of nodes, numbered from 0.
        edges: pairs of numbers, n x 2; a pair given twice pulls twice.

    Returns:
        Positions in the unit square, count x 2.
    """
    degree = np.bincount(edges.ravel(), minlength=count).astype(np.float64)
    rank = np.argsort(np.argsort(-degree, kind="stable"), kind="stable")
    radius, angle = np.sqrt((rank + 0.5) / count), rank * GOLDEN_ANGLE
    places = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    ideal = 1.6 / np.sqrt(count)
    ends = np.concatenate([edges, edges[:, ::-1]])
    for step in range(STEPS):
        own = (places**2).sum(axis=1)
        apart = np.maximum(own[:, None] + own[None, :] - 2 * places @ places.T, 1e-6)
        force = ideal**2 / apart
        np.fill_diagonal(force, 0.0)
        push = places * (force.sum(axis=1)[:, None] - 0.9) - force @ places
        along = places[ends[:, 1]] - places[ends[:, 0]]
        pull = along * (np.sqrt((along**2).sum(axis=1)) / ideal)[:, None]
        for axis in (0, 1):
            push[:, axis] += np.bincount(ends[:, 0], pull[:, axis], minlength=count)
        length = np.maximum(np.sqrt((push**2).sum(axis=1)), 1e-9)
        most = 0.12 * (1 - step / STEPS) ** 1.5 + 1e-4
        places += push * (np.minimum(length, most) / length)[:, None]
    places -= places.min(axis=0)
    spread = np.maximum(places.max(axis=0), 1e-9)
    rounded: FloatArray = np.round(places / spread, 4)
    return rounded
