"""Pace: how fast a society can go while words are waited for.

An effect that others can see is due only when its window has passed, and the clock need not wait
for the words before. The shorter the windows, the more of a run is waiting.
"""

from __future__ import annotations

from dataclasses import dataclass

from agents.offline.scientist import Offline
from scenarios.rates import Rates
from scenarios.schema import Scenario
from scenarios.stage import Stage
from society.durations import write_days

WINDOWS = ("meeting_notice", "reply_window", "publication_delay")
MEAN_CALLS = 5
"""A window that is shorter than so many calls makes the clock wait for words."""
LOOKED_AT = 2_000
"""Calls that are rehearsed for a warning."""


@dataclass(frozen=True)
class Law:
    """No society that always waits for somebody's words is faster than this.

    Attributes:
        seconds: span / window * slowest call.
        span: simulated days from the first asking to the last.
        window: name of the shortest window, its simulated days, and the slowest call in seconds.
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


def law_of(scenario: Scenario, span: float, slowest: float) -> Law | None:
    """The law of a society whose askings span so many days; None where no window is above zero."""
    above = [(days, key) for key, days in windows_of(scenario).items() if days > 0]
    if not above:
        return None
    days, key = min(above)
    return Law(span / days * slowest, span, key, days, slowest)


def slow_windows(scenario: Scenario) -> list[str]:
    """Warnings: windows shorter than five mean calls at the society's pace (rule 28).

    The pace is that of a run in which calls all take the mean time: as fast as its chains of
    calls and its calls in flight allow. So what a call takes plays no part. A rehearsal of the
    first calls shows it; where teams do not overlap, there is nothing to be warned of.
    """
    if isinstance(scenario.backend.backend.paid, Offline):
        return []
    played = Stage(scenario).play(Rates("").manner(), most=LOOKED_AT)
    slots = slots_of(scenario)
    lasting = max(played.chain, played.calls / slots)
    if played.teams < 2 or not played.span:
        return []
    found = []
    for key, days in windows_of(scenario).items():
        calls = days / played.span * lasting
        if calls < MEAN_CALLS:
            found.append(
                f"{key}: {write_days(days)} pass in the time of "
                f"{calls:.1f} calls, so the clock will wait for words; make it longer, or do with "
                f"about {max(1, round(played.calls / played.chain))} calls in flight"
            )
    return found


def slots_of(scenario: Scenario) -> int:
    """Most calls at a time: as the scenario says, and no more than its endpoints take."""
    most = scenario.backend.in_flight
    bounds = [way.in_flight for way in getattr(scenario.backend.backend.paid, "via", ())]
    return most if not bounds or None in bounds else min(most, sum(bounds))
