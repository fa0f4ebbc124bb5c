"""Append-only archives of run folders, one a process in place of dozens of files a run.

A pack is the file ``STUDY/packs/NAME.tar.gz``. Each run in it is one record, two gzip members: the
files beside the run folder (``0007.status.json``, ...), then the folder. ``tar xzf`` of a pack, in
``STUDY/runs``, makes the ordinary files of all its runs. The first member names the run and both
lengths in an extra field of its gzip header (RFC 1952), so that a run is found without reading
those before it. ``zipfile`` is not used: it writes its directory of members at the end, so that a
kill would lose all of them; here it loses the record that was being written.

A pack is written by one process. A run's files go once its record has reached the disk, so a run
is always whole in one of the two places; where it is in both, the ordinary files are read.
"""

from __future__ import annotations

import gzip
import os
import struct
import tarfile
import threading
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from shutil import copyfileobj
from tempfile import SpooledTemporaryFile, TemporaryDirectory
from typing import IO
from uuid import uuid4

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import (
    make_folder,
    move_folder,
    open_in_place,
    open_plain,
    opened_folder,
    read_plain_text,
    remove_file,
    remove_folder,
)

PACKS, SUFFIX = "packs", ".tar.gz"
_HEAD = struct.Struct("<4s6xH2sHQQ")
"""Of a gzip header with an extra field: magic, its length, subfield, length, the two lengths."""
_MAGIC, _FIELD, _PLAIN_HEAD = b"\x1f\x8b\x08\x04", b"VS", 10
_LONGEST_NAME = 100
_IN_MEMORY = 2**26
_OWN = (".begun", ".lease", ".packed")
"""What lies beside a run folder while the run is under way or being packed, and is not packed."""
_REMEDY = "move it away, and 'society study run' does its runs again"

_lock = threading.Lock()
_mine: dict[tuple[Path, int], tuple[Path, int]] = {}
"""The pack that this process appends to and its size, by folder of packs and process id."""
_State = tuple[int, int]
"""Inode and size of a pack."""
_known: dict[Path, tuple[Mapping[Path, _State | None], Mapping[str, _PackedRun]]] = {}
"""The packs of each folder of packs, and the records by run; a record never changes."""


class DamagedPack(InputError):
    """A pack holds something else than was written into it."""


@dataclass(frozen=True)
class _PackedRun:
    pack: Path
    inode: int
    begin: int
    beside: int
    folder: int

    @property
    def end(self) -> int:
        return self.begin + self.beside + self.folder

    def lies_in(self, state: _State | None) -> bool:
        """Is a pack of this state still the file in which the record was found?"""
        return state is not None and state[0] == self.inode and state[1] >= self.end

    def read(self, *, beside: bool) -> tarfile.TarFile:
        """Open one of the two members as an archive."""
        with open_plain(self.pack, within=self.pack.parent) as file:
            file.seek(self.begin + (0 if beside else self.beside))
            packed = BytesIO(file.read(self.beside if beside else self.folder))
        return tarfile.open(fileobj=gzip.GzipFile(fileobj=packed), mode="r|")


def pack_run(folder: Path) -> None:
    """Move a finished run into the pack of this process; call it under the run's lease.

    Args:
        folder: ``STUDY/runs/NAME``; the files ``NAME.*`` beside it are moved as well.

    Raises:
        OSError: the pack cannot be written; the run is left where it is.
    """
    runs, study = folder.parent, folder.parent.parent
    if is_loose(folder) and folder.is_dir() and _find(folder) is None:
        _append(folder)
    status = folder.with_name(f"{folder.name}.status.json")
    if status.exists():
        # First, and at once: a folder that can be seen is whole. The status goes next: without it
        # a folder of this name is one that was taken out to be read.
        if folder.is_dir():
            move_folder(folder, folder.with_name(f"{folder.name}.packed"))
        remove_file(status, within=study)
    for path in _beside(folder):
        if path.is_dir():
            remove_folder(path, within=runs)
        else:
            remove_file(path, within=study)


def is_loose(folder: Path) -> bool:
    """Does a finished run of a study, or what a kill has left of it, lie outside of the packs?"""
    return any(os.path.lexists(f"{folder}{end}") for end in (".status.json", *_OWN))


