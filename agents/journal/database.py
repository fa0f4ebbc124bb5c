"""The SQLite database of a journal, with its lock, schema, connections and checks.

The log is checked too: SQLite passes over a damaged frame of it, and all later commits, in silence.
"""

from __future__ import annotations

import os
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from virsci_society.agents.errors import DISK_FULL, InputError, Stopped
from virsci_society.agents.files.atomic_files import lock_file, replacing, require_plain
from virsci_society.agents.journal.writer import (
    ALL_ROWS,
    FORMAT,
    SEAL_ENTRY,
    TABLES,
    HashChain,
    chained,
    row_digest,
)

SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE calls (
    row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, asked REAL NOT NULL, hash TEXT NOT NULL,
    kind TEXT NOT NULL, text TEXT, model TEXT, prompt_tokens INTEGER, completion_tokens INTEGER,
    estimated INTEGER, cut INTEGER);
CREATE TABLE attempts (
    row INTEGER PRIMARY KEY, call TEXT NOT NULL, number INTEGER NOT NULL, session INTEGER NOT NULL,
    endpoint TEXT NOT NULL, reserved INTEGER NOT NULL, reserved_usd REAL NOT NULL,
    outcome TEXT NOT NULL, status INTEGER, prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL, estimated INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL, usd REAL NOT NULL, seconds REAL NOT NULL,
    detail TEXT NOT NULL);
CREATE INDEX attempts_call ON attempts (call);
CREATE TABLE findings (
    row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, asked REAL NOT NULL, hash TEXT NOT NULL,
    value BLOB NOT NULL);
CREATE TABLE seals (row INTEGER PRIMARY KEY, entries BLOB NOT NULL, hash BLOB NOT NULL);
"""
FILES = ("", "-wal", "-shm", "-journal")
"""What SQLite appends to the name of a database, for itself and the files beside it."""
NO_ROOM = (
    sqlite3.SQLITE_IOERR_WRITE,
    sqlite3.SQLITE_IOERR_TRUNCATE,
    sqlite3.SQLITE_IOERR_SHMOPEN,
    sqlite3.SQLITE_IOERR_SHMSIZE,
    sqlite3.SQLITE_IOERR_SHMMAP,
)
"""Codes of SQLite where a file cannot be made or grow."""
COPIED = ("calls", "findings")
"""Tables of which a fork takes the past."""


@contextmanager
def _errors(path: Path | None, what: str) -> Iterator[None]:
    """Turn an error of SQLite into a stop for want of room, or into bad input that is named."""
    try:
        yield
    except (sqlite3.Error, ValueError) as error:  # a text of a damaged file is not UTF-8
        code = getattr(error, "sqlite_errorcode", 0)
        # A limit on the size of files, and no room for the shared memory, are errors of writing.
        if code & 0xFF == sqlite3.SQLITE_FULL or code in NO_ROOM:
            raise Stopped(
                f"{path}: the journal cannot be written: {error}; make room for it"
            ) from error
        raise InputError(f"{path}: cannot be {what} as a journal: {error}") from error


def check_format(database: sqlite3.Connection, path: Path | None, frozen: bool) -> None:
    """Make the tables of a new journal, or check that one can be read."""
    held = None
    with _errors(path, "read"):
        names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        if not names and not frozen:
            # All or nothing: a kill in the middle must leave no half of a journal.
            database.executescript(f"BEGIN; {SCHEMA}")
            database.execute("INSERT INTO meta VALUES ('format', ?)", (FORMAT,))
            _seal_all(database)
            database.execute("COMMIT")
            return
        if ("meta",) in names:
            held = database.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
    if held != (FORMAT,):
        version = "unknown" if held is None else held[0]
        raise InputError(f"{path}: is no journal of this release (format {version}, not {FORMAT})")


def _seal_all(database: sqlite3.Connection) -> None:
    """Seal every row of a new journal, within its transaction."""
    chain = HashChain(database)
    chain.add_all()
    chain.seal()


def verify_log(path: Path) -> None:
    """Check the write-ahead log of a journal, before SQLite reads it."""
    log = path.with_name(f"{path.name}-wal")
    if not is_log_whole(log):
        raise damaged(log, "the log of the latest commits is damaged")


def lock_journal(path: Path) -> FileLock:
    """Lock a journal for this process; the lock ends with the process."""
    # The kernel lets go of it when a process dies, so a lock file left behind does no harm.
    lock = lock_file(path.with_name(f"{path.name}.lock"))
    try:
        lock.acquire(blocking=False)
    except Timeout:
        raise InputError(
            f"{path}: another process is running this; wait for it, or give another folder "
            "with --out"
        ) from None
    except OSError as error:
        kind = Stopped if error.errno in DISK_FULL else InputError
        raise kind(f"{path}: cannot be locked: {error.strerror}") from error
    return lock


def connect(path: Path | None, frozen: bool) -> sqlite3.Connection:
    """Open the database of a journal; without a path in memory, frozen for reading only."""
    if path is not None:
        for suffix in FILES:
            require_plain(path.with_name(f"{path.name}{suffix}"))
    with _errors(path, "opened"):
        if path is None:
            # The writer's thread commits through a connection that another thread opens and closes.
            # Without an isolation level Python begins no transaction of its own.
            return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        if frozen:
            return _read_only(path)
        return sqlite3.connect(path, isolation_level=None, check_same_thread=False)


def make_durable(database: sqlite3.Connection, path: Path | None) -> None:
    """Switch a checked journal to a log that is flushed to the disk at every commit."""
    with _errors(path, "written"):
        database.execute("PRAGMA journal_mode=WAL")
        # With NORMAL a power cut could undo a commit, and the paid answer would be paid again
        # (rule 27).
        database.execute("PRAGMA synchronous=FULL")
        # The first read with the log makes one more file, for which there may be no room either.
        database.execute("SELECT count(*) FROM meta").fetchone()


def read_notes(path: Path) -> dict[str, str]:
    """Read the notes of a journal about its whole run; no writer ever waits for this read."""
    with _errors(path, "read"), closing(connect(path, True)) as database:
        tables = database.execute("SELECT name FROM sqlite_master").fetchall()
        return dict(database.execute("SELECT key, value FROM meta")) if ("meta",) in tables else {}


def is_being_written(path: Path) -> bool | None:
    """Does a process here hold the lock of a journal, by the kernel's list? None: not seen."""
    try:
        number = os.stat(path.with_name(f"{path.name}.lock"), follow_symlinks=False).st_ino
    except OSError:
        return False
    try:
        held = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    return any(" FLOCK " in line and f":{number} " in line for line in held)


