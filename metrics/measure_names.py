"""The table of every measure that can be written with a run: by family, where its function is.

A scenario is checked against the names before pandas is imported, so that functions stand here as
text; ``metrics.registry`` imports them. To add a measure: write a function from a Run to a
DataFrame whose docstring cites its source, give it a hand-worked example as its test, and add one
line here.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

FAMILY_MEASURES: Mapping[str, Mapping[str, str]] = {
    "novelty": {"novelty": "novelty.novelty:run_novelty"},
    "leaks": {"leaks": "novelty.training_leaks:run_leaks"},
    "claims": {"claims": "claims:run_claims", "representation": "claims:representation"},
    "teams": {
        "teams": "teams.teams:teams",
        "outcomes_without_defaults": "teams.teams:outcomes_without_defaults",
        "by_protocol": "teams.teams:by_protocol",
        "assembly": "networks.team_patterns:assembly",
        "review_outcomes": "teams.peer_review:review_outcomes",
        "reviewers": "teams.peer_review:reviewers",
        "panels": "teams.peer_review:panels",
        "panel_agreement": "teams.peer_review:panel_agreement",
        "contributions": "teams.contributions:contributions",
        "team_roles": "teams.contributions:team_roles",
        "credit_by_position": "teams.contributions:credit_by_position",
        "drift": "population:drift",
    },
    "structure": {
        "structure": "networks.structure:structure",
        "active_structure": "networks.structure:active_structure",
        "degrees": "networks.degree_tails:degrees",
        "communities": "networks.communities:communities",
        "core_periphery": "networks.communities:core_periphery",
        "patterns": "networks.team_patterns:patterns",
        "repeated_groups": "networks.team_patterns:repeated_groups",
        "tie_lifetimes": "networks.tie_lifetimes:tie_lifetimes",
        "tie_strengths": "networks.tie_lifetimes:tie_strengths",
        "consulting": "networks.structure:consulting",
        "removals": "networks.removals:removals",
        "around_stars": "networks.removals:around_stars",
        "presence": "population:presence",
    },
    "impact": {
        "productivity": "impact:productivity",
        "inequality": "impact:inequality",
        "impact": "impact:impact",
        "standing": "impact:author_citations",
        "cumulative_advantage": "impact:cumulative_advantage",
        "disruption": "impact:disruption",
    },
    "concurrency": {
        "weekly": "teams.concurrency:weekly",
        "waiting": "teams.concurrency:waiting",
        "rounds": "teams.concurrency:rounds",
        "delays": "teams.timelines:delays",
        "pieces": "teams.timelines:pieces",
        "memberships": "teams.timelines:memberships",
        "projects": "teams.timelines:projects",
        "held_attention": "teams.timelines:held_attention",
        "queueing": "teams.concurrency:queueing",
        "utilisation": "teams.concurrency:utilisation",
        "acceptance": "teams.concurrency:acceptance",
        "acceptance_slope": "teams.concurrency:acceptance_slope",
    },
    "cost": {
        "calls_by_act": "cost:calls_by_act",
        "calls_by_stage": "cost:calls_by_stage",
        "calls_by_team": "cost:calls_by_team",
        "calls_by_scientist": "cost:calls_by_scientist",
        "calls_by_model": "cost:calls_by_model",
        "calls_by_rung": "cost:calls_by_rung",
        "inference_cost": "cost:inference_cost",
    },
    "worth": {"discovery": "worth:discovery", "record": "worth:record"},
    "classics": {
        "consensus": "teams.classics:consensus",
        "epistemic_progress": "teams.classics:epistemic_progress",
    },
    "chance": {
        "tail": "networks.degree_tails:tail",
        "small_world": "networks.small_world:small_world",
    },
}
"""Family, as a scenario can ask for under ``metrics`` -> measure -> ``module:function`` below
``virsci_society.metrics``."""

UNASKED = ("worth", "classics", "chance")
"""Families that are measured only where a scenario names them."""
COMPARING = ("novelty", "leaks", "claims")
"""Families whose measures are made from the papers of the past."""


def measures_named(name: str) -> tuple[str, ...]:
    """The measures that a name under ``metrics`` stands for; none for an unknown name.

    Where a family and a measure share a name, the family is meant: it holds that measure.
    """
    if name in FAMILY_MEASURES:
        return tuple(FAMILY_MEASURES[name])
    return (name,) if any(name in one for one in FAMILY_MEASURES.values()) else ()


def explain_name(name: str) -> str:
    """What an unknown name may have meant: the nearest measures, or a rank of scientists."""
    known = [measure for family in FAMILY_MEASURES.values() for measure in family]
    near = [one for one in known if name and (name in one or one in name)]
    near += difflib.get_close_matches(name, known, n=3)
    said = " or ".join(map(repr, dict.fromkeys(near[:3])))
    lines = [f"did you mean {said}?"] if said else []
    if name == "degree":
        lines.append(
            "'degree' is a column of 'degrees', and a rank of scientists (--remove degree:10)"
        )
    return "; ".join(lines)


def compares_papers(names: Iterable[str]) -> bool:
    """Is any of these made from the papers of the past? A function from outside may be."""
    comparing = {name for family in COMPARING for name in FAMILY_MEASURES[family]}
    return any(not (named := measures_named(one)) or comparing & set(named) for one in names)
