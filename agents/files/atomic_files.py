"""All writing of files, such that a file appears whole or not at all and never through a link.

A run folder may come from a stranger, who can put a symbolic link, a pipe or a second name of
another file where the program writes. So every module writes through the functions here, and a
test forbids other ways. Folders below a folder that may be a stranger's (``within``) are opened
without following links; the path of that folder itself is the user's and may contain links. A new
file is made in a private folder beside its target, whose place it then takes.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from virsci_society.agents.errors import InputError

if TYPE_CHECKING:
    from filelock import FileLock

SUFFIX = ".unfinished"
"""What the name of the private folder ends with in which a file is made."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
# Without O_NONBLOCK, opening a pipe would wait for its other end.
_PLAIN = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MODES = {
    "a": os.O_WRONLY | os.O_APPEND | os.O_CREAT,
    "a+b": os.O_RDWR | os.O_APPEND | os.O_CREAT,
    "r+b": os.O_RDWR,
    "rb": os.O_RDONLY,
}


@contextmanager
def replacing(
    target: Path,
    *,
    within: Path | None = None,
    durable: bool = False,
    shared: bool = False,
    over_links: bool = False,
) -> Iterator[Path]:
    """Give the path of a new file, which takes the place of ``target`` at the end of the block.

    Where the block fails, the target is left as it was. What a killed writer has left behind is
    removed by the next writer of the same target.

    Args:
        target: the file to make or to replace; its folder exists.
        within: a folder above it below which no folder may be a link; None: its own folder.
        durable: True: the content has reached the disk before it takes the target's place.
        shared: True: several processes may write this target at once, so that the private folder
            bears the number of this one.
        over_links: True: a link in the target's place is replaced and not refused, for folders in
            which anybody may put something.

    Yields:
        Where to write: a file of the same name that does not exist yet.

    Raises:
        InputError: the target, or a folder below ``within``, is a link or no plain file.
        OSError: the file cannot be written, or cannot take the target's place.
    """
    own = f".{os.getpid()}" if shared else ""
    place = target.with_name(f"{target.name}{own}{SUFFIX}")
    with opened_folder(target.parent, within) as folder:
        if over_links:
            for path in (target, place):
                _remove_link(folder, path)
        _check(folder, target)
        with _private(folder, place) as private:
            yield place / target.name
            # By descriptors: whoever exchanges a folder meanwhile changes nothing of what follows.
            if durable:
                file = os.open(target.name, os.O_RDWR | _PLAIN, dir_fd=private)
                with os.fdopen(file, "rb") as written:
                    os.fsync(written.fileno())
            os.replace(target.name, target.name, src_dir_fd=private, dst_dir_fd=folder)


def write_atomically(
    target: Path,
    text: str,
    *,
    within: Path | None = None,
    durable: bool = False,
    shared: bool = False,
    over_links: bool = False,
) -> None:
    """Write a text file in UTF-8, whole or not at all, with its line ends as they are.

    Args:
        target: the file to make or to replace; its folder exists.
        text: all that it will hold.
        within: as for ``replacing``.
        durable: as for ``replacing``.
        shared: as for ``replacing``.
        over_links: as for ``replacing``.

    Raises:
        InputError: as for ``replacing``.
        OSError: as for ``replacing``.
    """
    how = {"durable": durable, "shared": shared, "over_links": over_links}
    with replacing(target, within=within, **how) as temporary, open_new(temporary) as file:
        file.write(text)


def open_new(path: Path, *, within: Path | None = None, encoding: str = "utf-8") -> IO[str]:
    """Make a text file that must not exist, with line ends as they are written, and open it.

    Args:
        path: the file.
        within: as for ``replacing``.
        encoding: of the text.

    Raises:
        FileExistsError: something is there, be it a link that leads nowhere.
        OSError: it cannot be made.
    """
    with opened_folder(path.parent, within) as folder, _naming(path):
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        file = os.open(path.name, flags, 0o666, dir_fd=folder)
    return os.fdopen(file, "w", encoding=encoding, newline="")


def open_in_place(
    path: Path, mode: str, *, within: Path | None = None, buffering: int = -1
) -> IO[Any]:
    """Open a plain file that has one name only, to change it where it is.

    Args:
        path: the file.
        mode: ``a`` (text in UTF-8, made where it is missing), ``a+b`` (the same for bytes) or
            ``r+b``.
        within: as for ``replacing``.
        buffering: as for ``open``.

    Raises:
        InputError: it is a link, a folder, a pipe, or a second name of another file.
        OSError: it cannot be opened.
    """
    file: IO[Any] = _open(path, mode, within, buffering, single=True)
    return file


