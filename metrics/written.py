"""Written: is a measure, as some release wrote it, one that this release can read?"""

from __future__ import annotations

import pandas as pd

from agents.errors import InputError


def fits(table: pd.DataFrame, wanted: pd.DataFrame) -> bool:
    """Has the table every column that is wanted, each of the same kind?"""
    return _kinds(wanted).items() <= _kinds(table).items()


def fitted(table: pd.DataFrame, wanted: pd.DataFrame) -> pd.DataFrame:
    """The table with the columns and dtypes that are wanted; absent columns are missing.

    Raises:
        InputError: a column holds something else.
    """
    try:
        return table.reindex(columns=wanted.columns).astype(wanted.dtypes.to_dict())
    except (TypeError, ValueError) as error:
        raise InputError(f"a measure of the run cannot be read: {error}") from error


def _kinds(table: pd.DataFrame) -> dict[str, str]:
    """Numbers, texts, ...: a file knows fewer dtypes of texts than pandas does."""
    return {str(name): dtype.kind for name, dtype in table.dtypes.items()}
