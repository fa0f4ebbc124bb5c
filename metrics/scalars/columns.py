"""Scalars named ``table.column.statistic``, such as ``teams.meetings.median``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache

import numpy as np
import pandas as pd

from virsci_society.agents.arrays import FloatArray
from virsci_society.agents.errors import InputError
from virsci_society.agents.spelling import did_you_mean
from virsci_society.metrics.impact.inequality import gini
from virsci_society.metrics.registry import METRICS, measure
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


STATISTICS: Mapping[str, Callable[[FloatArray], float]] = {
    "mean": mean,
    "median": median,
    "sum": total,
    "share": mean,
    "gini": gini,
}
"""What can stand last in ``table.column.statistic``, beside ``count``: how many values are known.

``share`` is for columns of yes and no."""


def parse_dotted_name(name: str) -> ScalarFunction:
    """The function of a run that ``table.column.statistic`` names.

    Raises:
        InputError: no such table, column or statistic, or they do not fit together.
    """
    table, column, statistic = name.split(".")
    columns = _columns(table)
    if not columns:
        raise InputError(f"{name}: {unknown_name('table', table, [*METRICS, *TABLES])}")
    if column not in columns:
        raise InputError(f"{name}: {unknown_name(f'column of {table}', column, columns)}")
    if statistic not in (*STATISTICS, "count"):
        raise InputError(f"{name}: {unknown_name('statistic', statistic, (*STATISTICS, 'count'))}")
    dtype = columns[column]
    if statistic == "share" and dtype != "boolean":
        raise InputError(f"{name}: share needs a column of yes and no, {column} is {dtype}")
    if statistic not in ("count", "share") and dtype in ("string", "object", "boolean"):
        raise InputError(f"{name}: {statistic} needs a column of numbers, {column} is {dtype}")
    return column_statistic(table, column, statistic)


def column_statistic(table: str, column: str, statistic: str = "mean") -> ScalarFunction:
    """The function of a run that gives a statistic of a column.

    Args:
        table: name of a measure or of a table.
        column: one of its columns.
        statistic: a key of ``STATISTICS``, or ``count``.
    """

    def statistic_of(run: Run) -> float:
        values = column_of(run, table, column)
        # A measure without a row may not have been measured: novelty without vectors has none.
        return NAN if table in METRICS and not len(values) else apply_statistic(values, statistic)

    return statistic_of


def unknown_name(what: str, name: str, expected: Iterable[str]) -> str:
    """One line for an error: the nearest spelling, or some of the names that are known.

    Args:
        what: the kind of thing named, such as ``table``.
        name: what was written.
        expected: the names that are known.
    """
    names = list(dict.fromkeys(expected))
    if near := did_you_mean(name, names, 0.5):
        return f"no {what} is called {name!r}{near}"
    some = ", ".join(names[:NAMES_LISTED]) + (", ..." if len(names) > NAMES_LISTED else "")
    return f"no {what} is called {name!r}; there are {some}"


@cache
def _columns(table: str) -> dict[str, str]:
    """Columns that a table name reaches and their dtypes: a measure's first, then a table's."""
    found = {column.name: column.dtype for column in TABLES.get(table, ())}
    if table in METRICS:
        empty = METRICS[table](Run.from_rows({}, {"seed": 0, "days": 0.0}, {}))
        found.update({str(name): str(dtype) for name, dtype in empty.dtypes.items()})
    return found


def column_of(run: Run, table: str, column: str) -> pd.Series:
    """A column of a measure, or else of a table of that name.

    Args:
        run: the run.
        table: name of a measure or of a table.
        column: one of its columns.
    """
    if table in METRICS:
        values = measure(run, table)
        if column in values:
            return values[column]
    return run.table(table)[column]


def apply_statistic(values: pd.Series, statistic: str) -> float:
    """A statistic of the known values; NaN where there are rows and no value is known."""
    kept = values.dropna()
    if statistic == "count":
        return float(len(kept))
    if len(values) and not len(kept):
        return NAN
    return STATISTICS[statistic](known_values(kept))


def known_values(values: pd.Series) -> FloatArray:
    """The values that are not missing, as float64."""
    known: FloatArray = values.dropna().to_numpy(dtype=np.float64, na_value=np.nan)
    return known
