"""The files of a source, and their lines with bounded memory, plain or gzip.

A place in them can be returned to: by a seek in a plain file, by unpacking and throwing away in
a compressed one, in neither case by parsing again what was read.
"""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from agents.errors import InputError

LONGEST = 64 * 2**20
"""Bytes of the longest line that is taken into memory."""
GZIP_MAGIC = b"\x1f\x8b"


class Found(NamedTuple):
    """A file of a source.

    Attributes:
        path: where it lies.
        label: how messages call it: its name, or its path inside the folder that was given.
    """

    path: Path
    label: str


class Position(NamedTuple):
    """A place between two records of a source.

    Attributes:
        file: number of the file, from 0, in the source's order.
        line: lines of it that are behind.
        offset: bytes of it, unpacked, that are behind.
        item: records of the next line that are behind.
    """

    file: int = 0
    line: int = 0
    offset: int = 0
    item: int = 0


class Line(NamedTuple):
    """A line of a file.

    Attributes:
        number: from 1.
        start: bytes before it.
        end: bytes up to its end.
        data: what stands in it, its line end included; None where it is longer than is taken.
    """

    number: int
    start: int
    end: int
    data: bytes | None


def find_files(paths: Iterable[Path], wanted: Callable[[Path], bool]) -> list[Found]:
    """The given files, and the wanted ones inside given folders, sorted, none twice.

    Args:
        paths: files, taken whatever their name, and folders, searched to their depth without
            following links to other folders.
        wanted: told a path inside a folder; whether it is one of the source's files.

    Raises InputError for a path where nothing is.
    """
    found: dict[Path, Found] = {}
    for given in paths:
        if given.is_dir():
            inside = sorted(path for path in _walk(given) if wanted(path.relative_to(given)))
            files = [Found(path, path.relative_to(given).as_posix()) for path in inside]
        elif given.exists():
            files = [Found(given, given.name)]
        else:
            raise InputError(f"{given}: no such file or folder; give the path of the data")
        for one in files:
            found.setdefault(one.path.resolve(), one)
    return list(found.values())


def _walk(folder: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        raise InputError(f"{error.filename}: cannot be looked into ({error.strerror})")

    for root, _, names in os.walk(folder, onerror=refuse):
        yield from (Path(root, name) for name in names)


def is_data(path: Path, *endings: str) -> bool:
    """Whether a file name has one of the endings, packed or not, and is not hidden."""
    name = path.name.lower().removesuffix(".gz")
    return name.endswith(endings) and not name.startswith((".", "_"))


@contextmanager
def opened(path: Path) -> Iterator[io.BufferedReader | gzip.GzipFile]:
    """A file for reading bytes, unpacked on the way; InputError where it cannot be read."""
    try:
        with path.open("rb") as raw:
            packed = path.suffix == ".gz" or raw.peek(2)[:2] == GZIP_MAGIC
            yield gzip.GzipFile(fileobj=raw) if packed else raw
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: cannot be read ({error}); check that it is complete") from error


def read_lines(file: Found, start: Position | None = None) -> Iterator[Line]:
    """The lines of a file from a place on.

    Raises InputError where the file is missing, cut short or damaged; complete lines before the
    damage come first.
    """
    number, offset = (start.line, start.offset) if start else (0, 0)
    with opened(file.path) as stream:
        if offset:
            stream.seek(offset)
        while data := stream.readline(LONGEST):
            begin, offset, number = offset, offset + len(data), number + 1
            whole = len(data) < LONGEST or data.endswith(b"\n")
            while len(data) == LONGEST and not data.endswith(b"\n"):
                data = stream.readline(LONGEST)
                offset += len(data)
            yield Line(number, begin, offset, data if whole else None)


def read_whole(file: Found) -> bytes | None:
    """All bytes of a file, unpacked; None where they are more than is taken into memory."""
    with opened(file.path) as stream:
        data = stream.read(LONGEST + 1)
    return data if len(data) <= LONGEST else None
