"""Rules for leaders, which choose who founds a team by what people have done until then.

A rule is asked on the date of founding, with a random stream of its own (rule 9). It draws among
those who may lead: who are not at their limit of teams, and have not founded another team on the
same date. A draw takes no time in proportion to the population.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field

from agents.arrays import FloatArray
from agents.config import Part
from agents.errors import InputError
from society.formation.cumulative_advantage import count_weights, sample_by_count
from society.formation.rejection_sampling import sample_uniformly

if TYPE_CHECKING:
    from society.formation.world_view import WorldView


class Leaders(Part):
    """Who leads a team that is founded.

    Subclass it and write ``choose``, the draw, and ``weights``, its definition.
    """

    def choose(
        self, excluded: AbstractSet[int], world: WorldView, rng: np.random.Generator
    ) -> int | None:
        """Draw the leader of one team.

        Args:
            excluded: rows of those who may not lead now.
            world: as of now.
            rng: the random stream of this founding.

        Returns:
            A row, or None if nobody may lead.
        """
        raise NotImplementedError

    def weights(self, candidates: Sequence[int], world: WorldView) -> FloatArray:
        """The weights by which ``choose`` draws: the rule's definition.

        Args:
            candidates: rows of people who may lead.
            world: as of now.

        Returns:
            Unnormalised probabilities (>= 0), an array of the length of ``candidates``.
        """
        raise NotImplementedError


class Anybody(Leaders):
    """Everybody who may lead, with equal probability."""

    def choose(
        self, excluded: AbstractSet[int], world: WorldView, rng: np.random.Generator
    ) -> int | None:
        """Draw uniformly among those who are not excluded."""
        return sample_uniformly(len(world.population), excluded, rng)

    def weights(self, candidates: Sequence[int], world: WorldView) -> FloatArray:
        """1 for everybody."""
        return np.ones(len(candidates))


class Productive(Leaders):
    """In proportion to papers as of the date, plus a floor (cumulative advantage: Price 1976)."""

    floor: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    """Added to everybody's number of papers, so that newcomers lead too."""

    def choose(
        self, excluded: AbstractSet[int], world: WorldView, rng: np.random.Generator
    ) -> int | None:
        """Draw in proportion to papers plus floor."""
        return sample_by_count(world, "papers", self.floor, excluded, rng)

    def weights(self, candidates: Sequence[int], world: WorldView) -> FloatArray:
        """Papers before now, plus floor."""
        return count_weights(world, "papers", self.floor, candidates)


class ByProminence(Leaders):
    """In proportion to standing as of the date, plus a floor (the Matthew effect: Merton 1968)."""

    by: Literal["citations", "coauthors"] = "citations"
    """Citations received, or distinct co-authors."""
    floor: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    """Added to everybody's standing."""

    def choose(
        self, excluded: AbstractSet[int], world: WorldView, rng: np.random.Generator
    ) -> int | None:
        """Draw in proportion to citations or co-authors, plus floor."""
        return sample_by_count(world, self.by, self.floor, excluded, rng)

    def weights(self, candidates: Sequence[int], world: WorldView) -> FloatArray:
        """Citations or co-authors before now, plus floor."""
        return count_weights(world, self.by, self.floor, candidates)


class Selected(Leaders):
    """By the selection policy of the protocol, as the first member of an empty team.

    So the leader is drawn like everybody else, as models of team assembly have it.
    """

    def choose(
        self, excluded: AbstractSet[int], world: WorldView, rng: np.random.Generator
    ) -> int | None:
        """Draw by the policy, for a team without members."""
        row: int | None = self._policy(world).choose((), excluded, world, rng)
        return row

    def weights(self, candidates: Sequence[int], world: WorldView) -> FloatArray:
        """The weights of the policy for a team without members."""
        weights: FloatArray = self._policy(world).chances((), candidates, world)
        return weights

    def _policy(self, world: WorldView) -> Any:
        """The selection policy of the protocol.

        Raises:
            InputError: the protocol has none.
        """
        policy = world.selection
        if policy is None:
            raise InputError(
                f"founding.leaders: the protocol {world.protocol_name} selects nobody by a policy; "
                "name another rule"
            )
        return policy.of_run(world.streams.seed)


class Named(Leaders):
    """Stated people, with equal probability."""

    people: tuple[str, ...] = Field(min_length=1)
    """Masked names, such as ``[Scientist3, Scientist17]``."""

    def choose(
        self, excluded: AbstractSet[int], world: WorldView, rng: np.random.Generator
    ) -> int | None:
        """Draw uniformly among the stated people who are not excluded."""
        left = [row for row in self._rows(world) if row not in excluded]
        return left[int(rng.integers(len(left)))] if left else None

    def weights(self, candidates: Sequence[int], world: WorldView) -> FloatArray:
        """1 for the stated people, 0 for all others."""
        return np.isin(np.asarray(candidates), self._rows(world)).astype(float)

    def _rows(self, world: WorldView) -> list[int]:
        return world.rows_of(self.people, "founding.leaders.people")
