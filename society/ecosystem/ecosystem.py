"""The ecosystem, everything that is known at the boundary year, in memory and as a folder.

Nothing in the folder is pickled; its manifest has the hash of every file.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from virsci_society.agents.arrays import (
    DAMAGED_ARCHIVE,
    IntArray,
    VectorArray,
    require_vectors,
    zero_rows,
)
from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import (
    holds_others,
    make_folder,
    refuse_links,
    remove_file,
    remove_folder,
    replacing,
    write_atomically,
)
from virsci_society.agents.files.file_hashes import file_hash, signed, unsigned
from virsci_society.agents.files.json_files import read_json_object
from virsci_society.agents.lazy_imports import pa, pc, pq, sparse
from virsci_society.society.ecosystem.knowledge_bank import People, general_terms, interests_text
from virsci_society.society.literature.authorships import Authorships, authorships_of
from virsci_society.society.literature.embedding.base import (
    CachedEmbedding,
    Embedding,
    Progress,
    paper_text,
)
from virsci_society.society.literature.embedding.lsa import LSAEmbedding
from virsci_society.society.literature.embedding.registry import load_embedding
from virsci_society.society.literature.papers import DAYS_PER_YEAR, Papers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

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
"""Rows that are hashed or written at a time."""
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
MANY_PEOPLE = 20_000
"""Size of population above which the vectors of its interests are stored with the ecosystem; those
of a model that must be loaded or paid always are.
"""
INTERESTS = "interests.npy"


@dataclass(frozen=True, eq=False)
class Ecosystem:
    """What is known at the boundary, and the contemporary papers that measure novelty.

    Attributes:
        boundary: the calendar year whose 1 January is date 0.
        career_starts: year of each scientist's first paper; 0 where unknown (no year is 0).
        coauthors: joint papers before the boundary: symmetric, zero diagonal, integer, with rows in
            the order of ``profiles``.
        interest_vectors: one row per scientist; None where they are encoded when they are needed.
    """

    boundary: int
    past: Papers
    contemporary: Papers
    profiles: People
    career_starts: IntArray
    coauthors: csr_array
    embedding: Embedding
    past_vectors: VectorArray
    contemporary_vectors: VectorArray
    manifest: dict[str, Any] = field(default_factory=dict)
    key: Mapping[str, tuple[str, str]] | None = field(default=None, repr=False)
    interest_vectors: VectorArray | None = None

    def __post_init__(self) -> None:
        columns = {
            "past": Papers.of(self.past),
            "contemporary": Papers.of(self.contemporary),
            "profiles": People.of(self.profiles),
            "career_starts": np.asarray(self.career_starts, dtype=np.int64),
            "past_vectors": np.asarray(self.past_vectors, dtype=np.float32),
            "contemporary_vectors": np.asarray(self.contemporary_vectors, dtype=np.float32),
        }
        for name, column in columns.items():
            object.__setattr__(self, name, column)
        _require_split(self)
        people, later, dim = len(self.profiles), len(self.contemporary), self.embedding.dim
        interests = self.interest_vectors
        for what, part, expected in (
            ("co-author counts", self.coauthors.shape, (people, people)),
            ("career starts", self.career_starts.shape, (people,)),
            ("past vectors", self.past_vectors.shape, (len(self.past), dim)),
            ("contemporary vectors", self.contemporary_vectors.shape, (later, dim)),
            ("vectors of interests", (people if interests is None else len(interests),), (people,)),
        ):
            if part != expected:
                raise InputError(
                    f"{what} do not match the {expected[0]} they belong to; {REBUILD_HINT}"
                )
        # The knowledge bank of a society is made of the profiles.
        require_past(self.career_starts, self.boundary, "the knowledge bank")
        _require_vectors(self.past, self.past_vectors, self.embedding, "past papers")
        _require_vectors(
            self.contemporary, self.contemporary_vectors, self.embedding, "contemporary papers"
        )
        if interests is not None:  # zero for a scientist without any
            zero_rows(interests, "vectors of interests", REBUILD_HINT)

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of past papers, contemporary papers and scientists."""
        return {
            "past": len(self.past),
            "contemporary": len(self.contemporary),
            "scientists": len(self.profiles),
        }

    @cached_property
    def general_terms(self) -> frozenset[str]:
        """The interests that are general language, and are left out where a prompt shows some."""
        return general_terms(self.profiles.table["interests"], self.past.table["keywords"])

    @cached_property
    def authorships(self) -> Authorships:
        """The past papers by scientists of the population, as row numbers."""
        return authorships_of(self.past, self.profiles.rows, len(self.profiles))

    def digest(self) -> str:
        """Hash all that a society starts from; a reloaded folder has the same hash."""
        hasher = hashlib.sha256(f"{self.boundary} {self.embedding.revision}\n".encode())
        for columns in (self.past, self.contemporary, self.profiles):
            hasher.update(columns.digest())
        counts = self.coauthors
        for numbers in (self.career_starts, counts.indptr, counts.indices, counts.data):
            # In one width and byte order, so that the hash is the same on every machine.
            hasher.update(np.asarray(numbers, dtype="<i8").tobytes())
        for rows in (self.past_vectors, self.contemporary_vectors):
            for start in range(0, len(rows), ROWS_AT_ONCE):
                hasher.update(np.asarray(rows[start : start + ROWS_AT_ONCE], dtype="<f4").tobytes())
        return hasher.hexdigest()

    def require_runnable(self) -> None:
        """Check that a society can start from this."""
        for what, part in {"past papers": self.past, "scientists": self.profiles}.items():
            if not part:
                raise InputError(
                    f"the ecosystem ({self.counts}) has no {what}; a run needs some: "
                    "choose another boundary or weaker filters"
                )

    def save(self, folder: Path | str, *, key: bool = False) -> None:
        """Write the folder; an existing ecosystem is replaced."""
        target = Path(folder)
        if key and self.key is None:
            raise InputError(f"{target}: no key is known for this ecosystem; save without it")
        require_place(target)
        make_folder(target)
        write_atomically(target / BEGUN, "The ecosystem in this folder is incomplete.\n")
        # First, so that a write that is cut short is not taken for an ecosystem.
        for name in (MANIFEST, PAPERS, SCIENTISTS, COAUTHORS):
            remove_file(target / name)
        remove_file(target / KEY)
        remove_folder(target / "embeddings")
        write_papers(target / PAPERS, self.past, self.contemporary)
        write_scientists(target / SCIENTISTS, self.profiles, self.career_starts)
        write_counts(target / COAUTHORS, self.coauthors)
        vectors = target / embedding_folder(self.embedding.name)
        make_folder(vectors)
        self.embedding.save(vectors)
        write_rows(vectors / "past.npy", self.past_vectors)
        write_rows(vectors / "contemporary.npy", self.contemporary_vectors)
        few = len(self.profiles) <= MANY_PEOPLE and isinstance(self.embedding, LSAEmbedding)
        interests = self.interest_vectors
        if interests is None and not few:
            interests = encode_interests(self.profiles, self.embedding)
        if interests is not None:
            write_rows(vectors / INTERESTS, interests)
        if key and self.key is not None:
            columns = {
                "masked": pa.array(list(self.key), pa.string()),
                "id": pa.array([source for source, _ in self.key.values()], pa.string()),
                "name": pa.array([name for _, name in self.key.values()], pa.string()),
            }
            _write_table(target / KEY, [pa.table(columns)])
        # The manifest comes last: a folder without one is no ecosystem.
        facts = {"boundary": self.boundary, "counts": self.counts}
        embeddings = {"embeddings": [self.embedding.name]}
        write_manifest(target, self.manifest | facts | embeddings)

    @classmethod
    def load(cls, folder: Path | str) -> Ecosystem:
        """Read a folder and verify the hash of every file."""
        source = Path(folder)
        manifest = read_manifest(source)
        boundary, names = manifest.get("boundary"), manifest.get("embeddings")
        if not isinstance(boundary, int) or not names:
            raise InputError(
                f"{source / MANIFEST}: boundary {boundary!r}, embeddings {names}; {REBUILD_HINT}"
            )
        papers = read_papers(source / PAPERS)
        early = int((papers.dates < 0).sum())
        profiles, career_starts = read_scientists(source / SCIENTISTS)
        vectors = source / embedding_folder(str(names[0]))
        encoder = load_embedding(vectors)
        later, dim = len(papers) - early, encoder.dim
        file, shape = vectors / INTERESTS, (len(profiles), dim)
        try:
            interests = read_rows(file, shape) if file.is_file() else None
            return cls(
                boundary=boundary,
                past=papers[:early],
                contemporary=papers[early:],
                profiles=profiles,
                career_starts=career_starts,
                coauthors=read_counts(source / COAUTHORS),
                embedding=encoder,
                past_vectors=read_rows(vectors / "past.npy", (early, dim)),
                contemporary_vectors=read_rows(vectors / "contemporary.npy", (later, dim)),
                manifest=manifest,
                interest_vectors=interests,
            )
        except InputError as error:
            raise InputError(f"{source}: {error}") from error


