"""Database: the file of a journal, locked for one process and opened.

SQLite with a write-ahead log: what is committed is on the disk, and nobody who reads waits for
who writes.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from filelock import FileLock, Timeout

from agents.errors import InputError

FORMAT = "1"
SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE calls (
    row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, asked REAL NOT NULL, hash TEXT NOT NULL,
    kind TEXT, text TEXT, model TEXT, prompt_tokens INTEGER, completion_tokens INTEGER,
    estimated INTEGER, cut INTEGER);
CREATE TABLE attempts (
    row INTEGER PRIMARY KEY, call TEXT NOT NULL, number INTEGER NOT NULL, session INTEGER NOT NULL,
    endpoint TEXT NOT NULL, reserved INTEGER NOT NULL, reserved_usd REAL NOT NULL,
    outcome TEXT NOT NULL, status INTEGER, prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL, estimated INTEGER NOT NULL, usd REAL NOT NULL,
    seconds REAL NOT NULL, detail TEXT NOT NULL);
CREATE INDEX attempts_call ON attempts (call);
CREATE TABLE findings (
    row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, asked REAL NOT NULL, hash TEXT NOT NULL,
    value BLOB NOT NULL);
"""
COPIED = ("calls", "findings")
"""Tables of which a fork takes the past."""


def check_format(database: sqlite3.Connection, path: Path | None, frozen: bool) -> None:
    """Make the tables of a new journal; see that an older one can be read.

    Raises:
        InputError: it is something else, or of another format.
    """
    try:
        names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        if not names and not frozen:
            # All or nothing: a kill in the middle must leave no half of a journal.
            made = f"{SCHEMA} INSERT INTO meta VALUES ('format', '{FORMAT}');"  # noqa: S608
            database.executescript(f"BEGIN; {made} COMMIT;")
            return
        told = None
        if ("meta",) in names:
            told = database.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
    except sqlite3.Error as error:
        raise InputError(f"{path}: cannot be read as a journal: {error}") from error
    if told is None or told[0] != FORMAT:
        held = "unknown" if told is None else told[0]
        raise InputError(f"{path}: is no journal of this release (format {held}, not {FORMAT})")


def locked(path: Path) -> FileLock:
    """Lock a journal for this process.

    Raises:
        InputError: another process has it.
    """
    # The kernel lets go of it when a process dies, so a lock file left behind does no harm.
    lock = FileLock(f"{path}.lock", thread_local=False)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        raise InputError(
            f"{path}: another process is running this; wait for it, or give another folder "
            "with --out"
        ) from None
    except OSError as error:
        raise InputError(f"{path}: cannot be locked: {error.strerror}") from error
    return lock


def connect(path: Path | None, frozen: bool) -> sqlite3.Connection:
    """Open a journal, or one in memory.

    Raises:
        InputError: it cannot be opened.
    """
    try:
        if path is None:
            db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        elif frozen:
            db = _read_only(path)
        else:
            db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise InputError(f"{path}: cannot be opened as a journal: {error}") from error
    return db


def make_durable(database: sqlite3.Connection, path: Path | None) -> None:
    """Let what is committed be on the disk; only once it is known to be a journal.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=FULL")
    except sqlite3.Error as error:
        raise InputError(f"{path}: cannot be written as a journal: {error}") from error


def _read_only(path: Path) -> sqlite3.Connection:
    """Open without writing; where not even the shared memory of a WAL can be made, as it is."""
    where = path.resolve().as_uri()
    db = sqlite3.connect(f"{where}?mode=ro", uri=True, check_same_thread=False)
    try:
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        db.close()
        log = path.with_name(f"{path.name}-wal")
        if log.is_file() and log.stat().st_size:
            raise InputError(
                f"{path}: cannot be read where it is, because its latest calls stand in "
                f"{log.name} beside it; copy both to a folder that can be written to"
            ) from None
        db = sqlite3.connect(f"{where}?immutable=1", uri=True, check_same_thread=False)
    return db


def copy_past(source: Path, target: Path, before: float, told: str) -> None:
    """Begin a journal, as a fork does, with all that another one was asked before a date.

    The new journal is there whole or not at all. What was paid for it stays in the ledger of the
    other one, which is only read.

    Args:
        source: the file of the other journal.
        target: the file to make.
        before: simulated date in days; what was asked on it is no longer taken.
        told: where it comes from, for the new journal's notes.

    Raises:
        InputError: the source is no journal, or the target cannot be written.
    """
    unfinished = target.with_name(target.name + ".unfinished")
    unfinished.unlink(missing_ok=True)
    try:
        with closing(connect(source, True)) as old, closing(connect(unfinished, False)) as new:
            check_format(old, source, True)
            check_format(new, unfinished, False)
            new.execute("BEGIN")
            for table in COPIED:
                _copy(old, new, table, before)
            notes = (("past", repr(before)), ("forked", told))
            new.executemany("INSERT INTO meta VALUES (?, ?)", notes)
            new.execute("COMMIT")
        os.replace(unfinished, target)
    except (OSError, sqlite3.Error) as error:
        raise InputError(f"{target}: the past of {source} cannot be copied: {error}") from error


def _copy(old: sqlite3.Connection, new: sqlite3.Connection, table: str, before: float) -> None:
    rows = old.execute(f"SELECT * FROM {table} WHERE asked < ? ORDER BY row", (before,))  # noqa: S608
    slots = ", ".join("?" * len(rows.description))
    new.executemany(f"INSERT INTO {table} VALUES ({slots})", rows)  # noqa: S608 - our own names
