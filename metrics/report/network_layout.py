"""The communities of a run's network, and positions of all scientists, the same every time.

The page of a run and the explorer draw the same communities under the same names, and everybody in
the same place. Each community has a disc whose area is that of its members. Discs of communities
that share many ties lie near each other and do not overlap. Inside its disc a small community is
laid out by networkx, a large one on a spiral with its best connected member in the middle, which
takes seconds for 100,000 scientists; so do all communities after the 40 largest.

Then the communities of a network that is too large for everybody to be drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.agents.lazy_imports import nx
from virsci_society.agents.spelling import cut_text
from virsci_society.metrics.networks.communities import LARGE, MANY_PAIRS, leiden, louvain
from virsci_society.metrics.networks.structure import adjacency, network_ties
from virsci_society.metrics.report.templates import count_of, format_number, format_percent, records
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.results.run import Run

GOLDEN_ANGLE = 2.399963229728653
BY_FORCES = 350
"""Most members of a community, and most communities, that are laid out by forces."""
DRAWN = 40
"""Number of communities, the largest first, whose members are laid out by forces."""
ROUNDS = 300
"""Steps in which overlapping discs push each other apart."""
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
    """Everybody with a co-author, by community.

    Attributes:
        names: of the scientists, sorted.
        themes: main topic that most members of each community share; empty if unknown.
    """

    names: list[str]
    matrix: sparse.csr_array
    community: IntArray
    themes: list[str]
    method: str

    @cached_property
    def degree(self) -> IntArray:
        """Number of co-authors of each scientist."""
        degree: IntArray = np.diff(self.matrix.indptr).astype(np.int64)
        return degree

    @cached_property
    def sizes(self) -> IntArray:
        """Number of people in each community."""
        return np.bincount(self.community, minlength=len(self.themes))

    @cached_property
    def labels(self) -> list[str]:
        """A name for each community that no other has: its topic, if need be with a member.

        The member is the one with the most co-authors.
        """
        topics = [cut_text(theme, NAME_SHOWN) for theme in self.themes]
        first = _first_members(self.community, self.names, self.degree, self.degree, len(topics))
        return [
            topic if topic and topics.count(topic) == 1 else f"{topic} around {who}".strip()
            for topic, who in zip(topics, first, strict=True)
        ]

    @cached_property
    def discs(self) -> tuple[FloatArray, FloatArray]:
        """Centre and radius of the disc of each community; they hardly overlap."""
        radius = np.sqrt(self.sizes / max(len(self.names), 1))
        first = community_positions(self.matrix, self.community, len(self.sizes))
        return spread_discs(first, radius), radius

    @cached_property
    def positions(self) -> FloatArray:
        """Where everybody is drawn, n x 2, in the unit square."""
        if not self.names:
            return np.zeros((0, 2))
        centres, radius = self.discs
        places = np.zeros((len(self.names), 2))
        members = np.argsort(self.community, kind="stable")
        for number, rows in enumerate(np.split(members, np.cumsum(self.sizes)[:-1])):
            by_forces = number < DRAWN and 2 < len(rows) <= BY_FORCES
            drawn = member_positions(self.matrix, rows, by_forces)
            # A little inside its disc: members of touching communities stay apart.
            places[rows] = centres[number] + 0.9 * radius[number] * drawn
        places -= places.min(axis=0)
        unit: FloatArray = places / max(places.max(), 1e-9)
        return unit

    @cached_property
    def edges(self) -> IntArray:
        """Pairs with a joint paper, as numbers of scientists, m x 2, sorted."""
        ends = sparse.triu(self.matrix, k=1).tocoo().coords
        pairs = np.column_stack(ends).astype(np.int64)
        return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]

    @cached_property
    def outside(self) -> IntArray:
        """Co-authors of each in other communities, and the number of these communities, n x 2."""
        pairs = np.concatenate([self.edges, self.edges[:, ::-1]])
        pairs = np.column_stack([pairs[:, 0], self.community[pairs[:, 1]]])
        pairs = pairs[self.community[pairs[:, 0]] != pairs[:, 1]]
        each = pairs, np.unique(pairs, axis=0)
        both = [np.bincount(one[:, 0], minlength=len(self.names)) for one in each]
        return np.column_stack(both).astype(np.int64)


def run_communities(runs: Sequence[Run]) -> Communities:
    """The communities of a run at its end, or of several runs by the ties of all of them."""
    topics: dict[str, str] = {}
    for run in runs:
        people = run.table("scientists")
        topics |= dict(zip(people["scientist"], people["topic"].fillna(""), strict=True))
    ties = pd.concat([network_ties(run.table("ties"), "all") for run in runs])
    # A stream of the pages: a measure that draws more must not redraw the picture (rule 9).
    seed = Streams(runs[0].seed, "metrics", "page").key("communities") % 2**31
    return communities_of(ties, topics, seed)


def communities_of(ties: pd.DataFrame, topics: Mapping[str, str], seed: int = 0) -> Communities:
    """Find the communities of a network."""
    names = sorted({*ties["source"], *ties["target"]})
    matrix = adjacency(ties, names)
    known = [topics.get(name, "") for name in names]
    label, method = find_communities(matrix, known, seed)
    label = by_size(label)
    return Communities(names, matrix, label, _commonest(label, known), method)


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
    inner = 2 * force_directed_positions(placed, edges) - 1
    return np.concatenate([inner, spiral(1.2 * np.sqrt(1 + outside / count), outside)])


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


def member_positions(matrix: sparse.csr_array, rows: IntArray, by_forces: bool) -> FloatArray:
    """Positions of the members of one community in the disc of radius 1.

    By their ties; or on a spiral, the best connected in the middle.
    """
    if by_forces:
        ends = sparse.triu(matrix[rows][:, rows], k=1).tocoo()
        edges = np.column_stack(ends.coords).astype(np.int64)
        x, y = (2 * force_directed_positions(len(rows), edges) - 1).T
        # From the square of side 2 into the disc.
        return np.column_stack([x * np.sqrt(1 - y**2 / 2), y * np.sqrt(1 - x**2 / 2)])
    degree = np.diff(matrix.indptr)[rows]
    rank = np.argsort(np.argsort(-degree, kind="stable"), kind="stable")
    return spiral(np.sqrt((rank + 0.5) / len(rows)), rank)


def spiral(radius: FloatArray, rank: IntArray) -> FloatArray:
    """Points at these distances from the middle, each turned by the golden angle."""
    angle = rank * GOLDEN_ANGLE
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


MAX_DRAWN = 400
"""Scientists with a tie up to which each is drawn on the page of a run; of more, communities."""
MAX_CIRCLES = 150
SHARE_DRAWN = 0.9
"""Communities are drawn, the largest first, until they hold this share of the scientists."""
ROOM = 0.75
"""Circles are drawn so much smaller than the discs of communities, so that lines are seen."""
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
    labels: list[str]
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

    def rows(self, most: int) -> list[dict[str, Any]]:
        """The largest communities as rows of a table."""
        columns = {
            "people": self.people,
            "share": self.people / len(self.names),
            "label": self.labels,
            "papers": self.papers,
            "inside": self.inside,
            "across": self.across,
            "first": self.first,
        }
        table = pd.DataFrame(columns).head(most)
        table.insert(0, "number", [str(place + 1) for place in range(len(table))])
        return records(table)

    @property
    def note(self) -> str:
        """What is drawn, in sentences."""
        drawn, tied = len(self.people), len(self.names)
        found = count_of(drawn + self.rest_communities, "community", "communities")
        note = f"{format_number(tied)} scientists with a co-author, in {found}. "
        if not self.rest:
            return f"{note}Each is a circle whose area is that of its people."
        share = format_percent(self.people.sum() / tied)
        note += f"The {drawn} largest hold {share} of them; a circle’s area is that of its people. "
        return f"{note}The dashed circle, at the same scale, is all the others together."


def map_communities(whole: Communities, papers: Mapping[str, int]) -> CommunityMap:
    """Place the largest communities of a network, given the papers of each scientist in the run."""
    names, sizes = whole.names, whole.sizes
    enough = int(np.searchsorted(np.cumsum(sizes), SHARE_DRAWN * sizes.sum())) + 1
    drawn = min(enough, MAX_CIRCLES, len(sizes))
    held = np.minimum(whole.community, drawn)
    centres, radius = whole.discs
    between = count_pairs(held[whole.edges[:, 0]], held[whole.edges[:, 1]], drawn + 1)
    drawn_pairs = between[:drawn, :drawn]
    lines = strongest_pairs(drawn_pairs)
    inside = np.diag(drawn_pairs)
    written = np.array([papers.get(who, 0) for who in names], dtype=np.int64)
    return CommunityMap(
        centres=centres[:drawn],
        radius=ROOM * radius[:drawn],
        people=sizes[:drawn],
        labels=whole.labels[:drawn],
        first=_first_members(held, names, written, whole.degree, drawn),
        papers=np.bincount(held, written, minlength=drawn + 1)[:drawn].astype(np.int64),
        inside=inside,
        across=between[:drawn].sum(axis=1) - inside,
        lines=lines,
        pairs=drawn_pairs[lines[:, 0], lines[:, 1]],
        rest=int(sizes[drawn:].sum()),
        rest_communities=len(sizes) - drawn,
        method=whole.method,
        names=names,
        community=held,
    )


def pair_numbers(pairs: pd.DataFrame, names: Sequence[str]) -> IntArray:
    """Both ends of each pair as numbers of the people named, n x 2; -1 for others."""
    index = pd.Index(names)
    columns = [index.get_indexer(pd.Index(pairs[end])) for end in ("source", "target")]
    return np.column_stack(columns).astype(np.int64)


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


def _commonest(label: IntArray, topics: list[str]) -> list[str]:
    """The commonest main topic of each community; of several the first by name."""
    table = pd.DataFrame({"community": label, "topic": topics})
    counts = table[table["topic"] != ""].value_counts().reset_index()
    order = counts.sort_values(["community", "count", "topic"], ascending=[True, False, True])
    commonest = order.drop_duplicates("community").set_index("community")["topic"]
    return [str(commonest.get(number, "")) for number in range(int(label.max(initial=-1)) + 1)]


def _first_members(
    held: IntArray, names: list[str], papers: IntArray, degree: IntArray, count: int
) -> list[str]:
    """Of each community the member with most papers, then most co-authors, then by name."""
    order = np.lexsort((np.arange(len(names)), -degree, -papers, held))
    starts = np.searchsorted(held[order], np.arange(count))
    return [names[order[start]] for start in starts]
