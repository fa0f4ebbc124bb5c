"""Community: what the page tells of structure, impact and waiting, and of what was observed."""

from __future__ import annotations

from typing import Any

import pandas as pd

from metrics.report import community_figures as figures
from metrics.table import FAMILIES, measure
from society.run import Run

FAMOUS = 10
LABELS = {"all": "with day 0", "grown": "since day 0"}


def community(run: Run) -> dict[str, Any]:
    """Figures and rows of the sections on structure, impact, chance and what was observed.

    Measures of the family ``chance``, and the comparison with an ecosystem, are shown only where
    the run holds them.
    """
    held = set(run.measures())
    delayed = measure(run, "delays")
    return {
        "degrees": figures.degrees(measure(run, "degrees")),
        "assembly": figures.assembly(measure(run, "assembly")),
        "assembled": _rows(measure(run, "assembly").tail(1))[0],
        "structure": _structure(run),
        "consulting": _rows(measure(run, "consulting"))[0],
        "inequality": _rows(measure(run, "inequality")),
        "advantage": _rows(measure(run, "cumulative_advantage")),
        "disruption": _disruption(run),
        "famous": _famous(run),
        "delays": figures.delays(delayed),
        "attention": _rows(measure(run, "held_attention"))[0],
        "chance": {
            name: _rows(_labelled(run.measure(name))) if name in held else []
            for name in FAMILIES["chance"]
            if name != "combinations"
        },
        "combinations": _combinations(run) if "combinations" in held else None,
        "observed": _rows(_named(run.measure("observed"))) if "observed" in held else [],
        "unknown": _unknown(run) if "observed_unknowns" in held else [],
    }


def _structure(run: Run) -> list[dict[str, Any]]:
    groups = measure(run, "communities")
    last = groups[groups["date"] == groups["date"].max()].drop(columns="date")
    return _rows(_labelled(last.merge(measure(run, "core_periphery"), on="network")))


def _disruption(run: Run) -> dict[str, Any]:
    index = measure(run, "disruption")["CD"].dropna()
    return {
        "papers": len(index),
        "mean": float(index.mean()) if len(index) else None,
        "disrupting": float((index > 0).mean()) if len(index) else None,
    }


def _combinations(run: Run) -> dict[str, Any]:
    table = run.measure("combinations").dropna(subset=["typical"])
    return {
        "papers": len(table),
        "typical": float(table["typical"].median()) if len(table) else None,
        "below": float((table["atypical"] < 0).mean()) if len(table) else None,
    }


def _famous(run: Run) -> list[dict[str, Any]]:
    table = measure(run, "standing")
    order = ["h", "citations", "papers", "scientist"]
    table = table.sort_values(order, ascending=[False, False, False, True], kind="stable")
    return _rows(table[table["citations"] > 0].head(FAMOUS))


def _named(table: pd.DataFrame) -> pd.DataFrame:
    """The comparison, each distance with its kind where it is not a difference."""
    kind = " (" + table["kind"] + ")"
    return table.assign(quantity=table["quantity"] + kind.mask(table["kind"] == "difference", ""))


def _unknown(run: Run) -> list[str]:
    return [str(one) for one in run.measure("observed_unknowns")["unknown"]]


def _labelled(table: pd.DataFrame) -> pd.DataFrame:
    return table.replace({"network": LABELS}) if "network" in table else table


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]
