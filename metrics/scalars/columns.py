"""Columns: ``table.column.statistic`` of a run, such as ``teams.meetings.median``."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from functools import cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from agents.errors import InputError
from metrics.inequality import gini
from metrics.table import METRICS, measure
from society.run import Run
from society.tables import TABLES

Floats = NDArray[np.float64]
Of = Callable[[Run], float]

NAN = float("nan")
NAMED = 8
"""So many names are listed where none is near what was written."""


def mean(values: Floats) -> float:
    """Arithmetic mean; NaN of nothing."""
    return float(values.mean()) if len(values) else NAN


def median(values: Floats) -> float:
    """Median; NaN of nothing."""
    return float(np.median(values)) if len(values) else NAN


def total(values: Floats) -> float:
    """Sum; zero of nothing."""
    return float(values.sum())


STATISTICS: Mapping[str, Callable[[Floats], float]] = {
    "mean": mean,
    "median": median,
    "sum": total,
    "share": mean,
    "gini": gini,
}
"""What can stand last in ``table.column.statistic``, beside ``count``: how many values are known.

``share`` is for columns of yes and no."""


def of_dotted(name: str) -> Of:
    """The function of a run that ``table.column.statistic`` names.

    Raises:
        InputError: no such table, column or statistic, or they do not fit together.
    """
    table, column, statistic = name.split(".")
    columns = _columns(table)
    if not columns:
        raise InputError(f"{name}: {unknown('table', table, [*METRICS, *TABLES])}")
    if column not in columns:
        raise InputError(f"{name}: {unknown(f'column of {table}', column, columns)}")
    if statistic not in (*STATISTICS, "count"):
        raise InputError(f"{name}: {unknown('statistic', statistic, (*STATISTICS, 'count'))}")
    dtype = columns[column]
    if statistic == "share" and dtype != "boolean":
        raise InputError(f"{name}: share needs a column of yes and no, {column} is {dtype}")
    if statistic not in ("count", "share") and dtype in ("string", "object", "boolean"):
        raise InputError(f"{name}: {statistic} needs a column of numbers, {column} is {dtype}")
    return of(table, column, statistic)


def of(table: str, column: str, statistic: str = "mean") -> Of:
    """The function of a run that gives a statistic of a column."""

    def statistic_of(run: Run) -> float:
        values = column_of(run, table, column)
        # A measure without a row may not have been measured: novelty without vectors has none.
        return NAN if table in METRICS and not len(values) else over(values, statistic)

    return statistic_of


def unknown(what: str, name: str, expected: Iterable[str]) -> str:
    """One line with the nearest spelling, or some of the names that are known."""
    names = list(dict.fromkeys(expected))
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if near:
        return f"no {what} is called {name!r}; did you mean {near[0]!r}?"
    some = ", ".join(names[:NAMED]) + (", ..." if len(names) > NAMED else "")
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
    """A column of a measure, or else of a table of that name."""
    if table in METRICS:
        values = measure(run, table)
        if column in values:
            return values[column]
    return run.table(table)[column]


def over(values: pd.Series, statistic: str) -> float:
    """A statistic of the known values; where there are rows and none is known, NaN."""
    kept = values.dropna()
    if statistic == "count":
        return float(len(kept))
    if len(values) and not len(kept):
        return NAN
    return STATISTICS[statistic](numbers(kept))


def numbers(values: pd.Series) -> Floats:
    """The known values."""
    known: Floats = values.dropna().to_numpy(dtype=np.float64, na_value=np.nan)
    return known
