"""Rules for leaders, which choose who founds a team by what people have done until then."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.random import Generator
from pydantic import Field

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.config import Part
from virsci_society.agents.errors import InputError
from virsci_society.society.formation.sampling import (
    count_weights,
    fading_papers,
    sample_by_count,
    sample_by_rejection,
    sample_uniformly,
)
from virsci_society.society.kernel.durations import Days
from virsci_society.society.literature.papers import DAYS_PER_YEAR

if TYPE_CHECKING:
    from virsci_society.society.formation.world_view import PapersView, WorldView
    from virsci_society.society.population.event_counts import FadingPapers


class Leaders(Part):
    """A rule that chooses the leader of a new team.

    Subclass it and write ``choose``, the draw, and ``weights``, its definition.

    Example:
        >>> import numpy as np
        >>> class Eldest(vs.Leaders):
        ...     def choose(self, excluded, world, rng):
        ...         free = [row for row in range(len(world.population)) if row not in excluded]
        ...         return free[0] if free else None
        ...     def weights(self, candidates, world):
        ...         return np.array([float(row == min(candidates)) for row in candidates])
        >>> Eldest().choose({0, 1}, lab.world, None), Eldest().weights([3, 5], lab.world)
        (2, array([1., 0.]))
    """

    def choose(self, excluded: AbstractSet[int], world: WorldView, rng: Generator) -> int | None:
        """Draw the row of a team's leader, who is not among the excluded rows; None: nobody may."""
        raise NotImplementedError

    def weights(self, candidates: Sequence[int], world: WorldView) -> FloatArray:
        """The rule's definition: unnormalised probabilities (>= 0) of the rows ``candidates``."""
        raise NotImplementedError


class Anybody(Leaders):
    """All eligible scientists, with equal probability."""

    def choose(self, excluded: AbstractSet[int], world: PapersView, rng: Generator) -> int | None:
        """Draw uniformly among those who are not excluded."""
        return sample_uniformly(len(world.population), excluded, rng)

    def weights(self, candidates: Sequence[int], world: PapersView) -> FloatArray:
        """1 for everybody."""
        return np.ones(len(candidates))


class Productive(Leaders):
    """In proportion to papers plus a floor (cumulative advantage: Price 1976)."""

    floor: float = Field(default=1.0, ge=0, le=1_000_000, allow_inf_nan=False)
    """Added to every count, so that newcomers can lead. Unit: papers. Source: Price 1976."""
    memory: Days | None = Field(default=None, gt=30, le=36_500)
    """Time after which a paper's weight has fallen to 1/e; null: never."""

    def choose(self, excluded: AbstractSet[int], world: WorldView, rng: Generator) -> int | None:
        """Draw in proportion to papers plus floor."""
        return sample_by_count(world, "papers", self.floor, excluded, rng, self.memory)

    def weights(self, candidates: Sequence[int], world: WorldView) -> FloatArray:
        """Papers before now, plus floor."""
        return count_weights(world, "papers", self.floor, candidates, self.memory)


class ByPreferentialAttachment(Leaders):
    """In proportion to prominence plus a floor (the Matthew effect: Merton 1968)."""

    by: Literal["citations", "coauthors"] = "citations"
    """Citations, or distinct co-authors. Source: Merton 1968."""
    floor: float = Field(default=1.0, ge=0, le=1_000_000, allow_inf_nan=False)
    """Added to every count. Unit: citations or co-authors."""

    def choose(self, excluded: AbstractSet[int], world: WorldView, rng: Generator) -> int | None:
        """Draw in proportion to citations or co-authors, plus floor."""
        return sample_by_count(world, self.by, self.floor, excluded, rng)

    def weights(self, candidates: Sequence[int], world: WorldView) -> FloatArray:
        """Citations or co-authors before now, plus floor."""
        return count_weights(world, self.by, self.floor, candidates)


