"""Run folder: what a finished run leaves on disk, file by file, the manifest last."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

from agents.errors import Stopped
from agents.part import Part
from agents.secrets import redact
from scenarios.ecosystems import MANIFEST as ECOSYSTEM_MANIFEST
from scenarios.ecosystems import Folder
from scenarios.keys import json_schema
from scenarios.load import write_yaml
from scenarios.schema import Scenario

if TYPE_CHECKING:
    import pandas as pd

    from metrics.novelty import Database, Databases
    from society.ecosystem.ecosystem import Ecosystem
    from society.literature.papers import Papers
    from society.model import Society
    from society.run import Run, Vectors

FORMAT = 1
MANIFEST = "manifest.json"
SCENARIO = "scenario.yaml"
DIGEST = "digest"
PARTIAL = "partial"
PARTIAL_ROWS = 300_000
"""A stopped run of more rows than this leaves no partial tables: a stop must be quick."""
SCHEMA = "scenario.schema.json"
PACKAGES = ("virsci-society", "mesa", "simpy", "numpy", "pandas", "pydantic", "faiss-cpu", "scipy")


def write_run(
    scenario: Scenario,
    society: Society,
    ecosystem: Ecosystem,
    folder: Path,
    ledger: Mapping[str, Any],
    *,
    page: bool = True,
) -> None:
    """Write everything that a run folder holds, the manifest last; what is unfinished goes.

    Without its ``page`` nothing is lost: ``society report`` writes it from the folder.
    """
    from metrics.exports import write_networks
    from metrics.report.page import write_page
    from society.frames import essential
    from society.run import Run, digest_tables, write_measures, write_tables, write_vectors

    for name in (MANIFEST, DIGEST):
        (folder / name).unlink(missing_ok=True)
    text = resolved_text(scenario)
    _write(folder / SCENARIO, text)
    _write(folder / SCHEMA, json.dumps(json_schema(Scenario), indent=1) + "\n")
    events = "".join(_line(event) for event in society.log.events)
    _write(folder / "events.jsonl", events)
    tables, vectors = write_tables(folder, society.log.rows), _vectors(society)
    write_vectors(folder, vectors)
    manifest = {**describe(scenario, society, ecosystem), "ledger": ledger}
    seen: dict[str, Any] = {"scenario_text": text, "vectors": vectors, "events": society.log.events}
    seen["databases"] = databases_of(ecosystem)
    run = Run(tables, manifest, manifest["scenario"], **seen)
    write_networks(run, folder)
    measures = measure_all(run, scenario)
    write_measures(folder, measures)
    network = (folder / "network.graphml").read_bytes()
    told = digest_tables(essential(tables)).encode() + network + events.encode()
    manifest["digest"] = hashlib.sha256(told).hexdigest()
    if page:
        write_page(Run(tables, manifest, manifest["scenario"], **seen, measures=measures), folder)
    rmtree(folder / PARTIAL, ignore_errors=True)
    _write(folder / DIGEST, manifest["digest"] + "\n")
    _write(folder / MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")


def write_partial(
    scenario: Scenario,
    society: Society,
    ecosystem: Ecosystem,
    folder: Path,
    ledger: Mapping[str, Any],
    why: Stopped,
) -> None:
    """Write what had happened by the last completed day of a run that was stopped.

    It has no digest and no measures, and the disk may be what stopped the run: then there is
    none of it.
    """
    from society.run import write_tables, write_vectors

    society.log.go_back()
    rows = society.log.rows
    if sum(map(len, rows.values())) > PARTIAL_ROWS:
        return
    part = folder / PARTIAL
    with suppress(OSError):
        part.mkdir(exist_ok=True)
        for name in (MANIFEST, "report.html"):
            (part / name).unlink(missing_ok=True)
        _write(part / SCENARIO, resolved_text(scenario))
        _write(part / "events.jsonl", "".join(_line(event) for event in society.log.events))
        write_tables(part, rows)
        write_vectors(part, _vectors(society))
        told = describe(scenario, society, ecosystem)
        told |= {"days": society.log.completed, "partial": redact(str(why)), "ledger": ledger}
        _write(part / MANIFEST, json.dumps(told, indent=2, ensure_ascii=False) + "\n")


def describe(scenario: Scenario, society: Society, ecosystem: Ecosystem) -> dict[str, Any]:
    """The manifest: what was run, from what, by what."""
    return {
        "format": FORMAT,
        "name": scenario.name,
        "seed": scenario.seed,
        "days": society.day,
        "until": scenario.until,
        "boundary": ecosystem.boundary,
        "backend": backend_told(scenario),
        "identity": identity_hash(scenario),
        "ecosystem": {
            "manifest": hash_json(ecosystem.manifest),
            "source": ecosystem.manifest.get("source"),
            "counts": ecosystem.counts,
        },
        "notes": ecosystem.manifest.get("notes", []),
        "search": {"papers": society.literature.facts, "people": society.knowledge.facts},
        "prompts": prompt_hashes(scenario),
        "versions": {"python": platform.python_version(), **_versions()},
        "scenario": scenario.to_data(),
    }


def backend_told(scenario: Scenario) -> dict[str, Any]:
    """Who spoke: name in the scenario, model and its training cut-off, the sentence for reports."""
    data = scenario.to_data()["backend"]
    backend = scenario.backend.backend
    model = getattr(backend.paid, "model", None)
    told = {"use": data["use"], "model": model, "about": backend.about}
    return {**told, "cutoff": data["cutoff"]}


def resolved_text(scenario: Scenario) -> str:
    """The scenario as YAML with every key, such that it alone runs the same again."""
    header = (
        f"# yaml-language-server: $schema={SCHEMA}\n"
        "# Every key with its value: 'society run' of this file is the same run.\n"
    )
    data = scenario.to_data()
    data["out"] = None
    return header + write_yaml(data)


def measure_all(run: Run, scenario: Scenario) -> dict[str, Any]:
    """Every table of the metrics that the scenario names."""
    from metrics.table import FAMILIES, measure

    named = [name for family in scenario.metrics for name in FAMILIES[family]]
    measures = {name: measure(run, name) for name in named}
    if scenario.backend.backend.voices:
        return {name: _marked(table, run) for name, table in measures.items()}
    return measures


def _marked(measured: pd.DataFrame, run: Run) -> pd.DataFrame:
    """A measure of a hybrid run: rows of a team or a paper say whether a model was asked."""
    for key in ("team", "paper"):
        if key in measured.columns and "live" not in measured.columns:
            known = run.table(f"{key}s").set_index(key)["live"]
            return measured.assign(live=measured[key].map(known))
    return measured


def _vectors(society: Society) -> Vectors:
    import numpy as np

    from society.run import Vectors

    ids = sorted(str(row[0]) for row in society.log.rows["papers"])
    rows = [society.literature.vector(paper) for paper in ids]
    dim = society.ecosystem.embedding.dim
    return Vectors(tuple(ids), np.array(rows, dtype=np.float32).reshape(len(ids), dim))


def databases_of(ecosystem: Ecosystem) -> Databases:
    """The papers that novelty is measured against."""
    from metrics.novelty import Databases

    return Databases(
        _database(ecosystem.past, ecosystem.past_vectors),
        _database(ecosystem.contemporary, ecosystem.contemporary_vectors),
    )


def _database(papers: Papers, vectors: Any) -> Database:
    from metrics.novelty import Database

    def text(row: int) -> str:
        return f"{papers[row].title} {papers[row].abstract}"

    def keywords(row: int) -> tuple[str, ...]:
        return tuple(papers[row].keywords)

    ids = tuple(papers.table["id"].to_pylist())
    return Database(vectors, papers.years, papers.citations, ids, text, keywords)


def prompt_hashes(scenario: Scenario) -> dict[str, str]:
    """sha256 of the prompt files beside whatever asks: protocol and publication.

    Those of the components of a mixture and those that an intervention brings in are among them.
    """
    files: dict[str, Path] = {}
    for held in (scenario, *(changed for _, changed in scenario.changed())):
        for protocol in held.protocol.components:
            files |= {path.name: path for path in _prompts_beside(protocol)}
        review = _prompts_beside(held.publication)
        files |= {f"publication/{path.name}": path for path in review}
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}


def _prompts_beside(part: Part) -> list[Path]:
    module = sys.modules[type(part).__module__]
    folder = Path(getattr(module, "__file__", None) or ".").parent / "prompts"
    return sorted(folder.glob("*.txt"))


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def _line(event: Mapping[str, Any]) -> str:
    return json.dumps(event, ensure_ascii=True, separators=(",", ":")) + "\n"


def hash_json(data: Any) -> str:
    """sha256 of plain data, whatever the order of its keys."""
    text = json.dumps(data, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _write(path: Path, text: str) -> None:
    unfinished = path.with_name(path.name + ".unfinished")
    unfinished.write_text(text, encoding="utf-8")
    os.replace(unfinished, path)


def identity_hash(scenario: Scenario) -> str:
    """sha256 of what happens: the identity keys, and the content of an ecosystem folder."""
    return hash_json(identified(scenario))


def identified(scenario: Scenario) -> dict[str, Any]:
    """The identity keys; the path of an ecosystem folder is replaced by a hash of its content."""
    data = scenario.identity()
    source = scenario.population.ecosystem
    if isinstance(source, Folder):
        source.require()
        content = (source.path / ECOSYSTEM_MANIFEST).read_bytes()
        data["population"]["ecosystem"]["path"] = hashlib.sha256(content).hexdigest()
    return data
