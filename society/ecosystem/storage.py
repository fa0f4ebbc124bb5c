"""Reading and writing the files of an ecosystem folder, and their manifest with hashes.

That the files belong together is checked by ``Ecosystem``. Nothing is pickled.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from virsci_society.agents.arrays import DAMAGED_ARCHIVE, IntArray, VectorArray
from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import (
    holds_others,
    refuse_links,
    remove_file,
    replacing,
    write_atomically,
)
from virsci_society.agents.files.file_hashes import file_hash, signed, unsigned
from virsci_society.agents.files.json_files import read_json_object
from virsci_society.agents.lazy_imports import pa, pc, pq, sparse
from virsci_society.society.ecosystem.knowledge_bank import People
from virsci_society.society.literature.papers import Papers

MANIFEST = "manifest.json"
PAPERS = "papers.parquet"
SCIENTISTS = "scientists.parquet"
COAUTHORS = "coauthors.npz"
KEY = "key.parquet"
BEGUN = "incomplete"
"""Stands in the folder from the first file of an ecosystem to its manifest."""
FORMAT = 1
REBUILD_HINT = "build the ecosystem again"
"""How messages about a damaged folder end."""
ROWS_AT_ONCE = 65_536
CAREER_START = "career_start"
MAY_BE_NULL = ("citations", CAREER_START)


PAPER_COLUMNS = {
    name: name
    for name in (
        *("id", "title", "abstract", "year", "date", "authors"),
        *("venue", "keywords", "citations", "references"),
    )
}
"""Columns of the papers' file in their order, by their names in memory."""
PEOPLE_COLUMNS = {"id": "name"} | {
    name: name for name in ("affiliations", "interests", "papers", "citations", "collaborators")
}
"""Columns of the scientists' file by their names in memory; in the file, ``id`` is a row number."""


def embedding_folder(name: str) -> str:
    """The relative path of an embedding's folder inside an ecosystem's folder."""
    return "embeddings/" + re.sub(r"[^\w.\-]", "_", name)


def write_papers(path: Path, *parts: Papers) -> None:
    """Write papers, one row each: the past, then the contemporary ones."""
    _write_table(path, [part.table.select(list(PAPER_COLUMNS)) for part in parts])


def read_papers(path: Path) -> Papers:
    """Read what ``write_papers`` wrote; InputError where it cannot be read."""
    return Papers(_read_table(path, Papers.schema(), PAPER_COLUMNS))


def write_scientists(path: Path, people: People, career_starts: IntArray) -> None:
    """Write profiles and career starts, one row per scientist; an unknown start is null."""
    table = people.table.select(list(PEOPLE_COLUMNS)).rename_columns([*PEOPLE_COLUMNS.values()])
    table = table.add_column(0, "id", pa.array(np.arange(len(people))))
    starts = pa.array(career_starts, pa.int64(), mask=np.asarray(career_starts) == 0)
    _write_table(path, [table.append_column(CAREER_START, starts)])


def read_scientists(path: Path) -> tuple[People, IntArray]:
    """Read what ``write_scientists`` wrote; InputError where it cannot be read."""
    wanted = People.schema().append(pa.field(CAREER_START, pa.int64()))
    table = _read_table(path, wanted, PEOPLE_COLUMNS | {CAREER_START: CAREER_START})
    starts = table[CAREER_START].fill_null(0).to_numpy()
    return People(table), np.asarray(starts, dtype=np.int64)


def write_key(path: Path, key: Mapping[str, tuple[str, str]]) -> None:
    """Write the source id and real name behind each masked name."""
    columns = {
        "masked": pa.array(list(key), pa.string()),
        "id": pa.array([source for source, _ in key.values()], pa.string()),
        "name": pa.array([name for _, name in key.values()], pa.string()),
    }
    _write_table(path, [pa.table(columns)])


def write_counts(path: Path, counts: sparse.csr_array) -> None:
    """Write a sparse matrix of counts as plain arrays."""
    shape = np.asarray(counts.shape, dtype=np.int64)
    with replacing(path) as new:
        np.savez(new, data=counts.data, indices=counts.indices, indptr=counts.indptr, shape=shape)


def read_counts(path: Path) -> sparse.csr_array:
    """Read what ``write_counts`` wrote; InputError where it is damaged or no sparse matrix."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            parts = (arrays["data"], arrays["indices"], arrays["indptr"])
            rows, columns = (int(side) for side in arrays["shape"])
            counts = sparse.csr_array(parts, shape=(rows, columns))
            counts.check_format(full_check=True)
    except DAMAGED_ARCHIVE as error:
        raise InputError(
            f"{path}: not a saved matrix of counts ({error}); {REBUILD_HINT}"
        ) from error
    return counts


def write_rows(path: Path, rows: VectorArray) -> None:
    """Write vectors as a float32 array."""
    with replacing(path) as new:
        np.save(new, np.ascontiguousarray(rows, dtype=np.float32), allow_pickle=False)


def read_rows(path: Path, shape: tuple[int, int]) -> VectorArray:
    """Map the vectors of a file into memory, where they are read when they are used."""
    try:
        rows: VectorArray = np.load(path, allow_pickle=False, mmap_mode="r")
    except DAMAGED_ARCHIVE as error:
        raise InputError(f"{path}: vectors cannot be read ({error}); {REBUILD_HINT}") from error
    if rows.shape != shape or rows.dtype != np.float32:
        raise InputError(
            f"{path}: vectors of shape {rows.shape} and type {rows.dtype}, expected float32 "
            f"of shape {shape}; {REBUILD_HINT}"
        )
    return np.asarray(rows)


def require_place(folder: Path) -> None:
    """Raise InputError where an ecosystem cannot be written without touching somebody's files."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; give a folder")
    refuse_links(folder)
    # A run has a manifest, too, but none of the other files.
    whole = (folder / MANIFEST).is_file()
    if whole and any((folder / name).is_file() for name in (PAPERS, SCIENTISTS, COAUTHORS)):
        return
    if not (folder / BEGUN).is_file() and holds_others(folder, BEGUN):
        raise InputError(
            f"{folder}: holds other files than an ecosystem's; give another folder, or delete this "
            "one first"
        )


