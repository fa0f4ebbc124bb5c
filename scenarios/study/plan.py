"""What each arm of a study will take and which effects it could find, also as terminal tables."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from virsci_society.scenarios.planning.plan import SUMS, Plan, figure_text, plan
from virsci_society.scenarios.planning.speed import duration
from virsci_society.scenarios.runs.progress import Progress
from virsci_society.scenarios.study.budget_matching import UNITS, deviation, matching_data
from virsci_society.scenarios.study.design import Design
from virsci_society.scenarios.study.engine import Engine
from virsci_society.scenarios.terminal.arguments import tell
from virsci_society.scenarios.terminal.console import print_table

ARMS_SHOWN = 40


@dataclass(frozen=True)
class StudyForecast:
    """What a study will take.

    Attributes:
        rehearsed: seconds that the rehearsal of one run of each arm took here.
    """

    design: Design
    plans: tuple[Plan, ...]
    rehearsed: tuple[float, ...] = ()

    def total(self, name: str) -> float:
        """A figure of ``SUMS`` for all runs together."""
        return self.design.file.replicates * math.fsum(getattr(one, name) for one in self.plans)

    def wall_time(self) -> float:
        """Seconds if all runs share their slots: the longest run, or all work over the slots."""
        work = self.total("work") / self.design.base.backend.at_once
        return max(*(one.seconds for one in self.plans), work)

    @property
    def priced(self) -> bool:
        """Is the price of every model known?"""
        return all(one.priced for one in self.plans)

    def to_data(self) -> dict[str, Any]:
        """Plain data for one JSON object; the effects are those found with a power of 0.8."""
        from virsci_society.metrics.inference import comparisons

        file, matching = self.design.file, matching_data(self.design)
        find = comparisons.detectable_paired if file.paired else comparisons.detectable_effect
        tests = max(1, comparisons_in(self.design))
        effects = [find(file.replicates, alpha=0.05 / count) for count in (1, tests)]
        known = [None if math.isnan(effect) else effect for effect in effects]
        return {
            "study": file.study,
            "arms": [
                {"name": arm.name, "set": dict(arm.settings), "one_run": one.to_data()}
                for arm, one in zip(self.design.arms, self.plans, strict=True)
            ],
            "replicates": file.replicates,
            "runs": self.design.runs,
            **{name: self.total(name) for name in SUMS if name != "usd" or self.priced},
            "wall_seconds_sharing_slots": self.wall_time(),
            **({} if matching is None else {"match": matching}),
            "comparisons": len(self.design.comparisons),
            "detectable_effect": known[0],
            "detectable_effect_after_holm": known[1],
        }


def study_forecast(design: Design, progress: Progress) -> StudyForecast:
    """Rehearse one run of every arm, with the first replicate's seed, and add up."""
    plans, rehearsed = [], []
    for arm, scenario in zip(design.arms, design.scenarios, strict=True):
        progress.begin(f"rehearsing {arm.name}")
        seeded = scenario.model_copy(update={"seed": design.seeds(arm.name)[0]})
        began = time.monotonic()
        plans.append(plan(seeded, step=partial(progress.step, of=arm.name)))
        rehearsed.append(time.monotonic() - began)
    return StudyForecast(design, tuple(plans), tuple(rehearsed))


def comparisons_in(design: Design) -> int:
    """Number of p values of the planned comparisons, with one panel of each kind of review."""
    count = 0
    for one in design.comparisons:
        arms = len(one.arms) if one.arms is not None else len(design.arms)
        # A correlation is tested twice, by Pearson's r and by Spearman's rho.
        count += {"paired": max(1, arms - 1), "correlation": 2}.get(one.test, 1)
    return count


def print_forecast(found: StudyForecast) -> None:
    """Print what a study will take and which effects it can find."""
    from virsci_society.metrics.inference.comparisons import power_sentences

    design, file, first = found.design, found.design.file, found.plans[0]
    title = f"{file.study}: {len(design.arms)} arms x {file.replicates} replicates = {design.runs}"
    wall, figures = found.wall_time(), list(_figures(found))
    _print_matching(design)
    if figures:
        arms = zip(design.arms, found.plans, strict=True)
        rows = [(arm.name, f"{one.calls:,}") for arm, one in arms]
        _print_arms("calls of one run", ("arm", "calls"), rows)
        print_table(f"{title} runs", ("figure", "estimate"), figures)
    else:
        tell(f"{title} runs")
    if not wall:
        at_once = math.prod(Engine().sizes(design, design.runs))
        seconds = file.replicates * math.fsum(found.rehearsed) / at_once
        tell(
            f"wall time: at least {duration(max(seconds, *found.rehearsed))} on this machine, "
            f"{at_once} at a time (--jobs)"
        )
    tell("rehearsed by rule-based scientists, not by a language model; the first seed of each arm")
    tell(f"answers: {first.scenario.backend.backend.about}")
    if not first.by_rules:
        tell(first.assumptions)
    if not found.priced:
        tell("the price of a model is not known; 'society plan' tells how to give it")
    tell(*power_sentences(file.replicates, file.paired, comparisons_in(design)))


def _figures(found: StudyForecast) -> Iterator[tuple[str, ...]]:
    for name, label in SUMS.items():
        if (name != "usd" or found.priced) and (total := found.total(name)):
            yield label, figure_text(name, total)
    if wall := found.wall_time():
        yield "wall time, sharing slots", duration(wall)


def _print_arms(title: str, columns: Sequence[str], rows: Sequence[tuple[str, ...]]) -> None:
    print_table(title, columns, rows[:ARMS_SHOWN])
    if len(rows) > ARMS_SHOWN:
        tell(f"... and {len(rows) - ARMS_SHOWN} more arms")


def _print_matching(design: Design) -> None:
    """Print the value that was chosen for each arm, and what one run spends with it."""
    wanted, matching = design.file.match, design.matching
    if wanted is None or matching is None:
        return
    rows, far = [], []
    for one in matching:
        off = deviation(one.planned, one.target)
        value = "" if one.value is None else str(one.value)
        told = "" if math.isnan(off) else f"{off:+.1%}"
        rows.append((one.arm, one.key or "as given", value, f"{one.planned:,.6g}", told))
        if one.key is None and abs(off) > wanted.within:
            far.append(one.arm)
    targets = dict.fromkeys(f"{one.target:,.6g}" for one in matching if one.target is not None)
    head = f"matched to {' and '.join(targets)} {UNITS[wanted.by]} a run"
    _print_arms(head, ("arm", "key", "value", UNITS[wanted.by], "off"), rows)
    if far:
        tell(f"as given, and off by more than {wanted.within:.0%}: {', '.join(far)}")
