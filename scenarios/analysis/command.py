"""The command ``society compare``, which reads finished runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.terminal.arguments import Json, guarded, tell, tell_json, writing
from virsci_society.scenarios.terminal.console import print_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from virsci_society.scenarios.analysis.observed import ComparedRuns, ObservedComparison
    from virsci_society.society.ecosystem.ecosystem import Ecosystem

ROWS = {
    "measure": "measure",
    "simulated": "run",
    "simulated_sd": "sd",
    "observed": "real",
    "before": "before",
    "distance": "off",
    "kind": "as",
    "in_tolerances": "tolerances",
    "within": "ok",
}
SCORED = {
    "window": "years",
    "side": "column",
    "score": "score",
    "score_sd": "sd",
    "within": "ok",
    "score_before": "before",
    "within_before": "ok",
    "score_closed": "closed",
    "within_closed": "ok",
}
PEOPLE = {
    "target": "what",
    "predictor": "predicted by",
    "auc": "AUC",
    "auc_low": "low",
    "auc_high": "high",
    "less": "- society",
    "less_low": "low",
    "less_high": "high",
    "precision": "AP",
    "expected": "expected",
    "observed": "observed",
    "candidates": "of",
}
KINDS = {"relative": "share", "difference": "diff"}
"""Columns that are printed, and their heads."""
HEADS = (
    "run: mean over runs, sd over runs; real: after the boundary; before: as long before it; off: "
    "run - real (diff), the same over the real (share), or a distance from 0 (alike) to 1 (KS: "
    "Kolmogorov-Smirnov, JS: Jensen-Shannon); tolerances: off in tolerances; ok: within one. "
    "Standard errors, z and shorter windows: --out FOLDER or --json."
)
SCORES = (
    "score: root mean square of off in tolerances, 5 at most each; before: of the years before the "
    "boundary; closed: of the real papers of the society's own scientists alone, taken for a run."
)
IDEAS = (
    "came true: share with a later paper at or above the threshold; low, high: its 95 % interval. "
    "Of these ideas, years: from the boundary to the first such paper, median; papers: their "
    "number, mean; citations: theirs, mean; relative: to the mean of a paper's year."
)
PREDICTIONS = (
    "AUC: area under the ROC curve, .5 by chance, with its 95 % interval (bootstrap over people); "
    "- society: minus the AUC of the society, paired; AP: average precision; expected, observed: "
    "events, of so many people or pairs. The society's probability is the share of its runs: with "
    "few runs most pairs have 0. The logistic model was fitted to as long a time before the "
    "boundary."
)
"""What the heads of the printed columns mean."""


@guarded
def compare(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Folders of runs, or of studies.")
    ],
    with_: Annotated[
        Path, typer.Option("--with", metavar="ECOSYSTEM", help="The folder they started from.")
    ],
    ideas: Annotated[
        bool, typer.Option("--ideas", help="Did the ideas come true? Beside controls.")
    ] = False,
    people: Annotated[
        bool, typer.Option("--people", help="Who publishes, and with whom? Beside predictors.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write the tables there, as CSV.")
    ] = None,
    json: Json = False,
) -> None:
    """Compare runs with real papers after the boundary.

    Runs of one scenario are taken together, the arms of a study one by one. A single run keeps the
    tables and shows them in its report; its digest stays as it is. With --ideas: which of their
    ideas appeared later, how soon, in how many papers, how cited; run folders stay as they are.
    With --people: who published, led, stopped and wrote with whom, as predicted by the runs and by
    predictors without a society.
    """
    from virsci_society.scenarios.analysis.observed import compare_with_ecosystem, open_compared
    from virsci_society.society.ecosystem.ecosystem import Ecosystem

    if ideas and people:
        raise InputError("--ideas and --people print different tables: give one of them")
    compared, ecosystem = open_compared(runs), Ecosystem.load(with_)
    if people:
        _tell_people(compared, ecosystem, out, json)
        return
    if ideas:
        _tell_ideas(compared, ecosystem, out, json)
        return
    found = [compare_with_ecosystem(one, ecosystem) for one in compared]
    if json:
        tell_json(
            {
                "comparisons": [
                    {
                        "name": one.name,
                        "reach": one.reach,
                        "scores": _as_rows(one.tables.scores),
                        "rows": _as_rows(one.tables.rows),
                        "notes": list(one.notes),
                    }
                    for one in found
                ]
            }
        )
    for one in () if json else found:
        _print_comparison(one, str(with_))
    rows = {one.name: one.tables.rows for one in found}
    scores = {one.name: one.tables.scores for one in found}
    _write_tables({"observed": rows, "observed_scores": scores}, out)
    alone = compared[0].runs[0].folder
    if len(found) == 1 and len(compared[0].runs) == 1 and alone is not None:
        page = _keep(found[0], alone)
        if not json:
            tell(f"report: {page}")


def _tell_ideas(
    compared: Sequence[ComparedRuns], ecosystem: Ecosystem, out: Path | None, json: bool
) -> None:
    from virsci_society.scenarios.analysis.backtest import backtest_runs

    found = [backtest_runs(one, ecosystem) for one in compared]
    if json:
        tables = [{"summary": _as_rows(one.summary), "ideas": _as_rows(one.ideas)} for one in found]
        backtests = zip(found, tables, strict=True)
        tell_json(
            {
                "backtests": [
                    vars(one) | rows | {"threshold": vars(one.threshold)} for one, rows in backtests
                ]
            }
        )
    for one in () if json else found:
        heads = {str(name): str(name).replace("_", " ") for name in one.summary}
        _print_columns(f"{one.name}: did the ideas come true?", one.summary, heads)
        for note in (IDEAS, *one.notes):
            tell(note)
    summaries = {one.name: one.summary for one in found}
    listed = {one.name: one.ideas for one in found}
    _write_tables({"backtest": summaries, "backtest_ideas": listed}, out)


def _tell_people(
    compared: Sequence[ComparedRuns], ecosystem: Ecosystem, out: Path | None, json: bool
) -> None:
    from virsci_society.scenarios.analysis.observed import predicted_people

    found = {one.name: predicted_people(one, ecosystem) for one in compared}
    if json:
        tell_json({"people": {name: _as_rows(table) for name, table in found.items()}})
    else:
        for (name, table), one in zip(found.items(), compared, strict=True):
            title = f"{name}: who did what, predicted by {len(one.runs)} runs and without a society"
            _print_columns(title, table, PEOPLE)
        tell(PREDICTIONS)
    _write_tables({"people": found}, out)


def _print_comparison(found: ObservedComparison, other: str) -> None:
    from virsci_society.scenarios.analysis.observed import headline

    tell(headline(found.name, found.tables), found.reach)
    rows, scores = found.tables.rows, found.tables.scores
    # Of several windows only the longest is printed in full; the table of scores has them all.
    last = rows["window"].max()
    for side in scores["side"].drop_duplicates():
        chosen = rows[(rows["window"] == last) & (rows["side"] == side)].replace({"kind": KINDS})
        told = chosen.dropna(subset=["simulated", "observed", "distance"], how="all")
        silent = len(chosen) - len(told)
        unknown = f"; {silent} measures say nothing here" if silent else ""
        title = f"{found.name} beside {other}: {side}, {last:g} years{unknown}"
        _print_columns(title, told, ROWS)
    many = f"runs: {int(scores['runs'].max())}; judged: {int(scores['judged'].max())} measures"
    _print_columns(f"score in tolerances (0 is best); {many}", scores, SCORED)
    for note in (HEADS, SCORES, *found.notes):
        tell(note)


def _print_columns(title: str, table: pd.DataFrame, columns: Mapping[str, str]) -> None:
    """Print some columns of a data frame, under their heads."""
    rows = [tuple(row.values()) for row in _as_rows(table[[*columns]])]
    print_table(title, tuple(columns.values()), rows)


def _as_rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of plain values; None where one is missing, yes or no for a flag."""
    cells = table.astype(object)
    cells = cells.where(cells.notna(), None)
    words = {True: "yes", False: "no"}
    return [
        {str(key): words[value] if isinstance(value, bool) else value for key, value in row.items()}
        for row in cells.to_dict("records")
    ]


