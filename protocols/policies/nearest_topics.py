"""Topics: those who work on what one works on."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np
from pydantic import Field

from society.drawing import Rows, draw
from society.ecosystem.knowledge import interests_text
from society.interfaces import SelectionPolicy
from society.surroundings import Surroundings


class NearestTopics(SelectionPolicy):
    """Those whose interests are nearest to the leader's, each alike; now and then anybody.

    P_ij = x / n + (1 - x) / k for the k scientists nearest to i by the cosine of their interests
    in the author knowledge bank as of the date, x / n for all others (topical homophily:
    McPherson, Smith-Lovin and Cook, Annual Review of Sociology 27:415, 2001).
    """

    nearest: int = Field(default=20, ge=1, le=10_000)
    """k: how many are near; at most all others."""
    explore: float = Field(default=0.1, ge=0, le=1)
    """x: probability of a draw from everybody."""

    def choose(
        self,
        members: Sequence[int],
        excluded: AbstractSet[int],
        world: Surroundings,
        rng: np.random.Generator,
    ) -> int | None:
        """One draw from the leader's neighbours in interests, or from everybody."""
        if not members:
            return super().choose(members, excluded, world, rng)
        near, people = self._near(members[0], world), len(world.population)
        open_ = [row for row in near if row not in excluded]
        if not open_ and not self.explore:
            return None

        def propose() -> int | None:
            if rng.random() < self.explore:
                return int(rng.integers(people))
            return near[int(rng.integers(len(near)))] if near else None

        def weights(rows: Rows) -> np.ndarray:
            return self._of(near, rows, people)

        return draw(propose, weights, people, excluded, rng)

    def chances(
        self, members: Sequence[int], candidates: Sequence[int], world: Surroundings
    ) -> np.ndarray:
        """P_ij of the candidates."""
        if not members:
            return super().chances(members, candidates, world)
        near = self._near(members[0], world)
        return self._of(near, np.asarray(candidates), len(world.population))

    def _of(self, near: list[int], rows: Rows, people: int) -> np.ndarray:
        return self.explore / people + (1 - self.explore) * np.isin(rows, near) / max(1, len(near))

    def _near(self, leader: int, world: Surroundings) -> list[int]:
        """The nearest by interests of those who are here, but for the leader; on a tie by name."""
        name, bank = world.population.names[leader], world.knowledge
        version = bank.visible(world.day)
        text = interests_text(bank.profile(name, version))
        others = frozenset({name}) | world.population.absent()
        found = bank.search(text, self.nearest, version, others)
        return [world.population.rows[one.id] for one in found]
