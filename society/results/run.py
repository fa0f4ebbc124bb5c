"""Run: a run folder as tables, read and written; it computes nothing.

::

    manifest.json  scenario.yaml  events.jsonl  vectors.npz  digest
    tables/*.parquet  tables/measures/*.parquet
    network.graphml  network.gexf  report.html
    partial/  the same of a run that was stopped: no digest, measures or networks
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

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
from society.vectors import Vectors, read_vectors, regular, write_vectors

__all__ = ["Run", "Vectors", "digest_tables", "write_measures", "write_tables", "write_vectors"]

MANIFEST = "manifest.json"
PARTIAL = "partial"


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
        """Open a run folder, finished or partial; tables are read when first asked for.

        Raises:
            InputError: not a run folder, or one of its files is damaged.
        """
        folder = Path(path)
        if not folder.is_dir():
            raise InputError(f"{folder}: no such folder; give the folder that a run wrote")
        manifest = _json(folder / MANIFEST, "this is not a run folder")
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

    @property
    def partial(self) -> str | None:
        """Why the run was stopped before its end; None for a finished one."""
        why = self.manifest.get("partial")
        return None if why is None else str(why)

    def _stated(self, key: str) -> Any:
        if key not in self.manifest:
            where = self.folder / MANIFEST if self.folder else "the manifest"
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
        return regular(self.folder / name)


def readable(path: Path | str) -> Path:
    """The folder to open for a run: its own, or the ``partial/`` in it if it has not finished."""
    folder = Path(path)
    part = folder / PARTIAL
    unfinished = not (folder / MANIFEST).exists()
    return part if unfinished and not part.is_symlink() and (part / MANIFEST).exists() else folder


def write_measures(folder: Path | str, measures: Mapping[str, pd.DataFrame]) -> None:
    """Write measures as ``tables/measures/*.parquet`` into a run folder."""
    for name, table in measures.items():
        if not name.isidentifier():
            raise InputError(f"a measure is called {name!r}: letters, digits and _ only")
        write_parquet(Path(folder) / "tables" / "measures" / f"{name}.parquet", table)


def _read(path: Path) -> str:
    try:
        return regular(path).read_text(encoding="utf-8")
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
