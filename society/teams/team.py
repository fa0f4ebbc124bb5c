"""The state of one team, its records, and what the world itself uses of the rules of a team."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import simpy
from pydantic import Field

from virsci_society.agents.config import Part
from virsci_society.agents.errors import ProtocolError
from virsci_society.society.formation.seats import NewcomerSeats
from virsci_society.society.formation.selection import SelectionPolicy
from virsci_society.society.kernel.answer import Answer
from virsci_society.society.kernel.durations import Process, Times
from virsci_society.society.kernel.streams import Streams

AuthorOrder = Literal["leader_first", "leader_last"]
"""``leader_first``: the leader, then the others as they joined. ``leader_last``: the others, and
the leader at the end."""


class TeamRule(Part):
    """A protocol as the world uses it, which founds teams by it; see ``TeamProtocol``."""

    @property
    def name(self) -> str:
        """The name under which tables list teams of this protocol."""
        return type(self).__name__.lower()

    @property
    def policy(self) -> SelectionPolicy | None:
        """The policy by which members are drawn, and leaders by ``founding.leaders: selection``."""
        return None

    @property
    def order_of_authors(self) -> AuthorOrder:
        """In which order the papers of its teams name the authors."""
        return "leader_first"

    @property
    def newcomer_seats(self) -> NewcomerSeats | None:
        """Which seats of its teams newcomers take; None: none."""
        return None

    @property
    def needs_execution(self) -> str | None:
        """The first of its keys that works on outcomes of ideas; None: none is set."""
        return None

    def of_team(self, team_id: str, streams: Streams) -> TeamRule:
        """The protocol of one team: this one, unless it is made of several."""
        return self

    def run(self, team: Team, lab: Any) -> Process[Any]:
        """The work of one team; see ``TeamProtocol.run``."""
        raise NotImplementedError


class PublicationRule(Part):
    """A rule of publication in the world; see ``Publication``."""

    def consider(self, team: Team, lab: Any, manuscript: Any) -> Process[Any]:
        """Everything between handing in and acceptance; see ``Publication.consider``."""
        raise NotImplementedError


class Execution(Part):
    """How an idea is carried out before it is published; subclass it, write ``carry_out``."""

    signal: float = Field(default=0.0, ge=0, le=1)
    """Correlation of an idea's appearance with its worth. Unit: correlation. Source: -0.05 in Si et
    al. 2025."""

    def looks(
        self, lab: Any, texts: Sequence[Answer[str]], *purpose: object
    ) -> tuple[Answer[float], ...]:
        """How good ideas look, of mean 0 and deviation 1; no page and no model sees it."""
        return ()

    def carry_out(self, team: Team, lab: Any, manuscript: Any) -> Process[None]:
        """The work on the idea of a manuscript, which writes a row of the table ``outcomes``."""
        raise NotImplementedError


@dataclass(slots=True)
class Membership:
    """The time that one scientist spends in a team; the fields are columns of ``members``."""

    scientist: str
    role: str
    joined: float
    load: int
    left: float | None = None
    stayed: bool = True


@dataclass(slots=True)
class Submission:
    """One round of review of one submission; the fields are the columns of ``submissions``."""

    submission: int
    round: int
    submitted: float
    decided: float | None = None
    decision: str | None = None
    reviews: int | None = None
    score: float | None = None


@dataclass(slots=True)
class Reviewer:
    """A scientist who was asked to review in one round; the fields are columns of ``referees``."""

    submission: int
    round: int
    seat: int
    scientist: str
    load: int
    open: int
    invited: float | None = None
    answered: float | None = None
    outcome: str | None = None
    assigned: float | None = None
    delivered: float | None = None
    reminders: int = 0
    recommendation: str | None = None
    score: float | None = None


# Equal only to itself: to compare fields would compare Answers, which refuse it (rule 10).
@dataclass(eq=False)
class Team:
    """The state of one team, which writes one paper.

    Dates are in days. Only the life cycle, the lab and the world change the fields; a protocol
    sets ``notes``, ``target_size``, ``formed``, ``restarts`` and ``strikes``.

    Attributes:
        id: leader / ordinal of that leader's projects.
        members: masked names of current members, the leader first.
        memberships: everybody who ever joined, in order of joining.
        state: running, finished, published or dissolved.
        strikes: failed attempts that the protocol counts.
        notes: values that the protocol wants in the tables (``topic``, ``ties``, and ``idea``, the
            idea that is written up, whose ``author`` is named there), and numbers that it wants in
            the event ``notes``; may be Answers.
        answers: all Answers of the team; emptied when the team ends (rule 21).
        parts: processes that the team has started; they end with it (rule 20).
        dissolution: reason of a dissolution from outside, from the moment of the decision.
        in_meeting: True while the members are in a meeting, or wait for one to begin.
        parting: members who have left the society and leave the team after its meeting.
        open_invitations: by scientist, the date of an invitation that is not answered yet, and what
            was known then.

    Example:
        >>> team = vs.Team("Scientist1/1", "Scientist1", "essay", founded=30.0)
        >>> team.members += ["Scientist1", "Scientist4"]
        >>> team.size, team.state, team.times.deadline
        (2, 'running', None)
    """

    id: str
    leader: str
    protocol_name: str
    founded: float
    times: Times = field(default_factory=Times)
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
    referees: list[Reviewer] = field(default_factory=list)
    open_invitations: dict[str, tuple[float, Mapping[str, Any]]] = field(default_factory=dict)
    acts: int = 0

    @property
    def size(self) -> int:
        """The number of members now."""
        return len(self.members)

    def next_act(self) -> int:
        """Count a call or a read; returns its place among all of this team, from 1."""
        self.acts += 1
        return self.acts

    def role(self, scientist: str) -> str:
        """The role of a scientist: ``leader``, ``member``, or empty."""
        if scientist == self.leader:
            return "leader"
        return "member" if scientist in self.members else ""

    def dissolve(self, reason: str) -> None:
        """End the team from outside, now; the first reason wins (rule 20).

        A team whose work has ended already is left alone.

        Raises:
            ProtocolError: called by the team's own process; it raises ``Dissolved`` instead.
        """
        process = self.process
        if self.state != "running" or self.dissolution is not None or process is None:
            return
        if process.env.active_process in (process, *self.parts):
            raise ProtocolError(f"{self.id} cannot dissolve itself: raise Dissolved instead")
        # SimPy refuses to interrupt a process that has ended.
        if not process.is_alive:
            return
        # Set before the interrupt: the lab refuses every further step of the protocol from now on.
        self.dissolution = reason
        process.interrupt(reason)

    def cut_off(self) -> None:
        """Close the generators of the team at the end of the run.

        Their ``finally`` clauses run here, in the order of teams, and not at some garbage
        collection (rule 12).
        """
        for process in (*self.parts, self.process):
            if process is not None:
                # A protocol that goes on after ``GeneratorExit`` makes ``close`` raise.
                with suppress(Exception):
                    process._generator.close()
