"""Papers of a star's collaborators and of outsiders, before and after the star stops publishing.

A difference in differences with matched stars who stay (Azoulay, Graff Zivin and Wang 2010, QJE
125; Azoulay, Fons-Rosen and Graff Zivin 2019, AER 109).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import pandas as pd

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.lazy_imports import scipy

SPAN = 3
"""Years before and after the exit that are compared."""
TOP = 0.01
"""Share of all who have published, by number of papers, who are stars."""
LEAST_RECENT = 2
"""Papers within ``SPAN`` years before the exit that a star has at least: nobody fades out."""
CONTROLS = 5
"""Stars who stay that are compared with one who stops."""
GROUPS = ("collaborators", "outsiders")
"""Co-authors of the star within ``SPAN`` years; their co-authors who never wrote with the star."""
Team = tuple[int, Sequence[int]]
"""Year and authors of a paper."""


class Exit(NamedTuple):
    """A star whose last paper is of a year, and stars who publish after it, nearest first."""

    star: int
    year: int
    controls: tuple[int, ...]


def star_exits(papers: Sequence[Team]) -> list[Exit]:
    """The stars who stop, each with at least one control, by year."""
    years_of: dict[int, list[int]] = defaultdict(list)
    for year, authors in sorted(papers, key=lambda one: one[0]):
        for person in authors:
            years_of[person].append(year)
    first, last = min(year for year, _ in papers), max(year for year, _ in papers)
    found = []
    for year in range(first + 2 * SPAN - 1, last - SPAN + 1):
        # Papers so far, recent ones and years since the first: what controls are matched by.
        known = {}
        for person, years in years_of.items():
            if years[0] <= year:
                so_far = bisect_right(years, year)
                recent = so_far - bisect_right(years, year - SPAN)
                known[person] = np.log1p([so_far, recent, year - years[0]])
        totals = np.array([one[0] for one in known.values()])
        least = float(np.quantile(totals, 1 - TOP))
        recently = math.log1p(LEAST_RECENT)
        stars = [who for who, one in known.items() if one[0] >= least and one[1] >= recently]
        gone = [person for person in stars if years_of[person][-1] == year]
        later = range(year + 1, year + SPAN + 1)
        stay = [person for person in stars if not set(later).isdisjoint(years_of[person])]
        for star in gone if stay else ():
            gap = {one: float(((known[one] - known[star]) ** 2).sum()) for one in stay}
            nearest = sorted(stay, key=lambda one: (gap[one], one))[:CONTROLS]
            found.append(Exit(star, year, tuple(nearest)))
    return found


def differences(papers: Sequence[Team], exits: Sequence[Exit]) -> FloatArray:
    """Papers per person and year before the exit, and the difference in differences.

    Returns (exits, ``GROUPS``, 2), NaN where a star or all controls have nobody in a group.
    """
    found = np.full((len(exits), len(GROUPS), 2), np.nan)
    for year in sorted({one.year for one in exits}):
        past = [authors for when, authors in papers if when <= year]
        recent = [authors for when, authors in papers if year - SPAN < when <= year]
        later = [authors for when, authors in papers if year < when <= year + SPAN]
        ever, near = _partners(past), _partners(recent)
        counts = [Counter(chain.from_iterable(part)) for part in (recent, later)]
        for place, one in enumerate(exits):
            if one.year != year:
                continue
            treated = _groups(one.star, ever, near)
            # People near the star who stops are no controls.
            touched = treated[0] | treated[1] | {one.star}
            others = [_groups(control, ever, near) for control in one.controls]
            for number, group in enumerate(treated):
                before, change = _change(group, counts)
                controls = [_change(near_them[number] - touched, counts)[1] for near_them in others]
                known = [value for value in controls if not math.isnan(value)]
                if known and group:
                    found[place, number] = before, change - np.mean(known)
    return found


def effect_table(sides: Mapping[str, FloatArray]) -> pd.DataFrame:
    """A row per group and side: the mean of its ``differences``, with its 95 % interval.

    ``detectable`` is the effect that a test at 5 % finds with 80 % power. All four are shares of
    the papers before, which are per person and year.
    """
    rows = []
    for number, group in enumerate(GROUPS):
        for side, found in sides.items():
            values = found[:, number][~np.isnan(found[:, number, 1])]
            row: dict[str, object] = {"group": group, "side": side, "exits": len(values)}
            if len(values) > 1:
                before, effect = values.mean(axis=0)
                error = float(values[:, 1].std(ddof=1)) / math.sqrt(len(values)) / before
                reach, power = scipy.stats.t.ppf([0.975, 0.8], len(values) - 1) * error
                row |= {"before": before, "effect": effect / before, "detectable": reach + power}
                row |= {"low": effect / before - reach, "high": effect / before + reach}
            rows.append(row)
    columns = ("group", "side", "exits", "before", "effect", "low", "high", "detectable")
    return pd.DataFrame(rows, columns=columns)


def _partners(teams: Sequence[Sequence[int]]) -> dict[int, set[int]]:
    """The co-authors of each person."""
    found: dict[int, set[int]] = defaultdict(set)
    for team in teams:
        for person in team:
            found[person].update(team)
    for person, partners in found.items():
        partners.discard(person)
    return found


def _groups(
    star: int, ever: Mapping[int, set[int]], near: Mapping[int, set[int]]
) -> tuple[set[int], set[int]]:
    """Collaborators and outsiders of a star."""
    collaborators = near.get(star, set())
    around = set().union(*(near[one] for one in collaborators))
    return collaborators, around - ever.get(star, set()) - {star}


def _change(group: set[int], counts: Sequence[Mapping[int, int]]) -> tuple[float, float]:
    """Papers per person and year before, and their change; NaN for an empty group."""
    if not group:
        return math.nan, math.nan
    before, after = (sum(one.get(person, 0) for person in group) for one in counts)
    return before / len(group) / SPAN, (after - before) / len(group) / SPAN
