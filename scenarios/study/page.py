"""The page of a study, one self-contained HTML file, readable offline without JavaScript."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from virsci_society.agents.files.file_hashes import update_hashes
from virsci_society.metrics.inference.comparisons import power_sentences
from virsci_society.metrics.inference.correlations import BONETT_WRIGHT, FISHER
from virsci_society.metrics.inference.intervals import BCA, MIN_REPLICATES, STUDENT
from virsci_society.metrics.measures import MEASURES
from virsci_society.metrics.novelty.novelty import COLUMNS
from virsci_society.metrics.report.templates import (
    format_percent,
    records,
    style_sheet,
    template_environment,
    write_html,
)
from virsci_society.scenarios.study import figures, report_tables
from virsci_society.scenarios.study.answer import answer, finding, percentage, unit_of
from virsci_society.scenarios.study.design import format_value
from virsci_society.scenarios.study.report_tables import file_name
from virsci_society.scenarios.study.study import (
    ComparisonResult,
    Study,
    compute_comparisons,
    without_p,
)
from virsci_society.scenarios.study.study_file import Scatter

RUNS_SHOWN = 60
IN_THE_UNIT = {
    "measures": ("mean", "low", "high", "bca_low", "bca_high", "deviation"),
    "inverted_u": ("slope_1", "low_1", "high_1", "slope_2", "low_2", "high_2"),
    "differences": ("difference", "low", "high"),
}
"""Columns of tables that are in the unit of the measure."""
ARMS_BESIDE = 8
"""Most arms of which the page shows all measures side by side."""
GROUPS = ("", "Other measures", "The same in every arm")


def write_study_page(folder: Path | str, *, interim_p: bool = False) -> Path:
    """Write ``report.html`` and ``report/*`` into a study folder, the same bytes every time."""
    study = Study.open(folder, interim_p=interim_p)
    page, tables, pictures = render_study(study)
    report = study.folder / "report"
    report_tables.write_files(
        report,
        {name: report_tables.with_embedding_column(study, one) for name, one in tables.items()},
        pictures,
        study.description.backend_about,
        in_latex={
            name: report_tables.with_embedding_in_names(study, one) for name, one in tables.items()
        },
    )
    # They have been gathered anew with the list, which names none of them yet.
    update_hashes(study.folder, report.glob("*.*"))
    return write_html(study.folder / "report.html", page)


def render_study(study: Study) -> tuple[str, dict[str, pd.DataFrame], dict[str, Markup]]:
    """The page of a study as HTML, and its tables and figures by the names of their files."""
    told = study.description
    # What reviewers say comes first: the other outcomes are of distances and counts.
    results = sorted(
        compute_comparisons(study), key=lambda one: not one.measure.startswith("review.")
    )
    tests = sum(one.planned for one in results)
    pictures: dict[str, Markup | None] = {}
    found, sections = _all_tables(study, results), []
    for number, figure in enumerate(told.figures, 1):
        is_scatter = isinstance(figure, Scatter)
        draw = figures.scatter_section if is_scatter else figures.stacked_section
        section = draw(study, figure)  # type: ignore[arg-type]
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
    power = power_sentences(study.fewest, told.paired, tests) if study.shows_p else []
    environment = template_environment(
        "virsci_society.scenarios.study", "virsci_society.metrics.report"
    )
    first, fresh = told.arms[0], _rows(study, "measures", tables["measures"])
    page = environment.get_template("study.html").render(
        style=style_sheet(environment),
        told=told,
        interim=study.interim,
        shows_p=study.shows_p,
        interval={
            "mean": STUDENT,
            "bootstrap": BCA,
            "difference": STUDENT if told.paired else "Welch's t",
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
            (name, name + study.by_embedding(name)) for name in COLUMNS if name in told.measures
        ],
        among=_among_column,
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
            for one in told.arms
        ],
        leak=[
            (key.replace("_", " "), "not known" if value is None else format_value(value))
            for key, value in sorted(told.leak.items())
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
    measured = [report_tables.measure_by_arm(study, name) for name in names]
    by_arm, reviews = pd.concat(measured, ignore_index=True), report_tables.reviews_by_arm(study)
    few = 1 < len(study.arms) <= ARMS_BESIDE
    kinds = dict.fromkeys(one.table for one in results)
    return {
        "plan": report_tables.plan_table(study, results),
        "matched": study.optional("matched") if study.description.match else None,
        "arms_side_by_side": report_tables.arms_side_by_side(by_arm) if few else None,
        "texts": report_tables.texts_with_measures(study, by_arm),
        "measures": by_arm,
        **{
            kind: pd.DataFrame([one.row() for one in results if one.table == kind])
            for kind in kinds
        },
        "sensitivity": report_tables.sensitivity(study),
        "reviews_by_arm": reviews,
        "too_narrow": report_tables.too_narrow(by_arm),
        "runs_not_done": report_tables.runs_not_done(study),
    }


def _groups(
    study: Study,
    results: Sequence[ComparisonResult],
    rows: Sequence[dict[str, Any]],
    pictures: dict[str, Markup | None],
) -> list[tuple[str, list[dict[str, Any]]]]:
    """Measures with figures and rows; outcomes first, what nobody compares or never differs last.

    Their figures are added to the pictures of the page.
    """
    outcomes = {one.measure for one in results}
    groups: dict[str, list[dict[str, Any]]] = {title: [] for title in GROUPS}
    for name in study.description.measures:
        drawn = figures.measure_figures(study, name)
        for number, picture in enumerate(drawn, 1):
            pictures[file_name(name, *([str(number)] if len(drawn) > 1 else []))] = picture
        mine = [row for row in rows if row["name"] == name]
        planned = name in outcomes or not outcomes
        title = GROUPS[2] if study.is_same_in_all_arms(name) else GROUPS[0 if planned else 1]
        groups[title].append(
            {
                "name": name,
                "label": study.label(name),
                "unit": unit_of(study, name),
                "meaning": MEASURES[name].meaning if name in MEASURES else "",
                "figures": drawn,
                "rows": mine,
                "missing": sum(row["missing"] for row in mine),
            }
        )
    return [(title, group) for title, group in groups.items() if group]


def _rows(study: Study, name: str, table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a table as the page shows them: measures in words, shares in per cent."""
    columns: Iterable[str] = IN_THE_UNIT.get(name, ())
    if name == "arms_side_by_side":
        columns = study.arms
    rows = records(table)
    for row in rows:
        if "measure" in row:
            row["name"], scale = row["measure"], percentage(study, row["measure"])
            for column in columns:
                row[column] *= scale
            row["measure"] = study.label(row["name"]) + (", %" if columns and scale > 1 else "")
        if "against" in row:
            row["against"] = study.label(row["against"])
    return rows


def _differences(
    study: Study, results: Sequence[ComparisonResult], table: pd.DataFrame
) -> list[dict[str, Any]]:
    """The planned differences of arms by measure, with their figure, rows and sentences.

    Of two arms of a grid, names are what differs.
    """
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
        found.append(
            {
                "name": measure,
                "label": study.label(measure),
                "unit": unit_of(study, measure),
                "picture": figures.difference_figure(study, measure, rows),
                "rows": rows,
                "from": {row["first"] for row in rows},
                "sentences": [finding(study, one, tests) for one in mine],
            }
        )
    return found


def _among_column(rows: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """The column that says among which arms, where any row has something in it."""
    return [("among", "among")] if any(row["among"] for row in rows) else []


def _matched_rows(table: pd.DataFrame | None) -> list[dict[str, Any]]:
    """What was matched, with deviations in percent and their sign."""
    rows = [] if table is None else records(table)
    for row in rows:
        row["key"] = row["key"] if isinstance(row["key"], str) else "as given"
        for name in ("planned_off", "spent_off"):
            # An arm that is as given has no target.
            sign = "+" if (row[name] or 0) > 0 else ""
            row[name] = sign + format_percent(row[name])
    return rows
