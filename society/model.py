"""The Mesa model of a society, which makes the world, advances the clock and closes the run."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, cast

import numpy as np
import simpy

from virsci_society.agents.errors import Diverged, Stopped
from virsci_society.agents.gateway.backend import Backend
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.mesa import DataCollector, Model, Scientist, network_space
from virsci_society.society.careers import CareerProcess, Careers, add_newcomer, apprentice_profile
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.ecosystem.knowledge_bank import KnowledgeBank
from virsci_society.society.formation.founding import Founding
from virsci_society.society.formation.world_view import ObservedSizes
from virsci_society.society.interventions import Change, founds_alike, intervene
from virsci_society.society.kernel.dispatcher import Dispatcher
from virsci_society.society.kernel.durations import Times, to_ticks
from virsci_society.society.kernel.garbage_collection import infrequent_collection
from virsci_society.society.kernel.streams import Streams, chosen_seed
from virsci_society.society.literature.landscape import Worth
from virsci_society.society.literature.literature import Literature
from virsci_society.society.population.assistance import Assistance
from virsci_society.society.population.event_counts import PaperHistory
from virsci_society.society.population.external_authors import ExternalAuthors
from virsci_society.society.population.interest_drift import Drift
from virsci_society.society.population.network import CoauthorNetwork
from virsci_society.society.population.population import Population
from virsci_society.society.results.run_log import InitialTables, RunLog
from virsci_society.society.teams.contracts import Publication, TeamProtocol
from virsci_society.society.teams.lifecycle import FoundingProcess, end
from virsci_society.society.teams.publication import Unreviewed
from virsci_society.society.teams.team import Execution, Team
from virsci_society.society.teams.world import Attention, World


class Society(Model):
    """A society of virtual scientists from day 0 (1 January of the boundary year) on.

    It is an ordinary Mesa model: ``step`` advances one period, and the step that reaches the end
    closes the run. Teams share its ``world``, parts of which are readable here.

    Args:
        ecosystem: people and literature before day 0.
        protocol: how its teams work.
        founding: when teams start, and the limit of teams per scientist.
        times: durations of every act in the simulated world.
        attention: ``unlimited`` lets scientists attend several meetings at once.
        backend: the model or rules that answer for the scientists.
        in_flight: maximum number of parallel calls; does not affect results.
        gateway: connection to the backend; None: without journal, budget and retries.
        until: last day, exclusive.
        initial_projects: days before day 0 in which teams are founded. Their papers before day 0
            are dropped; the other projects are under way on day 0.
        step_days: length of one Mesa step, in days.
        seed: seed of everything random; None: drawn, see ``seed``.
        rng: the same under the name that Mesa 4 and other libraries use (SPEC 7), which comes
            before ``seed``; a generator is drawn from once.
        interventions: changes with their dates, in any order.
        publication: what lies between a finished manuscript and its paper; None: no review.
        careers: who comes, leaves and moves; None: nobody does.
        assistance: who is assisted by a machine, and how; None: nobody.
        worth: the hidden worth of ideas; None: they have none.
        execution: how ideas are carried out; None: they are not. It needs a worth.
        drift: how interests follow what is written; None: they are those of day 0.
        external_authors: how many from outside the population a paper names; None: none. With it
            the observed team sizes are the numbers of authors in the population.
        agent_reporters: collect a row per agent and step too. Mesa's ``batch_run`` then returns
            a row per agent, and every step takes time and memory in proportion to the agents.

    Attributes:
        world: people, papers, ties and rules that the teams share; ``env`` (the clock),
            ``population``, ``literature`` and so on are attributes of the society, too.
        datacollector: Mesa's figures, one row per step. None of them looks at everybody, nor at
            ties from before day 0.

    Example:
        >>> society = vs.ScenarioSociety("quickstart", seed=3, **{"until": "4w"})
        >>> isinstance(society, vs.Society), society.step_days
        (True, 7.0)
        >>> society.step()
        >>> society.world.env.now
        7.0
    """

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
        initial_projects: float = 0.0,
        step_days: float = 7.0,
        seed: int | None = 0,
        rng: int | np.random.Generator | None = None,
        interventions: Sequence[Change] = (),
        publication: Publication | None = None,
        drift: Drift | None = None,
        external_authors: ExternalAuthors | None = None,
        careers: Careers | None = None,
        assistance: Assistance | None = None,
        worth: Worth | None = None,
        execution: Execution | None = None,
        agent_reporters: bool = False,
    ) -> None:
        self.seed = seed = chosen_seed(seed, rng)
        super().__init__(rng=seed)
        self.step_days, self.first_day = to_ticks(step_days), 0.0 - to_ticks(initial_projects)
        dispatcher = self._dispatcher(gateway or Gateway(backend, in_flight))
        # Before anything can fail: whatever becomes of this object, its loop thread ends (rule 26).
        self._finalizer = weakref.finalize(self, Dispatcher.close, dispatcher)
        self.world = world = self._make_world(
            ecosystem,
            external_authors,
            limited=attention == "on",
            protocol=protocol,
            founding=founding,
            times=times,
            publication=publication or Unreviewed(),
            drift=drift,
            careers=careers,
            assistance=assistance,
            execution=execution,
            landscape=worth and worth.field(ecosystem.past_vectors, Streams(seed).stream("worth")),
            until=to_ticks(until),
            streams=Streams(seed),
            dispatcher=dispatcher,
        )
        self.env, self.ecosystem, self.log = world.env, world.ecosystem, world.log
        self.population, self.literature = world.population, world.literature
        self.network, self.knowledge = world.network, world.knowledge
        self.dispatcher = dispatcher
        self._tomorrow, self._periods = 0.0, 0
        tables = InitialTables(ecosystem, self.population, self.network)
        if self.population.large:
            # Rows are made while writing: a million people are not stored twice.
            self.log.initial_rows = tables.rows
        else:
            self.log.rows["scientists"].extend(tables.scientists())
            self.log.rows["ties"].extend(tables.ties())
        # Interventions first: waits that are begun before all others end before them on the same
        # date (rule 11).
        in_order = sorted(interventions, key=lambda change: change.date)
        for number, change in enumerate(in_order, start=1):
            wait = self.env.timeout(change.date - self.env.now)
            wait.callbacks.append(partial(self._intervene, number, change))
        self._careers, self._founding = CareerProcess(world), FoundingProcess(world)
        everybody = range(len(self.population))
        if self.env.now == 0:
            self._careers.begin(careers, everybody)
        else:
            wait = self.env.timeout(-self.env.now)
            wait.callbacks.append(lambda _: self._careers.begin(careers, everybody))
        self._founding.begin(everybody)
        self.datacollector = DataCollector(
            _REPORTERS, _AGENT_REPORTERS if agent_reporters else None
        )
        self._space: Any = None

    def _make_world(
        self, ecosystem: Ecosystem, external: ExternalAuthors | None, *, limited: bool, **rules: Any
    ) -> World:
        """The world on its first day; rules are named as its fields."""
        env = simpy.Environment(initial_time=self.first_day)
        past, people = ecosystem.past, ecosystem.profiles

        def now() -> float:
            return float(env.now)

        network = CoauthorNetwork(ecosystem.coauthors, now)
        return World(
            env=env,
            ecosystem=ecosystem,
            population=Population(people, self, network, now),
            literature=Literature(
                past, ecosystem.past_vectors, ecosystem.embedding, ecosystem.boundary
            ),
            network=network,
            history=PaperHistory(lambda: ecosystem.authorships, now),
            knowledge=KnowledgeBank(people, ecosystem.embedding, ecosystem.interest_vectors),
            attention=Attention(env, limited),
            team_sizes=observed_sizes(ecosystem, inside=external is not None),
            log=RunLog(env),
            welcome=self._welcome,
            bring_newcomer=self._bring_newcomer,
            outside=None if external is None else external.counted_on(past, people.rows),
            **rules,
        )

    @property
    def day(self) -> float:
        """The simulated date in days."""
        return self.world.day

    @property
    def until(self) -> float:
        """The last day, exclusive."""
        return self.world.until

    @property
    def space(self) -> Any:
        """The scientists on the current co-authorship network, for Mesa's viewers."""
        self._space = network_space(self, self.network.graph(), self._space)
        for agent in self.agents:
            if agent.cell is None:
                agent.cell = self._space[agent.row]
        return self._space

    def step(self) -> None:
        """Advance one period and collect figures; the step that reaches ``until`` closes the run.

        Mesa's ``batch_run`` never closes a model, so the last step must do it (rule 26).
        """
        if not self.running:
            return
        self._periods += 1
        self.advance(min(to_ticks(self._periods * self.step_days), self.until))
        self.datacollector.collect(self)
        if self.env.now >= self.until:
            self.close()

    def run_to_end(self, progress: Callable[[Society], None] | None = None) -> None:
        """Step until the end, and call ``progress`` after each step."""
        with infrequent_collection():
            while self.running:
                self.step()
                if progress is not None:
                    progress(self)

    def advance(self, date: float) -> None:
        """Process all events before a date in days.

        An event exactly on that date belongs to the next period (rule 11).
        """
        dispatcher, peek, step = self.dispatcher, self.env.peek, self.env.step
        dispatcher.on_clock(True)
        try:
            # Looked at before every event, so that a signal handler needs no lock (rule 3).
            while (coming := peek()) < date and not dispatcher.halted:
                if coming >= self._tomorrow:
                    self._tomorrow = self.log.mark_completed(coming)
                step()
            if not dispatcher.halted and self.env.now < date:
                self.env.run(until=date)
        except BaseException as fault:
            dispatcher.stop(fault)
        finally:
            dispatcher.on_clock(False)
        self._raise_fault()

    def close(self) -> None:
        """End the run: wait for replies, write rows of unfinished teams, seal the log."""
        if not self.running:
            return
        # In the order of their ids, and not of their founding (rule 12).
        left = [team for _, team in sorted(self.world.teams.items())]
        try:
            for team in left:
                self.dispatcher.settle(team.answers)
        except Stopped:
            self._raise_fault()
        try:
            self.dispatcher.gateway.finish(self.until)
        except Diverged as fault:
            self.dispatcher.stop(fault)
            self._raise_fault()
        for team in left:
            end(self.world, team, self._founding.labs[team.id])
        self._seal(left)

    def interrupt(self, reason: Stopped) -> None:
        """Stop soon, from a signal handler; the running step raises ``reason`` (rule 3)."""
        self.dispatcher.interrupt(reason)

    def _dispatcher(self, gateway: Gateway) -> Dispatcher:
        # A weak reference, so that the loop thread keeps no society alive that Mesa has dropped.
        # Not the world, which refers to the society through its people.
        me = weakref.proxy(self)
        return Dispatcher(
            gateway,
            lambda: me.day,
            lambda: me.log.seal(),
            lambda: min(50_000, max(8 * gateway.in_flight, 64 * len(me.world.teams))),
        )

    def _intervene(self, number: int, change: Change, _: simpy.Event) -> None:
        world, settings = self.world, dict(change.settings)
        seed = settings.pop("seed", None)
        if seed is not None:
            # A new object, since calls in progress refer to the old one.
            world.streams = Streams(seed)
            self._founding.reseed(seed)
            self._careers.reseed(seed)
        founding, careers = world.founding, world.careers
        for name, value in settings.items():
            setattr(world, name, value)
        intervene(world, number, change)
        if not founds_alike(founding, world.founding):
            self._founding.restart(number)
        if careers != world.careers:
            self._careers.restart(cast("Careers | None", world.careers), number)

    def _welcome(self, row: int) -> None:
        """Start a newcomer's foundings and career, by the same rules as for everybody."""
        rows = range(row, row + 1)
        if self.world.founding.per_scientist:
            self._founding.begin(rows)
        self._careers.begin(cast("Careers | None", self.world.careers), rows)

    def _bring_newcomer(self, mentor: int, shared: float, rng: np.random.Generator) -> int:
        return add_newcomer(
            self.world, *apprentice_profile(self.world, mentor, shared, rng), mentor
        )

    def _seal(self, left: list[Team]) -> None:
        self.running = False
        # Before anything unwinds: what a ``finally`` clause would write is no part of the run.
        self.log.seal()
        for team in left:
            team.cut_off()
        self._finalizer()

    def _raise_fault(self) -> None:
        if self.dispatcher.fault is not None:
            self._seal([team for _, team in sorted(self.world.teams.items())])
            raise self.dispatcher.fault


