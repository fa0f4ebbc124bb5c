"""World: what teams share, and what they may know of one another.

The ``Society`` is a world with a clock hand; the parts of a team (``Lab``, ``Meeting``) know it
only as a world.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import simpy

from agents.errors import InputError, ProtocolError
from agents.part import Part
from agents.profile import Profile
from society.attention import Attention
from society.dispatch import Dispatcher
from society.drift import Drift
from society.durations import Times
from society.ecosystem.ecosystem import Ecosystem
from society.ecosystem.knowledge import KnowledgeBank
from society.excluded import Excluded
from society.founding import Founding
from society.literature.literature import Literature
from society.network import CoauthorNetwork
from society.population import Population
from society.publication import Publication
from society.runlog import RunLog
from society.streams import Streams
from society.team import Membership, Team, Ways


class World:
    """The people, papers, ties and rules that all teams of a society live with.

    Attributes:
        env: the clock, in days.
        ecosystem: people and literature before day 0.
        population: who exists, and who works where.
        literature: what is published, as of a date.
        network: who has written with whom, as of a date.
        knowledge: the author knowledge bank.
        attention: rooms and desks.
        protocol: how teams work that are founded now.
        founding: when teams start, and how many a scientist may be in.
        times: simulated time of every act.
        publication: what lies between a finished manuscript and its paper.
        team_sizes: numbers of authors of the past papers, ``ObservedSizes`` in a society.
        drift: how interests follow what is written; None: they are those of day 0.
        careers: who comes, leaves and moves; None: nobody does.
        until: last day, exclusive.
        streams: every random draw.
        dispatcher: words on their way.
        log: what happened.
        teams_in_world: teams that have not ended, each with its lab, by id.
        reviewing: reviews agreed to and not delivered, by row of the reviewer.
        departures: events of the departure of those for whom somebody waits, by row.
    """

    env: simpy.Environment
    ecosystem: Ecosystem
    population: Population
    literature: Literature
    network: CoauthorNetwork
    knowledge: KnowledgeBank
    attention: Attention
    protocol: Ways
    founding: Founding
    times: Times
    publication: Publication
    team_sizes: Sequence[int]
    drift: Drift | None
    careers: Part | None
    until: float
    streams: Streams
    dispatcher: Dispatcher
    log: RunLog
    teams_in_world: dict[str, tuple[Team, Any]]
    reviewing: dict[int, int]
    departures: dict[int, simpy.Event]

    @property
    def day(self) -> float:
        """The simulated date."""
        return float(self.env.now)

    def profile(self, who: str) -> Profile:
        """What may be known of a scientist now."""
        return self.population.profile(self.population.rows[who], self.day)

    def relevant(
        self, count: int, without: frozenset[str], date: float, text: str
    ) -> tuple[Profile, ...]:
        """The ``count`` scientists whose interests are nearest to a text, as of a date."""
        found = self.knowledge.search(text, count, self.knowledge.visible(date), without)
        rows = [self.population.rows[profile.id] for profile in found]
        return tuple(self.population.profile(row, date) for row in rows)

    def recalled(self, place: tuple[str, float], asked: str) -> bytes | None:
        """What the journal has kept of a finding (id, date) that was asked for so, if anything."""
        journal = self.dispatcher.gateway.journal
        return None if journal is None else journal.found(place[0], asked, place[1])

    def keep(self, place: tuple[str, float], asked: str, value: bytes) -> None:
        """Keep a finding in the journal, if there is one."""
        journal = self.dispatcher.gateway.journal
        if journal is not None:
            journal.note(place[0], asked, place[1], value)

    def acquaintance(self, one: str, other: str) -> dict[str, Any]:
        """Joint papers and similarity of interests of two scientists, as of now."""
        rows = self.population.rows
        version = self.knowledge.visible(self.day)
        return {
            "ties": self.network.joint(rows[one], rows[other]),
            "similarity": self.knowledge.similarity(one, other, version),
        }

    def topic(self, row: int) -> str:
        """A scientist's main topic now."""
        return self.population.profile(row, self.day).topic

    @property
    def subjects(self) -> npt.NDArray[np.int64]:
        """Everybody's main topic now as a number, by row: the same topic, the same number."""
        found, numbers = self._first_subjects
        people = self.population
        changed = [*people.arrived, *people.interests.renewed()]
        if changed:
            found = np.append(found, np.zeros(len(people.arrived), dtype=np.int64))
        for row in changed:
            found[row] = numbers.setdefault(self.topic(row), len(numbers))
        return found

    @cached_property
    def _first_subjects(self) -> tuple[npt.NDArray[np.int64], dict[str, int]]:
        """Everybody's main topic on day 0 as a number, and the number of each topic."""
        topics, numbers = self.ecosystem.profiles.topics, dict[str, int]()
        found = (numbers.setdefault(topic, len(numbers)) for topic in topics)
        return np.fromiter(found, np.int64, len(topics)), numbers

    def rows_of(self, names: Iterable[str], key: str) -> list[int]:
        """Rows of stated people.

        Args:
            names: masked names.
            key: where they were named, for the message.

        Raises:
            InputError: nobody is called so.
        """
        rows = self.population.rows
        unknown = [name for name in names if name not in rows]
        if unknown:
            raise InputError(f"{key}: nobody is called {', '.join(unknown)}")
        return [rows[name] for name in names]

    def at_limit(self, row: int) -> bool:
        """Has the scientist reached its number of teams, left the society, or come just now?"""
        people = self.population
        if row in people.gone or people.arrived.get(row) == self.day:
            return True
        return people.load(row) >= self.founding.max_teams

    def closed(self) -> Excluded:
        """Rows of those whom nobody can win now: at their limit of teams, gone, or just come."""
        people = self.population
        full = people.working_in(self.founding.max_teams)
        return Excluded(people.gone.keys(), full | people.just_arrived())

    def depart(self, row: int, why: str) -> None:
        """A scientist leaves the society now: its teams let it go, and nobody asks it any more.

        A team is let go at once, or after the meeting it is in. One that is led by it ends.
        """
        who = self.population.names[row]
        self.population.depart(row)
        self.log.event("departed", scientist=who, why=why)
        self.log.row("careers", who, self.day, why, None)
        if row in self.departures:
            self.departures[row].succeed()
        # Who works in no team may never have acted, and is made no agent for the sake of leaving.
        working = self.population.load(row) > 0
        for team_id in list(self.population.scientist(row).teams) if working else ():
            team = self.teams_in_world[team_id][0]
            if team.leader == who:
                team.dissolve("leader gone")
                continue
            team.parting.append(who)
            if not team.in_meeting:
                self.let_go(team)

    def welcome(self, row: int) -> None:
        """A newcomer is here from now on: what its life brings begins."""
        raise NotImplementedError

    def departure(self, who: str) -> simpy.Event:
        """The event of a scientist's leaving the society."""
        return self.departures.setdefault(self.population.rows[who], self.env.event())

    def let_go(self, team: Team) -> None:
        """Members who have left the society leave the team; it holds no meeting."""
        for who in team.parting:
            if who in team.members:
                self.leave(team, who, stayed=False)
        team.parting.clear()

    def join(self, team: Team, who: str, role: str) -> bool:
        """Enter a team, unless the limit of teams is reached."""
        row = self.population.rows[who]
        if who in team.members:
            raise ProtocolError(f"{team.id}: {who} is a member already")
        if self.at_limit(row):
            return False
        team.members.append(who)
        load = self.population.load(row)
        team.memberships.append(Membership(who, role, self.day, load))
        self.population.enter(row, team.id)
        self.log.event("joined", team=team.id, scientist=who, role=role)
        return True

    def leave(self, team: Team, who: str, *, stayed: bool) -> None:
        """End a membership: with the work (``stayed``), or before it."""
        team.members.remove(who)
        membership = next(m for m in team.memberships if m.scientist == who and m.left is None)
        membership.left, membership.stayed = self.day, stayed
        self.population.leave(self.population.rows[who], team.id)
        if not stayed:
            self.log.event("left", team=team.id, scientist=who)
