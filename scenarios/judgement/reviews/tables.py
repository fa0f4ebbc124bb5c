"""Tables that a review panel leaves (every review, and the averages of each abstract)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pandas as pd

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.judgement.reviews.kinds import KINDS, SCORES, ReviewKind
from virsci_society.scenarios.judgement.reviews.panel import CHAIR, ReviewRound, last_readable
from virsci_society.scenarios.judgement.reviews.review_folder import panel_folders
from virsci_society.society.results.table_files import read_parquet, write_parquet

REVIEWS = {
    **dict.fromkeys(("paper", "kind"), "string"),
    **dict.fromkeys(("reviewer", "round"), "Int64"),
    **dict.fromkeys(SCORES, "Float64"),
    **dict.fromkeys(("reply", "rung", "verdict", "model"), "string"),
    **dict.fromkeys(("calls", "prompt_tokens", "completion_tokens"), "Int64"),
}
"""One row per review, reflection and meta-review (reviewer 0): its scores, the form as JSON, how it
was read or why not, and what it took with its re-asks."""
AVERAGES = {
    **dict.fromkeys(("paper", "kind", "dimension"), "string"),
    "score": "Float64",
    "reviews": "Int64",
    "spread": "Float64",
    "from": "string",
}
"""One row per abstract, kind and dimension: its score, how many reviewers gave one, their standard
deviation, and whether the score is their ``mean`` or that of the ``meta-review``."""


def review_table(kind: ReviewKind, opinions: Sequence[ReviewRound]) -> pd.DataFrame:
    """Every opinion as a row of ``REVIEWS``; scores that the kind does not ask for are missing."""
    rows = []
    for one in opinions:
        first = one.calls[0]
        row: dict[str, Any] = {"paper": one.paper, "kind": kind.name}
        row |= {"reviewer": one.reviewer, "round": one.round}
        row |= {name: getattr(one.review, name, None) for name in kind.scores}
        row |= {"reply": None if one.review is None else one.review.as_json()}
        row |= {"rung": first.rung, "verdict": first.verdict, "model": one.calls[-1].model}
        row["calls"] = len(one.calls)
        for tokens in ("prompt_tokens", "completion_tokens"):
            row[tokens] = sum(getattr(call, tokens) for call in one.calls)
        rows.append(row)
    return _typed(rows, REVIEWS)


def average_table(kind: ReviewKind, opinions: Sequence[ReviewRound]) -> pd.DataFrame:
    """The scores of each abstract as rows of ``AVERAGES``.

    The mean over the reviewers, of each the last review that could be read; where the kind has a
    meta-review, its scores. Nothing readable gives a missing score.
    """
    by_paper: dict[str, dict[int, list[ReviewRound]]] = {}
    for one in opinions:
        by_paper.setdefault(one.paper, {}).setdefault(one.reviewer, []).append(one)
    rows = []
    for paper, by_reviewer in by_paper.items():
        chair = last_readable(by_reviewer.pop(CHAIR, []))
        given = [
            review for review in map(last_readable, by_reviewer.values()) if review is not None
        ]
        for name in kind.scores:
            scores = [float(getattr(review, name)) for review in given]
            score = fmean(scores) if scores else None
            if kind.meta is not None:
                score = None if chair is None else float(getattr(chair, name))
            row = {"paper": paper, "kind": kind.name, "dimension": name, "score": score}
            row |= {"reviews": len(scores), "spread": stdev(scores) if len(scores) > 1 else None}
            rows.append({**row, "from": "mean" if kind.meta is None else "meta-review"})
    return _typed(rows, AVERAGES)


def write_reviews(
    panel: Path, kind: ReviewKind, opinions: Sequence[ReviewRound], speaker: str = ""
) -> None:
    """Write ``reviews.parquet`` and ``averages.parquet`` of a panel; rows of other kinds stay.

    Args:
        panel: folder of the panel.
        kind: the kind that has been reviewed.
        opinions: all rounds of it.
        speaker: the reviewing model, for the metadata of both files.
    """
    made = {"reviews": review_table(kind, opinions), "averages": average_table(kind, opinions)}
    for name, table in made.items():
        path = panel / f"{name}.parquet"
        held = _read(path, REVIEWS if name == "reviews" else AVERAGES)
        whole = pd.concat([held[held["kind"] != kind.name], table], ignore_index=True)
        order = whole["kind"].map(list(KINDS).index).sort_values(kind="stable").index
        write_parquet(path, whole.loc[order].reset_index(drop=True), speaker=speaker)


def read_averages(run: Path) -> pd.DataFrame:
    """The averages of all panels of a run, with a column ``panel`` first.

    Given the folder of a study, those of its own panels, whose papers begin with the run's folder:
    ``0007/``. Given a run of that study, its part of them beside those of panels of its own.

    Raises:
        InputError: a table is damaged, or of another kind.
    """
    tables = []
    for panel in panel_folders(run):
        table = _read(panel / "averages.parquet", AVERAGES)
        table.insert(0, "panel", pd.Series([panel.name] * len(table), dtype="string"))
        tables.append(table)
    if run.parent.name == "runs" and panel_folders(run.parent.parent):
        whole, before = read_averages(run.parent.parent), f"{run.name}/"
        mine = whole[whole["paper"].str.startswith(before)]
        tables.append(mine.assign(paper=mine["paper"].str.removeprefix(before)))
    if not tables:
        return _typed([], {"panel": "string", **AVERAGES})
    return pd.concat(tables, ignore_index=True)


def _read(path: Path, columns: dict[str, str]) -> pd.DataFrame:
    if not path.exists():
        return _typed([], columns)
    table = read_parquet(path)
    if list(table.columns) != list(columns):
        raise InputError(f"{path}: not a table of reviews as this release writes it; remove it")
    return table.astype(columns)


def _typed(rows: Sequence[dict[str, Any]], columns: dict[str, str]) -> pd.DataFrame:
    data: dict[str, Any] = {}
    for name, dtype in columns.items():
        build: Any = pd.array
        data[name] = build([row.get(name) for row in rows], dtype=dtype)
    return pd.DataFrame(data)
