"""Places of all scientists on a plane, community by community, the same every time.

Each community has a disc whose area is that of its members. Discs of communities that share many
ties lie near each other and do not overlap. Inside its disc a small community is laid out by
forces, a large one on a spiral with its best connected member in the middle, which takes seconds
for 100,000 scientists; so do all communities after the 40 largest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
import numpy.typing as npt
from scipy import sparse

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.metrics.networks.communities import LARGE, MANY_PAIRS, leiden, louvain

STEPS = 220
GOLDEN_ANGLE = 2.399963229728653


def force_directed_positions(count: int, edges: IntArray) -> FloatArray:
    """Positions by springs, repulsion and a pull to the middle (Fruchterman and Reingold 1991).

    The layout starts from a spiral, the best connected innermost, and draws no random number.

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


BY_FORCES = 350
"""Most members of a community, and most communities, that are laid out by forces."""
DRAWN = 40
"""Number of communities, the largest first, whose members are laid out by forces."""
ROUNDS = 300
"""Steps in which overlapping discs push each other apart."""


@dataclass(frozen=True)
class CommunityLayout:
    """Where everybody is drawn.

    Attributes:
        positions: n x 2, in the unit square.
        community: number of each scientist's community, the largest is 0; scientists without a
            tie share one.
        method: louvain, leiden or main topic.
    """

    positions: FloatArray
    community: IntArray
    method: str


def lay_out_communities(
    matrix: sparse.csr_array, topics: Sequence[str], seed: int
) -> CommunityLayout:
    """Place the scientists of a network.

    Args:
        matrix: ties, weighted and symmetric, n x n.
        topics: main topic of each scientist; they stand for communities where the network is too
            large for Louvain and networkit is not installed.
        seed: of the order in which Louvain or Leiden visits the scientists.
    """
    count = matrix.shape[0]
    if not count:
        return CommunityLayout(np.zeros((0, 2)), np.zeros(0, dtype=np.int64), "louvain")
    label, method = find_communities(matrix, topics, seed)
    label = by_size(np.where(np.diff(matrix.indptr) > 0, label, label.max() + 1))
    sizes = np.bincount(label)
    radius = np.sqrt(sizes / count)
    centres = spread_discs(community_positions(matrix, label, len(sizes)), radius)
    places = np.zeros((count, 2))
    members = np.argsort(label, kind="stable")
    for number, rows in enumerate(np.split(members, np.cumsum(sizes)[:-1])):
        by_forces = number < DRAWN and 2 < len(rows) <= BY_FORCES
        drawn = by_ties(matrix, rows) if by_forces else on_spiral(matrix, rows)
        places[rows] = centres[number] + 0.9 * radius[number] * drawn
    places -= places.min(axis=0)
    return CommunityLayout(places / max(places.max(), 1e-9), label, method)


def find_communities(
    matrix: sparse.csr_array, topics: Sequence[str], seed: int
) -> tuple[IntArray, str]:
    """Number of each scientist's community, and the method that found it."""
    if matrix.nnz and matrix.shape[0] <= LARGE and matrix.nnz <= 2 * MANY_PAIRS:
        return louvain(matrix, seed), "louvain"
    if matrix.nnz and find_spec("networkit") is not None:
        return leiden(matrix, seed), "leiden"
    numbers = np.unique(np.asarray(topics, dtype=str), return_inverse=True)[1]
    return numbers.astype(np.int64), "main topic"


def by_size(label: IntArray) -> IntArray:
    """Communities numbered anew by size: the largest is 0; of equal ones the first label is first.

    Args:
        label: number of the community of each node, at least one node.
    """
    known, label = np.unique(label, return_inverse=True)
    sizes = np.bincount(label).astype(np.float64)
    order = np.lexsort((np.arange(len(known)), -sizes))
    rank = np.empty(len(known), dtype=np.int64)
    rank[order] = np.arange(len(known))
    renumbered: IntArray = rank[label]
    return renumbered


def community_positions(matrix: sparse.csr_array, label: IntArray, count: int) -> FloatArray:
    """First places of communities, in the square of side 2: by forces, the small ones outside."""
    ends = matrix.tocoo()
    first, second = label[ends.coords[0]], label[ends.coords[1]]
    placed = min(count, BY_FORCES)
    across = (first < second) & (second < placed)
    edges = np.unique(np.column_stack([first[across], second[across]]), axis=0)
    outside = np.arange(placed, count)
    radius, angle = 1.2 * np.sqrt(1 + outside / count), outside * GOLDEN_ANGLE
    spiral = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    inner = 2 * force_directed_positions(placed, edges) - 1
    return np.concatenate([inner, spiral])


def spread_discs(centres: FloatArray, radius: FloatArray) -> FloatArray:
    """Centres moved apart until discs hardly overlap, the small ones moving more than the large.

    Args:
        centres: n x 2.
        radius: of each disc, > 0.
    """
    places = centres.copy()
    near = min(len(places), BY_FORCES)
    weight = radius[:near] ** 2
    share = weight[None, :] / (weight[:, None] + weight[None, :])
    needed = 1.06 * (radius[:near, None] + radius[None, :near])
    for _ in range(ROUNDS):
        apart = places[:near, None] - places[None, :near]
        distance = np.maximum(np.sqrt((apart**2).sum(axis=2)), 1e-6)
        overlap = np.maximum(needed - distance, 0.0)
        np.fill_diagonal(overlap, 0.0)
        if overlap.max(initial=0.0) < 1e-3:
            break
        move = (0.5 * overlap * share / distance)[:, :, None] * apart
        # A pull to the middle keeps communities without ties to others from drifting away.
        places[:near] += move.sum(axis=1) - 0.002 * places[:near]
    return places


def by_ties(matrix: sparse.csr_array, rows: npt.NDArray[np.int64]) -> FloatArray:
    """Places of the members of one community in the disc of radius 1, by their ties."""
    ends = sparse.triu(matrix[rows][:, rows], k=1).tocoo()
    edges = np.column_stack(ends.coords).astype(np.int64)
    return square_to_disc(2 * force_directed_positions(len(rows), edges) - 1)


def on_spiral(matrix: sparse.csr_array, rows: npt.NDArray[np.int64]) -> FloatArray:
    """Places on a spiral in the disc of radius 1, the best connected in the middle."""
    degree = np.diff(matrix.indptr)[rows]
    rank = np.argsort(np.argsort(-degree, kind="stable"), kind="stable")
    radius, angle = np.sqrt((rank + 0.5) / len(rows)), rank * GOLDEN_ANGLE
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def square_to_disc(places: FloatArray) -> FloatArray:
    """Points of the square of side 2, drawn in to the disc of radius 1."""
    x, y = places[:, 0], places[:, 1]
    return np.column_stack([x * np.sqrt(1 - y**2 / 2), y * np.sqrt(1 - x**2 / 2)])
