"""Refereeing: what the page tells of review before publication."""

from __future__ import annotations

from typing import Any

import pandas as pd

from metrics.table import measure
from society.run import Run

SHOWN = 10


def refereeing(run: Run) -> dict[str, Any] | None:
    """Outcomes, decisions by round and the busiest reviewers; None where nothing was submitted.

    Returns:
        ``whole`` (the row of ``review_outcomes``), ``rounds`` (rows with ``round``, ``accept``,
        ``revise``, ``reject``, ``open`` and ``score``) and ``reviewers`` (the first rows).
    """
    whole = measure(run, "review_outcomes").to_dict("records")[0]
    if not whole["manuscripts"]:
        return None
    told = _told(measure(run, "reviewers").head(SHOWN))
    return {"whole": whole, "rounds": _rounds(run.table("submissions")), "reviewers": told}


def _rounds(submissions: pd.DataFrame) -> list[dict[str, Any]]:
    rows = submissions.assign(
        **{one: submissions["decision"].isin([one]) for one in ("accept", "revise", "reject")},
        open=submissions["decision"].isna(),
    )
    counted = ["accept", "revise", "reject", "open"]
    rows[counted] = rows[counted].fillna(False).astype("Int64")
    grouped = rows.groupby("round")
    return _told(grouped[counted].sum().join(grouped["score"].mean()).reset_index())


def _told(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]
