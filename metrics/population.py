"""Presence of scientists in the society over time, and the drift of their interests."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from math import sqrt

import numpy as np
import pandas as pd

from virsci_society.metrics.networks.structure import (
    MONTH,
    adjacency,
    network_statistics,
    network_ties,
    sample_dates,
)
from virsci_society.metrics.registry import NAN, measure, metric
from virsci_society.society.results.run import Run

LEFT = ("retired", "inactive", "transient", "removed")
"""Changes in the table ``careers`` by which a scientist leaves the society."""
CHANGES = ("arrived", *LEFT)


@metric("structure")
def presence(run: Run, every: float = MONTH) -> pd.DataFrame:
    """Number of scientists present, at regular dates and at the end (this project)."""
    careers = run.table("careers").dropna(subset=["date", "change"])
    days = np.array(sample_dates(run.days, every) if len(careers) else [], dtype=np.float64)
    table = pd.DataFrame({"date": pd.array(days, dtype="Float64")})
    for change in CHANGES:
        dated = careers.loc[careers["change"] == change, "date"].to_numpy(dtype=np.float64)
        counts = np.searchsorted(np.sort(dated), days, side="right")
        table[change] = pd.array(counts, dtype="Int64")
    gone = sum((table[change] for change in LEFT), start=0)
    table.insert(1, "present", initial_population(run) + table["arrived"] - gone)
    return table


def teams_with_paper(run: Run) -> pd.Series:
    """Ids of the teams that wrote a paper, also one that is not visible yet."""
    teams = run.table("teams")
    return teams.loc[teams["state"].isin(["published", "finished"]), "team"]


def initial_population(run: Run) -> int:
    """Number of scientists on day 0; a large society's manifest has it, its table does not."""
    counts = (run.manifest.get("ecosystem") or {}).get("counts") or {}
    listed = int(run.table("scientists")["arrived"].isna().sum())
    return int(counts.get("scientists", listed))


def people_ever(run: Run) -> int:
    """Number of scientists of day 0 and of all who have come since; a large table lists fewer."""
    return initial_population(run) + int(run.table("scientists")["arrived"].notna().sum())


@measure("teams", "scientists")
def scientists(run: Run) -> float:
    """Number of scientists: initial population and newcomers."""
    return float(people_ever(run))


@measure("structure", "share")
def people_with_paper(run: Run) -> float:
    """Share of scientists with a paper: since day 0, of all scientists."""
    people = people_ever(run)
    return run.table("authorships")["scientist"].nunique() / people if people else NAN


@measure("structure", "share")
def giant_component_people(run: Run) -> float:
    """Share of all scientists in the largest component: ties since day 0 (Newman 2001)."""
    return _giant_component(run, "grown")


@measure("structure", "share")
def giant_component_with_past(run: Run) -> float:
    """Share of all scientists in the largest component: all ties, those before day 0 included."""
    return _giant_component(run, "all")


def _giant_component(run: Run, network: str) -> float:
    people = people_ever(run)
    tied = network_statistics(adjacency(network_ties(run.table("ties"), network)))
    nodes, share = tied["nodes"] or 0, tied["giant_share"] or 0.0
    return nodes * share / people if people else NAN


class TopicHistory:
    """The main topic of each scientist of a run as of a date."""

    def __init__(self, run: Run) -> None:
        people = run.rows("scientists", "scientist", "topic")
        self.initial = {who: topic for who, topic in people if topic is not None}
        self._dates: dict[str, list[float]] = defaultdict(list)
        self._topics: dict[str, list[str | None]] = defaultdict(list)
        for who, date, topic in run.rows("interests", "scientist", "date", "topic"):
            self._dates[who].append(date)
            self._topics[who].append(topic)

    def as_of(self, who: str, date: float) -> str | None:
        """Main topic of a scientist from rows dated before a date (days); None where not known."""
        index = bisect_left(self._dates.get(who, ()), date)
        return self._topics[who][index - 1] if index else self.initial.get(who)


@metric("teams")
def drift(run: Run) -> pd.DataFrame:
    """Change of the interests of each scientist whose interests have changed (Jia et al. 2017)."""
    rows = run.table("interests")
    lists = rows[["interests", "entered", "dropped"]].map(_split_list)
    changes = []
    for who, held in lists.groupby(rows["scientist"], sort=True):
        first = held.iloc[0]
        # The first row follows the first change; the earlier state is derived from it.
        before = set(first["interests"]) - set(first["entered"]) | set(first["dropped"])
        after = held.iloc[-1]["interests"]
        shared = len(before.intersection(after))
        change = 1 - shared / sqrt(len(before) * len(after)) if before and after else None
        kept = shared / len(before) if before else None
        changes.append((who, len(held), len(before), len(after), kept, change))
    columns = ("scientist", "changes", "came_with", "has", "kept", "change")
    kinds = ("string", "Int64", "Int64", "Int64", "Float64", "Float64")
    table = pd.DataFrame(changes, columns=columns).astype(dict(zip(columns, kinds, strict=True)))
    topics = TopicHistory(run)
    changed = [topics.as_of(who, np.inf) != topics.initial.get(who) for who in table["scientist"]]
    table["topic_changed"] = pd.array(changed, dtype="boolean")
    return table


@measure("teams", "keywords")
def keyword_diversity(run: Run) -> float:
    """Effective number of keywords of papers: inverse Simpson index (Simpson 1949)."""
    words = [word for text in run.table("papers")["keywords"] for word in _split_list(text)]
    counts = np.array(list(Counter(words).values()), dtype=np.float64)
    alike = float((counts * (counts - 1)).sum())
    return len(words) * (len(words) - 1) / alike if alike else NAN


def _split_list(text: str | None) -> list[str]:
    """The items of a cell, separated by semicolons."""
    return [] if pd.isna(text) or not text else str(text).split("; ")
