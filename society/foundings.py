"""Foundings: the rule of founding at work, from its dates to the teams that begin to live."""

from __future__ import annotations

import numpy as np

from society.lab import Lab
from society.leaders import Anybody
from society.life import deadline, live
from society.steps import Steps
from society.streams import Streams
from society.team import Team
from society.world import World


class Foundings:
    """The teams of a society, founded by the rule that it has.

    Args:
        world: whose rule it is, whose people lead and in which the teams work.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._calls, self._called = Streams(world.streams.seed), 0
        self._projects: dict[int, int] = {}
        self._founders: tuple[float, set[int]] = (-1.0, set())

    def turn(self, seed: int) -> None:
        """Draw dates and leaders from another seed from now on."""
        self._calls.turn(seed)

    def begin(self, rows: range) -> None:
        """The rule of the world holds from now on for these people.

        Args:
            rows: everybody who was ever here, or one newcomer, which brings what a society of
                one would found; processes of this kind add up.
        """
        self._world.env.process(self._found_teams(rows))

    def begin_anew(self, number: int) -> None:
        """Another rule holds for everybody since the intervention of this number."""
        self._calls, self._called = Streams(self._world.streams.seed, "since", number), 0
        self.begin(range(len(self._world.population)))

    def _found_teams(self, rows: range) -> Steps:
        """Teams by the rule of founding from now on, until there is another rule."""
        world, began, calls = self._world, self._world.day, self._calls
        streams = calls if rows.start == 0 else calls.below("newcomer", rows.start)
        foundings = enumerate(world.founding.teams(len(rows), streams))
        for ordinal, (after, row) in foundings:
            date = began + after
            if date >= world.until:
                return
            yield world.env.timeout(date - world.day)
            if calls is not self._calls or world.founding.enough(self._called):
                return
            self._called += 1
            self._call(row, rows, streams, ordinal)

    def _call(self, row: int | None, rows: range, streams: Streams, ordinal: int) -> None:
        """The rule calls for a team now: whoever's turn it is founds it, if it may."""
        world = self._world
        if world.founding.per_scientist and world.careers is not None:
            row = self._turn(row, rows, streams, ordinal)
            if row in world.population.gone:
                return
        if row is None or world.founding.leaders is not None:
            row = self._leader(streams.stream("lead", ordinal))
        if row is None:
            world.log.event("founding_skipped", scientist=None)
        else:
            self._found(row)

    def _turn(self, row: int | None, rows: range, streams: Streams, ordinal: int) -> int | None:
        """Whose turn it is among all who were ever here, each alike.

        Whoever the rule has drawn, as long as it is among those that the rule knows. Where it is
        the turn of somebody who has left nothing is founded, so that there are as many foundings
        as there are scientists.
        """
        everybody = len(self._world.population)
        if rows == range(everybody):
            return row
        turn = int(streams.stream("turn", ordinal).integers(everybody))
        return row if rows.start == 0 and turn in rows else turn

    def _leader(self, rng: np.random.Generator) -> int | None:
        """Who leads by the rule: nobody at the limit, nobody who has founded a team just now."""
        world = self._world
        rule = world.founding.leaders or Anybody()
        just_now = self._founders[1] if self._founders[0] == world.day else frozenset()
        return rule.choose(world.closed() | just_now, world, rng)

    def _found(self, row: int) -> None:
        """A team of this leader begins, unless it has left or is at its limit of teams."""
        world = self._world
        leader = world.population.names[row]
        if row in world.population.gone:
            return
        if world.at_limit(row):
            world.log.event("founding_skipped", scientist=leader)
            return
        team, lab = self._team(row, leader)
        world.teams_in_world[team.id] = team, lab
        world.log.event("founded", team=team.id, leader=leader)
        world.join(team, leader, "leader")
        team.process = world.env.process(self._live(team, lab))
        if world.times.deadline is not None:
            world.env.process(deadline(world.env, team, world.times.deadline))

    def _team(self, row: int, leader: str) -> tuple[Team, Lab]:
        """The next team of this leader, with the ways of the world as they are now."""
        world, date = self._world, self._world.day
        ordinal = self._projects[row] = self._projects.get(row, 0) + 1
        team_id = f"{leader}/{ordinal}"
        way = world.protocol.of_team(team_id, world.streams)
        team = Team(team_id, leader, way, date, world.times, world.publication)
        if self._founders[0] != date:
            self._founders = (date, set())
        self._founders[1].add(row)
        return team, Lab(world, team)

    def _live(self, team: Team, lab: Lab) -> Steps:
        yield from live(self._world, team, lab)
        del self._world.teams_in_world[team.id]
