"""The SQLite database of a journal, with its lock, schema, statements, writer and checks.

Changes queued during a commit are the next one (rule 25); each adds a row of hashes to ``seals``.
The log is checked too: SQLite passes over a damaged frame, and all later commits, in silence.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import sqlite3
import struct
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock, Timeout

from virsci_society.agents.errors import DISK_FULL, InputError, Stopped
from virsci_society.agents.files.atomic_files import lock_file, replacing, require_plain
from virsci_society.agents.journal.records import Attempt, CallOutcome
from virsci_society.agents.prompts.request import Request, Usage

FORMAT = "3"
"""Of the tables of a journal."""
TABLES = ("meta", "calls", "attempts", "findings")
"""The tables whose rows are sealed; the place of a name is the number of its table."""
_DIGEST = 16
SEAL_ENTRY = struct.Struct(f"<Bq{_DIGEST}s")
ALL_ROWS = {name: f"SELECT rowid, * FROM {name}" for name in TABLES}  # noqa: S608 - our own names


def row_digest(values: Sequence[Any]) -> bytes:
    """Hash the number and columns of a row (16 bytes); equal for equal types and values."""
    content = hashlib.blake2b(digest_size=_DIGEST)
    for value in values:
        plain = int(value) if isinstance(value, bool) else value
        data = plain if isinstance(plain, bytes) else str(plain).encode("utf-8", "surrogatepass")
        content.update(f"{type(plain).__name__}{len(data)}:".encode())
        content.update(data)
    return content.digest()


class HashChain:
    """Seals the rows that each commit writes; for the thread that writes."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._entries: list[bytes] = []
        last = database.execute("SELECT row, hash FROM seals ORDER BY row DESC").fetchone()
        self._row: int
        self._hash: bytes
        self._row, self._hash = last or (0, b"")

    def add(self, table: str, row: int, *columns: Any) -> None:
        """Note that a row was written in this transaction, with all its columns in their order."""
        digest = row_digest((row, *columns))
        self._entries.append(SEAL_ENTRY.pack(TABLES.index(table), row, digest))

    def seal(self) -> None:
        """Write the seal of the rows that were noted; call it before the commit."""
        if not self._entries:
            return
        entries = b"".join(self._entries)
        self._entries.clear()
        self._row, self._hash = self._row + 1, chained(self._hash, entries)
        # With its number: where the locks of a file system do nothing, a second writer has used the
        # number up, and whoever commits after it is stopped here before anything is mixed.
        seal = (self._row, entries, self._hash)
        self._database.execute("INSERT INTO seals VALUES (?, ?, ?)", seal)


def chained(before: bytes, entries: bytes) -> bytes:
    """The hash of a commit's entries (16 bytes), chained to that of the commit before."""
    return hashlib.blake2b(before + entries, digest_size=_DIGEST).digest()


UNRULED = "-unruled"
"""Ends the model's name on disk where the offline scientist had no rule for the form."""
_OUTCOME = "kind, text, model, prompt_tokens, completion_tokens, estimated, cut"
CALLS = f"SELECT id, row, hash, asked, {_OUTCOME} FROM calls"  # noqa: S608 - our own names
RETRIEVALS = "SELECT id, row, hash, asked, value FROM findings"
ATTEMPTED = """
SELECT call, count(*) FROM attempts WHERE call NOT IN (SELECT id FROM calls) GROUP BY call
"""
SUMS = """
SELECT outcome, count(*), sum(prompt_tokens), sum(completion_tokens), sum(estimated),
    sum(cached_tokens), sum(usd), sum(seconds), sum(reserved), sum(reserved_usd) FROM attempts
    GROUP BY outcome, estimated, prompt_tokens + completion_tokens > 0 ORDER BY outcome, estimated
"""

# One statement each: every statement of the writer waits once for the interpreter.
_INSERT_OUTCOME = f"""
INSERT INTO calls (id, asked, hash, {_OUTCOME}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO NOTHING
"""  # noqa: S608
_INSERT_INTENT = "INSERT INTO attempts VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_UPDATE_ATTEMPT = """
UPDATE attempts SET outcome = ?, status = ?, prompt_tokens = ?, completion_tokens = ?,
    estimated = ?, cached_tokens = ?, usd = ?, seconds = ?, detail = ? WHERE row = ?
