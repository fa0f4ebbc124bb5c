"""Page: one study as one self-contained HTML page, readable offline and without JavaScript."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from metrics.inference.coverage import POOR
from metrics.inference.effects import detectable_effect, detectable_paired
from metrics.inference.sample import SKETCH
from metrics.measures import MEASURES
from metrics.report.page import number, pages, style
from metrics.study import figures, stacks, tables
from metrics.study.comparing import compared
from metrics.study.files import file_name, write_files
from metrics.study.study import Stack, Study

RUNS_SHOWN = 60
POWER = 0.8


def write_study_page(folder: Path | str) -> Path:
    """Write ``report.html`` and ``report/*`` into a study folder, the same bytes every time.

    Returns:
        The path of the page; a link there is not followed.

    Raises:
        InputError: it is no study folder, or its runs were not gathered.
    """
    study = Study.open(folder)
    contents = Contents(study)
    write_files(study.folder / "report", contents.tables, contents.figures)
    path = study.folder / "report.html"
    path.unlink(missing_ok=True)
    path.write_text(contents.page(), encoding="utf-8")
    return path


class Contents:
    """What the page of a study shows.

    Attributes:
        study: the study.
        found: its planned comparisons, computed.
        tables: every table by the name of its file.
        figures: every figure by the name of its file.
    """

    def __init__(self, study: Study) -> None:
        self.study = study
        self.found = compared(study)
        self.spoilt = study.defaulted()
        self.measures: list[dict[str, Any]] = []
        self.figures: dict[str, Markup] = {}
        for measure in study.told.measures:
            self._add_measure(measure)
        self.shapes = self._shapes()
        self.stacks = [self._stack(*one) for one in enumerate(study.told.figures, 1)]
        again = compared(study, self.spoilt) if self.spoilt else []
        self.tables = {
            "measures": pd.concat([one["table"] for one in self.measures], ignore_index=True),
            "differences": tables.differences(self.found),
            "inverted_u": tables.shapes(self.found),
            "rank_correlations": tables.correlations(self.found),
            "correlations": tables.against(self.found),
            "sensitivity": tables.sensitivity(study),
            study.told.design: study.indices(),
            "without_defaults": tables.without_defaults(self.found, again) if again else None,
            "coverage": tables.coverage(study),
            "runs_not_done": tables.lost(study),
        }
        self.tables |= {one["file"]: one["table"] for one in self.stacks}
        self.tables = {name: one for name, one in self.tables.items() if one is not None}
        self.tables = {name: one for name, one in self.tables.items() if len(one)}

    def page(self) -> str:
        """The page as text."""
        environment = pages("metrics.study", "metrics.report")
        told, fewest = self.study.told, self._fewest()
        return environment.get_template("study.html").render(
            style=style(environment),
            told=told,
            measures=self.measures,
            shapes=self.shapes,
            stacks=[one for one in self.stacks if one["picture"]],
            tables={name: _rows(table) for name, table in self.tables.items()},
            among=_among,
            pairs=_pairs(self.tables.get("differences")),
            states=self.study.runs["state"].value_counts().sort_index().to_dict(),
            fewest=fewest,
            sketch=SKETCH,
            power=power(fewest, told.paired, sum(one.planned for one in self.found)),
            poor=self._poor(),
            limit=POOR,
            tests=sum(one.planned for one in self.found),
            added=sum(not one.planned for one in self.found),
            spoilt=None if self.spoilt is None else len(self.spoilt),
            arms=[{"name": arm.name, "set": _settings(arm.set)} for arm in told.arms],
            leak=[(_words(key), _plain(value)) for key, value in sorted(told.leak.items())],
            shown=RUNS_SHOWN,
            arms_drawn=figures.ARMS_SHOWN,
        )

    def _add_measure(self, name: str) -> None:
        known = MEASURES.get(name)
        drawn = figures.of_measure(self.study, name)
        for place, picture in enumerate(drawn):
            number_ = (str(place + 1),) if len(drawn) > 1 else ()
            self.figures[file_name(name, *number_)] = picture
        table = tables.by_arm(self.study, name)
        self.measures.append(
            {
                "name": name,
                "unit": known.unit if known else "",
                "meaning": known.meaning if known else "",
                "figures": drawn,
                "wide": figures.by_arms(self.study),
                "table": table,
                "rows": _rows(table),
                "log": bool(table["geometric_mean"].notna().any()),
                "missing": int(table["missing"].sum()),
            }
        )

    def _shapes(self) -> list[Markup]:
        """Figures of the two-lines tests, with the arms that each was planned for."""
        plans = [plan for plan in self.study.told.comparisons if plan.test == "inverted_u"]
        tests = [one for one in self.found if one.test == "two lines"]
        drawn = []
        for place, (plan, one) in enumerate(zip(plans, tests, strict=True)):
            picture = figures.of_shape(self.study, one, plan.arms or self.study.arms)
            if picture is not None:
                drawn.append(picture)
                self.figures[file_name(one.measure, "two_lines", *one.of, str(place + 1))] = picture
        return drawn

    def _stack(self, place: int, stack: Stack) -> dict[str, Any]:
        """A figure of measures that add up, and its columns in numbers."""
        file = file_name("figure", str(place), stack.title)
        picture = stacks.of_stack(self.study, stack)
        if picture is not None:
            self.figures[file] = picture
        table = stacks.heights(self.study, stack)
        columns = [
            *(("place", "value"), ("over", "of")),
            *([("beside", stack.beside.replace("_", " "))] if stack.beside else []),
            *(("n", "n"), *((label, label) for label in stack.parts), ("total", "sum")),
            (("low", "high"), "95 %"),
        ]
        rows = _rows(table)
        told = {"file": file, "title": stack.title, "picture": picture, "table": table}
        return told | {"rows": rows, "columns": columns}

    def _fewest(self) -> int:
        """Replicates of the arm with the fewest runs that are done."""
        done = self.study.runs[self.study.runs["state"] == "done"].groupby("arm").size()
        return int(done.reindex(self.study.arms).fillna(0).min())

    def _poor(self) -> list[dict[str, Any]]:
        """Measures whose t intervals are known to cover too seldom."""
        rows = _rows(tables.coverage(self.study))
        logs = {one["name"]: one["log"] for one in self.measures}
        return [{**row, "logged": logs[row["measure"]]} for row in rows if row["t"] < POOR]


def power(n: int, paired: bool, tests: int) -> list[str]:
    """What n replicates per arm can find, in sentences; none below two."""
    if n < 2:
        return []
    size = detectable_paired(n, POWER) if paired else detectable_effect(n, POWER)
    told = [
        f"n = {n} per arm finds d ≥ {detectable_effect(n, POWER):.2f} at {POWER:.0%} power "
        "(two arms with seeds of their own, two-sided test at 5 %)."
    ]
    if paired:
        told.append(f"The same n as pairs finds d_z ≥ {size:.2f}.")
    if tests > 1:
        first = 0.05 / tests
        strict = detectable_paired if paired else detectable_effect
        told.append(
            f"Where Holm is at its strictest, as for the smallest of {tests} p values, it is "
            f"{'d_z' if paired else 'd'} ≥ {strict(n, POWER, first):.2f}."
        )
    return [line.replace("%", "\u202f%").replace(" \u202f", "\u202f") for line in told]


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]


def _among(rows: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """The column that says among which arms, where any row has something in it."""
    return [("among", "among")] if any(row["among"] for row in rows) else []


def _pairs(table: pd.DataFrame | None) -> list[dict[str, Any]]:
    """The differences, of every two arms of a grid only what differs, the rest in ``among``."""
    rows = [] if table is None else _rows(table)
    for row in rows:
        sides = [str(row[side]).split(",") for side in ("first", "second")]
        parts = list(zip(*sides, strict=False))
        alike = [one for one, other in parts if one == other]
        row["among"] = ""
        if len(sides[0]) == len(sides[1]) and all("=" in part for side in sides for part in side):
            row["among"] = ", ".join(alike)
            row["first"] = ", ".join(one for one, other in parts if one != other)
            row["second"] = ", ".join(other for one, other in parts if one != other)
    return rows


def _settings(given: dict[str, Any]) -> str:
    return ", ".join(f"{key}: {_plain(value)}" for key, value in given.items()) or "as the base"


def _plain(value: Any) -> str:
    if isinstance(value, float):
        return number(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "; ".join(_plain(one) for one in value)
    if isinstance(value, dict):
        return "; ".join(f"{_words(str(key))}: {_plain(one)}" for key, one in value.items())
    return "not known" if value is None else str(value)


def _words(key: str) -> str:
    return key.replace("_", " ")
