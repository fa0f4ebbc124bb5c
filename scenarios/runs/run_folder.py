"""The files that a finished or stopped run leaves in its folder, the manifest last."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from virsci_society.agents.config import Part
from virsci_society.agents.errors import InputError, Stopped
from virsci_society.agents.files.atomic_files import (
    make_folder,
    remove_file,
    remove_folder,
    replace_folder,
    write_atomically,
)
from virsci_society.agents.files.file_hashes import HASHES, hash_json, source_digest, write_hashes
from virsci_society.agents.redaction import redact
from virsci_society.scenarios.config.document import IDENTITY
from virsci_society.scenarios.config.reader import CARDS
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.config.yaml_io import write_yaml
from virsci_society.scenarios.runs.progress import Progress, standing_of
from virsci_society.scenarios.runs.run_journal import NUMBER, identity_hash, ledger_of
from virsci_society.scenarios.runs.run_state import MANIFEST, PARTIAL, SNAPSHOT, STANDING
from virsci_society.society.teams.contracts import Publication, TeamProtocol

if TYPE_CHECKING:
    import pyarrow as pa

    from virsci_society.agents.journal.journal import Journal
    from virsci_society.society.model import Society
    from virsci_society.society.results.run import Run, Vectors

FORMAT = 1
SCENARIO = "scenario.yaml"
DIGEST = "digest"
PARTIAL_ROWS = 300_000
"""A run of more rows than this leaves no partial tables: a stop must be quick."""
UNREADY = f"{PARTIAL}.new"
"""The folder in which a part is written, until it replaces the one before."""
NOTE_SECONDS, PART_SECONDS, PART_PAUSE = 5.0, 20.0, 50
"""Least real time between two notes and between two parts, and the least pause after a part as a
multiple of the time that it took: parts take at most 2 % of a run."""
HASHED = (
    *(SCENARIO, DIGEST, "events.jsonl", "vectors.npz"),
    *("network.graphml", "summary.json", "report.html"),
)
"""Files whose hashes are listed, besides tables and manifest. The page can be written again at any
time, and the journal has its own hashes."""
PACKAGES = ("virsci-society", "mesa", "simpy", "numpy", "pandas", "pydantic", "faiss-cpu", "scipy")


@dataclass(frozen=True)
class RunRecord:
    """A run whose record is written: all but metrics, page and manifest."""

    scenario: Scenario
    folder: Path
    run: Run
    events: str


def record_run(
    scenario: Scenario,
    society: Society,
    folder: Path,
    ledger: Mapping[str, Any],
    progress: Progress,
) -> RunRecord:
    """Write what happened in a run; the society is not needed any more after it."""
    from virsci_society.metrics.novelty.other_papers import databases_of
    from virsci_society.metrics.registry import compares_papers
    from virsci_society.society.results.run import Run

    # First of all: a kill between the files below must not leave an old manifest beside new tables.
    for name in (MANIFEST, HASHES, DIGEST, "summary.json"):
        remove_file(folder / name)
    manifest = {**make_manifest(scenario, society), "ledger": ledger}
    text = resolved_text(scenario)
    events, tables, vectors = _write_record(folder, text, society, manifest)
    # A page shows what was asked for: novelty of thousands of papers takes minutes.
    compared = compares_papers(scenario.metrics)
    run = Run(
        tables,
        manifest,
        manifest["scenario"],
        scenario_text=text,
        vectors=vectors,
        events=society.log.events,
        databases=databases_of(society.ecosystem, progress.texts) if compared else None,
    )
    return RunRecord(scenario, folder, run, events)


def finish_run(recorded: RunRecord, *, page: bool = True) -> None:
    """Measure a recorded run, write its page and its manifest, and remove what was partial."""
    from virsci_society.metrics.exports import graphml_text, write_network
    from virsci_society.metrics.report.page import write_page
    from virsci_society.metrics.summary import write_summary
    from virsci_society.society.results.digest import digest_content, digest_tables
    from virsci_society.society.results.table_files import write_metrics
    from virsci_society.society.results.tables import TABLES
    from virsci_society.society.results.text_provenance import speaker_of

    run, folder, manifest = recorded.run, recorded.folder, recorded.run.manifest
    write_network(run, folder)
    drawn = graphml_text(run, digested=True).encode()
    metrics = measure_all(run, recorded.scenario)
    write_metrics(folder, metrics, speaker_of(manifest))
    tables = digest_content({name: run.in_arrow(name) for name in TABLES})
    content = digest_tables(tables).encode()
    manifest["digest"] = hashlib.sha256(content + drawn + recorded.events.encode()).hexdigest()
    if page:
        # As the folder alone gives it: without databases, and what was computed on the way.
        shown = run.with_metrics(metrics)
        shown.databases = None
        write_page(shown, folder)
        write_summary(shown, folder)
    # Before the manifest: a finished run has no part that could be shown in its place.
    for part in (PARTIAL, UNREADY):
        remove_folder(folder / part)
    write_atomically(folder / DIGEST, manifest["digest"] + "\n")
    _write_manifest(folder, manifest)


def write_partial(
    scenario: Scenario,
    society: Society,
    folder: Path,
    ledger: Mapping[str, Any],
    why: str,
    days: float,
) -> None:
    """Write what happened before a day into ``partial``, as far as the disk allows it."""
    if sum(map(len, society.log.all_rows().values())) > PARTIAL_ROWS:
        return
    unready = folder / UNREADY
    with suppress(OSError):
        remove_folder(unready)
        make_folder(unready)
        manifest = make_manifest(scenario, society)
        _write_record(unready, resolved_text(scenario), society, manifest)
        manifest |= {"days": days, "partial": redact(why), "ledger": ledger}
        _write_manifest(unready, manifest)
        # Only now: somebody may be looking at the part that is there.
        replace_folder(folder / PARTIAL, unready)


class Snapshots:
    """Leaves in a run's folder, while it runs, how far it has come."""

    def __init__(self, scenario: Scenario, folder: Path, journal: Journal) -> None:
        self._scenario, self._folder, self._journal = scenario, folder, journal
        self._next_note = self._next_part = time.monotonic() + NOTE_SECONDS

    def step(self, society: Society) -> None:
        """Leave a note or a part if the last one is old enough; called between two periods."""
        begun = time.monotonic()
        if begun < self._next_note:
            return
        note = {"session": self._journal.session, "stood": standing_of(society)}
        with suppress(Stopped):  # what cannot be written stops the run by itself
            self._journal.set_meta({STANDING: json.dumps(note)})
        if begun > self._next_part:
            ledger = ledger_of(self._journal)
            with suppress(InputError):  # a link in its place
                write_partial(self._scenario, society, self._folder, ledger, SNAPSHOT, society.day)
            ended = time.monotonic()
            self._next_part = ended + max(PART_SECONDS, PART_PAUSE * (ended - begun))
        self._next_note = time.monotonic() + NOTE_SECONDS


