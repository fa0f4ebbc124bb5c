"""The communities of a run's network, and positions of all scientists, the same every time.

Communities have discs: small ones are laid out by networkx, large ones on a spiral within seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.agents.lazy_imports import nx, sparse
from virsci_society.agents.spelling import cut_text
from virsci_society.metrics.networks.communities import find_labels
from virsci_society.metrics.networks.structure import adjacency, network_ties
from virsci_society.metrics.summary_file import read_summary
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.results.run import Run

GOLDEN_ANGLE = 2.399963229728653
BY_FORCES = 350
"""Most members of a community, and most communities, that are laid out by forces."""
DRAWN = 40
"""Number of communities, the largest first, whose members are laid out by forces."""
ROUNDS = 300
"""Steps in which overlapping discs push each other apart."""
MAX_DRAWN = 400
"""Scientists with a tie up to which each is drawn on the page of a run; of more, communities."""
MAX_CIRCLES = 150
"""Communities of a large network that are drawn, the largest first."""
ROOM = 0.75
"""Radius of a circle as a share of its disc, so that lines stay visible."""
STRONGEST = 3
"""Most lines drawn from a community, to those with which it has most pairs."""
NAME_SHOWN = 34
"""Most characters of the topic in the name of a community."""


def force_directed_positions(count: int, edges: IntArray) -> FloatArray:
    """Positions of nodes in the unit square by ForceAtlas2 (Jacomy et al. 2014), count x 2."""
    if count < 2:
        return np.full((count, 2), 0.5)
    graph = nx.empty_graph(count)
    graph.add_edges_from(edges.tolist())
    # Strong gravity keeps together the parts of a network that no tie connects.
    laid_out = nx.forceatlas2_layout(graph, gravity=0.3, strong_gravity=True, seed=1)
    places = np.array([laid_out[node] for node in range(count)])
    places -= places.min(axis=0)
    spread = np.maximum(places.max(axis=0), 1e-9)
    # Sums differ in the last bits between machines, and a page must not.
    rounded: FloatArray = np.round(places / spread, 4)
    return rounded


@dataclass(frozen=True)
class Communities:
    """Everybody with a co-author, by community."""

    names: list[str]
    edges: IntArray
    """Pairs with a joint paper, as positions in ``names``, m x 2, sorted."""
    community: IntArray
    themes: list[str]
    method: str
    laid_out: FloatArray | None = None
    """Known positions; None: computed."""

    @cached_property
    def degree(self) -> IntArray:
        """Number of co-authors of each scientist."""
        return np.bincount(self.edges.ravel(), minlength=len(self.names))

    @cached_property
    def sizes(self) -> IntArray:
        """Number of people in each community."""
        return np.bincount(self.community, minlength=len(self.themes))

    @cached_property
    def labels(self) -> list[str]:
        """A name for each community that no other has: its topic, if need be with a member."""
        topics = [cut_text(theme, NAME_SHOWN) for theme in self.themes]
        order = np.lexsort((np.arange(len(self.names)), -self.degree, self.community))
        starts = np.searchsorted(self.community[order], np.arange(len(topics)))
        first = [self.names[place] for place in order[starts]]
        return [
            topic if topic and topics.count(topic) == 1 else f"{topic} around {who}".strip()
            for topic, who in zip(topics, first, strict=True)
        ]

    @cached_property
    def discs(self) -> tuple[FloatArray, FloatArray]:
        """Centre and radius of the disc of each community; they hardly overlap."""
        count = len(self.sizes)
        first, second = self.community[self.edges].T
        placed, outside = min(count, BY_FORCES), np.arange(min(count, BY_FORCES), count)
        across = (first != second) & (np.maximum(first, second) < placed)
        edges = np.sort(np.column_stack([first[across], second[across]]), axis=1)
        inner = 2 * force_directed_positions(placed, np.unique(edges, axis=0)) - 1
        # Communities too many for the force layout are placed outside.
        outer = spiral(1.2 * np.sqrt(1 + outside / max(count, 1)), outside)
        radius = np.sqrt(self.sizes / max(len(self.names), 1))
        return spread_discs(np.concatenate([inner, outer]), radius), radius

    @cached_property
    def positions(self) -> FloatArray:
        """Where everybody is drawn, n x 2, in the unit square."""
        if self.laid_out is not None:
            return self.laid_out
        if not self.names:
            return np.zeros((0, 2))
        centres, radius = self.discs
        places = np.zeros((len(self.names), 2))
        members = np.argsort(self.community, kind="stable")
        for number, rows in enumerate(np.split(members, np.cumsum(self.sizes)[:-1])):
            if number < DRAWN and 2 < len(rows) <= BY_FORCES:
                edges = self.edges[(self.community[self.edges] == number).all(axis=1)]
                edges = np.searchsorted(rows, edges)
                x, y = (2 * force_directed_positions(len(rows), edges) - 1).T
                # From the square of side 2 into the disc.
                drawn = np.column_stack([x * np.sqrt(1 - y**2 / 2), y * np.sqrt(1 - x**2 / 2)])
            else:
                # The best connected in the middle.
                rank = np.argsort(np.argsort(-self.degree[rows], kind="stable"), kind="stable")
                drawn = spiral(np.sqrt((rank + 0.5) / len(rows)), rank)
            # A little inside its disc: members of touching communities stay apart.
            places[rows] = centres[number] + 0.9 * radius[number] * drawn
        places -= places.min(axis=0)
        unit: FloatArray = places / max(places.max(), 1e-9)
        return unit

    @cached_property
    def outside(self) -> IntArray:
        """Co-authors of each in other communities, and the number of these communities, n x 2."""
        pairs = np.concatenate([self.edges, self.edges[:, ::-1]])
        pairs = np.column_stack([pairs[:, 0], self.community[pairs[:, 1]]])
        pairs = pairs[self.community[pairs[:, 0]] != pairs[:, 1]]
        partners = np.bincount(pairs[:, 0], minlength=len(self.names))
        communities = np.bincount(np.unique(pairs, axis=0)[:, 0], minlength=len(self.names))
        return np.column_stack([partners, communities])

    @cached_property
    def circles(self) -> tuple[FloatArray, FloatArray, IntArray]:
        """Centres and radii of the largest communities in the unit square, and lines of pairs."""
        centres, radius = (held[:MAX_CIRCLES] for held in self.discs)
        low = (centres - radius[:, None]).min(axis=0)
        span = float((centres + radius[:, None] - low).max())
        ends, count = self.community[self.edges], len(self.sizes)
        within = np.bincount(ends @ [count, 1], minlength=count**2).reshape(count, count)
        both = within + within.T
        lines = strongest_pairs(both[:MAX_CIRCLES, :MAX_CIRCLES])
        return (centres - low) / span, ROOM * radius / span, lines


def run_communities(run: Run) -> Communities:
    """The communities of a run at its end, from its folder or computed."""
    topics = {who: topic or "" for who, topic in run.rows("scientists", "scientist", "topic")}
    # A stream of the pages: a measure that draws more must not redraw the picture (rule 9).
    seed = Streams(run.seed, "metrics", "page").key("communities") % 2**31
    held = read_summary(run.folder, "network") if run.folder else None
    return communities_of(network_ties(run.table("ties"), "all"), topics, seed, held)


def communities_of(
    ties: pd.DataFrame, topics: Mapping[str, str], seed: int = 0, held: Any = None
) -> Communities:
    """Find the communities of a network, or read them from the data of ``layout_of``."""
    names = sorted({*ties["source"], *ties["target"]})
    known = [topics.get(name, "") for name in names]
    pairs = np.sort(pair_numbers(ties, names), axis=1)
    edges = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
    # The file may contain anything.
    with suppress(LookupError, TypeError, ValueError, OverflowError):
        label, positions = np.array(held["community"], dtype=np.int64), held["positions"]
        if positions is not None:
            positions = np.nan_to_num(np.array(positions, dtype=np.float64)).clip(0.0, 1.0)
            positions = positions.reshape(len(names), 2)
        if label.shape == (len(names),) and ((label >= 0) & (label < len(names))).all():
            themes = _commonest(label, known)
            return Communities(names, edges, label, themes, str(held["method"]), positions)
    label, method = find_communities(adjacency(ties, names), known, seed)
    label = by_size(label)
    return Communities(names, edges, label, _commonest(label, known), method)


def layout_of(whole: Communities) -> dict[str, Any]:
    """Communities and positions for JSON, as ``communities_of`` reads them."""
    places = whole.positions.tolist() if len(whole.names) <= MAX_DRAWN else None
    return {"method": whole.method, "community": whole.community.tolist(), "positions": places}


def find_communities(
    matrix: sparse.csr_array, topics: Sequence[str], seed: int
) -> tuple[IntArray, str]:
    """Number of each scientist's community, and the method that found it."""
    method, label = find_labels(matrix, seed) if matrix.nnz else ("", None)
    if label is not None:
        return label, method.capitalize()
    numbers = np.unique(np.asarray(topics, dtype=str), return_inverse=True)[1]
    return numbers.astype(np.int64), "main topic"


