"""The parameters of seat-by-seat team assembly: scenario keys with their ranges and scales.

A parameter bears the dotted key under which a scenario sets it, so that fitted values can be written
as a scenario. Everything that calibration knows of a key stands here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from metrics.estimation.trends import Link


@dataclass(frozen=True, slots=True)
class Parameter:
    """One key of the mechanism.

    Attributes:
        low: least value.
        high: largest value.
        default: the value where it is neither counted nor fitted.
        link: the scale on which it is estimated.
        counted: whether it can be counted from papers.
        meaning: in a few words, with its unit.
    """

    low: float
    high: float
    default: float
    link: Link
    counted: bool
    meaning: str

    def clip(self, value: float) -> float:
        """The value, moved into the range."""
        return min(max(value, self.low), self.high)


PAPERS = "founding.papers_per_year"
PAPERS_TREND = "founding.trend"
LEAD_EXPONENT = "founding.leaders.exponent"
LEAD_MEMORY = "founding.leaders.memory"
PRODUCTIVITY = "founding.productivity"
SIZE = "protocol.team_size.mean"
SIZE_DISPERSION = "protocol.team_size.dispersion"
SIZE_TREND = "protocol.team_size.trend"
AGAIN = "protocol.again.share"
STAY = "protocol.again.stay"
LEAD = "protocol.newcomers.lead"
SEAT = "protocol.newcomers.seat"
SPREAD = "protocol.newcomers.spread"
NEW_TREND = "protocol.newcomers.trend"
ONE_OFF = "protocol.newcomers.one_off"
Q = "protocol.selection.q"
FRIENDS = "protocol.selection.friends"
JOINT = "protocol.selection.joint"
RECENCY = "protocol.selection.recency"
OWN_PAPERS = "protocol.selection.papers"
EXPONENT = "protocol.selection.exponent"
MEMORY = "protocol.selection.memory"

PARAMETERS: Mapping[str, Parameter] = {
    PAPERS: Parameter(0.01, 1e7, 100.0, "log", True, "papers a year, on the first day"),
    PAPERS_TREND: Parameter(-1.0, 1.0, 0.0, "identity", True, "change of its logarithm a year"),
    LEAD_EXPONENT: Parameter(0.0, 5.0, 1.0, "identity", True, "leaders: power of fading papers"),
    LEAD_MEMORY: Parameter(31.0, 36500.0, 1095.0, "log", True, "leaders: memory in days"),
    PRODUCTIVITY: Parameter(
        0.05, 1000.0, 2.0, "log", False, "shape of the gamma rate of a person, as leader"
    ),
    SIZE: Parameter(1.0, 200.0, 4.0, "log", True, "authors of a paper, on the first day"),
    SIZE_DISPERSION: Parameter(0.05, 1e4, 5.0, "log", True, "shape of their negative binomial law"),
    SIZE_TREND: Parameter(-1.0, 1.0, 0.0, "identity", True, "change of log(authors) a year"),
    AGAIN: Parameter(0.0, 1.0, 0.3, "logit", True, "chance that a team writes again"),
    STAY: Parameter(0.0, 1.0, 0.6, "logit", True, "chance that a member of it stays"),
    LEAD: Parameter(0.0, 1.0, 0.2, "logit", True, "chance that a leader is new"),
    SEAT: Parameter(0.0, 1.0, 0.4, "logit", True, "mean chance that another seat is a newcomer's"),
    SPREAD: Parameter(0.01, 1e4, 4.0, "log", True, "concentration of that chance over teams"),
    NEW_TREND: Parameter(-2.0, 2.0, 0.0, "identity", True, "change of its log odds a year"),
    ONE_OFF: Parameter(0.0, 1.0, 0.3, "logit", True, "share of newcomers who never write again"),
    Q: Parameter(0.0, 1.0, 0.6, "logit", True, "chance that a former partner is asked"),
    FRIENDS: Parameter(0.0, 1.0, 0.1, "logit", True, "else, of a partner's partner"),
    JOINT: Parameter(-10.0, 10.0, 1.5, "identity", True, "partners: weight of log joint papers"),
    RECENCY: Parameter(-10.0, 10.0, 1.3, "identity", True, "partners: weight of exp(-years/3)"),
    OWN_PAPERS: Parameter(-10.0, 10.0, 0.0, "identity", True, "partners: weight of log papers"),
    EXPONENT: Parameter(0.0, 5.0, 1.0, "identity", True, "strangers: power of fading papers"),
    MEMORY: Parameter(31.0, 36500.0, 1095.0, "log", True, "strangers: memory in days"),
}
"""Every parameter by its key."""
TRENDS: Mapping[str, str] = {
    PAPERS: PAPERS_TREND,
    SIZE: SIZE_TREND,
    SEAT: NEW_TREND,
    LEAD: NEW_TREND,
}
"""Keys whose level changes over time, and the key of the change."""
