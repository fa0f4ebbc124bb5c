"""Tables that a review panel leaves (every review, and the averages of each abstract).

A panel has a folder of its own in that of the run or study: ``reviews/NAME``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pandas as pd

from virsci_society.agents.errors import InputError
from virsci_society.agents.replies.form import Form
from virsci_society.scenarios.judgement.model_questions import call_cells
from virsci_society.scenarios.judgement.review_kinds import KINDS, SCORES, ReviewKind
from virsci_society.society.kernel.answer import Call
from virsci_society.society.results.table_files import read_parquet, write_parquet

FOLDER = "reviews"
"""Of a run folder, or a study's: one folder per panel in it."""
RECORD = "panel.json"
CHAIR = 0
"""The reviewer's number in ids and tables that stands for the meta-review."""
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


@dataclass(frozen=True, slots=True)
class ReviewRound:
    """One round of one reviewer.

    Attributes:
        paper: id of the manuscript.
        reviewer: from 1; 0 is the chair.
        round: 0 is the first review.
        review: the form, or None where the reply could not be read.
        calls: rows of the call and its re-asks.
    """

    paper: str
    reviewer: int
    round: int
    review: Form | None
    calls: tuple[Call, ...]


def review_table(kind: ReviewKind, opinions: Sequence[ReviewRound]) -> pd.DataFrame:
    """Every opinion as a row of ``REVIEWS``; scores that the kind does not ask for are missing."""
    rows = []
    for one in opinions:
        row: dict[str, Any] = {"paper": one.paper, "kind": kind.name}
        row |= {"reviewer": one.reviewer, "round": one.round}
        row |= {name: getattr(one.review, name, None) for name in kind.scores}
        row |= {"reply": None if one.review is None else one.review.as_json()}
        rows.append({**row, **call_cells(one.calls)})
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
                # The chair has the last word; where it said nothing readable there is no score.
                score = None if chair is None else float(getattr(chair, name))
            row = {"paper": paper, "kind": kind.name, "dimension": name, "score": score}
            row |= {"reviews": len(scores), "spread": stdev(scores) if len(scores) > 1 else None}
            rows.append({**row, "from": "mean" if kind.meta is None else "meta-review"})
    return _typed(rows, AVERAGES)


def write_reviews(
    panel: Path, kind: ReviewKind, opinions: Sequence[ReviewRound], speaker: str = ""
) -> None:
    """Write ``reviews.parquet`` and ``averages.parquet`` of a panel; rows of other kinds stay."""
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


def panel_folders(run: Path) -> list[Path]:
    """The folders of the panels that have reviewed a run or a study, by name."""
    return sorted(path.parent for path in (run / FOLDER).glob("*/averages.parquet"))


def reviewer_description(panel: Path) -> str:
    """Description of the model that has reviewed, from the panel's record; empty where it has none.

    Raises:
        InputError: the record is damaged.
    """
    path = panel / RECORD
    if not path.is_file():
        return ""
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["backend"]["about"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read ({error}); remove it") from error


def last_readable(opinions: Sequence[ReviewRound]) -> Form | None:
    """The last review that could be read; None if there is none."""
    return next((one.review for one in reversed(opinions) if one.review is not None), None)


def _read(path: Path, columns: dict[str, str]) -> pd.DataFrame:
    if not path.exists():
        return _typed([], columns)
    table = read_parquet(path)
    if list(table.columns) != list(columns):
        raise InputError(f"{path}: not a table of reviews as this release writes it; remove it")
    return table.astype(columns)


def _typed(rows: Sequence[dict[str, Any]], columns: dict[str, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(columns), dtype="object").astype(columns)
