"""Rules of careers, that is who joins a society, leaves it or moves to another institution.

A rule is a part of the scenario. It gives processes for those who are in the society when it
begins, and again for each newcomer on its date. All of them draw from streams of their own (rule
9), so nothing else is drawn differently because people come and go, and a longer run begins like
a shorter one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from virsci_society.agents.config import Part
from virsci_society.agents.errors import InputError
from virsci_society.society.departures import (
    Mobility,
    Retirement,
    inactivity_process,
    mobility_process,
    retirement_process,
)
from virsci_society.society.kernel.durations import Days, Process
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.newcomers import Newcomers, arrival_process

if TYPE_CHECKING:
    from virsci_society.society.ecosystem.people import People
    from virsci_society.society.interventions import Change
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
    """Who comes, and how often; null: nobody. Assumed. Source: off."""
    retirement: Retirement | None = None
    """How long a career lasts; null: as long as the run. Assumed. Source: off."""
    inactivity: Days | None = Field(default=None, gt=0)
    """Who has had no paper and no team for so long leaves; null: nobody does. A limit as in Guimera
    et al. (2005), whose agents leave so. Unit: days. Source: off: assumed; Guimera et al. 2005 have
    tau for it."""
    silent_since: Literal["day_0", "last_paper"] = "day_0"
    """When the silence of the people of day 0 begins: on that day, whenever they wrote last, or
    with their last paper, so that who has been silent for too long leaves on day 0. Source:
    assumed."""
    mobility: Mobility | None = None
    """Who goes to work elsewhere, and where; null: nobody. Assumed. Source: off."""

    def check_people(self, people: People) -> None:
        """Check that an institution is known where the scenario has moves."""
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


def check_career_rules(
    people: People, careers: Careers | None, interventions: Sequence[Change]
) -> None:
    """Check that all rules of careers of a run can work in a society of these people."""
    # Those of interventions too: a run must not fail years after its start for want of a fact.
    for rule in (careers, *(change.settings.get("careers") for change in interventions)):
        if rule is not None:
            rule.check_people(people)


class CareerProcess:
    """The processes in which people join a society, leave it and move.

    It starts those of the rule for the people of the beginning and again for each newcomer, and
    ends them when an intervention sets another rule.

    Args:
        world: the society, whose people they are.
    """

    def __init__(self, world: World) -> None:
        self._world, self._streams = world, Streams(world.streams.seed, "careers")

    def reseed(self, seed: int) -> None:
        """Draw everything about careers from another seed from now on."""
        self._streams.reseed(seed)

    def begin(self, rule: Careers | None, rows: range) -> None:
        """Start the processes of a rule now, for everybody (rows) or one newcomer."""
        if rule is None:
            return
        # A newcomer has streams of its own, so its arrival changes no draw of anybody else.
        own = self._streams
        streams = own if rows.start == 0 else own.below("newcomer", rows.start)
        for process in rule.processes(self._world, streams, rows):
            self._world.env.process(self._while_in_force(process))

    def restart(self, rule: Careers | None, number: int) -> None:
        """Replace the rule for everybody; the number of the intervention names the new streams."""
        self._streams = Streams(self._world.streams.seed, "careers", "since", number)
        self.begin(rule, range(len(self._world.population)))

    def _while_in_force(self, process: Process[None]) -> Process[None]:
        """Run a process of the rule until another rule replaces it."""
        streams = self._streams
        for event in process:
            yield event
            # New streams mean a new rule: whatever this process would do next is dropped.
            if streams is not self._streams:
                return
