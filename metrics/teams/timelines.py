"""Where the time of teams and their members goes: whole courses, single rounds, held attention."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from virsci_society.society.results.run import Run

WAITED = ("gathering", "desk_queue", "notice", "meeting_queue")
PARTS = ("meetings", "effort", "switching", *WAITED)
PLACE = ["team", "stage", "visit", "turn"]
"""Columns that name a meeting, and the round of homework before it."""


def projects(run: Run) -> pd.DataFrame:
    """Where the time of each team went, from founding to finishing its work (this project)."""
    ended = run.table("teams").dropna(subset=["founded", "finished"])
    spans = project_spans(run).merge(ended[["team", "founded", "finished"]], on="team")
    start, end = spans["start"].clip(lower=spans["founded"]), spans["end"]
    spans["days"] = (end.clip(upper=spans["finished"]) - start).clip(lower=0)
    found = spans.pivot_table(index="team", columns="kind", values="days", aggfunc="sum")
    found = found.reindex(ended["team"]).reset_index(drop=True)
    table = ended[["team", "state", "size"]].reset_index(drop=True)
    table["elapsed"] = (ended["finished"] - ended["founded"]).array
    for part in PARTS:
        days = found[part].fillna(0.0) if part in found else 0.0
        table[part] = pd.Series(days, index=table.index, dtype="Float64")
    # The rest, so that the parts add up exactly: dates are multiples of 2^-20 (rule 11).
    table["other"] = table["elapsed"] - table[list(PARTS)].sum(axis=1)
    table["waiting"] = table[list(WAITED)].sum(axis=1)
    return table


def project_spans(run: Run, teams: Sequence[str] | None = None) -> pd.DataFrame:
    """What each team as a whole did when: the spans that ``projects`` adds up."""
    work, met, founded = (
        table if teams is None else table[table["team"].isin(teams)]
        for table in map(run.table, ("homework", "meetings", "teams"))
    )
    work = work.dropna(subset=["started", "done"])
    # Who was done last held the team up; of equal dates the last by name.
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


def pieces(run: Run) -> pd.DataFrame:
    """Where the time of each piece of homework went, until the next meeting (this project)."""
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
    table = work.merge(followed[[*PLACE, "ready", "due", "held", "size"]], on=PLACE)
    # Teams that the scientist was in when the piece reached the desk.
    spells = run.table("members")[["scientist", "joined", "left"]]
    both = table[["piece", "scientist", "assigned"]].merge(spells, on="scientist")
    left = both["left"].fillna(np.inf)
    inside = (both["joined"] <= both["assigned"]) & (both["assigned"] < left)
    table["memberships"] = table["piece"].map(both[inside].groupby("piece").size()).fillna(0)
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


def held_attention(run: Run) -> pd.DataFrame:
    """Attention held in rooms and at desks, and how much of it without work (this project)."""
    meetings = run.table("meetings")[["team", "due", "held", "ended"]]
    members = run.table("members")[["team", "scientist", "joined", "left"]]
    seats = meetings.dropna(subset=["held"]).merge(members, on="team")
    inside = (seats["joined"] <= seats["held"]) & (seats["held"] < seats["left"].fillna(np.inf))
    seats = seats[inside].sort_values(["scientist", "due", "held"], kind="stable")
    before = seats.groupby("scientist")["ended"].shift()
    # Not before the meeting that it had come from was over.
    came = seats["due"].clip(lower=before.fillna(-np.inf))
    limited = run.scenario.get("attention", "on") != "unlimited"
    idle = float((seats["held"] - came).clip(lower=0).sum()) if limited else 0.0
    desks = run.table("homework").dropna(subset=["started"])
    stays = (desks["done"].fillna(run.days) - desks["started"]).clip(lower=0)
    totals = {
        "meeting_days": float((seats["ended"].fillna(run.days) - seats["held"]).sum()),
        "homework_days": float(stays.sum()),
        "idle_days": idle,
    }
    held = sum(totals.values())
    share = idle / held if held else None
    return pd.DataFrame([{**totals, "idle_share": share}]).astype("Float64")
