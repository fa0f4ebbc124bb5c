"""A list that grows at its end and keeps all but its youngest items compressed.

A long run writes many thousands of events and rows, of which little more than their number is read
before it ends.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar, overload

Item = TypeVar("Item")

BLOCK = 4096
"""So many items are compressed together."""
LEVEL = 1
"""Of zlib: higher ones take several times as long for a few percent."""


class PackedList(Sequence[Item]):
    """Items in the order in which they were added, equal to a list of the same ones.

    They must not be changed after they were added. To read one by its place all are unpacked, so
    whoever reads many goes through them.

    Args:
        restore: makes an item of what JSON holds of it, as ``tuple`` does of a list.
    """

    def __init__(self, restore: Callable[[Any], Item]) -> None:
        self._restore = restore
        self._blocks: list[bytes] = []
        self._packed = 0
        self._recent: list[Item] = []

    def append(self, item: Item) -> None:
        """Add one item."""
        self._recent.append(item)

    def extend(self, items: Iterable[Item]) -> None:
        """Add some items."""
        self._recent += items

    def pack(self) -> None:
        """Compress what there is, if that is at least a block; it cannot be cut off any more."""
        if len(self._recent) >= BLOCK:
            # In ASCII, so that half a pair of surrogates comes back as well.
            text = json.dumps(self._recent, default=_number, separators=(",", ":"))
            self._blocks.append(zlib.compress(text.encode("ascii"), LEVEL))
            self._packed += len(self._recent)
            self._recent = []

    def cut(self, length: int) -> None:
        """Keep so many items, at least those that are compressed."""
        del self._recent[max(length - self._packed, 0) :]

    def __len__(self) -> int:
        return self._packed + len(self._recent)

    def __iter__(self) -> Iterator[Item]:
        for block in self._blocks:
            yield from map(self._restore, json.loads(zlib.decompress(block)))
        yield from self._recent

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        return list(self)[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


def _number(value: Any) -> Any:
    """A number of numpy as one of Python, which is the same to the last bit."""
    return value.item()
