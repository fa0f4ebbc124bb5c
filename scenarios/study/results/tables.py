"""Tables of a study, with full digits, on measures by arm, comparisons, sensitivity and runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.files.atomic_files import make_folder, remove_file, write_atomically
from virsci_society.agents.spelling import plain_text
from virsci_society.metrics.inference.comparisons import ArmDifference, paired, welch
from virsci_society.metrics.inference.correlations import (
    RANK_TREND,
    Correlation,
    pearson,
    prcc,
    spearman,
)
from virsci_society.metrics.inference.intervals import (
    MEANINGS,
    NAN,
    SKEWNESS_LADDER,
    CoverageCell,
    bca_interval,
    log_interval,
    matching_case,
    skewness,
    t_interval,
)
from virsci_society.metrics.inference.two_lines import TwoLines
from virsci_society.metrics.measures import measure_extent
from virsci_society.metrics.novelty.novelty import COLUMNS
from virsci_society.metrics.report.drawing.svg import standalone_svg
from virsci_society.scenarios.study.results.comparisons import ComparisonResult, compare_two_arms
from virsci_society.scenarios.study.results.study import Study
from virsci_society.society.results.table_files import write_csv

MEASURE_BY_ARM = (
    *("measure", "arm", "n", "missing", "mean", "low", "high", "bca_low", "bca_high"),
    *("geometric_mean", "log_low", "log_high", "deviation", "skewness"),
)
DIFFERENCES = (
    *("measure", "first", "second", "test", "n", "difference", "low", "high"),
    *("effect", "value", "effect_low", "effect_high", "p", "holm", "planned", "note"),
)
TWO_LINES_TESTS = (
    *("measure", "over", "among", "n", "break", "slope_1", "low_1", "high_1", "p_1"),
    *("slope_2", "low_2", "high_2", "p_2", "p", "holm", "planned", "note"),
)
RANK_CORRELATIONS = (
    *("measure", "over", "among", "n", "rho", "low", "high", "p", "holm", "planned", "note"),
)
MEASURE_CORRELATIONS = (
    *("measure", "against", "test", "n", "r", "low", "high", "p", "holm", "planned"),
)
SENSITIVITY = ("measure", "key", "n", "prcc", "low", "high", "p")
COVERAGE = ("measure", "n", "skewness", "judged_as", "t", "bca", "log")
SKEWED_FROM = 2
"""From this step of the ladder on a measure looks skewed: lognormal with sigma 0.5."""
SCORES = (1.0, 10.0)
"""The least and the largest score that a review can give."""
REVIEWS_BY_ARM = (
    *("score", "panel", "arm", "n", "mean", "low", "high", "deviation"),
    *("gain", "gain_low", "gain_high", "p"),
)
RUNS_NOT_DONE = ("run", "arm", "replicate", "state", "reason")
P_VALUES = ("p", "p_1", "p_2", "holm", "holm_without")
"""Columns that are left out before every run is done, and with them the verdict on two lines."""


def without_p(table: pd.DataFrame) -> pd.DataFrame:
    """A table without p values, and without what is concluded from them."""
    verdict = ["note"] if "slope_1" in table else []
    return table.drop(columns=[*P_VALUES, *verdict], errors="ignore")


def measure_by_arm(study: Study, measure: str) -> pd.DataFrame:
    """Mean of a measure in each arm with its intervals; columns ``MEASURE_BY_ARM``.

    The log-scale interval, of the geometric mean, is given where all values of the measure are
    above zero and its arms look skewed.
    """
    judged = coverage_case(study, measure)
    samples = {arm: study.numbers(measure, arm) for arm in study.arms}
    positive = all((values > 0).all() for values in samples.values())
    log = positive and judged is not None and SKEWNESS_LADDER.index(judged.family) >= SKEWED_FROM
    rows = [_arm_row(study, measure, arm, values, log) for arm, values in samples.items()]
    return _frame(rows, MEASURE_BY_ARM)


EXAMPLE, OTHER = (1.0, 2.0, 4.0, 5.0), (2.0, 1.0, 5.0, 3.0)


def interval_names(paired_by_seed: bool) -> dict[str, str]:
    """Names of the intervals of a study's page, each told by the function that computes it."""
    arms = paired(EXAMPLE, OTHER) if paired_by_seed else welch(EXAMPLE, OTHER)
    return {
        "mean": t_interval(EXAMPLE).method,
        "bootstrap": bca_interval(EXAMPLE, resamples=99).method,
        "log": log_interval(EXAMPLE).method,
        "difference": arms.difference.method,
        "effect": arms.effect.method,
        "pearson": pearson(EXAMPLE, OTHER).method,
        "spearman": spearman(EXAMPLE, OTHER).method,
    }


