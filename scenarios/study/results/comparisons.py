"""The planned comparisons of a study, computed, with Holm's correction over all of them."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from virsci_society.agents.arrays import FloatArray
from virsci_society.metrics.inference.comparisons import ArmDifference, holm, paired, welch
from virsci_society.metrics.inference.correlations import (
    RANK_TREND,
    Block,
    Correlation,
    pearson,
    rank_trend,
    spearman,
)
from virsci_society.metrics.inference.two_lines import TwoLines, inverted_u
from virsci_society.scenarios.study.results.study import PlannedComparison, Study

NO_VARIANCE = "not estimable: the measure does not vary"
CONSTANT_NAMED = 4
"""Arms whose runs do not vary that are named in a note."""


@dataclass(frozen=True)
class ComparisonResult:
    """One planned comparison and its result.

    Attributes:
        of: the arms (``first`` and ``second`` of a pair), the key that is varied, or the other
            measure.
        holm: p after Holm's correction over all planned comparisons; NaN for the others.
    """

    measure: str
    of: tuple[str, ...]
    result: ArmDifference | TwoLines | Correlation
    planned: bool = True
    holm: float = float("nan")
    among: str = ""
    plan: int = 0

    @property
    def test(self) -> str:
        """Name of the test, from the function that made it."""
        return self.result.test

    @property
    def p(self) -> float:
        """Two-sided; NaN where it could not be computed."""
        return self.result.p


def compute_comparisons(study: Study, without: Set[int] = frozenset()) -> list[ComparisonResult]:
    """Compute every comparison in order, with Holm's correction over all that were planned."""
    results = [
        replace(one, planned=not plan.exploratory, plan=number)
        for number, plan in enumerate(study.description.comparisons)
        for one in _results(study, plan, without)
    ]
    # What was added after the lock was no part of the plan, so the correction is not over it.
    adjusted = iter(holm([one.p for one in results if one.planned]))
    return [replace(one, holm=next(adjusted)) if one.planned else one for one in results]


def _results(
    study: Study, plan: PlannedComparison, without: Set[int]
) -> Iterator[ComparisonResult]:
    """The results of one plan; of a review's score, those of every panel that has given it."""
    if not plan.of.startswith("review."):
        yield from _results_of(study, plan, without)
    elif panels := study.panels(plan.of):
        for outcome in panels:
            yield from _results_of(study, plan.model_copy(update={"of": outcome}), without)
    else:
        note = (
            f"no reviews yet; 'society review STUDY --kind {plan.of.split('.')[1]}' asks for them"
        )
        for one in _results_of(study, plan, without):
            yield replace(one, result=replace(one.result, note=note))


def _results_of(
    study: Study, plan: PlannedComparison, without: Set[int]
) -> Iterator[ComparisonResult]:
    arms = [arm for arm in (plan.arms or study.arms) if arm in study.arms]
    if plan.test == "paired":
        for arm in arms[1:]:
            yield compare_two_arms(study, plan.of, (arms[0], arm), without)
        return
    if plan.test == "correlation":
        yield from _correlations(study, plan, arms, without)
        return
    key, among = plan.over or "", "" if plan.arms is None else _shared_settings(study, arms)
    if plan.test == "inverted_u":
        shape = inverted_u(*key_and_measure(study, plan.of, key, arms, without))
        yield ComparisonResult(plan.of, (key,), shape, among=among)
    else:
        rank = _rank_correlation(study, plan.of, key, arms, without)
        yield ComparisonResult(plan.of, (key,), rank, among=among)


def _rank_correlation(
    study: Study, measure: str, key: str, arms: list[str], without: Set[int]
) -> Correlation:
    """Spearman's rho within blocks of one seed and one setting of a grid's other keys."""
    if study.sampled:
        points = spearman(*key_and_measure(study, measure, key, arms, without))
        return replace(points, test=RANK_TREND)
    grouped: dict[tuple[str, int], list[tuple[float, float]]] = {}
    constant: dict[str, float] = {}
    for arm in arms:
        place, values = study.key_value(arm, key), study.values(measure, arm, without)
        if not np.isfinite(place) or not len(values):
            continue
        if len(values) > 1 and np.ptp(values) == 0:
            constant[arm] = float(values.iloc[0])
        stratum = str(_other_settings(study, arm, key))
        for replicate, value in zip(values.index.tolist(), values.tolist(), strict=True):
            unit = replicate if study.description.paired else 0
            grouped.setdefault((stratum, unit), []).append((place, value))
    tables = {unit: np.array(rows) for unit, rows in sorted(grouped.items())}
    blocks = [Block(rows[:, 0], rows[:, 1], unit) for (_, unit), rows in tables.items()]
    if len(blocks) == 1:
        rank = spearman(blocks[0].x, blocks[0].y)
        rank = replace(rank, test=RANK_TREND, note="" if blocks[0].varies else NO_VARIANCE)
    else:
        rank = rank_trend(blocks)
    notes = [rank.note, _constant_arms(constant)]
    return replace(rank, note="; ".join(note for note in notes if note))


