"""Stores every call of a run durably before its answer is used, so that it can be resumed.

An intent is committed before its request is sent; the first outcome of a call holds for ever.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar

from virsci_society.agents.errors import InputError, ProtocolError, Stopped
from virsci_society.agents.journal.database import (
    ATTEMPTED,
    CALLS,
    RETRIEVALS,
    SUMS,
    GroupCommitWriter,
    Statements,
    damaged,
    lock_journal,
    open_database,
    outcome_from_row,
)
from virsci_society.agents.journal.records import (
    IN_DOUBT,
    USD_DECIMALS,
    Attempt,
    CallOutcome,
    Totals,
)
from virsci_society.agents.prompts.request import Request
from virsci_society.agents.redaction import redact

N = TypeVar("N", int, float)
LISTED = 1000
"""Most calls in doubt that ``in_doubt`` returns."""
READ_AHEAD = 256
"""Rows that are read together; a resumed run asks for them in about their order."""


class Journal:
    """The calls and retrievals of one run, on disk or, without a path, in memory."""

    def __init__(
        self,
        path: Path | None,
        *,
        parent: Path | None = None,
        frozen: bool = False,
        fence: Callable[[], None] | None = None,
        verify: bool = True,
    ) -> None:
        self.path, self.frozen, self._fence = path, frozen, fence
        self.first_mismatch: tuple[float, str] | None = None
        self._parent = None if parent is None else Journal(parent, frozen=True)
        # First of all: whoever has the lock is the only writer, and may make or repair the tables.
        self._lock = None if path is None or frozen else lock_journal(path)
        # The clock's thread and the loop's both read, through one connection.
        self._reading = threading.Lock()
        # For each table the rows that were read ahead, by id, and the number of the last one.
        self._ahead: dict[str, tuple[dict[str, Any], int]] = {}
        try:
            opened = open_database(path, frozen, verify)
        except BaseException:
            if self._lock is not None:
                self._lock.release()
            raise
        self._db, self._reader, self._chain, self._file, self.rows_verified = opened
        self._writer = GroupCommitWriter(self._begin, self._commit, self._broken)
        self._closed = False
        # Rows up to the last one are of earlier sessions; a finished run must have asked for each
        # (rule 22).
        self._requested = bytearray((self._one("SELECT max(row) FROM calls") or 0) + 1)
        self.unreplayed: int = self._one("SELECT count(*) FROM calls")
        # Attempts from this row on are under way in this session, and not in doubt.
        self._first_attempt = self._one("SELECT coalesce(max(row), 0) FROM attempts") + 1
        # Attempts at each call that has no outcome yet.
        self._attempted: dict[str, int] = {} if frozen else dict(self._all(ATTEMPTED))
        self.session = self._number("session", "0", int) + 1
        self._totals = Totals()
        for outcome, count, *sums, reserved, reserved_usd in self._all(SUMS):
            self._totals.add(outcome, count, *sums)
            if outcome == IN_DOUBT:
                self._totals.in_doubt_tokens += reserved
                usd = self._totals.in_doubt_usd + reserved_usd
                self._totals.in_doubt_usd = round(usd, USD_DECIMALS)
        held = self.unreplayed or self._one("SELECT count(*) FROM findings")
        self.is_empty = parent is None and not held
        self.fork_date = self._number("past", "-inf", float)
        """Simulated date in days before which a fork asks nothing new; -inf if this is no fork."""
        self._statements = Statements(self._db, self.session, self._chain)
        self.set_meta({"session": str(self.session)})

    def lookup_call(self, request: Request) -> CallOutcome | None:
        """The stored outcome of this very request; another hash goes to ``first_mismatch``."""
        row = self._row(CALLS, request.id)
        if row is None:
            outcome = None if self._parent is None else self._parent.lookup_call(request)
            if outcome is not None:
                # Without a wait: the parent keeps what was paid for, so nothing is lost before the
                # commit.
                self.store_outcome(request, outcome)
            return outcome
        if row[2] != request.hash:
            # Noted and not raised: the smallest by date and id is reported, in whatever order they
            # come (rule 22).
            call = (row[3], request.id)
            self.first_mismatch = min(self.first_mismatch or call, call)
            return None
        if row[1] < len(self._requested) and not self._requested[row[1]]:
            self._requested[row[1]] = 1
            self.unreplayed -= 1
        return outcome_from_row(row[4:])

    def lookup_retrieval(self, id_: str, hash_: str, asked: float) -> bytes | None:
        """The stored result of a retrieval; another hash goes to ``first_mismatch``."""
        row = None if self.is_empty else self._row(RETRIEVALS, id_)
        if row is None:
            parent = self._parent
            value = None if parent is None else parent.lookup_retrieval(id_, hash_, asked)
            if value is not None:
                self.store_retrieval(id_, hash_, asked, value)
            return value
        if row[2] != hash_:
            call = (row[3], id_)
            self.first_mismatch = min(self.first_mismatch or call, call)
            return None
        return bytes(row[4])

    @property
    def first_parent_mismatch(self) -> tuple[float, str] | None:
        """As ``first_mismatch``, of the journal of which this run is a fork."""
        return None if self._parent is None else self._parent.first_mismatch

    def store_retrieval(self, id_: str, hash_: str, asked: float, value: bytes) -> None:
        """Store a retrieval with the next commit, without waiting for it."""
        if not self.frozen:
            self._writer.enqueue(
                partial(self._statements.insert_retrieval, id_, hash_, asked, value)
            )

    def store_outcome(self, request: Request, outcome: CallOutcome) -> None:
        """Store the ``storable`` outcome of a call that cost nothing, without waiting."""
        if not self.frozen:
            self._writer.enqueue(partial(self._statements.insert_outcome, request, outcome))

    async def record_intent(self, request: Request, attempt: Attempt) -> None:
        """Commit that an attempt is about to be made."""
        if self.frozen:
            raise ProtocolError(f"{request.id}: a frozen journal accepts no calls")
        attempt.number = self._attempted.get(request.id, 0)
        self._attempted[request.id] = attempt.number + 1
        await self._writer.commit(partial(self._statements.insert_intent, attempt))

    async def record_outcome(
        self,
        request: Request,
        attempt: Attempt,
        outcome: CallOutcome | None,
        queued: Callable[[], None] | None = None,
    ) -> CallOutcome | None:
        """Commit how an attempt ended; ``queued`` is called while the commit is under way."""
        if self.frozen:
            raise ProtocolError(f"{request.id}: nothing ends in a frozen journal")
        if outcome is not None:
            self._attempted.pop(request.id, None)
        # Secrets go before the cut: half of one would not be recognised.
        attempt.detail = attempt.detail and redact(attempt.detail)[:500]
        usage = attempt.usage
        tokens = (usage.prompt_tokens, usage.completion_tokens, int(usage.estimated))
        costs = (usage.cached_tokens, attempt.usd, attempt.seconds)
        self._totals.add(attempt.outcome, 1, *tokens, *costs)
        committed: CallOutcome | None = await self._writer.commit(
            partial(self._statements.update_attempt, request, attempt, outcome), queued
        )
        return committed

    def first_unrequested(self, before: float) -> str | None:
        """Id of the earliest call of earlier sessions, before a day, that was not requested."""
        if not self.unreplayed:
            return None
        self.flush()
        rows = self._all(
            "SELECT row, id FROM calls WHERE row < ? AND asked < ? ORDER BY asked, id",
            (len(self._requested), before),
        )
        return next((id_ for row, id_ in rows if not self._requested[row]), None)

    def answered(self) -> tuple[int, float | None]:
        """Number of calls that have an outcome, and the latest simulated date of one, in days."""
        return tuple(self._all("SELECT count(*), max(asked) FROM calls")[0])

    def models(self) -> list[str]:
        """Names of the models that have answered, as they gave them."""
        return [row[0] or "" for row in self._all("SELECT DISTINCT model FROM calls")]

    def totals(self) -> Totals:
        """Sums over the attempts of all sessions that have ended."""
        return replace(self._totals, outcomes=dict(self._totals.outcomes))

    def in_doubt(self) -> list[str]:
        """Ids of calls that were under way when a session was killed; ``LISTED`` at most."""
        rows = self._all(
            "SELECT DISTINCT call FROM attempts WHERE outcome = ? AND row < ? ORDER BY row LIMIT ?",
            (IN_DOUBT, self._first_attempt, LISTED),
        )
        return [id_ for (id_,) in rows]

    def meta(self, key: str) -> str | None:
        """The value of a note about the whole run; None if there is none."""
        row = self._all("SELECT value FROM meta WHERE key = ?", (key,))
        return row[0][0] if row else None

    def _number(self, key: str, otherwise: str, kind: Callable[[str], N]) -> N:
        """The number that a note holds; one that was opened without a check may be damaged."""
        try:
            return kind(self.meta(key) or otherwise)
        except ValueError as error:
            raise self._damaged(error) from error

    def set_meta(self, notes: Mapping[str, str]) -> None:
        """Store notes about the whole run in one commit, which has been made when this returns."""
        if self.frozen:
            return
        self._writer.enqueue(partial(self._statements.set_meta, notes))
        self._writer.flush()

    @property
    def commits(self) -> int:
        """Number of commits of this session."""
        return self._writer.commits

    def flush(self) -> None:
        """Wait until everything that was stored is on the disk."""
        if not self.frozen:
            self._writer.flush()

    def close(self) -> None:
        """Write what is queued, close the database and release the lock."""
        if self._closed:
            return
        self._closed = True
        # First of all, since what is queued still needs the connection.
        self._writer.close()
        if self._parent is not None:
            self._parent.close()
        # Before the checkpoint: a connection that reads keeps the log from being emptied.
        if self._reader is not self._db:
            self._reader.close()
        with suppress(sqlite3.Error):
            # The file alone is then the journal, which can be copied and read without its log.
            if not self.frozen and self.path is not None:
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._db.close()
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _row(self, table: str, id_: str) -> Any:
        """The row of an id; the rows that follow the last one read are read with it."""
        ahead, last = self._ahead.get(table, ({}, 0))
        found = ahead.pop(id_, None)
        if found is None and (rows := self._all(f"{table} WHERE id = ?", (id_,))):
            found = rows[0]
            if found[1] > last:
                more = self._all(f"{table} WHERE row > ? ORDER BY row LIMIT {READ_AHEAD}", (last,))
                ahead.update((row[0], row) for row in more if row[0] != id_)
                self._ahead[table] = ahead, more[-1][1]
        return found

    def _all(self, query: str, values: tuple[Any, ...] = ()) -> list[Any]:
        try:
            with self._reading:
                return self._reader.execute(query, values).fetchall()
        except (sqlite3.DatabaseError, ValueError) as error:
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> InputError:
        return damaged(self.path, f"the journal cannot be read to its end ({error})")

    def _one(self, query: str) -> Any:
        return self._all(query)[0][0]

    def _begin(self) -> None:
        """Begin a transaction, if this process may still write."""
        if self._fence is not None:
            # A run that has lost its lease writes nothing more: another worker may own it now.
            self._fence()
        if self._file is not None:
            # The path has to lead to the open file still: a commit to another one is lost.
            try:
                file = os.stat(self.path or "", follow_symlinks=False)
            except OSError:
                file = None
            if file is None or (file.st_dev, file.st_ino) != self._file:
                raise Stopped(
                    f"{self.path}: was deleted, moved or replaced while the run was writing to it, "
                    f"so no further call is made; earlier answers are in the original file. If the "
                    f"folder was moved, resume it with --out NEW-PATH"
                )
        # In memory there is one connection for both: a reader must not see half a transaction.
        if self._reader is self._db:
            self._reading.acquire()
        self._db.execute("BEGIN")

    def _commit(self) -> None:
        self._statements.seal()
        self._db.execute("COMMIT")
        if self._reader is self._db:
            self._reading.release()

    def _broken(self, error: BaseException) -> Stopped:
        """Roll back and turn an error of the writer into the Stopped that callers get."""
        if isinstance(error, Stopped):
            return error  # the fence: nothing was begun
        with suppress(sqlite3.Error):
            self._db.execute("ROLLBACK")
        if self._reader is self._db and self._reading.locked():
            self._reading.release()
        if isinstance(error, sqlite3.IntegrityError):
            return Stopped(
                f"{self.path}: another process has written this journal although it is locked, so "
                "locks do nothing on this file system; let one process at a time work on a folder"
            )
        return Stopped(f"{self.path}: the journal cannot be written: {error}; make room for it")
