"""Stage 1, collaborator selection: the leader invites until the team has n members."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agents.errors import Dissolved
from protocols.forms import Choice
from protocols.sizes import TeamSize
from protocols.targets import Targets
from protocols.virsci.prompts import PROMPTS
from protocols.virsci.settings import Settings
from society.excluded import Excluded
from society.steps import Steps

if TYPE_CHECKING:
    from society.lab import Lab
    from society.team import Team

TRIES = 100
"""Draws of people out of the targets' reach before everybody in reach is looked for."""


def gather(virsci: Settings, team: Team, lab: Lab) -> Steps:
    """Invite by P_ij; refusals are replaced by the next draw, up to a limit of invitations."""
    n = team.target_size = wanted_size(virsci, lab)
    search = Search(virsci, team, lab, n)
    while team.size < n and search.sent < search.most:
        at_once = virsci.inviting == "at_once" and not search.targets.any
        invitees = search.draw((n - team.size) if at_once else 1)
        if not invitees:
            break
        yield from invite(invitees, search.sent - len(invitees), team, lab)
    if team.size < n and search.targets.any:
        raise Dissolved("target out of reach")
    if team.size < virsci.smallest(n):
        raise Dissolved("too small")
    team.formed = lab.now if team.size == n else None


def wanted_size(virsci: Settings, lab: Lab) -> int:
    """n, the leader included, and never more than there are people."""
    size = virsci.team_size
    if isinstance(size, TeamSize):
        size = size.draw(lab.world.team_sizes, lab.rng("size"))
    return min(size, len(lab.world.population))


def invite(invitees: list[str], first: int, team: Team, lab: Lab) -> Steps:
    """Invite some people side by side; their answers take effect after the reply window."""
    sent = lab.now
    known = [lab.acquaintance(who) for who in invitees]
    answers = [
        lab.invite(who, PROMPTS["invitation"], Choice, first + place, known[place])
        for place, who in enumerate(invitees)
    ]
    yield from lab.wait(lab.times.reply_window)
    for who, answer, facts in zip(invitees, answers, known, strict=True):
        accepted = answer.read().accepted
        joined = accepted and lab.join(who)
        outcome = "accepted" if joined else lab.why_not(who) if accepted else "declined"
        lab.note_invitation(who, sent, facts, outcome)


class Search:
    """Whom the leader may still ask, and how many it has asked."""

    def __init__(self, virsci: Settings, team: Team, lab: Lab, n: int) -> None:
        self.targets = Targets.of(n, virsci.freshness, virsci.diversity, virsci.diversity_variant)
        self.sent = 0
        self.most = virsci.max_invitations
        if virsci.replacement == "off":
            self.most = min(self.most, n - 1)
        self._team, self._lab = team, lab
        self._policy = virsci.selection.of_run(lab.world.streams.seed)
        self._asked: set[int] = set()

    def draw(self, seats: int) -> list[str]:
        """Up to ``seats`` different people, each by the policy, among those in reach."""
        population = self._lab.world.population
        chosen: list[str] = []
        while len(chosen) < seats and self.sent < self.most:
            rng = self._lab.rng("invitee", self.sent)
            row = self._draw_one(rng)
            if row is None:
                break
            self._asked.add(row)
            self.sent += 1
            chosen.append(population.names[row])
        return chosen

    def _draw_one(self, rng: np.random.Generator) -> int | None:
        """One who may be asked, by the policy; who is out of the targets' reach is refused.

        Refusing leaves the policy's proportions among those in reach as they are.
        """
        world, members, closed = self._lab.world, self._members(), self._closed()
        if not self.targets.any:
            return self._policy.choose(members, closed, world, rng)
        joint, topic = world.network.joint, world.topic
        for _ in range(TRIES):
            row = self._policy.choose(members, closed, world, rng)
            if row is None or self.targets.in_reach([*members, row], joint, topic):
                return row
            closed |= {row}
        return self._draw_in_reach(members, closed, rng)

    def _draw_in_reach(
        self, members: list[int], closed: Excluded, rng: np.random.Generator
    ) -> int | None:
        """The same among all who are in reach, who are few if so many draws found none."""
        world = self._lab.world
        fit = self.targets.candidates(members, world.network, world.subjects)
        fit[sorted(closed)] = False
        candidates = np.flatnonzero(fit).tolist()
        if not candidates:
            return None
        weights = self._policy.chances(members, candidates, world)
        mass = float(weights.sum())
        return candidates[int(rng.choice(len(candidates), p=weights / mass))] if mass else None

    def _members(self) -> list[int]:
        rows = self._lab.world.population.rows
        return [rows[member] for member in self._team.members]

    def _closed(self) -> Excluded:
        """Members, those asked already, those at their limit or gone."""
        world, members = self._lab.world, self._members()
        return world.closed() | {*members, *self._asked}
