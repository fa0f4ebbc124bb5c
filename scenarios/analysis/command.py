"""The command ``society compare``, which reads finished runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.terminal.console import print_table
from virsci_society.scenarios.terminal.options import Json, find_runs, guarded, tell, tell_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from virsci_society.scenarios.analysis.compare_with_corpus import ComparedRuns
    from virsci_society.society.ecosystem.ecosystem import Ecosystem

    Tables = Mapping[str, Mapping[str, pd.DataFrame]]
    """Tables by the names of their files and of what was compared."""

ROWS = "measure; simulated: run; simulated_sd: sd; observed: real; before; distance: off; "
ROWS += "kind: as; in_tolerances: tolerances; within: ok"
SCORED = "window: years; side: column; score; score_sd: sd; within: ok; score_before: before; "
SCORED += "within_before: ok; score_closed: closed; within_closed: ok"
PEOPLE = "target: what; predictor: predicted by; auc: AUC; auc_low: low; auc_high: high; "
PEOPLE += "less: - society; less_low: low; less_high: high; precision: AP; expected; observed; "
PEOPLE += "candidates: of"
"""Columns that are printed, with their heads where these are others."""
KINDS = {"relative": "share", "difference": "diff"}
HEADS = (
    "run, sd: mean and standard deviation over runs; real: papers after the boundary; before: an "
    "equally long period before it; off: error, as run - real (diff), relative to real (share), or "
    "as a distance from 0 (equal) to 1 (KS: Kolmogorov-Smirnov, JS: Jensen-Shannon); tolerances: "
    "error in tolerances; ok: within one. Standard errors, z and shorter windows: --out FOLDER or "
    "--json."
)
SCORES = (
    "score: root mean square of errors in tolerances, clipped at 5; before: score of the years "
    "before the boundary; closed: score of the real papers of the society's own scientists alone."
)
IDEAS = (
    "came true: share with a later paper at or above the threshold; low, high: its 95 % interval. "
    "For these ideas: years from the boundary to the first such paper (median), number of papers "
    "and citations (means), and citations relative to the mean of the paper's year."
)
PREDICTIONS = (
    "AUC: area under the ROC curve, .5 by chance, with its 95 % interval (bootstrap over people); "
    "- society: difference from the AUC of the society, paired; AP: average precision; expected, "
    "observed: number of events; of: number of people or pairs. The society's probability is the "
    "share of its runs, so with few runs most pairs have 0. The logistic model was fitted to an "
    "equally long period before the boundary."
)
"""What the heads of the printed columns mean."""


@guarded
def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...", help="Folders of runs, or of studies.", callback=find_runs
        ),
    ],
    with_: Annotated[
        Path, typer.Option("--with", metavar="ECOSYSTEM", help="Ecosystem folder of the runs.")
    ],
    ideas: Annotated[
        bool, typer.Option("--ideas", help="Test whether ideas came true, against controls.")
    ] = False,
    people: Annotated[
        bool, typer.Option("--people", help="Test predictions of authors and co-authors.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write the tables as CSV files.")
    ] = None,
    json: Json = False,
) -> None:
    """Compare runs with real papers after the boundary.

    Runs of one scenario are pooled; the arms of a study are compared separately. With --ideas:
    which ideas appeared later, how soon, in how many papers and how often cited. With --people:
    who published, led, stopped and co-authored, as predicted by the runs and by simple predictors.
    Run folders are not changed.
    """
    if ideas and people:
        raise InputError("--ideas and --people exclude each other; give one of them")
    tell(f"reading {', '.join(map(str, runs))} and {with_}", err=True)
    from virsci_society.scenarios.analysis.compare_with_corpus import open_compared
    from virsci_society.society.ecosystem.ecosystem import Ecosystem

    compare = _ideas if ideas else _papers
    compare = _people if people else compare
    tables, data = compare(open_compared(runs), Ecosystem.load(with_), str(with_), show=not json)
    if json:
        tell_json(data)
    if out is None:
        return
    import pandas as pd

    from virsci_society.society.results.table_files import write_csv

    files = {
        file: pd.concat([table.assign(name=name) for name, table in named.items()])
        for file, named in tables.items()
    }
    write_csv(out, files)
    tell(f"tables: {', '.join(str(out / f'{file}.csv') for file in files)}", err=True)


def _papers(
    compared: Sequence[ComparedRuns], ecosystem: Ecosystem, other: str, *, show: bool
) -> tuple[Tables, dict[str, Any]]:
    from virsci_society.scenarios.analysis.compare_with_corpus import (
        compare_with_ecosystem,
        headline,
    )

    found = [compare_with_ecosystem(one, ecosystem) for one in compared]
    for one in found if show else ():
        tell(headline(one.name, one.tables), one.reach)
        rows, scores = one.tables.rows, one.tables.scores
        # Of several windows only the longest is printed in full; the table of scores has them all.
        last = rows["window"].max()
        for side in scores["side"].drop_duplicates():
            chosen = rows[(rows["window"] == last) & (rows["side"] == side)].replace(
                {"kind": KINDS}
            )
            told = chosen.dropna(subset=["simulated", "observed", "distance"], how="all")
            silent = len(chosen) - len(told)
            unknown = f"; {silent} without a value not shown" if silent else ""
            title = f"{one.name} and {other}: {side}, {last:g} years{unknown}"
            _print_columns(title, told, ROWS)
        many = f"runs: {int(scores['runs'].max())}; judged: {int(scores['judged'].max())} measures"
        _print_columns(f"score in tolerances (0 is best); {many}", scores, SCORED)
        for note in (HEADS, SCORES, *one.notes):
            tell(note)
    data = [
        {
            "name": one.name,
            "reach": one.reach,
            "scores": _as_rows(one.tables.scores),
            "rows": _as_rows(one.tables.rows),
            "notes": list(one.notes),
        }
        for one in found
    ]
    rows_of = {one.name: one.tables.rows for one in found}
    scores_of = {one.name: one.tables.scores for one in found}
    return {"observed": rows_of, "observed_scores": scores_of}, {"comparisons": data}


def _ideas(
    compared: Sequence[ComparedRuns], ecosystem: Ecosystem, other: str, *, show: bool
) -> tuple[Tables, dict[str, Any]]:
    from virsci_society.scenarios.analysis.backtest import backtest_runs

    found = [backtest_runs(one, ecosystem) for one in compared]
    for one in found if show else ():
        heads = "; ".join(f"{name}: {str(name).replace('_', ' ')}" for name in one.summary)
        _print_columns(f"{one.name}: ideas that came true", one.summary, heads)
        for note in (IDEAS, *one.notes):
            tell(note)
    data = [
        {
            "name": one.name,
            "threshold": one.threshold,
            "summary": _as_rows(one.summary),
            "ideas": _as_rows(one.ideas),
            "notes": one.notes,
        }
        for one in found
    ]
    summaries = {one.name: one.summary for one in found}
    listed = {one.name: one.ideas for one in found}
    return {"backtest": summaries, "backtest_ideas": listed}, {"backtests": data}


def _people(
    compared: Sequence[ComparedRuns], ecosystem: Ecosystem, other: str, *, show: bool
) -> tuple[Tables, dict[str, Any]]:
    from virsci_society.metrics.validation.people_predictions import verdicts
    from virsci_society.scenarios.analysis.compare_with_corpus import predicted_people

    found = {one.name: predicted_people(one, ecosystem) for one in compared}
    for one in compared if show else ():
        title = f"{one.name}: predictions by {len(one.runs)} runs and without a society"
        for line in verdicts(found[one.name]):
            tell(line)
        _print_columns(title, found[one.name], PEOPLE)
    if show:
        tell(PREDICTIONS)
    return {"people": found}, {"people": {name: _as_rows(table) for name, table in found.items()}}


def _print_columns(title: str, table: pd.DataFrame, columns: str) -> None:
    """Print some columns of a data frame, given as ``name: head; name; ...``."""
    pairs = [one.partition(": ") for one in columns.split("; ")]
    rows = [tuple(row.values()) for row in _as_rows(table[[name for name, _, _ in pairs]])]
    print_table(title, tuple(head or name for name, _, head in pairs), rows)


def _as_rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of plain values; None where one is missing, yes or no for a flag."""
    cells = table.astype(object)
    cells = cells.where(cells.notna(), None)
    words = {True: "yes", False: "no"}
    return [
        {str(key): words[value] if isinstance(value, bool) else value for key, value in row.items()}
        for row in cells.to_dict("records")
    ]