def packed_names(study: Path) -> list[str]:
    """The names of the runs of a study that lie in its packs, sorted.

    Raises:
        DamagedPack: a pack is damaged.
    """
    return sorted(_read_index(study / PACKS))


def read_beside(path: Path, *, within: Path | None = None) -> str:
    """Read a text file beside a run folder, such as ``runs/0007.status.json``, packed or not.

    Args:
        path: the file.
        within: as for ``read_plain_text``.

    Raises:
        FileNotFoundError: it is neither there nor in a pack.
        InputError: it is a link.
        DamagedPack: its pack is damaged.
    """
    try:
        return read_plain_text(path, within=within)
    except FileNotFoundError:
        record = _find(path.with_name(path.name.partition(".")[0]))
        if record is None:
            raise
        with _reading(record), record.read(beside=True) as archive:
            for member in archive:
                if member.name == path.name and (file := archive.extractfile(member)):
                    return file.read().decode("utf-8")
        raise


def unpacked(folder: Path, part: str = "") -> TemporaryDirectory[str] | None:
    """A copy of a packed run, which goes with the object that is returned.

    Args:
        folder: ``STUDY/runs/NAME``.
        part: only the files whose paths in the folder begin so.

    Returns:
        A folder that holds a folder NAME; None where ``folder`` is there, or is not packed.

    Raises:
        DamagedPack: the pack is damaged.
    """
    record = None if folder.is_dir() else _find(folder)
    if record is None:
        return None
    copy = TemporaryDirectory(prefix="society-")
    _extract(record, f"{folder.name}/{part}", Path(copy.name))
    return copy


def unpack_all(study: Path, into: Path) -> None:
    """Copy all packed runs of a study, and the files beside them, into a folder of this process.

    Raises:
        DamagedPack: a pack is damaged.
    """
    for record in _read_index(study / PACKS).values():
        for beside in (True, False):
            _extract(record, "", into, beside=beside)


