"""The process that starts teams on the dates that the world's founding rule gives."""

from __future__ import annotations

from virsci_society.society.formation.leaders import Anybody
from virsci_society.society.kernel.durations import Process
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.teams.lab import Lab
from virsci_society.society.teams.lifecycle import deadline, live
from virsci_society.society.teams.team import Team
from virsci_society.society.teams.world import World


class FoundingProcess:
    """Founds the teams of a world by its present founding rule."""

    def __init__(self, world: World) -> None:
        self.labs: dict[str, Lab] = {}
        self._world = world
        self._streams = Streams(world.streams.seed)
        self._projects: dict[int, int] = {}
        self._founders: tuple[float, set[int]] = (-1.0, set())

    def reseed(self, seed: int) -> None:
        """Draw dates and leaders from another seed from now on."""
        self._streams.reseed(seed)

    def begin(self, rows: range) -> None:
        """Found teams for these rows, everybody's or one newcomer's, from now on."""
        self._world.env.process(self._found_teams(rows))

    def restart(self, number: int) -> None:
        """Found by another rule for everybody, since the intervention of this number."""
        # The new streams object is also the sign by which the old processes end.
        self._streams = Streams(self._world.streams.seed, "since", number)
        self.begin(range(len(self._world.population)))

    def _found_teams(self, rows: range) -> Process[None]:
        """The SimPy process of foundings for some people, until there is another rule."""
        world, began, current = self._world, self._world.day, self._streams
        # A newcomer has streams of its own, so its arrival shifts no draw of the others (rule 9).
        streams = current if rows.start == 0 else current.below("newcomer", rows.start)
        # The past papers are those of day 0, also for a rule that an intervention brings later.
        rule = world.founding.counted_on(lambda: world.history.past)
        foundings = enumerate(rule.foundings(len(rows), streams))
        for ordinal, (after, row) in foundings:
            date = began + after
            if date >= world.until:
                return
            yield world.env.timeout(date - world.day)
            # Only after the wait: an intervention may have set another rule meanwhile.
            if current is not self._streams:
                return
            self._found_next(row, rows, streams, ordinal)

    def _found_next(self, row: int | None, rows: range, streams: Streams, ordinal: int) -> None:
        """Found the next team that the rule asks for, if its leader may lead it."""
        world = self._world
        if world.founding.per_scientist and world.careers is not None:
            everybody = len(world.population)
            if rows != range(everybody):
                # Each who was ever here has the same chance to lead. The draw of the rule itself
                # stands as long as it falls on the people that the rule knows.
                turn = int(streams.stream("turn", ordinal).integers(everybody))
                row = row if rows.start == 0 and turn in rows else turn
            # Founds nothing, so that foundings stay proportional to the scientists present.
            if row in world.population.departed:
                return
        if row is None or world.founding.leaders is not None:
            rule = world.founding.leaders or Anybody()
            today = self._founders[1] if self._founders[0] == world.day else frozenset()
            excluded = world.unavailable() | today
            row = rule.choose(excluded, world, streams.stream("lead", ordinal))
        if row is None:
            world.log.event("founding_skipped", scientist=None)
            return
        seats = world.newcomer_seats
        if seats is not None:
            rng = streams.stream("newcomer leads", ordinal)
            if seats.leads(world.day, rng):
                self._found(world.bring(row, seats, rng), arriving=True)
                return
        self._found(row)

    def _found(self, row: int, *, arriving: bool = False) -> None:
        """Start a team, which keeps the rules of now (rule 23), if its leader is free."""
        world, date = self._world, self._world.day
        leader = world.population.names[row]
        if row in world.population.departed:
            return
        if not arriving and world.at_limit(row):
            world.log.event("founding_skipped", scientist=leader)
            return
        ordinal = self._projects[row] = self._projects.get(row, 0) + 1
        team_id = f"{leader}/{ordinal}"
        protocol = world.protocol.of_team(team_id, world.streams)
        team = Team(team_id, leader, protocol.name, date, world.times)
        if self._founders[0] != date:
            self._founders = (date, set())
        self._founders[1].add(row)
        lab = Lab(world, team)
        world.teams[team_id], self.labs[team_id] = team, lab
        world.log.event("founded", team=team_id, leader=leader)
        world.join(team, leader, "leader", arriving=arriving)
        life = live(world, team, lab, protocol, world.publication, self._forget)
        team.process = world.env.process(life)
        if world.times.deadline is not None:
            world.env.process(deadline(world.env, team, world.times.deadline))

    def _forget(self, team: Team) -> None:
        # Only now that its rows are written: the end of the run closes the teams that stand here.
        del self._world.teams[team.id], self.labs[team.id]
