"""Drift: how far the interests of scientists have moved, and on how many topics all work."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from math import sqrt

import numpy as np
import pandas as pd

from society.run import Run


class Topics:
    """The main topic of each scientist of a run as of a date."""

    def __init__(self, run: Run) -> None:
        people = run.table("scientists").dropna(subset=["topic"])
        self.first = dict(zip(people["scientist"], people["topic"], strict=True))
        self._dates: dict[str, list[float]] = defaultdict(list)
        self._topics: dict[str, list[str | None]] = defaultdict(list)
        rows = run.table("interests")
        for who, date, topic in zip(rows["scientist"], rows["date"], rows["topic"], strict=True):
            self._dates[who].append(float(date))
            self._topics[who].append(None if pd.isna(topic) else str(topic))

    def before(self, who: str, date: float) -> str | None:
        """From everything dated before a date; None where it is not known."""
        place = bisect_left(self._dates.get(who, ()), date)
        return self._topics[who][place - 1] if place else self.first.get(who)


def drift(run: Run) -> pd.DataFrame:
    """How far the interests of those moved whose interests have changed.

    After Jia, Wang and Szymanski (Nature Human Behaviour 1:0078), who compare what is written
    at the beginning and at the end of a career by cosine (Jia et al. 2017). Here the list of
    interests that somebody came with is compared with the last one, and all count alike.

    Returns:
        One row per scientist with a row in ``interests``, by name: ``scientist``, ``changes``
        (rows there), ``came_with`` and ``has`` (interests at first and now), ``kept`` (share of
        those at first that it still has, 0..1; missing if there were none), ``change`` (1 -
        cosine of both lists, 0..1; missing if either is empty), ``topic_changed`` (is the main
        topic another than at first?).
    """
    rows = run.table("interests")
    lists = rows[["interests", "entered", "dropped"]].map(_several)
    found = []
    for who, held in lists.groupby(rows["scientist"], sort=True):
        first = held.iloc[0]
        before = set(first["interests"]) - set(first["entered"]) | set(first["dropped"])
        after = held.iloc[-1]["interests"]
        shared = len(before.intersection(after))
        change = 1 - shared / sqrt(len(before) * len(after)) if before and after else None
        kept = shared / len(before) if before else None
        found.append((who, len(held), len(before), len(after), kept, change))
    columns = ("scientist", "changes", "came_with", "has", "kept", "change")
    kinds = ("string", "Int64", "Int64", "Int64", "Float64", "Float64")
    table = pd.DataFrame(found, columns=columns).astype(dict(zip(columns, kinds, strict=True)))
    topics = Topics(run)
    changed = [topics.before(who, np.inf) != topics.first.get(who) for who in table["scientist"]]
    table["topic_changed"] = pd.array(changed, dtype="boolean")
    return table


def main_topics(run: Run) -> float:
    """Effective number of main topics at the end: exp of their Shannon entropy (Hill 1973).

    As many topics as, equally frequent, would be as diverse as those of all scientists listed.
    """
    topics = Topics(run)
    counts = Counter(topics.before(who, np.inf) for who in run.table("scientists")["scientist"])
    del counts[None]
    if not counts:
        return float("nan")
    shares = np.array(list(counts.values())) / counts.total()
    return float(np.exp(-(shares * np.log(shares)).sum()))


def _several(text: str | None) -> list[str]:
    """What stands in a cell, separated by semicolons."""
    return [] if pd.isna(text) or not text else str(text).split("; ")