@contextmanager
def taken_out(folder: Path, kept: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Put a packed run where it was before, to be read and added to; others are left alone.

    It goes again at the end of the block, unless something in it was added or changed.

    Args:
        folder: ``STUDY/runs/NAME``.
        kept: called if it stays.

    Raises:
        DamagedPack: the pack is damaged.
        OSError: it cannot be written.
    """
    record = None if os.path.lexists(folder) else _find(folder)
    if record is None:
        yield
        return
    make_folder(folder.parent, within=folder.parent.parent)
    with TemporaryDirectory(dir=folder.parent, prefix=".") as spare:
        _extract(record, folder.name, Path(spare))
        move_folder(Path(spare) / folder.name, folder)
    # A page may still be read, by a browser, when the command that has opened it ends.
    before = {one for one in _states_in(folder) if one[0].suffix != ".html"}
    try:
        yield
    finally:
        if before.issuperset(_states_in(folder)):
            remove_folder(folder)
        else:
            kept()


def _states_in(folder: Path) -> Iterator[tuple[Path, int, int]]:
    """Path, size and time of each file."""
    for path in folder.rglob("*"):
        if not path.is_dir():
            state = path.lstat()
            yield path, state.st_size, state.st_mtime_ns


def _extract(record: _PackedRun, part: str, into: Path, *, beside: bool = False) -> None:
    with _reading(record), record.read(beside=beside) as archive:
        for member in archive:
            if member.name.startswith(part):
                archive.extract(member, into, filter="data")
            if member.name == part:
                break


@contextmanager
def _reading(record: _PackedRun) -> Iterator[None]:
    try:
        yield
    except (tarfile.TarError, zlib.error, EOFError, gzip.BadGzipFile, UnicodeDecodeError) as error:
        raise DamagedPack(f"{record.pack}: {error}; {_REMEDY}") from error


def _append(folder: Path) -> None:
    packs = folder.absolute().parent.parent / PACKS
    with SpooledTemporaryFile(_IN_MEMORY) as body:
        _write_record(body, folder)
        with _lock:
            key = (packs, os.getpid())
            pack, size = _mine.pop(key, (packs, 0))
            # Never behind a torn record, which nobody would read past.
            if not pack.is_file() or pack.stat().st_size != size:
                pack = packs / f"{uuid4().hex[:12]}{SUFFIX}"
            make_folder(packs, within=packs.parent)
            with open_in_place(pack, "a+b", within=packs.parent) as file:
                copyfileobj(body, file)
                file.flush()
                os.fsync(file.fileno())
                size = file.tell()
            with opened_folder(packs) as descriptor:
                os.fsync(descriptor)
            _mine[key] = pack, size


def _write_record(body: IO[bytes], folder: Path) -> None:
    """Write the two members of a run; they begin with a header that says how long they are."""
    name = folder.name.encode("ascii")
    head = _HEAD.size + len(name)
    body.seek(head - _PLAIN_HEAD)
    beside = [one for one in _beside(folder) if one.is_file() and one.suffix not in _OWN]
    _write_member(body, folder.parent, beside)
    middle = body.tell()
    # The journal last: of most runs that are read, no more than small tables is wanted.
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    _write_member(body, folder.parent, sorted(files, key=lambda one: (one.stat().st_size, one)))
    lengths = middle, body.tell() - middle
    field = len(name) + 16
    body.seek(0)
    body.write(_HEAD.pack(_MAGIC, field + 4, _FIELD, field, *lengths) + name)
    body.seek(0)


def _write_member(body: IO[bytes], top: Path, paths: list[Path]) -> None:
    with gzip.GzipFile("", "wb", 6, body, mtime=0) as packed:
        # Not closed: the zeros at an end would hide the members that follow it from tar.
        archive = tarfile.TarFile(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT)
        for path in paths:
            archive.add(path, path.relative_to(top).as_posix(), recursive=False, filter=_nobodys)


def _nobodys(member: tarfile.TarInfo) -> tarfile.TarInfo:
    return member.replace(uid=0, gid=0, uname="", gname="", deep=False)


def _beside(folder: Path) -> list[Path]:
    return sorted(folder.parent.glob(f"{folder.name}.*"))


def _find(folder: Path) -> _PackedRun | None:
    """The record of a run; None: it is not packed."""
    place = Path(os.path.abspath(folder))
    packs = place.parent.parent / PACKS
    record = _known[packs][1].get(place.name) if packs in _known else None
    # Of thousands of runs that are read, one file each is looked at, and not every pack.
    if record is None or not record.lies_in(_state(record.pack)):
        record = _read_index(packs).get(place.name)
    return record


def _read_index(packs: Path) -> Mapping[str, _PackedRun]:
    """Every record of a folder of packs; only what was appended since the last look is read."""
    packs = Path(os.path.abspath(packs))
    # Sorted: of a run that two packs hold, everybody reads the same one.
    states = {pack: _state(pack) for pack in sorted(packs.glob(f"*{SUFFIX}"))}
    before, found = _known.get(packs, ({}, {}))
    if states != before:
        found = {name: one for name, one in found.items() if one.lies_in(states.get(one.pack))}
        ends = Counter[Path]()
        for one in found.values():
            ends[one.pack] = max(ends[one.pack], one.end)
        for pack in states:
            with open_plain(pack, within=packs.parent) as file:
                found |= dict(_scan(pack, file, ends[pack]))
        _known[packs] = states, found
    return found


def _state(pack: Path) -> _State | None:
    with suppress(OSError):
        state = os.stat(pack, follow_symlinks=False)
        return state.st_ino, state.st_size
    return None


def _scan(pack: Path, file: IO[bytes], begin: int) -> Iterator[tuple[str, _PackedRun]]:
    """The whole records of a pack from a position on.

    Raises:
        DamagedPack: there is something else than a record, or the beginning of one.
    """
    state = os.fstat(file.fileno())
    while begin < state.st_size:
        file.seek(begin)
        head = file.read(_HEAD.size + _LONGEST_NAME)
        # What a kill or a full disk has cut short, or a file system filled with zeros.
        if len(head) < _HEAD.size or not head.strip(b"\0"):
            return
        magic, _, field, length, *lengths = _HEAD.unpack(head[: _HEAD.size])
        if (magic, field) != (_MAGIC, _FIELD) or not 16 < length <= 16 + _LONGEST_NAME:
            raise DamagedPack(f"{pack}: damaged at byte {begin:,}; {_REMEDY}")
        record = _PackedRun(pack, state.st_ino, begin, *lengths)
        if record.end > state.st_size:
            return
        yield head[_HEAD.size :][: length - 16].decode("ascii", "replace"), record
        begin = record.end
