"""The hashes of a journal's rows, each chained to those before it, by which damage is noticed.

Every commit adds one row to the table ``seals``: a hash of each row that the commit wrote, and one
hash over these and the seal before. So a changed, missing, exchanged or added row is found and
named. A commit that a kill cut short leaves neither its rows nor its seal.

A journal of format 1, written by an earlier release, has no seals; it gets them when it is gone on
with, and a note says which of its rows came before.
"""

from __future__ import annotations

import hashlib
import sqlite3
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from virsci_society.agents.errors import InputError

SCHEMA = "CREATE TABLE seals (row INTEGER PRIMARY KEY, entries BLOB NOT NULL, hash BLOB NOT NULL)"
FORMAT = "2"
"""The format of a journal whose rows are sealed."""
TABLES = ("meta", "calls", "attempts", "findings")
"""The tables whose rows are sealed; the place of a name is the number of its table."""
UNSEALED = "unsealed"
"""Key of the note that says how many rows of each table were there before the first seal."""

_DIGEST = 16
_ENTRY = struct.Struct(f"<Bq{_DIGEST}s")
_READ = {name: f"SELECT rowid, * FROM {name}" for name in TABLES}  # noqa: S608 - our own names
_READ_ONE = {name: f"{query} WHERE rowid = ?" for name, query in _READ.items()}


def row_digest(values: Sequence[Any]) -> bytes:
    """Hash one row of a journal (16 bytes); equal for equal types and values.

    Args:
        values: its row number and all of its columns, as SQLite gives them.
    """
    content = hashlib.blake2b(digest_size=_DIGEST)
    for value in values:
        plain = int(value) if isinstance(value, bool) else value
        data = plain if isinstance(plain, bytes) else str(plain).encode("utf-8", "surrogatepass")
        content.update(f"{type(plain).__name__}{len(data)}:".encode())
        content.update(data)
    return content.digest()


class HashChain:
    """Seals the rows that each commit writes; for the thread that writes.

    Args:
        database: a connection that is open for writing, to a journal of any format.
        earlier: whether rows that are there and have no seals are those of an earlier release.
    """

    def __init__(self, database: sqlite3.Connection, *, earlier: bool = True) -> None:
        self._database = database
        self._entries: list[bytes] = []
        self._hash = b""
        if not _has_seals(database):
            self._begin(earlier)
            return
        (self._hash,) = database.execute("SELECT hash FROM seals ORDER BY row DESC").fetchone()

    def add(self, table: str, row: int, values: Sequence[Any] | None = None) -> None:
        """Note that a row was written in this transaction.

        Args:
            table: its table.
            row: its number.
            values: its columns in their order, if they are known: it is read otherwise.
        """
        if values is None:
            read = self._database.execute(_READ_ONE[table], (row,)).fetchone()
        else:
            read = (row, *values)
        self._entries.append(_ENTRY.pack(TABLES.index(table), row, row_digest(read)))

    def seal(self) -> None:
        """Write the seal of the rows that were noted; call it before the commit."""
        if not self._entries:
            return
        entries = b"".join(self._entries)
        self._entries.clear()
        self._hash = _chained(self._hash, entries)
        self._database.execute(
            "INSERT INTO seals (entries, hash) VALUES (?, ?)", (entries, self._hash)
        )

    def _begin(self, earlier: bool) -> None:
        """Begin the chain with the rows that are there, in one transaction."""
        before = {}
        self._database.execute("BEGIN")
        self._database.execute(SCHEMA)
        self._database.execute("UPDATE meta SET value = ? WHERE key = 'format'", (FORMAT,))
        for number, table in enumerate(TABLES):
            rows = self._database.execute(_READ[table]).fetchall()
            before[table] = len(rows)
            self._entries += [_ENTRY.pack(number, row[0], row_digest(row)) for row in rows]
        if earlier and any(before[table] for table in TABLES[1:]):
            counts = ", ".join(f"{count} {table}" for table, count in before.items() if count)
            made = self._database.execute("INSERT INTO meta VALUES (?, ?)", (UNSEALED, counts))
            self.add("meta", made.lastrowid or 0)
        self.seal()
        self._database.execute("COMMIT")


def verify_rows(database: sqlite3.Connection, path: Path) -> int:
    """Check every row of a journal against its seals.

    Args:
        database: an open connection.
        path: the file, for messages.

    Returns:
        The number of rows that were checked; 0 for a journal of an earlier release without seals.

    Raises:
        InputError: a row was changed, added or removed; the message names it.
    """
    try:
        broken = [str(row[0]) for row in database.execute("PRAGMA integrity_check(3)")]
        if broken != ["ok"]:
            raise damaged(path, f"the database is damaged: {'; '.join(broken)[:300]}")
        if not _has_seals(database):
            held = database.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
            if held == (FORMAT,):
                raise damaged(path, "the table of its hashes is missing")
            return 0
        sealed = _sealed_rows(database, path)
        return sum(_verify_table(database, path, table, sealed[table]) for table in TABLES)
    except (sqlite3.Error, ValueError, TypeError, OverflowError, MemoryError) as error:
        raise damaged(path, str(error) or type(error).__name__) from error


def damaged(path: Path | None, what: str) -> InputError:
    """The error of a journal that is not as it was written."""
    return InputError(f"{path}: {what}; restore the file, or start anew with --out NEW")


def _has_seals(database: sqlite3.Connection) -> bool:
    query = "SELECT count(*) FROM sqlite_master WHERE name = 'seals'"
    return bool(database.execute(query).fetchone()[0])


def _sealed_rows(database: sqlite3.Connection, path: Path) -> dict[str, dict[int, bytes]]:
    """The hash of every row by the last seal that names it, by table and number."""
    sealed: dict[str, dict[int, bytes]] = {table: {} for table in TABLES}
    hash_ = b""
    for expected, (row, entries, stored) in enumerate(_seals(database), start=1):
        hash_ = _chained(hash_, bytes(entries))
        if row != expected or bytes(stored) != hash_ or len(entries) % _ENTRY.size:
            raise damaged(path, f"row {expected} of seals does not follow from the rows before it")
        for number, sealed_row, digest in _ENTRY.iter_unpack(entries):
            if number >= len(TABLES):
                raise damaged(path, f"row {row} of seals names a table that is not known")
            sealed[TABLES[number]][sealed_row] = digest
    return sealed


def _seals(database: sqlite3.Connection) -> Iterator[tuple[int, bytes, bytes]]:
    yield from database.execute("SELECT row, entries, hash FROM seals ORDER BY row")


def _verify_table(
    database: sqlite3.Connection, path: Path, table: str, sealed: dict[int, bytes]
) -> int:
    for row in database.execute(_READ[table]):
        what = f"row {row[0]} of {table} ({str(row[2 if table != 'meta' else 1])[:80]!r})"
        digest = sealed.pop(row[0], None)
        if digest is None:
            raise damaged(path, f"{what} was not written by a run: no seal names it")
        if digest != row_digest(row):
            raise damaged(path, f"{what} was changed after it was written: its hash is another one")
    if sealed:
        raise damaged(path, f"row {min(sealed)} of {table} is missing")
    return int(database.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608


def _chained(before: bytes, entries: bytes) -> bytes:
    return hashlib.blake2b(before + entries, digest_size=_DIGEST).digest()
