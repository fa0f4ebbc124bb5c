"""Journal: every call kept before it is used, so that a run can begin anew and lose nothing.

An intent is committed before a request is sent, an answer before its words are used; the first
committed answer is the words for ever. A run that begins again takes every answer from here and
asks for nothing twice. Findings (search hits, vectors) are kept likewise. One process writes.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Self

from agents.commits import Commits
from agents.database import check_format, connect, locked, make_durable
from agents.errors import ProtocolError, Stopped
from agents.kept import Kept
from agents.ledger import IN_DOUBT, Attempt, Totals
from agents.request import Request, Usage
from agents.secrets import redact

LISTED = 1000
"""Most calls in doubt that are named."""

_ANSWER = "kind, text, model, prompt_tokens, completion_tokens, estimated, cut"
_CALL = f"SELECT row, hash, asked, {_ANSWER} FROM calls WHERE id = ?"  # noqa: S608 - our own names
_END = f"SELECT {_ANSWER} FROM calls WHERE id = ?"  # noqa: S608
_ENDS = f"SELECT id, hash, {_ANSWER} FROM calls WHERE kind IS NOT NULL ORDER BY row"  # noqa: S608
_FINDING = "SELECT hash, asked, value FROM findings WHERE id = ?"
# One statement each: every statement of the writer waits once for the interpreter.
_INSERT_CALL = f"""
INSERT INTO calls (id, asked, hash, {_ANSWER}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET hash = excluded.hash, kind = excluded.kind, text = excluded.text,
    model = excluded.model, prompt_tokens = excluded.prompt_tokens, cut = excluded.cut,
    completion_tokens = excluded.completion_tokens, estimated = excluded.estimated
WHERE calls.kind IS NULL
"""  # noqa: S608
_INSERT_ATTEMPT = """
INSERT INTO attempts VALUES (NULL, ?, (SELECT count(*) FROM attempts WHERE call = ?), ?, ?, ?, ?,
    ?, NULL, 0, 0, 1, 0.0, 0.0, '')
"""
_UPDATE_ATTEMPT = """
UPDATE attempts SET outcome = ?, status = ?, prompt_tokens = ?, completion_tokens = ?,
    estimated = ?, usd = ?, seconds = ?, detail = ? WHERE row = ?
"""
_SUMS = """
SELECT outcome, count(*), sum(prompt_tokens), sum(completion_tokens), sum(estimated), sum(usd),
    sum(seconds), sum(reserved), sum(reserved_usd) FROM attempts GROUP BY outcome ORDER BY outcome
"""
_LEDGER = """
SELECT call, number, endpoint, reserved, reserved_usd, outcome, status, usd, seconds, detail,
    prompt_tokens, completion_tokens, estimated FROM attempts ORDER BY row
"""


class Journal:
    """The calls of one run, on disk or in memory; use ``open``."""

    def __init__(self, path: Path | None, parent: Journal | None, frozen: bool) -> None:
        self.path, self.frozen = path, frozen
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
        self._totals = self._totals_before()
        self.fresh = (
            not self.known and parent is None and not self._one("SELECT count(*) FROM findings")
        )
        if not frozen:
            self.set_meta("session", str(self.session))

    @classmethod
    def open(
        cls, path: Path | None, *, parent: Path | None = None, frozen: bool = False
    ) -> Journal:
        """Open a journal, making it if there is none.

        Args:
            path: the file; None: in memory.
            parent: another journal, from which calls that are asked in the same way are taken.
            frozen: read only.

        Raises:
            InputError: another process writes it, or it is not a journal of this format.
        """
        source = None if parent is None else cls(parent, None, True)
        return cls(path, source, frozen)

    def find(self, request: Request) -> Kept | None:
        """What an earlier session kept of a request; None if it kept nothing.

        A call that is known under another hash is noted in ``differing``.
        """
        row = self._row(_CALL, request.id)
        if row is None or row[3] is None:
            return self._inherited(request)
        if row[1] != request.hash:
            self.differing = _first(self.differing, (row[2], request.id))
            return None
        if row[0] < len(self._asked_for) and not self._asked_for[row[0]]:
            self._asked_for[row[0]] = 1
            self.known -= 1
        return _kept(row[3:])

    def found(self, id_: str, hash_: str, asked: float) -> bytes | None:
        """A finding that was kept under this id for the same question; None if there is none."""
        row = None if self.fresh else self._row(_FINDING, id_)
        if row is None:
            value = None if self._parent is None else self._parent.found(id_, hash_, asked)
            if value is not None:
                self.note(id_, hash_, asked, value)
            return value
        if row[0] != hash_:
            self.differing = _first(self.differing, (row[1], id_))
            return None
        return bytes(row[2])

    def note(self, id_: str, hash_: str, asked: float, value: bytes) -> None:
        """Keep a finding, in passing."""
        if not self.frozen:
            self._commits.later(partial(self._insert_finding, id_, hash_, asked, value))

    def keep(self, request: Request, kept: Kept) -> None:
        """Keep the words of a backend that costs nothing, in passing; ``storable`` words only."""
        if not self.frozen:
            self._commits.later(partial(self._insert_answer, request, kept))

    async def intend(self, request: Request, attempt: Attempt) -> None:
        """Keep that an attempt will be made; returns when that is committed.

        Raises:
            Stopped: it cannot be written.
        """
        if self.frozen:
            raise ProtocolError(f"{request.id}: nothing is asked through a frozen journal")
        await self._commits.done(partial(self._insert_attempt, attempt))

    async def conclude(self, request: Request, attempt: Attempt, kept: Kept | None) -> Kept | None:
        """Keep how an attempt ended; returns what has been committed as the call's end.

        Raises:
            Stopped: it cannot be written.
        """
        attempt.detail = redact(attempt.detail)[:500]
        self._totals.add(attempt.outcome, 1, *_sums(attempt))
        ended: Kept | None = await self._commits.done(
            partial(self._update_attempt, request, attempt, kept)
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
        yield from ((row[0], row[1], _kept(row[2:])) for row in self._all(_ENDS))

    def attempts(self) -> Iterator[Attempt]:
        """The whole ledger, in order."""
        names = "call number endpoint reserved reserved_usd outcome status usd seconds detail"
        for row in self._all(_LEDGER):
            made = dict(zip(names.split(), row, strict=False))
            yield Attempt(**made, usage=Usage(row[-3], row[-2], bool(row[-1])))

    def totals(self) -> Totals:
        """Sums over all sessions; what is under way in this one is not in doubt yet."""
        return self._totals

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

    def _insert_answer(self, request: Request, kept: Kept) -> Kept | None:
        """The first answer wins; returns it."""
        made = self._db.execute(
            _INSERT_CALL, (request.id, request.asked, request.hash, *_plain(kept))
        )
        if made.rowcount:
            return kept
        return _kept(self._db.execute(_END, (request.id,)).fetchone())

    def _insert_attempt(self, attempt: Attempt) -> None:
        made = self._db.execute(
            _INSERT_ATTEMPT,
            (
                *(attempt.call, attempt.call, self.session, attempt.endpoint),
                *(attempt.reserved, attempt.reserved_usd, IN_DOUBT),
            ),
        )
        attempt.row = int(made.lastrowid or 0)

    def _update_attempt(self, request: Request, attempt: Attempt, kept: Kept | None) -> Kept | None:
        usage = attempt.usage
        self._db.execute(
            _UPDATE_ATTEMPT,
            (
                *(attempt.outcome, attempt.status, usage.prompt_tokens, usage.completion_tokens),
                *(usage.estimated, attempt.usd, attempt.seconds, attempt.detail, attempt.row),
            ),
        )
        return None if kept is None else self._insert_answer(request, kept)

    def _insert_finding(self, id_: str, hash_: str, asked: float, value: bytes) -> None:
        self._db.execute(
            "INSERT OR IGNORE INTO findings (id, asked, hash, value) VALUES (?, ?, ?, ?)",
            (id_, asked, hash_, value),
        )

    def _totals_before(self) -> Totals:
        totals = Totals()
        for outcome, count, *sums, reserved, reserved_usd in self._all(_SUMS):
            totals.add(outcome, count, *sums)
            if outcome == IN_DOUBT:
                totals.in_doubt_tokens, totals.in_doubt_usd = reserved, reserved_usd
        return totals

    def _row(self, query: str, id_: str) -> Any:
        with self._reading:
            return self._reader.execute(query, (id_,)).fetchone()

    def _all(self, query: str, values: tuple[Any, ...] = ()) -> list[Any]:
        with self._reading:
            return self._reader.execute(query, values).fetchall()

    def _one(self, query: str) -> Any:
        return self._all(query)[0][0]

    def _begin(self) -> None:
        if self._reader is self._db:
            self._reading.acquire()
        self._db.execute("BEGIN")

    def _commit(self) -> None:
        self._db.execute("COMMIT")
        if self._reader is self._db:
            self._reading.release()

    def _broken(self, error: BaseException) -> Stopped:
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


def _plain(kept: Kept) -> tuple[Any, ...]:
    usage = kept.usage
    return (
        *(kept.kind, kept.text, kept.model, usage.prompt_tokens, usage.completion_tokens),
        *(usage.estimated, kept.cut),
    )


def _kept(row: Any) -> Kept:
    kind, text, model, prompt, completion, estimated, cut = row
    return Kept(kind, text, model, Usage(prompt, completion, bool(estimated)), bool(cut))
