"""Careers: who comes to a society, who leaves it, and who goes to work elsewhere.

A rule is a part of the scenario. It gives processes for those who are here when it begins, and
the same for each newcomer on its date, all from streams of their own: so nothing else is drawn
otherwise because people come and go, and a longer run begins as a shorter one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import Field

from agents.errors import InputError
from agents.part import Part
from society.durations import Days
from society.mobility import Mobility
from society.newcomers import Newcomers
from society.retirement import Retirement, retire
from society.silence import fall_silent
from society.steps import Steps
from society.streams import Streams

if TYPE_CHECKING:
    from society.ecosystem.people import People
    from society.world import World


class Careers(Part):
    """Subclass it and write ``courses``."""

    def courses(self, world: World, streams: Streams, rows: range) -> Iterator[Steps]:
        """Processes that run from now on, each of timeouts only.

        Args:
            world: as of now.
            streams: of these people.
            rows: everybody who was ever here, where the rule begins; one newcomer on its date.
        """
        raise NotImplementedError

    def require(self, people: People) -> None:
        """Look whether the rule can ever hold in a society that begins with these people.

        Raises:
            InputError: something is not known of them that it needs.
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
    """Who has had no paper and no team for so long leaves; null: nobody does. The silence of those
    of day 0 begins then, whenever they wrote last. A limit as in Guimera et al. (2005), whose
    agents leave so."""
    mobility: Mobility | None = None
    """Who goes to work elsewhere, and where; null: nobody. Assumed."""

    def require(self, people: People) -> None:
        """Who moves has to be somewhere.

        Raises:
            InputError: mobility is stated and no institution is known.
        """
        if self.mobility is not None and not people.institutions:
            raise InputError(
                "careers.mobility: nothing is known of where the scientists of this ecosystem "
                "work; leave mobility out"
            )

    def courses(self, world: World, streams: Streams, rows: range) -> Iterator[Steps]:
        """One process for each of these that is stated."""
        # Here, since the whole world comes with it, and a scenario is checked without one.
        from society.comings import come, move

        if self.newcomers is not None:
            yield come(world, streams, rows, self.newcomers)
        if self.retirement is not None:
            yield retire(world, streams, rows, self.retirement)
        if self.inactivity is not None:
            yield fall_silent(world, rows, self.inactivity)
        if self.mobility is not None:
            yield move(world, streams, rows, self.mobility)
