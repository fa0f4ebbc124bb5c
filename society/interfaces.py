"""The two things users subclass most: a team protocol and a selection policy."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.part import Part
from society.drawing import Rows, Weights, draw

if TYPE_CHECKING:
    from society.answer import Answer
    from society.lab import Lab
    from society.network import CoauthorNetwork
    from society.streams import Streams
    from society.surroundings import Surroundings
    from society.team import Team, Way


class TeamProtocol(Part):
    """How a team turns people into a paper: one process per team.

    Subclass it, write ``run``, give it a ``citation``. The protocol touches the world only
    through ``lab``; it reads an Answer only to decide something.
    """

    @property
    def name(self) -> str:
        """The name under which tables list teams of this protocol."""
        return type(self).__name__.lower()

    @property
    def implied(self) -> frozenset[str]:
        """Keys whose values follow from another key, and would change with it."""
        return frozenset()

    @property
    def stages(self) -> frozenset[str] | None:
        """The stages whose meetings leave homework; None: not stated, so any name may be one."""
        return None

    @property
    def components(self) -> tuple[TeamProtocol, ...]:
        """The protocols under which teams work: this one, unless it is made of several."""
        return (self,)

    def of_team(self, team_id: str, streams: Streams) -> Way:
        """How the team of this id works: by this protocol, unless it is made of several."""
        return self

    def run(self, team: Team, lab: Lab) -> Generator[Any, Any, Manuscript]:
        """The life of one team, as a SimPy process; returns its manuscript.

        Raises:
            Dissolved: the team ends without a paper; the message is the reason.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Manuscript:
    """What a team hands in: Answers, unread until the date of publication.

    Attributes:
        text: settles to something with ``title`` and ``abstract``.
        cites: settles to the ids of the works that were really used.
        found_by: settles to the text that is embedded as the paper; None: title and abstract.
    """

    text: Answer[Any]
    cites: Answer[tuple[str, ...]] | None = None
    found_by: Answer[str] | None = None


class SelectionPolicy(Part):
    """Whom a leader asks next.

    A policy that looks at leader and network only writes ``draw`` and ``weights``; one that looks
    at the other members, or at anything else in the world, writes ``choose`` and ``chances``.
    """

    def choose(
        self,
        members: Sequence[int],
        excluded: AbstractSet[int],
        world: Surroundings,
        rng: np.random.Generator,
    ) -> int | None:
        """One scientist (row) for a team, or None if nobody is left.

        Args:
            members: rows of those who are in it, the leader first; nobody where the leader is
                to be drawn, for which everybody is alike unless a policy says otherwise.
            excluded: rows that may not be drawn, the members among them.
            world: as of now.
            rng: the stream of this draw.
        """
        if not members:
            people = len(world.population)
            return draw(lambda: int(rng.integers(people)), _alike, people, excluded, rng)
        return self.draw(members[0], excluded, world.network, rng)

    def chances(
        self, members: Sequence[int], candidates: Sequence[int], world: Surroundings
    ) -> np.ndarray:
        """What ``choose`` draws by: unnormalised probabilities of those who are not excluded."""
        if not members:
            return np.ones(len(candidates))
        return self.weights(members[0], candidates, world.network)

    def draw(
        self,
        leader: int,
        excluded: AbstractSet[int],
        network: CoauthorNetwork,
        rng: np.random.Generator,
    ) -> int | None:
        """One scientist (row of the population) who is not excluded, or None if none is left.

        Args:
            leader: row of the leader, always among the excluded.
            excluded: rows that may not be drawn (asked already, members, at their limit,
                out of reach of the team's targets).
            network: joint papers as of now.
            rng: the stream of this draw.
        """
        raise NotImplementedError

    def of_run(self, seed: int) -> SelectionPolicy:
        """The policy as it holds in a run of this seed; itself unless it fixes chance per run."""
        return self

    def weights(
        self, leader: int, candidates: Sequence[int], network: CoauthorNetwork
    ) -> np.ndarray:
        """The policy's unnormalised probabilities for these candidates: its definition."""
        raise NotImplementedError


def _alike(rows: Rows) -> Weights:
    return np.ones(len(rows))
