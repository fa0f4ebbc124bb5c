"""Society: the model. It owns the clock, the people, the literature, the network and the log."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import mesa
import simpy
from mesa.datacollection import DataCollector
from mesa.space import NetworkGrid

from agents.backend import Backend
from agents.errors import Diverged, Stopped
from agents.gateway import Gateway
from society.attention import Attention
from society.careers import Careers
from society.collector import unhurried
from society.courses import Courses, require
from society.dispatch import Dispatcher
from society.drift import Drift
from society.durations import Times, to_ticks
from society.ecosystem.ecosystem import Ecosystem
from society.ecosystem.knowledge import KnowledgeBank
from society.founding import Founding
from society.foundings import Foundings
from society.interfaces import TeamProtocol
from society.interventions import Change, founds_alike, intervene
from society.lab import Lab
from society.life import end
from society.literature.literature import Literature
from society.network import CoauthorNetwork
from society.observed import ObservedSizes
from society.opening import Opening
from society.population import Population
from society.publication import Publication, Unreviewed
from society.runlog import RunLog
from society.streams import Streams
from society.team import Team
from society.world import World


class Society(mesa.Model, World):
    """A society of virtual scientists from day 0 (1 January of the boundary year) on.

    Args:
        ecosystem: people and literature before day 0.
        protocol: how its teams work.
        founding: when teams start, and the limit of teams per scientist.
        times: simulated time of every act.
        attention: ``unlimited`` lets everybody be in many rooms at once.
        backend: who speaks.
        in_flight: calls to the backend at a time; changes nothing in the simulated world.
        gateway: the way to the backend, where it is not a plain one: with a journal on disk, a
            budget, a policy of its own.
        until: last day, exclusive.
        step_days: length of one Mesa step.
        seed: of everything random.
        interventions: what changes on which date, in any order.
        publication: what lies between a finished manuscript and its paper.
        careers: who comes, leaves and moves; None: nobody does.
        drift: how interests follow what is written; None: they are those of day 0.
    """

    protocol: TeamProtocol
    careers: Careers | None

    def __init__(
        self,
        ecosystem: Ecosystem,
        *,
        protocol: TeamProtocol,
        founding: Founding,
        times: Times,
        backend: Backend,
        attention: Literal["on", "unlimited"] = "on",
        in_flight: int = 64,
        gateway: Gateway | None = None,
        until: float = 365.0,
        step_days: float = 7.0,
        seed: int = 0,
        interventions: Sequence[Change] = (),
        publication: Publication | None = None,
        drift: Drift | None = None,
        careers: Careers | None = None,
    ) -> None:
        super().__init__(seed=seed)
        require(ecosystem.profiles, careers, interventions)
        self.ecosystem, self.protocol, self.founding = ecosystem, protocol, founding
        self.times, self.backend = times, backend
        self.publication, self.drift = publication or Unreviewed(), drift
        self.careers = careers
        self.until, self.step_days = to_ticks(until), to_ticks(step_days)
        self.env = simpy.Environment()
        self.streams = Streams(seed)
        self.log = RunLog(self._now)
        self._tomorrow = 0.0
        self.attention = Attention(self.env, limited=attention == "on")
        self.network = CoauthorNetwork(ecosystem.coauthors, self._now)
        self.population = Population(ecosystem.profiles, self, self.network, self._now)
        self.literature = Literature(
            ecosystem.past,
            ecosystem.past_vectors,
            ecosystem.embedding,
            ecosystem.boundary,
            kept=ecosystem.kept and ecosystem.kept / "past.cells.npz",
        )
        self.knowledge = KnowledgeBank(
            ecosystem.profiles,
            ecosystem.embedding,
            ecosystem.interest_vectors,
            kept=ecosystem.kept and ecosystem.kept / "interests.cells.npz",
        )
        self.team_sizes = ObservedSizes(ecosystem.past.team_sizes)
        self.teams_in_world, self.reviewing, self.departures = {}, {}, {}
        self.dispatcher = self._dispatcher(gateway or Gateway(backend, in_flight))
        self._finalizer = weakref.finalize(self, Dispatcher.close, self.dispatcher)
        self._describe_start()
        self._schedule(interventions)
        self._courses, self._foundings = Courses(self), Foundings(self)
        everybody = range(len(self.population))
        self._courses.begin(careers, everybody)
        self._foundings.begin(everybody)
        self.datacollector = DataCollector(model_reporters=_REPORTERS)
        self._space: NetworkGrid | None = None

    @property
    def space(self) -> NetworkGrid:
        """The scientists on their co-authorship network as of now, for Mesa's viewers.

        A node is a row of the population. Asked again, the same space has the ties made since.
        """
        graph = self.network.graph()
        if self._space is None:
            self._space = NetworkGrid(graph)
        new = [row for row in graph if row not in self._space.G]
        self._space.G.add_nodes_from((row, {"agent": self._space.default_val()}) for row in new)
        self._space.G.add_edges_from(graph.edges(data=True))
        for agent in self.agents:
            if agent.pos is None:
                self._space.place_agent(agent, agent.row)
        return self._space

    def step(self) -> None:
        """Advance one period and collect; the step that reaches ``until`` closes the run."""
        if not self.running:
            return
        self.advance(min(to_ticks(self.steps * self.step_days), self.until))
        self.datacollector.collect(self)
        if self.env.now >= self.until:
            self.close()

    def run_to_end(self, progress: Callable[[Society], None] | None = None) -> None:
        """Step until the end, telling ``progress`` after each step."""
        with unhurried():
            while self.running:
                self.step()
                if progress is not None:
                    progress(self)

    def advance(self, date: float) -> None:
        """Let everything happen that is dated before ``date``; an event on it comes later.

        Raises:
            Exception: the fault that stopped the run, as it was.
        """
        dispatcher, peek, step = self.dispatcher, self.env.peek, self.env.step
        dispatcher.on_clock(True)
        try:
            while (coming := peek()) < date and not dispatcher.halted:
                if coming >= self._tomorrow:
                    self._tomorrow = self.log.complete(coming)
                step()
            if not dispatcher.halted and self.env.now < date:
                self.env.run(until=date)
        except BaseException as fault:
            dispatcher.stop(fault)
        finally:
            dispatcher.on_clock(False)
        self._raise_fault()

    def close(self) -> None:
        """Wait for outstanding words, write the rows of unfinished teams, seal the log."""
        if not self.running:
            return
        left = self._teams_left()
        try:
            for team, _ in left:
                self.dispatcher.settle(team.answers)
        except Stopped:
            self._raise_fault()
        try:
            self.dispatcher.gateway.finish(self.until)
        except Diverged as fault:
            self.dispatcher.stop(fault)
            self._raise_fault()
        for team, lab in left:
            end(self, team, lab)
        self._seal(left)

    def interrupt(self, reason: Stopped) -> None:
        """Stop soon, from a signal handler; the step that is running raises ``reason``."""
        self.dispatcher.interrupt(reason)

    def _dispatcher(self, gateway: Gateway) -> Dispatcher:
        # A weak reference, so that the loop thread keeps no society alive that Mesa has dropped.
        me = weakref.proxy(self)
        return Dispatcher(
            gateway,
            lambda: me.day,
            lambda: me.log.seal(),
            lambda: min(50_000, max(8 * gateway.in_flight, 64 * len(me.teams_in_world))),
        )

    def _schedule(self, interventions: Sequence[Change]) -> None:
        """Waits that are begun before all others end before all others on the same date."""
        in_order = sorted(interventions, key=lambda change: change.date)
        for number, change in enumerate(in_order, start=1):
            wait = self.env.timeout(change.date)
            wait.callbacks.append(partial(self._intervene, number, change))

    def _intervene(self, number: int, change: Change, _: simpy.Event) -> None:
        settings = dict(change.settings)
        seed = settings.pop("seed", None)
        if seed is not None:
            # Another object, since questions on their way hold the one they were asked with.
            self.streams = Streams(seed)
            self._foundings.turn(seed)
            self._courses.turn(seed)
        founding, careers = self.founding, self.careers
        for name, value in settings.items():
            setattr(self, name, value)
        intervene(self, number, change)
        if not founds_alike(founding, self.founding):
            self._foundings.begin_anew(number)
        if careers != self.careers:
            self._courses.begin_anew(self.careers, number)

    def welcome(self, row: int) -> None:
        """A newcomer leads teams, and goes its way, by the rules that hold for everybody."""
        rows = range(row, row + 1)
        if self.founding.per_scientist:
            self._foundings.begin(rows)
        self._courses.begin(self.careers, rows)

    def _describe_start(self) -> None:
        opening = Opening(self.ecosystem, self.population, self.network)
        if self.population.large:
            self.log.before = opening.rows
            return
        self.log.rows["scientists"] += opening.scientists()
        self.log.rows["ties"] += opening.ties()

    def _teams_left(self) -> list[tuple[Team, Lab]]:
        return [self.teams_in_world[team_id] for team_id in sorted(self.teams_in_world)]

    def _seal(self, left: list[tuple[Team, Lab]]) -> None:
        self.running = False
        self.log.seal()
        for team, _ in left:
            team.cut_off()
        self._finalizer()

    def _raise_fault(self) -> None:
        if self.dispatcher.fault is not None:
            self._seal(self._teams_left())
            raise self.dispatcher.fault

    def _now(self) -> float:
        return float(self.env.now)


def _teams_in(state: str) -> Callable[[Society], int]:
    return lambda society: sum(team.state == state for team, _ in society.teams_in_world.values())


_REPORTERS: dict[str, Callable[[Society], Any]] = {
    "day": lambda society: society.day,
    "teams_running": _teams_in("running"),
    "teams_finished": _teams_in("finished"),
    "papers": lambda society: len(society.log.rows["papers"]),
    "calls": lambda society: len(society.log.rows["calls"]),
    "people": lambda society: len(society.population),
    "agents": lambda society: len(society.agents),
    "busy_scientists": lambda society: len(society.population.busy),
    "max_memberships": lambda society: max(society.population.busy.values(), default=0),
}