def _write_record(
    folder: Path, scenario: str, society: Society, manifest: Mapping[str, Any]
) -> tuple[str, dict[str, pa.Table], Vectors]:
    """Write scenario, events, tables and vectors; returns the lines of the events and the rest."""
    import numpy as np

    from virsci_society.society.results.run import Vectors, write_vectors
    from virsci_society.society.results.table_files import write_tables
    from virsci_society.society.results.text_provenance import events_header, speaker_of

    write_atomically(folder / SCENARIO, scenario)
    line = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
    events = "".join(f"{line(event)}\n" for event in society.log.events)
    speaker = speaker_of(manifest)
    write_atomically(folder / "events.jsonl", events_header(speaker) + events)
    tables = write_tables(folder, society.log.all_rows(), speaker)
    ids = sorted(str(row[0]) for row in society.log.rows["papers"])
    values = np.array([society.literature.vector(paper) for paper in ids], dtype=np.float32)
    shape = (len(ids), society.ecosystem.embedding.dim)
    vectors = Vectors(tuple(ids), values.reshape(shape))
    write_vectors(folder, vectors)
    return events, tables, vectors


def _write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Write the hashes of all files of a run, and last the manifest, which is one of them."""
    text = json.dumps(manifest | {"hashes": HASHES}, indent=2, ensure_ascii=False) + "\n"
    tables = (*folder.glob("tables/*.parquet"), *folder.glob("tables/metrics/*.parquet"))
    files = (folder / name for name in HASHED)
    hashed = (*(path for path in files if path.exists()), *tables)
    write_hashes(folder, hashed, {MANIFEST: text})
    # Last: nothing without a manifest is taken for a finished run.
    write_atomically(folder / MANIFEST, text)


def make_manifest(scenario: Scenario, society: Society) -> dict[str, Any]:
    """The manifest: what was run, from which ecosystem, with which prompts and releases."""
    ecosystem = society.ecosystem
    return {
        "format": FORMAT,
        "name": scenario.name,
        "seed": scenario.seed,
        "days": society.day,
        "until": scenario.until,
        "boundary": ecosystem.boundary,
        "backend": backend_summary(scenario),
        "identity": identity_hash(scenario),
        NUMBER: IDENTITY,
        "ecosystem": {
            "manifest": hash_json(ecosystem.manifest),
            "source": ecosystem.manifest.get("source"),
            "counts": ecosystem.counts,
        },
        "embedding": {
            name: getattr(ecosystem.embedding, name)
            for name in ("name", "title", "label", "revision")
        },
        "notes": ecosystem.manifest.get("notes", []),
        "search": {"papers": society.literature.facts, "people": society.knowledge.facts},
        "prompts": prompt_hashes(scenario),
        "versions": {"python": platform.python_version(), **_versions()},
        "sources": source_digest(),
        "scenario": scenario.to_data(),
    }


def backend_summary(scenario: Scenario) -> dict[str, Any]:
    """The backend as the manifest names it: name, model, sentence for reports, training cut-off."""
    data, backend = scenario.to_data()["backend"], scenario.backend.backend
    return {
        "use": data["use"],
        "model": getattr(backend.paid, "model", None),
        "about": backend.about,
        **backend.paid.record,
        "cutoff": data["cutoff"],
    }


def resolved_text(scenario: Scenario) -> str:
    """The scenario as YAML with every key, such that it alone runs the same again."""
    header = "# Every key with its value: 'society run' of this file is the same run.\n"
    data = scenario.to_data()
    data["out"] = None
    return header + write_yaml(data)


def measure_all(run: Run, scenario: Scenario) -> dict[str, Any]:
    """Every metric that the scenario names."""
    import pandas as pd

    from virsci_society.metrics.registry import compute_metric, metrics_named
    from virsci_society.scenarios.config.registry import outside_metric

    metrics = {}
    for metric in scenario.metrics:
        for name in metrics_named(metric):
            metrics[name] = compute_metric(run, name)
        if (outside := outside_metric(metric)) is not None:
            name, function = outside
            measured = function(run)
            if not isinstance(measured, pd.DataFrame):
                got = type(measured).__name__
                raise InputError(f"metrics: {metric} returned {got}; a metric returns a DataFrame")
            metrics[name] = run.add_metric(name, measured)
    if scenario.backend.backend.parts:
        # In a hybrid run, rows of a team or a paper say whether a model was asked.
        for name, table in metrics.items():
            key = next((column for column in ("team", "paper") if column in table.columns), None)
            if key is not None and "live" not in table.columns:
                live = run.table(f"{key}s").set_index(key)["live"]
                metrics[name] = table.assign(live=table[key].map(live))
    return metrics


def prompt_hashes(scenario: Scenario) -> dict[str, str]:
    """sha256 of the prompt files of the classes that use them: protocol and publication."""
    files: dict[str, Path] = {}
    for held in (scenario, *(changed for _, changed in scenario.after_interventions())):
        for protocol in held.protocol.components:
            # The packages are symbolic links in a checkout, so one file has two paths.
            beside = {path.name: path.resolve() for path in _prompts_beside(protocol)}
            files |= beside
            if card := getattr(protocol, "card_path", ""):
                files[Path(card).name] = (CARDS / card).resolve()
            for path in (page.path.resolve() for page in getattr(protocol, "pages", ())):
                if beside.get(path.name) != path:
                    files[f"{path.parent.name}/{path.name}"] = path
        files |= {f"publication/{path.name}": path for path in _prompts_beside(held.publication)}
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}


def _prompts_beside(part: Part) -> list[Path]:
    """The prompt files of a component's class, and of its bases that are protocols."""
    files: list[Path] = []
    # Bases first: a page of the class itself stands for one of the same name below it.
    for cls in reversed(type(part).__mro__):
        if issubclass(cls, TeamProtocol | Publication):
            module = sys.modules[cls.__module__]
            folder = Path(getattr(module, "__file__", None) or ".").parent / "prompts"
            files += sorted(folder.glob("*.txt"))
    return files


@cache
def _versions() -> Mapping[str, str]:
    versions = dict.fromkeys(PACKAGES, "not installed")
    for package in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return versions
