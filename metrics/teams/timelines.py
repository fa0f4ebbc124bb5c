"""The whole time of each membership and of each team, divided into exact parts.

Dates are multiples of 2^-20 day, and so are all parts: they add up to the elapsed time to the
last bit.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from virsci_society.society.results.run import Run

SPENT = ("meetings", "effort", "switching")
WAITED = ("gathering", "desk_queue", "teammates", "notice", "meeting_queue")
PARTS = (*SPENT, *WAITED, "other")
PLACE = ["team", "stage", "visit", "turn"]


def memberships(run: Run) -> pd.DataFrame:
    """Where the time of each membership went, from joining to leaving (this project).

    Returns:
        One row per membership that has ended: ``team``, ``scientist``, ``role``, ``load`` (other
        teams it was in when it joined), ``stayed``; and in days ``elapsed``, which is exactly the
        sum of: ``meetings`` (in a room that was complete), ``effort`` (own homework),
        ``switching`` (its desk turned from another project); ``gathering`` (until the team called
        its first meeting), ``desk_queue`` (homework of other projects came first), ``teammates``
        (own homework was done and that of others was not), ``notice`` (from the call of a meeting
        to its date), ``meeting_queue`` (until all had come out of other rooms) and ``other`` (the
        rest, such as homework that the end of the team broke off). ``waiting`` is the sum of
        gathering, desk_queue, teammates, notice and meeting_queue.
    """
    members = run.table("members").dropna(subset=["joined", "left"])
    members = members.reset_index(names="membership")
    spans = pd.concat([*_own(run), *_shared(run)], ignore_index=True)
    days = _within(members, spans)
    table = members[["team", "scientist", "role", "load", "stayed"]].copy()
    table["elapsed"] = members["left"] - members["joined"]
    return _told(table, days.reindex(members["membership"]).set_axis(table.index))


def projects(run: Run) -> pd.DataFrame:
    """Where the time of each team went, from founding to finishing its work (this project).

    A round of homework lasts until the last member has done its own; what held that member up
    held the team up. So a team as a whole waits for nobody's homework but through the member who
    is last, and parts that others spent meanwhile do not count.

    Returns:
        One row per team that has finished or was dissolved: ``team``, ``state``, ``size``; and in
        days ``elapsed`` and its parts as in ``memberships``, without ``teammates``: ``effort``,
        ``switching`` and ``desk_queue`` are those of the last member of each round.
    """
    teams = run.table("teams").dropna(subset=["founded", "finished"])
    ended = teams.assign(joined=teams["founded"], left=teams["finished"])
    ended = ended.reset_index(drop=True).reset_index(names="membership")
    days = _within(ended, project_spans(run))
    table = ended[["team", "state", "size"]].copy()
    table["elapsed"] = ended["left"] - ended["joined"]
    parts = _told(table, days.reindex(ended["membership"]).set_axis(table.index))
    return parts.drop(columns="teammates")


def project_spans(run: Run, teams: Sequence[str] | None = None) -> pd.DataFrame:
    """What each team as a whole did when: the spans that ``projects`` adds up.

    Args:
        run: the run.
        teams: names of the teams that are wanted; None: all.

    Returns:
        One row per span: ``team``, ``kind`` (a part of ``projects``), ``start`` and ``end`` in
        days. Those of homework are of the last member of each round.
    """
    own = [span[span["last"]] for span in _own(run, teams)]
    spans = pd.concat([*own, *_shared(run, teams)], ignore_index=True)
    return spans.loc[spans["kind"] != "teammates", ["team", "kind", "start", "end"]]


def _of_teams(table: pd.DataFrame, teams: Sequence[str] | None) -> pd.DataFrame:
    return table if teams is None else table[table["team"].isin(teams)]


def _own(run: Run, teams: Sequence[str] | None = None) -> list[pd.DataFrame]:
    """Spans of single members, from the homework: kind, team, scientist, start and end."""
    work = _of_teams(run.table("homework"), teams).dropna(subset=["started", "done"])
    work = work.sort_values([*PLACE, "done", "scientist"], kind="stable")
    ready = work.groupby(PLACE)["done"].transform("max")
    taken = work["done"] - work["effort"]
    last = ~work.duplicated(PLACE, keep="last")
    dates = {
        "desk_queue": (work["assigned"], work["started"]),
        "switching": (work["started"], taken),
        "effort": (taken, work["done"]),
        "teammates": (work["done"], ready),
    }
    who = {"team": work["team"], "scientist": work["scientist"], "last": last}
    return [
        pd.DataFrame({**who, "kind": kind, "start": start, "end": end})
        for kind, (start, end) in dates.items()
    ]


def _shared(run: Run, wanted: Sequence[str] | None = None) -> list[pd.DataFrame]:
    """Spans of everybody in a team, from its meetings and from its founding to the first call."""
    met = _of_teams(run.table("meetings"), wanted).dropna(subset=["called", "due", "held", "ended"])
    dates = {
        "notice": (met["called"], met["due"]),
        "meeting_queue": (met["due"], met["held"]),
        "meetings": (met["held"], met["ended"]),
    }
    spans = [
        pd.DataFrame({"team": met["team"], "kind": kind, "start": start, "end": end})
        for kind, (start, end) in dates.items()
    ]
    teams = _of_teams(run.table("teams"), wanted).set_index("team")
    first = met.groupby("team")["called"].min().reindex(teams.index).fillna(teams["finished"])
    began = pd.DataFrame({"kind": "gathering", "start": teams["founded"], "end": first})
    return [*spans, began.dropna().reset_index()]


def _within(ended: pd.DataFrame, spans: pd.DataFrame) -> pd.DataFrame:
    """Days of each kind within each time from ``joined`` to ``left``, one row for each."""
    whose = ["membership", "team", "joined", "left"]
    if "scientist" in spans:
        both = spans.merge(
            ended[[*whose, "scientist"]].rename(columns={"scientist": "who"}), on="team"
        )
        both = both[both["scientist"].isna() | (both["scientist"] == both["who"])]
    else:
        both = spans.merge(ended[whose], on="team")
    start = both["start"].clip(lower=both["joined"])
    both["days"] = (both["end"].clip(upper=both["left"]) - start).clip(lower=0)
    return both.pivot_table(index="membership", columns="kind", values="days", aggfunc="sum")


def _told(table: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    """The parts beside the elapsed time, the rest of it as ``other``, and the waiting."""
    for part in (*SPENT, *WAITED):
        days = found[part].fillna(0.0) if part in found else 0.0
        table[part] = pd.Series(days, index=table.index, dtype="Float64")
    table["other"] = table["elapsed"] - table[[*SPENT, *WAITED]].sum(axis=1)
    table["waiting"] = table[list(WAITED)].sum(axis=1)
    return table.reset_index(drop=True)
