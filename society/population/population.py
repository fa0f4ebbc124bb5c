"""Population: who exists, what may be known of each as of a date, and who works where.

Rows are people in the order in which they have come: those of day 0, then newcomers by date. Who
leaves keeps the row.

People live in columns. A ``Scientist`` (a Mesa agent) is made for everybody in a society of
up to 20,000, above that for those who have acted: then nothing here is done for each person,
neither at the start nor later. Papers and citations are dated events that are counted before a
date, so a profile of any day can be told on any thread.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from agents.profile import Profile
from agents.scientist import Scientist
from society.ecosystem.people import People
from society.interests import Interests
from society.names import Names, RowsByName, next_name
from society.network import CoauthorNetwork
from society.tally import Tally, running

if TYPE_CHECKING:
    import mesa

EVERYBODY = 20_000
"""Up to this many people all are Mesa agents from the start."""
REMEMBERED = 65_536
"""In a larger society so many profiles are kept once made."""


class Population:
    """The scientists of one society, by row and by masked name.

    Attributes:
        names: masked names, by row.
        rows: rows, by masked name.
        large: are only those agents who have acted?
        busy: rows of those who are working in a team now, with their numbers of teams.
        papers: an event per author of a paper.
        citations: an event per author of a cited work.
        arrived: rows of those who came after day 0, with the date.
        gone: rows of those who have left the society, with the date.
        interests: what people have come to be interested in since day 0.

    Args:
        people: as of day 0.
        model: the Mesa model the agents belong to.
        network: who has written with whom.
        now: reads the simulated date.
    """

    names: Names | list[str]
    rows: RowsByName | dict[str, int]

    def __init__(
        self,
        people: People,
        model: mesa.Model,
        network: CoauthorNetwork,
        now: Callable[[], float],
    ) -> None:
        self._people, self._model, self._network, self._now = people, model, network, now
        self._papers: dict[int, list[float]] = {}
        self._cited: dict[int, list[float]] = {}
        self._moves: dict[int, list[tuple[float, tuple[str, ...]]]] = {}
        self._came: list[Profile] = []
        self._spells: dict[int, dict[str, tuple[float, float]]] = {}
        self._agents: dict[int, Scientist] = {}
        self._told: dict[int, tuple[tuple[int, int, int], Profile]] = {}
        self._at_least: dict[int, set[int]] = {}
        self.busy: dict[int, int] = {}
        self.papers = Tally(lambda: running(people.papers), now)
        self.citations = Tally(lambda: running(people.citations), now)
        self.arrived: dict[int, float] = {}
        self.gone: dict[int, float] = {}
        self.interests = Interests()
        self._absent: frozenset[str] = frozenset()
        self._first: Callable[[int], Profile]
        self.large = len(people) > EVERYBODY
        if self.large:
            self.names, self.rows = Names(people), RowsByName(people)
            self._first = lru_cache(REMEMBERED)(people.__getitem__)
            return
        self._first = tuple(people).__getitem__
        self.names = list(people.names)
        self.rows = {name: row for row, name in enumerate(self.names)}
        for row in range(len(people)):
            self.scientist(row)

    def __len__(self) -> int:
        return len(self._people) + len(self._came)

    def admit(self, affiliations: Sequence[str], interests: Sequence[str]) -> int:
        """Somebody who has written nothing comes now; the row, which is the last one."""
        row, name = len(self), next_name(self.rows)
        self._came.append(Profile(name, tuple(affiliations), tuple(interests)))
        self.names.append(name)
        self.rows[name] = row
        self.arrived[row] = self._now()
        if not self.large:
            self.scientist(row)
        return row

    def move(self, row: int, affiliations: Sequence[str]) -> None:
        """A scientist has these affiliations from now on."""
        self._moves.setdefault(row, []).append((self._now(), tuple(affiliations)))

    def since(self, row: int) -> float:
        """The date since which a scientist is here: day 0, or that of its coming."""
        return self.arrived.get(row, 0.0)

    def just_arrived(self) -> set[int]:
        """Rows of those who have come on this very date: others know of them only after it."""
        found: set[int] = set()
        for row in range(len(self) - 1, len(self._people) - 1, -1):
            if self.arrived[row] < self._now():
                break
            found.add(row)
        return found

    def scientist(self, row: int) -> Scientist:
        """The agent of this row; made now if it has not acted before."""
        if row not in self._agents:
            self._agents[row] = Scientist(self._model, self.names[row], row, self._present)
        return self._agents[row]

    def named(self, name: str) -> Scientist:
        """The agent of this masked name."""
        return self.scientist(self.rows[name])

    def profile(self, row: int, before: float) -> Profile:
        """What may be known of a scientist from everything dated before ``before``."""
        base = self._base(row)
        papers = bisect_left(self._papers.get(row, ()), before)
        cited = bisect_left(self._cited.get(row, ()), before)
        moves = bisect_left(self._moves.get(row, ()), (before,))
        if not papers and not cited and not moves:
            return base
        # Ties and interests change with papers, so the numbers tell which profile it is.
        told = self._told.get(row)
        if told is None or told[0] != (papers, cited, moves):
            counts = papers, cited, moves
            told = self._told[row] = counts, self._grown(row, counts, before)
        return told[1]

    def standing(self, by: Literal["papers", "citations"]) -> npt.NDArray[np.int64]:
        """Everybody's papers or citations before now, by row; unknown citations count as none."""
        people, now = self._people, self._now()
        before = people.papers if by == "papers" else np.nan_to_num(people.citations)
        found = np.zeros(len(self), dtype=np.int64)
        found[: len(before)] = before
        for row, dates in (self._papers if by == "papers" else self._cited).items():
            found[row] += bisect_left(dates, now)
        return found

    def publish(self, authors: Sequence[int], cited: Sequence[int]) -> None:
        """A paper appears now: its authors, and the authors (once per work) of what it cites."""
        date = self._now()
        self.papers.add(authors)
        self.citations.add(cited)
        for row in authors:
            self._papers.setdefault(row, []).append(date)
        for row in cited:
            self._cited.setdefault(row, []).append(date)

    def enter(self, row: int, team: str) -> None:
        """A scientist begins to work in a team."""
        self.scientist(row).teams.append(team)
        load = self.busy[row] = self.busy.get(row, 0) + 1
        self._at_least.setdefault(load, set()).add(row)
        self._spells.setdefault(row, {})[team] = (self._now(), math.inf)

    def leave(self, row: int, team: str) -> None:
        """A scientist no longer works in a team."""
        self.scientist(row).teams.remove(team)
        self._at_least[self.busy[row]].remove(row)
        self.busy[row] -= 1
        if not self.busy[row]:
            del self.busy[row]
        self._spells[row][team] = (self._spells[row][team][0], self._now())

    def last_act(self, row: int) -> float:
        """The date of the last paper or the end of the last team, now for who works in one.

        Where there was neither, the date since which the scientist is here.
        """
        if row in self.busy:
            return self._now()
        ends = [end for _, end in self._spells.get(row, {}).values()]
        papers = self._papers.get(row, [])[-1:]
        return max([self.since(row), *ends, *papers])

    def depart(self, row: int) -> None:
        """A scientist leaves the society now."""
        self.gone[row] = self._now()

    def is_gone(self, name: str) -> bool:
        """Has this scientist left the society?"""
        return bool(self.gone) and self.rows[name] in self.gone

    def absent(self) -> frozenset[str]:
        """Names of those who have left the society."""
        if len(self._absent) != len(self.gone):
            self._absent = frozenset(self.names[row] for row in self.gone)
        return self._absent

    def load(self, row: int) -> int:
        """Teams this scientist is working in now."""
        return self.busy.get(row, 0)

    def working_in(self, teams: int) -> AbstractSet[int]:
        """Rows of those who are working in at least so many teams (1 or more) now."""
        return self._at_least.get(teams, frozenset())

    def busy_elsewhere(self, row: int, team: str, date: float) -> bool:
        """Was the scientist working in a team other than this one on that date?"""
        spells = self._spells.get(row, {})
        return any(other != team and start <= date < end for other, (start, end) in spells.items())

    def _present(self, row: int) -> Profile:
        return self.profile(row, self._now())

    def _base(self, row: int) -> Profile:
        """The profile that somebody was here with first."""
        came = row - len(self._people)
        return self._came[came] if came >= 0 else self._first(row)

    def _grown(self, row: int, counts: tuple[int, int, int], before: float) -> Profile:
        papers, cited, moves = counts
        base, renewed = self._base(row), self.interests.before(row, before)
        return replace(
            base,
            affiliations=self._moves[row][moves - 1][1] if moves else base.affiliations,
            papers=base.papers + papers,
            citations=None if base.citations is None else base.citations + cited,
            interests=base.interests if renewed is None else renewed,
            collaborators=self._collaborators(row, before),
        )

    def _collaborators(self, row: int, before: float) -> tuple[str, ...]:
        partners, counts = self._network.row(row, before)
        ranked = sorted(zip((-counts).tolist(), partners.tolist(), strict=True))
        return tuple(self.names[other] for _, other in ranked[:10])
