"""Looks at a journal while another process writes it, without disturbing that process.

A look is one short reading transaction on a connection of its own, opened read-only and closed
again; with a write-ahead log no writer ever waits for it. Only rows that are new since the last
look are read. Rows are not checked against their hashes: whoever resumes the run does that.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import require_plain
from virsci_society.agents.journal.database import connect
from virsci_society.agents.journal.records import IN_DOUBT, USD_DECIMALS, Totals

MEMBER_PARTS = 8
"""Parts of the id of a question to a member of a team."""
ABSTRACTS = 5
"""Newest texts of the stage ``abstract`` that are kept."""
STANDING = "standing"
"""The note of a society without words that says where it stands."""
_MALFORMED = (ValueError, RecursionError, TypeError, LookupError, AttributeError, OverflowError)
"""What reading a note raises that holds something else, such as that of another release."""
_CALLS = "SELECT row, id, asked, kind FROM calls WHERE row > ? AND kind IS NOT NULL ORDER BY row"
_TEXTS = """
SELECT id, asked, text, model FROM calls WHERE row > ? AND kind = 'answer'
    AND id LIKE '%/abstract/%' ORDER BY asked DESC, row DESC LIMIT ?
"""
_ATTEMPT = """
SELECT row, session, outcome, prompt_tokens, completion_tokens, estimated, usd, seconds, reserved,
    reserved_usd, status, detail FROM attempts WHERE row
