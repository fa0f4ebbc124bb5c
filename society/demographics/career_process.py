"""The simulation processes that carry out a rule of careers on the clock.

``CareerProcess`` starts the processes of the rule for those who are in the society, and again for
each newcomer, and ends them when an intervention sets another rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from virsci_society.society.demographics.careers import Careers
from virsci_society.society.kernel.process import Process
from virsci_society.society.kernel.streams import Streams

if TYPE_CHECKING:
    from virsci_society.society.ecosystem.people import People
    from virsci_society.society.interventions import Change
    from virsci_society.society.teams.world import World


def check_career_rules(
    people: People, careers: Careers | None, interventions: Sequence[Change]
) -> None:
    """Check that all rules of careers of a run can work in a society that begins with some people.

    Args:
        people: the scientists of the ecosystem.
        careers: the rule from day 0 on, or None.
        interventions: the changes of the run, which may set further rules.

    Raises:
        InputError: a rule needs something that is not known of these people.
    """
    for rule in (careers, *(change.settings.get("careers") for change in interventions)):
        if rule is not None:
            rule.check_people(people)


class CareerProcess:
    """The processes in which people join a society, leave it and move.

    Args:
        world: the society, whose people they are.
    """

    def __init__(self, world: World) -> None:
        self._world, self._streams = world, Streams(world.streams.seed, "careers")

    def reseed(self, seed: int) -> None:
        """Draw everything about careers from another seed from now on."""
        self._streams.reseed(seed)

    def begin(self, rule: Careers | None, rows: range) -> None:
        """Start the processes of a rule now.

        Args:
            rule: the rule of careers; None starts nothing.
            rows: everybody who was ever in the society, or one newcomer.
        """
        if rule is None:
            return
        # A newcomer has streams of its own, so its arrival changes no draw of anybody else.
        own = self._streams
        streams = own if rows.start == 0 else own.below("newcomer", rows.start)
        for process in rule.processes(self._world, streams, rows):
            self._world.env.process(self._while_in_force(process))

    def restart(self, rule: Careers | None, number: int) -> None:
        """Replace the rule for everybody.

        Args:
            rule: the new rule, or None.
            number: of the intervention that sets it, which names the new random streams.
        """
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
