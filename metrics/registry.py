"""Computes metrics and measures by the names that ``metrics.measures`` lists."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.errors import InputError
from virsci_society.agents.spelling import did_you_mean
from virsci_society.metrics.cost import COUNTED, read_ledger
from virsci_society.metrics.impact import gini
from virsci_society.metrics.measures import FAMILY_METRICS, MEASURES, RUN_MEASURES, explain_name
from virsci_society.metrics.networks.structure import (
    active_structure,
    adjacency,
    network_statistics,
    network_ties,
)
from virsci_society.metrics.novelty.other_papers import novelty_against
from virsci_society.metrics.population import people_ever
from virsci_society.metrics.teams.peer_review import teams_with_paper, unended
from virsci_society.society.literature.embedding.base import Progress
from virsci_society.society.results.dataframes import known_numbers
from virsci_society.society.results.run import Run
from virsci_society.society.results.tables import TABLES

Metric = Callable[[Run], pd.DataFrame]
RunFunction = Callable[[Run], float]
NAN = float("nan")


def _imported(place: str) -> Any:
    module, _, function = place.partition(":")
    return getattr(import_module(f"virsci_society.metrics.{module}"), function)


FAMILIES: dict[str, dict[str, Metric]] = {
    family: {name: _imported(place) for name, place in metrics.items()}
    for family, metrics in FAMILY_METRICS.items()
}
"""What a scenario can ask for under ``metrics``, and the metrics of each."""

METRICS: dict[str, Metric] = {
    name: metric for family in FAMILIES.values() for name, metric in family.items()
}


def compute_metric(
    run: Run,
    name: str,
    *,
    past: Path | str | None = None,
    contemporary: Path | str | None = None,
    embedding: str | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """A metric of a run: as written with it if it was, else computed once and held.

    Args:
        past: folder of an ecosystem against whose past papers ``novelty`` is measured again,
            without a call; nothing is written.
        contemporary: folder of an ecosystem whose contemporary papers are used then; that of
            ``past`` by default.
        embedding: another embedding for it, by the name that a build takes.
        progress: called while texts are embedded, such as ``vs.make_progress().texts``.

    Raises:
        InputError: neither written nor in ``METRICS``; or the ecosystems cannot be used.

    Example:
        >>> weekly = vs.compute_metric(run, "weekly")
        >>> len(weekly)  # day 0, and the end of each of 26 weeks
        27
    """
    if past is not None:
        if name != "novelty":
            raise InputError(f"only the metric 'novelty' takes other papers, not {name!r}")
        return novelty_against(run, past, contemporary, embedding, progress)
    if name not in METRICS:
        try:
            return run.metric(name)
        except InputError as error:
            if meant := explain_name(name):
                raise InputError(f"no metric is called {name!r}; {meant}") from error
            raise
    if name in run.metric_names():
        return run.metric(name)
    return run.add_metric(name, METRICS[name](run))


@cache
def empty_metric(name: str) -> pd.DataFrame:
    """A metric of a run without a row: its columns and their dtypes."""
    return METRICS[name](empty_run())


@cache
def empty_run() -> Run:
    """An empty run, cached because building its tables is slow."""
    return Run.from_rows({}, {"seed": 0, "days": 0.0}, {})


def measure_run(run: Run, names: Iterable[str]) -> dict[str, float]:
    """Compute measures, which are numbers of a run.

    Args:
        names: of measures (``society list measures``), or ``table.column.statistic``.

    Returns:
        Name -> number, NaN where the tables of the run do not hold what it needs.

    Raises:
        InputError: a name is neither that of a measure nor ``table.column.statistic``.

    Example:
        >>> vs.measure_run(run, ["teams.size.mean"])
        {'teams.size.mean': ...}
    """
    own = dict.fromkeys(run.metric_names())
    return {name: _function(name, own)(run) for name in names}


def name_error(name: str, own: Mapping[str, Metric] | None = None) -> str | None:
    """The error of a measure's name in words, or None where the name is right."""
    try:
        _function(name, own)
    except InputError as error:
        return str(error)
    return None


def _function(name: str, own: Mapping[str, Metric | None] | None = None) -> RunFunction:
    if name in MEASURES:
        if not (how := MEASURES[name].how):
            raise InputError(
                f"{name} compares papers with real ones, and no run has it alone; 'society "
                "compare' and 'society calibrate' compute it"
            )
        return _computed_by(how)
    if name.count(".") == 2:
        return parse_dotted_name(name, own)
    unknown = unknown_name("measure", name, RUN_MEASURES)
    raise InputError(f"{unknown} (or write table.column.statistic)")


_TABLE = re.compile(r"(?P<table>\w+)(\[((?P<key>\w+)=)?(?P<value>[^]]+)])?\.(?P<rest>.+)")


def _computed_by(how: str) -> RunFunction:
    """The function of a run that a row of ``measures.csv`` describes."""
    if ":" in how:
        place, _, given = how.partition("(")
        function = _imported(place)
        arguments = [one for one in given.rstrip(")").split(", ") if one]
        return lambda run: float(function(run, *arguments))
    found = _TABLE.fullmatch(how)
    if found is None:
        raise ValueError(f"measures.csv: {how!r} cannot be computed")
    table, key, value, rest = found["table"], found["key"], found["value"], found["rest"]
    if rest == "rows":
        return lambda run: float(len(run.table(table)))
    column, _, statistic = rest.partition(".")
    if value is None:
        return column_statistic(table, column, statistic)

    def of_rows(run: Run) -> float:
        rows = compute_metric(run, table)
        chosen = rows["team"].isin(teams_with_paper(run)) if key is None else rows[key] == value
        return STATISTICS[statistic](known_numbers(rows.loc[chosen, column]))

    return of_rows