def _write_tables(parts: Mapping[str, Mapping[str, pd.DataFrame]], folder: Path | None) -> None:
    """Write each table as CSV, those of all names under one another, with a column ``name``."""
    if folder is None:
        return
    import pandas as pd

    from virsci_society.society.results.table_files import write_csv

    tables = {
        file: pd.concat([table.assign(name=name) for name, table in named.items()])
        for file, named in parts.items()
    }
    with writing(folder, "written to"):
        write_csv(folder, tables)
    tell(f"tables: {', '.join(str(folder / f'{file}.csv') for file in parts)}", err=True)


def _keep(found: ObservedComparison, folder: Path) -> Path:
    """Write the tables of one run into its folder, and its page anew."""
    import pandas as pd

    from virsci_society.metrics.report.page import write_page
    from virsci_society.society.results.run import Run
    from virsci_society.society.results.speaker import speaker_of
    from virsci_society.society.results.table_files import write_metrics

    notes = pd.DataFrame({"unknown": pd.array([found.reach, *found.notes], dtype="string")})
    tables = {"observed": found.tables.rows, "observed_scores": found.tables.scores}
    measures = {**tables, "observed_unknowns": notes}
    with writing(folder, "written to"):
        write_metrics(folder, measures, speaker_of(Run.open(folder).manifest))
        # Opened again: a run knows the hashes of its files as they were when it was opened.
        return write_page(Run.open(folder), folder)
