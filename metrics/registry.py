"""METRICS, the table of every measure that can be written with a run, by name.

To add one: write a function from a Run to a DataFrame whose docstring cites its source, give it
a hand-worked example as its test, and add one line here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pandas as pd

from virsci_society.metrics import population
from virsci_society.metrics.claims import claims, representation
from virsci_society.metrics.cost import call_counts
from virsci_society.metrics.impact import disruption, impact, productivity
from virsci_society.metrics.networks import (
    active_network,
    assembly,
    communities,
    consulting,
    core_periphery,
    degree_tails,
    removals,
    small_world,
    structure,
    team_patterns,
    tie_lifetimes,
)
from virsci_society.metrics.novelty import novelty, topic_combinations, training_leaks
from virsci_society.metrics.teams import (
    by_protocol,
    concurrency,
    peer_review,
    teams,
    timelines,
    waiting,
)
from virsci_society.society.results.dataframes import has_columns_of
from virsci_society.society.results.run import Run

Metric = Callable[[Run], pd.DataFrame]

FAMILIES: dict[str, dict[str, Metric]] = {
    "novelty": {"novelty": novelty.run_novelty},
    "leaks": {"leaks": training_leaks.run_leaks},
    "claims": {
        "claims": claims.run_claims,
        "representation": representation.representation,
    },
    "teams": {
        "teams": teams.teams,
        "outcomes_without_defaults": teams.outcomes_without_defaults,
        "by_protocol": by_protocol.by_protocol,
        "assembly": assembly.assembly,
        "review_outcomes": peer_review.review_outcomes,
        "reviewers": peer_review.reviewers,
        "drift": population.drift,
    },
    "structure": {
        "structure": structure.structure,
        "active_structure": active_network.active_structure,
        "degrees": degree_tails.degrees,
        "communities": communities.communities,
        "core_periphery": core_periphery.core_periphery,
        "patterns": team_patterns.patterns,
        "repeated_groups": team_patterns.repeated_groups,
        "tie_lifetimes": tie_lifetimes.tie_lifetimes,
        "tie_strengths": tie_lifetimes.tie_strengths,
        "consulting": consulting.consulting,
        "removals": removals.removals,
        "presence": population.presence,
    },
    "impact": {
        "productivity": productivity.productivity,
        "inequality": productivity.inequality,
        "impact": impact.impact,
        "standing": impact.author_citations,
        "cumulative_advantage": impact.cumulative_advantage,
        "disruption": disruption.disruption,
    },
    "concurrency": {
        "weekly": concurrency.weekly,
        "waiting": concurrency.waiting,
        "rounds": concurrency.rounds,
        "delays": waiting.delays,
        "pieces": waiting.pieces,
        "memberships": timelines.memberships,
        "projects": timelines.projects,
        "held_attention": waiting.held_attention,
        "queueing": concurrency.queueing,
        "utilisation": concurrency.utilisation,
        "acceptance": concurrency.acceptance,
        "acceptance_slope": concurrency.acceptance_slope,
    },
    "cost": {
        "calls_by_act": call_counts.calls_by_act,
        "calls_by_stage": call_counts.calls_by_stage,
        "calls_by_team": call_counts.calls_by_team,
        "calls_by_scientist": call_counts.calls_by_scientist,
        "calls_by_model": call_counts.calls_by_model,
        "calls_by_rung": call_counts.calls_by_rung,
        "inference_cost": call_counts.inference_cost,
    },
    "chance": {
        "tail": degree_tails.tail,
        "small_world": small_world.small_world,
        "combinations": topic_combinations.combinations,
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

    Example:
        >>> weekly = vs.measure(run, "weekly")
        >>> len(weekly)  # day 0, and the end of each of 26 weeks
        27
    """
    if name not in METRICS:
        return run.measure(name)
    if name in run.measure_names():
        held = run.measure(name)
        if not run.is_measure_of_folder(name) or has_columns_of(held, _empty(name)):
            return held
    return run.add_measure(name, METRICS[name](run))


@cache
def _empty(name: str) -> pd.DataFrame:
    """A measure of a run without a row: its columns and their dtypes."""
    return METRICS[name](_empty_run())


@cache
def _empty_run() -> Run:
    """One for all measures: to make its tables takes longer than to measure it."""
    return Run.from_rows({}, {"seed": 0, "days": 0.0}, {})
