"""Summary of a run as one JSON object, as ``society show RUN --json`` prints it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from virsci_society.agents.arrays import FloatArray
from virsci_society.metrics.cost import RUNGS, STAGES, VERDICTS, read_ledger
from virsci_society.metrics.networks.structure import MONTH, WEEK
from virsci_society.metrics.novelty.novelty import COLUMNS
from virsci_society.metrics.population import people_ever
from virsci_society.metrics.registry import measure
from virsci_society.metrics.teams.concurrency import max_memberships
from virsci_society.metrics.teams.peer_review import teams_with_paper
from virsci_society.society.results.run import Run

COUNTED = ("calls_by_stage", "calls_by_act", "calls_by_rung", "inference_cost", "waiting")
"""Measures of the summary that no database of papers enters."""


def summarise_run(run: Run) -> dict[str, Any]:
    """Describe a run in plain values only; what is not available is None.

    Returns:
        ``scenario`` (name), ``seed``, ``days``, ``scientists`` (number), ``teams`` (founded,
        published, dissolved by reason, running, finished; of a partial run only those that had
        ended are known, so that the last two are None), ``papers``, ``calls`` (total,
        by_stage, by_act), ``inference_cost`` (per_team, by_stage, mean over teams that wrote a
        paper, extra),
        ``HD``, ``CD``, ``CI``, ``ON`` (each mean and per_paper, or None), ``invitations`` (sent,
        accepted, declined, full, unanswered, cross_team), ``consultations``, ``max_memberships``,
        ``waiting_days`` (mean days a team waits for its people per round, by size), ``reading``
        (of the questions whose rung is known: ``asked``, ``rungs``, ``verdicts``, ``defaulted``
        as a share, ``by_form``; None if none is known), ``ledger`` (attempts, outcomes, tokens,
        usd, sessions, ...; None in the run of an older release), ``digest``, ``backend``,
        ``partial`` (why the run was stopped; None for a finished one, else ``state`` says whether
        it was stopped or killed, or failed), ``until`` (the day on which it would have ended),
        ``series`` (over simulated time: ``summary_series``) and ``papers_per_person`` (number of
        scientists by papers). Files of older releases lack the last two.

    Example:
        >>> summary = vs.summarise_run(run)
        >>> summary["seed"], summary["scientists"], summary["teams"]["founded"] >= summary["papers"]
        (1, 12, True)
    """
    ledger, until = read_ledger(run), run.manifest.get("until")
    return {
        "scenario": run.name,
        "seed": run.seed,
        "days": run.days,
        "scientists": people_ever(run),
        "teams": _teams(run),
        "papers": len(run.table("papers")),
        "calls": _calls(run),
        "inference_cost": _inference_cost(run),
        **_novelty(run),
        "invitations": _invitations(run),
        "consultations": len(run.table("consultations")),
        "max_memberships": max_memberships(run),
        "waiting_days": _waiting(run),
        "reading": _reading(run),
        "ledger": None if ledger is None else ledger.model_dump(),
        "digest": run.digest,
        "backend": run.manifest.get("backend"),
        "partial": run.partial,
        **({} if run.partial is None else {"state": str(run.manifest.get("state", "stopped"))}),
        "until": until if isinstance(until, int | float) else None,
        "series": summary_series(run),
        "papers_per_person": papers_per_person(run),
    }


def _teams(run: Run) -> dict[str, Any]:
    teams, partial = run.table("teams"), run.partial is not None
    by_state = teams["state"].value_counts()
    gone = teams[teams["state"] == "dissolved"]
    reasons = gone["reason"].fillna("no reason given").value_counts()
    return {
        "founded": len(teams),
        "published": int(by_state.get("published", 0)),
        "dissolved": {reason: int(reasons[reason]) for reason in sorted(reasons.index)},
        "running": None if partial else int(by_state.get("running", 0)),
        "finished": None if partial else int(by_state.get("finished", 0)),
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
    paid = cost.loc[cost["team"].isin(teams_with_paper(run)), "inference_cost"]
    return {
        "per_team": _mapping(cost["team"], cost["inference_cost"]),
        "by_stage": {stage: int(cost[stage].sum()) for stage in STAGES},
        "mean": float(paid.mean()) if len(paid) else None,
        "extra": int(cost["extra_cost"].sum()),
    }


def _reading(run: Run) -> dict[str, Any] | None:
    table = measure(run, "calls_by_rung")
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


MOST_PERIODS = 60
EXACT_PAPERS = 10
"""Numbers of papers from this one on are counted together, in classes that double."""


def summary_series(run: Run) -> dict[str, Any]:
    """What happened in equal periods of simulated time.

    Periods are days in runs of up to 30 days, weeks in those of up to half a year, and then months
    of 365 / 12 days, or as many of them as make at most ``MOST_PERIODS`` periods.

    Returns:
        ``period`` (days), ``papers`` (published in each period), ``teams_open`` (mean number at
        work at a time), ``meetings_waiting`` (mean number at a time of meetings that are due and
        wait for people) and ``giant_share`` (of the scientists with a tie, in the largest
        component at the end of the period, 0..1; None before there is a tie). The last period may
        be shorter. Of a run that was stopped ``teams_open`` and ``meetings_waiting`` are None,
        because teams still at work are not in its tables.
    """
    period = period_of(run.days)
    # Rounded: twelve months are a year of 365 days but for the last bits.
    count = max(1, math.ceil(round(run.days / period, 6)))
    edges = np.minimum(period * np.arange(count + 1), run.days)
    whole = run.partial is None
    teams, meetings = run.table("teams"), run.table("meetings")
    return {
        "period": period,
        "papers": _papers(run, edges),
        "teams_open": _mean_open(teams["founded"], teams["finished"], edges) if whole else None,
        "meetings_waiting": _mean_open(meetings["due"], meetings["held"], edges) if whole else None,
        "giant_share": giant_shares(run.table("ties"), edges[1:]),
    }


def period_of(days: float) -> float:
    """Length of the periods of ``summary_series``, in days."""
    if days <= 30:
        return 1.0
    if days <= 182:
        return WEEK
    return MONTH * max(1, math.ceil(round(days / MONTH / MOST_PERIODS, 6)))


def _papers(run: Run, edges: FloatArray) -> list[int]:
    """Papers published up to the end of each period, and after the end of the one before."""
    dates = np.sort(run.table("papers")["published"].dropna().to_numpy(dtype=np.float64))
    so_far = np.searchsorted(dates, edges[1:], side="right")
    return [int(number) for number in np.diff(so_far, prepend=0)]


def _mean_open(starts: pd.Series, ends: pd.Series, edges: FloatArray) -> list[float]:
    """Mean number of intervals that are open at a time in each period; without end until now."""
    known = starts.notna().to_numpy()
    begun = starts[known].to_numpy(dtype=np.float64)
    ended = ends[known].fillna(np.inf).to_numpy(dtype=np.float64)
    days = np.diff([float((np.minimum(ended, at) - begun).clip(0).sum()) for at in edges])
    length = np.maximum(np.diff(edges), 1e-9)
    return [round(float(mean), 4) for mean in np.maximum(days, 0) / length]


def giant_shares(ties: pd.DataFrame, dates: FloatArray) -> list[float | None]:
    """Share of the scientists with a tie that are in the largest component, at each date."""
    dated = ties.dropna(subset=["date", "source", "target"]).sort_values("date")
    codes, known = pd.factorize(pd.concat([dated["source"], dated["target"]]))
    ends = codes.reshape(2, -1)
    so_far = np.searchsorted(dated["date"].to_numpy(dtype=np.float64), dates, side="right")
    component, tied = np.arange(len(known)), np.zeros(len(known), dtype=bool)
    shares: list[float | None] = []
    before = 0
    for count in so_far:
        # Only ties that are new are looked at, between the components of the date before.
        new = ends[:, before:count]
        tied[new.ravel()] = True
        joined = (np.ones(new.shape[1], dtype=bool), tuple(component[new]))
        graph = sparse.coo_array(joined, shape=(len(known), len(known)))
        component = sparse.csgraph.connected_components(graph, directed=False)[1][component]
        before = count
        sizes = np.bincount(component[tied])
        shares.append(round(int(sizes.max()) / int(tied.sum()), 4) if len(sizes) else None)
    return shares


def papers_per_person(run: Run) -> dict[str, int]:
    """Number of scientists by the papers that they wrote in the run, those without any too.

    Returns:
        Scientists by ``0``, ``1``, ..., ``9``, and by classes that double: ``10 to 19``, ``20 to
        39``, ...; up to the class of the scientist with the most papers.
    """
    written = run.table("authorships")["scientist"].value_counts().to_numpy(dtype=np.int64)
    classes = {"0": max(people_ever(run) - len(written), 0)}
    most = int(written.max(initial=0))
    low = 1
    while low <= most:
        high = low if low < EXACT_PAPERS else 2 * low - 1
        name = f"{low}" if high == low else f"{low} to {high}"
        classes[name] = int(((written >= low) & (written <= high)).sum())
        low = high + 1
    return classes
