"""The tables of a study's page, with full digits, and their files in CSV and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.files.atomic_files import make_folder, remove_file, write_atomically
from virsci_society.agents.spelling import plain_text
from virsci_society.metrics.inference.comparisons import ArmDifference
from virsci_society.metrics.inference.correlations import spearman
from virsci_society.metrics.inference.intervals import (
    NAN,
    POOR_COVERAGE,
    bca_interval,
    expected_coverage,
    skewness,
    t_interval,
)
from virsci_society.metrics.measures import measure_extent
from virsci_society.metrics.novelty.novelty import COLUMNS
from virsci_society.metrics.report.drawing.svg import standalone_svg
from virsci_society.metrics.report.templates import count_of
from virsci_society.scenarios.study.figures import SCORES
from virsci_society.scenarios.study.study import (
    ComparisonResult,
    Study,
    compare_two_arms,
    key_and_measure,
)
from virsci_society.society.results.table_files import write_csv

_NO_NAME = re.compile(r"[^A-Za-z0-9.=_-]+")


def plan_table(study: Study, results: Sequence[ComparisonResult]) -> pd.DataFrame:
    """What was planned beside what was done."""
    told = study.description
    done = study.runs[study.runs["state"] == "done"].groupby("arm").size()
    counts = done.reindex(study.arms).fillna(0).astype(int)
    known = [one for one in told.measures if any(len(study.numbers(one, a)) for a in study.arms)]
    low, high = counts.min(), counts.max()
    replicates = str(low) if low == high else f"{low} to {high}"
    rows = [
        ("arms", str(len(study.arms)), f"{int((counts > 0).sum())} with a finished run"),
        ("replicates of each arm", str(told.replicates), replicates),
        ("measures", str(len(told.measures)), f"{len(known)} with values"),
        ("seeds", "the same in every arm" if told.paired else "one for each run", "as planned"),
    ]
    for number, plan in enumerate(told.comparisons):
        mine = [one for one in results if one.plan == number]
        estimated = sum(bool(np.isfinite(one.p)) for one in mine)
        when = "added after the lock" if plan.exploratory else "before the first run"
        tests = f"{count_of(len(mine), 'test')}, {estimated} estimated"
        rows.append((plan.describe(), when, tests))
    if told.usable:
        most = ", ".join(f"{name} at most {value:g}" for name, value in told.usable.items())
        left_out = [f"run {run:04d} ({why})" for run, why in told.unusable.items()]
        without = ": " + ", ".join(left_out) if left_out else ""
        rows.append(("usable replicates", most, f"{len(left_out)} not usable{without}"))
    rows += [("deviation", "", line) for line in told.deviations]
    return pd.DataFrame(rows, columns=["item", "planned", "done"])


def measure_by_arm(study: Study, measure: str) -> pd.DataFrame:
    """Mean of a measure in each arm with its intervals by Student's t and the BCa bootstrap."""
    rows = []
    for arm in study.arms:
        values = study.numbers(measure, arm)
        t, bca = t_interval(values, extent=measure_extent(measure)), bca_interval(values)
        row = {"measure": measure, "arm": arm, "n": len(values)}
        row |= {"missing": study.description.replicates - len(values), "mean": t.value}
        row |= {"low": t.low, "high": t.high, "bca_low": bca.low, "bca_high": bca.high}
        rows.append(row | {"deviation": _deviation(values), "skewness": skewness(values)})
    return pd.DataFrame(rows)


def _deviation(values: FloatArray) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else NAN


def too_narrow(by_arm: pd.DataFrame) -> pd.DataFrame:
    """The measures whose t intervals are known to cover the mean too seldom, with the shares.

    A measure is judged by its smallest arm and the median skewness of its arms.
    """
    rows = []
    for measure, arms in by_arm[by_arm["n"] > 0].groupby("measure", sort=False):
        n, typical = int(arms["n"].min()), float(arms["skewness"].median())
        shares = expected_coverage(n, typical)
        if shares["t"] < POOR_COVERAGE:
            rows.append({"measure": measure, "n": n, "skewness": typical, **shares})
    return pd.DataFrame(rows)


def arms_side_by_side(by_arm: pd.DataFrame) -> pd.DataFrame:
    """Means of all measures, one row per measure and one column per arm."""
    wide = by_arm.pivot(index="measure", columns="arm", values="mean")
    order = [by_arm[name].drop_duplicates().tolist() for name in ("measure", "arm")]
    return wide.reindex(index=order[0], columns=order[1]).rename_axis(columns=None).reset_index()


def texts_with_measures(study: Study, by_arm: pd.DataFrame) -> pd.DataFrame | None:
    """Which texts the novelty of each arm is of, their length beside the means of its measures."""
    texts = study.optional("texts")
    if texts is None:
        return None
    wide = by_arm.pivot(index="arm", columns="measure", values="mean")
    known = [name for name in COLUMNS if name in wide]
    return texts.merge(wide[known].reset_index(), on="arm", how="left")


