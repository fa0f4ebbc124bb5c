"""File writes that appear whole or not at all, whatever stops the writer.

The content goes to a temporary file beside the target, which then takes the target's place. Nobody
who reads the target ever sees half of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SUFFIX = ".unfinished"
"""What the name of the temporary file ends with."""


@contextmanager
def replacing(target: Path, *, durable: bool = False, shared: bool = False) -> Iterator[Path]:
    """Give the path of a temporary file, which takes the place of ``target`` at the end.

    Where the block fails, the target is left as it was; the temporary file stays behind, and the
    next writer overwrites it.

    Args:
        target: the file to make or to replace; its folder exists.
        durable: True: the content has reached the disk before it takes the target's place.
        shared: True: several processes may write this target at once, so that the temporary file
            bears the number of this one.

    Yields:
        Where to write.

    Raises:
        OSError: the file cannot be written, or cannot take the target's place.
    """
    own = f".{os.getpid()}" if shared else ""
    temporary = target.with_name(f"{target.name}{own}{SUFFIX}")
    yield temporary
    if durable:
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
    os.replace(temporary, target)


def write_atomically(
    target: Path, text: str, *, durable: bool = False, shared: bool = False
) -> None:
    """Write a text file in UTF-8, whole or not at all; a link in its place is replaced.

    Args:
        target: the file to make or to replace; its folder exists.
        text: all that it will hold.
        durable: as for ``replacing``.
        shared: as for ``replacing``.

    Raises:
        OSError: as for ``replacing``.
    """
    with replacing(target, durable=durable, shared=shared) as temporary:
        # Made anew and exclusively: a link that somebody put there is never written through.
        temporary.unlink(missing_ok=True)
        with temporary.open("x", encoding="utf-8") as file:
            file.write(text)