def mean(values: FloatArray) -> float:
    """Arithmetic mean; NaN for no values."""
    return float(values.mean()) if len(values) else NAN


STATISTICS: Mapping[str, Callable[[FloatArray], float]] = {
    "mean": mean,
    "median": lambda values: float(np.median(values)) if len(values) else NAN,
    "sum": lambda values: float(values.sum()),
    "share": mean,
    "gini": gini,
    "last": lambda values: float(values[-1]) if len(values) else NAN,
}
"""What can stand last in ``table.column.statistic``, beside ``count``: how many values are known.

``share`` is for columns of yes and no."""


def parse_dotted_name(name: str, own: Mapping[str, Metric | None] | None = None) -> RunFunction:
    """The function of a run that ``table.column.statistic`` names."""
    table, column, statistic = name.split(".")
    own = own or {}
    columns = _columns(table)
    if not columns and (metric := own.get(table)):
        with suppress(Exception):  # whatever a stranger's function does of a run without a row
            columns = {str(key): str(kind) for key, kind in metric(empty_run()).dtypes.items()}
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


def column_statistic(table: str, column: str, statistic: str = "mean") -> RunFunction:
    """The function of a run that gives a statistic of a column."""

    def statistic_of(run: Run) -> float:
        values = column_of(run, table, column)
        # A metric without a row may not have been computed: novelty without vectors has none.
        if table in METRICS and not len(values):
            return NAN
        kept = values.dropna()
        if statistic == "count":
            return float(len(kept))
        # There are rows, and none of their values is known.
        return NAN if len(values) and not len(kept) else STATISTICS[statistic](known_numbers(kept))

    return statistic_of


def unknown_name(what: str, name: str, expected: Iterable[str]) -> str:
    """One line for an error: the nearest spelling, or some of the names that are known."""
    names = list(dict.fromkeys(expected))
    if near := did_you_mean(name, names, 0.5):
        return f"no {what} is called {name!r}{near}"
    some = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    return f"no {what} is called {name!r}; there are {some}"


@cache
def _columns(table: str) -> dict[str, str]:
    """Columns that a table name reaches and their dtypes: a metric's first, then a table's."""
    found = {column.name: column.dtype for column in TABLES.get(table, ())}
    if table in METRICS:
        dtypes = empty_metric(table).dtypes.items()
        found.update({str(name): str(dtype) for name, dtype in dtypes})
    return found


def column_of(run: Run, table: str, column: str) -> pd.Series:
    """A column of a metric, or else of a table of that name."""
    if table in METRICS:
        values = compute_metric(run, table)
        if column in values:
            return values[column]
    if table in TABLES:
        return run.table(table)[column]
    values = run.metric(table)
    if column not in values:
        raise InputError(unknown_name(f"column of {table}", column, map(str, values)))
    return values[column]


STAGES_OF_IDEA = ("selection", "topic", "ideas", "novelty")
"""Stages up to the idea; an abstract, or reviews of it, come after them."""


def scientists(run: Run) -> float:
    """Scientists of day 0 and all who have come since."""
    return float(people_ever(run))


def share_with_paper(run: Run) -> float:
    """Teams with a paper, of those that have ended, 0..1."""
    states = run.table("teams")["state"]
    return mean(known_numbers(states[~unended(run)].isin(["published", "finished"])))


def people_with_paper(run: Run) -> float:
    """Scientists with a paper since day 0, of all who were ever there, 0..1."""
    people = people_ever(run)
    return run.table("authorships")["scientist"].nunique() / people if people else NAN


def giant_component_people(run: Run) -> float:
    """Scientists in the largest component of joint papers since day 0, of all, 0..1."""
    people = people_ever(run)
    tied = network_statistics(adjacency(network_ties(run.table("ties"), "grown")))
    nodes, share = tied["nodes"] or 0, tied["giant_share"] or 0.0
    return nodes * share / people if people else NAN


def acceptance(run: Run) -> float:
    """Invitations accepted, of those answered by choice, 0..1."""
    outcomes = run.table("invitations")["outcome"]
    return mean(known_numbers(outcomes[outcomes.isin(["accepted", "declined"])] == "accepted"))


def token_total(run: Run, *columns: str) -> float:
    """Tokens of all calls, summed over columns; NaN where some call's are not known."""
    counted = run.table("calls")[list(columns)]
    return NAN if counted.isna().any(axis=None) else float(counted.sum().sum())


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


def active_at_end(run: Run, column: str) -> float:
    """A column of ``active_structure`` on the last day: joint papers of the last year."""
    rows = active_structure(run, windows=(1.0,), every=max(run.days, 1.0))
    return mean(known_numbers(rows[column].tail(1)))


def defaulted_share(run: Run) -> float:
    """Questions whose reply was replaced by a default, of those whose rung is known, 0..1."""
    known_calls = compute_metric(run, "calls_by_rung").dropna(subset=["rung"])
    asked = float(known_calls["calls"].sum())
    spoilt = float(known_calls.loc[known_calls["rung"] == "default", "calls"].sum())
    return spoilt / asked if asked else NAN


def noticed_share(run: Run, what: str) -> float:
    """Questions to a model of whose replies something was noticed (``reply_texts``), 0..1."""
    counts = compute_metric(run, "reply_texts")
    asked = float(counts["asked"].sum())
    return float(counts[what].sum()) / asked if asked else NAN


def mean_turns(run: Run, stage: str) -> float:
    """Turns of a stage in its first visit, mean over the teams with a paper that came to it."""
    calls, wrote = run.table("calls"), teams_with_paper(run)
    said = calls[calls["act"].isin(COUNTED) & (calls["stage"] == stage) & (calls["visit"] == 1)]
    return mean(known_numbers(said[said["team"].isin(wrote)].groupby("team")["turn"].max()))
