"""Weisberg and Muldoon's model, in which scientists search two hills of significance for peaks.

In the program of the paper followers also moved to patches of equal significance, so that many
went to and fro (Alexander, Himmelreich and Thompson 2015); the paper does not say so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, ClassVar, Literal

from virsci_society.agents.errors import Dissolved
from virsci_society.protocols.classics.network_bandit import BEGUN
from virsci_society.society.teams.contracts import Manuscript, TeamProtocol

if TYPE_CHECKING:
    import numpy as np

    from virsci_society.society.kernel.durations import Process
    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import Team

SIDE = 101
"""Patches along each side of the torus."""
HILLS = ((75, 75, 0.75, 0.02, 0.01, 0.02), (45, 45, 0.70, 0.01, 0.01, 0.01))
"""Of each hill: the patch of its peak, its height, and a, b, c of exp(-(a x^2 + b x y + c y^2)),
where x and y are distances from the peak. Weisberg and Muldoon 2009, by their program."""
LOW = 10
"""Scientists start on patches of less significance than this, in thousandths."""
RESTLESS = 0.02
"""Probability that a control moves on from a patch no better than the one before."""
COMPASS = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1))
"""The eight headings, so that the opposite of one is four places further."""


def _significance(x: int, y: int) -> int:
    hills = (
        height * math.exp(-(a * (x - px) ** 2 + b * (x - px) * (y - py) + c * (y - py) ** 2))
        for px, py, height, a, b, c in HILLS
    )
    return int(1000 * sum(hills))


SIGNIFICANCE = [_significance(x, y) for x, y in product(range(SIDE), repeat=2)]
"""Of each patch, in thousandths; patches are numbered row by row."""
SIGNIFICANT = sum(one > 0 for one in SIGNIFICANCE)
"""Patches that are significant at all."""
START = [patch for patch, one in enumerate(SIGNIFICANCE) if one < LOW]
"""Patches on which scientists start."""
PEAKS = tuple(px * SIDE + py for px, py, *_ in HILLS)
AROUND = [
    [(x + dx) % SIDE * SIDE + (y + dy) % SIDE for dx, dy in COMPASS]
    for x, y in product(range(SIDE), repeat=2)
]
"""The eight neighbours of each patch, by heading."""

Strategy = Literal["control", "follower", "published_follower", "maverick"]


@dataclass
class Searched:
    """What is known of the landscape in a run."""

    known: list[float] = field(default_factory=lambda: [math.inf] * SIDE**2)
    begun: set[str] = field(default_factory=set)


@dataclass
class Searcher:
    """The position of a scientist in the landscape."""

    patch: int
    heading: int
    before: int = 0

    def go(self, heading: int) -> None:
        """Move one patch in a direction, and remember how significant this one was."""
        self.before = SIGNIFICANCE[self.patch]
        self.heading, self.patch = heading, AROUND[self.patch][heading]

    def turn_back(self, rng: np.random.Generator) -> None:
        """Move back to the patch before, and turn to any direction."""
        self.patch = AROUND[self.patch][(self.heading + 4) % 8]
        self.heading = draw(range(8), rng)


class EpistemicLandscape(TeamProtocol):
    """Scientists on their own search a landscape of significance, one patch a day.

    Every scientist leads one team of one, which works to the end of the run and publishes nothing.
    Moves go to one of the eight neighbours; in the program of the paper headings are continuous.
    """

    citation: ClassVar[str] = "Weisberg and Muldoon 2009"

    strategy: Strategy = "follower"
    """``control``: hill climbing; ``follower``: to the best visited neighbouring patch if better,
    else an unvisited one; ``published_follower``: also if equal, as in the original program;
    ``maverick``: avoid visited patches. Source: Weisberg and Muldoon 2009, corrected by Alexander,
    Himmelreich and Thompson 2015."""

    @property
    def name(self) -> str:
        """The name under which tables list its teams."""
        return "epistemic_landscape"

    def run(self, team: Team, lab: Lab) -> Process[Manuscript]:
        """Move every day, to the end of the run."""
        return (yield from lab.stage("search", self._search(team, lab)))

    def _search(self, team: Team, lab: Lab) -> Process[Manuscript]:
        searched: Searched = lab.world.shared.setdefault("landscape", Searched())
        if team.leader in searched.begun:
            raise Dissolved(BEGUN)
        searched.begun.add(team.leader)
        rng = lab.rng("search")
        me = Searcher(draw(START, rng), draw(range(8), rng))
        team.notes["found"] = 0.0
        while True:
            # Known from the next day on: the order within a day changes nothing (rule 11).
            if lab.now + 1 < searched.known[me.patch]:
                # For the tables: first discoveries, and the dates of peaks.
                if SIGNIFICANCE[me.patch] > 0 and searched.known[me.patch] == math.inf:
                    team.notes["found"] += 1 / SIGNIFICANT
                if me.patch in PEAKS:
                    team.notes.setdefault(f"peak_{PEAKS.index(me.patch) + 1}", lab.now)
                searched.known[me.patch] = lab.now + 1
            yield from lab.wait(1.0)
            seen = [searched.known[patch] <= lab.now for patch in AROUND[me.patch]]
            self._move(me, seen, rng)

    def _move(self, me: Searcher, seen: list[bool], rng: np.random.Generator) -> None:
        """Move, or stay, given which of the eight neighbours have been visited."""
        here, unvisited = SIGNIFICANCE[me.patch], [n for n, seen_n in enumerate(seen) if not seen_n]
        if self.strategy == "control":
            if here > me.before:
                me.go(me.heading)
            elif here < me.before:
                me.turn_back(rng)
            elif rng.random() < RESTLESS:
                me.go(draw(range(8), rng))
            return
        around = zip(AROUND[me.patch], seen, strict=True)
        values = [SIGNIFICANCE[near] if visited else -1 for near, visited in around]
        best = max(values)
        headings = [heading for heading, value in enumerate(values) if value == best]
        if self.strategy == "maverick":
            if here < me.before:
                me.turn_back(rng)
            elif unvisited:
                me.go(draw(unvisited, rng) if seen[me.heading] else me.heading)
            elif best >= here:
                me.go(draw(headings, rng))
        elif best > here or (self.strategy == "published_follower" and best == here):
            me.go(draw(headings, rng))
        elif unvisited:
            me.go(draw(unvisited, rng))


def draw(items: list[int] | range, rng: np.random.Generator) -> int:
    """One of some numbers, each with the same probability."""
    return items[int(rng.random() * len(items))]
