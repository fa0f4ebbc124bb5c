"""Atomic writes: a file appears complete or not at all.

A run folder may be a stranger's: nothing is opened here that is no plain file.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from virsci_society.agents.errors import InputError

if TYPE_CHECKING:
    from filelock import FileLock

SUFFIX = ".unfinished"
"""What the name of the folder ends with in which a file is made."""


@contextmanager
def replacing(target: Path, *, durable: bool = False, shared: bool = False) -> Iterator[Path]:
    """Give the path of a new file that replaces ``target`` at the end, unless the block fails."""
    own = f".{os.getpid()}" if shared else ""
    private = target.with_name(f"{target.name}{own}{SUFFIX}")
    temporary = private / target.name
    require_plain(target)
    try:
        remove_folder(private)
        private.mkdir(mode=0o700)
        yield temporary
        if durable:
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
        os.replace(temporary, target)
        with suppress(OSError):  # not empty: removed below
            private.rmdir()
    except OSError as error:
        if error.filename is None or str(error.filename).startswith(str(private)):
            error.filename, error.filename2 = str(target), None
        raise
    finally:
        shutil.rmtree(private, ignore_errors=True)


def write_atomically(
    target: Path, text: str, *, durable: bool = False, shared: bool = False
) -> None:
    """Write a text file in UTF-8 as ``replacing`` does, with its line ends as they are."""
    with replacing(target, durable=durable, shared=shared) as temporary, open_new(temporary) as to:
        to.write(text)


def open_new(path: Path) -> IO[str]:
    """Create and open a UTF-8 text file that must not exist; line ends are unchanged."""
    return path.open("x", encoding="utf-8", newline="")


def open_in_place(path: Path, mode: str) -> IO[Any]:
    """Open a plain file to change it where it is: ``a`` (text in UTF-8), ``a+b`` or ``r+b``."""
    encoding = None if "b" in mode else "utf-8"
    return require_plain(path).open(mode, encoding=encoding)


def read_plain_text(path: Path) -> str:
    """Read a plain text file in UTF-8, with its line ends as they are."""
    return require_plain(path).read_bytes().decode("utf-8")


def require_plain(path: Path) -> Path:
    """Return a path where a plain file is or can be made; InputError where something else is."""
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return path
    if not stat.S_ISREG(mode):
        raise _refusal(path, mode)
    return path


def require_regular_file(path: Path) -> Path:
    """Return the path of a file if it is a plain one; InputError where it is not, or is missing."""
    if not require_plain(path).is_file():
        raise InputError(f"{path}: not a regular file; a run folder contains only plain files")
    return path


def refuse_links(folder: Path, depth: int = 16) -> None:
    """Check that a folder contains plain files and folders only."""
    if folder.is_symlink():
        raise _refusal(folder, stat.S_IFLNK)
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        mode = path.lstat().st_mode
        if stat.S_ISDIR(mode) and depth > 1:
            refuse_links(path, depth - 1)
        elif not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise _refusal(path, mode)


def holds_others(folder: Path, *own: str) -> bool:
    """Does a folder contain anything besides the leftovers of a command killed at its start?"""
    return folder.is_dir() and any(not path.name.startswith(own) for path in folder.iterdir())


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, if missing."""
    folder.mkdir(parents=True, exist_ok=True)


def remove_file(path: Path) -> None:
    """Remove a file, or a link in its place, if it exists."""
    path.unlink(missing_ok=True)


def remove_folder(path: Path) -> None:
    """Remove a folder and its contents, if it exists; InputError if it is a link."""
    if path.is_symlink():
        raise _refusal(path, stat.S_IFLNK)
    if path.exists():
        shutil.rmtree(path)


def replace_folder(path: Path, new: Path) -> None:
    """Replace a folder by its new version; readers see one or the other."""
    remove_folder(path)
    os.replace(new, path)


def lock_file(path: Path, *, timeout: float = -1) -> FileLock:
    """A lock on a plain file across processes; a timeout (seconds) below zero waits for ever."""
    from filelock import FileLock

    # The library truncates the file that it opens.
    return FileLock(require_plain(path), timeout=timeout, thread_local=False)


def _refusal(path: Path, mode: int) -> InputError:
    what = "is a symbolic link" if stat.S_ISLNK(mode) else "is not a plain file"
    return InputError(
        f"{path}: {what}, and nothing is read or written through it; remove it, or give another "
        "folder"
    )
