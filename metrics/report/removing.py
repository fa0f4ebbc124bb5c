"""Removing: what the page tells of interventions, and of the network around each removal."""

from __future__ import annotations

from typing import Any

import pandas as pd

from metrics.removals import removed_at
from metrics.report.scene import head, scene_of
from metrics.table import measure
from society.run import Run

PICTURED = 3
"""Removals that are drawn; of all there are numbers."""
NAMED = 20
SOCIETY = {
    "people": "scientists in the society",
    "papers": "papers of half a year",
    "papers_each": "papers of each, per year",
}
ROWS = {
    "nodes": "scientists with a co-author",
    "isolated": "of them, whose co-authors are gone",
    "edges": "pairs of co-authors",
    "mean_degree": "co-authors of each",
    "giant_share": "share in the largest component",
    "components": "components",
    "clustering": "clustering",
    "path": "steps in the largest component",
    "communities": "communities",
    "modularity": "modularity",
}
RANKS = {
    "degree": "with the most co-authors",
    "papers": "with the most papers",
    "citations": "with the most citations",
    "random": "drawn at random",
}


def removing(run: Run) -> dict[str, Any] | None:
    """The list of interventions, and pictures and numbers around each removal; None without any."""
    listed = run.table("interventions")
    if not len(listed):
        return None
    removals = []
    for place, (date, removed) in enumerate(removed_at(run)):
        removals.append(
            {
                "date": date,
                "told": _told(listed[listed["date"] == date], removed),
                "tables": _tables(measure(run, "removals"), date),
                "scene": scene_of(run, date, removed) if place < PICTURED else None,
            }
        )
    return {"listed": listed.to_dict("records"), "removals": removals}


def _told(listed: pd.DataFrame, removed: list[str]) -> str:
    ranks = [RANKS.get(str(rank), "") for rank in listed["ranked"].dropna()]
    chosen = ", ".join(dict.fromkeys(filter(None, ranks)))
    names = ", ".join(removed[:NAMED]) + (", ..." if len(removed) > NAMED else "")
    return f"{len(removed)} left{f' ({chosen})' if chosen else ''}: {names}."


def _tables(table: pd.DataFrame, date: float) -> dict[str, dict[str, Any]]:
    """Of each network: ``columns`` (moments and their heads) and ``rows`` (measures)."""
    here = table[table["removal"] == date]
    told: dict[str, dict[str, Any]] = {}
    for network in here["network"].unique():
        own = here[here["network"] == network].set_index("moment")
        columns = [(name, head(str(name), float(own.at[name, "date"]))) for name in own.index]
        shown = {**SOCIETY, **ROWS} if not told else ROWS
        rows = [
            {"measure": label, **{str(name): own.at[name, key] for name in own.index}}
            for key, label in shown.items()
        ]
        told[str(network)] = {"columns": columns, "rows": rows}
    return told