"""


@dataclass(frozen=True, slots=True)
class SaidText:
    """One reply of the stage ``abstract``.

    Attributes:
        call: its id.
        asked: simulated date in days.
        text: the reply as it came.
        model: name of who wrote it.
    """

    call: str
    asked: float
    text: str
    model: str


@dataclass
class JournalView:
    """What a journal holds, as far as its latest look has seen.

    Args:
        path: the file; may be missing, and may come later.

    Attributes:
        notes: about the whole run, as the journal keeps them.
        scenario: of the run, as plain data; empty before it is signed.
        sessions: how often the run was begun or resumed.
        day: latest simulated date on which anything was asked; None before the first call.
        calls: calls that have ended.
        kinds: number of calls by how they ended (``answer`` or a verdict).
        repeated: calls that were asked again because a reply could not be read.
        teams: by id of a team: dates of its first and its latest call, and the stage of that one.
        people: by scientist and id of a team: the latest date on which one was asked as a member.
        states: in a society without words, number of teams by state at the latest note.
        stages: number of teams by the stage of their latest call.
        totals: sums of the ledger.
        faults: number of attempts and the latest message, by the kind of the fault.
        in_flight: attempts of the latest session that have not ended.
        texts: newest replies of the stage ``abstract``, the newest first.
        answered: ids of the calls that have ended, where ``keep_ids`` is set.
    """

    path: Path
    keep_ids: bool = False
    notes: dict[str, str] = field(default_factory=dict)
    scenario: dict[str, Any] = field(default_factory=dict)
    sessions: int = 0
    day: float | None = None
    kinds: Counter[str] = field(default_factory=Counter)
    repeated: int = 0
    totals: Totals = field(default_factory=Totals)
    faults: dict[str, tuple[int, str]] = field(default_factory=dict)
    in_flight: int = 0
    texts: tuple[SaidText, ...] = ()
    answered: set[str] = field(default_factory=set)
    teams: dict[str, tuple[float, float, str]] = field(default_factory=dict)
    people: dict[str, dict[str, float]] = field(default_factory=dict)
    states: dict[str, int] = field(default_factory=dict)
    _last_call: int = 0
    _last_attempt: int = 0
    _open: set[int] = field(default_factory=set)

    @property
    def calls(self) -> int:
        """Calls that have ended."""
        return self.kinds.total()

    @property
    def stages(self) -> dict[str, int]:
        """Number of teams by the stage of their latest call."""
        return dict(Counter(stage for _, _, stage in self.teams.values()))

    def look(self) -> None:
        """Read what is new.

        Raises:
            InputError: the file is there and cannot be read as a journal.
        """
        if not self.path.is_file():
            return
        try:
            with closing(_connect(self.path)) as database:
                database.execute("BEGIN")
                tables = database.execute("SELECT name FROM sqlite_master").fetchall()
                # A journal is made in one transaction: before it there is nothing to be seen.
                if ("attempts",) in tables:
                    self._look(database)
        except (sqlite3.Error, ValueError) as error:
            raise InputError(f"{self.path}: cannot be read as a journal: {error}") from error

    def _look(self, database: sqlite3.Connection) -> None:
        self.notes = notes = dict(database.execute("SELECT key, value FROM meta"))
        with suppress(ValueError, RecursionError):
            held = json.loads(notes.get("scenario", "{}"))
            self.scenario = held if isinstance(held, dict) else {}
        self.sessions = int(notes.get("session", "0"))
        if not self.calls:
            self._note_standing(notes.get(STANDING, "null"))
        texts = database.execute(_TEXTS, (self._last_call, ABSTRACTS)).fetchall()
        both = (*(SaidText(*row) for row in texts), *self.texts)
        # The sort keeps the newer row first where texts are of one day.
        self.texts = tuple(sorted(both, key=lambda one: -one.asked)[:ABSTRACTS])
        for row, call, asked, kind in database.execute(_CALLS, (self._last_call,)):
            self._note_call(call, asked, kind)
            self._last_call = row
        self._look_at_attempts(database)

    def _note_standing(self, text: str) -> None:
        """Read where a society without words stood when it was noted last."""
        with suppress(*_MALFORMED):
            told = json.loads(text) or {}
            if str(told.get("session")) != self.notes.get("session"):
                return
            day = _finite(told["day"])
            states = {str(name): int(number) for name, number in told["states"].items()}
            teams = [
                (
                    str(team),
                    (_finite(first), _finite(last or first), str(stage)),
                    [*map(str, members)],
                )
                for team, first, last, stage, members in told["teams"]
            ]
            # Only now: of a note that holds something else nothing is taken.
            self.day, self.states = day, states
            for team, seen, members in teams:
                self.teams[team] = seen
                for who in members:
                    self.people.setdefault(who, {})[team] = seen[1]

    def _note_call(self, call: str, asked: float, kind: str) -> None:
        leader, ordinal, stage = (*call.split("/", 3), "", "")[:3]
        self.kinds[kind] += 1
        self.repeated += "/re-ask" in call
        self.day = asked if self.day is None else max(self.day, asked)
        team = f"{leader}/{ordinal}"
        first, latest, _ = self.teams.get(team, (asked, asked, ""))
        if asked >= latest:
            self.teams[team] = first, asked, stage
        # Team / stage / visit / turn / seat / act / addressee, with more behind it where a guest or
        # somebody anew is asked.
        parts = call.split("/")
        if len(parts) == MEMBER_PARTS and parts[6] != "invite" and stage != "publication":
            self.people.setdefault(parts[7], {})[team] = asked
        if self.keep_ids:
            self.answered.add(call)

    def _look_at_attempts(self, database: sqlite3.Connection) -> None:
        """Add what has ended; what is still open is read again at the next look."""
        # A row is updated in place when its attempt ends, so it is no new row then.
        rows = database.execute(f"{_ATTEMPT} > ? ORDER BY row", (self._last_attempt,)).fetchall()
        for row in sorted(self._open):
            rows += database.execute(f"{_ATTEMPT} = ?", (row,)).fetchall()
        self._open.clear()
        self.in_flight, doubt, doubt_usd = 0, 0, 0.0
        for row, session, outcome, prompt, completion, estimated, usd, *rest in rows:
            seconds, reserved, reserved_usd, status, detail = rest
            self._last_attempt = max(self._last_attempt, row)
            if outcome == IN_DOUBT:
                self._open.add(row)
                self.in_flight += session == self.sessions
                doubt += reserved
                doubt_usd = round(doubt_usd + reserved_usd, USD_DECIMALS)
                continue
            self.totals.add(outcome, 1, prompt, completion, estimated, usd, seconds)
            if status is not None or detail:
                number = self.faults.get(outcome, (0, ""))[0]
                self.faults[outcome] = number + 1, detail or f"HTTP status {status}"
        self.totals.in_doubt_tokens, self.totals.in_doubt_usd = doubt, doubt_usd


def read_notes(path: Path) -> dict[str, str]:
    """The notes of a journal about its whole run; none before it is begun.

    Raises:
        InputError: the file cannot be read as a journal.
    """
    try:
        with closing(_connect(path)) as database:
            tables = database.execute("SELECT name FROM sqlite_master").fetchall()
            known = ("meta",) in tables
            return dict(database.execute("SELECT key, value FROM meta")) if known else {}
    except (sqlite3.Error, ValueError) as error:
        raise InputError(f"{path}: cannot be read as a journal: {error}") from error


def _connect(path: Path) -> sqlite3.Connection:
    """A connection that writes nothing, not even the files that SQLite keeps beside a database."""
    log = path.with_name(f"{path.name}-wal")
    if is_being_written(path) is not False or (log.is_file() and log.stat().st_size):
        return connect(path, True)
    # Nobody has it open for writing, and an ordinary reader would make a log of its own.
    where = require_plain(path, single=True).resolve().as_uri()
    return sqlite3.connect(f"{where}?mode=ro&immutable=1", uri=True)


def is_being_written(path: Path) -> bool | None:
    """Does a process on this machine hold the lock of a journal? None: that cannot be seen here.

    The kernel's list of locks is read: to try the lock would keep a run from starting.
    """
    try:
        number = os.stat(path.with_name(f"{path.name}.lock"), follow_symlinks=False).st_ino
    except OSError:
        return False
    try:
        held = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    return any(" FLOCK " in line and f":{number} " in line for line in held)


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{number} is no date")
    return number
