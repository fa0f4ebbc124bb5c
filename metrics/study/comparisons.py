"""Comparing: the planned comparisons of a study, computed, with Holm over all of them."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metrics.inference.comparisons import Comparison, holm, paired, welch
from metrics.inference.correlations import Correlation, pearson, spearman
from metrics.inference.shapes import TwoLines, inverted_u
from metrics.study.study import Planned, Study

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Compared:
    """One comparison and what it gave.

    Attributes:
        measure: what is compared.
        of: the arms (``first`` and ``second`` of a pair), the key that is varied, or the other
            measure.
        test: in words.
        result: of the test.
        p: two-sided; NaN where it could not be computed.
        planned: before the first run.
        holm: p after Holm's correction over all planned comparisons; NaN for the others.
        among: what the arms have in common, where it was planned for some of them only.
    """

    measure: str
    of: tuple[str, ...]
    test: str
    result: Comparison | TwoLines | Correlation
    p: float
    planned: bool = True
    holm: float = float("nan")
    among: str = ""


def compared(study: Study, without: Set[int] = frozenset()) -> list[Compared]:
    """Every comparison in order, with Holm over all that were planned.

    Args:
        study: the study.
        without: runs to leave out.
    """
    found = [
        replace(one, planned=not plan.exploratory)
        for plan in study.told.comparisons
        for one in _tests(study, plan, without)
    ]
    adjusted = iter(holm([one.p for one in found if one.planned]))
    return [replace(one, holm=next(adjusted)) if one.planned else one for one in found]


def _tests(study: Study, plan: Planned, without: Set[int]) -> Iterator[Compared]:
    arms = [arm for arm in (plan.arms or study.arms) if arm in study.arms]
    if plan.test == "paired":
        for arm in arms[1:]:
            yield _pair(study, plan.of, (arms[0], arm), without)
        return
    if plan.test == "correlation":
        yield from _correlated(study, plan, arms, without)
        return
    key, among = plan.over or "", "" if plan.arms is None else _among(study, arms)
    x, y = along(study, plan.of, key, arms, without)
    if plan.test == "inverted_u":
        shape = inverted_u(x, y)
        yield Compared(plan.of, (key,), "two lines", shape, shape.p, among=among)
    else:
        rank = spearman(x, y)
        yield Compared(plan.of, (key,), "rank correlation", rank, rank.p, among=among)


def _pair(study: Study, measure: str, arms: tuple[str, str], without: Set[int]) -> Compared:
    if study.told.paired:
        first, second = (study.values(measure, arm, without) for arm in arms)
        both = first.index.intersection(second.index)
        result = paired(first.loc[both].tolist(), second.loc[both].tolist())
        return Compared(measure, arms, "paired t", result, result.p)
    first_arm, second_arm = (study.numbers(measure, arm, without) for arm in arms)
    result = welch(first_arm, second_arm)
    return Compared(measure, arms, "Welch", result, result.p)


def _among(study: Study, arms: list[str]) -> str:
    """Settings that some arms share and not all arms of the study have; else their names."""
    every = [arm.set for arm in study.told.arms]
    chosen = [arm.set for arm in study.told.arms if arm.name in arms]

    def alike(key: str, given: list[dict[str, Any]]) -> bool:
        return all(one.get(key) == given[0].get(key) for one in given)

    own = chosen[0] if chosen else {}
    shared = [key for key in own if alike(key, chosen) and not alike(key, every)]
    told = ", ".join(f"{key.rpartition('.')[2]}={own[key]}" for key in shared)
    return told or "; ".join(arms)


def _correlated(
    study: Study, plan: Planned, arms: list[str], without: Set[int]
) -> Iterator[Compared]:
    """Pearson's and Spearman's over runs, against a measure or the score of every panel."""
    against, ours = plan.against or "", study.by_run(plan.of, arms, without)
    others = {against: study.by_run(against, arms, without)}
    if against.startswith("review."):
        panels = study.reviewed(against)
        others = {f"{against} by {name}": score for name, score in panels.items()} or others
    for label, theirs in others.items():
        both = ours.index.intersection(theirs.index)
        pair = ours.loc[both].tolist(), theirs.loc[both].tolist()
        for test, correlation in (("Pearson", pearson), ("Spearman", spearman)):
            found = correlation(*pair)
            yield Compared(plan.of, (label,), test, found, found.p)


def along(
    study: Study, measure: str, key: str, arms: list[str], without: Set[int] = frozenset()
) -> tuple[Floats, Floats]:
    """The varied key and the measure, one value each per replicate.

    In a sampled design the unit is the arm, by the mean of its replicates: the replicates of one
    point share all its other keys. Arms in which the key is no number are left out.
    """
    places: list[float] = []
    values: list[float] = []
    for arm in arms:
        own = study.numbers(measure, arm, without)
        at = study.place(arm, key)
        if len(own) and np.isfinite(at):
            kept = [float(own.mean())] if study.sampled else own.tolist()
            values += kept
            places += [at] * len(kept)
    return np.array(places, dtype=np.float64), np.array(values, dtype=np.float64)