def require_past(years: IntArray, boundary: int, what: str) -> None:
    """Raise an error if something that scientists may know is of the boundary year or later."""
    if len(years) and years.max() >= boundary:
        raise InputError(
            f"{what} would contain a paper of {years.max()}, but scientists know nothing from the "
            f"boundary {boundary} on"
        )


def encode_interests(
    people: People, embedding: Embedding, progress: Progress | None = None
) -> VectorArray:
    """Encode the interests of every scientist as the knowledge bank does (people x dim)."""
    return embedding.encode([interests_text(one) for one in people], progress)


def _require_vectors(papers: Papers, rows: VectorArray, embedding: Embedding, what: str) -> None:
    """Check that vectors can be compared; only unknown words have zero vectors."""
    zero = zero_rows(rows, what, REBUILD_HINT, slack=0.01)[:MANY_PEOPLE]
    if not len(zero):
        return
    if not isinstance(embedding, CachedEmbedding):
        texts = papers.table.select(["title", "abstract"]).take(zero).to_pylist()
        again = embedding.encode([paper_text(one["title"], one["abstract"]) for one in texts])
        zero = zero[again.any(axis=1)]
    require_vectors(rows[zero], f"{what}, whose embedding makes none", REBUILD_HINT)


def _require_split(ecosystem: Ecosystem) -> None:
    """Check that papers are unique, sorted by date and id, and on their side of the boundary."""
    boundary, sides = ecosystem.boundary, (ecosystem.past, ecosystem.contemporary)
    for side, early in zip(sides, (True, False), strict=True):
        dates, ids = side.dates, side.table["id"]
        by_id = np.asarray(pc.less(ids[:-1], ids[1:])) if len(side) > 1 else True
        if not ((np.diff(dates) > 0) | ((np.diff(dates) == 0) & by_id)).all():
            raise InputError(f"papers are not sorted by date, then id, each once; {REBUILD_HINT}")
        years = boundary + np.floor(dates / DAYS_PER_YEAR)
        misfits = np.flatnonzero((side.years != years) | ((dates < 0) != early))
        if len(misfits):
            paper, known = side[int(misfits[0])], np.concatenate([one.years for one in sides])
            raise InputError(
                f"boundary {boundary} does not fit the papers, whose years are {known.min()} to "
                f"{known.max()}: {paper.id!r} of {paper.year} is dated {paper.date}; "
                f"{REBUILD_HINT}"
            )


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
            f"{folder}: contains files that are not an ecosystem's; give another folder, or delete "
            "this one first"
        )


def require_same(folder: Path, expected: Mapping[str, Any]) -> None:
    """Raise InputError if a folder contains an ecosystem with another manifest."""
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
                f"{folder}: contains another ecosystem ({name} {old.get(name)!r} instead of "
                f"{new.get(name)!r}); give another folder, or delete this one first"
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
            raise InputError(f"{path}: {name!r} is outside the folder; {REBUILD_HINT}")
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
