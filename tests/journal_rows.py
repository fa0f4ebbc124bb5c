"""Rows of a journal as tests read them."""

from types import SimpleNamespace


def texts(journal):
    """The words of every settled call by its id, in the order in which the calls were begun."""
    return dict(journal._all("SELECT id, text FROM calls ORDER BY row"))


def attempts(journal):
    """The ledger, in the order in which the attempts were made."""
    columns = ("call", "number", "outcome", "status", "reserved", "detail")
    rows = journal._all(f"SELECT {', '.join(columns)} FROM attempts ORDER BY row")
    return [SimpleNamespace(**dict(zip(columns, row, strict=True))) for row in rows]
