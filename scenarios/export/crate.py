"""The metadata of an archive as RO-Crate, Process Run Crate, CITATION.cff and codemeta.json.

Written by hand, because the library ``rocrate`` brings a converter of Galaxy workflows and a client
for the network to write one JSON file.

Source: RO-Crate 1.3, https://w3id.org/ro/crate/1.3; Process Run Crate 0.6,
https://w3id.org/ro/wfrun/process/0.6; Citation File Format 1.2.0; CodeMeta 3.0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from virsci_society.scenarios.config.yaml_io import write_yaml
from virsci_society.society.results.speaker import backend_of, speaker_of

CRATE, PROFILE = "https://w3id.org/ro/crate/1.3", "https://w3id.org/ro/wfrun/process/0.6"
PROGRAM = "#virsci-society"
FORMATS = {
    "json": "application/json",
    "jsonl": "application/jsonl",
    "yaml": "application/yaml",
    "parquet": "application/vnd.apache.parquet",
    "sqlite": "application/vnd.sqlite3",
    "html": "text/html",
    "md": "text/markdown",
    "csv": "text/csv",
    "tex": "application/x-tex",
    "svg": "image/svg+xml",
    "graphml": "application/graphml+xml",
    "gexf": "application/gexf+xml",
    "npz": "application/zip",
}
"""Media types by the end of a file's name; of all others ``text/plain``."""

RULES_WORDS = "The program made all of them."
MODELS_WORDS = (
    "The terms of the model's provider, or the licence of its weights, say whether its words may "
    "be passed on."
)
INVENTED = "They are invented."
EXCERPTS = (
    "Their licences hold for the excerpts that prompts show. Where they lie in a folder that is "
    "not in this archive as ecosystem/, a replay needs it in the same place."
)


@dataclass(frozen=True)
class ArchivedRun:
    """A finished run in an archive.

    Attributes:
        path: its folder in the archive.
        manifest: what it tells of itself.
        ended: when its manifest was written, in ISO 8601 and UTC.
    """

    path: str
    manifest: Mapping[str, Any]
    ended: str

    @property
    def title(self) -> str:
        """Scenario and seed."""
        return f"{self.manifest['name']}, seed {self.manifest['seed']}"


@dataclass(frozen=True)
class ArchiveFacts:
    """What an archive tells of itself.

    Attributes:
        title: of the run or study.
        runs: at least one.
        date: of the archive, in ISO 8601.
        license: identifier in SPDX's list; None: not stated.
        authors: names; none: not stated.
    """

    title: str
    runs: Sequence[ArchivedRun]
    date: str
    license: str | None
    authors: Sequence[str]

    @property
    def speakers(self) -> str:
        """Who spoke."""
        told = (speaker_of(run.manifest) or "not known" for run in self.runs)
        return "; ".join(dict.fromkeys(told))

    def terms(self) -> list[str]:
        """What may be passed on, one sentence each."""
        sources = dict.fromkeys(str(run.manifest["ecosystem"]["source"]) for run in self.runs)
        words = MODELS_WORDS if any(map(_model, self.runs)) else RULES_WORDS
        invented = set(sources) <= {"synthetic", "strangers"}
        return [
            f"Words: {self.speakers}. {words}",
            f"Past papers: {', '.join(sources)}. {INVENTED if invented else EXCERPTS}",
            f"Licence of this archive: {self.license or 'none is stated'}.",
        ]

    def costs(self) -> str:
        """Calls, tokens and money of all runs together."""
        ledgers = [run.manifest.get("ledger", {}) for run in self.runs]
        names = ("attempts", "prompt_tokens", "completion_tokens", "usd")
        calls, asked, told, usd = (sum(one.get(name, 0) for one in ledgers) for name in names)
        return f"{calls:,} calls, {asked:,} + {told:,} tokens, {usd:.2f} USD"


def crate_metadata(facts: ArchiveFacts, files: Mapping[str, tuple[str, int]]) -> dict[str, Any]:
    """The file ``ro-crate-metadata.json``.

    Args:
        facts: of the archive.
        files: sha256 (hex) and size in bytes, by path in the archive.
    """
    graph = [
        _entity("ro-crate-metadata.json", "CreativeWork", conformsTo=_at(CRATE), about=_at("./")),
        _root(facts, files),
        _entity(PROFILE, "CreativeWork", name="Process Run Crate", version="0.6"),
        *_licenses(facts),
        *_instruments(facts),
        *(_action(run, files) for run in facts.runs),
        *(_file(path, *told) for path, told in files.items()),
    ]
    context = [f"{CRATE}/context", "https://w3id.org/ro/terms/workflow-run/context"]
    return {"@context": context, "@graph": graph}


