"""Places of all scientists on a plane, community by community, the same every time.

Each community has a disc whose area is that of its members. Discs of communities that share many
ties lie near each other and do not overlap. Inside its disc a small community is laid out by
forces, a large one on a spiral with its best connected member in the middle, which takes seconds
for 100,000 scientists; so do all communities after the 40 largest.

Then the part of a co-authorship network that a page draws, and the communities of one that is too
large for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import networkx as nx
import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.metrics.networks.communities import LARGE, MANY_PAIRS, leiden, louvain
from virsci_society.metrics.report.templates import count_of, format_number, format_percent

STEPS = 220
GOLDEN_ANGLE = 2.399963229728653


def force_directed_positions(count: int, edges: IntArray) -> FloatArray:
    """Positions by springs, repulsion and a pull to the middle (Fruchterman and Reingold 1991).

    The layout starts from a spiral, the best connected innermost, and draws no random number.
    """
    degree = np.bincount(edges.ravel(), minlength=count).astype(np.float64)
    rank = np.argsort(np.argsort(-degree, kind="stable"), kind="stable")
    radius, angle = np.sqrt((rank + 0.5) / count), rank * GOLDEN_ANGLE
    places = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    ideal = 1.6 / np.sqrt(count)
    ends = np.concatenate([edges, edges[:, ::-1]])
    for step in range(STEPS):
        # The expanded square: a table of all differences would take twice the memory.
        own = (places**2).sum(axis=1)
        # Bounded below: two at one place would push each other infinitely far.
        apart = np.maximum(own[:, None] + own[None, :] - 2 * places @ places.T, 1e-6)
        force = ideal**2 / apart
        np.fill_diagonal(force, 0.0)
        # Less 0.9: the pull to the middle, which holds together what no tie does.
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
    # Sums differ in the last bits between machines, and a page must not.
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
    # Those without a tie share one community: each alone would be a disc of its own.
    label = by_size(np.where(np.diff(matrix.indptr) > 0, label, label.max() + 1))
    sizes = np.bincount(label)
    radius = np.sqrt(sizes / count)
    centres = spread_discs(community_positions(matrix, label, len(sizes)), radius)
    places = np.zeros((count, 2))
    members = np.argsort(label, kind="stable")
    for number, rows in enumerate(np.split(members, np.cumsum(sizes)[:-1])):
        by_forces = number < DRAWN and 2 < len(rows) <= BY_FORCES
        drawn = by_ties(matrix, rows) if by_forces else on_spiral(matrix, rows)
        # A little inside its disc: members of touching communities stay apart.
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
    """Communities numbered anew by size, the largest 0; of equal ones the first label is first."""
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


MAX_DRAWN = 400
MAX_SAMPLED = 2000
"""Scientists with a tie up to which the best connected stand for all; communities are drawn of
more."""


@dataclass(frozen=True)
class DrawnNetwork:
    """The part of a network that is drawn, and in ``note`` which part that is.

    ``positions`` are n x 2 in the unit square, community by community, of which the largest is 0.
    ``themes`` are the main topics that most members share, empty if unknown. ``edges`` are pairs of
    row numbers.
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
    """
    tied = [who for who, degree in graph.degree() if degree > 0]
    if not tied:
        return None
    note = f"All {format_number(len(tied))} scientists with a co-author are drawn."
    chosen = sorted(tied)
    if len(tied) > MAX_DRAWN:
        # Of equal components one by name, since networkx gives sets in no order (rule 12).
        largest = max(nx.connected_components(graph), key=lambda part: (len(part), min(part)))
        joint = _joint_papers(graph)
        chosen = sorted(largest, key=lambda who: (*joint[who], who))[:MAX_DRAWN]
        note = (
            f"Of {format_number(len(tied))} scientists with a co-author, "
            f"{format_number(len(largest))} are in the largest component; the {len(chosen)} of "
            "them with the most joint papers are drawn."
        )
        # By name, so that numbers of nodes do not depend on who is best connected.
        chosen.sort()
    part = graph.subgraph(chosen)
    topics = [str(graph.nodes[who].get("topic", "")) for who in chosen]
    matrix = nx.to_scipy_sparse_array(part, nodelist=chosen, weight="weight", format="csr")
    layout = lay_out_communities(matrix.astype(np.float64), topics, seed)
    papers = [int(graph.nodes[who].get("papers_in_run", 0)) for who in chosen]
    return DrawnNetwork(
        chosen,
        layout.positions,
        layout.community,
        _commonest(layout.community, topics, int(layout.community.max()) + 1),
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


MAX_CIRCLES = 150
SHARE_DRAWN = 0.9
"""Communities are drawn, the largest first, until they hold this share of the scientists."""
ROOM = 1.4
"""Circles are kept apart as if their radius were so many times as large, so that lines are seen."""
STRONGEST = 3
"""For each community the lines to so many others are drawn, those with most pairs."""


@dataclass(frozen=True)
class CommunityMap:
    """The communities of a network, as they are drawn, the largest first.

    Circles have ``centres`` (n x 2) in the unit of ``radius``, and areas in proportion to their
    people. ``first`` has most papers in the run, then most co-authors, of its members; ``inside``
    and ``across`` count pairs of members, and of a member and somebody else, who have published
    together; ``pairs`` those across each of the ``lines`` (m x 2 communities). ``rest`` people are
    in communities that are not drawn; in ``community``, of all ``names`` with a tie,
    ``len(people)`` stands for them.
    """

    centres: FloatArray
    radius: FloatArray
    people: IntArray
    themes: list[str]
    first: list[str]
    papers: IntArray
    inside: IntArray
    across: IntArray
    lines: IntArray
    pairs: IntArray
    rest: int
    rest_communities: int
    method: str
    names: list[str]
    community: IntArray
    note: str

    def rows(self, most: int) -> list[dict[str, object]]:
        """The largest communities as rows of a table."""
        return [
            {
                "number": str(place + 1),
                "people": int(self.people[place]),
                "share": int(self.people[place]) / len(self.names),
                "theme": self.themes[place],
                "papers": int(self.papers[place]),
                "inside": int(self.inside[place]),
                "across": int(self.across[place]),
                "first": self.first[place],
            }
            for place in range(min(most, len(self.people)))
        ]


def map_communities(graph: nx.Graph[str], seed: int = 0) -> CommunityMap:
    """Find the communities of a network and place the largest of them."""
    names = sorted(who for who, degree in graph.degree() if degree > 0)
    matrix = nx.to_scipy_sparse_array(graph, nodelist=names, weight="weight", format="csr")
    topics = [str(graph.nodes[who].get("topic", "")) for who in names]
    found, method = find_communities(matrix.astype(np.float64), topics, seed)
    label = by_size(found)
    sizes = np.bincount(label)
    drawn = _number_drawn(sizes)
    held = np.minimum(label, drawn)
    radius = np.sqrt(sizes[:drawn] / sizes[:drawn].sum())
    centres = community_positions(matrix, label, drawn)
    between = pairs_between(matrix, held, drawn + 1)
    drawn_pairs = between[:drawn, :drawn]
    lines = strongest_pairs(drawn_pairs)
    inside = np.diag(drawn_pairs)
    papers = np.array(
        [int(graph.nodes[who].get("papers_in_run", 0)) for who in names], dtype=np.int64
    )
    rest = int(sizes[drawn:].sum())
    return CommunityMap(
        centres=spread_discs(centres, ROOM * radius),
        radius=radius,
        people=sizes[:drawn],
        themes=_commonest(held, topics, drawn),
        first=_first_members(held, names, papers, np.diff(matrix.indptr), drawn),
        papers=np.bincount(held, papers, minlength=drawn + 1)[:drawn].astype(np.int64),
        inside=inside,
        across=between[:drawn].sum(axis=1) - inside,
        lines=lines,
        pairs=drawn_pairs[lines[:, 0], lines[:, 1]],
        rest=rest,
        rest_communities=len(sizes) - drawn,
        method=method,
        names=names,
        community=held,
        note=_note(len(names), sizes, drawn),
    )


def _number_drawn(sizes: IntArray) -> int:
    """How many communities are drawn."""
    enough = int(np.searchsorted(np.cumsum(sizes), SHARE_DRAWN * sizes.sum())) + 1
    return min(enough, MAX_CIRCLES, len(sizes))


def pairs_between(matrix: sparse.csr_array, label: IntArray, count: int) -> IntArray:
    """Pairs of scientists with a tie within and between communities, symmetric, count x count."""
    ends = sparse.triu(matrix, k=1).tocoo()
    return count_pairs(label[ends.coords[0]], label[ends.coords[1]], count)


def count_pairs(first: IntArray, second: IntArray, count: int) -> IntArray:
    """How often two communities occur as the ends of a pair, symmetric, count x count."""
    low, high = np.minimum(first, second), np.maximum(first, second)
    upper = np.bincount(low * count + high, minlength=count * count).reshape(count, count)
    pairs: IntArray = upper + np.triu(upper, k=1).T
    return pairs


def strongest_pairs(across: IntArray) -> IntArray:
    """The lines that are drawn: of each community those to the three with most pairs, m x 2."""
    counts = across.copy()
    np.fill_diagonal(counts, 0)
    best = np.argsort(-counts, axis=1, kind="stable")[:, :STRONGEST]
    own = np.repeat(np.arange(len(counts)), best.shape[1])
    lines = np.column_stack([own, best.ravel()])
    lines = np.sort(lines[counts[lines[:, 0], lines[:, 1]] > 0], axis=1)
    return np.unique(lines, axis=0).astype(np.int64)


def _commonest(held: IntArray, topics: list[str], count: int) -> list[str]:
    """The commonest main topic of each community; of several the first by name."""
    table = pd.DataFrame({"community": held, "topic": topics})
    known = table[(table["topic"] != "") & (table["community"] < count)]
    counts = known.groupby(["community", "topic"]).size().rename("people").reset_index()
    order = counts.sort_values(["community", "people", "topic"], ascending=[True, False, True])
    commonest = order.drop_duplicates("community").set_index("community")["topic"]
    return [str(commonest.get(number, "")) for number in range(count)]


def _first_members(
    held: IntArray, names: list[str], papers: IntArray, degree: IntArray, count: int
) -> list[str]:
    """Of each community the member with most papers, then most co-authors, then by name."""
    order = np.lexsort((np.arange(len(names)), -degree, -papers, held))
    starts = np.searchsorted(held[order], np.arange(count))
    return [names[order[start]] for start in starts]


def _note(tied: int, sizes: IntArray, drawn: int) -> str:
    share = format_percent(sizes[:drawn].sum() / tied)
    note = (
        f"{format_number(tied)} scientists with a co-author, in "
        f"{count_of(len(sizes), 'community', 'communities')}. "
    )
    if drawn == len(sizes):
        return f"{note}Each is a circle whose area is that of its people."
    return (
        f"{note}The {drawn} largest hold {share} of them; each is a circle whose area is that of "
        "its people. The dashed circle, at the same scale, is all the others together."
    )
