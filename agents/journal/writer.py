"""Writes a journal, with statements, hashes of the rows they write, and group commits.

All changes that were queued while the last commit went to the disk become the next commit (rule
25); sqlite3 has none such. Each commit adds a row to ``seals``: a hash of each row that it wrote,
and one over these and the seal before, by which changed, missing and added rows are found.
"""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import struct
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from virsci_society.agents.errors import Stopped
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

    def add_all(self) -> None:
        """Note every row that is there, in a new journal."""
        for table in TABLES:
            for row, *values in self._database.execute(ALL_ROWS[table]).fetchall():
                self.add(table, row, *values)


def chained(before: bytes, entries: bytes) -> bytes:
    """The hash of a commit's entries (16 bytes), chained to that of the commit before."""
    return hashlib.blake2b(before + entries, digest_size=_DIGEST).digest()


UNRULED = "-unruled"
"""Ends the model's name on disk where the offline scientist had no rule for the form."""
_OUTCOME = "kind, text, model, prompt_tokens, completion_tokens, estimated, cut"
CALL = f"SELECT row, hash, asked, {_OUTCOME} FROM calls WHERE id = ?"  # noqa: S608 - our own names
OUTCOMES = f"SELECT id, hash, {_OUTCOME} FROM calls ORDER BY row"  # noqa: S608
RETRIEVAL = "SELECT hash, asked, value FROM findings WHERE id = ?"
SUMS = """
SELECT outcome, count(*), sum(prompt_tokens), sum(completion_tokens), sum(estimated),
    sum(cached_tokens), sum(usd), sum(seconds), sum(reserved), sum(reserved_usd) FROM attempts
    GROUP BY outcome, estimated, prompt_tokens + completion_tokens > 0 ORDER BY outcome, estimated
"""
LEDGER = """
SELECT call, number, endpoint, reserved, reserved_usd, outcome, status, prompt_tokens,
    completion_tokens, estimated, cached_tokens, usd, seconds, detail FROM attempts ORDER BY row
"""

# One statement each: every statement of the writer waits once for the interpreter.
_INSERT_OUTCOME = f"""
INSERT INTO calls (id, asked, hash, {_OUTCOME}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO NOTHING
"""  # noqa: S608
_INSERT_INTENT = """
INSERT INTO attempts VALUES (NULL, ?, (SELECT count(*) FROM attempts WHERE call = ?), ?, ?, ?, ?,
    ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING row, number
"""
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
        return outcome_from_row(self._database.execute(CALL, (request.id,)).fetchone()[3:])

    def insert_intent(self, attempt: Attempt) -> None:
        """Add an attempt to the ledger, in doubt until it is updated; sets its row and number."""
        call, _, *rest = self._columns(attempt)
        inserted = self._database.execute(_INSERT_INTENT, (call, call, *rest))
        # Set before the commit wakes the caller, who updates this row next.
        attempt.row, attempt.number = inserted.fetchall()[0]
        self._seal("attempts", attempt.row, attempt.row, *self._columns(attempt))

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
    model = marked.removesuffix(UNRULED)
    usage = Usage(prompt, completion, bool(estimated))
    return CallOutcome(kind, text, model, usage, bool(cut), model != marked)


def attempt_from_row(row: Any) -> Attempt:
    """The attempt from a row of ``LEDGER``."""
    prompt, completion, estimated, cached = row[7:11]
    usage = Usage(prompt, completion, bool(estimated), cached)
    values: list[Any] = [*row[:7], usage, *row[11:]]
    return Attempt(*values)


MOST_QUEUED = 20_000
"""Changes that may wait to be written; whoever brings one more waits."""

Change = Callable[[], Any]


