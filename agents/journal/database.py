"""The SQLite database of a journal, with its file lock, schema, connections and statements.

The database has a write-ahead log: committed rows are on the disk, and a reader never waits for
the writer. The names of tables, columns and meta keys are the format of the file and do not
change.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from virsci_society.agents.errors import DISK_FULL, InputError, Stopped
from virsci_society.agents.files.atomic_files import lock_file, replacing, require_plain
from virsci_society.agents.journal import hash_chain
from virsci_society.agents.journal.hash_chain import HashChain, damaged, verify_rows
from virsci_society.agents.journal.records import IN_DOUBT, Attempt, CallOutcome
from virsci_society.agents.journal.wal import is_log_whole
from virsci_society.agents.prompts.request import Request
from virsci_society.agents.usage import Usage

FORMATS = ("1", hash_chain.FORMAT)
"""Formats that are read; a journal is made without seals, and gets them before its first row."""
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
FILES = ("", "-wal", "-shm", "-journal")
"""What SQLite appends to the name of a database, for itself and the files beside it."""
UNRULED = "-unruled"
"""Ends the model's name on disk where the offline scientist had no rule for the form. The columns
of a journal do not change, so that all releases read it alike. Nothing else knows this ending."""
COPIED = ("calls", "findings")
"""Tables of which a fork takes the past."""


def check_format(database: sqlite3.Connection, path: Path | None, frozen: bool) -> None:
    """Make the tables of a new journal, or check that an older one can be read.

    Args:
        database: an open connection.
        path: the file, for messages; None: in memory.
        frozen: True: an empty database is an error, and nothing is written.

    Raises:
        InputError: it is something else than a journal, or of another format.
        Stopped: the disk is full.
    """
    try:
        names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        if not names and not frozen:
            # All or nothing: a kill in the middle must leave no half of a journal.
            made = f"{SCHEMA} INSERT INTO meta VALUES ('format', '{FORMATS[0]}');"  # noqa: S608
            database.executescript(f"BEGIN; {made} COMMIT;")
            return
        held = None
        if ("meta",) in names:
            held = database.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
    except (sqlite3.Error, ValueError) as error:  # a text of a damaged file is not UTF-8
        raise _disk_full(path, error) or InputError(
            f"{path}: cannot be read as a journal: {error}"
        ) from error
    if held is None or held[0] not in FORMATS:
        version = "unknown" if held is None else held[0]
        raise InputError(
            f"{path}: is no journal of this release (format {version}, not {FORMATS[-1]})"
        )


def begin_chain(database: sqlite3.Connection, path: Path) -> HashChain:
    """Go on with the hashes of a journal's rows, or begin them.

    Raises:
        InputError: the file cannot be written.
        Stopped: the disk is full.
    """
    try:
        return HashChain(database)
    except sqlite3.Error as error:
        raise _disk_full(path, error) or InputError(
            f"{path}: cannot be written as a journal: {error}"
        ) from error


def verify_log(path: Path) -> None:
    """Check the write-ahead log of a journal, before SQLite reads it.

    Raises:
        InputError: it is damaged, so that SQLite would leave out what was committed.
    """
    log = path.with_name(f"{path.name}-wal")
    if not is_log_whole(log):
        raise damaged(log, "the log of the latest commits is damaged")


def lock_journal(path: Path) -> FileLock:
    """Lock a journal for this process; the lock ends with the process.

    Raises:
        InputError: another process has locked it, or it cannot be locked.
    """
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
    """Open the database of a journal.

    Args:
        path: the file; None: a database in memory.
        frozen: True: open for reading only.

    Raises:
        InputError: it cannot be opened, or one of its files is a link.
    """
    if path is not None:
        for suffix in FILES:
            require_plain(path.with_name(f"{path.name}{suffix}"), single=True)
    try:
        if path is None:
            # The writer's thread commits through a connection that another thread opens and closes.
            # Without an isolation level Python begins no transaction of its own.
            db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        elif frozen:
            db = _read_only(path)
        else:
            db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise _disk_full(path, error) or InputError(
            f"{path}: cannot be opened as a journal: {error}"
        ) from error
    return db


def make_durable(database: sqlite3.Connection, path: Path | None) -> None:
    """Switch to a write-ahead log that is flushed to the disk at every commit.

    Call it after ``check_format``, because it changes a file that may be no journal.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        database.execute("PRAGMA journal_mode=WAL")
        # With NORMAL a power cut could undo a commit, and the paid answer would be paid again
        # (rule 27).
        database.execute("PRAGMA synchronous=FULL")
    except sqlite3.Error as error:
        raise _disk_full(path, error) or InputError(
            f"{path}: cannot be written as a journal: {error}"
        ) from error


