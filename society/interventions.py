"""Interventions: what changes in a society from a stated date on.

An intervention comes first on its date (rule 11). Settings hold for what begins from then on:
teams keep those they were founded with (rule 23), the limit of teams per scientist is everybody's
at once. Scientists who are removed leave their teams and are not asked any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass as plain_dataclass
from dataclasses import field
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from society.durations import Days

if TYPE_CHECKING:
    from society.founding import Founding
    from society.network import CoauthorNetwork
    from society.population import Population
    from society.runlog import RunLog
    from society.streams import Streams

Rank = Literal["degree", "papers", "citations", "random"]

_STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True, config=_STRICT)
class Removal:
    """Scientists who leave the society.

    Attributes:
        count: how many; everybody but one at most.
        by: ``degree`` (co-authors), ``papers`` and ``citations`` take those with most of it as of
            the date, ties by row; ``random`` takes anybody.
    """

    count: Annotated[int, Field(ge=1)]
    by: Rank = "degree"


@dataclass(frozen=True, config=_STRICT)
class Intervention:
    """One entry of ``interventions`` in a scenario.

    Attributes:
        at: its date.
        set: dotted keys and the values that hold from then on.
        remove_scientists: who leaves.
    """

    at: Days
    set: dict[str, Any] = field(default_factory=dict)
    remove_scientists: Removal | None = None

    def __post_init__(self) -> None:
        if not self.set and self.remove_scientists is None:
            raise ValueError("it changes nothing: give set or remove_scientists")


SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["at"],
        "properties": {
            "at": {"type": ["string", "number"]},
            "set": {"type": "object"},
            "remove_scientists": {
                "type": "object",
                "required": ["count"],
                "properties": {
                    "count": {"type": "integer", "minimum": 1},
                    "by": {"enum": ["degree", "papers", "citations", "random"]},
                },
                "additionalProperties": False,
            },
        },
        "additionalProperties": False,
    },
}
"""JSON Schema of a list of them, for editors."""


@plain_dataclass(frozen=True)
class Change:
    """An intervention whose values have become parts.

    Attributes:
        date: in days.
        told: what is set, as JSON; None where nothing is.
        settings: by the name the society knows them under (founding, protocol, publication, times,
            seed).
        removal: who leaves.
    """

    date: float
    told: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    removal: Removal | None = None


def founds_alike(one: Founding, other: Founding) -> bool:
    """Do two rules call for the same teams? The limit of teams per scientist calls for none."""
    return one.model_copy(update={"max_teams": other.max_teams}) == other


class Peopled(Protocol):
    """As much of a world as a removal needs."""

    population: Population
    network: CoauthorNetwork
    streams: Streams
    log: RunLog

    def depart(self, row: int, why: str) -> None:
        """A scientist leaves the society now."""


def intervene(world: Peopled, number: int, change: Change) -> None:
    """Log an intervention and let those go whom it removes; settings are the society's affair."""
    removal = change.removal
    rows = [] if removal is None else chosen(world, removal, number)
    names = [world.population.names[row] for row in rows]
    world.log.event("intervention", number=number, settings=change.told, removed=names)
    by = None if removal is None else removal.by
    world.log.row("interventions", number, change.date, change.told, by, len(rows))
    for row in rows:
        world.depart(row, "removed")


def chosen(world: Peopled, removal: Removal, number: int) -> list[int]:
    """Rows of those whom a removal takes, the first of the ranking first; one is always left."""
    people = world.population
    here = np.ones(len(people), dtype=bool)
    here[list(people.gone)] = False
    rows = np.flatnonzero(here)
    count = min(removal.count, len(rows) - 1)
    if removal.by == "random":
        rng = world.streams.stream("intervention", number)
        return [int(row) for row in rng.permutation(rows)[:count]]
    ranks: npt.NDArray[np.int64] = (
        world.network.degrees() if removal.by == "degree" else people.standing(removal.by)
    )
    order = np.argsort(-ranks[rows], kind="stable")
    return [int(row) for row in rows[order[:count]]]