def observed_sizes(ecosystem: Ecosystem, *, inside: bool) -> ObservedSizes:
    """The sizes of the past teams; ``inside``: of authors in the population alone."""
    if inside:
        own = ecosystem.authorships
        return ObservedSizes(own.sizes, own.dates)
    return ObservedSizes(ecosystem.past.team_sizes, ecosystem.past.dates)


def _teams_in(state: str) -> Callable[[Society], int]:
    return lambda society: sum(team.state == state for team in society.world.teams.values())


_REPORTERS: dict[str, Callable[[Society], Any]] = {
    "seed": lambda society: society.seed,
    "day": lambda society: society.day,
    "teams_running": _teams_in("running"),
    "teams_finished": _teams_in("finished"),
    "papers": lambda society: len(society.log.rows["papers"]),
    "calls": lambda society: len(society.log.rows["calls"]),
    "people": lambda society: len(society.population),
    "agents": lambda society: len(society.agents),
    "busy_scientists": lambda society: len(society.population.busy),
    "max_memberships": lambda society: max(society.population.busy.values(), default=0),
    "coauthors_per_author": lambda society: society.network.coauthors_per_author,
    "giant_component_authors": lambda society: society.network.giant_component_authors,
    "repeat_rate": lambda society: society.network.repeat_rate,
}
"""The last three are the measures of a run of the same names, as of the step."""

_AGENT_REPORTERS: dict[str, Callable[[Scientist], Any]] = {
    "name": lambda agent: agent.name,
    "papers": lambda agent: agent.profile.papers,
    "citations": lambda agent: agent.profile.citations,
    "coauthors": lambda agent: agent.model.network.degree(agent.row),
    "teams": lambda agent: agent.load,
    "present": lambda agent: agent.row not in agent.model.population.departed,
}
