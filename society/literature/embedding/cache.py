"""The table of vectors on this machine, so that none is computed or paid for twice.

Several processes share one SQLite file of hashes; it may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import make_folder

FILE = "vectors.sqlite"
VARIABLE = "SOCIETY_CACHE"
"""The environment variable that names another folder."""
PATIENCE = 60.0
"""Seconds for which another process may keep the table locked."""
# Without a flush at each commit: a power cut may cost the latest batches, but nothing older.
_OPENING = """
PRAGMA journal_mode=WAL;
PRAGMA synchronous=NORMAL;
CREATE TABLE IF NOT EXISTS vectors (
    origin TEXT NOT NULL, key BLOB NOT NULL, data BLOB NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY (origin, key));
"""


class VectorTable:
    """Bytes by the SHA-256 of a key, under an origin such as a model at a revision.

    A folder that cannot be written to keeps nothing beyond this process, and ``kept`` is False.
    """

    def __init__(self, folder: Path) -> None:
        self.path, self.kept = folder / FILE, True
        self._lock = threading.Lock()
        try:
            make_folder(folder)
            self._database = _connect(self.path)
        except (OSError, sqlite3.OperationalError):
            self.kept, self._database = False, _connect(":memory:")
        except sqlite3.Error as error:
            raise self._fault(error) from error

    def get(self, origin: str, key: str) -> bytes | None:
        """Look up a key; None if missing or damaged."""
        statement = "SELECT data, checksum FROM vectors WHERE origin = ? AND key = ?"
        try:
            with self._lock:
                row = self._database.execute(statement, (origin, _digest(key))).fetchone()
        except sqlite3.Error as error:
            raise self._fault(error) from error
        return row[0] if row and zlib.crc32(row[0]) == row[1] else None

    def put(self, origin: str, items: Mapping[str, bytes] | Iterable[tuple[str, bytes]]) -> None:
        """Keep bytes by their keys, all of them or none."""
        rows = [(origin, _digest(key), data, zlib.crc32(data)) for key, data in dict(items).items()]
        statement = "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)"
        try:
            with self._lock, self._database:
                self._database.execute("BEGIN IMMEDIATE")
                self._database.executemany(statement, rows)
        except sqlite3.Error as error:
            raise self._fault(error) from error

    def _fault(self, error: sqlite3.Error) -> InputError:
        if isinstance(error, sqlite3.OperationalError):
            text = f"cannot be written to ({error}); make room, or name a folder by {VARIABLE}"
        else:
            text = f"is not a table of vectors ({error}); remove it"
        return InputError(f"{self.path}: {text}")


def vector_table() -> VectorTable:
    """The table of this user: in ``$SOCIETY_CACHE``, else in the usual folder for caches."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        usual = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = str(Path(usual, "virsci-society"))
    return _opened(Path(folder), os.getpid())


@lru_cache(maxsize=1)
def _opened(folder: Path, process: int) -> VectorTable:
    """The table of a folder, for one process: a connection must not be used beyond a fork."""
    return VectorTable(folder)


def _connect(path: Path | str) -> sqlite3.Connection:
    # Used under a lock, by whichever thread asks.
    database = sqlite3.connect(
        path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
    )
    try:
        database.executescript(_OPENING)
    except sqlite3.Error:
        database.close()
        raise
    return database


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
