"""A forecast, and the states of the runs of a study, as tables for a terminal."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

from virsci_society.scenarios.config.diagnostics import printable
from virsci_society.scenarios.study.budget_matching import UNITS, deviation
from virsci_society.scenarios.study.design import Design
from virsci_society.scenarios.study.forecast import ENDS, StudyForecast
from virsci_society.scenarios.study.status import STATES, Status
from virsci_society.scenarios.study.status import describe_status as said_of
from virsci_society.scenarios.terminal.console import print_table
from virsci_society.scenarios.terminal.plan_tables import NAMES, duration

DECIDED = ("failed", "quarantined")
MOST = 20
"""Arms, and runs that are not done, that are shown one by one."""


def print_forecast(found: StudyForecast) -> None:
    """Print what a study will take and which effects it can find."""
    file = found.design.file
    runs = f"{len(found.design.arms)} arms x {file.replicates} replicates"
    arms = [
        (arm.name, *(f"{getattr(one.figures['calls'], end):,.0f}" for end in ENDS))
        for arm, one in zip(found.design.arms, found.plans, strict=True)
    ]
    _print_matching(found.design)
    print_table("calls of one run", ("arm", *ENDS), arms[:MOST])
    if len(arms) > MOST:
        print(f"... and {len(arms) - MOST} more arms")
    print_table(
        f"{file.study}: {runs} = {found.design.runs} runs", ("figure", *ENDS), list(_figures(found))
    )
    for line in _said(found):
        print(printable(line))


def print_statuses(folder: Path, found: Sequence[Status]) -> None:
    """Print how many runs of each arm are in which state, and why some are not done."""
    shown = [state for state in STATES if any(one.state == state for one in found)]
    arms = dict.fromkeys(one.arm for one in found)
    counts = Counter((one.arm, one.state) for one in found)
    rows = [(arm, *(str(counts[arm, state]) for state in shown)) for arm in arms]
    print(printable(f"{folder}: {len(found)} runs"))
    print_table("runs by arm", ("arm", *shown), rows)
    _print_said(folder, found, sys.stdout)
    tokens, usd = sum(one.tokens for one in found), math.fsum(one.usd for one in found)
    if tokens or usd:
        print(f"spent: {tokens:,} tokens, {usd:.4f} US dollars")


def print_ends(folder: Path, found: Sequence[Status]) -> None:
    """Print, as an error, which runs are not done, why, and what the same command would do."""
    _print_said(folder, found, sys.stderr)
    counts = Counter(one.state for one in found if one.state != "done")
    counted = ", ".join(f"{count} {state}" for state, count in counts.items())
    open_ones = sum(count for state, count in counts.items() if state not in DECIDED)
    effects = [
        *(["goes on"] if open_ones else []),
        *(["tries those that failed again"] if counts["failed"] else []),
        *(["begins those in quarantine with --again"] if counts["quarantined"] else []),
    ]
    line = f"of {len(found)} runs, {counted}; the same command {' and '.join(effects)}"
    print(line, file=sys.stderr)


def _print_said(folder: Path, found: Sequence[Status], into: TextIO) -> None:
    said = [one for one in found if one.reason and one.state != "done"]
    for one in said[:MOST]:
        print(printable(said_of(folder, one)), file=into)
    if len(said) > MOST:
        print(f"... and {len(said) - MOST} more; 'society study status --json' has all", file=into)


def _print_matching(design: Design) -> None:
    """Print the value that was chosen for each arm, and what one run spends with it."""
    wanted, matching = design.file.match, design.matching
    if wanted is None or matching is None:
        return
    target = matching.target
    rows = [
        (
            one.arm,
            one.key or "as given",
            "" if one.value is None else str(one.value),
            f"{one.planned:,.6g}",
            f"{deviation(one.planned, target):+.1%}",
        )
        for one in matching.arms
    ]
    head = f"matched to {target:,.6g} {UNITS[wanted.by]} a run"
    print_table(head, ("arm", "key", "value", UNITS[wanted.by], "off"), rows[:MOST])
    if len(rows) > MOST:
        print(f"... and {len(rows) - MOST} more arms")
    far = [
        one.arm
        for one in matching.arms
        if one.key is None and abs(deviation(one.planned, target)) > wanted.within
    ]
    if far:
        print(printable(f"as given, and off by more than {wanted.within:.0%}: {', '.join(far)}"))


def _figures(found: StudyForecast) -> Iterator[tuple[str, ...]]:
    for name, label in NAMES.items():
        if name == "seconds":
            wall = found.wall_time()
            if wall["high"]:
                yield (f"{label}, sharing slots", *(duration(wall[end]) for end in ENDS))
        elif name != "usd" or found.priced:
            total = found.total(name)
            digits = 4 if name == "usd" and total["high"] < 100 else 0
            yield (label, *(f"{total[end]:,.{digits}f}" for end in ENDS))


def _said(found: StudyForecast) -> Iterator[str]:
    one = found.plans[0]
    yield "rehearsed by rule-based scientists, not by a language model; the first seed of each arm"
    yield f"who will speak: {one.scenario.backend.backend.about}"
    yield f"rates: {one.rates.source}"
    if not found.priced:
        yield "the price of a model is not known; 'society plan' tells how to give it"
    many = found.design.file.replicates
    if math.isnan(found.effect):
        yield f"{many} replicate: no effect can be told from chance"
        return
    yield (
        f"{many} replicates find a difference of {found.effect:.2f} standard deviations between "
        f"two independent arms (power 0.8, level 0.05); {found.corrected:.2f} where it is the "
        "first of all planned comparisons (Holm); pairs that share seeds find smaller ones"
    )