def _read_only(path: Path) -> sqlite3.Connection:
    """Open a file without writing; without a WAL beside it also from a read-only folder."""
    where = path.resolve().as_uri()
    # Whoever writes a journal has a log beside it. Without one the file alone is the journal, and
    # read as such: else SQLite would make files in a folder that is only read.
    if not any(path.with_name(f"{path.name}{end}").exists() for end in ("-wal", "-journal")):
        return sqlite3.connect(f"{where}?immutable=1", uri=True, check_same_thread=False)
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


def copy_past(source: Path, target: Path, before: float, origin: str) -> None:
    """Begin a fork's journal with the calls that another was asked before a simulated date."""
    try:
        with (
            replacing(target) as temporary,
            closing(connect(source, True)) as old,
            closing(connect(temporary, False)) as new,
        ):
            check_format(old, source, True)
            verify_rows(old, source)
            check_format(new, temporary, False)
            new.execute("BEGIN")
            for table in COPIED:
                # What was asked on the very date belongs to the future (rules 11 and 23).
                query = f"SELECT * FROM {table} WHERE asked < ? ORDER BY row"  # noqa: S608 - our own names
                rows = old.execute(query, (before,))
                slots = ", ".join("?" * len(rows.description))
                new.executemany(f"INSERT INTO {table} VALUES ({slots})", rows)  # noqa: S608
            notes = (("past", repr(before)), ("forked", origin))
            new.executemany("INSERT INTO meta VALUES (?, ?)", notes)
            _seal_all(new)
            new.execute("COMMIT")
    except (OSError, sqlite3.Error) as error:
        raise InputError(f"{target}: the past of {source} cannot be copied: {error}") from error


