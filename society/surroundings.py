"""Surroundings: as much of a world as the choice of people may look at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from society.ecosystem.knowledge import KnowledgeBank
    from society.network import CoauthorNetwork
    from society.population import Population
    from society.streams import Streams
    from society.team import Ways


class Surroundings(Protocol):
    """People, ties and interests as of now; a ``World`` is one.

    Attributes:
        population: who exists, what they have written, and how often they were cited.
        network: who has written with whom.
        knowledge: what everybody is interested in.
        protocol: how teams work that are founded now.
        streams: of the run.
    """

    population: Population
    network: CoauthorNetwork
    knowledge: KnowledgeBank
    protocol: Ways
    streams: Streams

    @property
    def day(self) -> float:
        """The simulated date."""

    def rows_of(self, names: Iterable[str], key: str) -> list[int]:
        """Rows of stated people; ``key`` is where they were named."""
