"""Stage 1, collaborator selection: the leader invites until the team has n members."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from virsci_society.agents.arrays import BoolArray, IntArray
from virsci_society.agents.config import Part, Switch
from virsci_society.agents.errors import Dissolved
from virsci_society.agents.prompts.prompt import Prompt, Prompts
from virsci_society.protocols.forms import Choice
from virsci_society.protocols.team_assembly import SeatRules, TeamMembers, at_most, draw_size
from virsci_society.society.formation.world_view import ExcludedRows
from virsci_society.society.kernel.answer import Answer
from virsci_society.society.kernel.durations import Process

if TYPE_CHECKING:
    from virsci_society.society.population.network import CoauthorNetwork
    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import Team

MAX_DRAWS = 100
"""Draws of unsuitable people before everybody who keeps the targets reachable is listed."""


class Invitations(Part):
    """How a leader invites."""

    inviting: Literal["one_by_one", "at_once"] = "one_by_one"
    """Invite one at a time, or for all empty seats at once. Source: VirSci, section 3.2: one at a
    time."""
    max_invitations: int = Field(default=40, ge=1, le=10_000)
    """Invitations before the leader gives up. Unit: invitations."""


class TeamBuilding(SeatRules, Invitations, TeamMembers):
    """How a leader builds its team; in VirSci its keys stand directly under ``protocol``."""

    min_size_after_leaving: Annotated[int, Field(ge=1, le=10_000)] | Literal["all"] | None = None
    """A smaller team dissolves after members leave; null: as ``min_size``. Unit: members."""
    replacement: Switch = "on"
    """Invite another for each who declines; ``off``: n - 1 invitations in all. Source: VirSci,
    section 3.2."""
    freshness: float | None = Field(default=None, ge=0, le=1)
    """Target share of members without joint papers in the team; null: no target. Unit: share of
    members. Source: VirSci, figure 5, varies it."""
    diversity: float | None = Field(default=None, ge=0, le=1)
    """Target of distinct main topics per member; null: no target. Unit: topics / members. Source:
    VirSci, figure 6, varies it."""

    def smallest_after_leaving(self, wanted: int) -> int:
        """Members below which a team that has started, and wanted a size, is dissolved."""
        least = self.min_size_after_leaving
        return self.smallest_team(wanted) if least is None else at_most(wanted, least)


def select_collaborators(
    team: Team, lab: Lab, building: TeamBuilding, prompts: Prompts, *, coded: bool = False
) -> Process[None]:
    """Invite scientists drawn by P_ij until the team is complete."""
    leader, repetition = lab.world.population.rows[team.leader], building.repeat_teams
    earlier: tuple[int, ...] = ()
    if repetition is not None:
        earlier = repetition.earlier_team(leader, lab.world, lab.rng("again")) or ()
    size = len(earlier) + 1 if earlier else draw_size(building.team_size, lab.world, lab.rng)
    # At most the number of people, who are then all invited.
    n = team.target_size = size if earlier else min(size, len(lab.world.population))
    staying: list[int] = []
    if repetition is not None and earlier:
        staying = repetition.staying(earlier, lab.world.unavailable() | {leader}, lab.rng("stay"))
    if building.newcomers is not None:
        # They come today without an invitation, and the leader is their mentor.
        chance = building.newcomers.chance(lab.now, lab.rng("newcomers"))
        for seat in range(1, n - len(staying)):
            rng = lab.rng("newcomer", seat)
            if rng.random() < chance:
                lab.people.seat_newcomer(team.leader, building.newcomers, rng)
    search = CandidateSearch(building, team, lab, n, staying)
    while team.size < n and search.sent < search.most:
        at_once = building.inviting == "at_once" and not search.targets.are_set
        invitees = search.draw((n - team.size) if at_once else 1)
        if not invitees:
            break
        page = prompts["invitation"]
        yield from invite(invitees, search.sent - len(invitees), page, lab, coded)
    if team.size < n and search.targets.are_set:
        raise Dissolved("target out of reach")
    if team.size < building.smallest_team(n):
        raise Dissolved("too small")
    team.formed = lab.now if team.size == n else None


def invite(invitees: list[str], first: int, page: Prompt, lab: Lab, coded: bool) -> Process[None]:
    """Invite some people side by side; their answers take effect after the reply window."""
    sent = lab.now
    # Of the date of asking: by the date of the answer they may have become co-authors.
    known = [lab.people.acquaintance(invitee) for invitee in invitees]
    answers: list[Answer[Choice]] = [
        lab.people.invite(invitee, page, Choice, first + index, known[index], coded=coded)
        for index, invitee in enumerate(invitees)
    ]
    yield from lab.wait(lab.times.reply_window)
    # In the order of asking, whichever reply came first: the last seat goes to the first of them.
    for invitee, answer, facts in zip(invitees, answers, known, strict=True):
        accepted = answer.read().accepted
        outcome = "accepted" if accepted else "declined"
        if accepted and not lab.people.join(invitee):
            outcome = lab.people.why_not(invitee)
        lab.people.note_invitation(invitee, sent, facts, outcome)


class CandidateSearch:
    """The search for people whom a leader may still invite."""

    def __init__(
        self, building: TeamBuilding, team: Team, lab: Lab, n: int, first: Sequence[int] = ()
    ) -> None:
        self.targets = CompositionTargets.nearest(n, building.freshness, building.diversity)
        self.sent = 0
        self.most = building.max_invitations
        # One invitation per seat, whoever declines.
        if building.replacement == "off":
            self.most = min(self.most, n - 1)
        self._team, self._lab = team, lab
        self._groups = building.groups
        self._policy = building.selection.of_run(lab.world.streams.seed)
        self._asked: set[int] = set()
        self._first = list(first)

    def draw(self, seats: int) -> list[str]:
        """Draw up to ``seats`` different people by the policy, among those who are eligible."""
        population = self._lab.world.population
        chosen: list[str] = []
        while len(chosen) < seats and self.sent < self.most:
            # A stream per invitation: how many were asked before changes no later draw.
            rng = self._lab.rng("invitee", self.sent)
            row = self._draw_one(rng)
            if row is None:
                break
            self._asked.add(row)
            self.sent += 1
            chosen.append(population.names[row])
        return chosen

    def _draw_one(self, rng: np.random.Generator) -> int | None:
        """Draw one by the policy; those who put a target out of reach are rejected."""
        world, members, closed = self._lab.world, self._members(), self._closed()
        while self._first:
            first = self._first.pop(0)
            if first not in closed:
                return first
        if self._groups is not None:
            junior = self._groups.choose(members[0], closed, world, rng)
            if junior is not None:
                return junior
        if not self.targets.are_set:
            return self._policy.choose(members, closed, world, rng)
        joint, topic = world.network.joint_papers, world.topic
        for _ in range(MAX_DRAWS):
            row = self._policy.choose(members, closed, world, rng)
            if row is None or self.targets.reachable([*members, row], joint, topic):
                return row
            # Put aside, so that the policy does not propose the same person again.
            closed |= {row}
        return self._draw_exactly(members, closed, rng)

    def _draw_exactly(
        self, members: list[int], closed: ExcludedRows, rng: np.random.Generator
    ) -> int | None:
        """Draw from the list of all suitable people, after rejection sampling found none."""
        world = self._lab.world
        suitable = self.targets.suitable_rows(members, world.network, world.topic_numbers)
        suitable[sorted(closed)] = False
        candidates = np.flatnonzero(suitable).tolist()
        if not candidates:
            return None
        weights = self._policy.probabilities(members, candidates, world)
        mass = float(weights.sum())
        return candidates[int(rng.choice(len(candidates), p=weights / mass))] if mass else None

    def _members(self) -> list[int]:
        rows = self._lab.world.population.rows
        return [rows[member] for member in self._team.members]

    def _closed(self) -> ExcludedRows:
        """Members, those asked already, those at their limit or gone."""
        world, members = self._lab.world, self._members()
        return world.unavailable() | {*members, *self._asked}


def nearest_attainable(target: float, n: int, attainable: Sequence[int]) -> int:
    """The attainable number of ``n`` members nearest to a target share; ties go to the lower."""
    # Rounded, so that a difference in the last bit is still a tie.
    return min(attainable, key=lambda count: (round(abs(count - target * n), 9), count))


def fresh_members(team: Sequence[int], joint: Callable[[int, int], int]) -> int:
    """Number of members who have no joint paper with any other member."""
    return sum(
        all(joint(member, other) == 0 for other in team if other != member) for member in team
    )


def _can_end_with(target: int, alone: int, together: int, seats: int) -> bool:
    """Can a team still end with ``target`` members who are alone, which is fresh?

    With each seat either one more is alone, or the newcomer is not, and may take along one member
    who was. There is never exactly one member who is not alone. A newcomer who has written with
    several of those who are alone takes all of them along, but no plan relies on finding one: any
    team on target can be gathered without. Those who are not alone now are ``together``.
    """
    missing = alone + seats - target
    if missing <= 0:
        return missing == 0
    return missing <= seats + min(seats, alone) and not (missing == 1 and together == 0)


@dataclass(frozen=True)
class CompositionTargets:
    """The composition of a team of ``n`` that its leader wants; None where nothing is wanted."""

    n: int
    fresh: int | None = None
    distinct: int | None = None

    @classmethod
    def nearest(
        cls, n: int, freshness: float | None, diversity: float | None
    ) -> CompositionTargets:
        """The attainable targets nearest to the shares wanted."""
        fresh = distinct = None
        if freshness is not None:
            # It is never exactly one member who is not fresh.
            attainable = [count for count in range(n + 1) if count != n - 1]
            fresh = n if n == 1 else nearest_attainable(freshness, n, attainable)
        if diversity is not None:
            distinct = nearest_attainable(diversity, n, range(1, n + 1))
        return cls(n, fresh, distinct)

    @property
    def are_set(self) -> bool:
        """True if anything is wanted."""
        return (self.fresh, self.distinct) != (None, None)

    def reachable(
        self,
        team: Sequence[int],
        joint: Callable[[int, int], int],
        topic: Callable[[int], Hashable],
    ) -> bool:
        """Can this team still be completed to every target?"""
        seats = self.n - len(team)
        if self.fresh is not None:
            alone = fresh_members(team, joint)
            if not _can_end_with(self.fresh, alone, len(team) - alone, seats):
                return False
        if self.distinct is not None:
            have = len({topic(member) for member in team})
            return have <= self.distinct <= have + seats
        return True

    def suitable_rows(
        self, team: Sequence[int], network: CoauthorNetwork, subjects: IntArray
    ) -> BoolArray:
        """Of every row: would the team with this newcomer keep every target reachable?"""

        # Only co-authors of members are checked singly: others with one topic are equivalent.
        def is_suitable(row: int) -> bool:
            return self.reachable([*team, row], network.joint_papers, subjects.__getitem__)

        suitable = np.zeros(len(subjects), dtype=bool)
        strangers = np.ones(len(subjects), dtype=bool)
        coauthors = np.unique(np.concatenate([network.coauthors(member)[0] for member in team]))
        strangers[coauthors] = strangers[list(team)] = False
        held = np.unique(subjects[list(team)])
        same_topic = [strangers & (subjects == subject) for subject in held]
        for group in (*same_topic, strangers & ~np.isin(subjects, held)):
            first = int(group.argmax())
            if group[first]:
                suitable[group] = is_suitable(first)
        for row in np.setdiff1d(coauthors, list(team)).tolist():
            suitable[row] = is_suitable(row)
        return suitable
