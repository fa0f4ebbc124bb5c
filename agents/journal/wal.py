"""A check of SQLite's write-ahead log, whose damaged frames SQLite passes over without a word.

SQLite reads the log up to the first frame whose checksum does not fit, because a kill may have cut
the last transaction short. A frame that is damaged further ahead would so take every later commit
with it. Written by hand because SQLite tells nobody how much of a log it has left out.

Source: "Database File Format", section 4 ("The Write-Ahead Log"), sqlite.org.
"""

from __future__ import annotations

import struct
from pathlib import Path

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import open_plain

_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_BIG_ENDIAN, _LITTLE_ENDIAN = 0x377F0683, 0x377F0682


def is_log_whole(path: Path) -> bool:
    """Is a write-ahead log undamaged, but for a last transaction that a kill may have cut short?

    Args:
        path: of the log; may be missing.

    Raises:
        InputError: it is a link or cannot be read.
    """
    try:
        with open_plain(path) as file:
            content = file.read()
    except FileNotFoundError:
        return True
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    if len(content) <= _HEADER.size:
        return True
    magic, _, page, _, *salts, first, second = _HEADER.unpack_from(content)
    order = {_BIG_ENDIAN: ">", _LITTLE_ENDIAN: "<"}.get(magic)
    if order is None or not 512 <= page <= 65536:
        return False
    sums = _checksum(content[:24], order, (0, 0))
    if sums != (first, second):
        return False
    broken = _first_broken(content, _FRAME.size + page, tuple(salts), order, sums)
    return _commits_after(content, broken, struct.pack(">2I", *salts)) < 2


def _first_broken(
    content: bytes, size: int, salts: tuple[int, ...], order: str, sums: tuple[int, int]
) -> int:
    """Where the first frame begins that is incomplete, or of another log, or damaged."""
    for at in range(_HEADER.size, len(content), size):
        if at + size > len(content):
            return at
        _, _, *own, first, second = _FRAME.unpack_from(content, at)
        sums = _checksum(content[at : at + 8], order, sums)
        sums = _checksum(content[at + _FRAME.size : at + size], order, sums)
        if tuple(own) != salts or sums != (first, second):
            return at
    return len(content)


def _commits_after(content: bytes, broken: int, salts: bytes) -> int:
    """How many commits have left a frame behind the first broken one, wherever it lies.

    Each commit was on the disk before the next one began. So a frame behind a later commit proves
    that the broken frame had been whole, and counts as a second commit.
    """
    commits, last = 0, False
    at = content.find(salts, broken)
    while at >= 0:
        if last:
            return 2
        last = content[at - 4 : at] != bytes(4)
        commits += last
        at = content.find(salts, at + len(salts))
    return commits


def _checksum(data: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return first, second
