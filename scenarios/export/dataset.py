"""Abstracts, ideas, votes and reviews of a run as Parquet files, each row marked as machine-made.

A folder holds ``data/*.parquet``, a datasheet (``README.md``) and ``croissant.json``, which
describes files and columns for machines.

Source: Croissant format specification 1.1, http://mlcommons.org/croissant/1.1, with the terms of
PROV-O (https://www.w3.org/TR/prov-o/) for its provenance; the datasheet is that of Gebru et al.
(2021), Datasheets for Datasets, CACM 64.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from string import Template
from typing import Any

import pandas as pd
import pyarrow as pa

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import write_atomically
from virsci_society.scenarios.config.yaml_io import read_yaml
from virsci_society.society.results.folder_kinds import MANIFEST
from virsci_society.society.results.run import Run
from virsci_society.society.results.speaker import (
    WRITTEN_BY,
    asks_by_files,
    asks_people,
    person_marks,
    speaker_of,
)
from virsci_society.society.results.table_files import write_parquet

TEXT, NUMBER, WHOLE, YES_NO = "string", "Float64", "Int64", "boolean"
ARROW = {TEXT: pa.string(), NUMBER: pa.float64(), WHOLE: pa.int64(), YES_NO: pa.bool_()}
SCHEMA_ORG = {TEXT: "sc:Text", NUMBER: "sc:Float", WHOLE: "sc:Integer", YES_NO: "sc:Boolean"}
Described = list[str]
"""Type and meaning of a column."""
_DECLARED: dict[Any, Any] = read_yaml(Path(__file__).with_name("dataset.yaml")).data
ORIGIN: dict[str, Described] = _DECLARED["origin"]
"""Columns of every table: its provenance."""
COLUMNS: dict[str, dict[str, Described]] = {
    "abstracts": _DECLARED["abstracts"],
    **{name: _DECLARED["spoken"] | _DECLARED[name] for name in ("ideas", "votes", "reviews")},
}
"""By table: each column with its type and meaning, as ``dataset.yaml`` declares them."""
FIELDS = {
    "ideas": {
        name: name.title()
        for name in (
            *("title", "idea", "experiment"),
            *("clarity", "feasibility", "novelty"),
        )
    },
    "votes": {"decision": "Decision Made"},
}
"""By table: the field of the reply that a column is read from."""


def write_dataset(
    folder: Path,
    run: Run,
    *,
    within: Path | None = None,
    license: str | None = None,
    authors: Sequence[str] = (),
) -> dict[str, int]:
    """Write the data set of a run.

    Args:
        folder: where to write; it is made.
        run: the run.
        within: a folder above it below which no folder may be a link; None: ``folder``.
        license: identifier in SPDX's list; None: not stated.
        authors: names; none: not stated.

    Returns:
        Number of rows of each table.
    """
    tables, above = dataset_tables(run), within or folder
    speaker = speaker_of(run.manifest)
    hashes: dict[str, str] = {}
    for name, table in tables.items():
        path = folder / "data" / f"{name}.parquet"
        kinds = [(column, ARROW[kind]) for column, (kind, _) in columns_of(name).items()]
        write_parquet(path, table, pa.schema(kinds), speaker=speaker, within=above)
        hashes[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    facts = croissant_metadata(run, hashes) | _stated(run, license, authors)
    metadata = json.dumps(facts, indent=2, ensure_ascii=False)
    write_atomically(folder / "croissant.json", metadata + "\n", within=above)
    write_atomically(folder / "README.md", datasheet(run, tables), within=above)
    return {name: len(table) for name, table in tables.items()}


def columns_of(name: str) -> dict[str, Described]:
    """All columns of a table with type and meaning, its provenance last."""
    return {**COLUMNS[name], **ORIGIN}


def dataset_tables(run: Run) -> dict[str, pd.DataFrame]:
    """The tables of the data set, with the columns of ``columns_of``."""
    calls = _marked(run)
    reply = calls["reply"].notna()
    chosen = {
        "ideas": calls[reply & (calls["form"] == "Idea")],
        "votes": calls[reply & (calls["act"] == "vote")],
        "reviews": calls[reply & calls["act"].isin(["review", "critique"])],
    }
    tables = {"abstracts": _abstracts(run, calls)}
    tables |= {name: _spoken(rows, name) for name, rows in chosen.items()}
    return {name: _with_origin(run, name, table) for name, table in tables.items()}


def title_of(run: Run) -> str:
    """Name of the data set."""
    return f"{run.name or 'society'}-{run.seed}"


def summary_of(run: Run) -> str:
    """One paragraph that says what the texts are and who made them."""
    return (
        f"{origin_of(run)[0]} of a simulated society of scientists: abstracts, ideas, votes and "
        f"reviews of the run {title_of(run)} of virsci-society, {run.days:g} simulated days. "
        f"Who spoke: {speaker_of(run.manifest) or 'not known'}. {origin_of(run)[1]} Names "
        "are invented or masked, results described in abstracts were never measured."
    )


def origin_of(run: Run) -> tuple[str, str, str]:
    """What the texts of a run are, and two sentences: who wrote them, what came from people."""
    if asks_people(run.scenario):
        return (
            "Texts",
            "Persons wrote some of them: where machine_generated is false.",
            "Persons answered for chosen scientists, under the pseudonyms in the column model.",
        )
    if asks_by_files(run.scenario):
        return (
            "Texts",
            "People or programs answered through files: where machine_generated is missing.",
            "Whether the answers in those files came from people is not known.",
        )
    return (
        "Machine-generated texts",
        "No person wrote any of them.",
        "Nothing was collected from people.",
    )


CROISSANT = "http://mlcommons.org/croissant/1.1"
RAI = "http://mlcommons.org/croissant/RAI/1.0"


def run_ended(folder: Path) -> datetime:
    """When the manifest of a run was written, to the second."""
    return datetime.fromtimestamp(int((folder / MANIFEST).stat().st_mtime), UTC)


def date_of_release(*ended: datetime) -> datetime:
    """The date of what is published of runs: when the last has ended, and not the date of today.

    So a run that is published twice gives the same bytes. ``SOURCE_DATE_EPOCH``, seconds since
    1970, comes first where it is set (https://reproducible-builds.org/specs/source-date-epoch).

    Raises:
        InputError: it is set to something else.
    """
    stated = os.environ.get("SOURCE_DATE_EPOCH")
    if not stated:
        return max(ended)
    try:
        return datetime.fromtimestamp(int(stated), UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InputError(
            f"SOURCE_DATE_EPOCH: got {stated!r}, expected seconds since 1970; unset it"
        ) from error


def _stated(run: Run, license: str | None, authors: Sequence[str]) -> dict[str, Any]:
    """What the format asks for and no run knows; what is not stated is told as not stated."""
    terms = f"https://spdx.org/licenses/{license}" if license else None
    people = [{"@type": "sc:Person", "name": name} for name in authors]
    # One in memory has ended now, in this process.
    date = date_of_release(datetime.now(UTC) if run.folder is None else run_ended(run.folder))
    return {
        "citeAs": f"{', '.join(authors) or 'authors not stated'} ({date.year}): {title_of(run)}, a "
        f"data set made by {_program(run)}, https://arxiv.org/abs/2410.09403.",
        "license": terms or {"@type": "sc:CreativeWork", "name": "none is stated"},
        "creator": people or {"@type": "sc:Organization", "name": "authors not stated"},
        "datePublished": date.date().isoformat(),
    }


def croissant_metadata(run: Run, hashes: Mapping[str, str]) -> dict[str, Any]:
    """The metadata of the data set as JSON-LD."""
    return {
        "@context": _DECLARED["croissant"],
        "@type": "sc:Dataset",
        "conformsTo": [CROISSANT, RAI],
        "name": title_of(run),
        "description": summary_of(run),
        "version": "1.0.0",
        "keywords": ["machine-generated", "simulation", "science of science"],
        "rai:dataCollection": "Machine-generated by a simulation; see the datasheet, README.md.",
        "isLiveDataset": False,
        "url": "README.md",
        **_provenance(run),
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": f"{table}.parquet",
                "name": f"{table}.parquet",
                "contentUrl": f"data/{table}.parquet",
                "encodingFormat": "application/x-parquet",
                "sha256": digest,
            }
            for table, digest in hashes.items()
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": table,
                "name": table,
                "field": [_field(table, column) for column in columns_of(table)],
                # Who spoke, row by row.
                "annotation": _field(table, "model", "speaker")
                | {"dataType": "prov:Agent", "equivalentProperty": "prov:wasAttributedTo"},
            }
            for table in hashes
        ],
    }


def _field(table: str, column: str, name: str = "") -> dict[str, Any]:
    kind, meaning = columns_of(table)[column]
    return {
        "@type": "cr:Field",
        "@id": f"{table}/{name or column}",
        "name": name or column,
        "description": meaning,
        "dataType": SCHEMA_ORG[kind],
        "source": {"fileObject": {"@id": f"{table}.parquet"}, "extract": {"column": column}},
    }


def _provenance(run: Run) -> dict[str, Any]:
    """The run that made the texts, what it was made of, and who spoke, in the terms of PROV-O."""
    manifest = run.manifest
    used = [f"scenario {run.name}, seed {run.seed}"]
    if source := (manifest.get("ecosystem") or {}).get("source"):
        used.append(f"past papers: {source}")
    activity = _prov("Activity", f"simulation of {run.days:g} days") | {
        "prov:used": [_prov("Entity", one) for one in used],
        "prov:wasAssociatedWith": _prov("SoftwareAgent", _program(run)),
    }
    if run.folder is not None:
        activity["prov:endedAtTime"] = run_ended(run.folder).isoformat()
    results = _prov("Entity", f"results of the run, sha256 {run.digest or 'none: not finished'}")
    return {
        "prov:wasGeneratedBy": activity,
        "prov:wasDerivedFrom": results,
        "prov:wasAttributedTo": list(_speakers(run)),
    }


def _program(run: Run) -> str:
    versions = run.manifest.get("versions") or {}
    return f"virsci-society {versions.get('virsci-society', '')}".strip()


def _speakers(run: Run) -> Iterator[dict[str, str]]:
    """Every speaker of a run, once; of who answered through files nothing is known."""
    calls = _marked(run)[["model", "machine_generated"]].dropna(subset=["model"]).drop_duplicates()
    for model, machine in calls.sort_values("model").itertuples(index=False):
        known = "Agent" if pd.isna(machine) else "SoftwareAgent" if machine else "Person"
        yield _prov(known, model)


def _prov(kind: str, label: str) -> dict[str, Any]:
    return {"@type": f"prov:{kind}", "prov:label": label}


def datasheet(run: Run, tables: Mapping[str, pd.DataFrame]) -> str:
    """A datasheet in Markdown, for people."""
    template = Template((Path(__file__).parent / "datasheet.txt").read_text(encoding="utf-8"))
    facts = {
        key: _line(json.dumps(run.manifest.get(key), sort_keys=True))
        for key in ("backend", "ecosystem", "versions")
    }
    columns = []
    for name, table in tables.items():
        columns += [f"\n### {name} ({len(table):,} rows)\n", "| column | type | meaning |"]
        columns.append("| --- | --- | --- |")
        columns += [
            f"| `{c}` | {kind} | {means} |" for c, (kind, means) in columns_of(name).items()
        ]
    return template.substitute(
        title=_line(title_of(run)),
        summary=_line(summary_of(run)),
        columns="\n".join(columns),
        origin=_line(origin_of(run)[1]),
        collected=_line(origin_of(run)[2]),
        speaker=_line(speaker_of(run.manifest) or "not known"),
        seed=run.seed,
        digest=run.digest or "none: the run has not finished",
        **facts,
    )


def _marked(run: Run) -> pd.DataFrame:
    """The table ``calls`` with ``machine_generated``: missing where files brought the answers."""
    calls = run.table("calls")
    by_machine = [not mark.startswith(WRITTEN_BY) for mark in person_marks(run.scenario, calls)]
    marked = calls.assign(machine_generated=pd.Series(by_machine, index=calls.index, dtype=YES_NO))
    if asks_by_files(run.scenario):
        marked.loc[calls["live"].fillna(False), "machine_generated"] = pd.NA
    return marked


def _abstracts(run: Run, calls: pd.DataFrame) -> pd.DataFrame:
    papers = run.table("papers")
    by, cites = run.table("authorships"), run.table("citations")
    # A text on which a person may have worked is not said to be a machine's.
    by_machine = calls["machine_generated"]
    persons = calls["team"][~by_machine.fillna(True)]
    unknown = calls["team"][by_machine.isna()]
    machine = pd.Series(True, index=papers.index, dtype=YES_NO)
    # Unknown first, then persons: a team with both had a person in it.
    machine[papers["team"].isin(unknown)] = None
    machine[papers["team"].isin(persons)] = False
    models = calls.dropna(subset=["model"]).groupby("team")["model"].unique()
    named = models.map(lambda names: "; ".join(sorted(names))) if len(models) else models
    return papers.assign(
        authors=papers["paper"].map(by.groupby("paper")["scientist"].agg("; ".join)),
        cites=papers["paper"].map(cites.groupby("citing")["cited"].agg("; ".join)),
        model=papers["team"].map(named),
        machine_generated=machine,
    )


def _spoken(calls: pd.DataFrame, name: str) -> pd.DataFrame:
    """Rows of calls with the fields of their replies as columns."""
    replies = [_reply(text) for text in calls["reply"]]
    table = calls.assign(date=calls["asked"], kind=calls["form"], review=calls["reply"])
    kinds = {column: kind for column, (kind, _) in COLUMNS[name].items()}
    for column, field in FIELDS.get(name, {}).items():
        table[column] = _values([reply.get(field) for reply in replies], kinds[column], table.index)
    return table


def _values(values: Sequence[Any], kind: str, index: pd.Index[Any]) -> pd.Series[Any]:
    if kind == NUMBER:
        numbers = pd.to_numeric(pd.Series(values, index=index), errors="coerce")
        return numbers.astype(pd.Float64Dtype())
    return pd.Series([None if v is None else str(v) for v in values], index=index, dtype=TEXT)


def _reply(text: Any) -> dict[str, Any]:
    try:
        reply = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return {}
    return reply if isinstance(reply, dict) else {}


def _with_origin(run: Run, name: str, table: pd.DataFrame) -> pd.DataFrame:
    """The declared columns of a table with their types, its provenance among them."""
    given = table.assign(scenario=run.name, seed=run.seed, digest=run.digest)
    columns = columns_of(name)
    return (
        pd.DataFrame({column: given[column] for column in columns})
        .astype({column: kind for column, (kind, _) in columns.items()})
        .reset_index(drop=True)
    )


def _line(text: str) -> str:
    """A text of a run on one line of Markdown, in which nothing is markup."""
    flat = " ".join(str(text).split())
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>|#!" else sign for sign in flat)
