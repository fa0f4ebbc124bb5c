"""AuthorIds: who stands at which place of which paper, out of AMiner-Author2Paper.txt.

The join runs through temporary files: each relation goes to one of 64 buckets by its paper, each
bucket is sorted alone and then only mapped into memory. So no more than a sixty-fourth of the
relations (24 bytes each) is in memory at a time, whatever their order or that of the papers.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from society.ecosystem.importers.files import Found, read_lines

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from society.ecosystem.importers.reading import Reading

BUCKETS = 64
BUFFERED = 2**14
"""Numbers of a bucket that are kept back before they are written."""
RELATIONS, MALFORMED = "relations", "malformed relations"


class AuthorIds:
    """Author ids by paper and place in its list of authors, places counted from 0."""

    def __init__(self, buckets: list[npt.NDArray[np.int64]], first: int) -> None:
        self._buckets = buckets
        self._first = first

    def of(self, paper: str) -> dict[int, str]:
        """Place -> author id of a paper, as far as there are relations; the first of two."""
        if not _is_number(paper):
            return {}
        number = int(paper)
        bucket = self._buckets[number % BUCKETS]
        low, high = bucket[:, 0].searchsorted([number, number + 1])
        rows = bucket[low:high][::-1].tolist()
        return {place - self._first: str(author) for _, place, author in rows}


@contextmanager
def author_ids(files: Iterable[Found], reading: Reading) -> Iterator[AuthorIds]:
    """The relations of the files, for as long as the context lasts.

    ``reading.beside`` gets the numbers of relations and of malformed ones, which are shown.
    """
    with TemporaryDirectory(prefix="society-", ignore_cleanup_errors=True) as folder:
        paths = [Path(folder, f"{number:02}.i64") for number in range(BUCKETS)]
        first = _scatter(files, paths, reading)
        yield AuthorIds([_sorted(path) for path in paths], first)


def _scatter(files: Iterable[Found], paths: list[Path], reading: Reading) -> int:
    """Write relations to their buckets; the place of a first author: 0 if any has it, else 1."""
    held = [array("q") for _ in paths]
    found = malformed = 0
    first = 1
    for file in files:
        for line in read_lines(file):
            numbers = _numbers(line.data)
            if numbers is None:
                malformed += 1
                reading.show(f"{file.label}:line {line.number}", "not four numbers")
            elif numbers:
                _, author, paper, place = numbers
                bucket = held[paper % BUCKETS]
                bucket.extend((paper, place, author))
                found += 1
                first = min(first, place)
                if len(bucket) >= BUFFERED:
                    _flush(bucket, paths[paper % BUCKETS])
    for bucket, path in zip(held, paths, strict=True):
        _flush(bucket, path)
    if found or malformed:
        reading.beside |= {RELATIONS: found, MALFORMED: malformed}
    return first


def _flush(bucket: array[int], path: Path) -> None:
    with path.open("ab") as file:
        bucket.tofile(file)
    del bucket[:]


def _numbers(data: bytes | None) -> list[int] | None:
    """The numbers of a relation, none for a blank line; None where it is malformed."""
    words = (b"?" if data is None else data).split()
    if not words:
        return []
    if len(words) != 4 or not all(word.isdigit() and len(word) < 19 for word in words):
        return None
    return [int(word) for word in words]


def _is_number(id_: str) -> bool:
    return id_.isascii() and id_.isdigit() and len(id_) < 19


def _sorted(path: Path) -> npt.NDArray[np.int64]:
    import numpy as np

    if not path.stat().st_size:
        return np.zeros((0, 3), dtype=np.int64)
    rows = np.memmap(path, dtype=np.int64, mode="r+").reshape(-1, 3)
    rows[:] = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
    return rows