class ByFadingPapers(Leaders):
    """By a power of the discounted number of papers, times individual productivity.

    The productivity of a person is constant and gamma distributed with mean 1, so the papers that
    a person leads follow a negative binomial law where all else is equal (Huber, Technological
    Forecasting and Social Change 65:101, 2000). Somebody without a paper leads by
    ``newcomers.lead`` of the protocol only, and where nobody has one everybody leads alike.
    """

    memory: Days | None = Field(default=3 * DAYS_PER_YEAR, gt=30, le=36_500)
    """Time after which a paper's weight has fallen to 1/e; null: never. Source: calibrated."""
    exponent: float = Field(default=1.0, ge=0, le=5)
    """Exponent of the discounted number of papers. Source: calibrated."""
    coauthored: float = Field(default=1.0, ge=0, le=1)
    """Weight of a co-authored paper, relative to a led one. Source: calibrated."""
    limit: float | None = Field(default=None, ge=0.1, le=10_000)
    """Saturation: n discounted papers count n / (1 + n / limit); null: n. Unit: papers. Source:
    calibrated."""
    shape: float | None = Field(default=None, gt=0.01, le=10_000)
    """Gamma shape of individual productivity (variance 1 / shape); null: all equal. Source:
    calibrated."""

    def choose(self, excluded: AbstractSet[int], world: PapersView, rng: Generator) -> int | None:
        """Draw by productivity and fading papers."""
        fading = self._fading(world)
        people = len(world.population)
        # Nobody has a paper yet that counts, so there are no weights to draw by.
        if fading.total <= 0:
            return sample_uniformly(people, excluded, rng)

        return sample_by_rejection(
            lambda: fading.propose(rng), fading.weights, people, excluded, rng
        )

    def weights(self, candidates: Sequence[int], world: PapersView) -> FloatArray:
        """Productivity x fading papers to the power; 1 for everybody where all are 0."""
        fading = self._fading(world)
        if fading.total <= 0:
            return np.ones(len(candidates))
        return fading.weights(np.asarray(candidates, dtype=np.int64))

    def _fading(self, world: PapersView) -> FadingPapers:
        return fading_papers(
            world, self.memory, self.exponent, self.shape, self.coauthored, self.limit
        )


class Selected(Leaders):
    """By the selection policy of the protocol, as the first member of an empty team."""

    def choose(self, excluded: AbstractSet[int], world: WorldView, rng: Generator) -> int | None:
        """Draw by the policy, for a team without members."""
        row: int | None = self._policy(world).choose((), excluded, world, rng)
        return row

    def weights(self, candidates: Sequence[int], world: WorldView) -> FloatArray:
        """The weights of the policy for a team without members."""
        weights: FloatArray = self._policy(world).probabilities((), candidates, world)
        return weights

    def _policy(self, world: WorldView) -> Any:
        """The selection policy of the protocol; InputError where it has none."""
        # Asked at each founding: an intervention may have set another protocol (rule 23).
        policy = world.selection
        if policy is None:
            raise InputError(
                f"founding.leaders: the protocol {world.protocol_name} has no selection policy; "
                "name another rule"
            )
        return policy.of_run(world.streams.seed)


class Named(Leaders):
    """Given scientists, with equal probability."""

    people: tuple[str, ...] = Field(min_length=1)
    """Masked names, such as ``[Scientist3, Scientist17]``."""

    def choose(self, excluded: AbstractSet[int], world: WorldView, rng: Generator) -> int | None:
        """Draw uniformly among the stated people who are not excluded."""
        left = [row for row in self._rows(world) if row not in excluded]
        return left[int(rng.integers(len(left)))] if left else None

    def weights(self, candidates: Sequence[int], world: WorldView) -> FloatArray:
        """1 for the stated people, 0 for all others."""
        return np.isin(np.asarray(candidates), self._rows(world)).astype(float)

    def _rows(self, world: WorldView) -> list[int]:
        return world.rows_of(self.people, "founding.leaders.people")
