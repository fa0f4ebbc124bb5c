"""Summary: a run as one JSON object, as ``society show RUN --json`` prints it."""

from __future__ import annotations

from typing import Any

import pandas as pd

from metrics.concurrency import max_memberships
from metrics.cost import STAGES
from metrics.novelty import COLUMNS
from metrics.table import measure
from society.run import Run


def summary(run: Run) -> dict[str, Any]:
    """Describe a run in plain values only; what is not available is None.

    Returns:
        ``scenario`` (name), ``seed``, ``days``, ``scientists`` (number), ``teams`` (founded,
        published, dissolved by reason, running, finished), ``papers``, ``calls`` (total,
        by_stage, by_act), ``inference_cost`` (per_team, by_stage, mean over teams that wrote a
        paper, extra),
        ``HD``, ``CD``, ``CI``, ``ON`` (each mean and per_paper, or None), ``invitations`` (sent,
        accepted, declined, full, unanswered, cross_team), ``consultations``, ``max_memberships``,
        ``waiting_days`` (mean days a team waits for its people per round, by size), ``digest``,
        ``backend``.
    """
    return {
        "scenario": run.name,
        "seed": run.seed,
        "days": run.days,
        "scientists": len(run.table("scientists")),
        "teams": _teams(run),
        "papers": len(run.table("papers")),
        "calls": _calls(run),
        "inference_cost": _inference_cost(run),
        **_novelty(run),
        "invitations": _invitations(run),
        "consultations": len(run.table("consultations")),
        "max_memberships": max_memberships(run),
        "waiting_days": _waiting(run),
        "digest": run.digest,
        "backend": run.manifest.get("backend"),
    }


def _teams(run: Run) -> dict[str, Any]:
    teams = run.table("teams")
    by_state = teams["state"].value_counts()
    gone = teams[teams["state"] == "dissolved"]
    reasons = gone["reason"].fillna("no reason given").value_counts()
    return {
        "founded": len(teams),
        "published": int(by_state.get("published", 0)),
        "dissolved": {reason: int(reasons[reason]) for reason in sorted(reasons.index)},
        "running": int(by_state.get("running", 0)),
        "finished": int(by_state.get("finished", 0)),
    }


def _calls(run: Run) -> dict[str, Any]:
    stages, acts = measure(run, "calls_by_stage"), measure(run, "calls_by_act")
    return {
        "total": len(run.table("calls")),
        "by_stage": _mapping(stages["stage"], stages["calls"]),
        "by_act": _mapping(acts["act"], acts["calls"]),
    }


def _inference_cost(run: Run) -> dict[str, Any]:
    cost = measure(run, "inference_cost")
    teams = run.table("teams")
    written = teams.loc[teams["state"].isin(["published", "finished"]), "team"]
    paid = cost.loc[cost["team"].isin(written), "inference_cost"]
    return {
        "per_team": _mapping(cost["team"], cost["inference_cost"]),
        "by_stage": {stage: int(cost[stage].sum()) for stage in STAGES},
        "mean": float(paid.mean()) if len(paid) else None,
        "extra": int(cost["extra_cost"].sum()),
    }


def _novelty(run: Run) -> dict[str, Any]:
    table = measure(run, "novelty")
    parts: dict[str, Any] = {}
    for name in COLUMNS:
        values = table[name]
        if not len(values.dropna()):
            parts[name] = None
            continue
        per_paper = {
            paper: None if pd.isna(value) else float(value)
            for paper, value in zip(table["paper"], values, strict=True)
        }
        parts[name] = {"mean": float(values.mean()), "per_paper": per_paper}
    return parts


def _invitations(run: Run) -> dict[str, int]:
    asked = run.table("invitations")
    outcomes = asked["outcome"].value_counts()
    counts = {name: int(outcomes.get(name, 0)) for name in ("accepted", "declined", "full")}
    return {
        "sent": len(asked),
        **counts,
        "unanswered": int(asked["outcome"].isna().sum()),
        "cross_team": int(asked["cross_team"].fillna(False).sum()),
    }


def _waiting(run: Run) -> dict[str, float]:
    waited = measure(run, "waiting")
    days = waited["held_up"].fillna(waited["meeting_wait"])
    return {
        str(int(size)): float(mean)
        for size, mean in zip(waited["size"], days, strict=True)
        if not pd.isna(mean)
    }


def _mapping(keys: pd.Series, values: pd.Series) -> dict[str, int]:
    return {str(key): int(value) for key, value in zip(keys, values, strict=True)}
