"""Run: a finished run folder as tables, read and written; it computes nothing.

::

    manifest.json  scenario.yaml  events.jsonl  vectors.npz  digest
    tables/*.parquet  tables/measures/*.parquet
    network.graphml  network.gexf  report.html
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from agents.errors import InputError
from society.frames import (
    Rows,
    digest_tables,
    frames,
    read_parquet,
    typed,
    write_csv,
    write_parquet,
    write_tables,
)
from society.tables import TABLES

__all__ = ["Run", "Vectors", "digest_tables", "write_measures", "write_tables", "write_vectors"]

MAX_VECTOR_BYTES = 16 * 2**30


@dataclass(frozen=True)
class Vectors:
    """Embeddings of the society's papers.

    Attributes:
        ids: paper ids, one per row.
        values: float32, papers x dimensions.
    """

    ids: tuple[str, ...]
    values: NDArray[np.float32]

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or len(self.ids) != len(self.values):
            raise InputError(
                f"vectors of shape {self.values.shape} for {len(self.ids)} papers: expected one "
                "row per paper"
            )


class Run:
    """One run: its tables, its manifest, its scenario and the vectors of its papers.

    Attributes:
        manifest: what ``manifest.json`` says (seed, days, boundary, backend, versions, ...).
        scenario: the resolved scenario as a dictionary.
        scenario_text: the same as the text of ``scenario.yaml``.
        vectors: embeddings of the society's papers, or None.
        databases: past and contemporary papers to measure novelty against, or None; a run
            folder does not hold them, so whoever opens it hands them in.
        folder: the run folder, or None for a run that is only in memory.
    """

    def __init__(
        self,
        tables: Mapping[str, pd.DataFrame],
        manifest: Mapping[str, Any],
        scenario: Mapping[str, Any],
        *,
        scenario_text: str = "",
        vectors: Vectors | None = None,
        databases: Any = None,
        measures: Mapping[str, pd.DataFrame] | None = None,
        events: Sequence[Mapping[str, Any]] = (),
        digest: str | None = None,
        folder: Path | None = None,
    ) -> None:
        self._tables = dict(tables)
        self.manifest = dict(manifest)
        self.scenario = dict(scenario)
        self.scenario_text = scenario_text or json.dumps(self.scenario, indent=2, sort_keys=True)
        self.vectors = vectors
        self.databases = databases
        self._measures = dict(measures or {})
        self._events = events
        self.digest = digest if digest is not None else self.manifest.get("digest")
        self.folder = folder

    @classmethod
    def from_rows(
        cls, rows: Rows, manifest: Mapping[str, Any], scenario: Mapping[str, Any], **more: Any
    ) -> Run:
        """Build a run in memory from the rows of its tables.

        Args:
            rows: table name -> rows as tuples; tables left out are empty.
            manifest: at least ``seed`` and ``days``.
            scenario: the resolved scenario.
            **more: vectors, databases, measures, events, digest, scenario_text, folder.

        Raises:
            InputError: an unknown table name or a malformed row.
        """
        return cls(frames(rows), manifest, scenario, **more)

    @classmethod
    def open(cls, path: Path | str, databases: Any = None) -> Run:
        """Open a finished run folder; tables are read when first asked for.

        Raises:
            InputError: not a run folder, or one of its files is damaged.
        """
        folder = Path(path)
        if not folder.is_dir():
            raise InputError(f"{folder}: no such folder; give the folder that a run wrote")
        manifest = _json(folder / "manifest.json", "this is not a run folder")
        if not (folder / "tables").is_dir():
            raise InputError(f"{folder}: no tables/ in it: the run has not finished; run it again")
        text = _read(folder / "scenario.yaml") if (folder / "scenario.yaml").exists() else ""
        digest = _read(folder / "digest").strip() if (folder / "digest").exists() else None
        vectors = folder / "vectors.npz"
        return cls(
            {},
            manifest,
            manifest.get("scenario") or {},
            scenario_text=text,
            vectors=read_vectors(vectors) if vectors.exists() else None,
            databases=databases,
            digest=digest,
            folder=folder,
        )

    @property
    def name(self) -> str:
        """Name of the scenario, or an empty text."""
        return str(self.manifest.get("name") or self.scenario.get("name") or "")

    @property
    def seed(self) -> int:
        """Seed of the run."""
        return int(self._stated("seed"))

    @property
    def days(self) -> float:
        """Simulated days from day 0 to the end."""
        return float(self._stated("days"))

    @property
    def boundary(self) -> int | None:
        """Calendar year of day 0, or None where the manifest does not say."""
        year = self.manifest.get("boundary")
        return None if year is None else int(year)

    def _stated(self, key: str) -> Any:
        if key not in self.manifest:
            where = self.folder / "manifest.json" if self.folder else "the manifest"
            raise InputError(f"{where}: no key {key!r}; write the run again with this release")
        return self.manifest[key]

    def table(self, name: str) -> pd.DataFrame:
        """One table in canonical order, with the columns and dtypes of ``society.tables``.

        Raises:
            InputError: no such table, or its file is damaged.
        """
        if name not in TABLES:
            raise InputError(f"no table is called {name!r}; the tables are {', '.join(TABLES)}")
        if name not in self._tables:
            path = self._file(f"tables/{name}.parquet")
            read = read_parquet(path) if path is not None else pd.DataFrame()
            self._tables[name] = typed(name, read)
        return self._tables[name]

    def tables(self) -> dict[str, pd.DataFrame]:
        """All tables, by name."""
        return {name: self.table(name) for name in TABLES}

    def measure(self, name: str) -> pd.DataFrame:
        """One measure as it was written with the run.

        Raises:
            InputError: the run holds no measure of that name; the message lists those it holds.
        """
        if name not in self._measures:
            path = self._file(f"tables/measures/{name}.parquet") if name.isidentifier() else None
            if path is None:
                held = ", ".join(self.measures()) or "none"
                raise InputError(f"no measure is called {name!r}; this run holds: {held}")
            self._measures[name] = read_parquet(path)
        return self._measures[name]

    def hold(self, name: str, table: pd.DataFrame) -> pd.DataFrame:
        """Keep a measure that was computed from this run, in memory only, and return it."""
        self._measures[name] = table
        return table

    def measures(self) -> list[str]:
        """Names of the measures written with the run, or held with it, sorted."""
        folder = self.folder / "tables" / "measures" if self.folder else None
        files = folder.glob("*.parquet") if folder else ()
        return sorted({*self._measures, *(path.stem for path in files)})

    def events(self) -> Iterator[dict[str, Any]]:
        """The events in simulated order, one dictionary each.

        Raises:
            InputError: a line of ``events.jsonl`` is not a JSON object; the message names it.
        """
        path = self._file("events.jsonl")
        if path is None:
            yield from (dict(event) for event in self._events)
            return
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    event = json.loads(line)
                except (ValueError, RecursionError) as error:
                    raise InputError(f"{path}:{number}: not JSON: {error}") from error
                if not isinstance(event, dict):
                    raise InputError(f"{path}:{number}: not an object")
                yield event

    def to_csv(self, folder: Path | str) -> None:
        """Write every table as CSV, safe to open in a spreadsheet."""
        write_csv(folder, self.tables())

    def _file(self, name: str) -> Path | None:
        """The file of that name if the folder has it; a link or a device is an error."""
        if self.folder is None or not (self.folder / name).exists():
            return None
        return _regular(self.folder / name)


def write_measures(folder: Path | str, measures: Mapping[str, pd.DataFrame]) -> None:
    """Write measures as ``tables/measures/*.parquet`` into a run folder."""
    for name, table in measures.items():
        if not name.isidentifier():
            raise InputError(f"a measure is called {name!r}: letters, digits and _ only")
        write_parquet(Path(folder) / "tables" / "measures" / f"{name}.parquet", table)


def write_vectors(folder: Path | str, vectors: Vectors) -> None:
    """Write ``vectors.npz``: ``paper_ids`` (text) and ``vectors`` (float32, papers x d)."""
    ids = np.asarray(vectors.ids, dtype=np.str_)
    np.savez(Path(folder) / "vectors.npz", paper_ids=ids, vectors=vectors.values)


def read_vectors(path: Path) -> Vectors:
    """Read ``vectors.npz``; nothing is unpickled.

    Raises:
        InputError: not such a file, or it would unfold to more than vectors can be.
    """
    try:
        with zipfile.ZipFile(_regular(path)) as archive:
            if sum(member.file_size for member in archive.infolist()) > MAX_VECTOR_BYTES:
                raise InputError(f"{path}: unfolds to more than {MAX_VECTOR_BYTES} bytes")
        with np.load(path, allow_pickle=False) as arrays:
            ids, values = arrays["paper_ids"], arrays["vectors"]
        return Vectors(tuple(str(one) for one in ids), np.asarray(values, dtype=np.float32))
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: cannot be read as vectors: {error}") from error


def _regular(path: Path) -> Path:
    if path.is_symlink() or not path.is_file():
        raise InputError(f"{path}: not a regular file; a run folder holds plain files only")
    return path


def _read(path: Path) -> str:
    try:
        return _regular(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error


def _json(path: Path, otherwise: str) -> dict[str, Any]:
    if not path.exists():
        raise InputError(f"{path}: missing, so {otherwise}; give the folder that a run wrote")
    try:
        data = json.loads(_read(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON: {error}") from error
    if not isinstance(data, dict):
        raise InputError(f"{path}: not an object, so {otherwise}")
    return data
