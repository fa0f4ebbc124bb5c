"""Functions from a Run to one number, for the table ``MEASURES``, and statistics of columns.

Each gives NaN where the tables of the run do not hold what it needs, never zero for it. A scalar
without a name in the table is called ``table.column.statistic``, such as ``teams.size.median``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache

import numpy as np
import pandas as pd

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.errors import InputError
from virsci_society.agents.spelling import did_you_mean
from virsci_society.metrics.cost import COUNTED, read_ledger
from virsci_society.metrics.impact import gini
from virsci_society.metrics.networks.structure import active_structure
from virsci_society.metrics.registry import METRICS, Metric, empty_measure, empty_run, measure
from virsci_society.metrics.teams.peer_review import teams_with_paper, unended
from virsci_society.society.results.dataframes import known_numbers
from virsci_society.society.results.run import Run
from virsci_society.society.results.tables import TABLES

ScalarFunction = Callable[[Run], float]

NAN = float("nan")
NAMES_LISTED = 8
"""So many names are listed where none is near what was written."""


def mean(values: FloatArray) -> float:
    """Arithmetic mean; NaN of nothing."""
    return float(values.mean()) if len(values) else NAN


def median(values: FloatArray) -> float:
    """Median; NaN of nothing."""
    return float(np.median(values)) if len(values) else NAN


def total(values: FloatArray) -> float:
    """Sum; zero of nothing."""
    return float(values.sum())


STAGES_OF_IDEA = ("selection", "topic", "ideas", "novelty")
"""Stages up to the idea; an abstract, or reviews of it, come after them."""
STATISTICS: Mapping[str, Callable[[FloatArray], float]] = {
    "mean": mean,
    "median": median,
    "sum": total,
    "share": mean,
    "gini": gini,
}
"""What can stand last in ``table.column.statistic``, beside ``count``: how many values are known.

``share`` is for columns of yes and no."""


def parse_dotted_name(name: str, own: Mapping[str, Metric | None] | None = None) -> ScalarFunction:
    """The function of a run that ``table.column.statistic`` names."""
    table, column, statistic = name.split(".")
    own = own or {}
    columns = _columns(table) or _columns_from(own.get(table))
    if not columns and table not in own:
        raise InputError(f"{name}: {unknown_name('table', table, [*own, *METRICS, *TABLES])}")
    if column not in columns and columns:
        raise InputError(f"{name}: {unknown_name(f'column of {table}', column, columns)}")
    if statistic not in (*STATISTICS, "count"):
        raise InputError(f"{name}: {unknown_name('statistic', statistic, (*STATISTICS, 'count'))}")
    dtype = columns.get(column, "")
    if dtype and statistic == "share" and dtype != "boolean":
        raise InputError(f"{name}: share needs a column of yes and no, {column} is {dtype}")
    if statistic not in ("count", "share") and dtype in ("string", "object", "boolean"):
        raise InputError(f"{name}: {statistic} needs a column of numbers, {column} is {dtype}")
    return column_statistic(table, column, statistic)


def column_statistic(table: str, column: str, statistic: str = "mean") -> ScalarFunction:
    """The function of a run that gives a statistic of a column."""

    def statistic_of(run: Run) -> float:
        values = column_of(run, table, column)
        # A measure without a row may not have been measured: novelty without vectors has none.
        return NAN if table in METRICS and not len(values) else apply_statistic(values, statistic)

    return statistic_of


def unknown_name(what: str, name: str, expected: Iterable[str]) -> str:
    """One line for an error: the nearest spelling, or some of the names that are known."""
    names = list(dict.fromkeys(expected))
    if near := did_you_mean(name, names, 0.5):
        return f"no {what} is called {name!r}{near}"
    some = ", ".join(names[:NAMES_LISTED]) + (", ..." if len(names) > NAMES_LISTED else "")
    return f"no {what} is called {name!r}; there are {some}"


def _columns_from(metric: Metric | None) -> dict[str, str]:
    """Columns of a measure from outside; none where it fails on a run without a row."""
    try:
        table = None if metric is None else metric(empty_run())
    except Exception:  # whatever a stranger's function does of a run that it was not written for
        table = None
    return {} if table is None else {str(key): str(kind) for key, kind in table.dtypes.items()}


@cache
def _columns(table: str) -> dict[str, str]:
    """Columns that a table name reaches and their dtypes: a measure's first, then a table's."""
    found = {column.name: column.dtype for column in TABLES.get(table, ())}
    if table in METRICS:
        dtypes = empty_measure(table).dtypes.items()
        found.update({str(name): str(dtype) for name, dtype in dtypes})
    return found


def column_of(run: Run, table: str, column: str) -> pd.Series:
    """A column of a measure, or else of a table of that name."""
    if table in METRICS:
        values = measure(run, table)
        if column in values:
            return values[column]
    if table in TABLES:
        return run.table(table)[column]
    values = run.measure(table)
    if column not in values:
        raise InputError(unknown_name(f"column of {table}", column, map(str, values)))
    return values[column]


def apply_statistic(values: pd.Series, statistic: str) -> float:
    """A statistic of the known values; NaN where there are rows and no value is known."""
    kept = values.dropna()
    if statistic == "count":
        return float(len(kept))
    if len(values) and not len(kept):
        return NAN
    return STATISTICS[statistic](known_numbers(kept))


def mean_of_published_teams(table: str, column: str) -> ScalarFunction:
    """Mean of a column over the teams that wrote a paper, also one that is not visible yet."""

    def of(run: Run) -> float:
        values = measure(run, table)
        return mean(known_numbers(values.loc[values["team"].isin(teams_with_paper(run)), column]))

    return of


def share_with_paper(run: Run) -> float:
    """Teams with a paper, of those that have ended, 0..1.

    A paper that is accepted counts before it is visible; a manuscript in review has not ended.
    """
    states = run.table("teams")["state"]
    return mean(known_numbers(states[~unended(run)].isin(["published", "finished"])))


def acceptance(run: Run) -> float:
    """Invitations accepted, of those answered by choice, 0..1."""
    outcomes = run.table("invitations")["outcome"]
    return mean(known_numbers(outcomes[outcomes.isin(["accepted", "declined"])] == "accepted"))


def token_total(*columns: str) -> ScalarFunction:
    """Tokens of all calls, summed over columns; NaN where some call's are not known."""

    def of(run: Run) -> float:
        counted = run.table("calls")[list(columns)]
        return NAN if counted.isna().any(axis=None) else float(counted.sum().sum())

    return of


