"""People: the population of an ecosystem in columns; a profile is made when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from agents.profile import Profile

if TYPE_CHECKING:
    import pyarrow as pa

LISTS = ("affiliations", "interests", "collaborators")


class People(Sequence[Profile]):
    """A sequence of profiles over an Arrow table with one column per field of ``Profile``.

    Args:
        table: the columns of ``schema()``, in any number of chunks.
    """

    def __init__(self, table: pa.Table) -> None:
        self.table = table.select(schema().names).combine_chunks()

    @classmethod
    def of(cls, profiles: Iterable[Profile]) -> People:
        """The same profiles in columns; ``People`` are taken as they are."""
        import pyarrow as pa

        if isinstance(profiles, People):
            return profiles
        rows = list(profiles)
        columns = {
            field.name: pa.array([_plain(one, field.name) for one in rows], field.type)
            for field in schema()
        }
        return cls(pa.table(columns, schema=schema()))

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @overload
    def __getitem__(self, row: int) -> Profile: ...

    @overload
    def __getitem__(self, row: slice) -> People: ...

    def __getitem__(self, row: int | slice) -> Profile | People:
        if isinstance(row, slice):
            return People(self.table.take(list(range(*row.indices(len(self))))))
        place = range(len(self))[row]
        return _profile({name: column[place].as_py() for name, column in self._columns})

    def __iter__(self) -> Iterator[Profile]:
        for batch in self.table.to_batches(max_chunksize=4096):
            yield from map(_profile, batch.to_pylist())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, People):
            return bool(self.table.equals(other.table))
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Masked names, by row."""
        return tuple(self.table["id"].to_pylist())

    @cached_property
    def papers(self) -> npt.NDArray[np.int64]:
        """Numbers of papers before the boundary, by row."""
        return np.asarray(self.table["papers"].to_numpy(), dtype=np.int64)

    @cached_property
    def topics(self) -> Sequence[str]:
        """Main topics (the first interest, or an empty string), by row."""
        return tuple(row[0] if row else "" for row in self.table["interests"].to_pylist())

    @cached_property
    def _columns(self) -> list[tuple[str, Any]]:
        return [
            (name, self.table[name].chunk(0) if self.table[name].num_chunks else self.table[name])
            for name in self.table.column_names
        ]


def schema() -> pa.Schema:
    """The columns of a population."""
    import pyarrow as pa

    texts = pa.large_list(pa.large_string())
    return pa.schema(
        [
            ("id", pa.large_string()),
            ("affiliations", texts),
            ("interests", texts),
            ("papers", pa.int64()),
            ("citations", pa.int64()),
            ("collaborators", texts),
        ]
    )


def _plain(profile: Profile, name: str) -> Any:
    value = getattr(profile, name)
    return list(value) if name in LISTS else value


def _profile(row: dict[str, Any]) -> Profile:
    return Profile(**row | {name: tuple(row[name]) for name in LISTS})
