"""The files of an ecosystem folder: tables, arrays and their hashes.

Rows in and rows out; what they mean together is the ecosystem's affair. Nothing is pickled.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from agents.errors import InputError
from agents.profile import Profile
from society.literature.paper import Paper

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MANIFEST = "manifest.json"
PAPERS = "papers.parquet"
SCIENTISTS = "scientists.parquet"
COAUTHORS = "coauthors.npz"
KEY = "key.parquet"
FORMAT = 1
AGAIN = "build the ecosystem again"


def embedding_folder(name: str) -> str:
    """Where an embedding of this name stands inside the folder."""
    return "embeddings/" + re.sub(r"[^\w.\-]", "_", name)


def write_papers(path: Path, papers: Sequence[Paper]) -> None:
    """Write papers, past and contemporary alike, one row each."""
    import pyarrow as pa

    texts = pa.list_(pa.string())
    columns = {
        "id": pa.array([p.id for p in papers], pa.string()),
        "title": pa.array([p.title for p in papers], pa.string()),
        "abstract": pa.array([p.abstract for p in papers], pa.string()),
        "year": pa.array([p.year for p in papers], pa.int64()),
        "date": pa.array([p.date for p in papers], pa.float64()),
        "authors": pa.array([list(p.authors) for p in papers], texts),
        "venue": pa.array([p.venue for p in papers], pa.string()),
        "keywords": pa.array([list(p.keywords) for p in papers], texts),
        "citations": pa.array([p.citations for p in papers], pa.int64()),
        "references": pa.array([list(p.references) for p in papers], texts),
    }
    _write_table(path, columns)


def read_papers(path: Path) -> list[Paper]:
    """Read what ``write_papers`` wrote."""
    lists = ("authors", "keywords", "references")
    papers = []
    for row in _read_table(path):
        fields: dict[str, Any] = row | {name: tuple(row[name]) for name in lists}
        papers.append(Paper(**fields))
    return papers


def write_scientists(
    path: Path, profiles: Sequence[Profile], career_starts: Sequence[int | None]
) -> None:
    """Write profiles and career starts, one row per scientist."""
    import pyarrow as pa

    texts = pa.list_(pa.string())
    columns = {
        "id": pa.array(range(len(profiles)), pa.int64()),
        "name": pa.array([p.id for p in profiles], pa.string()),
        "affiliations": pa.array([list(p.affiliations) for p in profiles], texts),
        "interests": pa.array([list(p.interests) for p in profiles], texts),
        "papers": pa.array([p.papers for p in profiles], pa.int64()),
        "citations": pa.array([p.citations for p in profiles], pa.int64()),
        "collaborators": pa.array([list(p.collaborators) for p in profiles], texts),
        "career_start": pa.array(list(career_starts), pa.int64()),
    }
    _write_table(path, columns)


def read_scientists(path: Path) -> tuple[list[Profile], list[int | None]]:
    """Read what ``write_scientists`` wrote."""
    rows = _read_table(path)
    profiles = [
        Profile(
            id=row["name"],
            affiliations=tuple(row["affiliations"]),
            interests=tuple(row["interests"]),
            papers=row["papers"],
            citations=row["citations"],
            collaborators=tuple(row["collaborators"]),
        )
        for row in rows
    ]
    return profiles, [row["career_start"] for row in rows]


def write_key(path: Path, key: Mapping[str, tuple[str, str]]) -> None:
    """Write which source id and name stand behind each masked name."""
    import pyarrow as pa

    columns = {
        "masked": pa.array(list(key), pa.string()),
        "id": pa.array([source for source, _ in key.values()], pa.string()),
        "name": pa.array([name for _, name in key.values()], pa.string()),
    }
    _write_table(path, columns)


def write_counts(path: Path, counts: csr_array) -> None:
    """Write a sparse matrix of counts as plain arrays."""
    shape = np.asarray(counts.shape, dtype=np.int64)
    np.savez(path, data=counts.data, indices=counts.indices, indptr=counts.indptr, shape=shape)


def read_counts(path: Path) -> csr_array:
    """Read what ``write_counts`` wrote."""
    from scipy.sparse import csr_array

    try:
        with np.load(path, allow_pickle=False) as arrays:
            parts = (arrays["data"], arrays["indices"], arrays["indptr"])
            rows, columns = (int(side) for side in arrays["shape"])
            counts = csr_array(parts, shape=(rows, columns))
            counts.check_format(full_check=True)
    except (OSError, KeyError, ValueError) as error:
        raise InputError(f"{path}: not a saved matrix of counts ({error}); {AGAIN}") from error
    return counts


def write_rows(path: Path, rows: npt.NDArray[np.float32]) -> None:
    """Write vectors."""
    np.save(path, np.ascontiguousarray(rows, dtype=np.float32), allow_pickle=False)


def read_rows(path: Path, shape: tuple[int, int]) -> npt.NDArray[np.float32]:
    """Read vectors of a known shape."""
    try:
        rows: npt.NDArray[np.float32] = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: vectors cannot be read ({error}); {AGAIN}") from error
    if rows.shape != shape or rows.dtype != np.float32:
        raise InputError(
            f"{path}: vectors of shape {rows.shape} and type {rows.dtype}, expected float32 "
            f"of shape {shape}; {AGAIN}"
        )
    return rows


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write the manifest with the hash of every other file, except the key file."""
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.name not in (MANIFEST, KEY))
    hashes = {path.relative_to(folder).as_posix(): file_hash(path) for path in files}
    text = json.dumps({**manifest, "format": FORMAT, "files": hashes}, indent=2, sort_keys=True)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest and verify the hash of every file it lists."""
    path = folder / MANIFEST
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give the path of an ecosystem folder")
    if not path.is_file():
        raise InputError(f"{path}: missing; {folder} is not an ecosystem folder, {AGAIN}")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        files, version = dict(manifest["files"]), manifest["format"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not a manifest ({error!r}); {AGAIN}") from error
    if version != FORMAT:
        raise InputError(f"{path}: format {version!r}, this version reads {FORMAT}; {AGAIN}")
    for needed in (PAPERS, SCIENTISTS, COAUTHORS):
        if needed not in files:
            raise InputError(f"{path}: lists no hash for {needed}; {AGAIN}")
    for name, expected in files.items():
        _verify(folder, name, expected)
    return dict(manifest)


def file_hash(path: Path) -> str:
    """SHA-256 of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _verify(folder: Path, name: str, expected: object) -> None:
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"{folder / MANIFEST}: {name!r} lies outside the folder; {AGAIN}")
    if not path.is_file():
        raise InputError(f"{path}: missing though the manifest lists it; restore it or {AGAIN}")
    if file_hash(path) != expected:
        raise InputError(
            f"{path}: its hash is not the one in {MANIFEST}, so it was changed or damaged; "
            f"restore it or {AGAIN}"
        )


def _write_table(path: Path, columns: Mapping[str, Any]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table(dict(columns)), path, compression="zstd")


def _read_table(path: Path) -> list[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{path}: not a readable table ({error}); {AGAIN}") from error
    return rows
