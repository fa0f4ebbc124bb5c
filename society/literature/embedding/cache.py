"""A cache of embedding vectors on disk, so that none is computed or paid for twice.

One table of a SQLite file in a folder: rows by their origin (a model at a revision) and the SHA-256
of their text, each with a checksum. A batch is one transaction of a write-ahead log: a process that
is killed loses at most the batch under way.
"""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from virsci_society.agents.arrays import VectorArray
from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import make_folder, require_plain
from virsci_society.agents.journal.database import FILES

FILE = "vectors.sqlite"
# Without a flush at each commit: a power cut may cost the latest batches, but nothing older. The
# lock is taken by the first transaction and kept, so that two processes cannot pay for one text.
_OPENING = """
PRAGMA locking_mode=EXCLUSIVE;
PRAGMA journal_mode=WAL;
PRAGMA synchronous=NORMAL;
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS vectors (
    origin TEXT NOT NULL, text BLOB NOT NULL, vector BLOB NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY (origin, text));
COMMIT;
"""
_UNWRITABLE = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
_UNWRITABLE |= {sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY}


class EmbeddingCache:
    """A folder of cached rows, locked by one process at a time.

    Args:
        folder: made where it does not exist.

    Raises:
        InputError: another process has locked it, or it cannot be written to.

    Example:
        >>> with vs.EmbeddingCache("vectors") as cache:
        ...     vs.EmbeddingCache("vectors")
        Traceback (most recent call last):
            ...
        virsci_society.agents.errors.InputError: vectors: another process is embedding into it; ...
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        path = self.folder / FILE
        try:
            make_folder(self.folder)
            for suffix in FILES:
                require_plain(path.with_name(FILE + suffix))
            # Used under the lock of an embedding, by whichever thread asks it.
            self._database = sqlite3.connect(
                path, timeout=0, isolation_level=None, check_same_thread=False
            )
        except (OSError, sqlite3.Error) as error:
            raise InputError(
                f"{self.folder}: cannot be written to ({error}); give another folder"
            ) from error
        try:
            self._database.executescript(_OPENING)
        except sqlite3.Error as error:
            self._database.close()
            raise self._fault(error) from error

    def partition(self, origin: str) -> CachePartition:
        """Open the rows of one origin, such as a model at a revision."""
        return CachePartition(self, origin)

    def run(self, statement: str, rows: Sequence[Sequence[Any]]) -> list[Any]:
        """Run one statement for each of some rows of values, all of them or none.

        Raises:
            InputError: the file is damaged or cannot be written to.
        """
        try:
            if len(rows) == 1:
                return self._database.execute(statement, rows[0]).fetchall()
            with self._database:
                self._database.execute("BEGIN")
                self._database.executemany(statement, rows)
        except sqlite3.Error as error:
            raise self._fault(error) from error
        return []

    def close(self) -> None:
        """Write everything to disk and release the lock."""
        self._database.close()

    def __enter__(self) -> Self:
        """The cache itself."""
        return self

    def __exit__(self, *end: Any) -> None:
        """Close it."""
        self.close()

    def _fault(self, error: sqlite3.Error) -> InputError:
        code = error.sqlite_errorcode & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            text = "another process is embedding into it; wait for its end or give another folder"
        elif code in _UNWRITABLE:
            text = f"cannot be written to ({error}); give another folder"
        else:
            text = f"{FILE} is not a cache of embeddings ({error}); remove it"
        return InputError(f"{self.folder}: {text}")


class CachePartition:
    """The cached rows of one origin, all of one length."""

    def __init__(self, cache: EmbeddingCache, origin: str) -> None:
        self._cache, self._origin = cache, origin

    def __len__(self) -> int:
        ((count,),) = self._cache.run(
            "SELECT count(*) FROM vectors WHERE origin = ?", [(self._origin,)]
        )
        return int(count)

    def get(self, text: str) -> VectorArray | None:
        """Look up the row of a text; None where it is missing or damaged."""
        found = self._cache.run(
            "SELECT vector, checksum FROM vectors WHERE origin = ? AND text = ?",
            [(self._origin, _key(text))],
        )
        if not found or zlib.crc32(found[0][0]) != found[0][1]:
            return None
        return np.frombuffer(found[0][0], "<f4").copy()

    def add(self, texts: Sequence[str], rows: VectorArray) -> None:
        """Store the rows of texts."""
        if not len(texts):
            return
        known = self._cache.run(
            "SELECT length(vector) / 4 FROM vectors WHERE origin = ? LIMIT 1", [(self._origin,)]
        )
        if known and known[0][0] != rows.shape[1]:
            raise InputError(
                f"{self._cache.folder}: holds rows of length {known[0][0]} of {self._origin}, "
                f"which now makes rows of length {rows.shape[1]}; remove the folder to make all "
                "of them again"
            )
        vectors = [row.tobytes() for row in np.ascontiguousarray(rows, "<f4")]
        self._cache.run(
            "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)",
            [
                (self._origin, _key(text), vector, zlib.crc32(vector))
                for text, vector in zip(texts, vectors, strict=True)
            ],
        )


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