def arms_side_by_side(by_arm: pd.DataFrame) -> pd.DataFrame:
    """Means of all measures, one row per measure and one column per arm."""
    wide = by_arm.pivot(index="measure", columns="arm", values="mean")
    order = [by_arm[name].drop_duplicates().tolist() for name in ("measure", "arm")]
    return wide.reindex(index=order[0], columns=order[1]).rename_axis(columns=None).reset_index()


def texts_with_measures(study: Study, by_arm: pd.DataFrame) -> pd.DataFrame | None:
    """Which texts the novelty of each arm is of, their length beside the means of its measures."""
    texts = study.measured_texts()
    if texts is None:
        return None
    wide = by_arm.pivot(index="arm", columns="measure", values="mean")
    known = [name for name in COLUMNS if name in wide]
    return texts.merge(wide[known].reset_index(), on="arm", how="left")


def reviews_by_arm(study: Study) -> pd.DataFrame:
    """Mean of each score of reviews in each arm, with Student's interval over its runs.

    A run counts with the mean over its papers; columns ``REVIEWS_BY_ARM``. The gain is the
    difference from the first arm (at its budget), with its interval and an uncorrected p.
    """
    rows = []
    for outcome, (score, panel) in study.reviews.items():
        for arm in study.arms:
            own = study.numbers(outcome, arm)
            mean = t_interval(own, extent=SCORES)
            spread = float(own.std(ddof=1)) if len(own) > 1 else NAN
            gain = _gain(study, outcome, arm)
            head = (score, panel, arm, len(own), mean.value, mean.low, mean.high, spread)
            rows.append((*head, *gain))
    return _frame(rows, REVIEWS_BY_ARM)


def gains_by_arm(by_arm: pd.DataFrame) -> pd.DataFrame:
    """Means and gains as papers print them: a row per panel and arm, a column per score.

    The gain against the first arm (at its budget) stands in brackets.
    """

    def cell(row: Any) -> str:
        gain = "" if np.isnan(row.gain) else f" ({row.gain:+.2f})"
        return "–" if np.isnan(row.mean_) else f"{row.mean_:.2f}{gain}".replace("-", "−")

    rows = by_arm.rename(columns={"mean": "mean_"})
    kinds = rows["score"].str.split(".").str[1].unique()
    # Of one kind alone the kind need not stand above every column.
    only = kinds[0] if len(kinds) == 1 else ""
    rows = rows.assign(
        cell=[cell(row) for row in rows.itertuples()],
        score=rows["score"].str.removeprefix("review.").str.removeprefix(f"{only}."),
    )
    wide = rows.pivot(index=["panel", "arm"], columns="score", values="cell").fillna("–")
    order = [list(dict.fromkeys(rows[name])) for name in ("panel", "arm", "score")]
    places = [(panel, arm) for panel in order[0] for arm in order[1]]
    wide = wide.reindex(index=[one for one in places if one in wide.index], columns=order[2])
    return wide.rename_axis(columns=None).reset_index()


def _gain(study: Study, outcome: str, arm: str) -> tuple[float, float, float, float]:
    reference = study.reference(arm)
    if reference is None:
        return (NAN,) * 4
    result = compare_two_arms(study, outcome, (reference, arm)).result
    if not isinstance(result, ArmDifference):
        return (NAN,) * 4
    gap = result.difference
    return (gap.value, gap.low, gap.high, result.p)


