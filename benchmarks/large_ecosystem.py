"""A large ecosystem for measurements of speed and memory: copies of a small invented one.

Each copy is a community of its own, whose people are spread over all rows, and the vectors of the
copies differ by noise. What such papers say means nothing.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from virsci_society.society.ecosystem.build import paper_texts
from virsci_society.society.ecosystem.ecosystem import Ecosystem, encode_interests
from virsci_society.society.ecosystem.knowledge_bank import People
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
from virsci_society.society.literature.embedding.lsa import LSAEmbedding
from virsci_society.society.literature.papers import Papers

SCIENTISTS, PAPERS = 1_000, 2_000
"""Size of a copy."""
DIMENSIONS = 64
NOISE = 0.7
"""Length of the noise that is added to vectors of length 1."""


def large_ecosystem(scientists: int) -> Ecosystem:
    """An ecosystem of a multiple of ``SCIENTISTS`` people, with twice as many papers."""
    copies = scientists // SCIENTISTS
    small = Synthetic(scientists=SCIENTISTS, papers=PAPERS).generate(1)
    embedding = LSAEmbedding.fit(paper_texts(small.past), seed=1, dim=DIMENSIONS)
    past, later = (embedding.encode(paper_texts(s)) for s in (small.past, small.contemporary))
    papers = {"id": 9, "authors": 1, "references": 9}
    rng = np.random.default_rng(1)
    return replace(
        small,
        past=Papers(_repeated(small.past.table, copies, papers)),
        contemporary=Papers(_repeated(small.contemporary.table, copies, papers)),
        profiles=People(_repeated(small.profiles.table, copies, {"id": 1, "collaborators": 1})),
        career_starts=np.repeat(small.career_starts, copies),
        coauthors=sparse.csr_array(
            sparse.kron(small.coauthors, sparse.identity(copies, dtype=np.int32), format="csr")
        ),
        embedding=embedding,
        past_vectors=_noisy(past, copies, rng),
        contemporary_vectors=_noisy(later, copies, rng),
        interest_vectors=_noisy(encode_interests(small.profiles, embedding), copies, rng),
    )


def _repeated(table: pa.Table, copies: int, named: dict[str, int]) -> pa.Table:
    """Repeat each row; in copy k, ``word{n}`` becomes ``word{n * copies + k}`` in some columns.

    The number of digits of each of these columns is given, because papers of a date are in the
    order of their ids.
    """
    numbers = np.tile(np.arange(copies), table.num_rows)
    repeated = table.take(np.repeat(np.arange(table.num_rows), copies)).combine_chunks()
    for name, digits in named.items():
        column = repeated[name].combine_chunks()
        if pa.types.is_large_list(column.type):
            lengths = pc.list_value_length(column).to_numpy()
            items = _renamed(column.flatten(), copies, np.repeat(numbers, lengths), digits)
            offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]))
            column = pa.LargeListArray.from_arrays(offsets, items)
        else:
            column = _renamed(column, copies, numbers, digits)
        repeated = repeated.set_column(table.schema.get_field_index(name), name, column)
    return repeated


def _renamed(names: pa.Array, copies: int, numbers: Any, digits: int) -> pa.Array:
    parts = pc.extract_regex(names, r"^(?P<word>\D+)(?P<number>\d+)$")
    counted = pc.add(pc.multiply(parts.field("number").cast(pa.int64()), copies), numbers)
    padded = pc.utf8_lpad(counted.cast(pa.large_string()), digits, "0")
    return pc.binary_join_element_wise(parts.field("word"), padded, pa.scalar("", padded.type))


def _noisy(rows: Any, copies: int, rng: np.random.Generator) -> Any:
    """Repeat each row with noise, at length 1."""
    noisy = np.repeat(rows, copies, axis=0)
    noise = rng.standard_normal(noisy.shape, dtype=np.float32)
    noisy += noise * np.float32(NOISE / noisy.shape[1] ** 0.5)
    return noisy / np.linalg.norm(noisy, axis=1, keepdims=True)
