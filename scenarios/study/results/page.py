"""The page of a study, one self-contained HTML file, readable offline without JavaScript."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from virsci_society.agents.files.file_hashes import update_hashes
from virsci_society.metrics.inference.comparisons import power_sentences
from virsci_society.metrics.inference.intervals import MIN_REPLICATES, POOR_COVERAGE
from virsci_society.metrics.measures import MEASURES
from virsci_society.metrics.novelty.novelty import COLUMNS
from virsci_society.metrics.report.templates import (
    count_of,
    format_percent,
    records,
    style_sheet,
    template_environment,
    write_html,
)
from virsci_society.scenarios.study.design import format_value
from virsci_society.scenarios.study.results import figures, tables
from virsci_society.scenarios.study.results.answer import answer, finding, percentage, unit_of
from virsci_society.scenarios.study.results.comparisons import ComparisonResult, compute_comparisons
from virsci_society.scenarios.study.results.figures import scatter_section, stacked_section
from virsci_society.scenarios.study.results.study import (
    ScatterFigure,
    StackedFigure,
    Study,
    StudyDescription,
)
from virsci_society.scenarios.study.results.tables import file_name, write_files


def plan_table(study: Study, results: Sequence[ComparisonResult]) -> pd.DataFrame:
    """What was planned beside what was done."""
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
        when = "added after the lock" if plan.exploratory else "before the first run"
        rows.append(
            (plan.describe(), when, f"{count_of(len(mine), 'test')}, {estimated} estimated")
        )
    rows += [("deviation", "", line) for line in told.deviations]
    return pd.DataFrame(rows, columns=["item", "planned", "done"])


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"


RUNS_SHOWN = 60
IN_THE_UNIT: Mapping[str, Sequence[str]] = {
    "measures": tuple(one for one in tables.MEASURE_BY_ARM[4:] if one != "skewness"),
    "inverted_u": ("slope_1", "low_1", "high_1", "slope_2", "low_2", "high_2"),
}
"""Columns of tables that are in the unit of the measure."""
ARMS_BESIDE = 8
"""Most arms of which the page shows all measures side by side."""


def write_study_page(folder: Path | str, *, interim_p: bool = False) -> Path:
    """Write ``report.html`` and ``report/*`` into a study folder, the same bytes every time."""
    study = Study.open(folder, interim_p=interim_p)
    contents = StudyPage(study)
    write_files(
        study.folder / "report", contents.tables, contents.figures, study.description.backend_about
    )
    # They have been gathered anew with the list, which names none of them yet.
    update_hashes(study.folder, (study.folder / "report").glob("*.*"))
    return write_html(study.folder / "report.html", contents.render())


class StudyPage:
    """The page of a study: its tables and figures, computed once, and rendered."""

    def __init__(self, study: Study) -> None:
        self.study = study
        # What reviewers say comes first: the other outcomes are of distances and counts.
        self.results = sorted(compute_comparisons(study), key=_is_no_review)
        self.runs_with_defaults = study.runs_with_defaults()
        self.measures: list[dict[str, Any]] = []
        self.figures: dict[str, Markup] = {}
        for measure in study.description.measures:
            self._add_measure(measure)
        self.shapes = self._shapes()
        self.correlated = figures.correlation_figures(study, self.results)
        self.figures |= {
            file_name(name, "correlations"): one for name, one in self.correlated.items()
        }
        self.drawn = [self._drawn(*one) for one in enumerate(study.description.figures, 1)]
        found = self._all_tables() | {one["file"]: one["table"] for one in self.drawn}
        self.tables = {
            name: one if study.shows_p else tables.without_p(one)
            for name, one in found.items()
            if one is not None and len(one)
        }
        self.differences = list(self._differences())

    def _all_tables(self) -> dict[str, pd.DataFrame | None]:
        """Every table by the name of its file; None or empty where the study has nothing of it."""
        study, spoilt = self.study, self.runs_with_defaults
        again = sorted(compute_comparisons(study, spoilt), key=_is_no_review) if spoilt else []
        by_arm = pd.concat([one["table"] for one in self.measures], ignore_index=True)
        reviews = tables.reviews_by_arm(study)
        few = 1 < len(study.arms) <= ARMS_BESIDE
        return {
            "plan": plan_table(study, self.results),
            "matched": study.matched_budgets(),
            "arms_side_by_side": tables.arms_side_by_side(by_arm) if few else None,
            "texts": tables.texts_with_measures(study, by_arm),
            "measures": by_arm,
            "differences": tables.differences(self.results),
            "inverted_u": tables.two_lines_tests(self.results),
            "rank_correlations": tables.rank_correlations(self.results),
            "correlations": tables.measure_correlations(self.results),
            "sensitivity": tables.sensitivity(study),
            "without_defaults": tables.without_defaults(self.results, again) if again else None,
            "reviews_by_arm": reviews,
            "gains_by_arm": tables.gains_by_arm(reviews) if len(reviews) else None,
            "coverage": tables.coverage(study),
            "runs_not_done": tables.runs_not_done(study),
        }

    def render(self) -> str:
        """The page as HTML text."""
        environment = template_environment(
            "virsci_society.scenarios.study.results", "virsci_society.metrics.report"
        )
        description, fewest = self.study.description, self.study.fewest
        tests = sum(one.planned for one in self.results)
        shows_p, interim = self.study.shows_p, self.study.interim
        power = power_sentences(fewest, description.paired, tests) if shows_p else []
        return environment.get_template("study.html").render(
            style=style_sheet(environment),
            told=description,
            interim=interim,
            shows_p=shows_p,
            interval=tables.interval_names(description.paired),
            answer=answer(self.study, self.results),
            measures=self._groups(),
            differences=self.differences,
            correlated=self.correlated,
            shapes=self.shapes,
            drawn=[one for one in self.drawn if one["picture"]],
            tables={name: self._rows(name, table) for name, table in self.tables.items()},
            beside=[(name, name) for name in self.study.arms],
            reference=_reference(description),
            gains=[
                (name, str(name).replace("_", " ")) for name in self.tables.get("gains_by_arm", ())
            ],
            novelty=[(name, name) for name in COLUMNS if name in description.measures],
            among=_among_column,
            matched=_matched_rows(self.tables.get("matched")),
            states=self.study.runs["state"].value_counts().sort_index().to_dict(),
            fewest=fewest,
            sketch=MIN_REPLICATES,
            power=[line.replace(" %", "\u202f%") for line in power],
            poor=self._poorly_covered(),
            limit=POOR_COVERAGE,
            tests=tests,
            added=sum(not one.planned for one in self.results),
            spoilt=None if self.runs_with_defaults is None else len(self.runs_with_defaults),
            arms=[{"name": one.name, "set": _settings(one.set)} for one in description.arms],
            leak=[
                (key.replace("_", " "), "not known" if value is None else format_value(value))
                for key, value in sorted(description.leak.items())
            ],
            shown=RUNS_SHOWN,
            arms_drawn=figures.ARMS_SHOWN,
        )

    def _add_measure(self, name: str) -> None:
        measure = MEASURES.get(name)
        drawn = figures.measure_figures(self.study, name)
        for index, picture in enumerate(drawn):
            number_ = (str(index + 1),) if len(drawn) > 1 else ()
            self.figures[file_name(name, *number_)] = picture
        table = tables.measure_by_arm(self.study, name)
        self.measures.append(
            {
                "name": name,
                "label": self.study.label(name),
                "unit": unit_of(self.study, name),
                "meaning": measure.meaning if measure else "",
                "figures": drawn,
                "table": table,
                "rows": self._in_percent(records(table), IN_THE_UNIT["measures"]),
                "log": bool(table["geometric_mean"].notna().any()),
                "missing": int(table["missing"].sum()),
            }
        )

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
        shown: list[dict[str, Any]] = []
        others, alike = shown[:], shown[:]
        for one in self.measures:
            is_same = self.study.is_same_in_all_arms(one["name"])
            planned = one["name"] in outcomes or not outcomes
            (alike if is_same else shown if planned else others).append(one)
        groups = [("", shown), ("Other measures", others), ("The same in every arm", alike)]
        return [(title, group) for title, group in groups if group]

    def _differences(self) -> Iterator[dict[str, Any]]:
        """The planned differences of arms, measure by measure, with their figure and their rows."""
        table = self.tables.get("differences", pd.DataFrame({"measure": []}))
        tests = sum(one.planned for one in self.results)
        for measure in table["measure"].unique():
            rows = _difference_rows(table[table["measure"] == measure])
            self._in_percent(rows, ("difference", "low", "high"))
            picture = figures.difference_figure(self.study, measure, rows)
            if picture is not None:
                self.figures[file_name(measure, "differences")] = picture
            mine = [one for one in self.results if one.planned and one.measure == measure]
            yield {
                "name": measure,
                "label": self.study.label(measure),
                "unit": unit_of(self.study, measure),
                "picture": picture,
                "rows": rows,
                "from": {row["first"] for row in rows},
                "sentences": [finding(self.study, one, tests) for one in mine],
            }

    def _shapes(self) -> list[Markup]:
        """Figures of the two-lines tests, with the arms that each was planned for."""
        tests = [result for result in self.results if result.test == "two lines"]
        drawn = []
        for index, result in enumerate(tests):
            arms = self.study.description.comparisons[result.plan].arms or self.study.arms
            picture = figures.two_lines_figure(self.study, result, arms)
            if picture is not None:
                drawn.append(picture)
                self.figures[file_name(result.measure, "two_lines", *result.of, str(index + 1))] = (
                    picture
                )
        return drawn

    def _drawn(self, number: int, figure: StackedFigure | ScatterFigure) -> dict[str, Any]:
        """A figure that the study asks for, and what it shows in numbers."""
        section = (
            scatter_section(self.study, figure)
            if isinstance(figure, ScatterFigure)
            else stacked_section(self.study, figure)
        )
        file = file_name("figure", str(number), figure.title)
        if section["picture"] is not None:
            self.figures[file] = section["picture"]
        rows = records(section["table"])
        return section | {"file": file, "title": figure.title, "rows": rows}

    def _poorly_covered(self) -> list[dict[str, Any]]:
        """Measures whose t intervals are known to cover too seldom."""
        logs = {one["name"]: one["log"] for one in self.measures}
        return [
            {**row, "label": self.study.label(row["measure"]), "logged": logs[row["measure"]]}
            for row in records(tables.coverage(self.study))
            if row["t"] < POOR_COVERAGE
        ]


def _is_no_review(one: ComparisonResult) -> bool:
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


def _reference(description: StudyDescription) -> str:
    """The arm that gains are against, in words."""
    first = description.arms[0]
    return f"{first.of} at the same budget" if first.of else first.name


def _settings(given: dict[str, Any]) -> str:
    settings = (f"{key}: {format_value(value)}" for key, value in given.items())
    return ", ".join(settings) or "as the base"
