"""The page of a study, one self-contained HTML file, readable offline without JavaScript."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from virsci_society.agents.files.file_hashes import update_hashes
from virsci_society.metrics.inference.comparisons import power_sentences
from virsci_society.metrics.inference.intervals import MIN_REPLICATES, POOR_COVERAGE
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
    Study,
    comparison_tables,
    compute_comparisons,
    without_p,
)
from virsci_society.scenarios.study.study_file import Scatter

RUNS_SHOWN = 60
IN_THE_UNIT = {
    "measures": (
        *("mean", "low", "high", "bca_low", "bca_high", "geometric_mean", "log_low", "log_high"),
        "deviation",
    ),
    "inverted_u": ("slope_1", "low_1", "high_1", "slope_2", "low_2", "high_2"),
}
"""Columns of tables that are in the unit of the measure."""
ARMS_BESIDE = 8
"""Most arms of which the page shows all measures side by side."""


def write_study_page(folder: Path | str, *, interim_p: bool = False) -> Path:
    """Write ``report.html`` and ``report/*`` into a study folder, the same bytes every time."""
    study = Study.open(folder, interim_p=interim_p)
    page, report = StudyPage(study), study.folder / "report"
    report_tables.write_files(report, page.tables, page.figures, study.description.backend_about)
    # They have been gathered anew with the list, which names none of them yet.
    update_hashes(study.folder, report.glob("*.*"))
    return write_html(study.folder / "report.html", page.render())


class StudyPage:
    """The page of a study: its tables and figures, computed once, and rendered."""

    def __init__(self, study: Study) -> None:
        self.study, description = study, study.description
        # What reviewers say comes first: the other outcomes are of distances and counts.
        self.results = sorted(compute_comparisons(study), key=_is_no_review)
        self.tests = sum(one.planned for one in self.results)
        self.figures: dict[str, Markup] = {}
        self.measures = [self._measure(name) for name in description.measures]
        shapes = [one for one in self.results if one.test == "two lines"]
        drawn = [figures.two_lines_figure(study, one) for one in shapes]
        self.shapes = [one for one in drawn if one is not None]
        for number, (one, picture) in enumerate(zip(shapes, drawn, strict=True), 1):
            self._keep(picture, one.measure, "two_lines", *one.of, str(number))
        self.correlated = figures.correlation_figures(study, self.results)
        for name, picture in self.correlated.items():
            self._keep(picture, name, "correlations")
        self.drawn = []
        for number, figure in enumerate(description.figures, 1):
            if isinstance(figure, Scatter):
                section = figures.scatter_section(study, figure)
            else:
                section = figures.stacked_section(study, figure)
            file = self._keep(section["picture"], "figure", str(number), figure.title)
            rows = records(section["table"])
            self.drawn.append(section | {"file": file, "title": figure.title, "rows": rows})
        found = self._all_tables() | {one["file"]: one["table"] for one in self.drawn}
        self.tables = {
            name: one if study.shows_p else without_p(one)
            for name, one in found.items()
            if one is not None and len(one)
        }
        self.differences = list(self._differences())

    def _keep(self, picture: Markup | None, *name: str) -> str:
        """Keep a figure, if there is one, under the name of its file, which is returned."""
        file = file_name(*name)
        if picture is not None:
            self.figures[file] = picture
        return file

    def _all_tables(self) -> dict[str, pd.DataFrame | None]:
        """Every table by the name of its file; None or empty where the study has nothing of it."""
        study = self.study
        self.spoilt = spoilt = study.runs_with_defaults()
        again = sorted(compute_comparisons(study, spoilt), key=_is_no_review) if spoilt else []
        by_arm = pd.concat([one["table"] for one in self.measures], ignore_index=True)
        reviews = report_tables.reviews_by_arm(study)
        few = 1 < len(study.arms) <= ARMS_BESIDE
        return {
            "plan": report_tables.plan_table(study, self.results),
            "matched": study.matched_budgets(),
            "arms_side_by_side": report_tables.arms_side_by_side(by_arm) if few else None,
            "texts": report_tables.texts_with_measures(study, by_arm),
            "measures": by_arm,
            **comparison_tables(self.results),
            "sensitivity": report_tables.sensitivity(study),
            "without_defaults": report_tables.without_defaults(self.results, again)
            if again
            else None,
            "reviews_by_arm": reviews,
            "gains_by_arm": report_tables.gains_by_arm(reviews) if len(reviews) else None,
            "coverage": report_tables.coverage(study),
            "runs_not_done": report_tables.runs_not_done(study),
        }

    def render(self) -> str:
        """The page as HTML text."""
        environment = template_environment(
            "virsci_society.scenarios.study", "virsci_society.metrics.report"
        )
        study, described, tables = self.study, self.study.description, self.tables
        power: list[str] = []
        if study.shows_p:
            power = power_sentences(study.fewest, described.paired, self.tests)
        first, logs = described.arms[0], {one["name"]: one["log"] for one in self.measures}
        return environment.get_template("study.html").render(
            style=style_sheet(environment),
            told=described,
            interim=study.interim,
            shows_p=study.shows_p,
            interval=report_tables.interval_names(described.paired),
            answer=answer(study, self.results),
            measures=self._groups(),
            differences=self.differences,
            correlated=self.correlated,
            shapes=self.shapes,
            drawn=[one for one in self.drawn if one["picture"]],
            tables={name: self._rows(name, table) for name, table in tables.items()},
            beside=[(name, name) for name in study.arms],
            reference=f"{first.of} at the same budget" if first.of else first.name,
            gains=[(name, str(name).replace("_", " ")) for name in tables.get("gains_by_arm", ())],
            novelty=[(name, name) for name in COLUMNS if name in described.measures],
            among=_among_column,
            matched=_matched_rows(tables.get("matched")),
            states=study.runs["state"].value_counts().sort_index().to_dict(),
            fewest=study.fewest,
            sketch=MIN_REPLICATES,
            power=[line.replace(" %", "\u202f%") for line in power],
            # Measures whose t intervals are known to cover too seldom.
            poor=[
                {**row, "label": study.label(row["measure"]), "logged": logs[row["measure"]]}
                for row in records(tables.get("coverage", pd.DataFrame()))
                if row["t"] < POOR_COVERAGE
            ],
            limit=POOR_COVERAGE,
            tests=self.tests,
            added=len(self.results) - self.tests,
            spoilt=None if self.spoilt is None else len(self.spoilt),
            arms=[{"name": one.name, "set": _settings(one.set)} for one in described.arms],
            leak=[
                (key.replace("_", " "), "not known" if value is None else format_value(value))
                for key, value in sorted(described.leak.items())
            ],
            shown=RUNS_SHOWN,
            arms_drawn=figures.ARMS_SHOWN,
        )

    def _measure(self, name: str) -> dict[str, Any]:
        """A measure with its figures and its table by arm."""
        drawn = figures.measure_figures(self.study, name)
        for number, picture in enumerate(drawn, 1):
            self._keep(picture, name, *([str(number)] if len(drawn) > 1 else []))
        table = report_tables.measure_by_arm(self.study, name)
        return {
            "name": name,
            "label": self.study.label(name),
            "unit": unit_of(self.study, name),
            "meaning": MEASURES[name].meaning if name in MEASURES else "",
            "figures": drawn,
            "table": table,
            "rows": self._in_percent(records(table), IN_THE_UNIT["measures"]),
            "log": bool(table["geometric_mean"].notna().any()),
            "missing": int(table["missing"].sum()),
        }

    def _rows(self, name: str, table: pd.DataFrame) -> list[dict[str, Any]]:
        """The rows of a table as the page shows them: measures in words, shares in per cent."""
        values = self.study.arms if name == "arms_side_by_side" else IN_THE_UNIT.get(name, ())
        rows = self._in_percent(records(table), values)
        for row in rows:
            unit = ", %" if values and percentage(self.study, row["measure"]) > 1 else ""
            for column in {"measure", "against"} & {*row}:
                row[column] = self.study.label(row[column]) + unit
        return rows

    def _in_percent(
        self, rows: list[dict[str, Any]], columns: Iterable[str]
    ) -> list[dict[str, Any]]:
        """Rows with a measure each, of which shares are told in per cent in some columns."""
        for row, column in product(rows, columns):
            row[column] *= percentage(self.study, row["measure"])
        return rows

    def _groups(self) -> list[tuple[str, list[dict[str, Any]]]]:
        """Outcomes of planned comparisons first; other measures, and what never differs, folded."""
        outcomes = {one.measure for one in self.results}
        groups: dict[str, list[dict[str, Any]]] = {
            "": [],
            "Other measures": [],
            "The same in every arm": [],
        }
        for one in self.measures:
            is_same = self.study.is_same_in_all_arms(one["name"])
            planned = one["name"] in outcomes or not outcomes
            title = "The same in every arm" if is_same else "" if planned else "Other measures"
            groups[title].append(one)
        return [(title, group) for title, group in groups.items() if group]

    def _differences(self) -> Iterator[dict[str, Any]]:
        """The planned differences of arms, measure by measure, with their figure and their rows."""
        table = self.tables.get("differences", pd.DataFrame({"measure": []}))
        for measure in table["measure"].unique():
            rows = _difference_rows(table[table["measure"] == measure])
            self._in_percent(rows, ("difference", "low", "high"))
            picture = figures.difference_figure(self.study, measure, rows)
            self._keep(picture, measure, "differences")
            mine = [one for one in self.results if one.planned and one.measure == measure]
            yield {
                "name": measure,
                "label": self.study.label(measure),
                "unit": unit_of(self.study, measure),
                "picture": picture,
                "rows": rows,
                "from": {row["first"] for row in rows},
                "sentences": [finding(self.study, one, self.tests) for one in mine],
            }


def _is_no_review(one: Any) -> bool:
    return not one.measure.startswith("review.")


def _among_column(rows: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """The column that says among which arms, where any row has something in it."""
    return [("among", "among")] if any(row["among"] for row in rows) else []


def _difference_rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The differences with both ``arms``, and short names: of two arms of a grid what differs."""
    rows = records(table)
    for row in rows:
        row["arms"], row["name"] = (row["first"], row["second"]), row["second"]
        sides = [str(arm).split(",") for arm in row["arms"]]
        if len(sides[0]) == len(sides[1]) and all("=" in part for side in sides for part in side):
            parts = list(zip(*sides, strict=True))
            alike = [one for one, other in parts if one == other]
            row["first"] = ", ".join(one for one, other in parts if one != other)
            row["name"] = ", ".join([other for one, other in parts if one != other] + alike)
    return rows


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


def _settings(given: dict[str, Any]) -> str:
    settings = (f"{key}: {format_value(value)}" for key, value in given.items())
    return ", ".join(settings) or "as the base"