def require_same(folder: Path, expected: Mapping[str, Any]) -> None:
    """Raise InputError where a folder holds an ecosystem whose manifest says something else."""
    try:
        there = read_json_object(folder / MANIFEST)
    except (InputError, OSError, ValueError):
        return  # Nothing is there, or nothing that could be used.
    old, new = dict[str, Any](), dict[str, Any]()
    for name, fact in json.loads(json.dumps(expected)).items():
        for flat, section in ((old, there.get(name)), (new, fact)):
            flat |= section if isinstance(section, dict) else {name: section}
    for name in {**new, **old}:
        if old.get(name) != new.get(name):
            raise InputError(
                f"{folder}: holds another ecosystem, whose {name} is {old.get(name)!r}, not "
                f"{new.get(name)!r}; give another folder, or delete this one first"
            )


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write the manifest with the hash of every other file, except the key file, and its own."""
    # Without the key file, which may be taken away and leaves a whole ecosystem.
    files = sorted(
        p for p in folder.rglob("*") if p.is_file() and p.name not in (MANIFEST, KEY, BEGUN)
    )
    hashes = {path.relative_to(folder).as_posix(): file_hash(path) for path in files}
    data = signed({**manifest, "format": FORMAT, "files": hashes})
    text = json.dumps(data, indent=2, sort_keys=True)
    write_atomically(folder / MANIFEST, text + "\n")
    remove_file(folder / BEGUN)


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest and verify the hash of every file that it lists."""
    path = folder / MANIFEST
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give the path of an ecosystem folder")
    if not path.is_file():
        raise InputError(f"{path}: missing; {folder} is not an ecosystem folder, {REBUILD_HINT}")
    try:
        manifest = unsigned(read_json_object(path))
        files, version = dict(manifest["files"]), manifest["format"]
    except (InputError, OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not a manifest ({error!r}); {REBUILD_HINT}") from error
    if version != FORMAT:
        raise InputError(f"{path}: format {version!r}, this version reads {FORMAT}; {REBUILD_HINT}")
    for needed in (PAPERS, SCIENTISTS, COAUTHORS):
        if needed not in files:
            raise InputError(f"{path}: lists no hash for {needed}; {REBUILD_HINT}")
    for name, expected in files.items():
        one = folder / name
        # A folder may come from others: its manifest must not lead to files outside of it.
        if not one.resolve().is_relative_to(folder.resolve()):
            raise InputError(f"{path}: {name!r} lies outside the folder; {REBUILD_HINT}")
        if not one.is_file():
            raise InputError(
                f"{one}: missing though the manifest lists it; restore it or {REBUILD_HINT}"
            )
        if file_hash(one) != expected:
            raise InputError(
                f"{one}: its hash is not the one in {MANIFEST}, so it was changed or damaged; "
                f"restore it or {REBUILD_HINT}"
            )
    return dict(manifest)


def _write_table(path: Path, parts: Sequence[pa.Table]) -> None:
    # Without dictionaries: abstracts have nothing in common, and are read four times as fast.
    settings = {"compression": "zstd", "use_dictionary": False}
    with replacing(path) as new, pq.ParquetWriter(new, parts[0].schema, **settings) as writer:
        for part in parts:
            for start in range(0, len(part), ROWS_AT_ONCE):
                # One chunk, so that the bytes do not depend on how the table came about.
                writer.write_table(part.slice(start, ROWS_AT_ONCE).combine_chunks())


def _read_table(path: Path, schema: pa.Schema, columns: Mapping[str, str]) -> pa.Table:
    """The columns of a file under their names in memory, of the types of a schema."""
    try:
        # Unbuffered: a file on disk needs no second copy in memory, which costs seconds.
        table = pq.read_table(path, columns=list(columns.values()), pre_buffer=False)
        table = table.rename_columns(dict(zip(columns.values(), columns, strict=True)))
        table = table.select(schema.names).cast(schema)
    except (OSError, KeyError, pa.ArrowException) as error:
        raise InputError(f"{path}: not a readable table ({error}); {REBUILD_HINT}") from error
    for name in table.column_names:
        column = table[name]
        nulls = column.null_count
        if pa.types.is_large_list(column.type):
            nulls += pc.list_flatten(column).null_count
        if nulls and name not in MAY_BE_NULL:
            raise InputError(f"{path}: column {columns[name]!r} has empty cells; {REBUILD_HINT}")
    return table
