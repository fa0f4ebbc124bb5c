"""Ecosystem: the data a society starts from, in memory and as a folder.

Past and contemporary papers, the scientists as they stood at the boundary, who wrote with
whom, and the vectors of the papers. It never changes; a society copies from it what grows.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from agents.errors import InputError
from society.ecosystem import folder as files
from society.ecosystem.knowledge import interests_text
from society.ecosystem.people import People
from society.literature.embedding import Embedding, Lsa, load_embedding
from society.literature.paper import DAYS_PER_YEAR
from society.literature.papers import Papers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Vectors = npt.NDArray[np.float32]

MANY_PEOPLE = 20_000
"""Above this many, the vectors of their interests are stored with the ecosystem; and those of a
model that must be loaded or paid always are."""
AT_ONCE = 65_536
INTERESTS = "interests.npy"


@dataclass(frozen=True, eq=False)
class Ecosystem:
    """What is known at the boundary, and the contemporary papers that measure novelty.

    Papers, profiles and career starts may be given as any sequence; they are kept in columns.

    Attributes:
        boundary: the calendar year whose 1 January is date 0.
        past: papers dated before 0, by date then id.
        contemporary: papers dated 0 or later, by date then id; never shown to a scientist.
        profiles: the population, with masked names ``Scientist0..`` in this order.
        career_starts: year of each scientist's first paper; 0 where unknown (no year is 0).
        coauthors: joint papers before the boundary: symmetric, zero diagonal, integer, with
            rows in the order of ``profiles``.
        embedding: what made the vectors; fitted on the past only.
        past_vectors: one float32 row per past paper; mapped from its file where loaded.
        contemporary_vectors: one float32 row per contemporary paper.
        manifest: source, licence, filters, number removed by each, notes.
        key: masked name to source id and real name; only where it was built from a source.
        interest_vectors: one float32 row per scientist, its interests as ``embedding`` encodes
            them; None where they are few enough to be encoded when they are needed.
        kept: the folder, where it was loaded from one, in which a society keeps how it sorts many
            vectors for searching; not part of what it starts from.
    """

    boundary: int
    past: Papers
    contemporary: Papers
    profiles: People
    career_starts: files.Years
    coauthors: csr_array
    embedding: Embedding
    past_vectors: Vectors
    contemporary_vectors: Vectors
    manifest: dict[str, Any] = field(default_factory=dict)
    key: Mapping[str, tuple[str, str]] | None = field(default=None, repr=False)
    interest_vectors: Vectors | None = None
    kept: Path | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        columns = {
            "past": Papers.of(self.past),
            "contemporary": Papers.of(self.contemporary),
            "profiles": People.of(self.profiles),
            "career_starts": _years(self.career_starts),
        }
        for name, column in columns.items():
            object.__setattr__(self, name, column)
        _require_split(self)
        people = len(self.profiles)
        _require(self.coauthors.shape == (people, people), "co-author counts", people)
        _require(len(self.career_starts) == people, "career starts", people)
        _require(len(self.past_vectors) == len(self.past), "past vectors", len(self.past))
        later = len(self.contemporary)
        _require(len(self.contemporary_vectors) == later, "contemporary vectors", later)
        interests = self.interest_vectors
        _require(interests is None or len(interests) == people, "vectors of interests", people)

    @property
    def counts(self) -> dict[str, int]:
        """How much there is of each thing."""
        return {
            "past": len(self.past),
            "contemporary": len(self.contemporary),
            "scientists": len(self.profiles),
        }

    def digest(self) -> str:
        """Hash of all that a society starts from; a reloaded folder has the same."""
        whole = hashlib.sha256(f"{self.boundary} {self.embedding.revision}\n".encode())
        for columns in (self.past, self.contemporary, self.profiles):
            whole.update(columns.digest())
        counts = self.coauthors
        for numbers in (self.career_starts, counts.indptr, counts.indices, counts.data):
            whole.update(np.asarray(numbers, dtype="<i8").tobytes())
        for rows in (self.past_vectors, self.contemporary_vectors):
            for start in range(0, len(rows), AT_ONCE):
                whole.update(np.asarray(rows[start : start + AT_ONCE], dtype="<f4").tobytes())
        return whole.hexdigest()

    def require_runnable(self) -> None:
        """Raise InputError where a society could not start from this."""
        for name in ("past", "profiles"):
            if not getattr(self, name):
                what = "past papers" if name == "past" else "scientists"
                raise InputError(
                    f"the ecosystem ({self.counts}) has no {what}; a run needs some: "
                    "choose another boundary or weaker filters"
                )

    def save(self, folder: Path | str, *, key: bool = False) -> None:
        """Write the folder; the key file only on request and where there is a key."""
        target = Path(folder)
        _clear(target)
        files.write_papers(target / files.PAPERS, self.past, self.contemporary)
        files.write_scientists(target / files.SCIENTISTS, self.profiles, self.career_starts)
        files.write_counts(target / files.COAUTHORS, self.coauthors)
        vectors = target / files.embedding_folder(self.embedding.name)
        vectors.mkdir(parents=True)
        self.embedding.save(vectors)
        files.write_rows(vectors / "past.npy", self.past_vectors)
        files.write_rows(vectors / "contemporary.npy", self.contemporary_vectors)
        if (interests := self._interests_to_keep()) is not None:
            files.write_rows(vectors / INTERESTS, interests)
        if key:
            if self.key is None:
                raise InputError(f"{target}: no key is known for this ecosystem; save without it")
            files.write_key(target / files.KEY, self.key)
        facts = {"boundary": self.boundary, "counts": self.counts}
        embeddings = {"embeddings": [self.embedding.name]}
        files.write_manifest(target, self.manifest | facts | embeddings)

    @classmethod
    def load(cls, folder: Path | str, *, embedding: str | None = None) -> Ecosystem:
        """Read a folder and verify every hash; the first embedding is taken by default."""
        source = Path(folder)
        manifest = files.read_manifest(source)
        boundary = manifest.get("boundary")
        name = embedding or next(iter(manifest.get("embeddings") or ()), None)
        if not isinstance(boundary, int) or name not in (manifest.get("embeddings") or ()):
            raise InputError(
                f"{source / files.MANIFEST}: boundary {boundary!r}, embedding {name!r} among "
                f"{manifest.get('embeddings')}; name one that is there or {files.AGAIN}"
            )
        papers = files.read_papers(source / files.PAPERS)
        early = int((papers.dates < 0).sum())
        profiles, career_starts = files.read_scientists(source / files.SCIENTISTS)
        vectors = source / files.embedding_folder(str(name))
        encoder = load_embedding(vectors)
        later, dim = len(papers) - early, encoder.dim
        try:
            return cls(
                boundary=boundary,
                past=papers[:early],
                contemporary=papers[early:],
                profiles=profiles,
                career_starts=career_starts,
                coauthors=files.read_counts(source / files.COAUTHORS),
                embedding=encoder,
                past_vectors=files.read_rows(vectors / "past.npy", (early, dim)),
                contemporary_vectors=files.read_rows(vectors / "contemporary.npy", (later, dim)),
                manifest=manifest,
                interest_vectors=_interests(vectors / INTERESTS, (len(profiles), dim)),
                kept=vectors,
            )
        except InputError as error:
            raise InputError(f"{source}: {error}") from error

    def _interests_to_keep(self) -> Vectors | None:
        few = len(self.profiles) <= MANY_PEOPLE and isinstance(self.embedding, Lsa)
        if self.interest_vectors is not None or few:
            return self.interest_vectors
        return encode_interests(self.profiles, self.embedding)


def encode_interests(people: People, embedding: Embedding) -> Vectors:
    """One row per scientist: its interests as the knowledge bank encodes them."""
    rows = np.empty((len(people), embedding.dim), dtype=np.float32)
    for start in range(0, len(rows), AT_ONCE):
        texts = [interests_text(one) for one in people[start : start + AT_ONCE]]
        rows[start : start + AT_ONCE] = embedding.encode(texts)
    return rows


def _years(starts: Iterable[int | None]) -> files.Years:
    if isinstance(starts, np.ndarray):
        return np.asarray(starts, dtype=np.int64)
    return np.array([start or 0 for start in starts], dtype=np.int64)


def _interests(path: Path, shape: tuple[int, int]) -> Vectors | None:
    return files.read_rows(path, shape) if path.is_file() else None


def _require(holds: bool, what: str, expected: int) -> None:
    if not holds:
        raise InputError(f"{what} do not match the {expected} they belong to; {files.AGAIN}")


def _require_split(ecosystem: Ecosystem) -> None:
    boundary, sides = ecosystem.boundary, (ecosystem.past, ecosystem.contemporary)
    for side, early in zip(sides, (True, False), strict=True):
        _require_order(side)
        years = boundary + np.floor(side.dates / DAYS_PER_YEAR)
        misfits = np.flatnonzero((side.years != years) | ((side.dates < 0) != early))
        if len(misfits):
            paper, known = side[int(misfits[0])], np.concatenate([one.years for one in sides])
            raise InputError(
                f"boundary {boundary} does not fit the papers, whose years are {known.min()} to "
                f"{known.max()}: {paper.id!r} of {paper.year} is dated {paper.date}; {files.AGAIN}"
            )


def _require_order(papers: Papers) -> None:
    import pyarrow.compute as pc

    dates, ids = papers.dates, papers.table["id"]
    by_id = np.asarray(pc.less(ids[:-1], ids[1:])) if len(papers) > 1 else True
    if not ((np.diff(dates) > 0) | ((np.diff(dates) == 0) & by_id)).all():
        raise InputError(f"papers do not stand by date, then id, each once; {files.AGAIN}")


def _clear(target: Path) -> None:
    if target.exists() and not target.is_dir():
        raise InputError(f"{target}: is a file; give a folder")
    if target.is_dir() and any(target.iterdir()) and not (target / files.MANIFEST).is_file():
        raise InputError(f"{target}: holds other files; give an empty folder or an ecosystem's")
    target.mkdir(parents=True, exist_ok=True)
    # First, so that a write that is cut short is not taken for an ecosystem.
    (target / files.MANIFEST).unlink(missing_ok=True)
    for name in (files.PAPERS, files.SCIENTISTS, files.COAUTHORS, files.KEY):
        (target / name).unlink(missing_ok=True)
    shutil.rmtree(target / "embeddings", ignore_errors=True)