def verify_rows(database: sqlite3.Connection, path: Path) -> int:
    """Check every row of a journal against its seals, and return how many there are."""
    try:
        broken = [str(row[0]) for row in database.execute("PRAGMA integrity_check(3)")]
        if broken != ["ok"]:
            raise damaged(path, f"the database is damaged: {'; '.join(broken)[:300]}")
        sealed = _sealed_rows(database, path)
        return sum(_verify_table(database, path, table, sealed[table]) for table in TABLES)
    except (sqlite3.Error, ValueError, TypeError, OverflowError, MemoryError) as error:
        raise damaged(path, str(error) or type(error).__name__) from error


def damaged(path: Path | None, what: str) -> InputError:
    """The error of a journal that is not as it was written."""
    return InputError(f"{path}: {what}; restore the file, or start anew with --out NEW")


def _sealed_rows(database: sqlite3.Connection, path: Path) -> dict[str, dict[int, bytes]]:
    """The hash of every row by the last seal that names it, by table and number."""
    sealed: dict[str, dict[int, bytes]] = {table: {} for table in TABLES}
    hash_ = b""
    seals = database.execute("SELECT row, entries, hash FROM seals ORDER BY row")
    for expected, (row, entries, stored) in enumerate(seals, start=1):
        hash_ = chained(hash_, bytes(entries))
        if row != expected or bytes(stored) != hash_ or len(entries) % SEAL_ENTRY.size:
            raise damaged(path, f"row {expected} of seals does not follow from the rows before it")
        for number, sealed_row, digest in SEAL_ENTRY.iter_unpack(entries):
            if number >= len(TABLES):
                raise damaged(path, f"row {row} of seals names a table that is not known")
            sealed[TABLES[number]][sealed_row] = digest
    return sealed


def _verify_table(
    database: sqlite3.Connection, path: Path, table: str, sealed: dict[int, bytes]
) -> int:
    for row in database.execute(ALL_ROWS[table]):
        what = f"row {row[0]} of {table} ({str(row[2 if table != 'meta' else 1])[:80]!r})"
        digest = sealed.pop(row[0], None)
        if digest is None:
            raise damaged(path, f"{what} was not written by a run: no seal names it")
        if digest != row_digest(row):
            raise damaged(path, f"{what} was changed after it was written: its hash is another one")
    if sealed:
        raise damaged(path, f"row {min(sealed)} of {table} is missing")
    return int(database.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608


# The log of SQLite: "Database File Format", section 4 ("The Write-Ahead Log"), sqlite.org.
_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_BIG_ENDIAN, _LITTLE_ENDIAN = 0x377F0683, 0x377F0682


def is_log_whole(path: Path) -> bool:
    """Return whether a write-ahead log is missing or undamaged, but for a last cut transaction."""
    try:
        with require_plain(path).open("rb") as file:
            content = file.read()
    except FileNotFoundError:
        return True
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    if len(content) <= _HEADER.size:
        return True
    magic, _, page, _, *salts, first, second = _HEADER.unpack_from(content)
    order = {_BIG_ENDIAN: ">", _LITTLE_ENDIAN: "<"}.get(magic)
    if order is None or not 512 <= page <= 65536:
        return False
    sums = _checksum(content[:24], order, (0, 0))
    if sums != (first, second):
        return False
    # Where the first frame begins that is incomplete, or of another log, or damaged.
    size = _FRAME.size + page
    for broken in range(_HEADER.size, len(content), size):
        if broken + size > len(content):
            break
        _, _, *own, first, second = _FRAME.unpack_from(content, broken)
        sums = _checksum(content[broken : broken + 8], order, sums)
        sums = _checksum(content[broken + _FRAME.size : broken + size], order, sums)
        if own != salts or sums != (first, second):
            break
    else:
        return True
    return _commits_after(content, broken, struct.pack(">2I", *salts)) < 2


def _commits_after(content: bytes, broken: int, salts: bytes) -> int:
    """How many commits have left a frame behind the first broken one, wherever it lies."""
    commits, last = 0, False
    at = content.find(salts, broken)
    while at >= 0:
        if last:
            return 2
        last = content[at - 4 : at] != bytes(4)
        commits += last
        at = content.find(salts, at + len(salts))
    return commits


def _checksum(data: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return first, second
