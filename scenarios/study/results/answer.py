"""What a study found, in sentences made from its planned comparisons, and the plan beside it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from virsci_society.metrics.inference.comparisons import ArmDifference, reconciliation
from virsci_society.metrics.inference.correlations import RANK_TREND, Correlation
from virsci_society.metrics.inference.intervals import MIN_REPLICATES
from virsci_society.metrics.report.templates import THIN_SPACE, count_of, format_number
from virsci_society.scenarios.study.results.comparisons import ComparisonResult
from virsci_society.scenarios.study.results.study import PlannedComparison, Study

TOLD = 3
"""Comparisons of the first plan that the answer names; the others are counted."""
ALPHA = 0.05


def answer(study: Study, results: Sequence[ComparisonResult]) -> str:
    """The answer in one sentence: what the first planned comparison found.

    Args:
        study: the study.
        results: its comparisons, computed.
    """
    planned = [one for one in results if one.planned]
    if not planned:
        return "No comparison was planned, so this page describes and does not answer."
    first = [one for one in planned if one.plan == planned[0].plan]
    told = "; ".join(_finding(one, len(planned)) for one in first[:TOLD])
    more = len(planned) - len(first[:TOLD])
    rest = f" ({count_of(more, 'further comparison')} below)" if more else ""
    few = min((len(study.numbers(planned[0].measure, arm)) for arm in study.arms), default=0)
    sketch = f" With fewer than {MIN_REPLICATES} replicates this is a sketch, not an answer."
    return f"{told[:1].upper()}{told[1:]}{rest}.{sketch if few < MIN_REPLICATES else ''}"


def plan_table(study: Study, results: Sequence[ComparisonResult]) -> pd.DataFrame:
    """What was planned beside what was done.

    Args:
        study: the study.
        results: its comparisons, computed.

    Returns:
        One row per item of the plan: ``item``, ``planned`` and ``done``, all texts.
    """
    told = study.description
    done = study.runs[study.runs["state"] == "done"].groupby("arm").size()
    counts = done.reindex(study.arms).fillna(0).astype(int)
    known = [one for one in told.measures if any(len(study.numbers(one, a)) for a in study.arms)]
    rows = [
        ("arms", str(len(study.arms)), f"{int((counts > 0).sum())} with a finished run"),
        ("replicates of each arm", str(told.replicates), _range(counts.min(), counts.max())),
        ("measures", str(len(told.measures)), f"{len(known)} with values"),
        ("seeds", "the same in every arm" if told.paired else "one for each run", "as planned"),
    ]
    for number, plan in enumerate(told.comparisons):
        mine = [one for one in results if one.plan == number]
        estimated = sum(bool(np.isfinite(one.p)) for one in mine)
        rows.append(
            (_plan(plan), _when(plan), f"{count_of(len(mine), 'test')}, {estimated} estimated")
        )
    rows += [("deviation", "", line) for line in told.deviations]
    return pd.DataFrame(rows, columns=["item", "planned", "done"])


def reconciliations(results: Sequence[ComparisonResult]) -> dict[str, list[str]]:
    """Sentences where the interval and the verdict of a comparison disagree, by kind of result.

    Args:
        results: the comparisons of a study, computed.

    Returns:
        By the name of the table that both stand in: ``differences``, ``inverted_u``,
        ``rank_correlations``, ``correlations``.
    """
    tests = sum(one.planned for one in results)
    told: dict[str, list[str]] = {}
    for one in results:
        if why := _reconciliation(one, tests):
            of = " to ".join(one.of) if isinstance(one.result, ArmDifference) else one.of[0]
            among = f", {one.among}" if one.among else ""
            told.setdefault(_table_of(one), []).append(f"{one.measure}, {of}{among}: {why}.")
    return told


def _table_of(one: ComparisonResult) -> str:
    if isinstance(one.result, ArmDifference):
        return "differences"
    if isinstance(one.result, Correlation):
        return "rank_correlations" if one.test == RANK_TREND else "correlations"
    return "inverted_u"


def _reconciliation(one: ComparisonResult, tests: int) -> str:
    result = one.result
    if isinstance(result, ArmDifference):
        bounds = result.difference.low, result.difference.high
    elif isinstance(result, Correlation):
        bounds = result.low, result.high
    elif result.first.low > 0 > result.second.high:
        # Both slopes leave out zero in the direction of an inverted U; the nearer end decides.
        bounds = (
            min(result.first.low, -result.second.high),
            max(result.first.high, -result.second.low),
        )
    else:
        return ""
    return reconciliation(bounds, one.p, one.holm, tests, ALPHA)


def _finding(one: ComparisonResult, tests: int) -> str:
    """One comparison as a clause."""
    result = one.result
    if not np.isfinite(one.p):
        why = f" ({result.note})" if result.note else ""
        over = "between" if len(one.of) > 1 else "over"
        return f"{one.measure} cannot be compared {over} {' and '.join(one.of)}{why}"
    chance = "beyond chance" if one.holm < ALPHA else "not told apart from chance"
    test = f"p after Holm {_p(one.holm)}"
    if isinstance(result, ArmDifference):
        band = result.difference
        way = "higher" if band.value > 0 else "lower"
        size = f"{format_number(abs(band.value))} {way} in {one.of[1]} than in {one.of[0]}"
        if band.value == 0:
            size = f"the same in {one.of[1]} as in {one.of[0]}"
        ends = f"{format_number(band.low)} to {format_number(band.high)}"
        told = f"difference, 95{THIN_SPACE}% interval {ends}; {test}"
        why = _reconciliation(one, tests)
        return f"{one.measure} is {size} ({told}): {chance}" + (f" ({why})" if why else "")
    if isinstance(result, Correlation):
        way = "rises" if result.r > 0 else "falls"
        verb = f"{way} with" if one.test == RANK_TREND else "goes together with"
        return f"{one.measure} {verb} {one.of[0]} (r {format_number(result.r)}; {test}): {chance}"
    shape = "rises and then falls" if one.holm < ALPHA else "does not clearly rise and then fall"
    return f"{one.measure} {shape} over {one.of[0]} ({test})"


def _p(value: float) -> str:
    return format_number(value) if value >= 0.001 else "below 0.001"


def _plan(plan: PlannedComparison) -> str:
    """A planned comparison in words."""
    what = plan.of + (f" against {plan.against}" if plan.against else "")
    over = f" over {plan.over}" if plan.over else ""
    arms = f" of {', '.join(plan.arms)}" if plan.arms else ""
    return f"{plan.test.replace('_', ' ')}: {what}{over}{arms}"


def _when(plan: PlannedComparison) -> str:
    return "added after the lock" if plan.exploratory else "before the first run"


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"
