"""The tables of measures (numbers of a run), metrics (tables computed from it) and facts.

Names only: a scenario and a study are checked against them before pandas is loaded.
"""

from __future__ import annotations

import csv
import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

INFINITE = float("inf")

FAMILY_METRICS: Mapping[str, Mapping[str, str]] = {
    "novelty": {
        "novelty": "novelty.novelty:run_novelty",
        "novelty_by_embedding": "novelty.novelty:novelty_by_embedding",
        "novelty_agreement": "novelty.novelty:novelty_agreement",
    },
    "leaks": {"leaks": "novelty.training_leaks:run_leaks"},
    "teams": {
        "teams": "teams.teams:teams",
        "outcomes_without_defaults": "teams.teams:outcomes_without_defaults",
        "by_protocol": "teams.teams:by_protocol",
        "assembly": "networks.team_patterns:assembly",
        "review_outcomes": "teams.peer_review:review_outcomes",
        "panels": "teams.peer_review:panels",
        "panel_agreement": "teams.peer_review:panel_agreement",
        "drift": "population:drift",
    },
    "structure": {
        "structure": "networks.structure:structure",
        "coauthorship": "validation.dated_papers:coauthorship",
        "active_structure": "networks.structure:active_structure",
        "degrees": "networks.degree_tails:degrees",
        "communities": "networks.communities:communities",
        "core_periphery": "networks.communities:core_periphery",
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
        "pieces": "teams.concurrency:pieces",
        "acceptance": "teams.concurrency:acceptance",
        "acceptance_slope": "teams.concurrency:acceptance_slope",
    },
    "cost": {
        "calls_by_act": "cost:calls_by_act",
        "calls_by_stage": "cost:calls_by_stage",
        "calls_by_team": "cost:calls_by_team",
        "calls_by_model": "cost:calls_by_model",
        "calls_by_rung": "cost:calls_by_rung",
        "reply_texts": "cost:reply_texts",
        "inference_cost": "cost:inference_cost",
    },
    "worth": {"discovery": "worth:discovery", "record": "worth:record"},
    "classics": {"consensus": "worth:consensus", "epistemic_progress": "worth:epistemic_progress"},
    "chance": {
        "tail": "networks.degree_tails:tail",
        "small_world": "networks.structure:small_world",
    },
}
"""Family, as a scenario can ask for under ``metrics`` -> metric -> ``module:function`` below
``virsci_society.metrics``."""

FACT_CLASSES: Mapping[str, str] = {
    "structure": (
        "Densification ShrinkingDiameter GiantComponentAuthors Transitivity Assortativity "
        "Attachment MutualPartner MoreMutualPartners TiesAgain TieDecay RichClub"
    ),
    "careers": (
        "Lotka OnePaperAuthors TopPercent StableOutput AuthorGrowth LaterLeads SeniorsLast "
        "StrongestPartner SuperTies"
    ),
    "citations": (
        "BestPaperAnywhere HotStreak CitationSpread TeamAdvantage SuperTiePremium Reputation "
        "SmallTeamsDisrupt RemoteTeams AtypicalHits TeamsCombine NewPairsPay"
    ),
    "teams": "TeamGrowth SoloPapers ExtendedTeams PanelsDisagree PanelsChange",
}
"""Classes of known facts by module; a fact has the name of its class in snake case."""
_FACTS = "virsci_society.metrics.facts"
FACTS: Mapping[str, str] = {
    re.sub("(?<!^)(?=[A-Z])", "_", name).lower(): f"{_FACTS}.{module}:{name}"
    for module, names in FACT_CLASSES.items()
    for name in names.split()
} | {"repeated_teams": f"{_FACTS}.teams:TeamsAgain"}
"""Known facts of science by name -> ``module:Class``."""

UNASKED = ("worth", "classics", "chance")
"""Families that are computed only where a scenario names them."""
COMPARING = ("novelty", "leaks")
"""Families whose metrics are made from the papers of the past."""


def metrics_named(name: str) -> tuple[str, ...]:
    """The metrics that a name under ``metrics`` stands for; none for an unknown name."""
    if name in FAMILY_METRICS:
        return tuple(FAMILY_METRICS[name])
    return (name,) if any(name in family for family in FAMILY_METRICS.values()) else ()


def explain_name(name: str) -> str:
    """What an unknown name may have meant: the nearest metrics, or a rank of scientists."""
    known = [metric for family in FAMILY_METRICS.values() for metric in family]
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
    comparing = {name for family in COMPARING for name in FAMILY_METRICS[family]}
    return any(not (named := metrics_named(one)) or comparing & set(named) for one in names)


@dataclass(frozen=True)
class Measure:
    """One number of a run, or of the papers of a real community."""

    family: str
    label: str
    unit: str
    low: float
    high: float
    definition: str
    source: str
    how: str
    """As ``registry._computed_by`` reads it; empty: of a comparison with real papers."""

    @property
    def meaning(self) -> str:
        """Definition and source in one line; the label where it says all."""
        told = self.definition or self.label
        return f"{told} ({self.source})" if self.source else told


STAGES = ("topic", "ideas", "novelty", "abstract")
"""Stages whose utterances and ballots VirSci counts as inference cost."""
_RANGES: Mapping[str, tuple[float, float]] = {
    "share": (0.0, 1.0),
    "index": (0.0, 1.0),
    "correlation": (-1.0, 1.0),
    "slope": (-INFINITE, INFINITE),
}
"""Ranges of measures by what ``measures.csv`` says of their unit; others begin at zero."""
_PURE = ("index", "correlation", "slope", "number")
"""Pure numbers, which have no unit."""


def _read_measures() -> Iterator[tuple[str, Measure]]:
    with (Path(__file__).parent / "measures.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            name, unit = row.pop("name"), row.pop("unit")
            low, high = _RANGES.get(unit, (0.0, INFINITE))
            yield name, Measure(unit="" if unit in _PURE else unit, low=low, high=high, **row)


MEASURES: Mapping[str, Measure] = dict(_read_measures())
"""Every measure by name, from ``measures.csv``."""
RUN_MEASURES = tuple(name for name, one in MEASURES.items() if one.how)
"""The measures that a run alone gives; the others belong to a comparison with real papers."""


def measure_extent(name: str) -> tuple[float, float]:
    """The least and the largest value that a measure can have; infinite where that is not known."""
    if name in MEASURES:
        return MEASURES[name].low, MEASURES[name].high
    statistic = name.rpartition(".")[2]
    return {"count": (0.0, INFINITE), "share": (0.0, 1.0), "gini": (0.0, 1.0)}.get(
        statistic, (-INFINITE, INFINITE)
    )


def measure_label(name: str) -> str:
    """The name of a measure in a sentence; of ``a.b.mean`` it is ``mean b (a)``."""
    if name in MEASURES:
        return MEASURES[name].label
    table, *parts = name.split(".")
    if len(parts) != 2 or table == "review":
        return name
    return f"{parts[1]} {parts[0]} ({table})".replace("_", " ")
