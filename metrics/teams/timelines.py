"""Where the time of teams and their members goes: whole courses, single rounds, held attention.

Dates are multiples of 2^-20 day, and so are all parts: they add up to the elapsed time to the
last bit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from virsci_society.society.results.run import Run

SPENT = ("meetings", "effort", "switching")
WAITED = ("gathering", "desk_queue", "teammates", "notice", "meeting_queue")
PARTS = (*SPENT, *WAITED, "other")
PLACE = ["team", "stage", "visit", "turn"]
"""Columns that name a meeting, and the round of homework before it."""


def memberships(run: Run) -> pd.DataFrame:
    """Where the time of each membership went, from joining to leaving (this project)."""
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
    """What each team as a whole did when: the spans that ``projects`` adds up."""
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
    # Who was done last held the team up; of equal dates the last by name.
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
    # Who joined late or left early spent only its own part of a span.
    both["days"] = (both["end"].clip(upper=both["left"]) - start).clip(lower=0)
    return both.pivot_table(index="membership", columns="kind", values="days", aggfunc="sum")


def _told(table: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    """The parts beside the elapsed time, the rest of it as ``other``, and the waiting."""
    for part in (*SPENT, *WAITED):
        days = found[part].fillna(0.0) if part in found else 0.0
        table[part] = pd.Series(days, index=table.index, dtype="Float64")
    # The rest, so that the parts add up exactly: dates are multiples of 2^-20 (rule 11).
    table["other"] = table["elapsed"] - table[[*SPENT, *WAITED]].sum(axis=1)
    table["waiting"] = table[list(WAITED)].sum(axis=1)
    return table.reset_index(drop=True)


QUEUES = ("desk_queue", "teammates", "notice", "meeting_queue")
PIECE_PARTS = ("effort", "switching", *QUEUES, "homework_queue", "waiting")
PIECE = (
    *("team", "scientist", "stage", "visit", "turn"),
    *("size", "memberships", "elapsed", *PIECE_PARTS),
)


def pieces(run: Run) -> pd.DataFrame:
    """Where the time of each piece of homework went, until the next meeting (this project).

    A round begins when homework is handed out and ends when the next meeting of the team is held.
    Homework that no meeting has followed, because its team or the run ended before, is left out.
    """
    table = _followed(run)
    table["elapsed"] = table["held"] - table["assigned"]
    table["switching"] = table["switching"].fillna(0.0)
    spent = table["effort"] + table["switching"]
    table["desk_queue"] = (table["done"] - table["assigned"] - spent).clip(lower=0)
    table["teammates"] = table["ready"] - table["done"]
    table["notice"] = table["due"] - table["ready"]
    table["meeting_queue"] = table["held"] - table["due"]
    table["homework_queue"] = table["desk_queue"] + table["teammates"]
    table["waiting"] = table["homework_queue"] + table["notice"] + table["meeting_queue"]
    days = dict.fromkeys(("elapsed", *PIECE_PARTS), "Float64")
    whole = dict.fromkeys(("visit", "turn", "size", "memberships"), "Int64")
    names = dict.fromkeys(("team", "scientist", "stage"), "string")
    columns = table[list(PIECE)].astype({**names, **whole, **days})
    return columns.sort_values(list(PIECE[:5]), kind="stable").reset_index(drop=True)


def delays(run: Run) -> pd.DataFrame:
    """Waiting of a member per round, by team size and by how many teams it is in (this project)."""
    table = run.metric(pieces)
    parts = []
    for by in ("size", "memberships"):
        grouped = table.groupby(by)
        means = grouped[list(PIECE_PARTS)].mean().assign(pieces=grouped.size())
        parts.append(means.reset_index(names="value").assign(by=by))
    means_table = pd.concat(parts, ignore_index=True)[["by", "value", "pieces", *PIECE_PARTS]]
    kinds = {"by": "string", "value": "Int64", "pieces": "Int64"}
    return means_table.astype({**kinds, **dict.fromkeys(PIECE_PARTS, "Float64")})


def held_attention(run: Run) -> pd.DataFrame:
    """Attention held in rooms and at desks, and how much of it without work (this project).

    Who has come out of its other rooms sits in the next one until everybody is there. Rooms are
    entered in the order of their due dates; where attention is unlimited nobody is held.
    """
    seats = _seats(run)
    desks = run.table("homework").dropna(subset=["started"])
    stays = (desks["done"].fillna(run.days) - desks["started"]).clip(lower=0)
    totals: dict[str, float | None] = {
        "meeting_days": float((seats["ended"].fillna(run.days) - seats["held"]).sum()),
        "homework_days": float(stays.sum()),
        "idle_days": float(seats["idle"].sum()),
    }
    held = sum(value or 0.0 for value in totals.values())
    totals["idle_share"] = (totals["idle_days"] or 0.0) / held if held else None
    return pd.DataFrame([totals]).astype("Float64")


def _followed(run: Run) -> pd.DataFrame:
    """One row per piece of homework that a meeting followed, with the dates of both."""
    work = run.table("homework").dropna(subset=["started", "done"]).reset_index(names="piece")
    rounds = work.groupby(PLACE, as_index=False).agg(ready=("done", "max"))
    rounds = rounds.sort_values(["ready", "team"], kind="stable").astype({"ready": "float64"})
    meetings = run.table("meetings").dropna(subset=["called", "due", "held"])
    meetings = meetings[["team", "called", "due", "held", "size"]].astype({"called": "float64"})
    meetings = meetings.sort_values(["called", "team"], kind="stable").reset_index(names="meeting")
    followed = pd.merge_asof(
        rounds, meetings, left_on="ready", right_on="called", by="team", direction="forward"
    ).dropna(subset=["held"])
    # A meeting follows the last round before it, and no other.
    followed = followed.drop_duplicates("meeting", keep="last")
    table = work.merge(followed[[*PLACE, "ready", "called", "due", "held", "size"]], on=PLACE)
    table["memberships"] = (
        table["piece"].map(memberships_at_desk(run, table)).fillna(0).astype("Int64")
    )
    return table


def memberships_at_desk(run: Run, pieces: pd.DataFrame) -> pd.Series:
    """Teams that the scientist of each ``piece`` was in when it reached the desk; none: no row."""
    spells = run.table("members")[["scientist", "joined", "left"]]
    both = pieces[["piece", "scientist", "assigned"]].merge(spells, on="scientist")
    left = both["left"].fillna(np.inf)
    inside = (both["joined"] <= both["assigned"]) & (both["assigned"] < left)
    return both[inside].groupby("piece").size()


def _seats(run: Run) -> pd.DataFrame:
    """One row per meeting and member: when it was free to come, and how long it sat idle."""
    meetings = run.table("meetings")[["team", "due", "held", "ended"]]
    members = run.table("members")[["team", "scientist", "joined", "left"]]
    seats = meetings.dropna(subset=["held"]).merge(members, on="team")
    inside = (seats["joined"] <= seats["held"]) & (seats["held"] < seats["left"].fillna(np.inf))
    seats = seats[inside].sort_values(["scientist", "due", "held"], kind="stable")
    before = seats.groupby("scientist")["ended"].shift()
    # Nobody is held in a room where attention is unlimited.
    limited = run.scenario.get("attention", "on") != "unlimited"
    # Not before the meeting that it had come from was over.
    came = seats["due"].clip(lower=before.fillna(-np.inf))
    seats["idle"] = (seats["held"] - came).clip(lower=0) if limited else 0.0
    return seats