def open_plain(path: Path, *, within: Path | None = None) -> BufferedReader:
    """Open a plain file for reading bytes; neither it nor a folder below ``within`` is a link.

    Args:
        path: the file.
        within: as for ``replacing``.

    Raises:
        InputError: it is a link, a folder or a pipe.
        OSError: it cannot be opened, or is not there.
    """
    file: BufferedReader = _open(path, "rb", within, -1)
    return file


def read_plain_text(path: Path, *, within: Path | None = None) -> str:
    """Read a plain text file in UTF-8.

    Args:
        path: the file.
        within: as for ``replacing``.

    Raises:
        InputError: as for ``open_plain``.
        OSError: as for ``open_plain``.
        UnicodeDecodeError: it holds something else than UTF-8.
    """
    with open_plain(path, within=within) as file:
        return file.read().decode("utf-8")


def require_plain(path: Path, *, within: Path | None = None, single: bool = False) -> Path:
    """Return a path where a plain file is or can be made.

    It is for files that another library opens by itself, such as a database.

    Args:
        path: the file; it may be missing.
        within: as for ``replacing``.
        single: True: it is changed in place, so it may not be a second name of another file.

    Raises:
        InputError: it is a link, a folder, a pipe, or such a second name.
    """
    missing = suppress(FileNotFoundError, NotADirectoryError)
    with missing, opened_folder(path.parent, within) as folder:
        _check(folder, path, single)
    return path


def require_regular_file(path: Path, *, within: Path | None = None) -> Path:
    """Return the path of a file if it is a plain one.

    Args:
        path: the file.
        within: as for ``replacing``.

    Raises:
        InputError: it does not exist, or is a link or a device.
    """
    require_plain(path, within=within)
    if not path.is_file():
        raise InputError(f"{path}: not a regular file; a run folder holds plain files only")
    return path


def holds_others(folder: Path, *own: str) -> bool:
    """Does a folder hold anything that a command killed before its first file cannot have left?

    Args:
        folder: where that command writes; it may be missing.
        own: how the names of the files begin that it makes first. The lock of a file, and the
            private folder in which it is made, bear its name with an ending.
    """
    return folder.is_dir() and any(not path.name.startswith(own) for path in folder.iterdir())


def make_folder(folder: Path, *, within: Path | None = None) -> None:
    """Make a folder, and those above it, unless it is there.

    Args:
        folder: to make.
        within: a folder above it below which no folder may be a link; None: where ``folder`` is a
            link to a folder, it is taken for the user's.

    Raises:
        InputError: a folder below ``within`` is a link or something else than a folder.
        OSError: it cannot be made.
    """
    if within is None:
        folder.mkdir(parents=True, exist_ok=True)
        return
    within.mkdir(parents=True, exist_ok=True)
    place = within
    for part in folder.relative_to(within).parts:
        with opened_folder(place, within) as above, suppress(FileExistsError):
            os.mkdir(part, dir_fd=above)
        place = place / part
    # What was there already may be a link, which is refused where it is opened.
    with opened_folder(folder, within):
        pass


def remove_file(path: Path, *, within: Path | None = None) -> None:
    """Remove a file, or a link in its place, if it is there; nothing is followed.

    Args:
        path: the file.
        within: as for ``replacing``.

    Raises:
        InputError: a folder below ``within`` is a link.
        OSError: it cannot be removed.
    """
    with suppress(FileNotFoundError), opened_folder(path.parent, within) as folder, _naming(path):
        os.unlink(path.name, dir_fd=folder)


def remove_folder(path: Path, *, within: Path | None = None) -> None:
    """Remove a folder with all that it holds, if it is there; links in it are not followed.

    Args:
        path: the folder.
        within: as for ``replacing``.

    Raises:
        InputError: it, or a folder below ``within``, is a link.
        OSError: it cannot be removed.
    """
    with suppress(FileNotFoundError), opened_folder(path, within or path.parent):
        # It goes by descriptors as well, so a link that appears meanwhile is removed, not followed.
        shutil.rmtree(path)


def replace_folder(path: Path, new: Path, *, within: Path) -> None:
    """Put a folder in the place of another one beside it; whoever reads meets one of both."""
    remove_folder(path, within=within)
    with _naming(path):
        os.replace(new, path)


def lock_file(path: Path, *, timeout: float = -1) -> FileLock:
    """A lock on a file that other processes respect, for a ``with`` statement.

    Args:
        path: the file; made where it is missing.
        timeout: seconds to wait for it; below zero: as long as it takes.

    Raises:
        InputError: it is a link, or no plain file.
    """
    from filelock import FileLock

    # The library truncates the file that it opens.
    return FileLock(require_plain(path, single=True), timeout=timeout, thread_local=False)


