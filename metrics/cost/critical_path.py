"""Chain: the longest dependent chain of a run, from its log; what no scheduler can beat.

A call starts at the earliest when

- the calls whose words stand in its prompt have ended,
- every earlier read of its own team has ended,
- every paper that its search can see has been read, and
- the reads have ended that set the date of its meeting: its own team's, and those of every
  other team that one of its members was in by then. When a member is free depends on what
  that other team has decided so far: whether it met, started again, lost the member.

An invitation shows the invitee's load, so it waits in the same way for the reads of the teams
the invitee was in. A call that was asked again has ended when its last asking has.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from society.tables import TABLES, WAY_ACTS

Row = Mapping[str, Any]
Rows = Mapping[str, Sequence[tuple[Any, ...]]]


def rows_of(rows: Rows, table: str) -> list[dict[str, Any]]:
    """The rows of a table of a log as dicts."""
    names = [column.name for column in TABLES[table]]
    return [dict(zip(names, row, strict=True)) for row in rows[table]]


class Chain:
    """Earliest ends of all calls, given how long each takes.

    Args:
        rows: the tables of a run's log.
        seconds: wall time of each call by id.
    """

    def __init__(self, rows: Rows, seconds: Mapping[str, float]) -> None:
        self.seconds = seconds
        self.ends: dict[str, float] = {}
        self._known: dict[str, float] = defaultdict(float)  # per team: its dates are set from here
        self._papers = 0.0
        self._teams_of: dict[str, list[tuple[float, str]]] = defaultdict(list)
        self._people: dict[str, list[tuple[float, str]]] = defaultdict(list)
        for row in rows_of(rows, "members"):
            self._teams_of[row["scientist"]].append((row["joined"], row["team"]))
            self._people[row["team"]].append((row["joined"], row["scientist"]))
        self._guests = {
            row["call"].rsplit("/", 1)[0]: row["call"]
            for row in rows_of(rows, "calls")
            if row["act"] == "guest"
        }
        self._follow(self._acts(rows))

    @property
    def longest(self) -> float:
        """Seconds of the longest chain."""
        return max(self.ends.values(), default=0.0)

    def _acts(self, rows: Rows) -> list[tuple[Any, ...]]:
        """Meetings, calls and reads in simulated order."""
        acts: list[tuple[Any, ...]] = [
            (meeting["held"], 0, meeting["team"], 0, "meeting", meeting)
            for meeting in rows_of(rows, "meetings")
        ]
        for call in rows_of(rows, "calls"):
            acts.append((call["asked"], 1, call["team"], call["sequence"], "call", call))
        published = {row["team"]: row["published"] for row in rows_of(rows, "papers")}
        for read in rows_of(rows, "reads"):
            kind = "paper" if published.get(read["team"]) == read["date"] else "read"
            acts.append((read["date"], 1, read["team"], read["sequence"], kind, read))
        return sorted(acts, key=lambda act: act[:4])

    def _follow(self, acts: list[tuple[Any, ...]]) -> None:
        papers_today, today = 0.0, -1.0
        for date, _, team, _, kind, row in acts:
            if date > today:
                self._papers, today = max(self._papers, papers_today), date
            if kind == "call":
                self._call(team, date, row)
            elif kind == "meeting":
                people = [person for joined, person in self._people[team] if joined <= date]
                self._known[team] = max(self._elsewhere(p, date) for p in people)
            else:
                ends = [self._end(need) for need in row["needs"].split()]
                self._known[team] = max([self._known[team], *ends])
                if kind == "paper":
                    papers_today = max(papers_today, self._known[team])

    def _elsewhere(self, person: str, date: float) -> float:
        """From when on it is set what all teams of this person have done up to a date."""
        teams = [team for joined, team in self._teams_of[person] if joined <= date]
        return max((self._known[team] for team in teams), default=0.0)

    def _call(self, team: str, date: float, call: Row) -> None:
        if call["act"] in WAY_ACTS:
            self._again(call)
            return
        starts = [self._known[team], *(self._end(need) for need in call["needs"].split())]
        if call["act"] == "invite":
            starts.append(self._elsewhere(call["scientist"], date))
        if call["stage"] in ("ideas", "novelty", "abstract"):
            starts.append(self._papers)
        self.ends[call["call"]] = max(starts) + self.seconds.get(call["call"], 0.0)

    def _again(self, call: Row) -> None:
        """What needs the words of the first asking has them only now."""
        end = self._end(call["needs"]) + self.seconds.get(call["call"], 0.0)
        self.ends[call["call"]] = self.ends[call["needs"]] = end

    def _end(self, need: str) -> float:
        if need.endswith("/guest"):
            spoken = self.ends.get(need.removesuffix("/guest"), 0.0)
            return max(spoken, self.ends.get(self._guests.get(need, ""), 0.0))
        return self.ends.get(need, 0.0)


def lower_bound(rows: Rows, seconds: Mapping[str, float], slots: int) -> tuple[float, float, float]:
    """``(bound, chain, work per slot)`` in seconds: max(longest chain, work / slots)."""
    chain = Chain(rows, seconds).longest
    work = math.fsum(seconds.values()) / slots
    return max(chain, work), chain, work
