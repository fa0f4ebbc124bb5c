"""The page of a study (HTML, readable offline without JavaScript), its answer and its tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.files.atomic_files import make_folder, remove_file, write_atomically
from virsci_society.agents.files.file_hashes import update_hashes
from virsci_society.agents.spelling import plain_text
from virsci_society.metrics.inference.comparisons import (
    EQUAL_PAIRS,
    NOT_EXERCISED,
    ArmDifference,
    power_sentences,
)
from virsci_society.metrics.inference.correlations import (
    BONETT_WRIGHT,
    FISHER,
    RANK_TREND,
    Correlation,
    spearman,
)
from virsci_society.metrics.inference.intervals import (
    BCA,
    MIN_REPLICATES,
    NAN,
    POOR_COVERAGE,
    STUDENT,
    bca_interval,
    expected_coverage,
    skewness,
    t_interval,
)
from virsci_society.metrics.inference.two_lines import TwoLines
from virsci_society.metrics.novelty.novelty import COLUMNS
from virsci_society.metrics.registry import MEASURES, measure_extent
from virsci_society.metrics.report.drawing.svg import standalone_svg
from virsci_society.metrics.report.templates import (
    THIN_SPACE,
    count_of,
    format_number,
    format_percent,
    records,
    style_sheet,
    template_environment,
    write_html,
)
from virsci_society.scenarios.study import figures
from virsci_society.scenarios.study.design import format_value
from virsci_society.scenarios.study.figures import SCORES, percentage, words
from virsci_society.scenarios.study.study import (
    ComparisonResult,
    Study,
    compare_two_arms,
    compute_comparisons,
    in_other_embeddings,
    key_and_measure,
    without_p,
)
from virsci_society.society.results.table_files import write_csv

RUNS_SHOWN = 60
IN_THE_UNIT = {
    "measures": ("mean", "low", "high", "bca_low", "bca_high", "deviation"),
    "inverted_u": ("slope_1", "low_1", "high_1", "slope_2", "low_2", "high_2"),
    "differences": ("difference", "low", "high"),
}
"""Columns of tables that are in the unit of the measure."""
ARMS_BESIDE = 8
"""Most arms whose measures are shown side by side."""
TOLD = 3
"""Results of the first comparison that the answer names; the others are counted."""
ALPHA = 0.05
_NO_NAME = re.compile(r"[^A-Za-z0-9.=_-]+")


def write_study_page(folder: Path | str, *, interim_p: bool = False) -> Path:
    """Write ``report.html`` and ``report/*`` into a study folder, the same bytes every time."""
    study = Study.open(folder, interim_p=interim_p)
    page, tables, pictures = render_study(study)
    report = study.folder / "report"
    make_folder(report)
    for old in sorted(report.iterdir()):
        if old.suffix in (".csv", ".tex", ".svg"):
            remove_file(old)
    written = {name: with_embedding_column(study, one) for name, one in tables.items()}
    speaker = study.description.backend_about
    # A table may be used without its page, so each names who answered.
    write_csv(report, {name: _answered(one, speaker) for name, one in written.items()}, speaker)
    for name, table in written.items():
        write_atomically(report / f"{name}.tex", latex(table, speaker))
    for name, picture in pictures.items():
        write_atomically(report / f"{name}.svg", standalone_svg(picture))
    # ``gather`` has written a new list, without these files.
    update_hashes(study.folder, report.glob("*.*"))
    return write_html(study.folder / "report.html", page)


def render_study(study: Study) -> tuple[str, dict[str, pd.DataFrame], dict[str, Markup]]:
    """The page of a study as HTML, and its tables and figures by the names of their files."""
    description = study.description
    # Review scores come first; the other outcomes are distances and counts.
    results = sorted(
        compute_comparisons(study), key=lambda one: not one.measure.startswith("review.")
    )
    tests = sum(one.planned for one in results)
    pictures: dict[str, Markup | None] = {}
    found, sections = _all_tables(study, results), []
    for number, figure in enumerate(description.figures, 1):
        section = figures.scatter_section(study, figure)
        name = file_name("figure", str(number), figure.title)
        pictures[name], found[name] = section["picture"], section["table"]
        sections.append(section | {"title": figure.title, "rows": records(section["table"])})
    tables = {
        name: table if study.shows_p else without_p(table)
        for name, table in found.items()
        if table is not None and len(table)
    }
    differences = _differences(study, results, tables.get("differences", pd.DataFrame()))
    for one in differences:
        pictures[file_name(one["name"], "differences")] = one["picture"]
    pairs = [_pairs(one) for one in results if one.planned and _pairs(one)]
    usable = min([study.fewest, *pairs])
    power = power_sentences(usable, description.paired, tests) if study.shows_p else []
    environment = template_environment(
        "virsci_society.scenarios.study", "virsci_society.metrics.report"
    )
    first, fresh = description.arms[0], _rows(study, "measures", tables["measures"])
    page = environment.get_template("study.html").render(
        style=style_sheet(environment),
        description=description,
        interim=study.interim,
        shows_p=study.shows_p,
        interval={
            "mean": STUDENT,
            "bootstrap": BCA,
            "difference": STUDENT if description.paired else "Welch's t",
            "pearson": FISHER,
            "spearman": BONETT_WRIGHT,
        },
        answer=answer(study, results),
        measures=_groups(study, results, fresh, pictures),
        differences=differences,
        drawn=[one for one in sections if one["picture"]],
        tables={name: _rows(study, name, table) for name, table in tables.items()},
        beside=[(name, name) for name in study.arms],
        reference=f"{first.of} at the same budget" if first.of else first.name,
        novelty=[
            (name, name + study.by_embedding(name))
            for name in COLUMNS
            if name in description.measures
        ],
        among=lambda rows: [("among", "among")] if any(row["among"] for row in rows) else [],
        matched=_matched_rows(tables.get("matched")),
        states=study.runs["state"].value_counts().sort_index().to_dict(),
        fewest=study.fewest,
        sketch=MIN_REPLICATES,
        power=[line.replace(" %", "\u202f%") for line in power],
        tests=tests,
        added=len(results) - tests,
        arms=[
            {
                "name": one.name,
                "set": ", ".join(f"{key}: {format_value(one.set[key])}" for key in one.set)
                or "as the base",
            }
            for one in description.arms
        ],
        leak=[
            (key.replace("_", " "), "not known" if value is None else format_value(value))
            for key, value in sorted(description.leak.items())
        ],
        shown=RUNS_SHOWN,
        arms_drawn=figures.ARMS_SHOWN,
    )
    drawn = {name: picture for name, picture in pictures.items() if picture is not None}
    return page, tables, drawn


def _all_tables(
    study: Study, results: Sequence[ComparisonResult]
) -> dict[str, pd.DataFrame | None]:
    """Every table by the name of its file; None or empty where the study has nothing of it."""
    names = study.description.measures
    measured = [measure_by_arm(study, name) for name in names]
    by_arm, reviews = pd.concat(measured, ignore_index=True), reviews_by_arm(study)
    few = 1 < len(study.arms) <= ARMS_BESIDE
    texts = study.optional("texts")
    if texts is not None:
        means = by_arm.pivot(index="arm", columns="measure", values="mean")
        means = means[[name for name in COLUMNS if name in means]]
        texts = texts.merge(means.reset_index(), on="arm", how="left")
    gone = study.runs.loc[study.runs["state"] != "done", ["run", "arm", "replicate", "state"]]
    kinds = dict.fromkeys(one.table for one in results)
    return {
        "plan": plan_table(study, results),
        "matched": study.optional("matched") if study.description.match else None,
        "arms_side_by_side": arms_side_by_side(by_arm) if few else None,
        "texts": texts,
        "measures": by_arm,
        **{
            kind: pd.DataFrame([one.row() for one in results if one.table == kind])
            for kind in kinds
        },
        "sensitivity": sensitivity(study),
        "reviews_by_arm": reviews,
        "too_narrow": too_narrow(by_arm),
        "runs_not_done": gone.assign(reason=[study.failure_reason(run) for run in gone["run"]]),
    }


def _groups(
    study: Study,
    results: Sequence[ComparisonResult],
    rows: Sequence[dict[str, Any]],
    pictures: dict[str, Markup | None],
) -> list[tuple[str, list[dict[str, Any]]]]:
    """Measures with figures and rows, outcomes first; figures are added to those of the page."""
    outcomes = {one.measure for one in results}
    groups: dict[str, list[dict[str, Any]]] = {"": [], "Other measures": []}
    for name in study.description.measures:
        drawn = figures.measure_figures(study, name)
        for number, picture in enumerate(drawn, 1):
            pictures[file_name(name, *([str(number)] if len(drawn) > 1 else []))] = picture
        mine = [row for row in rows if row["name"] == name]
        groups["" if name in outcomes or not outcomes else "Other measures"].append(
            {
                "name": name,
                "label": study.label(name),
                "unit": unit_of(study, name),
                "meaning": MEASURES[name].details if name in MEASURES else "",
                "figures": drawn,
                "rows": mine,
                "missing": sum(row["missing"] for row in mine),
            }
        )
    return [(title, group) for title, group in groups.items() if group]


def _rows(study: Study, name: str, table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table as the page shows them: labels of measures, shares in per cent."""
    columns: Iterable[str] = IN_THE_UNIT.get(name, ())
    if name == "arms_side_by_side":
        columns = study.arms
    rows = records(table)
    for row in rows:
        if "measure" in row:
            row["name"], scale = row["measure"], percentage(row["measure"])
            for column in columns:
                row[column] *= scale
            row["measure"] = study.label(row["name"]) + (", %" if columns and scale > 1 else "")
        if "against" in row:
            row["against"] = study.label(row["against"])
    return rows


def _differences(
    study: Study, results: Sequence[ComparisonResult], table: pd.DataFrame
) -> list[dict[str, Any]]:
    """The planned differences of arms by measure, with their figure, rows and sentences."""
    by_measure: dict[str, list[dict[str, Any]]] = {}
    for row in _rows(study, "differences", table):
        by_measure.setdefault(row["name"], []).append(row)
        row["arms"], row["name"] = (row["first"], row["second"]), row["second"]
        sides = [str(arm).split(",") for arm in row["arms"]]
        if len(sides[0]) == len(sides[1]) and all("=" in part for side in sides for part in side):
            parts = list(zip(*sides, strict=True))
            alike = [one for one, other in parts if one == other]
            row["first"] = ", ".join(one for one, other in parts if one != other)
            row["name"] = ", ".join([other for one, other in parts if one != other] + alike)
    tests = sum(one.planned for one in results)
    found = []
    for measure, rows in by_measure.items():
        mine = [one for one in results if one.planned and one.measure == measure]
        picture = figures.difference_figure(study, measure, rows)
        for row in rows:
            if row["note"] == NOT_EXERCISED:
                row["difference"] = "not exercised"
        found.append(
            {
                "name": measure,
                "label": study.label(measure),
                "unit": unit_of(study, measure),
                "picture": picture,
                "rows": rows,
                "from": {row["first"] for row in rows},
                "sentences": [finding(study, one, tests) for one in mine],
            }
        )
    return found


def _matched_rows(table: pd.DataFrame | None) -> list[dict[str, Any]]:
    """Matched arms, with signed deviations in per cent."""
    rows = [] if table is None else records(table)
    for row in rows:
        row["key"] = row["key"] if isinstance(row["key"], str) else "as given"
        for name in ("planned_off", "spent_off"):
            # An arm that is as given has no target.
            sign = "+" if (row[name] or 0) > 0 else ""
            row[name] = sign + format_percent(row[name])
    return rows


def answer(study: Study, results: Sequence[ComparisonResult]) -> list[str]:
    """The answer: a sentence for each result of the first planned comparison with an estimate."""
    planned = [one for one in results if one.planned]
    if not planned:
        return ["No comparison was planned, so this page is descriptive."]
    lead = next((one for one in planned if np.isfinite(one.p)), planned[0])
    shown = TOLD if np.isfinite(lead.p) else 1
    first = [one for one in planned if one.plan == lead.plan][:shown]
    sentences = [finding(study, one, len(planned)) for one in first]
    if more := len(planned) - len(first):
        unknown = sum(not np.isfinite(one.p) for one in planned if one not in first)
        beside = f", {unknown} of them without an estimate" if unknown else ""
        sentences.append(f"{count_of(more, 'further comparison')} below{beside}.")
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
        corrected = f" adjusted for {tests} tests" if tests > 1 else ""
        verdict = f"p {p}{corrected}: {'' if one.holm < ALPHA else 'not '}significant"
    if isinstance(found, ArmDifference):
        sentence = _difference(study, one, label, verdict)
    elif not np.isfinite(one.p):
        why = f" ({found.note})" if found.note else ""
        sentence = f"{label} cannot be compared over {against}{why}"
    elif isinstance(found, Correlation):
        way = "rose" if found.r > 0 else "fell"
        verb = f"{way} with" if one.test == RANK_TREND else "went together with"
        name = "Pearson’s r" if one.test == "Pearson" else "Spearman’s rho"
        ends = f"{format_number(found.low)} to {format_number(found.high)}"
        brackets = _brackets(study, one, (found.low, found.high), ends, verdict)
        numbers = ", ".join(filter(None, (format_number(found.r), brackets)))
        sentence = f"{label}{among} {verb} {against} ({name} {numbers})"
    elif study.shows_p:
        shape = "rose and then fell" if one.holm < ALPHA else "did not clearly rise and then fall"
        sentence = f"{label}{among} {shape} over {against} ({verdict})"
    else:
        slopes = (
            f"slope {format_number(line.slope)} {side} {format_number(found.break_point)} "
            f"(95{THIN_SPACE}% interval {format_number(line.low)} to {format_number(line.high)})"
            for side, line in (("before", found.first), ("after", found.second))
        )
        sentence = f"{label}{among} over {against}: {' and '.join(slopes)}"
    for other in in_other_embeddings(study, one):
        if isinstance(other.result, TwoLines) or not np.isfinite([one.p, other.p]).all():
            continue
        sentence += f"; {other.measure.partition(' by ')[2]} has {format_number(other.estimate)}"
        if study.shows_p:
            same = (one.p < ALPHA) == (other.p < ALPHA) and one.estimate * other.estimate > 0
            sentence += " and agrees" if same else ": the embeddings do not agree"
    return f"{sentence[:1].upper()}{sentence[1:]}."


def unit_of(study: Study, measure: str) -> str:
    """The unit of differences of a measure; empty if its label contains it."""
    if percentage(measure) > 1:
        return "points"
    counted = study.label(measure).startswith(("number", "mean number"))
    return "" if counted or measure not in MEASURES else MEASURES[measure].unit


def _difference(study: Study, one: ComparisonResult, label: str, verdict: str) -> str:
    """A sentence about the difference of two arms, with its interval and the verdict."""
    first, second = map(study.circumstance, one.of)
    if one.result.note == EQUAL_PAIRS:
        return f"{label} was the same {second} as {first}, pair by pair"
    if one.result.note == NOT_EXERCISED:
        return f"{label} was the same {second} as {first} in every pair: not exercised"
    if not np.isfinite(one.p):
        why = f" ({one.result.note})" if one.result.note else ""
        return f"{label} {second} cannot be compared with that {first}{why}"
    in_points, unit = percentage(one.measure) > 1, unit_of(study, one.measure)
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
    if 0 < _pairs(one) < study.fewest:
        # A run in which the measure is undefined has no pair.
        brackets = f"{_pairs(one)} of {study.fewest} pairs; {brackets}"
    return f"{second}, {label} was {way if value else 'the same as'} {first} ({brackets})"


def _pairs(one: ComparisonResult) -> int:
    """Number of pairs of runs behind a difference; 0 for other comparisons."""
    found = one.result
    if isinstance(found, ArmDifference) and found.test == "paired t":
        return found.difference.n
    return 0


def _brackets(
    study: Study, one: ComparisonResult, bounds: tuple[float, float], ends: str, verdict: str
) -> str:
    """The interval and the verdict, and why they disagree about zero, if they do."""
    if not np.isfinite(bounds).all():
        return verdict
    without_zero, note = bounds[0] > 0 or bounds[1] < 0, ""
    if study.shows_p and without_zero != (one.holm < ALPHA):
        note = ", unadjusted," if without_zero and one.p < ALPHA else " by another method"
    interval = f"95{THIN_SPACE}% interval{note} {ends}"
    return f"{interval}; {verdict}" if verdict else interval


def plan_table(study: Study, results: Sequence[ComparisonResult]) -> pd.DataFrame:
    """Planned and performed analyses: comparisons, usable replicates, deviations."""
    description = study.description
    rows = []
    for number, plan in enumerate(description.comparisons):
        mine = [one for one in results if one.plan == number]
        estimated = sum(bool(np.isfinite(one.p)) for one in mine)
        when = "added after the lock" if plan.exploratory else "before the first run"
        tests = f"{count_of(len(mine), 'test')}, {estimated} estimated"
        rows.append((plan.describe(), when, tests))
    if description.usable:
        most = ", ".join(f"{name} at most {value:g}" for name, value in description.usable.items())
        left_out = [f"run {run:04d} ({why})" for run, why in description.unusable.items()]
        without = ": " + ", ".join(left_out) if left_out else ""
        rows.append(("usable replicates", most, f"{len(left_out)} not usable{without}"))
    rows += [("deviation", "", line) for line in description.deviations]
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
    """Measures whose t intervals have poor coverage of the mean, with the coverage."""
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


def reviews_by_arm(study: Study) -> pd.DataFrame:
    """Mean of each score of reviews in each arm, and its gain over the first arm at its budget."""
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
    """Spearman's correlation of each measure with each key of a sampled design, over its arms."""
    rows = []
    for measure in study.description.measures if study.sampled else ():
        for key in study.numeric_keys():
            found = spearman(*key_and_measure(study, measure, key, study.arms))
            row = {"measure": measure, "key": key, "n": found.n, "rho": found.r}
            rows.append(row | {"low": found.low, "high": found.high, "p": found.p})
    return pd.DataFrame(rows)


def with_embedding_column(study: Study, table: pd.DataFrame) -> pd.DataFrame:
    """Add a column ``embedding`` next to the names of novelty measures."""
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


def _answered(table: pd.DataFrame, speaker: str) -> pd.DataFrame:
    """Append a column ``answers``; an arm may have that name, too."""
    said = pd.Series(speaker, table.index, name="answers", dtype=object)
    return pd.concat([table, said], axis=1) if speaker else table


def latex(table: pd.DataFrame, speaker: str = "") -> str:
    """A table for LaTeX with booktabs and a last line that names who answered.

    Texts are escaped, numbers have four digits.
    """

    def cell(value: Any) -> str:
        # A number in mathematics, so that its sign is a minus.
        return value if isinstance(value, str) else f"${value:.4g}$".replace("e", r"\mathrm{e}")

    plain = table.map(lambda value: plain_text(value) if isinstance(value, str) else value)
    styled = plain.style.format(cell, escape="latex", na_rep="--").hide(axis="index")
    styled = styled.format_index(lambda name: str(name).replace("\\_", " "), axis=1, escape="latex")
    texts = [table[name].map(lambda one: isinstance(one, str)).any() for name in table]
    columns = "".join("l" if is_text else "r" for is_text in texts)
    made = str(styled.to_latex(hrules=True, column_format=columns))
    said = re.sub(r"([&%$#_{}])", r"\\\1", plain_text(f"Answers: {speaker}."))
    line = f"\\multicolumn{{{len(columns)}}}{{l}}{{{said}}} \\\\\n"
    return made.replace("\\end{tabular}", f"{line}\\end{{tabular}}") if speaker else made


def file_name(*parts: str) -> str:
    """A name for a file from names of measures and keys: letters, digits and ``.=_-`` only."""
    return "-".join(_NO_NAME.sub("_", part).strip("._") or "_" for part in parts)
