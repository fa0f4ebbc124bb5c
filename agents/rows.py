"""Rows: what a journal's tables are told and asked, statement by statement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agents.kept import Kept
from agents.ledger import IN_DOUBT, Attempt
from agents.request import Request, Usage

if TYPE_CHECKING:
    import sqlite3

_END = "kind, text, model, prompt_tokens, completion_tokens, estimated, cut"
CALL = f"SELECT row, hash, asked, {_END} FROM calls WHERE id = ?"  # noqa: S608 - our own names
ENDS = f"SELECT id, hash, {_END} FROM calls WHERE kind IS NOT NULL ORDER BY row"  # noqa: S608
FINDING = "SELECT hash, asked, value FROM findings WHERE id = ?"
SUMS = """
SELECT outcome, count(*), sum(prompt_tokens), sum(completion_tokens), sum(estimated), sum(usd),
    sum(seconds), sum(reserved), sum(reserved_usd) FROM attempts GROUP BY outcome ORDER BY outcome
"""
LEDGER = """
SELECT call, number, endpoint, reserved, reserved_usd, outcome, status, usd, seconds, detail,
    prompt_tokens, completion_tokens, estimated FROM attempts ORDER BY row
"""

# One statement each: every statement of the writer waits once for the interpreter.
_ANSWERED = f"""
INSERT INTO calls (id, asked, hash, {_END}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET hash = excluded.hash, kind = excluded.kind, text = excluded.text,
    model = excluded.model, prompt_tokens = excluded.prompt_tokens, cut = excluded.cut,
    completion_tokens = excluded.completion_tokens, estimated = excluded.estimated
WHERE calls.kind IS NULL
"""  # noqa: S608
_INTENDED = """
INSERT INTO attempts VALUES (NULL, ?, (SELECT count(*) FROM attempts WHERE call = ?), ?, ?, ?, ?,
    ?, NULL, 0, 0, 1, 0.0, 0.0, '')
"""
_ENDED = """
UPDATE attempts SET outcome = ?, status = ?, prompt_tokens = ?, completion_tokens = ?,
    estimated = ?, usd = ?, seconds = ?, detail = ? WHERE row = ?
"""
_FOUND = "INSERT OR IGNORE INTO findings (id, asked, hash, value) VALUES (?, ?, ?, ?)"


class Rows:
    """The writing side of a database; what is written is committed by somebody else.

    Args:
        database: open for writing.
        session: which of the run's sessions writes.
    """

    def __init__(self, database: sqlite3.Connection, session: int) -> None:
        self._database, self._session = database, session

    def answer(self, request: Request, kept: Kept) -> Kept:
        """Keep how a call ended; the first end wins and is returned."""
        usage = kept.usage
        values = (
            *(request.id, request.asked, request.hash, kept.kind, kept.text, kept.model),
            *(usage.prompt_tokens, usage.completion_tokens, usage.estimated, kept.cut),
        )
        if self._database.execute(_ANSWERED, values).rowcount:
            return kept
        return kept_in(self._database.execute(CALL, (request.id,)).fetchone()[3:])

    def intent(self, attempt: Attempt) -> None:
        """Keep that an attempt is made; gives it its place in the ledger."""
        made = self._database.execute(
            _INTENDED,
            (
                *(attempt.call, attempt.call, self._session, attempt.endpoint),
                *(attempt.reserved, attempt.reserved_usd, IN_DOUBT),
            ),
        )
        attempt.row = int(made.lastrowid or 0)

    def outcome(self, request: Request, attempt: Attempt, kept: Kept | None) -> Kept | None:
        """Keep how an attempt went, and what it ended if anything."""
        usage = attempt.usage
        self._database.execute(
            _ENDED,
            (
                *(attempt.outcome, attempt.status, usage.prompt_tokens, usage.completion_tokens),
                *(usage.estimated, attempt.usd, attempt.seconds, attempt.detail, attempt.row),
            ),
        )
        return None if kept is None else self.answer(request, kept)

    def finding(self, id_: str, hash_: str, asked: float, value: bytes) -> None:
        """Keep a finding, unless there is one."""
        self._database.execute(_FOUND, (id_, asked, hash_, value))


def kept_in(row: Any) -> Kept:
    """The end of a call, from its columns."""
    kind, text, model, prompt, completion, estimated, cut = row
    return Kept(kind, text, model, Usage(prompt, completion, bool(estimated)), bool(cut))


def attempts_in(rows: list[Any]) -> list[Attempt]:
    """The ledger, from its columns."""
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