def citation(facts: ArchiveFacts) -> str:
    """The file ``CITATION.cff``."""
    version = str(facts.runs[0].manifest["versions"]["virsci-society"])
    data: dict[str, Any] = {
        "cff-version": "1.2.0",
        "message": "If you use this archive, please cite it and the software that made it.",
        "type": "dataset",
        "title": facts.title,
        "authors": [{"name": name} for name in facts.authors or ["authors not stated"]],
        "date-released": facts.date,
        "references": [
            {
                "type": "software",
                "title": "virsci-society",
                "version": version,
                "authors": [{"name": "virsci-society contributors"}],
                "url": "https://arxiv.org/abs/2410.09403",
            }
        ],
    }
    return write_yaml(data | ({"license": facts.license} if facts.license else {}))


def codemeta(facts: ArchiveFacts) -> dict[str, Any]:
    """The file ``codemeta.json``, of the program that made the runs."""
    versions = dict(facts.runs[0].manifest["versions"])
    python = versions.pop("python")
    return {
        "@context": "https://w3id.org/codemeta/3.0",
        "@type": "SoftwareSourceCode",
        "name": "virsci-society",
        "version": versions.pop("virsci-society"),
        "license": "https://spdx.org/licenses/MIT",
        "programmingLanguage": "Python",
        "runtimePlatform": f"Python {python}",
        "softwareRequirements": [f"{name}=={one}" for name, one in versions.items()],
    }


def _at(name: str) -> dict[str, str]:
    return {"@id": name}


def _entity(place: str, kind: str, /, **properties: Any) -> dict[str, Any]:
    return {"@id": place, "@type": kind, **properties}


def _root(facts: ArchiveFacts, files: Mapping[str, Any]) -> dict[str, Any]:
    stated = facts.license and _at(f"https://spdx.org/licenses/{facts.license}")
    authors = [_at(f"#{quote(name)}") for name in facts.authors]
    return _entity(
        "./",
        "Dataset",
        conformsTo=_at(PROFILE),
        name=facts.title,
        description=f"Runs of a simulated society of scientists. {' '.join(facts.terms())} "
        f"Costs: {facts.costs()}.",
        datePublished=facts.date,
        license=stated or facts.terms()[-1],
        hasPart=[_at(quote(path)) for path in files],
        mentions=[_at(f"#{run.path}") for run in facts.runs],
        **({"author": authors} if authors else {}),
    )


def _licenses(facts: ArchiveFacts) -> list[dict[str, Any]]:
    authors = [_entity(f"#{quote(name)}", "Person", name=name) for name in facts.authors]
    if facts.license is None:
        return authors
    place = f"https://spdx.org/licenses/{facts.license}"
    return [*authors, _entity(place, "CreativeWork", name=facts.license)]


def _instruments(facts: ArchiveFacts) -> list[dict[str, Any]]:
    versions = facts.runs[0].manifest["versions"]
    needed = [f"{name}=={version}" for name, version in versions.items()]
    program = _entity(
        PROGRAM,
        "SoftwareApplication",
        name="virsci-society",
        softwareVersion=versions["virsci-society"],
        softwareRequirements=needed,
    )
    models = dict.fromkeys(model for run in facts.runs if (model := _model(run)))
    return [program, *(_entity(_model_id(one), "SoftwareApplication", name=one) for one in models)]


def _model(run: ArchivedRun) -> str:
    return str(backend_of(run.manifest).get("model") or "")


def _model_id(model: str) -> str:
    return f"#model-{quote(model, safe='')}"


def _action(run: ArchivedRun, files: Mapping[str, Any]) -> dict[str, Any]:
    manifest, model = run.manifest, _model(run)
    made = [path for path in files if path.startswith(f"{run.path}/")]
    scenario = f"{run.path}/scenario.yaml"
    return _entity(
        f"#{run.path}",
        "CreateAction",
        name=run.title,
        description=f"society run {scenario}; {manifest['days']:g} simulated days; who spoke: "
        f"{speaker_of(manifest)}; digest {manifest['digest']}",
        endTime=run.ended,
        actionStatus="http://schema.org/CompletedActionStatus",
        instrument=[_at(PROGRAM), *([_at(_model_id(model))] if model else [])],
        object=[_at(quote(scenario))],
        result=[_at(quote(path)) for path in made if path != scenario],
    )


def _file(path: str, digest: str, size: int) -> dict[str, Any]:
    name = path.rpartition("/")[2]
    kind = FORMATS.get(name.rpartition(".")[2], "text/plain")
    return _entity(
        quote(path),
        "File",
        name=name,
        encodingFormat=kind,
        contentSize=str(size),
        sha256=digest,
    )
