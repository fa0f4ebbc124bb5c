"""Summary of a run as one JSON object, as ``society show RUN --json`` prints it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from virsci_society.agents.files.atomic_files import write_atomically
from virsci_society.agents.files.file_hashes import file_hash
from virsci_society.metrics.cost import RUNGS, STAGES, VERDICTS, read_ledger
from virsci_society.metrics.network_layout import layout_of, run_communities
from virsci_society.metrics.novelty.novelty import COLUMNS, embedding_of
from virsci_society.metrics.population import people_ever, teams_with_paper
from virsci_society.metrics.registry import compute_metric, measure_run
from virsci_society.metrics.summary_file import SUMMARY, TEXT_COUNTS, summary_key
from virsci_society.metrics.teams.concurrency import max_memberships
from virsci_society.society.results.run import Run

NUMBERS = (
    *("team_size", "diversity", "days_to_paper", "waiting", "waiting_round"),
    *("memberships_at_homework", "authors", "coauthors_per_author", "components"),
    *("clustering", "assortativity", "communities", "modularity", "consultations"),
    *("gini_papers", "gini_citations", "disruption"),
    *("days_in_review", "reviewer_load", "gini_reviews", "reviewer_agreement"),
)
"""Measures of teams, network, impact and review on the page; no shares, which have no null."""


def write_summary(run: Run, folder: Path) -> None:
    """Write the summary of a run and the layout of its network into its folder."""
    paths = folder.glob("tables/**/*.parquet")
    tables = {path.relative_to(folder).as_posix(): file_hash(path) for path in paths}
    data = {"key": summary_key(run.manifest, tables), "summary": run.once(summarise_run)}
    data["network"] = layout_of(run.once(run_communities))
    write_atomically(folder / SUMMARY, json.dumps(data, indent=1) + "\n")


def summarise_run(run: Run, measures: Mapping[str, float | None] | None = None) -> dict[str, Any]:
    """Describe a run in plain values, None if unavailable; measures are computed unless given."""
    ledger, until, partial = read_ledger(run), run.manifest.get("until"), run.partial is not None
    teams, asked = run.table("teams"), run.table("invitations")
    by_state = teams["state"].value_counts()
    gone = teams[teams["state"] == "dissolved"]
    reasons = gone["reason"].fillna("no reason given").value_counts()
    stages, acts = compute_metric(run, "calls_by_stage"), compute_metric(run, "calls_by_act")
    cost = compute_metric(run, "inference_cost")
    paid = cost.loc[cost["team"].isin(teams_with_paper(run)), "inference_cost"]
    scores, novelty = compute_metric(run, "novelty"), dict[str, Any]()
    for name in COLUMNS:
        values = scores[name]
        novelty[name] = None
        if len(values.dropna()):
            per_paper = {
                paper: None if pd.isna(value) else float(value)
                for paper, value in zip(scores["paper"], values, strict=True)
            }
            novelty[name] = {"mean": float(values.mean()), "per_paper": per_paper}
    outcomes = asked["outcome"].value_counts()
    counts = {name: int(outcomes.get(name, 0)) for name in ("accepted", "declined", "full")}
    if not measures:
        measured = measure_run(run, NUMBERS).items()
        measures = {name: None if pd.isna(value) else value for name, value in measured}
    return {
        "scenario": run.name,
        "seed": run.seed,
        "days": run.days,
        "scientists": people_ever(run),
        "teams": {
            "founded": len(teams),
            "published": int(by_state.get("published", 0)),
            "dissolved": {reason: int(reasons[reason]) for reason in sorted(reasons.index)},
            # The tables of a partial run contain only teams that had ended.
            "running": None if partial else int(by_state.get("running", 0)),
            "finished": None if partial else int(by_state.get("finished", 0)),
        },
        "team_sizes": team_sizes(run),
        "papers": len(run.table("papers")),
        "calls": {
            "total": len(run.table("calls")),
            "by_stage": _mapping(stages["stage"], stages["calls"]),
            "by_act": _mapping(acts["act"], acts["calls"]),
        },
        "inference_cost": {
            "per_team": _mapping(cost["team"], cost["inference_cost"]),
            "by_stage": {stage: int(cost[stage].sum()) for stage in STAGES},
            "mean": float(paid.mean()) if len(paid) else None,
            "extra": int(cost["extra_cost"].sum()),
        },
        **novelty,
        "embedding": embedding_of(run) or None,
        "invitations": {
            "sent": len(asked),
            **counts,
            "unanswered": len(asked) - sum(counts.values()),
            "cross_team": int(asked["cross_team"].fillna(False).sum()),
        },
        "consultations": len(run.table("consultations")),
        "max_memberships": int(max_memberships(run)),
        "waiting": measures["waiting"],
        "measures": measures,
        "reading": _reading(run),
        "ledger": None if ledger is None else ledger.model_dump(),
        "digest": run.digest,
        "backend": run.manifest.get("backend"),
        "partial": run.partial,
        **({"state": str(run.manifest.get("state", "stopped"))} if partial else {}),
        "until": until if isinstance(until, int | float) else None,
    }


def team_sizes(run: Run) -> list[int]:
    """Smallest and largest team size; empty without a team."""
    known = compute_metric(run, "teams")["size"].dropna()
    return [int(known.min()), int(known.max())] if len(known) else []


def _reading(run: Run) -> dict[str, Any] | None:
    table = compute_metric(run, "calls_by_rung")
    known = table.dropna(subset=["rung"])
    asked = int(known["calls"].sum())
    if not asked:
        return None
    rungs, by_form = dict.fromkeys(RUNGS, 0), {}
    for form, of_form in known.groupby("form", dropna=False):
        by_form[str(form)] = _mapping(of_form["rung"], of_form["calls"])
        for rung, calls in by_form[str(form)].items():
            rungs[rung] = rungs.get(rung, 0) + calls
    return {
        "asked": asked,
        "rungs": rungs,
        "verdicts": {verdict: int(known[verdict].sum()) for verdict in VERDICTS},
        "defaulted": rungs["default"] / asked,
        "by_form": by_form,
        "texts": {
            str(row["form"]): {name: int(row[name]) for name in TEXT_COUNTS}
            for row in compute_metric(run, "reply_texts").to_dict("records")
        },
    }


def _mapping(keys: pd.Series, values: pd.Series) -> dict[str, int]:
    return {str(key): int(value) for key, value in zip(keys, values, strict=True)}
