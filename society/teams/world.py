"""The ``World``, the shared state of all teams of a society."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import simpy

from virsci_society.agents.arrays import IntArray
from virsci_society.agents.config import Part
from virsci_society.agents.errors import InputError, ProtocolError
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.slots import Reference
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.ecosystem.knowledge_bank import KnowledgeBank, cleaned_interests
from virsci_society.society.formation.founding import Founding
from virsci_society.society.formation.seats import NewcomerSeats
from virsci_society.society.formation.selection import SelectionPolicy
from virsci_society.society.formation.world_view import ExcludedRows, ObservedSizes
from virsci_society.society.kernel.dispatcher import Dispatcher
from virsci_society.society.kernel.durations import Times
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.literature.landscape import WorthField
from virsci_society.society.literature.literature import Literature
from virsci_society.society.literature.papers import DAYS_PER_YEAR
from virsci_society.society.population.assistance import Assistance
from virsci_society.society.population.event_counts import PaperHistory
from virsci_society.society.population.external_authors import Draw
from virsci_society.society.population.interest_drift import Drift
from virsci_society.society.population.network import CoauthorNetwork
from virsci_society.society.population.population import Population
from virsci_society.society.results.run_log import RunLog
from virsci_society.society.teams.team import (
    AuthorOrder,
    Execution,
    Membership,
    PublicationRule,
    Team,
    TeamRule,
)


class Attention:
    """The queues for rooms and desks; the queues of a scientist are made on first use."""

    def __init__(self, env: simpy.Environment, limited: bool = True) -> None:
        self.limited = limited
        self._env = env
        self._presence: dict[str, simpy.Resource] = {}
        self._desks: dict[str, simpy.Resource] = {}
        self._projects: dict[str, str] = {}

    def presence(self, scientist: str) -> simpy.Resource:
        """The queue for the room that this scientist is in."""
        return self._queue(self._presence, scientist)

    def desk(self, scientist: str) -> simpy.Resource:
        """The queue for the desk of this scientist."""
        return self._queue(self._desks, scientist)

    def switch_project(self, scientist: str, project: str) -> bool:
        """Note the project (team) that a scientist takes up at its desk."""
        before = self._projects.get(scientist)
        self._projects[scientist] = project
        return self.limited and before not in (None, project)

    def _queue(self, queues: dict[str, simpy.Resource], scientist: str) -> simpy.Resource:
        if scientist not in queues:
            queues[scientist] = simpy.Resource(self._env, capacity=1)
        return queues[scientist]


@dataclass(eq=False, kw_only=True)
class World:
    """The people, papers, ties and rules that all teams of a society live with."""

    env: simpy.Environment
    ecosystem: Ecosystem
    population: Population
    literature: Literature
    network: CoauthorNetwork
    history: PaperHistory
    knowledge: KnowledgeBank
    attention: Attention
    protocol: TeamRule
    founding: Founding
    times: Times
    publication: PublicationRule
    team_sizes: ObservedSizes
    drift: Drift | None
    careers: Part | None
    assistance: Assistance | None
    execution: Execution | None
    landscape: WorthField | None
    until: float
    streams: Streams
    dispatcher: Dispatcher
    log: RunLog
    # Begins what the arrival of a newcomer (row) starts.
    welcome: Callable[[int], None]
    # Lets a newcomer come who takes over each interest of a mentor (row) with a probability.
    bring_newcomer: Callable[[int, float, np.random.Generator], int]
    teams: dict[str, Team] = field(default_factory=dict)
    # Reviews agreed to and not delivered, by row of the reviewer.
    reviewing: dict[int, int] = field(default_factory=dict)
    departures: dict[int, simpy.Event] = field(default_factory=dict)
    # Date of arrival and row of those who came for a seat with a mentor (row).
    mentees: dict[int, list[tuple[float, int]]] = field(default_factory=dict)
    # Rows of those who leave with the end of their first team.
    transients: set[int] = field(default_factory=set)
    outside: Draw | None = None
    assisted: dict[str, float | None] = field(default_factory=dict)
    lessons: dict[str, tuple[float, tuple[str, ...]]] = field(default_factory=dict)
    successes: dict[str, bool] = field(default_factory=dict)
    on_record: list[str] = field(default_factory=list)
    shared: dict[str, Any] = field(default_factory=dict)
    paid: int = 0

    @property
    def day(self) -> float:
        """The simulated date."""
        return float(self.env.now)

    @property
    def year(self) -> int:
        """The calendar year of the simulated date."""
        return self.literature.boundary + int(self.day // DAYS_PER_YEAR)

    @property
    def protocol_name(self) -> str:
        """The name of the protocol of teams that are founded now."""
        return self.protocol.name

    @property
    def selection(self) -> SelectionPolicy | None:
        """The policy by which that protocol draws members; None where it has none."""
        return self.protocol.policy

    @property
    def author_order(self) -> AuthorOrder:
        """In which order the protocol of teams that are founded now names the authors."""
        return self.protocol.order_of_authors

    @property
    def newcomer_seats(self) -> NewcomerSeats | None:
        """Which seats newcomers take in teams that are founded now; None: none."""
        return self.protocol.newcomer_seats

    def bring(self, mentor: int, seats: NewcomerSeats, rng: np.random.Generator) -> int:
        """Let a newcomer come for a seat, with place and interests of a mentor; returns its row."""
        transient = bool(rng.random() < seats.transient_share)
        row = self.bring_newcomer(mentor, seats.shared, rng)
        self.mentees.setdefault(mentor, []).append((self.day, row))
        if transient:
            self.transients.add(row)
        return row

    def release_transients(self, team: Team) -> None:
        """Let newcomers who came for one team only leave the society, since it has ended."""
        if self.transients:
            for membership in team.memberships:
                row = self.population.rows[membership.scientist]
                if row in self.transients:
                    self.transients.remove(row)
                    if row not in self.population.departed:
                        self.depart(row, "transient")

    def profile(self, who: str) -> Profile:
        """The public profile of a scientist as of now."""
        return self.population.profile(self.population.rows[who], self.day)

    def cleaned_interests(self, profile: Profile) -> tuple[str, ...]:
        """The interests of a profile as prompts show them; see ``cleaned_interests``."""
        return cleaned_interests(profile.interests, self.ecosystem.general_terms)

    def reference(self, paper_id: str, distance: float, date: float) -> Reference:
        """Make the search result for a paper, naming authors who were present on the date."""
        present = self.population.was_present
        return self.literature.reference(paper_id, distance, lambda name: present(name, date))

    def nearest_scientists(
        self, count: int, without: frozenset[str], date: float, text: str
    ) -> tuple[Profile, ...]:
        """Find the scientists whose interests, as known before a date, are nearest to a text."""
        nearest = self.knowledge.search(text, count, self.knowledge.visible(date), without)
        rows = [self.population.rows[profile.id] for profile in nearest]
        return tuple(self.population.profile(row, date) for row in rows)

    def acquaintance(self, one: str, other: str) -> dict[str, Any]:
        """Joint papers (``ties``) and ``similarity`` of interests of two scientists, as of now."""
        rows = self.population.rows
        version = self.knowledge.visible(self.day)
        return {
            "ties": self.network.joint_papers(rows[one], rows[other]),
            "similarity": self.knowledge.similarity(one, other, version),
        }

    def topic(self, row: int) -> str:
        """The main topic of a scientist (row) as of now."""
        return self.population.profile(row, self.day).topic

    @property
    def topic_numbers(self) -> IntArray:
        """Everybody's main topic as of now, by row, as a number for each topic."""
        # Only those who came or whose interests changed are looked at, not a million people.
        by_row, numbers = self._initial_topic_numbers
        people = self.population
        changed = [*people.arrived, *people.interests.changed_rows()]
        if changed:
            # ``append`` copies also where nobody came, so the numbers of day 0 stay as they are.
            by_row = np.append(by_row, np.zeros(len(people.arrived), dtype=np.int64))
        for row in changed:
            by_row[row] = numbers.setdefault(self.topic(row), len(numbers))
        return by_row

    @cached_property
    def _initial_topic_numbers(self) -> tuple[IntArray, dict[str, int]]:
        """Everybody's main topic on day 0 as a number, and the number of each topic."""
        topics, numbers = self.ecosystem.profiles.topics, dict[str, int]()
        topic_numbers = (numbers.setdefault(topic, len(numbers)) for topic in topics)
        return np.fromiter(topic_numbers, np.int64, len(topics)), numbers

    def rows_of(self, names: Iterable[str], key: str) -> list[int]:
        """The rows of people whom a scenario names under a key, which the error names."""
        rows = self.population.rows
        unknown = [name for name in names if name not in rows]
        if unknown:
            raise InputError(f"{key}: no scientist is called {', '.join(unknown)}")
        return [rows[name] for name in names]

    def at_limit(self, row: int) -> bool:
        """True if a scientist cannot join a team: at the limit, departed, or come today."""
        people = self.population
        if row in people.departed or people.arrived.get(row) == self.day:
            return True
        return people.load(row) >= self.founding.max_teams

    def unavailable(self) -> ExcludedRows:
        """Rows of scientists who cannot join a team: at the limit, departed, or come today."""
        people = self.population
        full = people.working_in_at_least(self.founding.max_teams)
        return ExcludedRows(people.departed.keys(), full | people.just_arrived())

    def assistance_of(self, who: str) -> Assistance | None:
        """The assistance with which a scientist works today; None: it works without."""
        if self.assistance is None:
            return None
        if who not in self.assisted:
            arrived = self.population.present_since(self.population.rows[who])
            self.assisted[who] = self.assistance.taken_up(who, arrived, self.streams)
        since = self.assisted[who]
        return self.assistance if since is not None and since <= self.day else None

    def depart(self, row: int, why: str) -> None:
        """Let a scientist (row) leave the society now, for a reason as in the table ``careers``.

        It leaves its teams at once or after their present meeting; teams that it leads end.
        """
        who = self.population.names[row]
        self.population.depart(row)
        self.log.event("departed", scientist=who, why=why)
        self.log.row("careers", who, self.day, why, None)
        if row in self.departures:
            self.departures[row].succeed()
        # In a large society a scientist without a team may have no agent yet; none is made here.
        working = self.population.load(row) > 0
        # A copy of the list, from which every team that is left is removed.
        for team_id in list(self.population.scientist(row).teams) if working else ():
            team = self.teams[team_id]
            if team.leader == who:
                team.dissolve("leader gone")
                continue
            team.parting.append(who)
            if not team.in_meeting:
                self.release_departed(team)

    def departure(self, who: str) -> simpy.Event:
        """The SimPy event that a scientist's departure from the society triggers."""
        return self.departures.setdefault(self.population.rows[who], self.env.event())

    def release_departed(self, team: Team) -> None:
        """Let members who have left the society leave the team; to be called outside meetings."""
        for who in team.parting:
            if who in team.members:
                self.leave(team, who, stayed=False)
        team.parting.clear()

    def join(self, team: Team, who: str, role: str, *, arriving: bool = False) -> bool:
        """Let a scientist enter a team."""
        row = self.population.rows[who]
        if who in team.members:
            raise ProtocolError(f"{team.id}: {who} is a member already")
        if not arriving and self.at_limit(row):
            return False
        team.members.append(who)
        # Counted before this team is: the load is the number of other teams.
        load = self.population.load(row)
        team.memberships.append(Membership(who, role, self.day, load))
        self.population.join_team(row, team.id)
        self.log.event("joined", team=team.id, scientist=who, role=role)
        return True

    def leave(self, team: Team, who: str, *, stayed: bool) -> None:
        """End a membership."""
        team.members.remove(who)
        membership = next(m for m in team.memberships if m.scientist == who and m.left is None)
        membership.left, membership.stayed = self.day, stayed
        self.population.leave_team(self.population.rows[who], team.id)
        if not stayed:
            self.log.event("left", team=team.id, scientist=who)
