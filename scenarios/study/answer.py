"""The planned comparisons of a study in sentences, and the answer at the head of its page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from virsci_society.metrics.inference.comparisons import EQUAL_PAIRS, ArmDifference
from virsci_society.metrics.inference.correlations import RANK_TREND, Correlation
from virsci_society.metrics.inference.intervals import MIN_REPLICATES
from virsci_society.metrics.inference.two_lines import TwoLines
from virsci_society.metrics.measures import MEASURES
from virsci_society.metrics.report.templates import (
    THIN_SPACE,
    count_of,
    format_number,
    format_percent,
)
from virsci_society.scenarios.study.study import ComparisonResult, Study, in_other_embeddings

TOLD = 3
"""Comparisons of the first plan that the answer names; the others are counted."""
ALPHA = 0.05


def answer(study: Study, results: Sequence[ComparisonResult]) -> list[str]:
    """The answer: a sentence for each result of the first planned comparison with an estimate.

    Where none has one, the first says why; how many there are besides is told at the end.
    """
    planned = [one for one in results if one.planned]
    if not planned:
        return ["No comparison was planned, so this page describes and does not answer."]
    lead = next((one for one in planned if np.isfinite(one.p)), planned[0])
    told = TOLD if np.isfinite(lead.p) else 1
    first = [one for one in planned if one.plan == lead.plan][:told]
    sentences = [finding(study, one, len(planned)) for one in first]
    if more := len(planned) - len(first):
        unknown = sum(not np.isfinite(one.p) for one in planned if one not in first)
        beside = f", {unknown} of them without an estimate" if unknown else ""
        sentences.append(f"{count_of(more, 'further comparison')} below{beside}.")
    few = min((len(study.numbers(lead.measure, arm)) for arm in study.arms), default=0)
    if 0 < few < MIN_REPLICATES:
        fewer = f"With fewer than {MIN_REPLICATES} replicates"
        sentences.append(f"{fewer} this is a sketch, not an answer.")
    return sentences


def finding(study: Study, one: ComparisonResult, tests: int) -> str:
    """One planned comparison as a sentence, whose verdict follows the corrected p."""
    label, found = f"the {study.label(one.measure)}", one.result
    among = f", among {one.among}," if one.among else ""
    of_measures = isinstance(found, Correlation) and one.test != RANK_TREND
    against = f"the {study.label(one.of[0])}" if of_measures else words(one.of[0])
    verdict = ""
    if study.shows_p:
        p = f"= {format_number(one.holm)}" if one.holm >= 0.001 else "< 0.001"
        corrected = f" after correction for {tests} tests" if tests > 1 else ""
        verdict = f"p {p}{corrected}: {'' if one.holm < ALPHA else 'not '}significant"
    if isinstance(found, ArmDifference):
        told = _difference(study, one, label, verdict)
    elif not np.isfinite(one.p):
        why = found.note and f" ({found.note})"
        told = f"{label} cannot be compared over {against}{why}"
    elif isinstance(found, Correlation):
        way = "rose" if found.r > 0 else "fell"
        verb = f"{way} with" if one.test == RANK_TREND else "went together with"
        name = "Pearson’s r" if one.test == "Pearson" else "Spearman’s rho"
        ends = f"{format_number(found.low)} to {format_number(found.high)}"
        brackets = _brackets(study, one, (found.low, found.high), ends, verdict)
        numbers = ", ".join(filter(None, (format_number(found.r), brackets)))
        told = f"{label}{among} {verb} {against} ({name} {numbers})"
    elif study.shows_p:
        shape = "rose and then fell" if one.holm < ALPHA else "did not clearly rise and then fall"
        told = f"{label}{among} {shape} over {against} ({verdict})"
    else:
        slopes = (
            f"slope {format_number(line.slope)} {side} {format_number(found.break_point)} "
            f"(95{THIN_SPACE}% interval {format_number(line.low)} to {format_number(line.high)})"
            for side, line in (("before", found.first), ("after", found.second))
        )
        told = f"{label}{among} over {against}: {' and '.join(slopes)}"
    for other in in_other_embeddings(study, one):
        if isinstance(other.result, TwoLines) or not np.isfinite([one.p, other.p]).all():
            continue
        told += f"; {other.measure.partition(' by ')[2]} has {format_number(other.estimate)}"
        if study.shows_p:
            same = (one.p < ALPHA) == (other.p < ALPHA) and one.estimate * other.estimate > 0
            told += " and agrees" if same else ": the embeddings do not agree"
    return f"{told[:1].upper()}{told[1:]}."


def words(key: str) -> str:
    """The last part of a dotted key in words."""
    return key.rsplit(".", 1)[-1].replace("_", " ")


def percentage(study: Study, measure: str) -> float:
    """100 where differences of a measure are told in percentage points, else 1."""
    return 100.0 if measure in MEASURES and MEASURES[measure].unit == "share" else 1.0


def unit_of(study: Study, measure: str) -> str:
    """The unit of differences of a measure; empty where its label tells it."""
    if percentage(study, measure) > 1:
        return "points"
    counted = study.label(measure).startswith(("number", "mean number"))
    return "" if counted or measure not in MEASURES else MEASURES[measure].unit


def _difference(study: Study, one: ComparisonResult, label: str, verdict: str) -> str:
    """A difference of two arms in words, with its interval and the verdict."""
    first, second = map(study.circumstance, one.of)
    if one.result.note == EQUAL_PAIRS:
        return f"{label} was the same {second} as {first}, pair by pair"
    if not np.isfinite(one.p):
        why = one.result.note and f" ({one.result.note})"
        return f"{label} {second} cannot be compared with that {first}{why}"
    in_points, unit = percentage(study, one.measure) > 1, unit_of(study, one.measure)
    row = one.row()
    value, low, high = row["difference"], row["low"], row["high"]

    def size(value: float) -> str:
        percent = format_percent(abs(value)).removesuffix(f"{THIN_SPACE}%")
        return percent if in_points else format_number(abs(value))

    way = f"{size(value)} {unit}".strip() + (" higher than" if value > 0 else " lower than")
    if low >= 0:
        ends = f"{size(low)} to {size(high)} higher"
    elif high <= 0:
        ends = f"{size(high)} to {size(low)} lower"
    else:
        ends = f"{size(low)} lower to {size(high)} higher"
    brackets = _brackets(study, one, (low, high), ends, verdict)
    return f"{second}, {label} was {way if value else 'the same as'} {first} ({brackets})"


def _brackets(
    study: Study, one: ComparisonResult, bounds: tuple[float, float], ends: str, verdict: str
) -> str:
    """Interval and verdict in words, and why they disagree about zero, if they do."""
    if not np.isfinite(bounds).all():
        return verdict
    without_zero, note = bounds[0] > 0 or bounds[1] < 0, ""
    if study.shows_p and without_zero != (one.holm < ALPHA):
        note = " of this test alone" if without_zero and one.p < ALPHA else " by another method"
    interval = f"95{THIN_SPACE}% interval{note} {ends}"
    return f"{interval}; {verdict}" if verdict else interval