def _disk_full(path: Path | None, error: Exception) -> Stopped | None:
    """The stop that a full disk is; None where an error of SQLite is of another kind."""
    code = getattr(error, "sqlite_errorcode", 0)
    # A limit on the size of files comes as an error of writing.
    if code & 0xFF == sqlite3.SQLITE_FULL or code == sqlite3.SQLITE_IOERR_WRITE:
        return Stopped(f"{path}: the journal cannot be written: {error}; make room for it")
    return None


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
    """Begin the journal of a fork with all calls that another journal was asked before a date.

    The new journal appears whole or not at all. Attempts stay in the ledger of the other journal,
    which is only read: what they cost was paid there.

    Args:
        source: the file of the other journal.
        target: the file to make.
        before: simulated date in days; what was asked on it or later is not copied.
        origin: where the past comes from, for the note ``forked`` of the new journal.

    Raises:
        InputError: the source is no journal, or the target cannot be written.
    """
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
                _copy(old, new, table, before)
            notes = (("past", repr(before)), ("forked", origin))
            new.executemany("INSERT INTO meta VALUES (?, ?)", notes)
            new.execute("COMMIT")
            HashChain(new, earlier=False)
    except (OSError, sqlite3.Error) as error:
        raise InputError(f"{target}: the past of {source} cannot be copied: {error}") from error


def _copy(old: sqlite3.Connection, new: sqlite3.Connection, table: str, before: float) -> None:
    # What was asked on the very date belongs to the future (rules 11 and 23).
    rows = old.execute(f"SELECT * FROM {table} WHERE asked < ? ORDER BY row", (before,))  # noqa: S608
    slots = ", ".join("?" * len(rows.description))
    new.executemany(f"INSERT INTO {table} VALUES ({slots})", rows)  # noqa: S608 - our own names


_OUTCOME = "kind, text, model, prompt_tokens, completion_tokens, estimated, cut"
CALL = f"SELECT row, hash, asked, {_OUTCOME} FROM calls WHERE id = ?"  # noqa: S608 - our own names
OUTCOMES = f"SELECT id, hash, {_OUTCOME} FROM calls WHERE kind IS NOT NULL ORDER BY row"  # noqa: S608
RETRIEVAL = "SELECT hash, asked, value FROM findings WHERE id = ?"
SUMS = """
SELECT outcome, count(*), sum(prompt_tokens), sum(completion_tokens), sum(estimated), sum(usd),
    sum(seconds), sum(detail = 'hedge' OR detail LIKE 'hedge: %'), sum(reserved),
    sum(reserved_usd) FROM attempts
    GROUP BY outcome, estimated, prompt_tokens + completion_tokens > 0 ORDER BY outcome, estimated
"""
LEDGER = """
SELECT call, number, endpoint, reserved, reserved_usd, outcome, status, usd, seconds, detail,
    prompt_tokens, completion_tokens, estimated FROM attempts ORDER BY row
"""

# One statement each: every statement of the writer waits once for the interpreter.
_INSERT_OUTCOME = f"""
INSERT INTO calls (id, asked, hash, {_OUTCOME}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET hash = excluded.hash, kind = excluded.kind, text = excluded.text,
    model = excluded.model, prompt_tokens = excluded.prompt_tokens, cut = excluded.cut,
    completion_tokens = excluded.completion_tokens, estimated = excluded.estimated
WHERE calls.kind IS NULL
"""  # noqa: S608
_INSERT_INTENT = """
INSERT INTO attempts VALUES (NULL, ?, (SELECT count(*) FROM attempts WHERE call = ?), ?, ?, ?, ?,
    ?, NULL, 0, 0, 1, 0.0, 0.0, ?)
"""
_UPDATE_ATTEMPT = """
UPDATE attempts SET outcome = ?, status = ?, prompt_tokens = ?, completion_tokens = ?,
    estimated = ?, usd = ?, seconds = ?, detail = ? WHERE row = ?
"""
_SET_META = """
INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value
"""
_INSERT_RETRIEVAL = "INSERT OR IGNORE INTO findings (id, asked, hash, value) VALUES (?, ?, ?, ?)"


