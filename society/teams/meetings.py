"""Meeting: everybody in one room; and homework: one person at one desk.

Both are the only ways to a scientist's attention. A meeting asks for the presence of all
members in one instant, so requests queue in one global order and nobody can wait in a circle.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import Any, NamedTuple

import simpy

from agents.errors import ProtocolError
from society.durations import Role
from society.steps import Steps
from society.team import Team
from society.world import World


class Appointment(NamedTuple):
    """When a meeting was called, and for which date."""

    called: float
    due: float


class Meeting:
    """One turn of a discussion; a context that holds its members' presence.

    Entering it asks for everybody and gives the event to wait for; leaving it frees them and
    writes the row of the table ``meetings``.
    """

    def __init__(
        self,
        world: World,
        team: Team,
        appointment: Appointment,
        stage: str,
        visit: int,
        turn: int,
    ) -> None:
        self._world = world
        self._team = team
        self._appointment = appointment
        self._place = (stage, visit, turn)
        self._people = tuple(team.members)
        self._requests = ExitStack()
        self._last: str | None = None
        self._held: float | None = None

    def __enter__(self) -> simpy.Event:
        env, attention = self._world.env, self._world.attention
        if self._team.in_meeting:
            raise ProtocolError(f"{self._team.id} is in a meeting: leave its room first")
        self._team.in_meeting = True
        if not attention.limited:
            everybody: simpy.Event = env.timeout(0)
        else:
            waiting = []
            for person in self._people:
                request = self._requests.enter_context(attention.presence(person).request())
                request.callbacks.append(lambda _, person=person: self._came(person))
                waiting.append(request)
            everybody = env.all_of(waiting)
        everybody.callbacks.append(lambda _: self._begin())
        return everybody

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._requests.__exit__(kind, error, trace)
        self._team.in_meeting = False
        if kind is GeneratorExit:
            return
        self._world.let_go(self._team)
        if self._held is None:
            return
        waited = self._last if self._held > self._appointment.due else None
        self._world.log.row(
            "meetings",
            self._team.id,
            *self._place,
            *self._appointment,
            self._held,
            self._world.env.now,
            len(self._people),
            waited,
        )

    def _came(self, person: str) -> None:
        self._last = person

    def _begin(self) -> None:
        self._held = self._world.env.now


def work_at_desk(
    world: World, team: Team, scientist: str, stage: str, visit: int, turn: int
) -> Steps:
    """Do the homework of one project, behind that of the others; writes its row.

    Whoever turns to it from another project first needs ``times.switching``.
    """
    times = team.times
    if times.homework is None:
        return
    rng = world.streams.stream("homework", team.id, stage, visit, turn, scientist)
    role: Role = "leader" if scientist == team.leader else "member"
    effort = times.effort(times.homework.draw(rng), role, stage)
    yield from at_desk(world, team, scientist, (stage, visit, turn), effort)


def at_desk(
    world: World,
    team: Team,
    scientist: str,
    place: tuple[str, int, int],
    effort: float,
    begin: Callable[[float], Any] | None = None,
) -> Steps:
    """Spend an effort on one project when its turn at the desk has come; writes its row.

    Args:
        world: where the desk stands.
        team: whose project it is.
        scientist: who does it.
        place: stage, visit and turn of the row.
        effort: days of full attention.
        begin: told, when the work is taken up, in how many days it will be done; what it
            returns is returned.
    """
    env, attention, switching = world.env, world.attention, team.times.switching
    assigned, begun = env.now, None
    with ExitStack() as desk:
        if attention.limited:
            yield desk.enter_context(attention.desk(scientist).request())
        started = env.now
        turning = switching if attention.turn(scientist, team.id) else 0.0
        try:
            if begin is not None:
                begun = begin(turning + effort)
            yield env.timeout(turning + effort)
        finally:
            turned = min(turning, env.now - started)
            row: tuple[Any, ...] = (team.id, scientist, *place, assigned, started)
            lost = turned if switching else None
            world.log.row("homework", *row, env.now, env.now - started - turned, lost)
    return begun
