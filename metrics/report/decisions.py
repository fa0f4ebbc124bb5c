"""The reasons that scientists state for topic, votes and draft, as a section of a run's page.

A page shows few of them: the topic, the ballots of the last round and the draft, of the first
teams that finished a paper. All reasons are in the column ``reason`` of the table ``calls``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pandas as pd

from society.results.run import Run

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
    shown = [
        {
            "team": str(team.team),
            "topic": _short(team.topic),
            "rows": list(_rows(stated[stated["team"] == team.team])),
        }
        for team in teams.head(TEAMS_SHOWN).itertuples()
    ]
    return {"teams": shown, "finished": len(teams)}


def _rows(calls: pd.DataFrame) -> Iterator[dict[str, str]]:
    """One team's rows: of each step those of its last round, in the order of seats."""
    for form, (step, field) in STEPS.items():
        of_form = calls[calls["form"] == form].sort_values(["visit", "turn", "seat", "call"])
        if not len(of_form):
            continue
        last = of_form.iloc[-1]
        here = of_form[(of_form["visit"] == last["visit"]) & (of_form["turn"] == last["turn"])]
        for call in here.head(BALLOTS_SHOWN).to_dict("records"):
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
