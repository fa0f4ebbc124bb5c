"""Courses: the rule of careers at work, on those who are here and on each who comes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from society.careers import Careers
from society.steps import Steps
from society.streams import Streams
from society.world import World

if TYPE_CHECKING:
    from society.ecosystem.people import People
    from society.interventions import Change


def require(people: People, careers: Careers | None, interventions: Sequence[Change]) -> None:
    """Look whether the rules of careers of a run, now and later, can hold among these people.

    Raises:
        InputError: something is not known of them that a rule needs.
    """
    for rule in (careers, *(change.settings.get("careers") for change in interventions)):
        if rule is not None:
            rule.require(people)


class Courses:
    """The processes in which people come to a society, leave it and move.

    Args:
        world: whose people they are.
    """

    def __init__(self, world: World) -> None:
        self._world, self._lives = world, Streams(world.streams.seed, "careers")

    def turn(self, seed: int) -> None:
        """Draw everybody's course from another seed from now on."""
        self._lives.turn(seed)

    def begin(self, rule: Careers | None, rows: range) -> None:
        """A rule holds from now on for these people: everybody who was ever here, or a newcomer."""
        if rule is None:
            return
        streams = self._lives if rows.start == 0 else self._lives.below("newcomer", rows.start)
        for course in rule.courses(self._world, streams, rows):
            self._world.env.process(self._while_it_holds(course))

    def begin_anew(self, rule: Careers | None, number: int) -> None:
        """Another rule holds for everybody since the intervention of this number."""
        self._lives = Streams(self._world.streams.seed, "careers", "since", number)
        self.begin(rule, range(len(self._world.population)))

    def _while_it_holds(self, course: Steps) -> Steps:
        """A process of the rule of careers, until there is another rule."""
        lives = self._lives
        for event in course:
            yield event
            if lives is not self._lives:
                return
