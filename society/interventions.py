"""Interventions, which change settings or remove scientists on a stated date.

One comes first on its date (rule 11); running teams keep their settings (rule 23).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Discriminator, Field, Tag, model_validator

from virsci_society.agents.config import Part
from virsci_society.agents.errors import InputError
from virsci_society.society.kernel.durations import Days

if TYPE_CHECKING:
    from virsci_society.society.formation.founding import Founding
    from virsci_society.society.teams.world import World

Rank = Literal["degree", "papers", "citations", "random"]
MOST_PEOPLE = 100_000_000
"""Upper bound of a removal; whoever is fewer is removed but for one."""


class Removal(Part):
    """Scientists who leave the society, by rank."""

    count: int = Field(
        ge=1, le=MOST_PEOPLE, json_schema_extra={"hint": "say how many, such as count: 10"}
    )
    """How many leave; one scientist always remains."""
    by: Rank = "degree"
    """Those with most co-authors (``degree``), papers or citations; or at random."""


Named = tuple[Annotated[str, Field(min_length=1)], ...]
"""Masked names of scientists who leave the society."""


def _kind(value: Any) -> str:
    return "named" if isinstance(value, list | tuple) else "ranked"


Leaving = Annotated[
    Annotated[Removal, Tag("ranked")] | Annotated[Named, Tag("named")], Discriminator(_kind)
]
"""Who leaves: a number of scientists by rank, or scientists by name."""


class Intervention(Part):
    """What changes on one date."""

    at: Days = Field(json_schema_extra={"hint": "give its date, such as at: 1y"})
    """Date in simulated time from day 0."""
    set: dict[str, Any] = Field(default_factory=dict)
    """Dotted keys of founding, protocol, publication, careers or time, or the seed, with new
    values; running teams keep theirs."""
    remove_scientists: Leaving | None = None
    """Who leaves: a section or a list of names."""

    @model_validator(mode="after")
    def _changes_something(self) -> Intervention:
        if not self.set and not self.remove_scientists:
            raise ValueError("it changes nothing: give set or remove_scientists")
        return self


@dataclass(frozen=True)
class Change:
    """An intervention with checked values, by the name of the field of the world, or ``seed``."""

    date: float
    settings_json: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    removal: Removal | Named | None = None


def founds_alike(one: Founding, other: Founding) -> bool:
    """True if two rules found the same teams; the limit of teams per scientist is left aside."""
    return one.model_copy(update={"max_teams": other.max_teams}) == other


def intervene(world: World, number: int, change: Change) -> None:
    """Log an intervention and remove its scientists; the society has set its settings before."""
    removal = change.removal
    rows = [] if removal is None else _rows_to_remove(world, removal, number)
    names = [world.population.names[row] for row in rows]
    world.log.event("intervention", number=number, settings=change.settings_json, removed=names)
    by = removal.by if isinstance(removal, Removal) else "name" if removal else None
    world.log.row("interventions", number, change.date, change.settings_json, by, len(rows))
    for row in rows:
        world.depart(row, "removed")


def _rows_to_remove(world: World, removal: Removal | Named, number: int) -> list[int]:
    """The rows of the scientists whom a removal takes; at least one scientist is always left."""
    people = world.population
    here = np.ones(len(people), dtype=bool)
    here[list(people.departed)] = False
    most = int(here.sum()) - 1
    if not isinstance(removal, Removal):
        for name in removal:
            if name not in people.rows or not here[people.rows[name]]:
                raise InputError(
                    f"interventions: no scientist {name!r} is in the society on day "
                    f"{world.day:g}; name a present scientist, such as Scientist0"
                )
        return list(dict.fromkeys(people.rows[name] for name in removal))[:most]
    rows = np.flatnonzero(here)
    if removal.by == "random":
        # The number names the stream: two removals on one day draw different people (rule 9).
        rows = world.streams.stream("intervention", number).permutation(rows)
    else:
        by = removal.by
        ranks = world.network.degrees() if by == "degree" else people.totals(by)
        rows = rows[np.argsort(-ranks[rows], kind="stable")]
    return [int(row) for row in rows[: min(removal.count, most)]]
