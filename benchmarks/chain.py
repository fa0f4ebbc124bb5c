"""The longest dependent chain of a run, from its log: what no scheduler can beat.

A call starts at the earliest when (performance.md, H1)

- the calls whose words stand in its prompt have ended,
- every earlier read of its own team has ended,
- every paper that its search can see has been read, and
- the reads have ended that set the date of its meeting: its own team's, and, where the team
  queued for a person, those of the team that this person came from.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from society.tables import TABLES

Row = Mapping[str, Any]


def rows_of(rows: Mapping[str, Sequence[tuple[Any, ...]]], table: str) -> list[dict[str, Any]]:
    """The rows of a table of a log as dicts."""
    names = [column.name for column in TABLES[table]]
    return [dict(zip(names, row, strict=True)) for row in rows[table]]


class Chain:
    """Earliest ends of all calls, given how long each takes.

    Args:
        rows: the tables of a run's log.
        seconds: wall time of each call by id.
    """

    def __init__(
        self, rows: Mapping[str, Sequence[tuple[Any, ...]]], seconds: Mapping[str, float]
    ) -> None:
        self.seconds = seconds
        self.ends: dict[str, float] = {}
        self._known: dict[str, float] = defaultdict(float)  # per team: its date is set from here
        self._papers = 0.0
        self._history: dict[str, list[tuple[float, float]]] = defaultdict(list)
        self._rooms = rows_of(rows, "meetings")
        self._desks = rows_of(rows, "homework")
        self._members = defaultdict(set)
        for row in rows_of(rows, "members"):
            self._members[row["team"]].add(row["scientist"])
        self._guests = {
            row["call"].rsplit("/", 1)[0]: row["call"]
            for row in rows_of(rows, "calls")
            if row["act"] == "guest"
        }
        self._ended_meetings = {(m["ended"], m["team"]): m for m in self._rooms}
        self._by_end = defaultdict(list)
        for meeting in self._rooms:
            self._by_end[meeting["ended"]].append(meeting["team"])
        self._desk_ends = defaultdict(list)
        for work in self._desks:
            self._desk_ends[work["scientist"], work["done"]].append(work["team"])
        self._follow(self._acts(rows))

    @property
    def longest(self) -> float:
        """Seconds of the longest chain."""
        return max(self.ends.values(), default=0.0)

    def _acts(self, rows: Mapping[str, Sequence[tuple[Any, ...]]]) -> list[tuple[Any, ...]]:
        acts: list[tuple[Any, ...]] = []
        for work in self._desks:
            if work["started"] > work["assigned"]:
                acts.append((work["started"], 0, work["team"], 0, "desk", work))
        for meeting in self._rooms:
            if meeting["waited_for"] is not None:
                acts.append((meeting["held"], 1, meeting["team"], 0, "room", meeting))
        for call in rows_of(rows, "calls"):
            acts.append((call["asked"], 2, call["team"], call["sequence"], "call", call))
        published = {row["team"]: row["published"] for row in rows_of(rows, "papers")}
        for read in rows_of(rows, "reads"):
            kind = "paper" if published.get(read["team"]) == read["date"] else "read"
            acts.append((read["date"], 2, read["team"], read["sequence"], kind, read))
        return sorted(acts, key=lambda act: act[:4])

    def _follow(self, acts: list[tuple[Any, ...]]) -> None:
        papers_today, today = 0.0, -1.0
        for date, _, team, _, kind, row in acts:
            if date > today:
                self._papers, today = max(self._papers, papers_today), date
            if kind == "call":
                self._call(team, row)
            elif kind in ("read", "paper"):
                ends = [self._end(need) for need in row["needs"].split()]
                self._known[team] = max([self._known[team], *ends])
                if kind == "paper":
                    papers_today = max(papers_today, self._known[team])
            else:
                blockers = (
                    self._desk_ends[row["scientist"], date]
                    if kind == "desk"
                    else [
                        other
                        for other in self._by_end[date]
                        if other != team and row["waited_for"] in self._members[other]
                    ]
                )
                inherited = [self._then(other, date) for other in blockers if other != team]
                self._known[team] = max([self._known[team], *inherited])
            self._history[team].append((date, self._known[team]))

    def _then(self, team: str, date: float) -> float:
        """From when on the other team's timeline up to this date was set."""
        return max((known for when, known in self._history[team] if when <= date), default=0.0)

    def _call(self, team: str, call: Row) -> None:
        starts = [self._known[team], *(self._end(need) for need in call["needs"].split())]
        if call["stage"] in ("ideas", "novelty", "abstract"):
            starts.append(self._papers)
        self.ends[call["call"]] = max(starts) + self.seconds.get(call["call"], 0.0)

    def _end(self, need: str) -> float:
        if need.endswith("/guest"):
            spoken = self.ends.get(need.removesuffix("/guest"), 0.0)
            return max(spoken, self.ends.get(self._guests.get(need, ""), 0.0))
        return self.ends.get(need, 0.0)


def lower_bound(
    rows: Mapping[str, Sequence[tuple[Any, ...]]], seconds: Mapping[str, float], slots: int
) -> tuple[float, float, float]:
    """``(bound, chain, work per slot)`` in seconds: max(longest chain, work / slots)."""
    chain = Chain(rows, seconds).longest
    work = float(np.sum(list(seconds.values()))) / slots
    return max(chain, work), chain, work
