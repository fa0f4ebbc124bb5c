"""Whole societies of wordless teams simulated in memory, for calibration and large sweeps."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, TypeVar

import numpy as np

from virsci_society.agents.arrays import IntArray
from virsci_society.agents.config import Part
from virsci_society.agents.errors import InputError
from virsci_society.protocols.policies.relational import Relational
from virsci_society.protocols.team_assembly import assemble
from virsci_society.protocols.wordless import Wordless
from virsci_society.society.ecosystem.knowledge_bank import MASK
from virsci_society.society.formation.founding import Founding
from virsci_society.society.formation.leaders import Anybody, ByFadingPapers
from virsci_society.society.formation.world_view import ExcludedRows, ObservedSizes
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.literature.authorships import Authorships
from virsci_society.society.population.event_counts import PaperHistory

P = TypeVar("P", bound=Part)


class AssemblyRun:
    """One run of a society whose teams publish at once; ``Society`` would draw the same teams."""

    def __init__(
        self,
        founding: Founding,
        protocol: Wordless,
        past: Authorships,
        seed: int,
        team_sizes: ObservedSizes | None = None,
        departed: Sequence[int] = (),
    ) -> None:
        policy, leaders = protocol.selection, founding.leaders
        if not isinstance(policy, Relational) or policy.topic:
            raise InputError(
                "protocol.selection: a simulation in memory knows papers only; use relational "
                "without topic"
            )
        if not isinstance(leaders, ByFadingPapers | Anybody) or founding.per_scientist:
            raise InputError(
                "founding: a simulation in memory needs founding rules for the whole society, "
                "with leaders by fading_papers or anybody"
            )
        if protocol.meetings:
            raise InputError(
                "protocol.meetings: a simulation in memory needs teams without meetings"
            )
        self._leaders, self._policy = leaders, policy
        self.author_order = protocol.author_order
        self.day = 0.0
        self.streams = Streams(seed)
        self.history = PaperHistory(lambda: past, lambda: self.day)
        self.team_sizes = team_sizes or ObservedSizes(past.sizes, past.dates)
        self.population = range(past.people)
        self._founding = founding.counted_on(lambda: past)
        self._protocol, self._past = protocol, past
        self.mentees: dict[int, list[tuple[float, int]]] = {}
        self._arrived: dict[int, float] = {}
        self._departed: dict[int, float] = dict.fromkeys(departed, 0.0)
        self._transients: set[int] = set()
        self._projects: dict[int, int] = {}

    def papers(self, until: float) -> Authorships:
        """The papers of the society from day 0 to before a date (days); to be called once."""
        dated: list[tuple[float, list[int]]] = []
        founders: tuple[float, set[int]] = (-1.0, set())
        foundings = self._founding.foundings(len(self.population), self.streams)
        for ordinal, (date, _) in enumerate(foundings):
            if date >= until:
                break
            self.day = date
            # Nobody founds two teams on one date, as in a society.
            if founders[0] != date:
                founders = date, set()
            # The same stream names as in the founding process, so that both make the same draws.
            rng = self.streams.stream("lead", ordinal)
            leader = self._leaders.choose(self.unavailable() | founders[1], self, rng)
            if leader is None:
                continue
            seats = self._protocol.newcomers
            if seats is not None:
                rng = self.streams.stream("newcomer leads", ordinal)
                if seats.leads(self.day, rng):
                    leader = self._bring(leader, rng)
            founders[1].add(leader)
            authors = self._assemble(leader)
            if authors:
                self.history.record(authors)
                dated.append((date, authors))
        return Authorships.of(dated, len(self.population))

    def unavailable(self) -> ExcludedRows:
        """Rows of people who have left the society or come today."""
        today: set[int] = set()
        for row in reversed(self._arrived):
            if self._arrived[row] < self.day:
                break
            today.add(row)
        return ExcludedRows(self._departed.keys(), today)

    def _assemble(self, leader: int) -> list[int]:
        """The authors of the team of a leader, in author order; empty where it is dissolved."""
        protocol = self._protocol
        project = self._projects[leader] = self._projects.get(leader, 0) + 1
        rng = partial(self.streams.stream, "team", f"{MASK}{leader}/{project}")
        drawn = assemble(protocol, self._policy, leader, self, rng, self._bring)
        wanted = next(drawn)
        members = [leader, *drawn]
        authors = members if len(members) >= protocol.smallest_team(wanted) else []
        if protocol.author_order == "leader_last":
            authors = sorted(authors, key=lambda row: row == leader)
        for row in members:
            if row in self._transients:
                self._transients.remove(row)
                self._departed[row] = self.day
        return authors

    def _bring(self, mentor: int, rng: np.random.Generator) -> int:
        row, seats = len(self.population), self._protocol.newcomers
        self.mentees.setdefault(mentor, []).append((self.day, row))
        # Drawn first, as in ``World.bring``, which draws the profile from the same stream.
        if seats is not None and rng.random() < seats.transient_share:
            self._transients.add(row)
        self.population = range(row + 1)
        self._arrived[row] = self.day
        return row


def with_parameters(part: P, values: Mapping[str, Any]) -> P:
    """A copy of a part with other values below dotted keys; the values are not checked."""
    below: dict[str, dict[str, Any]] = {}
    update: dict[str, Any] = {}
    for key, value in values.items():
        first, _, rest = key.partition(".")
        if first not in type(part).model_fields:
            raise InputError(f"{key}: {type(part).__name__} has no key {first}")
        if rest:
            below.setdefault(first, {})[rest] = value
        else:
            update[first] = value
    for first, inner in below.items():
        child = getattr(part, first)
        if not isinstance(child, Part):
            raise InputError(f"{first}: it is {child!r} in the base, so it has no keys")
        update[first] = with_parameters(child, inner)
    return part.model_copy(update=update)


@lru_cache(maxsize=16)
def _population(
    before: Authorships, begin: float, recent: float | None
) -> tuple[Authorships, ObservedSizes, IntArray]:
    """What a simulation starts from, kept because many start from the same papers."""
    past = before.between(-np.inf, begin).counted_from(begin)
    sizes, people = ObservedSizes(past.sizes, past.dates), np.arange(past.people)
    if recent is not None:
        people = np.unique(past.between(-recent, 0.0).authors)
        past = past.of_people(people)
    return past, sizes, people


@dataclasses.dataclass(frozen=True)
class AssemblySimulator:
    """Simulates the papers of a period after given ones, with parameters of a scenario."""

    founding: Founding
    protocol: Wordless
    recent: float | None = None
    """Days within which everybody at the start has published; None: any time."""

    def simulate(
        self,
        parameters: Mapping[str, Any],
        before: Authorships,
        begin: float,
        until: float,
        seed: int,
        departed: Sequence[int] = (),
    ) -> Authorships:
        """Simulate one period; ``begin`` and ``until`` (exclusive) are in days.

        People who have ``departed`` by its beginning write no more.
        """
        below: dict[str, dict[str, Any]] = {"founding": {}, "protocol": {}}
        for key, value in parameters.items():
            section, _, rest = key.partition(".")
            if section not in below or not rest:
                raise InputError(f"{key}: parameters are keys of founding or protocol")
            below[section][rest] = value
        past, sizes, people = _population(before, begin, self.recent)
        run = AssemblyRun(
            with_parameters(self.founding, below["founding"]),
            with_parameters(self.protocol, below["protocol"]),
            past,
            seed,
            sizes,
            np.flatnonzero(np.isin(people, departed)).tolist(),
        )
        papers = run.papers(until - begin)
        newcomers = np.arange(before.people, before.people + papers.people - len(people))
        numbers = np.concatenate([people, newcomers])
        return Authorships(
            papers.dates + begin,
            papers.starts,
            numbers[papers.authors],
            before.people + len(newcomers),
        )
