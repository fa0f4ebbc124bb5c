"""The reasons that scientists state for topic, votes and draft, as a section of a run's page.

A page shows few of them: the topic, the ballots of the last round and the draft, of the first
teams that finished a paper. All reasons are in the column ``reason`` of the table ``calls``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pandas as pd

from virsci_society.metrics.report.templates import records
from virsci_society.society.results.run import Run

TEAMS_SHOWN = 8
BALLOTS_SHOWN = 8
TEXT_SHOWN = 280
"""Characters of a reason or of what was decided."""
STEPS = {
    "Topic": ("topic", "Selected Topic"),
    "Ballot": ("vote", "Decision Made"),
    "Draft": ("draft", "Title"),
}
"""By form: the name of the decision, and the field of the reply that holds it."""
LEFT_OUT = " […]"
USED = ("team", "form", "visit", "turn", "seat", "call", "scientist", "reply", "reason")


def decisions_section(run: Run) -> dict[str, Any] | None:
    """Decisions with their reasons, team by team; None where no reply states a reason.

    Args:
        run: the run.

    Returns:
        ``teams`` (``team``, ``topic`` and ``rows``: ``step``, ``who``, ``decided``, ``reason``) and
        ``finished``, the number of teams of which some could be shown.
    """
    calls = run.table("calls")
    stated = calls[calls["form"].isin(list(STEPS)) & (calls["reason"].fillna("") != "")]
    teams = run.table("teams").dropna(subset=["finished"])
    teams = teams[teams["state"].isin(["published", "finished"])]
    teams = teams[teams["team"].isin(stated["team"])].sort_values(["finished", "team"])
    if not len(teams):
        return None
    first = teams.head(TEAMS_SHOWN)
    told = stated.loc[stated["team"].isin(first["team"]), list(USED)]
    by_team: dict[str, list[dict[str, Any]]] = {team: [] for team in first["team"]}
    for call in records(told.sort_values(["visit", "turn", "seat", "call"])):
        by_team[call["team"]].append(call)
    shown = [
        {"team": str(team), "topic": _short(topic), "rows": list(_rows(by_team[team]))}
        for team, topic in zip(first["team"], first["topic"], strict=True)
    ]
    return {"teams": shown, "finished": len(teams)}


def _rows(calls: list[dict[str, Any]]) -> Iterator[dict[str, str]]:
    """One team's rows: of each step those of its last round, in the order of seats."""
    for form, (step, field) in STEPS.items():
        of_form = [call for call in calls if call["form"] == form]
        last = [(call["visit"], call["turn"]) for call in of_form[-1:]]
        here = [call for call in of_form if (call["visit"], call["turn"]) in last]
        for call in here[:BALLOTS_SHOWN]:
            yield {
                "step": step,
                "who": str(call["scientist"]),
                "decided": _short(_read_field(call["reply"], field)),
                "reason": _short(call["reason"]),
            }


def _read_field(reply: Any, field: str) -> str:
    """A field of an accepted reply; empty where there is none."""
    try:
        value = json.loads(reply)[field]
    except (TypeError, ValueError, KeyError):
        return ""
    return value if isinstance(value, str) else ""


def _short(text: Any) -> str:
    """A text on one line, cut where it is long; empty where it is missing."""
    flat = "" if text is None or pd.isna(text) else " ".join(str(text).split())
    return flat if len(flat) <= TEXT_SHOWN else flat[: TEXT_SHOWN - len(LEFT_OUT)] + LEFT_OUT
