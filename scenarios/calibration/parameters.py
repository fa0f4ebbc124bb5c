"""The parameters of seat-by-seat team assembly: scenario keys with their ranges and scales."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from virsci_society.agents.config import Part
from virsci_society.scenarios.config.document import Document, FittedOn
from virsci_society.scenarios.config.ecosystem_folder import Folder
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.config.yaml_io import display_path
from virsci_society.society.formation.founding import Yearly, counted_years

Link = Literal["log", "logit", "identity"]
"""The scale on which a number is estimated."""


def to_link(link: Link, value: float) -> float:
    """A number on the scale of its link; shares are kept away from 0 and 1."""
    if link == "identity":
        return value
    if link == "log":
        return math.log(max(value, 1e-12))
    share = min(max(value, 1e-6), 1 - 1e-6)
    return math.log(share / (1 - share))


def unlink(link: Link, level: float) -> float:
    """The number of a level on the scale of a link."""
    if link == "identity":
        return level
    if link == "log":
        return math.exp(level)
    return 1 / (1 + math.exp(-level)) if level > -700 else 0.0


@dataclass(frozen=True, slots=True)
class Parameter:
    """One key of the mechanism."""

    low: float
    high: float
    link: Link
    counted: bool
    meaning: str
    floor: float = 0.0

    def level(self, value: float) -> float:
        """A value on the scale on which it is estimated."""
        return to_link(self.link, value - self.floor)

    def value(self, level: float) -> float:
        """The value of a level, moved into the range."""
        return self.clip(self.floor + unlink(self.link, level))

    def clip(self, value: float) -> float:
        """The value, moved into the range."""
        return min(max(value, self.low), self.high)


PAPERS = "founding.teams_per_year"
PAPERS_TREND = "founding.growth"
LEAD_EXPONENT = "founding.leaders.exponent"
LEAD_MEMORY = "founding.leaders.memory"
COAUTHORED = "founding.leaders.coauthored"
LEAD_LIMIT = "founding.leaders.limit"
PRODUCTIVITY = "founding.leaders.shape"
SIZE = "protocol.team_size.mean"
SIZE_DISPERSION = "protocol.team_size.dispersion"
SIZE_TREND = "protocol.team_size.growth"
LEAD = "protocol.newcomers.lead"
SEAT = "protocol.newcomers.seat"
SPREAD = "protocol.newcomers.spread"
NEW_TREND = "protocol.newcomers.trend"
LEAD_TREND = "protocol.newcomers.lead_trend"
TRANSIENT_SHARE = "protocol.newcomers.transient_share"
REPEAT_TEAMS = "protocol.repeat_teams.share"
STAY = "protocol.repeat_teams.stay"
Q = "protocol.selection.q"
FRIENDS = "protocol.selection.friends"
JOINT = "protocol.selection.joint"
RECENCY = "protocol.selection.recency"
OWN_PAPERS = "protocol.selection.papers"
EXPONENT = "protocol.selection.exponent"
MEMORY = "protocol.selection.memory"

PARAMETERS: Mapping[str, Parameter] = {
    PAPERS: Parameter(0.01, 1e7, "log", True, "papers a year, on day 0"),
    PAPERS_TREND: Parameter(-1.0, 1.0, "identity", True, "change of its logarithm a year"),
    LEAD_EXPONENT: Parameter(0.0, 5.0, "identity", True, "leaders: power of fading papers"),
    LEAD_MEMORY: Parameter(31.0, 36500.0, "log", True, "leaders: memory of papers, days"),
    COAUTHORED: Parameter(0.0, 1.0, "identity", True, "leaders: weight of papers not led"),
    LEAD_LIMIT: Parameter(0.1, 1e4, "log", True, "leaders: most that fading papers count as"),
    PRODUCTIVITY: Parameter(0.02, 1000.0, "log", False, "leaders: shape of their gamma rates"),
    SIZE: Parameter(1.0, 200.0, "log", True, "mean authors of a paper, on day 0", floor=1.0),
    SIZE_DISPERSION: Parameter(0.05, 1e4, "log", True, "shape of their negative binomial law"),
    SIZE_TREND: Parameter(-1.0, 1.0, "identity", True, "change of log(mean - 1) a year"),
    LEAD: Parameter(0.0, 1.0, "logit", True, "chance that a leader is new"),
    SEAT: Parameter(0.0, 1.0, "logit", True, "mean chance that another seat is a newcomer's"),
    SPREAD: Parameter(0.01, 1e4, "log", True, "concentration of that chance over teams"),
    NEW_TREND: Parameter(-2.0, 2.0, "identity", True, "change of its log odds a year"),
    LEAD_TREND: Parameter(-2.0, 2.0, "identity", True, "change of the log odds of a new leader"),
    TRANSIENT_SHARE: Parameter(0.0, 1.0, "logit", True, "share of newcomers who never write again"),
    REPEAT_TEAMS: Parameter(0.0, 1.0, "logit", True, "chance that a team writes again"),
    STAY: Parameter(0.0, 1.0, "logit", True, "chance that a member of it stays"),
    Q: Parameter(0.0, 1.0, "logit", True, "chance that a former partner is asked"),
    FRIENDS: Parameter(0.0, 1.0, "logit", True, "else, that a partner's partner is"),
    JOINT: Parameter(-10.0, 10.0, "identity", True, "partners: weight of log joint papers"),
    RECENCY: Parameter(-10.0, 10.0, "identity", True, "partners: weight of exp(-years/3)"),
    OWN_PAPERS: Parameter(-10.0, 10.0, "identity", True, "partners: weight of log papers"),
    EXPONENT: Parameter(0.0, 5.0, "identity", True, "strangers: power of fading papers"),
    MEMORY: Parameter(31.0, 36500.0, "log", True, "strangers: memory of papers, days"),
}
"""Every parameter by its key."""


def counted_teams(scenario: Scenario) -> str | None:
    """Return the number of teams a year that would be counted on an ecosystem."""
    rule = scenario.founding
    if not isinstance(rule, Yearly) or rule.teams_per_year != "counted":
        return None
    # Here, since a check of a scenario that counts nothing imports no simulator.
    from virsci_society.scenarios.runs.build import build_ecosystem_of

    ecosystem = build_ecosystem_of(scenario)
    counted = rule.counted_on(lambda: ecosystem.authorships)
    first = ecosystem.boundary - counted_years(ecosystem.authorships)
    return (
        f"teams founded a year: {counted.teams_per_year:g}, counted from "
        f"{first}-{ecosystem.boundary - 1} of the ecosystem"
    )


def borrowed_values(document: Document, scenario: Scenario) -> str | None:
    """Warn of values that were fitted on another community than the ecosystem; None without any."""
    source = scenario.population.ecosystem
    if not isinstance(source, Folder):
        return None
    fields: dict[str, list[str]] = {}
    warnings = []
    for key, value, fitted_on in _fitted_values(document):
        if fitted_on.describes(source.source_facts):
            continue
        if key == PAPERS:
            warnings.append(f"{key}={value} is not counted on it; --set {key}=counted is")
            continue
        field = f"{fitted_on.community} (boundary {fitted_on.boundary})"
        fields.setdefault(field, []).append(f"{key}={value}")
    path = display_path(source.path)
    if fields:
        listed = "; ".join(f"{field}: {', '.join(values)}" for field, values in fields.items())
        warnings.append(
            f"these values were fitted on another community, {listed}; 'society calibrate {path}' "
            "fits them to it"
        )
    return f"{path}: {'; and '.join(warnings)}" if warnings else None


def _fitted_values(document: Document) -> Iterator[tuple[str, object, FittedOn]]:
    """The keys that a calibration fits, as a file with ``fitted_on`` gives them."""
    for key in PARAMETERS:
        path = tuple(key.split("."))
        origin = document.origins.get(path)
        if origin is None or origin.fitted_on is None:
            continue
        value: object = document.data
        for step in path:
            value = value[step] if isinstance(value, dict) else None
        if value != "counted":
            yield key, value, origin.fitted_on


def values_of(base: Scenario) -> dict[str, float | None]:
    """Values of a scenario for those parameters that it has; None: null or ``counted`` in it."""
    found: dict[str, float | None] = {}
    for key in PARAMETERS:
        node: Any = base
        for step in key.split("."):
            if not isinstance(node, Part) or step not in type(node).model_fields:
                break
            node = getattr(node, step)
        else:
            if isinstance(node, int | float):
                found[key] = float(node)
            elif node in (None, "counted"):
                found[key] = None
    return found
