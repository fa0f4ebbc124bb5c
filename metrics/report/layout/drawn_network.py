"""The part of a co-authorship network that a page draws, with positions and communities."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import networkx as nx
import numpy as np

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.metrics.report.layout.community_layout import lay_out_communities
from virsci_society.metrics.report.number_format import format_number

MAX_DRAWN = 400
MAX_SAMPLED = 2000
"""Scientists with a tie up to which the best connected stand for all; communities are drawn of
more."""


@dataclass(frozen=True)
class DrawnNetwork:
    """The part of a network that is drawn.

    Attributes:
        names: scientists drawn.
        positions: their positions in the unit square, n x 2, community by community.
        community: number of each scientist's community; the largest is 0.
        themes: the main topic that most members of each community share; empty if unknown.
        papers: papers of each scientist in the run.
        edges: pairs with a joint paper, pairs of row numbers.
        note: which part of the network this is.
    """

    names: list[str]
    positions: FloatArray
    community: IntArray
    themes: list[str]
    papers: IntArray
    edges: IntArray
    note: str


def draw_network(graph: nx.Graph[str], seed: int = 0) -> DrawnNetwork | None:
    """Choose the part of a network to draw and place it; None if nobody has a tie.

    Up to 400 scientists with a tie are all drawn; of more, only the largest component, and of
    that at most the 400 with the most joint papers since day 0, then before.

    Args:
        graph: from ``coauthor_graph``.
        seed: of the order in which scientists are visited to find communities.
    """
    tied = [who for who, degree in graph.degree() if degree > 0]
    if not tied:
        return None
    note = f"All {format_number(len(tied))} scientists with a co-author are drawn."
    chosen = sorted(tied)
    if len(tied) > MAX_DRAWN:
        largest = max(nx.connected_components(graph), key=lambda part: (len(part), min(part)))
        joint = _joint_papers(graph)
        chosen = sorted(largest, key=lambda who: (*joint[who], who))[:MAX_DRAWN]
        note = (
            f"Of {format_number(len(tied))} scientists with a co-author, "
            f"{format_number(len(largest))} are in the largest component; the {len(chosen)} of "
            "them with the most joint papers are drawn."
        )
        chosen.sort()
    part = graph.subgraph(chosen)
    topics = [str(graph.nodes[who].get("topic", "")) for who in chosen]
    matrix = nx.to_scipy_sparse_array(part, nodelist=chosen, weight="weight", format="csr")
    layout = lay_out_communities(matrix.astype(np.float64), topics, seed)
    papers = [int(graph.nodes[who].get("papers", 0)) for who in chosen]
    return DrawnNetwork(
        chosen,
        layout.positions,
        layout.community,
        _themes(layout.community, topics),
        np.array(papers, dtype=np.int64),
        _edges(part, chosen),
        note,
    )


def _joint_papers(graph: nx.Graph[str]) -> dict[str, tuple[int, int]]:
    """Joint papers since and before day 0, negative so that the busiest come first."""
    counts = dict.fromkeys(graph, (0, 0))
    for first, second, data in graph.edges(data=True):
        for who in (first, second):
            since, before = counts[who]
            counts[who] = (since - data["since"], before - data["before"])
    return counts


def _edges(graph: nx.Graph[str], chosen: list[str]) -> IntArray:
    number = {who: place for place, who in enumerate(chosen)}
    pairs = [(number[first], number[second]) for first, second in graph.edges()]
    ordered = sorted((min(pair), max(pair)) for pair in pairs)
    return np.array(ordered, dtype=np.int64).reshape(-1, 2)


def _themes(community: IntArray, topics: list[str]) -> list[str]:
    """The commonest main topic of each community; of several the first by name."""
    themes = []
    for number in range(int(community.max()) + 1):
        counts = Counter(
            topic for topic, own in zip(topics, community, strict=True) if own == number and topic
        )
        themes.append(min(counts, key=lambda topic: (-counts[topic], topic), default=""))
    return themes
