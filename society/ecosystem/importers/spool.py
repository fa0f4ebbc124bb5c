"""Spool: a source read once, kept as Parquet, and gone on with where it was interrupted.

It neither filters nor changes records; a build that needs several passes reads the spool.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from agents.errors import InputError
from society.ecosystem.importers.files import Position
from society.ecosystem.importers.parts import PartWriter, read_part, read_part_ids
from society.ecosystem.importers.reading import Reading
from society.ecosystem.importers.seen import Seen
from society.ecosystem.importers.source import Source
from society.ecosystem.records import RawRecord

FORMAT = 1
PART = 50_000
STATE, LOCK = "spool.json", "spool.lock"


class Spool(Iterable[RawRecord]):
    """The records of a source by way of a working folder.

    The first iteration reads the source and writes parts of 50,000 records; each finished part
    is kept whatever happens to the process, and the next iteration yields the parts and goes on
    behind them. Once the source is read to its end, iterating reads the parts alone.

    Args:
        source: what to read; its ``reading`` tells the counts here too.
        folder: made where it is missing. A spool of another source, of changed files or of
            other options in it is refused with InputError.
        part: records of a part.

    Raises InputError while iterating, as the source does, and where another process writes.
    """

    def __init__(self, source: Source, folder: Path | str, *, part: int = PART) -> None:
        self.source = source
        self.folder = Path(folder)
        self._part = part

    @property
    def reading(self) -> Reading:
        """Counts of the source, those of earlier runs included."""
        return self.source.reading

    @property
    def finished(self) -> bool:
        """Whether the source was read to its end."""
        return bool(self._state()["finished"])

    def __iter__(self) -> Iterator[RawRecord]:
        state = self._state()
        if state["finished"]:
            self.source.reading = Reading(**state["reading"])
            yield from self._kept(state["parts"])
            self.source.judge()
            return
        with self._locked():
            state = self._state()
            yield from self._kept(state["parts"])
            yield from self._rest(state)

    def _kept(self, parts: int) -> Iterator[RawRecord]:
        for number in range(parts):
            yield from read_part(self._path(number))

    def _rest(self, state: dict[str, Any]) -> Iterator[RawRecord]:
        """The records behind the finished parts, written on the way."""
        seen = Seen()
        for number in range(state["parts"]):
            for id_ in read_part_ids(self._path(number)):
                seen.add(id_)
        source, parts = self.source, state["parts"]
        start, reading = Position(*state["position"]), Reading(**state["reading"])
        writer = PartWriter(self._path(parts))
        try:
            for record in source.resumed(start, reading, seen):
                writer.write(record)
                if writer.count >= self._part:
                    writer.finish()
                    parts += 1
                    self._keep(parts, source.position, finished=False)
                    writer = PartWriter(self._path(parts))
                yield record
            writer.finish()
            self._keep(parts + 1, source.position, finished=True)
        finally:
            writer.abandon()

    def _path(self, number: int) -> Path:
        return self.folder / f"part-{number:05}.parquet"

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with FileLock(self.folder / LOCK, timeout=0):
                yield
        except Timeout as error:
            raise InputError(
                f"{self.folder}: another import is writing it; wait for its end or give another "
                "folder"
            ) from error
        except OSError as error:
            raise InputError(
                f"{self.folder}: cannot be written to ({error}); give another folder"
            ) from error

    def _state(self) -> dict[str, Any]:
        """What the folder tells, or the beginning; InputError if it is another source's."""
        try:
            state = json.loads((self.folder / STATE).read_bytes())
        except FileNotFoundError:
            self._refuse_strangers()
            return {"parts": 0, "position": Position(), "reading": {}, "finished": False}
        except (OSError, ValueError) as error:
            raise InputError(
                f"{self.folder / STATE}: cannot be read ({error}); delete the folder"
            ) from error
        ours = {"format": FORMAT, **_fingerprint(self.source)}
        other = [name for name in ours if state.get(name) != ours[name]]
        if other:
            raise InputError(
                f"{self.folder}: holds the spool of another source (other {', '.join(other)}); "
                "delete the folder to import anew, or give another one"
            )
        return dict(state)

    def _refuse_strangers(self) -> None:
        names = [path.name for path in self.folder.glob("*")] if self.folder.is_dir() else []
        if any(not name.startswith(("part-", "spool.")) for name in names):
            raise InputError(f"{self.folder}: holds other files and no spool; give an empty folder")

    def _keep(self, parts: int, position: Position, *, finished: bool) -> None:
        state = {
            "format": FORMAT,
            **_fingerprint(self.source),
            "parts": parts,
            "position": position,
            "reading": self.source.reading.as_json(),
            "finished": finished,
        }
        unfinished = self.folder / f"{STATE}.tmp"
        with unfinished.open("w", encoding="utf-8") as file:
            json.dump(state, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(self.folder / STATE)


def _fingerprint(source: Source) -> dict[str, Any]:
    """What tells one source from another: kind, rules, and its files by name, size and time."""
    listing = blake2b(digest_size=16)
    size = 0
    for file in source.files:
        told = file.path.stat()
        size += told.st_size
        listing.update(f"{file.label}\0{told.st_size}\0{told.st_mtime_ns}\n".encode())
    return {
        "kind": source.kind,
        "version": source.version,
        "options": list(source.authorship),
        "files": len(source.files),
        "bytes": size,
        "listing": listing.hexdigest(),
    }
