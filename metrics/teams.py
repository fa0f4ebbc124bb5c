"""Teams: who they were made of, and what it took them to a paper."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from metrics.concurrency import rounds
from society.literature.paper import DAYS_PER_YEAR
from society.run import Run

OUTCOMES = ("accepted", "declined", "full")
IDEAS_KEPT = 3
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


def teams(run: Run) -> pd.DataFrame:
    """Composition and work of each team (VirSci, Figs 5 and 6; Guimera et al. 2005).

    Members are those who had not left before the end.

    Returns:
        One row per team: ``team``, ``state``, ``size``; ``freshness`` (share of members without
        a joint paper with any other member before the founding, 0..1; 1 for a team of one),
        ``diversity`` (distinct main topics / members, 0..1), ``unique`` (share of members whose
        main topic no other member has, 0..1); ``leader_papers`` (papers of the leader before
        the founding), ``leader_years`` (years since its first paper; missing if unknown),
        ``newcomers`` (share of members without a paper before the founding), ``elsewhere``
        (share of members who were in another team at some time of this membership);
        ``days_to_paper`` (founding to visible paper), ``meetings``, ``waiting`` (days
        held up by other projects of its people, summed over meetings and rounds of homework);
        ``invited`` and how many were ``accepted``, ``declined``, ``full`` or ``unanswered``;
        ``consultations`` asked, and ``consulted`` (its members asked as guests while they
        worked in it); ``tied`` (share of the three ideas kept whose confidence tied with one
        left out, 0..1; missing if none were kept).
    """
    founded = run.table("teams")
    table = founded[["team", "state"]].copy()
    cast = members_at_end(run)
    built = pd.DataFrame(_composition(run, cast), index=table.index)
    table = pd.concat([table, built], axis=1)
    table["days_to_paper"] = founded["published"] - founded["founded"]
    meetings = run.table("meetings")
    late = (meetings["held"] - meetings["due"]).groupby(meetings["team"])
    table["meetings"] = _counts(table["team"], late.size())
    held_up = rounds(run).groupby("team")["held_up"].sum()
    waited = table["team"].map(late.sum()).fillna(0.0) + table["team"].map(held_up).fillna(0.0)
    table["waiting"] = waited.astype("Float64")
    asked = run.table("invitations")
    table["invited"] = _counts(table["team"], asked.groupby("team").size())
    for outcome in OUTCOMES:
        chosen = asked[asked["outcome"] == outcome]
        table[outcome] = _counts(table["team"], chosen.groupby("team").size())
    open_ones = asked[asked["outcome"].isna()]
    table["unanswered"] = _counts(table["team"], open_ones.groupby("team").size())
    own = run.table("consultations").groupby("team").size()
    table["consultations"] = _counts(table["team"], own)
    table["consulted"] = _counts(table["team"], _consulted(run))
    table["tied"] = founded["ties"] / IDEAS_KEPT
    return table


def members_at_end(run: Run) -> dict[str, list[str]]:
    """Members of each team who did not leave before its end, in the order of the table."""
    rows = run.table("members")
    staying = rows[rows["stayed"].fillna(True)]
    cast: dict[str, list[str]] = {team: [] for team in run.table("teams")["team"]}
    for team, who in zip(staying["team"], staying["scientist"], strict=True):
        cast.setdefault(team, []).append(who)
    return cast


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


def _composition(run: Run, cast: Mapping[str, list[str]]) -> dict[str, Any]:
    founded = run.table("teams")
    topics = _topics(run)
    first_tie = _first_ties(run)
    record = _Record(run)
    busy = _elsewhere(run)
    rows: list[dict[str, float | None]] = []
    for team, leader, date in zip(
        founded["team"], founded["leader"], founded["founded"], strict=True
    ):
        members = cast[team] or [leader]
        pairs = {
            pair for pair in combinations(sorted(members), 2) if first_tie.get(pair, np.inf) < date
        }
        main = [topics.get(who) for who in members]
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


def _topics(run: Run) -> dict[str, str]:
    people = run.table("scientists").dropna(subset=["topic"])
    return dict(zip(people["scientist"], people["topic"], strict=True))


def _first_ties(run: Run) -> dict[tuple[str, str], float]:
    first: dict[tuple[str, str], float] = {}
    ties = run.table("ties")
    for source, target, date in zip(ties["source"], ties["target"], ties["date"], strict=True):
        pair = (min(source, target), max(source, target))
        first[pair] = min(date, first.get(pair, np.inf))
    return first


class _Record:
    """What each scientist had published before a date."""

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


def _consulted(run: Run) -> pd.Series:
    """How often members of each team were guests of another team during their membership."""
    rows = run.table("members")[["team", "scientist", "joined", "left"]]
    asked = run.table("consultations")[["guest", "date"]]
    both = asked.merge(rows, left_on="guest", right_on="scientist")
    within = (both["joined"] <= both["date"]) & (both["date"] < both["left"].fillna(np.inf))
    return both[within].groupby("team").size()


def _counts(teams: pd.Series, counts: pd.Series) -> pd.Series:
    return teams.map(counts).fillna(0).astype("Int64")
