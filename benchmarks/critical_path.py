"""The critical path of a run, its longest chain of dependent calls, computed from its log.

No scheduler can be faster than this path. A call starts at the earliest when

- the calls whose replies stand in its prompt have ended,
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
from collections.abc import Mapping
from typing import Any

from virsci_society.society.results.tables import REPEATED_ACTS, TableRows, table_rows

Row = Mapping[str, Any]


class CriticalPath:
    """Earliest end of every call of a run, given how long each takes.

    Attributes:
        seconds: wall time of each call by id.
        ends: earliest end of each call by id, in seconds after the start.

    Args:
        rows: the tables of a run's log.
        seconds: wall time of each call by id; a missing call takes no time.
    """

    def __init__(self, rows: TableRows, seconds: Mapping[str, float]) -> None:
        self.seconds = seconds
        self.ends: dict[str, float] = {}
        # By team: the second from which on the dates of its meetings can be set.
        self._dates_set_from: dict[str, float] = defaultdict(float)
        self._papers = 0.0
        self._teams_of: dict[str, list[tuple[float, str]]] = defaultdict(list)
        self._people: dict[str, list[tuple[float, str]]] = defaultdict(list)
        for row in table_rows(rows, "members"):
            self._teams_of[row["scientist"]].append((row["joined"], row["team"]))
            self._people[row["team"]].append((row["joined"], row["scientist"]))
        self._guests: dict[str, list[str]] = defaultdict(list)
        for row in table_rows(rows, "calls"):
            if row["act"] == "guest":
                self._guests[row["call"].rsplit("/", 1)[0]].append(row["call"])
        self._trace(self._events(rows))

    @property
    def length(self) -> float:
        """Seconds of the longest chain of dependent calls; 0 without calls."""
        return max(self.ends.values(), default=0.0)

    def _events(self, rows: TableRows) -> list[tuple[Any, ...]]:
        """Meetings, calls and reads in simulated order."""
        acts: list[tuple[Any, ...]] = [
            (meeting["held"], 0, meeting["team"], 0, "meeting", meeting)
            for meeting in table_rows(rows, "meetings")
        ]
        for call in table_rows(rows, "calls"):
            acts.append((call["asked"], 1, call["team"], call["sequence"], "call", call))
        published = {row["team"]: row["published"] for row in table_rows(rows, "papers")}
        for read in table_rows(rows, "reads"):
            kind = "paper" if published.get(read["team"]) == read["date"] else "read"
            acts.append((read["date"], 1, read["team"], read["sequence"], kind, read))
        return sorted(acts, key=lambda act: act[:4])

    def _trace(self, acts: list[tuple[Any, ...]]) -> None:
        papers_today, today = 0.0, -1.0
        for date, _, team, _, kind, row in acts:
            if date > today:
                self._papers, today = max(self._papers, papers_today), date
            if kind == "call":
                self._call(team, date, row)
            elif kind == "meeting":
                people = [person for joined, person in self._people[team] if joined <= date]
                self._dates_set_from[team] = max(self._person_ready(p, date) for p in people)
            else:
                ends = [self._end(need) for need in row["needs"].split()]
                self._dates_set_from[team] = max([self._dates_set_from[team], *ends])
                if kind == "paper":
                    papers_today = max(papers_today, self._dates_set_from[team])

    def _person_ready(self, person: str, date: float) -> float:
        """The earliest second at which the acts of all teams of a person up to a date are known."""
        teams = [team for joined, team in self._teams_of[person] if joined <= date]
        return max((self._dates_set_from[team] for team in teams), default=0.0)

    def _call(self, team: str, date: float, call: Row) -> None:
        if call["act"] in REPEATED_ACTS:
            self._reask(call)
            return
        starts = [self._dates_set_from[team], *(self._end(need) for need in call["needs"].split())]
        if call["act"] == "invite":
            starts.append(self._person_ready(call["scientist"], date))
        if call["stage"] in ("ideas", "novelty", "abstract"):
            starts.append(self._papers)
        self.ends[call["call"]] = max(starts) + self.seconds.get(call["call"], 0.0)

    def _reask(self, call: Row) -> None:
        """A repeated call delays everything that needs the reply to the first asking."""
        end = self._end(call["needs"]) + self.seconds.get(call["call"], 0.0)
        self.ends[call["call"]] = self.ends[call["needs"]] = end

    def _end(self, need: str) -> float:
        # The second and later guests of one utterance have the needs ``/guest2`` and so on.
        spoken, sign, place = need.rpartition("/guest")
        if sign and (not place or place.isdigit()):
            guests = self._guests.get(spoken + sign, ())
            return max(self.ends.get(call, 0.0) for call in (spoken, *guests))
        return self.ends.get(need, 0.0)


def lower_bound(
    rows: TableRows, seconds: Mapping[str, float], slots: int
) -> tuple[float, float, float]:
    """Lower bound of the wall time of a run: max(critical path, work / slots)."""
    chain = CriticalPath(rows, seconds).length
    work = math.fsum(seconds.values()) / slots
    return max(chain, work), chain, work
