"""The population of an ecosystem in columns; a profile object is made when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.agents.lazy_imports import pa, pc
from virsci_society.agents.profile import Profile
from virsci_society.society.literature.columns import ArrowSequence

MASK = "Scientist"
"""The word of a masked name, before its number."""


class People(ArrowSequence[Profile]):
    """A sequence of profiles over an Arrow table with one column per field of ``Profile``."""

    row_type = Profile

    @staticmethod
    def schema() -> pa.Schema:
        """The columns and their types; only ``citations`` may be null."""
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

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Masked names, by row."""
        return tuple(self.table["id"].to_pylist())

    @property
    def rows(self) -> dict[str, int]:
        """Rows by masked name, made anew at every call."""
        return {name: row for row, name in enumerate(self.names)}

    @cached_property
    def papers(self) -> IntArray:
        """Numbers of papers before the boundary, by row."""
        return np.asarray(self.table["papers"].to_numpy(), dtype=np.int64)

    @cached_property
    def citations(self) -> FloatArray:
        """Citations before the boundary, by row; nan where the source knows none."""
        return np.asarray(self.table["citations"].to_numpy(), dtype=np.float64)

    @cached_property
    def topics(self) -> Sequence[str]:
        """Main topics, by row: the first interest, or an empty string."""
        return self._first_of("interests")

    @cached_property
    def workplaces(self) -> Sequence[str]:
        """The institution of each person, by row: the first affiliation, or an empty string."""
        return self._first_of("affiliations")

    def _first_of(self, name: str) -> Sequence[str]:
        """The first text of a column of lists, by row, or an empty string."""
        lists = self.table[name]
        lengths = pc.list_value_length(lists).to_numpy()
        starts = np.cumsum(lengths) - lengths
        places = pa.array(starts, mask=lengths == 0)
        first = pc.list_flatten(lists).take(places).combine_chunks()
        # The same few words stand for many: each is one string in memory.
        texts = pc.fill_null(first, "").dictionary_encode()
        words = texts.dictionary.to_pylist()
        return tuple(map(words.__getitem__, texts.indices.to_pylist()))

    @cached_property
    def institutions(self) -> tuple[str, ...]:
        """The first affiliations of all people, in alphabetical order, each once."""
        lists = self.table["affiliations"].combine_chunks()
        some = lists.filter(pc.greater(pc.list_value_length(lists), 0))
        return tuple(sorted(pc.unique(pc.list_element(some, 0)).to_pylist()))

    def row_of(self, name: str) -> int | None:
        """Look up the row of a masked name; None where nobody has it."""
        if not self._numbered:
            return self.ids.row_of(name)
        number = name.removeprefix(MASK)
        if not (number.isascii() and number.isdigit() and len(number) < 19):
            return None
        row = int(number)
        return row if row < len(self) and name == f"{MASK}{row}" else None

    @cached_property
    def _numbered(self) -> bool:
        """Whether names are numbered by row, as in every ecosystem that is built."""
        return bool(self.table["id"].equals(pa.chunked_array([numbered_names(MASK, len(self))])))


def numbered_names(word: str, count: int) -> pa.Array:
    """Make names of a word and a number: ``Scientist0`` to ``Scientist{count - 1}``."""
    numbers = pa.array(np.arange(count)).cast(pa.large_string())
    empty = pa.scalar("", pa.large_string())
    return pc.binary_join_element_wise(pa.scalar(word, pa.large_string()), numbers, empty)
