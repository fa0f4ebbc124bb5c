"""Forecasts of a study's spending by rehearsals, and values that match budgets across arms.

The values are known, and locked, before the first call is paid for.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.planning.plan import Plan, plan
from virsci_society.scenarios.runs.build import build_ecosystem_of, require_team
from virsci_society.scenarios.runs.progress import Progress
from virsci_society.scenarios.study.design import Arm, Design, MatchedArm, scenario_of
from virsci_society.scenarios.study.study_file import Match
from virsci_society.society.ecosystem.ecosystem import Ecosystem

SPENT = {"calls": "calls", "tokens": "tokens", "money": "usd"}
"""The figure of a forecast, and the measure of a run, by what arms are matched by."""
UNITS = {"calls": "calls", "tokens": "tokens", "money": "US dollars"}
TEXTS = ("CI", "HD", "CD", "ON", "review")
"""Outcomes measured on the text of a paper; all review scores are one."""
SEEDS = 5
"""Seeds with which an adapted key must have changed no text before its arm is refused."""


def match_budgets(
    design: Design,
    locked: Mapping[str, Any] | None = None,
    *,
    progress: Progress | None = None,
    trust: bool = False,
) -> Design:
    """Choose the value of every adapted key; a design without ``match`` stays as it is."""
    wanted = design.file.match
    if wanted is None or design.matching is not None:
        return design
    if locked is not None:
        matching = tuple(MatchedArm(**one) for one in locked["arms"])
    else:
        matching = _Matcher(design, wanted, progress or Progress(), trust).matching()
    chosen: dict[str, dict[str, Any]] = {
        one.arm: {one.key: one.value} for one in matching if one.key is not None
    }
    arms = [
        replace(arm, settings={**arm.settings, **chosen.get(arm.name, {})}) for arm in design.arms
    ]
    scenarios = [
        scenario_of(scenario, chosen[arm.name], trust=trust) if arm.name in chosen else scenario
        for arm, scenario in zip(design.arms, design.scenarios, strict=True)
    ]
    return replace(design, arms=tuple(arms), scenarios=tuple(scenarios), matching=matching)


def matching_data(design: Design) -> dict[str, Any] | None:
    """The matching as a lock stores it: the request, and the chosen value of each arm."""
    wanted, matching = design.file.match, design.matching
    if wanted is None:
        return None
    if matching is None:
        raise ValueError("match_budgets chooses the values of a matched study before it is locked")
    return {"asked": wanted.model_dump(mode="json"), "arms": [vars(one) for one in matching]}


def nearest_value(spending: Callable[[int], float], low: int, high: int, target: float) -> int:
    """The whole number with which the spending comes nearest to a target, found by bisection."""
    known = {end: spending(end) for end in (low, high)}
    below, above = sorted((low, high), key=known.__getitem__)
    while known[below] < target < known[above] and abs(above - below) > 1:
        middle = (below + above) // 2
        known[middle] = spending(middle)
        if known[middle] <= target:
            below = middle
        else:
            above = middle
    # Sorted, so that the smaller value wins a tie.
    return min(sorted(known), key=lambda value: abs(known[value] - target))


class _Matcher:
    """The rehearsals of one study."""

    def __init__(self, design: Design, wanted: Match, progress: Progress, trust: bool) -> None:
        self.design, self.wanted, self.progress, self.trust = design, wanted, progress, trust
        self._ecosystems: dict[str, Ecosystem] = {}
        self._spent: dict[tuple[str, int | None], float] = {}
        self._moved: set[str] = set()

    def matching(self) -> tuple[MatchedArm, ...]:
        """The chosen value of each arm; an error if an arm cannot reach its target."""
        rows, faults = [], []
        wanted, unit = self.wanted, UNITS[self.wanted.by]
        for arm in self.design.arms:
            keys, target = wanted.adapt.get(arm.listed), self._target(arm)
            if keys is None or target is None:
                rows.append(MatchedArm(arm.name, None, None, target, self._spends(arm)))
                continue
            self.progress.begin(f"matching {arm.name}")
            ((key, (low, high)),) = keys.items()
            value = nearest_value(partial(self._spends, arm, key), low, high, target)
            self._require_moved(arm, key, (low, high))
            spent = self._spends(arm, key, value)
            rows.append(MatchedArm(arm.name, key, value, target, spent))
            off = deviation(spent, target)
            if abs(off) > wanted.within:
                end = {low: f"widen the range below {low}", high: f"widen the range above {high}"}
                faults.append(
                    f"{self.design.places[arm.listed]}: {key} = {value} comes nearest, with "
                    f"{spent:,.6g} {unit} a run where {target:,.6g} are wanted ({off:+.0%}; "
                    f"match.within allows {wanted.within:.0%}): "
                    f"{end.get(value, 'adapt another key')}, or raise match.within"
                )
        if faults:
            raise InputError("\n".join(faults))
        return tuple(rows)

    def _target(self, matched: Arm) -> float | None:
        to = self.wanted.to
        if not isinstance(to, str):
            return to if isinstance(to, float) else matched.budget
        target = self._spends(next(arm for arm in self.design.arms if arm.name == to))
        if target <= 0:
            raise InputError(
                f"{self.design.path}: match.to: one run of {to} spends no {UNITS[self.wanted.by]}"
                "; match by calls or tokens, or to a number"
            )
        return target

    def _spends(self, arm: Arm, key: str = "", value: int | None = None) -> float:
        """Forecast spending of one run, unchanged or with a value of the adapted key."""
        # Budgets of one arm share what its values spend.
        place = (repr((arm.listed, arm.settings)), value)
        if place not in self._spent:
            if value is None:
                self.progress.begin(f"rehearsing {arm.name}")
            rehearsed = self._rehearsed(arm, key, value)
            self._spent[place] = float(getattr(rehearsed, SPENT[self.wanted.by]))
        return self._spent[place]

    def _require_moved(self, arm: Arm, key: str, ends: tuple[int, int]) -> None:
        """Refuse an arm whose adapted key changes no text that a planned outcome measures."""
        if arm.listed in self._moved:
            return
        self._moved.add(arm.listed)
        planned = {
            name: "review" if name.startswith("review.") else name
            for one in self.design.comparisons
            if one.arms is None or arm.name in one.arms
            for name in (one.of, one.against or "")
        }
        fixed = [name for name, kind in planned.items() if kind in TEXTS]
        # With more than one seed: a search may have found its best idea early in one of them.
        for salt in range(SEEDS if fixed else 0):
            low, high = (texts_of_outcomes(self._rehearsed(arm, key, one, salt)) for one in ends)
            fixed = [name for name in fixed if low[planned[name]] == high[planned[name]]]
            if not fixed:
                return
        if fixed:
            raise InputError(
                f"{self.design.places[arm.listed]}: {key} from {ends[0]} to {ends[1]} changes no "
                f"text of which {' and '.join(fixed)} {'is' if len(fixed) == 1 else 'are'} taken "
                f"(rehearsed with {SEEDS} seeds), so more calls there could not change what is "
                "compared; measure what they work on (set: {novelty.evaluated: abstract} for HD, "
                "CD and ON, protocol.neighbour_query: abstract for CI), adapt another key, or "
                "leave the arm out of these comparisons"
            )

    def _rehearsed(self, arm: Arm, key: str, value: int | None, salt: int = 0) -> Plan:
        """The rehearsal that forecasts one run of an arm."""
        scenario = self.design.scenarios[self.design.arms.index(arm)]
        if value is not None:
            scenario = scenario_of(scenario, {key: value}, trust=self.trust)
        seeded = scenario.model_copy(update={"seed": self.design.seeds(arm.name)[0] + salt})
        if self.wanted.by == "money" and not seeded.backend.backend.priced:
            raise InputError(
                f"{self.design.path}: match.by: money: the price of the model of {arm.name} is not "
                "known; 'society plan' shows how to set it, or match by calls or tokens"
            )
        # Rehearsals of one arm share their ecosystem; two at a time may be too many for the memory.
        source = repr((seeded.population.ecosystem, seeded.seed))
        if source not in self._ecosystems:
            self._ecosystems = {source: build_ecosystem_of(seeded)}
        require_team(seeded, self._ecosystems[source])
        run = arm.name if value is None else f"{arm.name}, {key}={value}"
        return plan(seeded, self._ecosystems[source], partial(self.progress.step, of=run))


def texts_of_outcomes(result: Plan) -> dict[str, object]:
    """The texts of a rehearsal that each outcome of ``TEXTS`` measures."""
    from virsci_society.metrics.novelty.novelty import Novelty, measured_texts

    papers, novelty = result.papers, result.scenario.novelty
    texts = measured_texts(papers, novelty if isinstance(novelty, Novelty) else Novelty())
    query, evaluated = (tuple(texts[name]) for name in ("query", "evaluated"))
    read = tuple(papers[["title", "abstract"]].itertuples(index=False, name=None))
    novelty_texts = dict.fromkeys(("HD", "CD", "ON"), (query, evaluated))
    return {"CI": query, **novelty_texts, "review": read}


def deviation(spent: float, target: float | None) -> float:
    """The difference from a target as a share of it; NaN where either is not known."""
    return spent / target - 1 if target else math.nan


@dataclass(frozen=True)
class StudyForecast:
    """The forecast of a study: for each arm the plan of one run and its rehearsal time."""

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


def study_forecast(design: Design, progress: Progress) -> StudyForecast:
    """Rehearse one run of every arm, with the first replicate's seed."""
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
