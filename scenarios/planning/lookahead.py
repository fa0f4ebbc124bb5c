"""The bound on the speed of a society whose clock waits for replies.

An effect that others can see is due only when its window has passed, and the clock need not wait
for the reply before. The shorter the windows, the more of a run is waiting.
"""

from __future__ import annotations

from dataclasses import dataclass

from virsci_society.agents.offline.backend import Offline
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.planning.dry_run import DryRun, DryRunResult
from virsci_society.scenarios.planning.model_rates import ModelRates
from virsci_society.scenarios.runs.page_lengths import untrimmed
from virsci_society.society.kernel.durations import write_days

WINDOWS = ("meeting_notice", "reply_window", "publication_delay")
MEAN_CALLS = 5
"""A window that is shorter than so many calls makes the clock wait for words."""
LOOKED_AT = 2_000
"""Calls that are rehearsed for a warning."""


@dataclass(frozen=True)
class LookaheadBound:
    """A lower bound of the wall time of a society that always waits for some reply.

    Attributes:
        seconds: span / days * slowest.
        span: simulated days from the first call to the last.
        window: key of the shortest window.
        days: its length in simulated days.
        slowest: seconds of the slowest call.
    """

    seconds: float
    span: float
    window: str
    days: float
    slowest: float


def windows_of(scenario: Scenario) -> dict[str, float]:
    """The windows of a scenario in days, by their keys."""
    of_time = {f"time.{name}": float(getattr(scenario.time, name)) for name in WINDOWS}
    return {**of_time, **scenario.publication.windows}


def lookahead_bound(scenario: Scenario, span: float, slowest: float) -> LookaheadBound | None:
    """The lower bound of the wall time; None where no window is longer than zero.

    Args:
        scenario: has the windows.
        span: simulated days from the first call to the last.
        slowest: seconds of the slowest call.
    """
    above = [(days, key) for key, days in windows_of(scenario).items() if days > 0]
    if not above:
        return None
    days, key = min(above)
    return LookaheadBound(span / days * slowest, span, key, days, slowest)


def rehearse_beginning(scenario: Scenario) -> DryRunResult | None:
    """A rehearsal of the first calls, with no page trimmed; None if no model is asked anything."""
    if isinstance(scenario.backend.backend.paid, Offline):
        return None
    return DryRun(untrimmed(scenario)).run(ModelRates("").mimic_settings(), most=LOOKED_AT)


def slow_windows(scenario: Scenario, result: DryRunResult | None = None) -> list[str]:
    """Warnings: windows shorter than five mean calls at the society's pace.

    The pace is that of a run in which all calls take the mean time: as fast as its chains of calls
    and its calls in flight allow. So the length of a call plays no part. A rehearsal of the first
    calls shows the pace; where teams do not overlap, there is no warning.

    Args:
        scenario: checked.
        result: of ``rehearse_beginning``, if it has been rehearsed already.
    """
    result = result or rehearse_beginning(scenario)
    if result is None:
        return []
    slots = slots_of(scenario)
    lasting = max(result.chain, result.calls / slots)
    if result.teams < 2 or not result.span:
        return []
    warnings = []
    for key, days in windows_of(scenario).items():
        calls = days / result.span * lasting
        if calls < MEAN_CALLS:
            warnings.append(
                f"{key}: {write_days(days)} pass in the time of "
                f"{calls:.1f} calls, so the clock will wait for words; make it longer, or do with "
                f"about {max(1, round(result.calls / result.chain))} calls in flight"
            )
    return warnings


def slots_of(scenario: Scenario) -> int:
    """Most calls at a time: the scenario's own limit, and no more than its endpoints take."""
    most = scenario.backend.in_flight
    bounds = [way.in_flight for way in getattr(scenario.backend.backend.paid, "via", ())]
    return most if not bounds or None in bounds else min(most, sum(bounds))
