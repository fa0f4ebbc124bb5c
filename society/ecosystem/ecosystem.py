"""Ecosystem: the data a society starts from, in memory and as a folder.

Past and contemporary papers, the scientists as they stood at the boundary, who wrote with
whom, and the vectors of the papers. It never changes; a society copies from it what grows.
"""

from __future__ import annotations

import hashlib
import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from agents.errors import InputError
from agents.profile import Profile
from society.ecosystem import folder as files
from society.literature.embedding import Embedding, load_embedding
from society.literature.paper import DAYS_PER_YEAR, Paper

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class Ecosystem:
    """What is known at the boundary, and the contemporary papers that measure novelty.

    Attributes:
        boundary: the calendar year whose 1 January is date 0.
        past: papers dated before 0, by date then id.
        contemporary: papers dated 0 or later, by date then id; never shown to a scientist.
        profiles: the population, with masked names ``Scientist0..`` in this order.
        career_starts: year of each scientist's first paper; None where unknown.
        coauthors: joint papers before the boundary: symmetric, zero diagonal, integer, with
            rows in the order of ``profiles``.
        embedding: what made the vectors; fitted on the past only.
        past_vectors: one float32 row per past paper.
        contemporary_vectors: one float32 row per contemporary paper.
        manifest: source, licence, filters, number removed by each, notes.
        key: masked name to source id and real name; only where it was built from a source.
    """

    boundary: int
    past: tuple[Paper, ...]
    contemporary: tuple[Paper, ...]
    profiles: tuple[Profile, ...]
    career_starts: tuple[int | None, ...]
    coauthors: csr_array
    embedding: Embedding
    past_vectors: npt.NDArray[np.float32]
    contemporary_vectors: npt.NDArray[np.float32]
    manifest: dict[str, Any] = field(default_factory=dict)
    key: Mapping[str, tuple[str, str]] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        _require_split(self)
        people = len(self.profiles)
        _require(self.coauthors.shape == (people, people), "co-author counts", people)
        _require(len(self.career_starts) == people, "career starts", people)
        _require(len(self.past_vectors) == len(self.past), "past vectors", len(self.past))
        later = len(self.contemporary)
        _require(len(self.contemporary_vectors) == later, "contemporary vectors", later)

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
        text = repr(
            (self.boundary, self.past, self.contemporary, self.profiles, self.career_starts)
        )
        whole = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
        whole.update(self.embedding.revision.encode())
        for counts in (self.coauthors.indptr, self.coauthors.indices, self.coauthors.data):
            whole.update(np.asarray(counts, dtype="<i8").tobytes())
        for rows in (self.past_vectors, self.contemporary_vectors):
            whole.update(np.ascontiguousarray(rows, dtype="<f4").tobytes())
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
        files.write_papers(target / files.PAPERS, [*self.past, *self.contemporary])
        files.write_scientists(target / files.SCIENTISTS, self.profiles, self.career_starts)
        files.write_counts(target / files.COAUTHORS, self.coauthors)
        vectors = target / files.embedding_folder(self.embedding.name)
        vectors.mkdir(parents=True)
        self.embedding.save(vectors)
        files.write_rows(vectors / "past.npy", self.past_vectors)
        files.write_rows(vectors / "contemporary.npy", self.contemporary_vectors)
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
        past = tuple(paper for paper in papers if paper.date < 0)
        contemporary = tuple(paper for paper in papers if paper.date >= 0)
        profiles, career_starts = files.read_scientists(source / files.SCIENTISTS)
        vectors = source / files.embedding_folder(str(name))
        encoder = load_embedding(vectors)
        try:
            return cls(
                boundary=boundary,
                past=past,
                contemporary=contemporary,
                profiles=tuple(profiles),
                career_starts=tuple(career_starts),
                coauthors=files.read_counts(source / files.COAUTHORS),
                embedding=encoder,
                past_vectors=files.read_rows(vectors / "past.npy", (len(past), encoder.dim)),
                contemporary_vectors=files.read_rows(
                    vectors / "contemporary.npy", (len(contemporary), encoder.dim)
                ),
                manifest=manifest,
            )
        except InputError as error:
            raise InputError(f"{source}: {error}") from error


def _require(holds: bool, what: str, expected: int) -> None:
    if not holds:
        raise InputError(f"{what} do not match the {expected} they belong to; {files.AGAIN}")


def _require_split(ecosystem: Ecosystem) -> None:
    for side in (ecosystem.past, ecosystem.contemporary):
        _require_order(side)
    papers = (*ecosystem.past, *ecosystem.contemporary)
    early = len(ecosystem.past)
    for place, paper in enumerate(papers):
        year = ecosystem.boundary + math.floor(paper.date / DAYS_PER_YEAR)
        if paper.year != year or (paper.date < 0) != (place < early):
            years = sorted(paper.year for paper in papers)
            raise InputError(
                f"boundary {ecosystem.boundary} does not fit the papers, whose years are "
                f"{years[0]} to {years[-1]}: {paper.id!r} of {paper.year} is dated {paper.date}; "
                f"{files.AGAIN}"
            )


def _require_order(papers: Sequence[Paper]) -> None:
    keys = [(paper.date, paper.id) for paper in papers]
    if keys != sorted(set(keys)):
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