def _arm_row(
    study: Study, measure: str, arm: str, values: FloatArray, log: bool
) -> tuple[Any, ...]:
    t, bca = t_interval(values, extent=measure_extent(measure)), bca_interval(values)
    typical = log_interval(values) if log and len(values) else None
    scaled = (NAN,) * 3 if typical is None else (typical.value, typical.low, typical.high)
    spread = float(values.std(ddof=1)) if len(values) > 1 else NAN
    missing = study.description.replicates - len(values)
    head = (measure, arm, len(values), missing, t.value, t.low, t.high, bca.low, bca.high)
    return (*head, *scaled, spread, skewness(values))


def coverage_case(study: Study, measure: str) -> CoverageCell | None:
    """The simulated case by which the intervals of a measure are judged; None without values.

    Its replicates are those of the smallest arm with any; its skewness is the median over the
    arms of their sample skewness.
    """
    samples = [study.numbers(measure, arm) for arm in study.arms]
    sizes = [len(values) for values in samples if len(values)]
    return matching_case(min(sizes), median_skewness(samples)) if sizes else None


def median_skewness(samples: Iterable[FloatArray]) -> float:
    """Median of the skewness of samples; NaN where none has any."""
    skewnesses = [skewness(values) for values in samples]
    finite = [value for value in skewnesses if np.isfinite(value)]
    return float(np.median(finite)) if finite else NAN


def coverage(study: Study) -> pd.DataFrame:
    """How often the intervals of each measure contain the true mean; columns ``COVERAGE``."""
    rows = []
    for measure in study.description.measures:
        cell = coverage_case(study, measure)
        if cell is None:
            continue
        samples = [study.numbers(measure, arm) for arm in study.arms]
        fewest = min(len(values) for values in samples if len(values))
        judged = f"{MEANINGS[cell.family]}, n = {cell.n}"
        known = (median_skewness(samples), judged, cell.t, cell.bca, cell.log)
        rows.append((measure, fewest, *known))
    return _frame(rows, COVERAGE)


def differences(results: Sequence[ComparisonResult]) -> pd.DataFrame:
    """The comparisons of two arms; columns ``DIFFERENCES``."""
    rows = []
    for one in results:
        found = one.result
        if isinstance(found, ArmDifference):
            gap, effect = found.difference, found.effect
            head = (one.measure, *one.of, one.test, gap.n, gap.value, gap.low, gap.high)
            size = (found.effect_name, effect.value, effect.low, effect.high)
            rows.append((*head, *size, *_verdict(one), found.note))
    return _frame(rows, DIFFERENCES)


def two_lines_tests(results: Sequence[ComparisonResult]) -> pd.DataFrame:
    """The two-lines tests; columns ``TWO_LINES_TESTS``."""
    rows = []
    for one in results:
        found = one.result
        if isinstance(found, TwoLines):
            both = (found.first, found.second)
            sides = ((line.slope, line.low, line.high, line.p) for line in both)
            head = (one.measure, *one.of, one.among, found.n, found.break_point)
            rows.append((*head, *chain.from_iterable(sides), *_verdict(one), found.note))
    return _frame(rows, TWO_LINES_TESTS)


def rank_correlations(results: Sequence[ComparisonResult]) -> pd.DataFrame:
    """The rank correlations with a varied key; columns ``RANK_CORRELATIONS``."""
    rows = [
        (one.measure, *one.of, one.among, *_coefficient(found), *_verdict(one), found.note)
        for one in results
        if isinstance(found := one.result, Correlation) and one.test == RANK_TREND
    ]
    return _frame(rows, RANK_CORRELATIONS)


def measure_correlations(results: Sequence[ComparisonResult]) -> pd.DataFrame:
    """The correlations of two measures, or of one and a review; ``MEASURE_CORRELATIONS``."""
    rows = [
        (one.measure, *one.of, one.test, *_coefficient(found), *_verdict(one))
        for one in results
        if isinstance(found := one.result, Correlation) and one.test != RANK_TREND
    ]
    return _frame(rows, MEASURE_CORRELATIONS)


def _coefficient(found: Correlation) -> tuple[int, float, float, float]:
    return found.n, found.r, found.low, found.high


def _verdict(one: ComparisonResult) -> tuple[float, float, str]:
    """p, Holm's p, and whether it was planned."""
    return one.p, one.holm, "yes" if one.planned else "no"


