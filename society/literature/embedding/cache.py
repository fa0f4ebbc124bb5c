"""A cache of embedding vectors on disk, so that none is computed or paid for twice.

One folder with a partition for each origin of rows (a model at a revision). A partition is two
append-only files of fixed-size records: ``rows.bin`` (float32) and ``keys.bin`` (SHA-256 of origin
and text, CRC-32 of the row). A row is written before its key: a process that is killed between the
two leaves a tail without keys, which is cut off when the partition is opened again.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
from filelock import Timeout

from virsci_society.agents.arrays import VectorArray
from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import (
    lock_file,
    make_folder,
    open_in_place,
    read_plain_text,
    write_atomically,
)

LOCK, ABOUT, KEYS, ROWS = ".lock", "about.json", "keys.bin", "rows.bin"
_KEY, _CHECK = 32, 4
_RECORD = _KEY + _CHECK


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
        self._partitions: dict[str, CachePartition] = {}
        self._lock = lock_file(self.folder / LOCK, timeout=0)
        try:
            make_folder(self.folder)
            self._lock.acquire()
        except Timeout:
            raise InputError(
                f"{self.folder}: another process is embedding into it; wait for its end or give "
                "another folder"
            ) from None
        except OSError as error:
            raise _unwritable(self.folder, error) from error

    def partition(self, origin: str) -> CachePartition:
        """Open the rows of one origin, such as a model at a revision."""
        if origin not in self._partitions:
            name = hashlib.sha256(origin.encode()).hexdigest()[:16]
            self._partitions[origin] = CachePartition(self.folder / name, origin)
        return self._partitions[origin]

    def close(self) -> None:
        """Write everything to disk and release the lock."""
        for partition in self._partitions.values():
            partition.close()
        self._partitions.clear()
        self._lock.release()

    def __enter__(self) -> Self:
        """The cache itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()


class CachePartition:
    """The cached rows of one origin, all of one length.

    Args:
        folder: of this partition; made when the first rows are added.
        origin: the model at its revision, part of every key.
    """

    def __init__(self, folder: Path, origin: str) -> None:
        self._folder, self._origin = folder, origin
        self._records: dict[bytes, tuple[int, int]] = {}
        self._dim: int | None = None
        self._open: tuple[IO[bytes], IO[bytes]] | None = None
        self._count = 0
        if (folder / ABOUT).is_file():
            self._read()

    def __len__(self) -> int:
        return len(self._records)

    def get(self, text: str) -> VectorArray | None:
        """Look up the row of a text; None where it is missing or damaged."""
        record = self._records.get(self._key(text))
        if record is None or self._open is None or self._dim is None:
            return None
        rows, size = self._open[0], 4 * self._dim
        rows.seek(record[0] * size)
        data = rows.read(size)
        return np.frombuffer(data, "<f4").copy() if zlib.crc32(data) == record[1] else None

    def add(self, texts: Sequence[str], rows: VectorArray) -> None:
        """Store the rows of texts.

        Args:
            texts: distinct texts.
            rows: their rows, texts x dim.

        Raises:
            InputError: rows of another length are there, or the disk is full.
        """
        if not len(texts):
            return
        if self._open is None or rows.shape[1] != self._dim:
            self._begin(int(rows.shape[1]))
        pieces = [row.tobytes() for row in np.ascontiguousarray(rows, "<f4")]
        checks = [zlib.crc32(piece) for piece in pieces]
        keys = [self._key(text) for text in texts]
        records = (k + c.to_bytes(_CHECK, "little") for k, c in zip(keys, checks, strict=True))
        self._append(b"".join(pieces), b"".join(records))
        for number, (key, check) in enumerate(zip(keys, checks, strict=True)):
            self._records[key] = self._count + number, check
        self._count += len(keys)

    def close(self) -> None:
        """Flush the files to disk and close them."""
        for file in self._open or ():
            os.fsync(file.fileno())
            file.close()
        self._open = None

    def _key(self, text: str) -> bytes:
        keyed_text = f"{self._origin}\0{text}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(keyed_text).digest()

    def _begin(self, dim: int) -> None:
        if self._dim is not None:
            raise InputError(
                f"{self._folder}: holds rows of length {self._dim} of {self._origin}, which now "
                f"makes rows of length {dim}; remove the folder to make all of them again"
            )
        try:
            make_folder(self._folder, within=self._folder.parent)
            about = json.dumps({"origin": self._origin, "dim": dim})
            write_atomically(self._folder / ABOUT, about, within=self._folder.parent)
        except OSError as error:
            raise _unwritable(self._folder, error) from error
        self._read()

    def _read(self) -> None:
        """Open the files, without a tail that a killed process has left."""
        path = self._folder / ABOUT
        try:
            about: dict[str, Any] = json.loads(read_plain_text(path, within=self._folder.parent))
            self._dim = int(about["dim"])
            self._open = rows, keys = self._file(ROWS), self._file(KEYS)
            whole = min(_size(keys) // _RECORD, _size(rows) // (4 * self._dim))
            self._count = whole
            self._cut()
            keys.seek(0)
            records = keys.read(whole * _RECORD)
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"{path}: not a cache of embeddings ({error}); remove the folder"
            ) from error
        for number in range(whole):
            record = records[number * _RECORD : (number + 1) * _RECORD]
            self._records[record[:_KEY]] = number, int.from_bytes(record[_KEY:], "little")

    def _file(self, name: str) -> IO[bytes]:
        # Unbuffered: bytes that a full disk refused must not be written again on close.
        return open_in_place(self._folder / name, "a+b", within=self._folder.parent, buffering=0)

    def _append(self, rows: bytes, keys: bytes) -> None:
        if self._open is None:
            return
        try:
            # Rows before keys: a kill between the two leaves rows without keys, which are cut
            # off on the next start; a key without its row would name another row.
            for file, data in zip(self._open, (rows, keys), strict=True):
                _write(file, data)
        except OSError as error:
            self._cut()
            raise _unwritable(self._folder, error) from error

    def _cut(self) -> None:
        """Cut off everything behind the complete records."""
        if self._open is not None and self._dim is not None:
            for file, size in zip(self._open, (4 * self._dim, _RECORD), strict=True):
                file.truncate(self._count * size)


def _write(file: IO[bytes], data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]


def _size(file: IO[bytes]) -> int:
    return file.seek(0, os.SEEK_END)


def _unwritable(folder: Path, error: OSError) -> InputError:
    return InputError(f"{folder}: cannot be written to ({error.strerror}); give another folder")
