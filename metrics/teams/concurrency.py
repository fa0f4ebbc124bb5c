"""Teams in flight, memberships, waiting and invitations over time and by load."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate, chain, groupby
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from virsci_society.agents.arrays import IntArray
from virsci_society.metrics.inference.two_lines import logistic_regression
from virsci_society.metrics.networks.structure import WEEK, sample_dates
from virsci_society.metrics.registry import measure, measures, metric
from virsci_society.society.results.dataframes import known_numbers, typed_table
from virsci_society.society.results.run import Run
from virsci_society.society.results.tables import PUBLICATION_STAGE


@metric("concurrency")
def weekly(run: Run, every: float = WEEK) -> pd.DataFrame:
    """Teams in flight, memberships and contacts between teams over time (this project)."""
    days = np.array(sample_dates(run.days, every))
    teams, members = run.table("teams"), run.table("members")

    def so_far(dates: pd.Series) -> IntArray:
        return np.searchsorted(np.sort(known_numbers(dates)), days, side="right")

    table = pd.DataFrame({"date": pd.array(days, dtype="Float64")})
    table["teams_in_flight"] = _whole(so_far(teams["founded"]) - so_far(teams["finished"]))
    # At each date, the number of teams of every scientist who is in at least one.
    codes, _ = pd.factorize(members["scientist"])
    joined, left = (
        members[name].to_numpy(dtype=np.float64, na_value=np.inf) for name in ("joined", "left")
    )
    inside = [np.bincount(codes[(joined <= day) & (day < left)]) for day in days]
    held = [counts[counts > 0] for counts in inside]
    for least in (1, 2, 3):
        table[f"in_{least}"] = _whole([int((counts >= least).sum()) for counts in held])
    means = [float(counts.mean()) if len(counts) else None for counts in held]
    table["mean_memberships"] = pd.array(means, dtype="Float64")
    table["max_memberships"] = _whole([int(counts.max(initial=0)) for counts in held])
    return table


@measure("concurrency", "teams")
def max_memberships(run: Run) -> float:
    """Maximum number of teams of one scientist at the same time."""
    steps = sorted(
        (who, date, step)
        for who, joined, left in run.rows("members", "scientist", "joined", "left")
        for date, step in ((joined, 1), (left, -1))
        if date is not None
    )
    # A membership that ends at the instant another begins does not overlap it.
    each = groupby(steps, itemgetter(0))
    counts = (accumulate(step for *_, step in one) for _, one in each)
    return float(max(chain.from_iterable(counts), default=0))


def spells_of(run: Run) -> dict[str, list[tuple[float, float, str]]]:
    """When each scientist joined and left which team."""
    spells: dict[str, list[tuple[float, float, str]]] = defaultdict(list)
    for team, who, joined, left in run.rows("members", "team", "scientist", "joined", "left"):
        spells[who].append((joined, np.inf if left is None else left, team))
    return spells


def days_held_up(run: Run) -> defaultdict[str, float]:
    """Days by which the rounds of each team lasted longer than their longest homework."""
    place = itemgetter(0, 1, 2, 3)
    work = run.rows("homework", *PLACE, "assigned", "done", "effort")
    # Without the homework of others who review what the team has handed in.
    done = [row for row in work if row[1] != PUBLICATION_STAGE and row[-2] is not None]
    held_up: defaultdict[str, float] = defaultdict(float)
    for (team, *_), pieces in groupby(sorted(done, key=place), place):
        *_, assigned, ended, effort = zip(*pieces, strict=True)
        held_up[team] += max(max(ended) - min(assigned) - max(effort), 0.0)
    return held_up


@measures(
    "teams",
    "acceptance_slope=slope  slope  change of the log odds of accepting an invitation: per "
    "further team of the invitee",
)
@metric("concurrency")
def acceptance_slope(run: Run) -> pd.DataFrame:
    """Change of the log odds of accepting per further team of the invitee (this project)."""
    asked = run.table("invitations")
    # Refusals by the limit of teams, and open invitations, are no choices.
    chosen = asked[asked["outcome"].isin(["accepted", "declined"])].dropna(subset=["load"])
    accepted = (chosen["outcome"] == "accepted").astype(bool)
    fit = logistic_regression(known_numbers(chosen["load"]).tolist(), accepted.tolist())
    numbers = {"slope": fit.slope, "low": fit.low, "high": fit.high, "intercept": fit.intercept}
    table = pd.DataFrame(
        {name: pd.array([value], dtype="Float64") for name, value in numbers.items()}
    )
    table = table.mask(table.apply(lambda column: np.isnan(known_numbers(column))))
    table["n"] = _whole([fit.n])
    table["note"] = pd.array([fit.note], dtype="string")
    return table


def _whole(values: object) -> pd.Series:
    return pd.Series(np.asarray(values, dtype=np.int64)).astype("Int64")


PLACE = ["team", "stage", "visit", "turn"]
"""Columns that name a meeting, and the round of homework before it."""


def project_spans(run: Run, teams: Sequence[str] | None = None) -> pd.DataFrame:
    """What each team as a whole did when, from its founding to the end of its work."""
    work, met, founded = (
        table if teams is None else table[table["team"].isin(teams)]
        for table in map(run.table, ("homework", "meetings", "teams"))
    )
    work = work.dropna(subset=["started", "done"])
    # The last to finish delayed the team; of equal dates the last by name.
    work = work.sort_values([*PLACE, "done", "scientist"], kind="stable")
    work = work.drop_duplicates(PLACE, keep="last")
    taken = work["done"] - work["effort"]
    met = met.dropna(subset=["called", "due", "held", "ended"])
    founded = founded.set_index("team", drop=False)
    called = met.groupby("team")["called"].min().reindex(founded.index)
    spans = {
        "desk_queue": (work["team"], work["assigned"], work["started"]),
        "switching": (work["team"], work["started"], taken),
        "effort": (work["team"], taken, work["done"]),
        "notice": (met["team"], met["called"], met["due"]),
        "meeting_queue": (met["team"], met["due"], met["held"]),
        "meetings": (met["team"], met["held"], met["ended"]),
        "gathering": (founded["team"], founded["founded"], called.fillna(founded["finished"])),
    }
    return pd.concat(
        [
            pd.DataFrame({"team": team, "kind": kind, "start": start, "end": end}).dropna()
            for kind, (team, start, end) in spans.items()
        ],
        ignore_index=True,
    )


QUEUES = ("desk_queue", "teammates", "notice", "meeting_queue")
PIECE_PARTS = ("effort", "switching", *QUEUES, "homework_queue", "waiting")
PIECE = (
    *("team", "scientist", "stage", "visit", "turn"),
    *("size", "memberships", "elapsed", *PIECE_PARTS),
)


@measures(
    "concurrency",
    """
    waiting_round=waiting  days  mean wait of a member between two meetings: per piece of homework
    memberships_at_homework=memberships  teams  mean number of teams of a member: per piece of
        homework, so busy members count more often
    """,
)
@metric("concurrency")
def pieces(run: Run) -> pd.DataFrame:
    """Where the time of each piece of homework went, until the next meeting (this project)."""
    columns = (*PLACE, "scientist", "assigned", "started", "done", "effort", "switching")
    work = [row for row in run.rows("homework", *columns) if None not in row[6:8]]
    ready: dict[tuple[Any, ...], float] = {}
    for *place, _, _, _, done, _, _ in work:
        ready[tuple(place)] = max(done, ready.get(tuple(place), done))
    met = run.rows("meetings", "called", "due", "held", "size", "team")
    meetings: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for row in sorted((row for row in met if None not in row[:3]), key=itemgetter(0)):
        meetings[row[-1]].append(row)
    # A meeting follows the last round before it, and no other.
    last_before = {}
    for held_in, date in sorted(ready.items(), key=itemgetter(1, 0)):
        of_team = meetings[held_in[0]]
        after = bisect_left(of_team, date, key=itemgetter(0))
        if after < len(of_team):
            last_before[held_in[0], after] = held_in, of_team[after]
    followed = dict(last_before.values())
    spells = run.once(spells_of)
    rows = []
    for *place, who, assigned, _, done, effort, switching in work:
        if tuple(place) not in followed:
            continue
        _, due, held, size, _ = followed[tuple(place)]
        turned, end = switching or 0.0, ready[tuple(place)]
        # Teams that the scientist was in when the piece reached the desk.
        memberships = sum(start <= assigned < end for start, end, _ in spells[who])
        queue = max(done - assigned - (effort + turned), 0.0)
        waits = (queue, end - done, due - end, held - due)
        spent = (held - assigned, effort, turned, *waits, sum(waits[:2]), sum(waits))
        rows.append((place[0], who, *place[1:], size, memberships, *spent))
    kinds = dict.fromkeys(PIECE, "Float64") | dict.fromkeys(PIECE[:3], "string")
    kinds |= dict.fromkeys(("visit", "turn", "size", "memberships"), "Int64")
    return typed_table(sorted(rows, key=itemgetter(slice(5))), kinds)
