"""Reading: what the page tells of how replies were read, and what defaults did to the results."""

from __future__ import annotations

from typing import Any

from metrics.cost import RUNGS
from metrics.table import measure
from society.run import Run

ALL = "all forms"


def reading(run: Run, told: dict[str, Any]) -> dict[str, Any]:
    """The rungs of all questions and of each form, the verdicts, and the outcomes without defaults.

    Args:
        run: the run.
        told: its summary.

    Returns:
        ``asked`` (questions whose rung is known, or None), ``rungs`` (those that were stood on),
        ``strict`` (every reply was), ``forms`` (rows: calls by rung, and ``share`` defaulted),
        ``unsent`` (questions of which no rung is known), ``verdicts``, ``defaulted`` and
        ``unruled`` (replies), ``outcomes`` (rows; empty where nothing was defaulted).
    """
    calls, acts = measure(run, "calls_by_rung"), measure(run, "calls_by_act")
    known = told["reading"] or {"asked": None, "rungs": {}, "verdicts": {}, "by_form": {}}
    defaulted = int(acts["defaulted"].sum())
    outcomes = measure(run, "outcomes_without_defaults") if defaulted else None
    return {
        "asked": known["asked"],
        "rungs": [(rung, count) for rung, count in known["rungs"].items() if count],
        "strict": known["asked"] is not None and known["rungs"]["strict"] == known["asked"],
        "forms": _forms(known["rungs"], known["by_form"]),
        "unsent": int(calls.loc[calls["rung"].isna(), "calls"].sum()),
        "verdicts": [(name, count) for name, count in known["verdicts"].items() if count],
        "defaulted": defaulted,
        "unruled": int(acts["unruled"].sum()),
        "outcomes": [] if outcomes is None else outcomes.to_dict("records"),
    }


def _forms(rungs: dict[str, int], by_form: dict[str, dict[str, int]]) -> list[dict[str, Any]]:
    """One row for all forms, where there are several, and one for each."""
    several = {ALL: rungs} if len(by_form) > 1 else {}
    rows = []
    for form, counts in {**several, **by_form}.items():
        calls = sum(counts.values())
        row = {"form": form, "calls": calls, "share": counts.get("default", 0) / max(calls, 1)}
        rows.append({**dict.fromkeys(RUNGS, 0), **counts, **row})
    return rows