def without_defaults(
    results: Sequence[ComparisonResult], again: Sequence[ComparisonResult]
) -> pd.DataFrame:
    """Every comparison beside itself without the runs that hold a default."""
    rows = [
        (one.measure, " to ".join(one.of), one.test, *_estimate(one), *_estimate(other))
        for one, other in zip(results, again, strict=True)
    ]
    columns = ("measure", "of", "test", "n", "estimate", "holm")
    return _frame(rows, (*columns, "n_without", "estimate_without", "holm_without"))


def _estimate(result: ComparisonResult) -> tuple[int, float, float]:
    """Observations, the estimate (a difference, a break, a correlation) and Holm's p."""
    found = result.result
    if isinstance(found, ArmDifference):
        return found.difference.n, found.difference.value, result.holm
    return found.n, found.break_point if isinstance(found, TwoLines) else found.r, result.holm


def sensitivity(study: Study) -> pd.DataFrame:
    """Partial rank correlations in a sampled design, by measure and key; ``SENSITIVITY``.

    The unit is the arm, by the mean of its replicates.
    """
    keys = study.numeric_keys() if study.sampled else []
    rows = []
    for measure in study.description.measures if keys else ():
        own = {arm: study.numbers(measure, arm) for arm in study.arms}
        arms = [arm for arm, values in own.items() if len(values)]
        inputs = {key: np.array([study.key_value(arm, key) for arm in arms]) for key in keys}
        means = np.array([own[arm].mean() for arm in arms], dtype=np.float64)
        for key, found in prcc(inputs, means).items():
            rows.append((measure, key, *_coefficient(found), found.p))
    return _frame(rows, SENSITIVITY)


def runs_not_done(study: Study) -> pd.DataFrame:
    """The runs that are not done, with the reason from their results.

    Columns: ``RUNS_NOT_DONE``.
    """
    gone = study.runs.loc[study.runs["state"] != "done", list(RUNS_NOT_DONE[:-1])]
    return gone.assign(reason=[study.failure_reason(run) for run in gone["run"]])


def _frame(rows: Sequence[tuple[Any, ...]], columns: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=list(columns))


_NO_NAME = re.compile(r"[^A-Za-z0-9.=_-]+")


def write_files(
    folder: Path,
    tables: Mapping[str, pd.DataFrame],
    figures: Mapping[str, Markup],
    speaker: str = "",
) -> None:
    """Write ``NAME.csv``, ``NAME.tex`` and ``NAME.svg``; older files of these kinds are deleted."""
    make_folder(folder)
    for old in sorted(folder.iterdir()):
        if old.suffix in (".csv", ".tex", ".svg"):
            remove_file(old)
    write_csv(folder, tables, speaker)
    for name, table in tables.items():
        write_atomically(folder / f"{name}.tex", latex(table))
    for name, picture in figures.items():
        write_atomically(folder / f"{name}.svg", standalone_svg(picture))


def latex(table: pd.DataFrame) -> str:
    """A table for LaTeX with the package booktabs; every text is escaped.

    Numbers have four digits, a missing one is a dash.
    """
    plain = table.map(lambda value: plain_text(value) if isinstance(value, str) else value)
    styled = plain.style.format(_latex_cell, escape="latex", na_rep="--")
    styled = styled.format_index(_latex_heading, axis=1, escape="latex").hide(axis="index")
    words = [name for name in table if table[name].map(lambda one: isinstance(one, str)).any()]
    columns = "".join("l" if name in words else "r" for name in table)
    return str(styled.to_latex(hrules=True, column_format=columns))


def _latex_cell(value: Any) -> str:
    """Text as it is, a number in mathematics so that its sign is a minus."""
    return str(value) if isinstance(value, str) else f"${value:.4g}$".replace("e", "\\mathrm{e}")


def _latex_heading(name: object) -> str:
    return str(name).replace("\\_", " ")


def file_name(*parts: str) -> str:
    """A name for a file from names of measures and keys: letters, digits and ``.=_-`` only."""
    return "-".join(_NO_NAME.sub("_", part).strip("._") or "_" for part in parts)