def calls_after_idea(run: Run) -> float:
    """Calls of a team with a paper in the stages that follow its idea, mean over those teams."""
    calls, written = run.table("calls"), teams_with_paper(run)
    after = calls["team"].isin(written) & ~calls["stage"].isin(STAGES_OF_IDEA)
    return float(after.sum()) / len(written) if len(written) else NAN


def usd_paid(run: Run) -> float:
    """US dollars paid; NaN without a ledger, or where something was asked at no known price."""
    ledger = read_ledger(run)
    if ledger is None or (ledger.usd == 0 and ledger.attempts):
        return NAN
    return ledger.usd


def final_structure(network: str, column: str) -> ScalarFunction:
    """A column of the measure ``structure`` on the last day, for one network (all or grown)."""

    def of(run: Run) -> float:
        rows = measure(run, "structure")
        values = rows.loc[rows["network"] == network, column]
        return mean(known_numbers(values.tail(1)))

    return of


def final_active_structure(column: str) -> ScalarFunction:
    """A column of ``active_structure`` on the last day: joint papers of the last year."""

    def of(run: Run) -> float:
        rows = active_structure(run, windows=(1.0,), every=max(run.days, 1.0))
        values = rows.loc[rows["ties"] == "recent", column]
        return mean(known_numbers(values.tail(1)))

    return of


def repeat_rate(run: Run) -> float:
    """Joint papers of pairs since day 0 that were not their first, 0..1 (Guimera et al. 2005)."""
    ties = run.table("ties").dropna(subset=["source", "target", "date"])
    papers = ties["papers"].fillna(1).astype(np.float64)
    ties = ties.assign(papers=papers).sort_values("date", kind="stable")
    first = ~ties.duplicated(["source", "target"])
    made = ties[ties["date"] >= 0]
    joint = float(made["papers"].sum())
    return (joint - float((first[made.index]).sum())) / joint if joint else NAN


def newcomer_rate(run: Run) -> float:
    """Authorships that are their author's first paper, 0..1 (Guimera et al. 2005)."""
    dates = run.table("papers")[["paper", "published"]]
    by = run.table("authorships").merge(dates, on="paper").sort_values("published", kind="stable")
    if not len(by):
        return NAN
    people = run.table("scientists")
    experienced = set(people.loc[people["papers"].fillna(0) > 0, "scientist"])
    earliest = by.groupby("scientist")["published"].transform("min")
    fresh = (by["published"] == earliest) & ~by["scientist"].isin(experienced)
    return mean(known_numbers(fresh))


def inequality_of(quantity: str) -> ScalarFunction:
    """The Gini coefficient of a quantity of the measure ``inequality``."""

    def of(run: Run) -> float:
        table = measure(run, "inequality").set_index("quantity")
        return mean(known_numbers(table.loc[[quantity], "gini"]))

    return of


def defaulted_share(run: Run) -> float:
    """Questions whose reply was replaced by a default, of those whose rung is known, 0..1."""
    known_calls = measure(run, "calls_by_rung").dropna(subset=["rung"])
    asked = float(known_calls["calls"].sum())
    spoilt = float(known_calls.loc[known_calls["rung"] == "default", "calls"].sum())
    return spoilt / asked if asked else NAN


def row_count(table: str) -> ScalarFunction:
    """The number of rows of a table."""
    return lambda run: float(len(run.table(table)))


def mean_turns(stage: str) -> ScalarFunction:
    """Turns of a stage in its first visit, mean over the teams that wrote a paper and came to it.

    Counted from utterances and ballots, as the inference cost is.
    """

    def of(run: Run) -> float:
        calls, wrote = run.table("calls"), teams_with_paper(run)
        said = calls[calls["act"].isin(COUNTED) & (calls["stage"] == stage) & (calls["visit"] == 1)]
        return mean(known_numbers(said[said["team"].isin(wrote)].groupby("team")["turn"].max()))

    return of


def invited_guests(run: Run) -> float:
    """Invitations to somebody whom the inviter had consulted in a team that had ended, 0..1.

    A team has ended when its paper appears, or when it stops without one.
    """
    asked, sent = run.table("consultations"), run.table("invitations")
    if not len(sent):
        return NAN
    ended = _ended(run)
    known = asked.assign(ended=asked["team"].map(ended)).groupby(["asker", "guest"])["ended"].min()
    pairs = sent.merge(
        known.reset_index(), how="left", left_on=["inviter", "invitee"], right_on=["asker", "guest"]
    )
    return float((pairs["ended"] < pairs["sent"]).fillna(False).mean())


def _ended(run: Run) -> pd.Series:
    """The date on which each team ended, by its id; missing while it works or waits for its paper.

    A team that is rejected ends with the last decision, which comes after the work was done.
    """
    teams = run.table("teams").set_index("team")
    decided = run.table("submissions").groupby("team")["decided"].max().reindex(teams.index)
    stopped = decided.fillna(teams["finished"]).where(teams["state"] == "dissolved")
    return teams["published"].fillna(stopped)
