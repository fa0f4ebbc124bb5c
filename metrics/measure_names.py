"""The names of all measures by family, without the code that computes them.

A scenario is checked against these names before pandas is imported; ``metrics.registry`` holds the
functions, and a test holds the two equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

FAMILY_MEASURES: Mapping[str, tuple[str, ...]] = {
    "novelty": ("novelty",),
    "leaks": ("leaks",),
    "claims": ("claims", "representation"),
    "teams": (
        "teams",
        "outcomes_without_defaults",
        "by_protocol",
        "assembly",
        "review_outcomes",
        "reviewers",
        "drift",
    ),
    "structure": (
        "structure",
        "active_structure",
        "degrees",
        "communities",
        "core_periphery",
        "patterns",
        "repeated_groups",
        "tie_lifetimes",
        "tie_strengths",
        "consulting",
        "removals",
        "presence",
    ),
    "impact": (
        "productivity",
        "inequality",
        "impact",
        "standing",
        "cumulative_advantage",
        "disruption",
    ),
    "concurrency": (
        "weekly",
        "waiting",
        "rounds",
        "delays",
        "pieces",
        "memberships",
        "projects",
        "held_attention",
        "queueing",
        "utilisation",
        "acceptance",
        "acceptance_slope",
    ),
    "cost": (
        "calls_by_act",
        "calls_by_stage",
        "calls_by_team",
        "calls_by_scientist",
        "calls_by_model",
        "calls_by_rung",
        "inference_cost",
    ),
    "chance": (
        "tail",
        "small_world",
        "combinations",
    ),
}
"""Measures by the family under which a scenario can ask for all of them at once."""

COMPARING = ("novelty", "leaks", "claims", "chance")
"""Families whose measures are made from the papers of the past."""


def measures_named(name: str) -> tuple[str, ...]:
    """The measures that a name under ``metrics`` stands for; none for an unknown name.

    Where a family and a measure share a name, the family is meant: it holds that measure.

    Args:
        name: of a family or of a single measure.
    """
    if name in FAMILY_MEASURES:
        return FAMILY_MEASURES[name]
    return (name,) if any(name in one for one in FAMILY_MEASURES.values()) else ()


def compares_papers(names: Iterable[str]) -> bool:
    """Is any of these made from the papers of the past? A function from outside may be.

    Args:
        names: as a scenario gives them under ``metrics``.
    """
    comparing = {name for family in COMPARING for name in FAMILY_MEASURES[family]}
    return any(not (named := measures_named(one)) or comparing & set(named) for one in names)
