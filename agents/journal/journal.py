"""Journal: every call kept before it is used, so that a run can begin anew and lose nothing.

An intent is committed before a request is sent, an answer before its words are used; the first
committed answer is the words for ever. A run that begins again takes every answer from here and
asks for nothing twice. Findings (search hits, vectors) are kept likewise. One process writes.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

from agents.commits import Commits
from agents.database import check_format, connect, locked, make_durable
from agents.errors import InputError, ProtocolError, Stopped
from agents.kept import Kept
from agents.ledger import IN_DOUBT, Attempt, Totals
from agents.request import Request
from agents.rows import CALL, ENDS, FINDING, LEDGER, SUMS, Rows, attempts_in, kept_in
from agents.secrets import redact

LISTED = 1000
"""Most calls in doubt that are named."""


class Journal:
    """The calls of one run, on disk or in memory; use ``open``."""

    def __init__(
        self,
        path: Path | None,
        parent: Journal | None,
        frozen: bool,
        fence: Callable[[], None] | None = None,
    ) -> None:
        self.path, self.frozen, self._fence = path, frozen, fence
        self.differing: tuple[float, str] | None = None
        self.parted: tuple[float, str] | None = None
        self._parent = parent
        self._lock = None if path is None or frozen else locked(path)
        self._reading = threading.Lock()
        try:
            self._db = connect(path, frozen)
            check_format(self._db, path, frozen)
            if path is not None and not frozen:
                make_durable(self._db, path)
            # A second connection, so that nobody who reads waits for a commit.
            self._reader = self._db if path is None or frozen else connect(path, frozen)
        except BaseException:
            self._unlock()
            raise
        self._commits = Commits(self._begin, self._commit, self._broken)
        self._closed = False
        last = self._one("SELECT max(row) FROM calls") or 0
        self._asked_for = bytearray(last + 1)
        for (row,) in self._all("SELECT row FROM calls WHERE kind IS NULL"):
            self._asked_for[row] = 1  # nothing to be asked for: it was never answered
        held = "SELECT count(*) FROM calls WHERE kind IS NOT NULL"
        self.known: int = self._one(held)
        self._first = self._one("SELECT coalesce(max(row), 0) FROM attempts") + 1
        self.session = int(self.meta("session") or "0") + 1
        self._rows = Rows(self._db, self.session)
        self._totals = self._totals_before()
        self.fresh = (
            not self.known and parent is None and not self._one("SELECT count(*) FROM findings")
        )
        self.past = float(self.meta("past") or "0")
        """The date before which a fork has nothing to ask."""
        if not frozen:
            self.set_meta("session", str(self.session))

    @classmethod
    def open(
        cls,
        path: Path | None,
        *,
        parent: Path | None = None,
        frozen: bool = False,
        fence: Callable[[], None] | None = None,
    ) -> Journal:
        """Open a journal, making it if there is none.

        Args:
            path: the file; None: in memory.
            parent: another journal, from which calls that are asked in the same way are taken.
            frozen: read only.
            fence: called before every commit; what it raises, a Stopped, ends the writing for good.

        Raises:
            InputError: another process writes it, or it is not a journal of this format.
        """
        source = None if parent is None else cls(parent, None, True)
        return cls(path, source, frozen, fence)

    def find(self, request: Request) -> Kept | None:
        """What an earlier session kept of a request; None if it kept nothing.

        A call that is known under another hash is noted in ``differing``.
        """
        row = self._row(CALL, request.id)
        if row is None or row[3] is None:
            return self._inherited(request)
        if row[1] != request.hash:
            self.differing = _first(self.differing, (row[2], request.id))
            return None
        if row[0] < len(self._asked_for) and not self._asked_for[row[0]]:
            self._asked_for[row[0]] = 1
            self.known -= 1
        return kept_in(row[3:])

    def found(self, id_: str, hash_: str, asked: float) -> bytes | None:
        """A finding that was kept under this id for the same question; None if there is none."""
        row = None if self.fresh else self._row(FINDING, id_)
        if row is None:
            return self._found_by_parent(id_, hash_, asked)
        if row[0] != hash_:
            self.differing = _first(self.differing, (row[1], id_))
            return None
        return bytes(row[2])

    def note(self, id_: str, hash_: str, asked: float, value: bytes) -> None:
        """Keep a finding, in passing."""
        if not self.frozen:
            self._commits.later(partial(self._rows.finding, id_, hash_, asked, value))

    def keep(self, request: Request, kept: Kept) -> None:
        """Keep the words of a backend that costs nothing, in passing; ``storable`` words only."""
        if not self.frozen:
            self._commits.later(partial(self._rows.answer, request, kept))

    async def intend(self, request: Request, attempt: Attempt) -> None:
        """Keep that an attempt will be made; returns when that is committed.

        Raises:
            Stopped: it cannot be written.
        """
        if self.frozen:
            raise ProtocolError(f"{request.id}: nothing is asked through a frozen journal")
        await self._commits.done(partial(self._rows.intent, attempt))

    async def conclude(self, request: Request, attempt: Attempt, kept: Kept | None) -> Kept | None:
        """Keep how an attempt ended; returns what has been committed as the call's end.

        Raises:
            Stopped: it cannot be written.
        """
        if self.frozen:
            raise ProtocolError(f"{request.id}: nothing ends in a frozen journal")
        attempt.detail = redact(attempt.detail)[:500]
        self._totals.add(attempt.outcome, 1, *_sums(attempt))
        ended: Kept | None = await self._commits.done(
            partial(self._rows.outcome, request, attempt, kept)
        )
        return ended

    def left_over(self, before: float) -> str | None:
        """The first answer of an earlier session, asked before a date, that is not asked for."""
        if not self.known:
            return None
        self.flush()
        rows = self._all(
            "SELECT row, id FROM calls WHERE kind IS NOT NULL AND row < ? AND asked < ? "
            "ORDER BY asked, id",
            (len(self._asked_for), before),
        )
        return next((id_ for row, id_ in rows if not self._asked_for[row]), None)

    def answered(self) -> Iterator[str]:
        """Ids of the calls that have ended, in the order in which they were begun."""
        yield from (
            id_ for (id_,) in self._all("SELECT id FROM calls WHERE kind IS NOT NULL ORDER BY row")
        )

    def words(self) -> Iterator[tuple[str, str, Kept]]:
        """Id, hash and end of every call that has ended, in the order in which they were begun."""
        yield from ((row[0], row[1], kept_in(row[2:])) for row in self._all(ENDS))

    def attempts(self) -> Iterator[Attempt]:
        """The whole ledger, in order."""
        yield from attempts_in(self._all(LEDGER))

    def totals(self) -> Totals:
        """Sums over all sessions by now; what is under way in this one is not in doubt yet."""
        return replace(self._totals, outcomes=dict(self._totals.outcomes))

    def in_doubt(self) -> list[str]:
        """Calls that were under way when an earlier session ended; they may be paid twice."""
        rows = self._all(
            "SELECT DISTINCT call FROM attempts WHERE outcome = ? AND row < ? ORDER BY row LIMIT ?",
            (IN_DOUBT, self._first, LISTED),
        )
        return [id_ for (id_,) in rows]

    def meta(self, key: str) -> str | None:
        """A note about the run as a whole."""
        row = self._all("SELECT value FROM meta WHERE key = ?", (key,))
        return row[0][0] if row else None

    def set_meta(self, key: str, value: str) -> None:
        """Note something about the run as a whole; committed when this returns."""
        if self.frozen:
            return
        self._commits.later(
            lambda: self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
        )
        self._commits.flush()

    @property
    def commits(self) -> int:
        """Commits made by this session."""
        return self._commits.made

    def flush(self) -> None:
        """Wait until everything is on the disk.

        Raises:
            Stopped: it cannot be written.
        """
        if not self.frozen:
            self._commits.flush()

    def close(self) -> None:
        """Write what is left, and let another process have the journal."""
        if self._closed:
            return
        self._closed = True
        self._commits.close()
        if self._parent is not None:
            self._parent.close()
        if self._reader is not self._db:
            self._reader.close()
        with suppress(sqlite3.Error):
            if not self.frozen and self.path is not None:
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._db.close()
        self._unlock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _inherited(self, request: Request) -> Kept | None:
        if self._parent is None:
            return None
        kept = self._parent.find(request)
        if kept is None:
            self.parted = _first(self.parted, self._parent.differing)
        else:
            self.keep(request, kept)
        return kept

    def _found_by_parent(self, id_: str, hash_: str, asked: float) -> bytes | None:
        if self._parent is None:
            return None
        value = self._parent.found(id_, hash_, asked)
        if value is None:
            self.parted = _first(self.parted, self._parent.differing)
        else:
            self.note(id_, hash_, asked, value)
        return value

    def _totals_before(self) -> Totals:
        totals = Totals()
        for outcome, count, *sums, reserved, reserved_usd in self._all(SUMS):
            totals.add(outcome, count, *sums)
            if outcome == IN_DOUBT:
                totals.in_doubt_tokens, totals.in_doubt_usd = reserved, reserved_usd
        return totals

    def _row(self, query: str, id_: str) -> Any:
        try:
            with self._reading:
                return self._reader.execute(query, (id_,)).fetchone()
        except sqlite3.DatabaseError as error:
            raise self._damaged(error) from error

    def _all(self, query: str, values: tuple[Any, ...] = ()) -> list[Any]:
        try:
            with self._reading:
                return self._reader.execute(query, values).fetchall()
        except sqlite3.DatabaseError as error:
            raise self._damaged(error) from error

    def _damaged(self, error: sqlite3.DatabaseError) -> InputError:
        return InputError(
            f"{self.path}: the journal cannot be read to its end ({error}); restore the file, or "
            "start anew with --out NEW"
        )

    def _one(self, query: str) -> Any:
        return self._all(query)[0][0]

    def _begin(self) -> None:
        if self._fence is not None:
            self._fence()
        if self._reader is self._db:
            self._reading.acquire()
        self._db.execute("BEGIN")

    def _commit(self) -> None:
        self._db.execute("COMMIT")
        if self._reader is self._db:
            self._reading.release()

    def _broken(self, error: BaseException) -> Stopped:
        if isinstance(error, Stopped):
            return error  # the fence: nothing was begun
        with suppress(sqlite3.Error):
            self._db.execute("ROLLBACK")
        if self._reader is self._db and self._reading.locked():
            self._reading.release()
        return Stopped(f"{self.path}: the journal cannot be written: {error}; make room for it")

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.release()


def _first(
    one: tuple[float, str] | None, other: tuple[float, str] | None
) -> tuple[float, str] | None:
    return min((place for place in (one, other) if place is not None), default=None)


def _sums(attempt: Attempt) -> tuple[int, int, int, float, float]:
    usage = attempt.usage
    tokens = (usage.prompt_tokens, usage.completion_tokens, int(usage.estimated))
    return (*tokens, attempt.usd, attempt.seconds)