def by_size(label: IntArray) -> IntArray:
    """Renumber communities by size, the largest 0; ties keep the order of labels."""
    _, label, sizes = np.unique(label, return_inverse=True, return_counts=True)
    return np.argsort(np.argsort(-sizes, kind="stable"))[label]


def spread_discs(centres: FloatArray, radius: FloatArray) -> FloatArray:
    """Centres moved apart until discs hardly overlap, the small ones moving more than the large."""
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


def spiral(radius: FloatArray, rank: IntArray) -> FloatArray:
    """Points at these distances from the middle, each turned by the golden angle."""
    angle = rank * GOLDEN_ANGLE
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def pair_numbers(pairs: pd.DataFrame, names: Sequence[str]) -> IntArray:
    """Both ends of each pair as numbers of the people named, n x 2; -1 for others."""
    index = pd.Index(names)
    columns = [index.get_indexer(pd.Index(pairs[end])) for end in ("source", "target")]
    return np.column_stack(columns).astype(np.int64)


def strongest_pairs(across: IntArray) -> IntArray:
    """The lines that are drawn: of each community those to the three with most pairs, m x 2."""
    counts = across.copy()
    np.fill_diagonal(counts, 0)
    best = np.argsort(-counts, axis=1, kind="stable")[:, :STRONGEST]
    own = np.repeat(np.arange(len(counts)), best.shape[1])
    lines = np.column_stack([own, best.ravel()])
    lines = np.sort(lines[counts[lines[:, 0], lines[:, 1]] > 0], axis=1)
    return np.unique(lines, axis=0).astype(np.int64)


def _commonest(label: IntArray, topics: list[str]) -> list[str]:
    """The commonest main topic of each community; of several the first by name."""
    table = pd.DataFrame({"community": label, "topic": topics})
    counts = table[table["topic"] != ""].value_counts().reset_index()
    order = counts.sort_values(["community", "count", "topic"], ascending=[True, False, True])
    commonest = order.drop_duplicates("community").set_index("community")["topic"]
    return [str(commonest.get(number, "")) for number in range(int(label.max(initial=-1)) + 1)]
