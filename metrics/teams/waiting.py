"""Waiting between two meetings by its causes, and attention held without work."""

from __future__ import annotations

import numpy as np
import pandas as pd

from virsci_society.society.results.run import Run

QUEUES = ("desk_queue", "teammates", "notice", "meeting_queue")
PARTS = ("effort", "switching", *QUEUES, "homework_queue", "waiting")
PIECE = ("team", "scientist", "stage", "visit", "turn", "size", "memberships", "elapsed", *PARTS)


def pieces(run: Run) -> pd.DataFrame:
    """Where the time of each piece of homework went, until the next meeting (this project).

    A round begins when homework is handed out and ends when the next meeting of the team is held.
    Homework that no meeting has followed, because its team or the run ended before, is left out.

    Returns:
        One row per piece: ``team``, ``scientist``, ``stage``, ``visit``, ``turn``; ``size``
        (people in the next meeting), ``memberships`` (teams the scientist was in when it reached
        the desk); and in days ``elapsed``, which is exactly ``effort`` (own) + ``switching`` (the
        desk turned from another project) + ``waiting``. That has four parts: ``desk_queue``
        (until it was taken up: homework of other projects came first), ``teammates`` (from its
        end until the last member had done its own), ``notice`` (from there to the date of the
        meeting, which is called at once) and ``meeting_queue`` (from that date until all had come
        out of other rooms). ``homework_queue`` is desk_queue + teammates.
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
    days = dict.fromkeys(("elapsed", *PARTS), "Float64")
    whole = dict.fromkeys(("visit", "turn", "size", "memberships"), "Int64")
    names = dict.fromkeys(("team", "scientist", "stage"), "string")
    columns = table[list(PIECE)].astype({**names, **whole, **days})
    return columns.sort_values(list(PIECE[:5]), kind="stable").reset_index(drop=True)


def delays(run: Run) -> pd.DataFrame:
    """Waiting of a member per round, by team size and by how many teams it is in (this project).

    Returns:
        One row per ``by`` (``size``: people in the next meeting; ``memberships``: teams the
        member was in when the homework reached its desk) and ``value``: ``pieces`` of homework
        that a meeting followed; and means over them, in days, of the parts that ``pieces`` tells.
    """
    table = run.measure(pieces)
    parts = []
    for by in ("size", "memberships"):
        grouped = table.groupby(by)
        means = grouped[list(PARTS)].mean().assign(pieces=grouped.size())
        parts.append(means.reset_index(names="value").assign(by=by))
    means_table = pd.concat(parts, ignore_index=True)[["by", "value", "pieces", *PARTS]]
    kinds = {"by": "string", "value": "Int64", "pieces": "Int64"}
    return means_table.astype({**kinds, **dict.fromkeys(PARTS, "Float64")})


def held_attention(run: Run) -> pd.DataFrame:
    """Attention held in rooms and at desks, and how much of it without work (this project).

    Who has come out of its other rooms sits in the next one until everybody is there. Rooms are
    entered in the order of their due dates; where attention is unlimited nobody is held.

    Returns:
        One row: ``meeting_days`` (people x days in meetings that were held), ``homework_days``
        (at desks, turning to a project included), ``idle_days`` (in a room that is not complete)
        and ``idle_share`` (of the sum of the three, 0..1; missing where it is zero).
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
    key = ["team", "stage", "visit", "turn"]
    work = run.table("homework").dropna(subset=["started", "done"]).reset_index(names="piece")
    rounds = work.groupby(key, as_index=False).agg(ready=("done", "max"))
    rounds = rounds.sort_values(["ready", "team"], kind="stable").astype({"ready": "float64"})
    meetings = run.table("meetings").dropna(subset=["called", "due", "held"])
    meetings = meetings[["team", "called", "due", "held", "size"]].astype({"called": "float64"})
    meetings = meetings.sort_values(["called", "team"], kind="stable").reset_index(names="meeting")
    followed = pd.merge_asof(
        rounds, meetings, left_on="ready", right_on="called", by="team", direction="forward"
    ).dropna(subset=["held"])
    # A meeting follows the last round before it, and no other.
    followed = followed.drop_duplicates("meeting", keep="last")
    table = work.merge(followed[[*key, "ready", "called", "due", "held", "size"]], on=key)
    table["memberships"] = table["piece"].map(_memberships(run, table)).fillna(0).astype("Int64")
    return table


def _memberships(run: Run, pieces: pd.DataFrame) -> pd.Series:
    """Teams that the scientist of each piece was in when it reached the desk."""
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
    limited = run.scenario.get("attention", "on") != "unlimited"
    came = seats["due"].clip(lower=before.fillna(-np.inf))
    seats["idle"] = (seats["held"] - came).clip(lower=0) if limited else 0.0
    return seats
