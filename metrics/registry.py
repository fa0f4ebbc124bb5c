"""METRICS: every measure that can be written with a run, by name. One visible table.

To add one: write a function from a Run to a DataFrame whose docstring cites its source, give it
a hand-worked example as its test, and add one line here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pandas as pd

from metrics import (
    by_protocol,
    combinations,
    concurrency,
    cost,
    delays,
    disruption,
    drift,
    impact,
    leaks,
    novelty,
    presence,
    productivity,
    refereeing,
    removals,
    structure,
    tail,
    teams,
    timelines,
)
from metrics.network import assembly, communities, consulting, periphery, small_world
from metrics.written import fits
from society.run import Run

Metric = Callable[[Run], pd.DataFrame]

FAMILIES: dict[str, dict[str, Metric]] = {
    "novelty": {"novelty": novelty.of_run},
    "leaks": {"leaks": leaks.of_run},
    "teams": {
        "teams": teams.teams,
        "outcomes_without_defaults": teams.outcomes_without_defaults,
        "by_protocol": by_protocol.by_protocol,
        "assembly": assembly.assembly,
        "review_outcomes": refereeing.review_outcomes,
        "reviewers": refereeing.reviewers,
        "drift": drift.drift,
    },
    "structure": {
        "structure": structure.structure,
        "degrees": tail.degrees,
        "communities": communities.communities,
        "core_periphery": periphery.core_periphery,
        "consulting": consulting.consulting,
        "removals": removals.removals,
        "presence": presence.presence,
    },
    "impact": {
        "productivity": productivity.productivity,
        "inequality": productivity.inequality,
        "impact": impact.impact,
        "standing": impact.standing,
        "cumulative_advantage": impact.cumulative_advantage,
        "disruption": disruption.disruption,
    },
    "concurrency": {
        "weekly": concurrency.weekly,
        "waiting": concurrency.waiting,
        "rounds": concurrency.rounds,
        "delays": delays.delays,
        "pieces": delays.pieces,
        "memberships": timelines.memberships,
        "projects": timelines.projects,
        "held_attention": delays.held_attention,
        "queueing": concurrency.queueing,
        "utilisation": concurrency.utilisation,
        "acceptance": concurrency.acceptance,
        "acceptance_slope": concurrency.acceptance_slope,
    },
    "cost": {
        "calls_by_act": cost.calls_by_act,
        "calls_by_stage": cost.calls_by_stage,
        "calls_by_team": cost.calls_by_team,
        "calls_by_scientist": cost.calls_by_scientist,
        "calls_by_model": cost.calls_by_model,
        "calls_by_rung": cost.calls_by_rung,
        "inference_cost": cost.inference_cost,
    },
    "chance": {
        "tail": tail.tail,
        "small_world": small_world.small_world,
        "combinations": combinations.combinations,
    },
}
"""What a scenario can ask for under ``metrics``, and the measures of each."""

METRICS: dict[str, Metric] = {
    name: metric for family in FAMILIES.values() for name, metric in family.items()
}


def measure(run: Run, name: str) -> pd.DataFrame:
    """A measure of a run: as written with it if it was, else computed once and held.

    One that lacks a column, because an older release wrote it, is computed again.

    Raises:
        InputError: neither written nor in ``METRICS``.
    """
    if name not in METRICS:
        return run.measure(name)
    if name in run.measures() and fits(run.measure(name), _empty(name)):
        return run.measure(name)
    return run.hold(name, METRICS[name](run))


@cache
def _empty(name: str) -> pd.DataFrame:
    """A measure of a run without a row: its columns and their dtypes."""
    return METRICS[name](Run.from_rows({}, {"seed": 0, "days": 0.0}, {}))