def refuse_links(folder: Path, depth: int = 16) -> None:
    """Check, before work in a folder begins, that it holds plain files and folders only.

    Args:
        folder: may be missing.
        depth: folders below one another that are looked into, itself included.

    Raises:
        InputError: it holds a link, a pipe or a device, which is named.
    """
    try:
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda one: one.name):
                mode = entry.stat(follow_symlinks=False).st_mode
                if stat.S_ISDIR(mode) and depth > 1:
                    refuse_links(folder / entry.name, depth - 1)
                elif not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                    raise _refusal(folder / entry.name, mode)
    except FileNotFoundError:
        return


@contextmanager
def opened_folder(folder: Path, within: Path | None = None) -> Iterator[int]:
    """Open a folder without following links below ``within``; gives the descriptor.

    Args:
        folder: must exist.
        within: it, or a folder above it; None: ``folder`` itself, which may be a link.

    Raises:
        InputError: a folder below ``within`` is a link or no folder.
        OSError: one of them cannot be opened.
    """
    place = folder if within is None else within
    parts = folder.relative_to(place).parts
    if ".." in parts:
        raise InputError(f"{folder}: leads out of {place}; give a folder without '..' in it")
    descriptor = os.open(place, _FOLDER)
    try:
        for part in parts:
            place = place / part
            with _naming(place):
                # Asked first for the message: opening a link as a folder says "Not a directory".
                if stat.S_ISLNK(mode := _mode(descriptor, part)):
                    raise _refusal(place, mode)
                inner = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _private(folder: int, place: Path) -> Iterator[int]:
    """Make or empty a private folder, give its descriptor, and remove it in the end."""
    with _naming(place):
        _clear(folder, place)
        # For this user alone: the caller writes by path, and nobody may put a link on its way.
        os.mkdir(place.name, 0o700, dir_fd=folder)
        private = os.open(place.name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
    try:
        yield private
    finally:
        # The error of the block counts; what is left here, the next writer of the target removes.
        with suppress(OSError):
            for name in os.listdir(private):
                os.unlink(name, dir_fd=private)
            os.rmdir(place.name, dir_fd=folder)
        os.close(private)


def _clear(folder: int, place: Path) -> None:
    """Remove what a killed writer has left: a folder of plain files, or a file of old releases."""
    try:
        mode = _mode(folder, place.name)
    except FileNotFoundError:
        return
    if stat.S_ISREG(mode):
        os.unlink(place.name, dir_fd=folder)
        return
    if not stat.S_ISDIR(mode):
        raise _refusal(place, mode)
    left = os.open(place.name, _FOLDER | os.O_NOFOLLOW, dir_fd=folder)
    try:
        for name in os.listdir(left):
            if not stat.S_ISREG(inner := _mode(left, name)):
                raise _refusal(place / name, inner)
            os.unlink(name, dir_fd=left)
    finally:
        os.close(left)
    os.rmdir(place.name, dir_fd=folder)


def _open(path: Path, mode: str, within: Path | None, buffering: int, single: bool = False) -> Any:
    with opened_folder(path.parent, within) as folder, _naming(path):
        _check(folder, path, single)
        file = os.open(path.name, _MODES[mode] | _PLAIN, 0o666, dir_fd=folder)
    # Once more: something else may have been put there between the look and the opening.
    state = os.fstat(file)
    if not stat.S_ISREG(state.st_mode) or (single and state.st_nlink > 1):
        os.close(file)
        raise _refusal(path, state.st_mode)
    return os.fdopen(file, mode, buffering=buffering, encoding=None if "b" in mode else "utf-8")


def _check(folder: int, path: Path, single: bool = False) -> None:
    """Refuse what is neither missing nor a plain file, and where ``single`` a second name."""
    try:
        state = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return
    if not stat.S_ISREG(state.st_mode) or (single and state.st_nlink > 1):
        raise _refusal(path, state.st_mode)


def _remove_link(folder: int, path: Path) -> None:
    with suppress(FileNotFoundError), _naming(path):
        if stat.S_ISLNK(_mode(folder, path.name)):
            os.unlink(path.name, dir_fd=folder)


def _mode(folder: int, name: str) -> int:
    return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode


def _refusal(path: Path, mode: int) -> InputError:
    if stat.S_ISLNK(mode):
        what = "is a symbolic link"
    elif stat.S_ISREG(mode):
        what = "is a second name (hard link) of another file"
    else:
        what = "is not a plain file"
    return InputError(
        f"{path}: {what}, and nothing is read or written through it; remove it, or give another "
        "folder"
    )


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Let errors of the disk bear the whole path, and links be refused by it."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _refusal(path, stat.S_IFLNK) from error
        if error.errno is not None:
            # Calls by descriptor know the last part of the path only.
            error.filename, error.filename2 = str(path), None
        raise