class GroupCommitWriter:
    """Writer thread of one journal; it starts with the first change."""

    def __init__(
        self,
        begin: Callable[[], None],
        commit: Callable[[], None],
        broken: Callable[[BaseException], Stopped],
    ) -> None:
        self.commits = 0
        self.fault: Stopped | None = None
        self._begin, self._commit, self._broken = begin, commit, broken
        self._queue: deque[tuple[Change, asyncio.Future[Any] | None]] = deque()
        self._changed = threading.Condition()
        self._idle = True
        self._ending = False
        self._thread: threading.Thread | None = None

    async def commit(self, change: Change, queued: Callable[[], None] | None = None) -> Any:
        """Apply a change, call ``queued``, and return the change's value once it is committed."""
        self._check()
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._enqueue(change, future)
        if queued is not None:
            queued()
        return await future

    def enqueue(self, change: Change) -> None:
        """Apply a change with the next commit; it waits only behind ``MOST_QUEUED``."""
        self._check()
        if len(self._queue) >= MOST_QUEUED:
            self.flush()
        self._enqueue(change, None)

    def flush(self) -> None:
        """Wait until every queued change has been committed."""
        with self._changed:
            self._changed.wait_for(
                lambda: self.fault is not None or (self._idle and not self._queue)
            )
        self._check()

    def close(self) -> None:
        """Commit what is queued and end the thread."""
        with self._changed:
            self._ending = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _check(self) -> None:
        if self.fault is not None:
            raise self.fault
        if self._ending:
            raise Stopped("the journal is closed")

    def _enqueue(self, change: Change, future: asyncio.Future[Any] | None) -> None:
        # Appended before ``_idle`` is read, without the lock: a writer that becomes idle in between
        # looks at the queue once more before it sleeps.
        self._queue.append((change, future))
        if self._idle:
            with self._changed:
                # False before the writer wakes, so that a burst wakes it once.
                self._idle = False
                if self._thread is None:
                    self._thread = threading.Thread(target=self._write, name="journal", daemon=True)
                    self._thread.start()
                self._changed.notify_all()

    def _write(self) -> None:
        while True:
            with self._changed:
                while not self._queue and not self._ending:
                    # Set before every sleep: whoever saw an idle writer and waited for the lock may
                    # wake it after it has committed that change, and leaves it marked as busy.
                    self._idle = True
                    self._changed.notify_all()
                    self._changed.wait()
                if not self._queue:
                    return
                self._idle = False
            # Nothing of the batch stays in this frame, which may sleep for days.
            self._write_batch([self._queue.popleft() for _ in range(len(self._queue))])

    def _write_batch(self, batch: list[tuple[Change, asyncio.Future[Any] | None]]) -> None:
        """Commit a batch in one transaction, and wake its callers loop by loop."""
        results: dict[asyncio.AbstractEventLoop, deque[tuple[asyncio.Future[Any], Any]]] = {}
        try:
            if self.fault is not None:
                raise self.fault
            self._begin()
            for change, future in batch:
                value = change()
                if future is not None:
                    results.setdefault(future.get_loop(), deque()).append((future, value))
            self._commit()
            self.commits += 1
        except Exception as error:
            if self.fault is None:
                self.fault = self._broken(error)
            # The whole transaction is undone, so every caller of the batch gets the error.
            results = {}
            for _, future in batch:
                if future is not None:
                    results.setdefault(future.get_loop(), deque()).append((future, self.fault))
        # One wake-up per loop and batch, whatever the number of callers (rules 25, 27).
        for loop, settled in results.items():
            try:
                loop.call_soon_threadsafe(_wake, settled)
            except RuntimeError:
                continue  # the loop is closed: nobody waits any more


def _wake(results: deque[tuple[asyncio.Future[Any], Any]]) -> None:
    """Set one future of a batch, then the next, so that a reply can be read in between."""
    future, value = results.popleft()
    if results:
        asyncio.get_running_loop().call_soon(_wake, results)
    # Done where the caller was cancelled meanwhile; its change is committed all the same.
    if future.done():
        return
    if isinstance(value, Stopped):
        future.set_exception(value)
    else:
        future.set_result(value)