def _other_settings(study: Study, arm: str, key: str) -> list[tuple[str, str]]:
    """What an arm of a grid sets beside a key; in a list, other keys may go along with it."""
    if study.description.design != "grid":
        return []
    given = next(one.set for one in study.description.arms if one.name == arm)
    return sorted((name, str(value)) for name, value in given.items() if name != key)


def _constant_arms(constant: dict[str, float]) -> str:
    """A warning of arms whose runs all have one value, such as zero by construction."""
    if not constant:
        return ""
    named = [f"{arm} ({value:g})" for arm, value in list(constant.items())[:CONSTANT_NAMED]]
    more = len(constant) - len(named)
    listed = ", ".join([*named, *([f"{more} more"] if more else [])])
    return f"no variance between the runs of {listed}"


def compare_two_arms(
    study: Study, measure: str, arms: tuple[str, str], without: Set[int] = frozenset()
) -> ComparisonResult:
    """A measure in two arms, in pairs of one seed where the study has them."""
    if study.description.paired:
        result = paired(*pairs(study, measure, arms, without))
        return ComparisonResult(measure, arms, result)
    first_arm, second_arm = (study.numbers(measure, arm, without) for arm in arms)
    result = welch(first_arm, second_arm)
    return ComparisonResult(measure, arms, result)


def pairs(
    study: Study, measure: str, arms: tuple[str, ...], without: Set[int] = frozenset()
) -> tuple[FloatArray, FloatArray]:
    """A measure in two arms, of the replicates that both have, in one order."""
    first, second = (study.values(measure, arm, without) for arm in arms)
    both = first.index.intersection(second.index)
    return first.loc[both].to_numpy(np.float64), second.loc[both].to_numpy(np.float64)


def _shared_settings(study: Study, arms: list[str]) -> str:
    """Settings that some arms share and not all arms of the study have; else their names."""
    every = [arm.set for arm in study.description.arms]
    chosen = [arm.set for arm in study.description.arms if arm.name in arms]

    def alike(key: str, given: list[dict[str, Any]]) -> bool:
        return all(one.get(key) == given[0].get(key) for one in given)

    own = chosen[0] if chosen else {}
    shared = [key for key in own if alike(key, chosen) and not alike(key, every)]
    settings = ", ".join(f"{key.rpartition('.')[2]}={own[key]}" for key in shared)
    return settings or "; ".join(arms)


def _correlations(
    study: Study, plan: PlannedComparison, arms: list[str], without: Set[int]
) -> Iterator[ComparisonResult]:
    """Pearson's and Spearman's over runs, against a measure or the score of every panel."""
    against, ours = plan.against or "", study.by_run(plan.of, arms, without)
    for label in study.panels(against) or [against]:
        theirs = study.by_run(label, arms, without)
        both = ours.index.intersection(theirs.index)
        pair = ours.loc[both].tolist(), theirs.loc[both].tolist()
        for correlation in (pearson, spearman):
            yield ComparisonResult(plan.of, (label,), correlation(*pair))


def key_and_measure(
    study: Study, measure: str, key: str, arms: list[str], without: Set[int] = frozenset()
) -> tuple[FloatArray, FloatArray]:
    """The varied key and the measure, one value each per replicate.

    In a sampled design the unit is the arm, by the mean of its replicates: the replicates of one
    point share all its other keys. Arms in which the key is no number are left out.
    """
    key_values: list[float] = []
    values: list[float] = []
    for arm in arms:
        own = study.numbers(measure, arm, without)
        key_value = study.key_value(arm, key)
        if len(own) and np.isfinite(key_value):
            kept = [float(own.mean())] if study.sampled else own.tolist()
            values += kept
            key_values += [key_value] * len(kept)
    return np.array(key_values, dtype=np.float64), np.array(values, dtype=np.float64)