def reviews_by_arm(study: Study) -> pd.DataFrame:
    """Mean of each score of reviews in each arm, with Student's interval over its runs.

    A run counts with the mean over its papers. The gain is the difference from the first arm (at
    its budget), with its interval and an uncorrected p.
    """
    rows = []
    for outcome, (score, panel) in study.reviews.items():
        for arm in study.arms:
            own, reference = study.numbers(outcome, arm), study.reference(arm)
            mean = t_interval(own, extent=SCORES)
            row = {"score": score, "panel": panel, "arm": arm, "n": len(own), "mean": mean.value}
            row |= {"low": mean.low, "high": mean.high, "deviation": _deviation(own)}
            gain = dict.fromkeys(("gain", "gain_low", "gain_high", "p"), NAN)
            if reference is not None:
                result = compare_two_arms(study, outcome, (reference, arm)).result
                if isinstance(result, ArmDifference):
                    gap = result.difference
                    gain = dict(zip(gain, (gap.value, gap.low, gap.high, result.p), strict=True))
            rows.append(row | gain)
    return pd.DataFrame(rows)


def sensitivity(study: Study) -> pd.DataFrame:
    """Spearman's rank correlation of each measure with each key of a sampled design.

    The unit is the arm, by the mean of its replicates.
    """
    rows = []
    for measure in study.description.measures if study.sampled else ():
        for key in study.numeric_keys():
            found = spearman(*key_and_measure(study, measure, key, study.arms))
            row = {"measure": measure, "key": key, "n": found.n, "rho": found.r}
            rows.append(row | {"low": found.low, "high": found.high, "p": found.p})
    return pd.DataFrame(rows)


def runs_not_done(study: Study) -> pd.DataFrame:
    """The runs that are not done, with the reason from their results."""
    gone = study.runs.loc[study.runs["state"] != "done", ["run", "arm", "replicate", "state"]]
    return gone.assign(reason=[study.failure_reason(run) for run in gone["run"]])


def with_embedding_column(study: Study, table: pd.DataFrame) -> pd.DataFrame:
    """The same table with a column ``embedding`` beside the names of measures of novelty.

    It is empty in rows of other measures. A table without novelty stays as it is.
    """
    names = [one for one in ("measure", "against") if one in table]
    scores = [one for one in COLUMNS if one in table]
    of_novelty = table[names].isin(COLUMNS).any(axis=1) | (not names and bool(scores))
    if not study.description.embedding or not of_novelty.any():
        return table
    columns = table.columns.tolist()
    place = columns.index(names[0]) + 1 if names else columns.index(scores[0])
    embedding = np.where(of_novelty, study.description.embedding, "")
    table = table.copy()
    # An arm may have that name, too.
    table.insert(place, "embedding", embedding, allow_duplicates=True)
    return table


def with_embedding_in_names(study: Study, table: pd.DataFrame) -> pd.DataFrame:
    """The same table with the embedding beside each measure of novelty, as ``HD by LSA 256``."""
    named = {name: name + study.by_embedding(name) for name in COLUMNS}
    columns = [one for one in ("measure", "against") if one in table]
    return table.rename(columns=named).replace(dict.fromkeys(columns, named))


def write_files(
    folder: Path,
    tables: Mapping[str, pd.DataFrame],
    figures: Mapping[str, Markup],
    speaker: str = "",
    *,
    in_latex: Mapping[str, pd.DataFrame] | None = None,
) -> None:
    """Write ``NAME.csv``, ``NAME.tex`` and ``NAME.svg``; older files of these kinds are deleted.

    ``in_latex``: the tables as they are to be printed; by default, those of the CSV files.
    """
    make_folder(folder)
    for old in sorted(folder.iterdir()):
        if old.suffix in (".csv", ".tex", ".svg"):
            remove_file(old)
    write_csv(folder, tables, speaker)
    for name, table in (in_latex or tables).items():
        write_atomically(folder / f"{name}.tex", latex(table))
    for name, picture in figures.items():
        write_atomically(folder / f"{name}.svg", standalone_svg(picture))


def latex(table: pd.DataFrame) -> str:
    """A table for LaTeX with the package booktabs; every text is escaped.

    Numbers have four digits, a missing one is a dash.
    """

    def cell(value: Any) -> str:
        # A number in mathematics, so that its sign is a minus.
        told = f"${value:.4g}$" if not isinstance(value, str) else value
        return told if isinstance(value, str) else told.replace("e", "\\mathrm{e}")

    plain = table.map(lambda value: plain_text(value) if isinstance(value, str) else value)
    styled = plain.style.format(cell, escape="latex", na_rep="--").hide(axis="index")
    styled = styled.format_index(lambda name: str(name).replace("\\_", " "), axis=1, escape="latex")
    texts = [table[name].map(lambda one: isinstance(one, str)).any() for name in table]
    columns = "".join("l" if is_text else "r" for is_text in texts)
    return str(styled.to_latex(hrules=True, column_format=columns))


def file_name(*parts: str) -> str:
    """A name for a file from names of measures and keys: letters, digits and ``.=_-`` only."""
    return "-".join(_NO_NAME.sub("_", part).strip("._") or "_" for part in parts)
