"""A check of SQLite's write-ahead log, whose damaged frames SQLite passes over without a word.

SQLite reads the log up to the first frame whose checksum does not fit, because a kill may have cut
the last transaction short. A frame that is damaged further ahead would so take every later commit
with it. Written by hand because SQLite tells nobody how much of a log it has left out.

Source: "Database File Format", section 4 ("The Write-Ahead Log"), sqlite.org.
"""

from __future__ import annotations

import struct
from pathlib import Path

from agents.errors import InputError
from agents.files.atomic_files import open_plain

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
    size = _FRAME.size + page
    frames = [content[at : at + size] for at in range(_HEADER.size, len(content) - size + 1, size)]
    return _are_whole(frames, salts, order, sums)


def _are_whole(frames: list[bytes], salts: list[int], order: str, sums: tuple[int, int]) -> bool:
    commits = 0
    broken = False
    for frame in frames:
        _, commit, *own, first, second = _FRAME.unpack_from(frame)
        if not broken:
            sums = _checksum(frame[:8], order, sums)
            sums = _checksum(frame[_FRAME.size :], order, sums)
            broken = own != salts or sums != (first, second)
        if broken and own == salts:
            # Each commit was on the disk before the next one began: a frame behind a later commit
            # proves that the broken one had been whole.
            if commits:
                return False
            commits += bool(commit)
    return True


def _checksum(data: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) & 0xFFFFFFFF
        second = (second + odd + first) & 0xFFFFFFFF
    return first, second
