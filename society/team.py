"""Team: the state of one collaboration. It lives for one paper."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

import simpy

from agents.errors import ProtocolError
from society.answer import Answer
from society.durations import Times
from society.publication import Publication, Unreviewed
from society.steps import Steps
from society.streams import Streams
from society.submissions import Referee, Submission


class Way(Protocol):
    """How a team works, as the team itself sees it: a ``TeamProtocol``."""

    @property
    def name(self) -> str:
        """The name in the tables."""

    def run(self, team: Team, lab: Any) -> Steps:
        """The work, from the first invitation to the manuscript."""


class Ways(Way, Protocol):
    """How teams work that are founded now: a ``TeamProtocol``."""

    def of_team(self, team_id: str, streams: Streams) -> Way:
        """How the team of this id works, since not all need work alike."""


@dataclass(slots=True)
class Membership:
    """One scientist's time in a team."""

    scientist: str
    role: str
    joined: float
    load: int
    left: float | None = None
    stayed: bool = True


@dataclass(eq=False)
class Team:
    """Who works together, since when, and how far they are.

    Attributes:
        id: leader / ordinal of that leader's projects.
        leader: masked name.
        protocol: how the team works; kept from its founding on.
        founded: date.
        times: simulated time of its acts; kept from its founding on.
        publication: what its manuscript goes through; kept from its founding on.
        submissions: rounds of review of its manuscript.
        referees: who was asked to review it.
        members: masked names of those working in it now, the leader first.
        memberships: everybody who ever joined, in order of joining.
        state: running, finished, published or dissolved.
        parting: members who have left the society and leave the team after its meeting.
        notes: what the protocol wants in the tables (``topic``, ``ties``); may be Answers.
    """

    id: str
    leader: str
    protocol: Way
    founded: float
    times: Times = field(default_factory=Times)
    publication: Publication = field(default_factory=Unreviewed)
    members: list[str] = field(default_factory=list)
    memberships: list[Membership] = field(default_factory=list)
    state: str = "running"
    reason: str | None = None
    stage: str | None = None
    target_size: int = 1
    formed: float | None = None
    finished: float | None = None
    published: float | None = None
    restarts: int = 0
    strikes: int = 0
    notes: dict[str, Any] = field(default_factory=dict)
    answers: list[Answer[Any]] = field(default_factory=list)
    process: simpy.Process | None = None
    parts: list[simpy.Process] = field(default_factory=list)
    dissolution: str | None = None
    in_meeting: bool = False
    parting: list[str] = field(default_factory=list)
    submissions: list[Submission] = field(default_factory=list)
    referees: list[Referee] = field(default_factory=list)
    acts: int = 0

    @property
    def size(self) -> int:
        """Members now."""
        return len(self.members)

    def next_act(self) -> int:
        """The place of an asking or reading among all of this team, from 1."""
        self.acts += 1
        return self.acts

    def role(self, scientist: str) -> str:
        """``leader``, ``member``, or nothing for somebody outside."""
        if scientist == self.leader:
            return "leader"
        return "member" if scientist in self.members else ""

    def dissolve(self, reason: str) -> None:
        """End the team from outside, now. The first reason wins; ended teams are left alone.

        Raises:
            ProtocolError: called by the team's own process; it raises ``Dissolved`` instead.
        """
        process = self.process
        if self.state != "running" or self.dissolution is not None or process is None:
            return
        if process.env.active_process in (process, *self.parts):
            raise ProtocolError(f"{self.id} cannot dissolve itself: raise Dissolved instead")
        if not process.is_alive:
            return
        self.dissolution = reason
        process.interrupt(reason)

    def cut_off(self) -> None:
        """Let go of what is running when the run has ended, now and not at some collection."""
        for process in (*self.parts, self.process):
            if process is not None:
                with suppress(Exception):
                    process._generator.close()
