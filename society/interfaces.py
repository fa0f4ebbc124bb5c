"""The two things users subclass most: a team protocol and a selection policy."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.part import Part

if TYPE_CHECKING:
    from society.answer import Answer
    from society.lab import Lab
    from society.network import CoauthorNetwork
    from society.team import Team


class TeamProtocol(Part):
    """How a team turns people into a paper: one process per team.

    Subclass it, write ``run``, give it a ``citation``. The protocol touches the world only
    through ``lab``; it reads an Answer only to decide something.
    """

    @property
    def name(self) -> str:
        """The name under which tables list teams of this protocol."""
        return type(self).__name__.lower()

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
    """

    text: Answer[Any]
    cites: Answer[tuple[str, ...]] | None = None


class SelectionPolicy(Part):
    """Whom a leader asks next."""

    def draw(
        self,
        leader: int,
        excluded: frozenset[int],
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
