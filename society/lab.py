"""Lab: all that a team may do in the world.

Convene, work, ask a scientist, search, note. Each step of the world is a generator to be
delegated to (``answer = yield from lab.ask(...)``); everything else returns at once.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

import numpy as np
import simpy

from agents.errors import Dissolved, Over, ProtocolError
from agents.forms import Form
from agents.profile import Profile
from agents.prompt import Prompt
from society.answer import Answer
from society.asking import Asking
from society.durations import Times
from society.meeting import Appointment, Meeting, work_at_desk
from society.steps import Steps
from society.team import Team
from society.world import World


class Lab(Asking):
    """One team's door to the world; made with the team, closed when it ends."""

    def __init__(self, world: World, team: Team) -> None:
        super().__init__(world, team)
        self._unprepared: tuple[str, int, int] | None = None
        self._appointment: Appointment | None = None
        self._unanswered: dict[str, tuple[float, Mapping[str, Any]]] = {}

    def stage(self, name: str, steps: Steps) -> Steps:
        """Enter a stage; a stage entered again is its next visit."""
        self._check()
        self._team.stage, self.turn = name, 0
        self._visits[name] = self._visits.get(name, 0) + 1
        self.event("stage", stage=name, visit=self._visits[name])
        result = yield from steps
        return result

    def wait(self, days: float) -> Steps:
        """Let simulated time pass."""
        self._check()
        yield self._env.timeout(days)
        self._check()

    def together(self, *parts: Steps) -> Steps:
        """Run parts side by side; wait for every part, and only then raise the first failure."""
        self._check()
        processes = self.start(*parts)
        yield self._env.all_of(processes)
        self._check()
        for process in processes:
            if process.value[1] is not None:
                raise process.value[1]
        return [process.value[0] for process in processes]

    def start(self, *parts: Steps) -> list[simpy.Process]:
        """Begin parts that go on by themselves; each ends with ``(result, failure)``."""
        processes = [self._env.process(_guarded(part)) for part in parts]
        self._team.parts = [p for p in self._team.parts if p.is_alive] + processes
        return processes

    def hand_in(self) -> None:
        """The work has ended, with all its parts; from now on the lab serves the manuscript."""
        self._over = None

    def end_parts(self) -> Steps:
        """Interrupt what the team has started, wait for its end, note what has failed."""
        self._over = "the team has ended"
        alive = [part for part in self._team.parts if part.is_alive]
        for part in alive:
            part.interrupt(self._over)
        yield self._env.all_of(alive)
        for part in self._team.parts:
            failure = part.value[1]
            if failure is not None and not isinstance(failure, simpy.Interrupt | Dissolved | Over):
                self.event("part_failed", failure=f"{type(failure).__name__}: {failure}")

    def prepare(self) -> Steps:
        """Everybody does the homework that the last meeting left; nothing if it is done."""
        self._check()
        left, self._unprepared = self._unprepared, None
        if left is not None and self.times.homework is not None:
            stage, visit, turn = left
            members = list(self._team.members)
            yield from self.together(
                *(work_at_desk(self._world, self._team, m, stage, visit, turn) for m in members)
            )
        self._check()

    def notice(self) -> Steps:
        """Call the next meeting and wait for its date; nothing if it has been called."""
        self._check()
        if self._appointment is None:
            called = self.now
            yield self._env.timeout(self.times.meeting_notice)
            self._appointment = Appointment(called, self.now)
        self._check()

    def convene(self, turn: int) -> Meeting:
        """The meeting that was called: ``with lab.convene(turn) as everybody: yield everybody``.

        Raises:
            ProtocolError: no meeting has been called.
        """
        self._check()
        if self._appointment is None:
            raise ProtocolError(f"{self._team.id}: a meeting is called before it is held")
        appointment, self._appointment = self._appointment, None
        self.turn = turn
        self._unprepared = (self._stage, self.visit, turn)
        return Meeting(self._world, self._team, appointment, self._stage, self.visit, turn)

    @property
    def times(self) -> Times:
        """The simulated time of the team's acts, and its windows."""
        return self._team.times

    @property
    def members(self) -> tuple[Profile, ...]:
        """Profiles of the members now, the leader first."""
        return tuple(self.profile(member) for member in self._team.members)

    def load(self, who: str) -> int:
        """Teams a scientist is working in now."""
        return self._world.population.load(self._world.population.rows[who])

    def acquaintance(self, who: str) -> dict[str, Any]:
        """What decides an invitation besides profiles: load, joint papers, similarity."""
        return {"load": self.load(who), **self._world.acquaintance(self._team.leader, who)}

    def invite(
        self, who: str, prompt: Prompt, form: type[Form], seat: int, known: Mapping[str, Any]
    ) -> Answer[Any]:
        """Invite a scientist; the answer takes effect when the reply window has passed."""
        self._unanswered[who] = self.now, known
        return self.pose(
            who,
            prompt,
            form,
            "invite",
            seat=seat,
            within=self.times.reply_window,
            inviter=self.profile(self._team.leader),
            members=self.members,
            **known,
        )

    def note_invitation(
        self, who: str, sent: float, known: Mapping[str, Any], outcome: str
    ) -> None:
        """Write what came of an invitation."""
        self._unanswered.pop(who, None)
        self._write_invitation(who, sent, known, self.now, outcome)

    def note_unanswered(self) -> None:
        """Write the invitations that the end of the team, or of the run, has overtaken."""
        for who, (sent, known) in self._unanswered.items():
            self._write_invitation(who, sent, known, None, None)
        self._unanswered.clear()

    def join(self, who: str) -> bool:
        """Take a scientist into the team; False if it has reached its limit of teams."""
        self._check()
        return self._world.join(self._team, who, "member")

    def leave(self, who: str) -> None:
        """A member leaves the team before its end; nothing if it has left the society."""
        self._check()
        if who in self._team.members:
            self._world.leave(self._team, who, stayed=False)

    def why_not(self, who: str) -> str:
        """Why a scientist who said yes could not ``join``: ``full`` or, out of reach, ``gone``."""
        return "gone" if self._world.population.is_gone(who) else "full"

    def rng(self, *purpose: object) -> np.random.Generator:
        """The random stream of a purpose of this team; the same purpose, the same draws."""
        return self._world.streams.stream("team", self._team.id, *purpose)

    def event(self, kind: str, **fields: Any) -> None:
        """Something happened in this team that others may know."""
        self._world.log.event(kind, team=self._team.id, **fields)

    def _write_invitation(
        self,
        who: str,
        sent: float,
        known: Mapping[str, Any],
        answered: float | None,
        outcome: str | None,
    ) -> None:
        values = (known["load"], known["ties"], known["similarity"], known["load"] > 0)
        team = self._team
        self._world.log.row(
            "invitations", team.id, team.leader, who, sent, answered, outcome, *values
        )

    @property
    def world(self) -> World:
        """The society: for policies that draw from its network and population."""
        return self._world


def _guarded(part: Steps) -> Generator[Any, Any, tuple[Any, BaseException | None]]:
    """Run a part to its end and hand its failure over as a value."""
    try:
        return (yield from part), None
    except (Exception, Over) as failure:
        return None, failure
