"""The population of a society, with the profile and the teams of each scientist by date."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from virsci_society.agents.arrays import IntArray
from virsci_society.agents.mesa import Scientist
from virsci_society.agents.profile import Profile
from virsci_society.society.ecosystem.knowledge_bank import MASK, People
from virsci_society.society.literature.columns import Ids
from virsci_society.society.population.event_counts import DatedCounts, cumulative_counts
from virsci_society.society.population.interest_drift import InterestHistory
from virsci_society.society.population.network import CoauthorNetwork

if TYPE_CHECKING:
    from virsci_society.agents.mesa import Model


class RowsByName(Mapping[str, int]):
    """The row of each masked name, where the names are too many for a dictionary."""

    def __init__(self, names: Ids) -> None:
        self._names = names

    def __getitem__(self, name: str) -> int:
        row = self._names.row_of(name)
        if row is None:
            raise KeyError(name)
        return row

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def next_masked_name(rows: Mapping[str, int]) -> str:
    """The masked name of the next newcomer: counted on, without those that are in use."""
    number = len(rows)
    while (name := f"{MASK}{number}") in rows:
        number += 1
    return name


ALL_AGENTS_LIMIT = 20_000
"""Up to this many people all are Mesa agents from the start."""


class Population:
    """The scientists of one society, by row and by masked name."""

    names: Ids | list[str]
    rows: RowsByName | dict[str, int]

    def __init__(
        self, people: People, model: Model, network: CoauthorNetwork, now: Callable[[], float]
    ) -> None:
        self._people, self._model, self._network, self._now = people, model, network, now
        self._first_newcomer = len(people)
        self._newcomers: list[Profile] = []
        self._spells: dict[int, dict[str, tuple[float, float]]] = {}
        self._agents: dict[int, Scientist] = {}
        self._profiles: dict[int, tuple[tuple[int, int], Profile]] = {}
        self._at_least: dict[int, set[int]] = {}
        self.busy: dict[int, int] = {}
        self.papers = DatedCounts(lambda: cumulative_counts(people.papers), now)
        self.citations = DatedCounts(lambda: cumulative_counts(people.citations), now)
        self.arrived: dict[int, float] = {}
        self.departed: dict[int, float] = {}
        self.interests = InterestHistory()
        self._absent: frozenset[str] = frozenset()
        self.large = len(people) > ALL_AGENTS_LIMIT
        if self.large:
            # Read from the columns: a million names as Python strings take 60 MB, and a dictionary
            # of them as much again.
            self.names = Ids(people.ids, people.row_of)
            self.rows = RowsByName(self.names)
            return
        self.names = list(people.names)
        self.rows = {name: row for row, name in enumerate(self.names)}
        for row in range(len(people)):
            self.scientist(row)

    def __len__(self) -> int:
        return self._first_newcomer + len(self._newcomers)

    def add_newcomer(self, affiliations: Sequence[str], interests: Sequence[str]) -> int:
        """Add a scientist who comes now and has written nothing; its row is the last one."""
        row, name = len(self), next_masked_name(self.rows)
        self._newcomers.append(Profile(name, tuple(affiliations), tuple(interests)))
        self.names.append(name)
        self.arrived[row] = self._now()
        if isinstance(self.rows, dict):
            self.rows[name] = row
            self.scientist(row)
        return row

    def present_since(self, row: int) -> float:
        """The date on which a scientist joined the society: day 0, or its arrival."""
        return self.arrived.get(row, 0.0)

    def just_arrived(self) -> set[int]:
        """Rows of the newcomers of this very date, whom others know only after it (rule 16)."""
        # Rows are in order of arrival, so today's newcomers are at the end.
        rows: set[int] = set()
        for row in range(len(self) - 1, self._first_newcomer - 1, -1):
            if self.arrived[row] < self._now():
                break
            rows.add(row)
        return rows

    def scientist(self, row: int) -> Scientist:
        """The Mesa agent of this row; it is made now if the scientist has not acted before."""
        if row not in self._agents:
            self._agents[row] = Scientist(self._model, self.names[row], row, self._present)
        return self._agents[row]

    def scientist_named(self, name: str) -> Scientist:
        """The Mesa agent of this masked name."""
        return self.scientist(self.rows[name])

    def profile(self, row: int, before: float) -> Profile:
        """The profile of a scientist from data strictly before a date (rule 16)."""
        base = self._base(row)
        papers = self.papers.count_since_day_0(row, before)
        cited = self.citations.count_since_day_0(row, before)
        if not papers and not cited:
            return base
        # Ties and interests change only with papers, so these two numbers identify a profile.
        counts = papers, cited
        cached = self._profiles.get(row)
        if cached is not None and cached[0] == counts:
            return cached[1]
        partners, joint = self._network.coauthors(row, before)
        # Of equal counts the smaller row comes first, in every run (rule 12); rows ascend.
        ranked = np.argsort(-joint, kind="stable")[:10]
        profile = replace(
            base,
            papers=base.papers + papers,
            citations=None if base.citations is None else base.citations + cited,
            interests=self.interests_of(row, before),
            collaborators=tuple(self.names[other] for other in partners[ranked].tolist()),
        )
        self._profiles[row] = counts, profile
        return profile

    def interests_of(self, row: int, before: float) -> tuple[str, ...]:
        """The interests in a scientist's profile; no other part of the profile is worked out."""
        renewed = self.interests.before(row, before)
        return self._base(row).interests if renewed is None else renewed

    def affiliations_of(self, row: int) -> tuple[str, ...]:
        """The affiliations of a scientist, which never change."""
        return self._base(row).affiliations

    def totals(self, by: Literal["papers", "citations"]) -> IntArray:
        """Everybody's papers or citations before now, unknown ones as 0, by row."""
        return (self.papers if by == "papers" else self.citations).counts(len(self))

    def record_paper(self, authors: Sequence[int], cited: Sequence[int]) -> None:
        """Count a new paper: the rows of its authors, and of the authors of each cited work."""
        self.papers.record(authors)
        self.citations.record(cited)

    def join_team(self, row: int, team: str) -> None:
        """Start the work of a scientist (row) in a team (id)."""
        self.scientist(row).teams.append(team)
        # By load, so that finding people at their limit needs no scan of all people.
        load = self.busy[row] = self.busy.get(row, 0) + 1
        self._at_least.setdefault(load, set()).add(row)
        self._spells.setdefault(row, {})[team] = (self._now(), math.inf)

    def leave_team(self, row: int, team: str) -> None:
        """End the work of a scientist (row) in a team (id)."""
        self.scientist(row).teams.remove(team)
        self._at_least[self.busy[row]].remove(row)
        self.busy[row] -= 1
        if not self.busy[row]:
            del self.busy[row]
        # Kept beyond the end: a consultation is written later and asks where its guest was then.
        self._spells[row][team] = (self._spells[row][team][0], self._now())

    def last_act(self, row: int) -> float:
        """When a scientist last worked in a team or had a paper; else, when it came."""
        if row in self.busy:
            return self._now()
        ends = [end for _, end in self._spells.get(row, {}).values()]
        paper = self.papers.last_date(row)
        return max([self.present_since(row), *ends, *([] if paper is None else [paper])])

    def depart(self, row: int) -> None:
        """Note that a scientist leaves the society now; its teams are ended elsewhere."""
        self.departed[row] = self._now()

    def has_departed(self, name: str) -> bool:
        """Whether the scientist of this masked name has left the society."""
        return bool(self.departed) and self.rows[name] in self.departed

    def was_present(self, name: str, date: float) -> bool:
        """Whether somebody of this name was in the society just before a date, in days."""
        row = self.rows.get(name, -1)
        return row >= 0 and self.arrived.get(row, -math.inf) < date <= self.departed.get(
            row, math.inf
        )

    def share_of_present(self, share: float) -> int:
        """How many people a share of those who are in the society is; at least one."""
        return max(1, round(share * (len(self) - len(self.departed))))

    def departed_names(self) -> frozenset[str]:
        """Masked names of those who have left the society."""
        # Rebuilt only after a departure, because every search for people uses it.
        if len(self._absent) != len(self.departed):
            self._absent = frozenset(self.names[row] for row in self.departed)
        return self._absent

    def load(self, row: int) -> int:
        """The number of teams that a scientist is working in now."""
        return self.busy.get(row, 0)

    def working_in_at_least(self, teams: int) -> AbstractSet[int]:
        """Rows of those who are working in at least this number of teams (1 or more) now."""
        return self._at_least.get(teams, frozenset())

    def busy_elsewhere(self, row: int, team: str, date: float) -> bool:
        """Whether a scientist was working in another team on a date, now or earlier."""
        spells = self._spells.get(row, {})
        return any(other != team and start <= date < end for other, (start, end) in spells.items())

    def _present(self, row: int) -> Profile:
        return self.profile(row, self._now())

    def _base(self, row: int) -> Profile:
        """The profile of a scientist on day 0, or at its arrival."""
        index = row - self._first_newcomer
        return self._newcomers[index] if index >= 0 else self._people.row(row)
