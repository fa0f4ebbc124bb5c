"""A run as users read it, with the tables, events and files of a run folder or of memory."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from virsci_society.agents.arrays import DAMAGED_ARCHIVE, VectorArray
from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import replacing, require_regular_file
from virsci_society.agents.files.file_hashes import FileHashes, read_hashes
from virsci_society.agents.files.json_files import parse_json, read_json_object
from virsci_society.agents.invented_names import with_invented_names
from virsci_society.agents.lazy_imports import nx, pa
from virsci_society.agents.spelling import did_you_mean
from virsci_society.society.results.dataframes import (
    build_table,
    build_tables,
    cast_table,
    to_frame,
    with_numpy_dtypes,
)
from virsci_society.society.results.folder_kinds import MANIFEST, PARTIAL, without_manifest
from virsci_society.society.results.plots import RunPlots
from virsci_society.society.results.table_files import (
    count_rows,
    read_arrow,
    read_parquet,
    write_csv,
)
from virsci_society.society.results.tables import TABLES, TableRows
from virsci_society.society.results.text_provenance import is_events_header, speaker_of

MAX_VECTOR_BYTES = 16 * 2**30
"""Most bytes of an unpacked file of vectors."""


@dataclass(frozen=True)
class Vectors:
    """The embeddings of the papers that a society has written."""

    ids: tuple[str, ...]
    values: VectorArray

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or len(self.ids) != len(self.values):
            raise InputError(
                f"vectors of shape {self.values.shape} for {len(self.ids)} papers: expected one "
                "row per paper"
            )


def write_vectors(folder: Path | str, vectors: Vectors) -> None:
    """Write ``vectors.npz`` into a run folder: ``paper_ids`` (text) and ``vectors`` (float32)."""
    ids = np.asarray(vectors.ids, dtype=np.str_)
    with replacing(Path(folder) / "vectors.npz") as path:
        np.savez(path, paper_ids=ids, vectors=vectors.values)


def read_vectors(path: Path) -> Vectors:
    """Read a file ``vectors.npz``; nothing in it is unpickled."""
    try:
        with zipfile.ZipFile(require_regular_file(path)) as archive:
            # Before anything is unpacked: a small archive can unfold to more than the memory.
            if sum(member.file_size for member in archive.infolist()) > MAX_VECTOR_BYTES:
                raise InputError(f"{path}: unfolds to more than {MAX_VECTOR_BYTES} bytes")
        with np.load(path, allow_pickle=False) as arrays:
            ids, values = arrays["paper_ids"], arrays["vectors"]
        return Vectors(tuple(str(paper) for paper in ids), np.asarray(values, dtype=np.float32))
    except DAMAGED_ARCHIVE as error:
        raise InputError(f"{path}: cannot be read as vectors: {error}") from error


class Run:
    """One run: its tables, events, metrics, manifest, scenario and vectors.

    Attributes:
        manifest: the content of ``manifest.json`` (seed, days, boundary, backend, versions, ...).
        scenario: the resolved scenario as a dictionary.
        vectors: embeddings of the society's papers, or None.
        databases: past and contemporary papers to measure novelty against, or None. A run folder
            does not hold them.
        digest: sha256 (hex) of a finished run, or None.
        folder: the run folder, or None for a run that is only in memory.

    Args:
        tables: by name; those left out are read from the folder, or are empty.
        scenario_text: empty: the scenario as JSON.
        metrics: by name, those that are in memory.
        events: of a run without a folder, in simulated order.
        digest: None: that of the manifest, if it has one.
        hashes: of the files of the folder, each of which is checked when it is read; None: no
            file is checked.

    Example:
        >>> run = vs.Run.open(folder)
        >>> print(run)
        <Run quickstart, seed 1: 12 scientists, ... teams, ... papers, ... calls; finished>
        >>> teams = run.table("teams")
        >>> int(teams["published"].notna().sum()) == len(run.table("papers"))
        True
    """

    def __init__(
        self,
        tables: Mapping[str, pd.DataFrame | pa.Table],
        manifest: Mapping[str, Any],
        scenario: Mapping[str, Any],
        *,
        scenario_text: str = "",
        vectors: Vectors | None = None,
        databases: Any = None,
        metrics: Mapping[str, pd.DataFrame] | None = None,
        events: Sequence[Mapping[str, Any]] = (),
        digest: str | None = None,
        folder: Path | None = None,
        hashes: FileHashes | None = None,
    ) -> None:
        self._tables = {
            name: pa.table(dict(table.items())) if isinstance(table, pd.DataFrame) else table
            for name, table in tables.items()
        }
        self._frames: dict[str, pd.DataFrame] = {}
        self.manifest = dict(manifest)
        self.scenario = dict(scenario)
        self.scenario_text = scenario_text or json.dumps(self.scenario, indent=2, sort_keys=True)
        self.vectors = vectors
        self.databases = databases
        self._metrics = dict(metrics or {})
        self._events = events
        self.digest = digest if digest is not None else self.manifest.get("digest")
        self.folder = folder
        self._hashes = hashes
        self._made: dict[Callable[[Run], Any], Any] = {}

    @classmethod
    def from_rows(
        cls, rows: TableRows, manifest: Mapping[str, Any], scenario: Mapping[str, Any], **more: Any
    ) -> Run:
        """Build a run in memory from the rows of its tables.

        Args:
            rows: by name of the table; tables left out are empty.
            manifest: at least ``seed`` and ``days``.
            scenario: the resolved scenario.

        Raises:
            InputError: an unknown table name or a malformed row.
        """
        return cls(build_tables(rows), manifest, scenario, **more)

    @classmethod
    def open(cls, path: Path | str, databases: Any = None) -> Run:
        """Open a run folder, finished or partial; each table is read when it is first used.

        Args:
            path: the run folder.
            databases: past and contemporary papers to measure novelty against, if needed.

        Raises:
            InputError: not a run folder, or one of its files is damaged.
        """
        folder = Path(path)
        if not folder.is_dir():
            raise InputError(f"{folder}: no such folder; 'society list runs' lists your runs")
        hashes = read_hashes(folder)
        if not (folder / MANIFEST).exists():
            raise InputError(without_manifest(folder))
        manifest = read_json_object(folder / MANIFEST)
        # Else every file would pass unchecked once somebody has removed the list.
        if hashes is None and manifest.get("hashes"):
            raise InputError(f"{folder / manifest['hashes']}: is missing; restore it")
        # Tables are checked when they are read: a look at one need not hash all.
        for name in (MANIFEST, "scenario.yaml", "digest", "vectors.npz"):
            if hashes is not None and (folder / name).exists():
                hashes.check(folder / name)
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
            hashes=hashes,
        )

    @property
    def name(self) -> str:
        """The name of the scenario, or an empty text."""
        return str(self.manifest.get("name") or self.scenario.get("name") or "")

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return int(self._stated("seed"))

    @property
    def days(self) -> float:
        """Simulated days from day 0 to the end."""
        return float(self._stated("days"))

    @property
    def boundary(self) -> int | None:
        """The calendar year of day 0, or None where the manifest does not say."""
        year = self.manifest.get("boundary")
        return None if year is None else int(year)

    @property
    def partial(self) -> str | None:
        """The reason for which the run was stopped before its end; None for a finished run."""
        why = self.manifest.get("partial")
        return None if why is None else str(why)

    @property
    def plot(self) -> RunPlots:
        """Plots: ``run.plot.timeline()`` and ``run.plot.network()``."""
        return RunPlots(self)

    @property
    def names(self) -> dict[str, str]:
        """The name of each scientist on pages and in transcripts, by its id in tables.

        Example:
            >>> run.names["Scientist0"]
            'Lindutun'
        """
        return {who: with_invented_names(who) for who in self.table("scientists")["scientist"]}

    def __repr__(self) -> str:
        """What the run is, in one line; tables are counted and not read."""
        facts = []
        for name in ("scientists", "teams", "papers", "calls"):
            try:
                path = None if name in self._tables else self._file(f"tables/{name}.parquet")
                count = f"{len(self.table(name)) if path is None else count_rows(path):,}"
            except InputError:
                # Not raised: the line that describes a damaged run must still appear.
                count = "unreadable"
            facts.append(f"{count} {name}")
        state = "finished" if self.partial is None else f"not finished: {self.partial}"
        head = f"Run {self.name or 'unnamed'}, seed {self.manifest.get('seed')}"
        return f"<{head}: {', '.join(facts)}; {state}>"

    def _stated(self, key: str) -> Any:
        if key not in self.manifest:
            where = self.folder / MANIFEST if self.folder else "the manifest"
            raise InputError(f"{where}: no key {key!r}; write the run again with this release")
        return self.manifest[key]

    def table(self, name: str, *, plain: bool = False) -> pd.DataFrame:
        """One table in canonical order, with the columns and dtypes of ``society.results.tables``.

        Args:
            plain: True: a copy with numpy's dtypes, NaN for missing numbers and None for missing
                texts, in place of pandas' nullable ones.

        Raises:
            InputError: no such table, or its file is damaged.
        """
        if name not in self._frames:
            self._frames[name] = to_frame(self.in_arrow(name))
        return with_numpy_dtypes(self._frames[name]) if plain else self._frames[name]

    def in_arrow(self, name: str) -> pa.Table:
        """The same table as Arrow has it; a digest is taken of these."""
        if name not in TABLES:
            raise InputError(f"no table is called {name!r}; the tables are {', '.join(TABLES)}")
        if name not in self._tables:
            path = self._file(f"tables/{name}.parquet")
            read = build_table(name) if path is None else cast_table(name, read_arrow(path))
            self._tables[name] = read
        return self._tables[name]

    def rows(self, name: str, *columns: str) -> list[tuple[Any, ...]]:
        """Some columns of a table as Python values, row by row; None where one is missing."""
        return _rows_of(self.in_arrow(name).select(columns))

    def counts(self, name: str, *columns: str) -> list[tuple[Any, ...]]:
        """Rows of columns that differ, in order of appearance; last, how often each occurs."""
        # On one thread, which keeps the order.
        grouped = self.in_arrow(name).group_by([*columns], use_threads=False)
        return _rows_of(grouped.aggregate([([], "count_all")]).select([*columns, "count_all"]))

    def network(self, day: float | None = None, *, since: float = -math.inf) -> nx.Graph[str]:
        """The co-authorship network of a date: an edge for each pair, with its joint ``papers``.

        Args:
            day: last date in simulated days, included; None: the end of the run.
            since: first date; by default ties from before day 0 are included, 0 leaves them out.

        Returns:
            A networkx graph of the scientists who have a co-author, by id.
        """
        ties = self.table("ties", plain=True)
        ties = ties[ties["date"].between(since, math.inf if day is None else day)]
        pairs = ties.groupby(["source", "target"], as_index=False)["papers"].sum()
        return nx.from_pandas_edgelist(pairs, "source", "target", "papers")

    def tables(self) -> dict[str, pd.DataFrame]:
        """All tables, by name."""
        return {name: self.table(name) for name in TABLES}

    def read_all(self) -> None:
        """Read all tables and events now, because a running process replaces these files."""
        self.tables()
        self._events = list(self.events())

    def metric(
        self, what: str | Callable[[Run], pd.DataFrame], *, plain: bool = False
    ) -> pd.DataFrame:
        """One metric as written with the run, as added to it, or computed now.

        Args:
            what: name of a metric that the run holds; or a function of a run, such as one of
                ``metrics.METRICS``, which is called once and whose table is kept under its name.
            plain: as for ``table``.

        Raises:
            InputError: the run holds no metric of that name; the message lists those it holds.
        """
        name = what if isinstance(what, str) else what.__name__
        if not isinstance(what, str) and name not in self._metrics:
            self.add_metric(name, what(self))
        if name not in self._metrics:
            # The name becomes part of a path, so it must not lead out of the folder.
            path = self._file(f"tables/metrics/{name}.parquet") if name.isidentifier() else None
            if path is None:
                names = self.metric_names()
                held = f"; this run has: {', '.join(names) or 'none'}"
                raise InputError(
                    f"no metric is called {name!r}{did_you_mean(name, names) or held}; "
                    "vs.compute_metric(run, NAME) computes others"
                )
            self._metrics[name] = read_parquet(path)
        table = self._metrics[name]
        return with_numpy_dtypes(table) if plain else table

    def add_metric(self, name: str, table: pd.DataFrame) -> pd.DataFrame:
        """Keep a computed metric in memory under a name, and return it."""
        self._metrics[name] = table
        return table

    def once(self, compute: Callable[[Run], Any]) -> Any:
        """The result of a function of this run, which is called once."""
        if compute not in self._made:
            self._made[compute] = compute(self)
        return self._made[compute]

    def with_metrics(self, metrics: Mapping[str, pd.DataFrame]) -> Run:
        """The same run in memory, with only these metrics; tables are shared."""
        run = Run(
            self._tables,
            self.manifest,
            self.scenario,
            scenario_text=self.scenario_text,
            vectors=self.vectors,
            databases=self.databases,
            metrics=metrics,
            events=self._events,
        )
        run._made, run._frames = self._made, self._frames
        return run

    def metric_names(self) -> list[str]:
        """Sorted names of the metrics written with the run or added to it."""
        folder = self.folder / "tables" / "metrics" if self.folder else None
        files = folder.glob("*.parquet") if folder else ()
        return sorted({*self._metrics, *(path.stem for path in files)})

    def events(self) -> Iterator[dict[str, Any]]:
        """Read the events in simulated order, one dictionary each.

        Raises:
            InputError: a line of ``events.jsonl`` is not a JSON object; the message names it.
        """
        path = None if self._events else self._file("events.jsonl")
        if path is None:
            yield from (dict(event) for event in self._events)
            return
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                event = parse_json(line, f"{path}:{number}")
                if not isinstance(event, dict):
                    raise InputError(f"{path}:{number}: not an object")
                # The first line names the backend, and is no event.
                if not is_events_header(event):
                    yield event

    def to_csv(self, folder: Path | str) -> None:
        """Write every table as CSV that is safe to open in a spreadsheet."""
        write_csv(folder, self.tables(), speaker_of(self.manifest))

    def _file(self, name: str) -> Path | None:
        """The path of a file of the folder, or None; a link, a device or damage is an error."""
        if self.folder is None or not (self.folder / name).exists():
            return None
        path = require_regular_file(self.folder / name)
        return path if self._hashes is None else self._hashes.check(path)


def _rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def resolve_run_folder(path: Path | str) -> Path:
    """The folder to open for a run: its own, or its ``partial/`` if the run has not finished."""
    folder = Path(path)
    part = folder / PARTIAL
    unfinished = not (folder / MANIFEST).exists()
    # A link could lead out of the run folder.
    return part if unfinished and not part.is_symlink() and (part / MANIFEST).exists() else folder


def _read(path: Path) -> str:
    try:
        return require_regular_file(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
