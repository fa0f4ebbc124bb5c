"""The files of a source, and their lines with bounded memory, plain or gzip."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from virsci_society.agents.errors import InputError

LONGEST = 64 * 2**20
"""Bytes of the longest line that is read into memory."""
GZIP_MAGIC = b"\x1f\x8b"


class SourceFile(NamedTuple):
    """A file of a source."""

    path: Path
    label: str


class FileLine(NamedTuple):
    """A line of a file."""

    number: int
    data: bytes | None


def find_files(paths: Iterable[Path], wanted: Callable[[Path], bool]) -> list[SourceFile]:
    """List given files, whatever their name, and the wanted files inside folders, each once.

    Folders are searched recursively, without following links to other folders; their files stand
    in the order of their paths, so that the same data give the same ecosystem on any disk.
    """
    by_path: dict[Path, SourceFile] = {}
    for given in paths:
        if given.is_dir():
            inside = sorted(path for path in _walk(given) if wanted(path.relative_to(given)))
            files = [SourceFile(path, path.relative_to(given).as_posix()) for path in inside]
        elif given.exists():
            files = [SourceFile(given, given.name)]
        else:
            raise InputError(f"{given}: no such file or folder; give the path of the data")
        for one in files:
            # By the resolved path: a file that is given twice, or through a link, is read once.
            by_path.setdefault(one.path.resolve(), one)
    return list(by_path.values())


def _walk(folder: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        raise InputError(f"{error.filename}: cannot be looked into ({error.strerror})")

    for root, _, names in os.walk(folder, onerror=refuse):
        yield from (Path(root, name) for name in names)


def is_data_file(path: Path, *endings: str) -> bool:
    """Whether a file name has one of the endings, compressed or not, and is not hidden."""
    name = path.name.lower().removesuffix(".gz")
    return name.endswith(endings) and not name.startswith((".", "_"))


@contextmanager
def open_file(path: Path) -> Iterator[io.BufferedReader | gzip.GzipFile]:
    """Open a file for reading bytes, decompressed where it is gzip.

    InputError where it cannot be read, also when that shows later inside the block.
    """
    try:
        with path.open("rb") as raw:
            # By the ending, too: a .gz whose head is damaged is an error, and no text.
            packed = path.suffix == ".gz" or raw.peek(2)[:2] == GZIP_MAGIC
            yield gzip.GzipFile(fileobj=raw) if packed else raw
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: cannot be read ({error}); check that it is complete") from error


def read_lines(file: SourceFile) -> Iterator[FileLine]:
    """Read the lines of a file; those before a damage, then InputError."""
    number = 0
    with open_file(file.path) as stream:
        while data := stream.readline(LONGEST):
            number += 1
            whole = len(data) < LONGEST or data.endswith(b"\n")
            # The rest of a line that is too long is read in pieces and dropped.
            while len(data) == LONGEST and not data.endswith(b"\n"):
                data = stream.readline(LONGEST)
            yield FileLine(number, data if whole else None)


def read_whole(file: SourceFile) -> bytes | None:
    """Read a whole file, decompressed; None where it is longer than ``LONGEST``."""
    with open_file(file.path) as stream:
        data = stream.read(LONGEST + 1)
    return data if len(data) <= LONGEST else None
