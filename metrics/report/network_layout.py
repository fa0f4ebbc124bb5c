"""Positions of the scientists of a drawn co-authorship network, the same every time."""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx
import numpy as np

from agents.arrays import FloatArray, IntArray

MAX_DRAWN = 400
STEPS = 220
GOLDEN_ANGLE = 2.399963229728653


@dataclass(frozen=True)
class NetworkLayout:
    """The part of a network that is drawn, with positions.

    Attributes:
        names: scientists drawn.
        positions: their positions in the unit square, n x 2.
        before: edges from before day 0, pairs of row numbers.
        since: edges with a joint paper since day 0.
        note: which part of the network this is.
    """

    names: list[str]
    positions: FloatArray
    before: IntArray
    since: IntArray
    note: str


def lay_out(graph: nx.Graph[str]) -> NetworkLayout | None:
    """Choose the part of a network to draw and place it; None if nobody has a tie.

    Up to 400 scientists with a tie are all drawn; of more, only the largest component, and of
    that at most the 400 with the most joint papers since day 0, then before.
    """
    tied = [who for who, degree in graph.degree() if degree > 0]
    if not tied:
        return None
    note = f"All {len(tied)} scientists with a co-author are drawn."
    chosen = sorted(tied)
    if len(tied) > MAX_DRAWN:
        largest = max(nx.connected_components(graph), key=lambda part: (len(part), min(part)))
        joint = _joint_papers(graph)
        chosen = sorted(largest, key=lambda who: (*joint[who], who))[:MAX_DRAWN]
        note = (
            f"Of {len(tied)} scientists with a co-author, {len(largest)} are in the largest "
            f"component; the {len(chosen)} of them with the most joint papers are drawn."
        )
        chosen.sort()
    number = {who: place for place, who in enumerate(chosen)}
    part = graph.subgraph(chosen)
    before, since = _edges(part, number, "before"), _edges(part, number, "since")
    every = np.concatenate([before, since])
    return NetworkLayout(chosen, force_directed_positions(len(chosen), every), before, since, note)


def _joint_papers(graph: nx.Graph[str]) -> dict[str, tuple[int, int]]:
    """Joint papers since and before day 0, negative so that the busiest come first."""
    counts = dict.fromkeys(graph, (0, 0))
    for first, second, data in graph.edges(data=True):
        for who in (first, second):
            since, before = counts[who]
            counts[who] = (since - data["since"], before - data["before"])
    return counts


def _edges(graph: nx.Graph[str], number: dict[str, int], key: str) -> IntArray:
    pairs = [(number[a], number[b]) for a, b, data in graph.edges(data=True) if data[key] > 0]
    ordered = sorted((min(pair), max(pair)) for pair in pairs)
    return np.array(ordered, dtype=np.int64).reshape(-1, 2)


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
