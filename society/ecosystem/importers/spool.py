"""The spool of an import, Parquet files that are written once and resumed after a kill.

It neither filters nor changes records; a build, which needs several passes, reads the spool. Each
part is a Parquet file that is written completely or not at all, and read back in batches.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

from filelock import Timeout

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import (
    lock_file,
    make_folder,
    replacing,
    write_atomically,
)
from virsci_society.agents.lazy_imports import pa, pq
from virsci_society.society.ecosystem.importers.files import Position
from virsci_society.society.ecosystem.importers.records import ImportReport, RawAuthor, RawRecord
from virsci_society.society.ecosystem.importers.source import IdSet, Source

BATCH = 2000
"""Records in memory at a time."""


@contextmanager
def writing_part(path: Path) -> Iterator[Callable[[RawRecord], None]]:
    """Write one part, which gets its name when the context ends; an error leaves nothing of it."""
    held: list[RawRecord] = []

    def write(record: RawRecord) -> None:
        held.append(record)
        if len(held) == BATCH:
            writer.write_table(_table(held))
            held.clear()

    with (
        replacing(path, durable=True) as temporary,
        pq.ParquetWriter(temporary, _schema(), compression="zstd") as writer,
    ):
        yield write
        writer.write_table(_table(held))


def read_part(path: Path) -> Iterator[RawRecord]:
    """Read the records of a part, a batch in memory at a time; InputError if it is damaged."""
    for rows in _rows(path, None):
        for row in rows:
            row["authors"] = tuple(RawAuthor(**author) for author in row["authors"])
            row["references"] = tuple(row["references"])
            row["keywords"] = tuple(row["keywords"])
            row["citations_by_year"] = tuple(
                (pair["year"], pair["count"]) for pair in row["citations_by_year"]
            )
            yield RawRecord(**row)


def read_part_ids(path: Path) -> Iterator[str]:
    """Read the ids of a part's records; InputError if it is damaged."""
    return (row["id"] for rows in _rows(path, ["id"]) for row in rows)


def _rows(path: Path, columns: list[str] | None) -> Iterator[list[dict[str, Any]]]:
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(BATCH, columns=columns):
                yield batch.to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise InputError(
            f"{path}: cannot be read ({error}); delete the folder and import again"
        ) from error


def _table(records: Sequence[RawRecord]) -> pa.Table:
    columns = {name: [getattr(one, name) for one in records] for name in _schema().names}
    columns["authors"] = [
        [{"id": one.id, "name": one.name, "affiliation": one.affiliation} for one in authors]
        for authors in columns["authors"]
    ]
    columns["citations_by_year"] = [
        [{"year": year, "count": count} for year, count in counts]
        for counts in columns["citations_by_year"]
    ]
    return pa.table(columns, schema=_schema())


def _schema() -> pa.Schema:
    text, whole = pa.string(), pa.int32()
    author = pa.struct([("id", text), ("name", text), ("affiliation", text)])
    cited = pa.struct([("year", whole), ("count", whole)])
    return pa.schema(
        [
            ("id", text),
            ("title", text),
            ("abstract", text),
            ("year", whole),
            ("authors", pa.list_(author)),
            ("references", pa.list_(text)),
            ("keywords", pa.list_(text)),
            ("venue", text),
            ("citations", whole),
            ("citations_by_year", pa.list_(cited)),
        ]
    )


FORMAT = 1
PART = 50_000
"""Records of a part."""
STATE, LOCK = "spool.json", "spool.lock"


class Spool(Iterable[RawRecord]):
    """The records of a source, stored in a working folder.

    The first iteration reads the source and writes parts of 50,000 records. Each finished part is
    kept whatever happens to the process, and the next iteration yields the parts and resumes the
    source behind them. Once the source is read to its end, iterating reads the parts alone.

    Raises:
        InputError: while iterating: as the source does, where another process writes, and where the
            folder has the spool of another source, of changed files or of other options.
    """

    def __init__(self, source: Source, folder: Path | str, *, part: int = PART) -> None:
        self.source = source
        self.folder = Path(folder)
        self._part = part

    @property
    def report(self) -> ImportReport:
        """Counts of the source, those of earlier processes included."""
        return self.source.report

    @property
    def finished(self) -> bool:
        """Whether the source was read to its end."""
        return bool(self._state()["finished"])

    def __iter__(self) -> Iterator[RawRecord]:
        state = self._state()
        if state["finished"]:
            self.source.report = ImportReport(**state["reading"])
            yield from self._kept(state["parts"])
            self.source.require_acceptable()
            return
        with self._locked():
            # Again under the lock: another process may have finished parts meanwhile.
            state = self._state()
            yield from self._kept(state["parts"])
            yield from self._rest(state)

    def _kept(self, parts: int) -> Iterator[RawRecord]:
        for number in range(parts):
            yield from read_part(self._path(number))

    def _rest(self, state: dict[str, Any]) -> Iterator[RawRecord]:
        """Yield the records behind the finished parts, and write them on the way."""
        seen = IdSet()
        for number in range(state["parts"]):
            for id_ in read_part_ids(self._path(number)):
                seen.add(id_)
        start, report = Position(*state["position"]), ImportReport(**state["reading"])
        parts = state["parts"]
        with ExitStack() as part:
            write = part.enter_context(writing_part(self._path(parts)))
            for count, record in enumerate(self.source.resume(start, report, seen), start=1):
                write(record)
                if count % self._part == 0:
                    # The part before the state: one that is ahead of its files would lose records.
                    part.close()
                    parts += 1
                    self._keep(parts, finished=False)
                    write = part.enter_context(writing_part(self._path(parts)))
                yield record
        self._keep(parts + 1, finished=True)

    def _path(self, number: int) -> Path:
        return self.folder / f"part-{number:05}.parquet"

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            make_folder(self.folder)
            with lock_file(self.folder / LOCK, timeout=0):
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
        """Read the folder's state, or make the initial one; InputError if another source's."""
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

    def _keep(self, parts: int, *, finished: bool) -> None:
        state = {
            "format": FORMAT,
            **_fingerprint(self.source),
            "parts": parts,
            "position": self.source.position,
            "reading": self.source.report.as_json(),
            "finished": finished,
        }
        write_atomically(self.folder / STATE, json.dumps(state, indent=1), durable=True)


def _fingerprint(source: Source) -> dict[str, Any]:
    """What identifies a source: format, rules, and its files by name, size and time."""
    listing = blake2b(digest_size=16)
    size = 0
    for file in source.files:
        # By size and time: to hash the contents would take as long as to read them.
        stat = file.path.stat()
        size += stat.st_size
        listing.update(f"{file.label}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    return {
        "kind": source.kind,
        "version": source.version,
        "options": list(source.author_rule),
        "files": len(source.files),
        "bytes": size,
        "listing": listing.hexdigest(),
    }
