"""Earlier ties, topics, experience and other memberships of the members of teams."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from virsci_society.metrics.population import TopicHistory
from virsci_society.society.literature.papers import DAYS_PER_YEAR
from virsci_society.society.results.run import Run

BUILT = {
    "size": "Int64",
    "freshness": "Float64",
    "diversity": "Float64",
    "unique": "Float64",
    "leader_papers": "Int64",
    "leader_years": "Float64",
    "newcomers": "Float64",
    "elsewhere": "Float64",
}
"""Columns about the composition of a team, and their dtypes."""


def freshness(members: Sequence[str], pairs: set[tuple[str, str]]) -> float:
    """Share of members with no earlier joint paper with any other member (VirSci, Fig. 5).

    Args:
        members: at least one name.
        pairs: pairs (smaller, larger) that had a joint paper before the founding.
    """
    known = set()
    for first, second in combinations(sorted(members), 2):
        if (first, second) in pairs:
            known |= {first, second}
    return 1.0 - len(known) / len(members)


def diversity(topics: Sequence[str]) -> float:
    """Number of distinct main topics over the number of members (VirSci, Fig. 6)."""
    return len(set(topics)) / len(topics)


def unique(topics: Sequence[str]) -> float:
    """Share of members whose main topic no other member has (a variant of diversity)."""
    return sum(topics.count(topic) == 1 for topic in topics) / len(topics)


def composition(run: Run, cast: Mapping[str, list[str]]) -> dict[str, Any]:
    """The columns of ``BUILT``, one value per row of the table ``teams``.

    Main topics are those of the date on which the team was complete, or else founded.

    Args:
        run: the run.
        cast: members of each team at its end; a team without any is its leader alone.
    """
    founded = run.table("teams")
    topics = TopicHistory(run)
    first_tie = _first_ties(run)
    record = _Record(run)
    busy = _elsewhere(run)
    rows: list[dict[str, float | None]] = []
    complete = founded["formed"].fillna(founded["founded"])
    for team, leader, date, formed in zip(
        founded["team"], founded["leader"], founded["founded"], complete, strict=True
    ):
        members = cast[team] or [leader]
        pairs = {
            pair for pair in combinations(sorted(members), 2) if first_tie.get(pair, np.inf) < date
        }
        main = [topics.as_of(who, formed) for who in members]
        known = [topic for topic in main if topic is not None]
        rows.append(
            {
                "size": len(members),
                "freshness": freshness(members, pairs),
                "diversity": diversity(known) if known else None,
                "unique": unique(known) if known else None,
                "leader_papers": record.papers(leader, date),
                "leader_years": record.years(leader, date),
                "newcomers": float(np.mean([record.papers(who, date) == 0 for who in members])),
                "elsewhere": float(np.mean([(team, who) in busy for who in members])),
            }
        )
    return {name: _numbers([row[name] for row in rows], dtype) for name, dtype in BUILT.items()}


def _numbers(values: Sequence[float | None], dtype: str) -> Any:
    """A column of nullable numbers."""
    plain = [None if value is None else float(value) for value in values]
    column: Any = pd.Series(plain, dtype="Float64")
    return column.astype(dtype).array


def _first_ties(run: Run) -> dict[tuple[str, str], float]:
    first: dict[tuple[str, str], float] = {}
    ties = run.table("ties")
    for source, target, date in zip(ties["source"], ties["target"], ties["date"], strict=True):
        pair = (min(source, target), max(source, target))
        first[pair] = min(date, first.get(pair, np.inf))
    return first


class _Record:
    """Publications of each scientist before a date."""

    def __init__(self, run: Run) -> None:
        people = run.table("scientists")
        self.before = dict(zip(people["scientist"], people["papers"].fillna(0), strict=True))
        starts = people.dropna(subset=["career_start"])
        self.start = dict(zip(starts["scientist"], starts["career_start"], strict=True))
        self.boundary = run.boundary
        self.dates: dict[str, list[float]] = defaultdict(list)
        dated = run.table("papers").set_index("paper")["published"]
        by = run.table("authorships")
        for paper, who in zip(by["paper"], by["scientist"], strict=True):
            self.dates[who].append(float(dated.get(paper, np.inf)))

    def papers(self, who: str, date: float) -> int:
        """Papers before the date, those before day 0 included."""
        return int(self.before.get(who, 0)) + sum(day < date for day in self.dates.get(who, ()))

    def years(self, who: str, date: float) -> float | None:
        """Years since the first paper, or None where it is not known."""
        if self.boundary is None or who not in self.start:
            return None
        return self.boundary + date / DAYS_PER_YEAR - float(self.start[who])


def _elsewhere(run: Run) -> set[tuple[str, str]]:
    """(team, scientist) of memberships that overlap another one of the same scientist."""
    rows = run.table("members")
    spans: dict[str, list[tuple[float, float, str]]] = defaultdict(list)
    left = rows["left"].fillna(np.inf)
    for team, who, start, end in zip(
        rows["team"], rows["scientist"], rows["joined"], left, strict=True
    ):
        spans[who].append((start, end, team))
    busy = set()
    for who, held in spans.items():
        for one, other in combinations(held, 2):
            if one[0] < other[1] and other[0] < one[1] and one[2] != other[2]:
                busy |= {(one[2], who), (other[2], who)}
    return busy