"""
_SET_META = """
INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value
RETURNING rowid, *
"""
_INSERT_RETRIEVAL = "INSERT OR IGNORE INTO findings (id, asked, hash, value) VALUES (?, ?, ?, ?)"


class Statements:
    """Statements that write to a journal and note the rows to be sealed with the commit."""

    def __init__(
        self, database: sqlite3.Connection, session: int, chain: HashChain | None = None
    ) -> None:
        self._database, self._session, self._chain = database, session, chain

    def seal(self) -> None:
        """Seal the rows that were written; call it at the end of a transaction."""
        if self._chain is not None:
            self._chain.seal()

    def set_meta(self, notes: Mapping[str, str]) -> None:
        """Store notes about the whole run."""
        for note in notes.items():
            self._seal("meta", *self._database.execute(_SET_META, note).fetchall()[0])

    def insert_outcome(self, request: Request, outcome: CallOutcome) -> CallOutcome:
        """Store how a call ended; the first outcome of a call stays for ever and is returned."""
        usage = outcome.usage
        values = (
            *(request.id, request.asked, request.hash, outcome.kind, outcome.text),
            f"{outcome.model}{UNRULED if outcome.unruled else ''}",
            *(usage.prompt_tokens, usage.completion_tokens, usage.estimated, outcome.cut),
        )
        # Where the call has an outcome, that one holds and is read back (rule 22).
        inserted = self._database.execute(_INSERT_OUTCOME, values)
        if inserted.rowcount:
            row, (id_, asked, *rest) = inserted.lastrowid or 0, values
            self._seal("calls", row, row, id_, float(asked), *rest)
            return outcome
        stored = self._database.execute(f"{CALLS} WHERE id = ?", (request.id,)).fetchone()
        return outcome_from_row(stored[4:])

    def insert_intent(self, attempt: Attempt) -> None:
        """Add an attempt to the ledger, in doubt until it is updated; sets its row."""
        columns = self._columns(attempt)
        # Set before the commit wakes the caller, who updates this row next.
        attempt.row = self._database.execute(_INSERT_INTENT, columns).lastrowid or 0
        self._seal("attempts", attempt.row, attempt.row, *columns)

    def update_attempt(
        self, request: Request, attempt: Attempt, outcome: CallOutcome | None
    ) -> CallOutcome | None:
        """Store how an attempt ended, and the call's outcome if it settled the call."""
        columns = self._columns(attempt)
        self._database.execute(_UPDATE_ATTEMPT, (*columns[6:], attempt.row))
        self._seal("attempts", attempt.row, attempt.row, *columns)
        return None if outcome is None else self.insert_outcome(request, outcome)

    def _columns(self, attempt: Attempt) -> tuple[Any, ...]:
        """The columns of an attempt after ``row``, as SQLite stores them."""
        usage = attempt.usage
        return (
            *(attempt.call, attempt.number, self._session, attempt.endpoint),
            *(attempt.reserved, float(attempt.reserved_usd), attempt.outcome, attempt.status),
            *(usage.prompt_tokens, usage.completion_tokens, int(usage.estimated)),
            *(usage.cached_tokens, float(attempt.usd), float(attempt.seconds), attempt.detail),
        )

    def insert_retrieval(self, id_: str, hash_: str, asked: float, value: bytes) -> None:
        """Store a retrieval, unless there is one under this id."""
        inserted = self._database.execute(_INSERT_RETRIEVAL, (id_, asked, hash_, value))
        if inserted.rowcount:
            row = inserted.lastrowid or 0
            self._seal("findings", row, row, id_, float(asked), hash_, value)

    def _seal(self, table: str, row: int, *columns: Any) -> None:
        if self._chain is not None:
            self._chain.add(table, row, *columns)


def outcome_from_row(row: Any) -> CallOutcome:
    """The outcome of a call from its columns, in the order of ``_OUTCOME``."""
    kind, text, marked, prompt, completion, estimated, cut = row
    # One text in memory for all calls of a model.
    model = sys.intern(marked.removesuffix(UNRULED))
    usage = Usage(prompt, completion, bool(estimated))
    return CallOutcome(kind, text, model, usage, bool(cut), model != marked)


GROUP = 200
"""Number of queued changes at which the queue is committed although nobody waits."""

Change = Callable[[], Any]
Queued = tuple[Change, asyncio.Future[Any] | None]