class Statements:
    """Statements that write to a journal; the group-commit writer commits them.

    Args:
        database: a connection that is open for writing.
        session: number of the run's session that writes (>= 1).
        chain: seals the rows that are written; None: a journal in memory, whose rows have none.
    """

    def __init__(
        self, database: sqlite3.Connection, session: int, chain: HashChain | None = None
    ) -> None:
        self._database, self._session, self._chain = database, session, chain
        intents = "SELECT count(*) FROM calls WHERE kind IS NULL"
        self._old_intents = bool(database.execute(intents).fetchone()[0])

    def seal(self) -> None:
        """Seal the rows that were written; call it at the end of a transaction."""
        if self._chain is not None:
            self._chain.seal()

    def set_meta(self, key: str, value: str) -> None:
        """Store a note about the whole run."""
        self._database.execute(_SET_META, (key, value))
        query = "SELECT rowid FROM meta WHERE key = ?"
        self._seal("meta", self._database.execute(query, (key,)).fetchone()[0])

    def insert_outcome(self, request: Request, outcome: CallOutcome) -> CallOutcome:
        """Store how a call ended; the first outcome of a call stays for ever.

        Returns:
            The outcome that the journal holds now, which may be an earlier one.
        """
        usage = outcome.usage
        values = (
            *(request.id, request.asked, request.hash, outcome.kind, outcome.text),
            f"{outcome.model}{UNRULED if outcome.unruled else ''}",
            *(usage.prompt_tokens, usage.completion_tokens, usage.estimated, outcome.cut),
        )
        # No row changes where the call has an outcome; then that one holds and is read back
        # (rule 22).
        inserted = self._database.execute(_INSERT_OUTCOME, values)
        if inserted.rowcount:
            self._seal_outcome(inserted.lastrowid or 0, values)
            return outcome
        return outcome_from_row(self._database.execute(CALL, (request.id,)).fetchone()[3:])

    def insert_intent(self, attempt: Attempt) -> None:
        """Add an attempt to the ledger, in doubt until it is updated; sets its row."""
        inserted = self._database.execute(
            _INSERT_INTENT,
            (
                *(attempt.call, attempt.call, self._session, attempt.endpoint),
                *(attempt.reserved, attempt.reserved_usd, IN_DOUBT, attempt.detail),
            ),
        )
        # Set before the commit wakes the caller, who updates this row next.
        attempt.row = int(inserted.lastrowid or 0)
        self._seal("attempts", attempt.row)

    def update_attempt(
        self, request: Request, attempt: Attempt, outcome: CallOutcome | None
    ) -> CallOutcome | None:
        """Store how an attempt ended, and the call's outcome if it settled the call.

        Args:
            request: the call.
            attempt: the attempt, with the row that ``insert_intent`` gave it.
            outcome: the call's outcome; None: the attempt failed.

        Returns:
            The outcome that the journal holds now; None if the attempt failed.
        """
        usage = attempt.usage
        self._database.execute(
            _UPDATE_ATTEMPT,
            (
                *(attempt.outcome, attempt.status, usage.prompt_tokens, usage.completion_tokens),
                *(usage.estimated, attempt.usd, attempt.seconds, attempt.detail, attempt.row),
            ),
        )
        self._seal("attempts", attempt.row)
        return None if outcome is None else self.insert_outcome(request, outcome)

    def insert_retrieval(self, id_: str, hash_: str, asked: float, value: bytes) -> None:
        """Store a retrieval, unless there is one under this id.

        Args:
            id_: id of the retrieval.
            hash_: hash of its question.
            asked: simulated date in days.
            value: its result, encoded.
        """
        inserted = self._database.execute(_INSERT_RETRIEVAL, (id_, asked, hash_, value))
        if inserted.rowcount:
            row = inserted.lastrowid or 0
            self._seal("findings", row, (row, id_, float(asked), hash_, value))

    def _seal_outcome(self, row: int, values: tuple[Any, ...]) -> None:
        if self._old_intents:
            # An earlier release may have begun the call: its row was changed and not added.
            query = "SELECT row FROM calls WHERE id = ?"
            self._seal("calls", self._database.execute(query, values[:1]).fetchone()[0])
        else:
            id_, asked, *rest = values
            self._seal("calls", row, (row, id_, float(asked), *rest))

    def _seal(self, table: str, row: int, values: tuple[Any, ...] | None = None) -> None:
        if self._chain is not None:
            self._chain.add(table, row, values)


def outcome_from_row(row: Any) -> CallOutcome:
    """The outcome of a call from its columns, in the order of ``_OUTCOME``."""
    kind, text, marked, prompt, completion, estimated, cut = row
    model = marked.removesuffix(UNRULED)
    usage = Usage(prompt, completion, bool(estimated))
    return CallOutcome(kind, text, model, usage, bool(cut), model != marked)


def attempts_from_rows(rows: list[Any]) -> list[Attempt]:
    """The attempts from rows of ``LEDGER``."""
    names = [
        "call",
        "number",
        "endpoint",
        "reserved",
        "reserved_usd",
        "outcome",
        "status",
        "usd",
        "seconds",
        "detail",
    ]
    return [
        Attempt(**dict(zip(names, row, strict=False)), usage=Usage(row[-3], row[-2], bool(row[-1])))
        for row in rows
    ]
