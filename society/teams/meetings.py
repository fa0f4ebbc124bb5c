"""Meetings of a team, and homework of one member: the only two uses of a scientist's attention.

A meeting requests the presence of all members in one instant, so requests queue in one global
order and no two teams can each hold half of the other (rule 19).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import Any, NamedTuple

import simpy

from virsci_society.agents.errors import ProtocolError
from virsci_society.society.kernel.durations import Role
from virsci_society.society.kernel.process import Process
from virsci_society.society.teams.team import Team
from virsci_society.society.teams.world import World


class Appointment(NamedTuple):
    """The date on which a meeting was called, and the date for which it was called, in days."""

    called: float
    due: float


class Meeting:
    """One turn of a discussion, as a context manager that holds the presence of all members.

    Entering it requests everybody and returns the event of their arrival, to be waited for.
    Leaving it frees them and writes the row of the table ``meetings``.

    Args:
        world: the world in which the team meets.
        team: the team; its present members take part.
        appointment: when the meeting was called, and for which date.
        stage: stage of the row.
        visit: visit of the row.
        turn: turn of the row.
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
        # Fixed here: the row counts those who were asked for, also where one leaves meanwhile.
        self._people = tuple(team.members)
        # Its end frees the rooms that are held and takes back the requests that still wait.
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
            # No ``yield`` between the requests: they queue in one instant (rule 19).
            waiting = []
            for person in self._people:
                request = self._requests.enter_context(attention.presence(person).request())
                # Callbacks run in the order of arrival: the last one is who was waited for.
                request.callbacks.append(lambda _, person=person: self._note_arrival(person))
                waiting.append(request)
            everybody = env.all_of(waiting)
        # A callback, since a team that is dissolved while it waits never comes back to this point.
        everybody.callbacks.append(lambda _: self._begin())
        return everybody

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # First of all: whatever ended the meeting, nobody stays in its room.
        self._requests.__exit__(kind, error, trace)
        self._team.in_meeting = False
        if kind is GeneratorExit:
            # The run has ended and the log is sealed.
            return
        # Members who left the society during the meeting could not leave the team before.
        self._world.release_departed(self._team)
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

    def _note_arrival(self, person: str) -> None:
        self._last = person

    def _begin(self) -> None:
        self._held = self._world.env.now


def work_at_desk(
    world: World, team: Team, scientist: str, stage: str, visit: int, turn: int
) -> Process[None]:
    """Do one member's homework of a meeting, behind other work at the desk; write its row.

    Args:
        world: the world in which the desk stands.
        team: the team whose homework it is.
        scientist: masked name of the member.
        stage: stage of the meeting that left the homework.
        visit: visit of that stage.
        turn: turn of that meeting.
    """
    times = team.times
    if times.homework is None:
        return
    # Named by the act: homework that somebody else does or drops shifts no draw (rule 9).
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
) -> Process[Any]:
    """Wait for the desk, spend an effort on one project, and write the row of the homework.

    A scientist who worked on another project before first needs ``times.switching``.

    Args:
        world: the world in which the desk stands.
        team: the team whose project it is.
        scientist: masked name of the owner of the desk.
        place: stage, visit and turn of the row.
        effort: days of full attention.
        begin: called when the work is taken up, with the days until it will be done.

    Returns:
        The result of ``begin``; None without it.
    """
    env, attention, switching = world.env, world.attention, team.times.switching
    assigned, result = env.now, None
    with ExitStack() as desk:
        if attention.limited:
            yield desk.enter_context(attention.desk(scientist).request())
        started = env.now
        # Noted once the desk is free: what was worked on before is known only then.
        turning = switching if attention.switch_project(scientist, team.id) else 0.0
        try:
            if begin is not None:
                result = begin(turning + effort)
            yield env.timeout(turning + effort)
        finally:
            # Also when the work is interrupted: the row says how long it lasted.
            turned = min(turning, env.now - started)
            row: tuple[Any, ...] = (team.id, scientist, *place, assigned, started)
            lost = turned if switching else None
            world.log.row("homework", *row, env.now, env.now - started - turned, lost)
    return result
