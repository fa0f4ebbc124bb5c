"""What rules of formation may use of a society; ``World`` of ``society.teams`` satisfies it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from collections.abc import Set as AbstractSet
from itertools import filterfalse
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from virsci_society.agents.arrays import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from virsci_society.society.ecosystem.knowledge_bank import KnowledgeBank
    from virsci_society.society.kernel.streams import Streams
    from virsci_society.society.population.event_counts import PaperHistory
    from virsci_society.society.population.network import CoauthorNetwork
    from virsci_society.society.population.population import Population


Row = TypeVar("Row")
MANY_ROWS = 100
"""Number of rows from which one pass of numpy is faster than looking up each."""


class ExcludedRows(AbstractSet[int]):
    """The rows of those who have left, which may be most and are never copied, and a few more."""

    def __init__(self, departed: AbstractSet[int], others: AbstractSet[int] = frozenset()) -> None:
        self._departed, self._others = departed, others

    def __contains__(self, row: object) -> bool:
        return row in self._others or row in self._departed

    def __iter__(self) -> Iterator[int]:
        yield from self._departed
        yield from filterfalse(self._departed.__contains__, self._others)

    def __len__(self) -> int:
        both = sum(map(self._departed.__contains__, self._others))
        return len(self._departed) + len(self._others) - both

    def __or__(self, more: AbstractSet[Any]) -> ExcludedRows:
        return ExcludedRows(self._departed, self._others | more)

    @property
    def parts(self) -> tuple[AbstractSet[int], AbstractSet[int]]:
        """Those who have left, and the others."""
        return self._departed, self._others

    @classmethod
    def _from_iterable(cls, rows: Iterable[Row]) -> AbstractSet[Row]:
        """The result of every other set operator is a plain set."""
        return frozenset(rows)


class ObservedSizes:
    """Numbers of authors, one per past paper, in the order of the papers."""

    def __init__(self, sizes: Sequence[int] | IntArray, dates: FloatArray | None = None) -> None:
        self._sizes = np.asarray(sizes, dtype=np.int64)
        self._dates = dates
        self._within: dict[tuple[int, int | None, float | None], IntArray] = {}

    def within(self, smallest: int, largest: int | None, since: float | None = None) -> IntArray:
        """The sizes in a range, kept because every founding of a team asks for them."""
        bounds = smallest, largest, since
        if bounds not in self._within:
            taken = self._sizes >= smallest
            if largest is not None:
                taken &= self._sizes <= largest
            if since is not None and self._dates is not None:
                taken &= self._dates >= -since
            self._within[bounds] = self._sizes[taken]
        return self._within[bounds]


def rows_among(rows: IntArray, chosen: AbstractSet[int]) -> BoolArray:
    """Which of some rows are in a set; faster than to look up each where there are many."""
    among = np.zeros(len(rows), dtype=bool)
    for part in chosen.parts if isinstance(chosen, ExcludedRows) else (chosen,):
        if len(part) < len(rows) >= MANY_ROWS:
            among |= np.isin(rows, np.fromiter(part, np.int64, len(part)))
        elif part:
            among |= np.fromiter(map(part.__contains__, rows.tolist()), bool, len(rows))
    return among


class PapersView(Protocol):
    """What rules may use that know papers only, all counted strictly before now (rule 16)."""

    @property
    def population(self) -> Sized:
        """Who is in the society; its length is the number of rows."""

    @property
    def streams(self) -> Streams:
        """The random streams of the run."""

    @property
    def team_sizes(self) -> ObservedSizes:
        """Numbers of authors of the past papers."""

    @property
    def mentees(self) -> Mapping[int, Sequence[tuple[float, int]]]:
        """By row of the mentor, date of arrival and row of who came for a seat with it."""

    @property
    def history(self) -> PaperHistory:
        """Everybody's papers by date, those from before day 0 included, as of now."""

    @property
    def author_order(self) -> str:
        """``leader_first`` or ``leader_last``: the author who leads a past paper."""

    @property
    def day(self) -> float:
        """The simulated date in days."""

    def unavailable(self) -> ExcludedRows:
        """Rows of scientists who cannot join a team: at the limit, departed, or come today."""


class WorldView(PapersView, Protocol):
    """A whole society as of the simulated date ``day``; a ``World`` is such a view."""

    @property
    def population(self) -> Population:
        """Who is in the society, with papers, citations and profiles as of now."""

    @property
    def network(self) -> CoauthorNetwork:
        """Who has written with whom as of now."""

    @property
    def knowledge(self) -> KnowledgeBank:
        """The author knowledge bank: everybody's interests as vectors."""

    @property
    def protocol_name(self) -> str:
        """The name of the protocol of teams that are founded now."""

    @property
    def selection(self) -> Any:
        """The ``SelectionPolicy`` of that protocol; None where it has none."""

    def rows_of(self, names: Iterable[str], key: str) -> list[int]:
        """The rows of people whom a scenario names under a key, which the error names."""
