"""Population: who exists, what may be known of each as of a date, and who works where.

People live in columns. A ``Scientist`` (a Mesa agent) is made for everybody in a society of
up to 20,000, above that for those who have acted. Papers and citations are dated events that
are counted before a date, so a profile of any day can be told on any thread.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from agents.profile import Profile
from agents.scientist import Scientist
from society.network import CoauthorNetwork

if TYPE_CHECKING:
    import mesa

EVERYBODY = 20_000
"""Up to this many people all are Mesa agents from the start."""


class Population:
    """The scientists of one society, by row and by masked name.

    ``busy`` maps the rows of those who are working in a team now to their number of teams.

    Args:
        profiles: as of day 0.
        model: the Mesa model the agents belong to.
        network: who has written with whom.
        now: reads the simulated date.
    """

    def __init__(
        self,
        profiles: Sequence[Profile],
        model: mesa.Model,
        network: CoauthorNetwork,
        now: Callable[[], float],
    ) -> None:
        self.names = tuple(profile.id for profile in profiles)
        self.rows = {name: row for row, name in enumerate(self.names)}
        self._base = tuple(profiles)
        self._model = model
        self._network = network
        self._now = now
        self._papers: dict[int, list[float]] = {}
        self._cited: dict[int, list[float]] = {}
        self._spells: dict[int, dict[str, tuple[float, float]]] = {}
        self._agents: dict[int, Scientist] = {}
        self._told: dict[int, tuple[int, int, Profile]] = {}
        self.busy: dict[int, int] = {}
        self._in_teams: dict[int, set[int]] = {}
        if len(profiles) <= EVERYBODY:
            for row in range(len(profiles)):
                self.scientist(row)

    def __len__(self) -> int:
        return len(self._base)

    def scientist(self, row: int) -> Scientist:
        """The agent of this row; made now if it has not acted before."""
        if row not in self._agents:
            self._agents[row] = Scientist(
                self._model, self.names[row], row, lambda row: self.profile(row, self._now())
            )
        return self._agents[row]

    def named(self, name: str) -> Scientist:
        """The agent of this masked name."""
        return self.scientist(self.rows[name])

    def profile(self, row: int, before: float) -> Profile:
        """What may be known of a scientist from everything dated before ``before``."""
        base = self._base[row]
        papers = bisect_left(self._papers.get(row, ()), before)
        cited = bisect_left(self._cited.get(row, ()), before)
        if not papers and not cited:
            return base
        # Ties grow with papers, so the two numbers tell which profile it is.
        told = self._told.get(row)
        if told is None or told[:2] != (papers, cited):
            told = self._told[row] = papers, cited, self._grown(row, papers, cited, before)
        return told[2]

    def publish(self, authors: Sequence[int], cited: Sequence[int]) -> None:
        """A paper appears now: its authors, and the authors (once per work) of what it cites."""
        date = self._now()
        for row in authors:
            self._papers.setdefault(row, []).append(date)
        for row in cited:
            self._cited.setdefault(row, []).append(date)

    def enter(self, row: int, team: str) -> None:
        """A scientist begins to work in a team."""
        self.scientist(row).teams.append(team)
        self._work_in(row, self.load(row) + 1)
        self._spells.setdefault(row, {})[team] = (self._now(), math.inf)

    def leave(self, row: int, team: str) -> None:
        """A scientist no longer works in a team."""
        self.scientist(row).teams.remove(team)
        self._work_in(row, self.load(row) - 1)
        self._spells[row][team] = (self._spells[row][team][0], self._now())

    def load(self, row: int) -> int:
        """Teams this scientist is working in now."""
        return self.busy.get(row, 0)

    def working_in(self, teams: int) -> set[int]:
        """The rows of those who are working in so many teams or more now (``teams`` >= 1)."""
        crowds = (rows for count, rows in self._in_teams.items() if count >= teams)
        return set().union(*crowds)

    def busy_elsewhere(self, row: int, team: str, date: float) -> bool:
        """Was the scientist working in a team other than this one on that date?"""
        spells = self._spells.get(row, {})
        return any(other != team and start <= date < end for other, (start, end) in spells.items())

    def _grown(self, row: int, papers: int, cited: int, before: float) -> Profile:
        base = self._base[row]
        return replace(
            base,
            papers=base.papers + papers,
            citations=None if base.citations is None else base.citations + cited,
            collaborators=self._collaborators(row, before),
        )

    def _work_in(self, row: int, teams: int) -> None:
        before = self.busy.pop(row, 0)
        if before:
            self._in_teams[before].remove(row)
        if teams:
            self.busy[row] = teams
            self._in_teams.setdefault(teams, set()).add(row)

    def _collaborators(self, row: int, before: float) -> tuple[str, ...]:
        partners, counts = self._network.row(row, before)
        ranked = sorted(zip((-counts).tolist(), partners.tolist(), strict=True))
        return tuple(self.names[other] for _, other in ranked[:10])