class GroupCommitWriter:
    """Commits the changes of one journal in groups, on the threads that bring them.

    A thread of its own would save nothing: no request is sent and no reply is used before its
    commit, and each commit would wait for several switches between threads.
    """

    def __init__(
        self,
        begin: Callable[[], None],
        commit: Callable[[], None],
        broken: Callable[[BaseException], Stopped],
    ) -> None:
        self.commits = 0
        self.fault: Stopped | None = None
        self._begin, self._commit, self._broken = begin, commit, broken
        self._queue: deque[Queued] = deque()
        self._writing = threading.Lock()
        self._scheduled = self._closed = False

    async def commit(self, change: Change, queued: Callable[[], None] | None = None) -> Any:
        """Apply a change, call ``queued``, and return the change's value once it is committed."""
        self._check()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._queue.append((change, future))
        if queued is not None:
            queued()
        if not self._scheduled:
            # After all that is ready to run on the loop, which may queue further changes.
            self._scheduled = True
            loop.call_soon(self._write, loop)
        return await future

    def enqueue(self, change: Change) -> None:
        """Apply a change with the next commit, without waiting for it."""
        self._check()
        self._queue.append((change, None))
        if len(self._queue) >= GROUP:
            self.flush()

    def flush(self) -> None:
        """Commit every queued change."""
        self._write()
        self._check()

    def close(self) -> None:
        """Commit what is queued and refuse further changes."""
        self._write()
        self._closed = True

    def _check(self) -> None:
        if self.fault is not None:
            raise self.fault
        if self._closed:
            raise Stopped("the journal is closed")

    def _write(self, here: asyncio.AbstractEventLoop | None = None) -> None:
        """Commit the queue in one transaction and wake its callers; ``here``: the running loop."""
        results: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], Any]]] = {}
        with self._writing:
            self._scheduled = False
            batch = [self._queue.popleft() for _ in range(len(self._queue))]
            for future, value in self._written(batch) if batch else ():
                results.setdefault(future.get_loop(), []).append((future, value))
        # One wake-up per loop and batch, whatever the number of callers (rules 25, 27).
        for loop, settled in results.items():
            # A committed intent sends a request at once; a committed reply is read first.
            settled.sort(key=_has_words)
            if loop is here:
                _wake(deque(settled))
            else:
                with suppress(RuntimeError):  # the loop is closed
                    loop.call_soon_threadsafe(_wake, deque(settled))

    def _written(self, batch: list[Queued]) -> list[tuple[asyncio.Future[Any], Any]]:
        """Commit a batch; return its futures with the values of their changes or the fault."""
        try:
            if self.fault is not None:
                raise self.fault
            self._begin()
            values = [change() for change, _ in batch]
            self._commit()
            self.commits += 1
        except BaseException as error:
            if self.fault is None:
                self.fault = self._broken(error)
            if not isinstance(error, Exception):
                raise
            # The whole transaction is undone, so every caller of the batch gets the error.
            values = [self.fault] * len(batch)
        return [
            (future, value)
            for (_, future), value in zip(batch, values, strict=True)
            if future is not None
        ]


def _has_words(result: tuple[asyncio.Future[Any], Any]) -> bool:
    return result[1] is not None


def _wake(results: deque[tuple[asyncio.Future[Any], Any]]) -> None:
    """Set the futures of a batch; after each reply to be read, the next in another round."""
    while results:
        future, value = results.popleft()
        # Done where the caller was cancelled meanwhile; its change is committed all the same.
        if future.done():
            continue
        if isinstance(value, Stopped):
            future.set_exception(value)
        else:
            future.set_result(value)
        if value is not None and results:
            asyncio.get_running_loop().call_soon(_wake, results)
            return


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
            seal_all(database)
            database.execute("COMMIT")
            return
        if ("meta",) in names:
            held = database.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
    if held != (FORMAT,):
        version = "unknown" if held is None else held[0]
        raise InputError(
            f"{path}: is not a journal of this release (format {version}, not {FORMAT})"
        )


def seal_all(database: sqlite3.Connection) -> None:
    """Seal every row of a new journal, within its transaction."""
    chain = HashChain(database)
    for table in TABLES:
        for row, *values in database.execute(ALL_ROWS[table]).fetchall():
            chain.add(table, row, *values)
    chain.seal()


class OpenedDatabase(NamedTuple):
    """The connections of a journal; ``file`` identifies its file, for a journal that is written."""

    writer: sqlite3.Connection
    reader: sqlite3.Connection
    chain: HashChain | None
    file: tuple[int, int] | None
    rows_verified: int


def open_database(path: Path | None, frozen: bool, verify: bool) -> OpenedDatabase:
    """Check a journal, make its tables where it is new, and open it."""
    if path is not None:
        require_plain_files(path)
        log = path.with_name(f"{path.name}-wal")
        # Before SQLite reads the log: it would drop everything after damage.
        if verify and not is_log_whole(log):
            raise damaged(log, "the log of the latest commits is damaged")
    database = _connect(path, frozen)
    check_format(database, path, frozen)
    rows_verified = verify_rows(database, path) if path and verify else 0
    if path is None or frozen:
        return OpenedDatabase(database, database, None, None, rows_verified)
    make_durable(database, path)
    chain, made = HashChain(database), os.stat(path)
    # A second connection, so that nobody who reads waits for a commit.
    reader = _connect(path, frozen)
    return OpenedDatabase(database, reader, chain, (made.st_dev, made.st_ino), rows_verified)


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


def require_plain_files(path: Path) -> None:
    """Refuse a journal with a link or another special file in the place of one of its files."""
    for suffix in FILES:
        require_plain(path.with_name(f"{path.name}{suffix}"))


def connect(path: Path, frozen: bool) -> sqlite3.Connection:
    """Open the database of a journal whose files are plain ones."""
    require_plain_files(path)
    return _connect(path, frozen)


def _connect(path: Path | None, frozen: bool) -> sqlite3.Connection:
    """Open a database; without a path in memory, frozen for reading only."""
    with _errors(path, "opened"):
        if path is None:
            # The threads of the clock and of the loop both commit, one at a time.
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
                f"{path}: cannot be read in a read-only folder: its latest calls are in "
                f"{log.name}; copy both to a writable folder"
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
            seal_all(new)
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
    return InputError(f"{path}: {what}; restore the file, or start a new run with --out NEW")


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
        content = path.read_bytes()
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
