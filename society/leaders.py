"""Leaders: who founds a team, where that is a matter of what people have done until then.

A rule is asked on the date of founding, with a stream of its own, and draws among those who may
lead: not at their limit of teams, and not the founder of another team on the same date. Nothing
here takes time in proportion to the population.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field

from agents.errors import InputError
from agents.part import Part
from society.drawing import Weights, draw
from society.standing import draw_by, weights_by

if TYPE_CHECKING:
    from society.surroundings import Surroundings


class Leaders(Part):
    """Who leads; subclass it and write ``choose``, and its definition as ``weights``."""

    def choose(
        self, excluded: AbstractSet[int], world: Surroundings, rng: np.random.Generator
    ) -> int | None:
        """One scientist (row) who is not excluded, or None if nobody may lead."""
        raise NotImplementedError

    def weights(self, candidates: Sequence[int], world: Surroundings) -> Weights:
        """The unnormalised probabilities of these candidates: the rule's definition."""
        raise NotImplementedError


class Anybody(Leaders):
    """Everybody who may lead, with equal probability."""

    def choose(
        self, excluded: AbstractSet[int], world: Surroundings, rng: np.random.Generator
    ) -> int | None:
        """One of those who are not excluded."""
        people = len(world.population)

        def propose() -> int:
            return int(rng.integers(people))

        return draw(propose, lambda rows: np.ones(len(rows)), people, excluded, rng)

    def weights(self, candidates: Sequence[int], world: Surroundings) -> Weights:
        """One for everybody."""
        return np.ones(len(candidates))


class Productive(Leaders):
    """In proportion to papers as of the date, plus a floor (cumulative advantage: Price 1976)."""

    floor: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    """Added to everybody's number of papers, so that newcomers lead too."""

    def choose(
        self, excluded: AbstractSet[int], world: Surroundings, rng: np.random.Generator
    ) -> int | None:
        """One draw by papers."""
        return draw_by(world, "papers", self.floor, excluded, rng)

    def weights(self, candidates: Sequence[int], world: Surroundings) -> Weights:
        """Papers plus floor."""
        return weights_by(world, "papers", self.floor, candidates)


class Standing(Leaders):
    """In proportion to standing as of the date, plus a floor (the Matthew effect: Merton 1968)."""

    by: Literal["citations", "coauthors"] = "citations"
    """Citations received, or distinct co-authors."""
    floor: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    """Added to everybody's standing."""

    def choose(
        self, excluded: AbstractSet[int], world: Surroundings, rng: np.random.Generator
    ) -> int | None:
        """One draw by standing."""
        return draw_by(world, self.by, self.floor, excluded, rng)

    def weights(self, candidates: Sequence[int], world: Surroundings) -> Weights:
        """Standing plus floor."""
        return weights_by(world, self.by, self.floor, candidates)


class Selected(Leaders):
    """By the selection policy of the protocol, as the first member of an empty team.

    So the leader is drawn like everybody else, as models of team assembly have it.
    """

    def choose(
        self, excluded: AbstractSet[int], world: Surroundings, rng: np.random.Generator
    ) -> int | None:
        """One draw of the policy."""
        found: int | None = self._policy(world).choose((), excluded, world, rng)
        return found

    def weights(self, candidates: Sequence[int], world: Surroundings) -> Weights:
        """Those of the policy for an empty team."""
        found: Weights = self._policy(world).chances((), candidates, world)
        return found

    def _policy(self, world: Surroundings) -> Any:
        policy = getattr(world.protocol, "selection", None)
        if policy is None:
            raise InputError(
                f"founding.leaders: the protocol {world.protocol.name} selects nobody by a policy; "
                "name another rule"
            )
        return policy.of_run(world.streams.seed)


class Named(Leaders):
    """Stated people, with equal probability."""

    people: tuple[str, ...] = Field(min_length=1)
    """Masked names, such as ``[Scientist3, Scientist17]``."""

    def choose(
        self, excluded: AbstractSet[int], world: Surroundings, rng: np.random.Generator
    ) -> int | None:
        """One of them who is not excluded."""
        left = [row for row in self._rows(world) if row not in excluded]
        return left[int(rng.integers(len(left)))] if left else None

    def weights(self, candidates: Sequence[int], world: Surroundings) -> Weights:
        """One for those named, nothing for all others."""
        return np.isin(np.asarray(candidates), self._rows(world)).astype(float)

    def _rows(self, world: Surroundings) -> list[int]:
        return world.rows_of(self.people, "founding.leaders.people")
