"""Rules of careers, that is who joins a society, leaves it or moves to another institution.

A rule is a part of the scenario. It gives processes for those who are in the society when it
begins, and again for each newcomer on its date. All of them draw from streams of their own (rule
9), so nothing else is drawn differently because people come and go, and a longer run begins like
a shorter one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from virsci_society.agents.config import Part
from virsci_society.agents.errors import InputError
from virsci_society.society.demographics.departures import (
    Retirement,
    inactivity_process,
    retirement_process,
)
from virsci_society.society.demographics.mobility import Mobility, mobility_process
from virsci_society.society.demographics.newcomers import Newcomers, arrival_process
from virsci_society.society.kernel.durations import Days
from virsci_society.society.kernel.process import Process
from virsci_society.society.kernel.streams import Streams

if TYPE_CHECKING:
    from virsci_society.society.ecosystem.people import People
    from virsci_society.society.teams.world import World


class Careers(Part):
    """A rule of careers. Subclass it and write ``processes``.

    Example:
        >>> class Sabbatical(vs.Careers):
        ...     after: vs.Days = 365.0
        ...     def processes(self, world, streams, rows):
        ...         for row in rows:
        ...             yield self.rest(world, row)
        ...     def rest(self, world, row):
        ...         yield world.env.timeout(self.after)
        >>> len(list(Sabbatical(after="2y").processes(lab.world, None, range(3))))
        3
    """

    def processes(self, world: World, streams: Streams, rows: range) -> Iterator[Process[None]]:
        """The processes of some people's careers, which run from now on.

        Args:
            world: as of now.
            streams: the random streams of these people.
            rows: everybody who was ever in the society, when the rule begins; later one newcomer
                on the date of its arrival.

        Yields:
            Generators that yield timeouts only.
        """
        raise NotImplementedError

    def check_people(self, people: People) -> None:
        """Check that the rule can work in a society that begins with some people.

        Raises:
            InputError: the rule needs something that is not known of them.
        """


class Rates(Careers):
    """Newcomers, retirement and moves at rates, and an end to those who have fallen silent.

    What is not stated does not happen. The rates are those of people, so that there are twice as
    many of all these in a society of twice the size.
    """

    newcomers: Newcomers | None = None
    """Who comes, and how often; null: nobody. Assumed."""
    retirement: Retirement | None = None
    """How long a career lasts; null: as long as the run. Assumed."""
    inactivity: Days | None = Field(default=None, gt=0)
    """Who has had no paper and no team for so long leaves; null: nobody does. A limit as in Guimera
    et al. (2005), whose agents leave so."""
    silent_since: Literal["day_0", "last_paper"] = "day_0"
    """When the silence of the people of day 0 begins: on that day, whenever they wrote last, or
    with their last paper, so that who has been silent for too long leaves on day 0."""
    mobility: Mobility | None = None
    """Who goes to work elsewhere, and where; null: nobody. Assumed."""

    def check_people(self, people: People) -> None:
        """Check that an institution is known where the scenario has moves.

        Raises:
            InputError: mobility is stated and no institution is known.
        """
        if self.mobility is not None and not people.institutions:
            raise InputError(
                "careers.mobility: nothing is known of where the scientists of this ecosystem "
                "work; leave mobility out"
            )

    def processes(self, world: World, streams: Streams, rows: range) -> Iterator[Process[None]]:
        """One process for each setting that is stated."""
        if self.newcomers is not None:
            yield arrival_process(world, streams, rows, self.newcomers)
        if self.retirement is not None:
            yield retirement_process(world, streams, rows, self.retirement)
        if self.inactivity is not None:
            yield inactivity_process(
                world, rows, self.inactivity, self.silent_since == "last_paper"
            )
        if self.mobility is not None:
            yield mobility_process(world, streams, rows, self.mobility)
