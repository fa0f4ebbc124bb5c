"""The command ``society list``: the library, one scenario, parts that a key takes, runs, keys."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import getdoc
from itertools import chain
from pathlib import Path
from textwrap import fill, indent
from typing import Annotated

import typer

from virsci_society.agents.errors import InputError
from virsci_society.agents.spelling import did_you_mean
from virsci_society.scenarios.terminal.console import print_table
from virsci_society.scenarios.terminal.options import complete_scenario, guarded, tell, tell_json

WIDTH = 96
"""Columns of a citation."""
OTHER_NAMES = ("scenarios", "models", "runs", "keys")
"""What can be listed besides parts by their kind."""


@guarded
def list_(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="A scenario, a component, a kind such as protocols or measures, or scenarios, "
            "models, runs, keys.",
            autocompletion=complete_scenario,
        ),
    ] = None,
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="WHERE", help="Folder for runs and models; fact or section for facts and keys."
        ),
    ] = Path("runs"),
    json: Annotated[
        bool, typer.Option("--json", help="Runs as JSON, or keys as JSON Schema for editors.")
    ] = False,
) -> None:
    """List scenarios, components, runs and settings.

    Without a name, or with `scenarios`, the scenarios of the library are listed. `list runs` lists
    the runs below a folder, with state, date and cost; `list models` the weights (GGUF files) in
    installed packages and below a folder; `list keys` the sections of a scenario, `list
    keys protocol.selection` the keys of one. `list topics` prints what the name means.
    """
    from virsci_society.scenarios.config.registry import KIND_NAMES

    where = None if folder == Path("runs") else str(folder)
    if json and name not in ("runs", "keys"):
        raise InputError("--json works only with 'list runs' and 'list keys'")
    if name == "runs":
        _print_runs(folder, json)
    elif name == "models":
        _print_models(folder)
    elif name == "keys":
        from virsci_society.scenarios.config import keys
        from virsci_society.scenarios.config.schema import Scenario

        text = keys.schema_text(Scenario) if json else keys.render_keys(Scenario, where)
        tell(*text.splitlines())
    elif name in (None, "scenarios"):
        tell(*_library_lines())
    elif name == "studies":
        raise InputError("studies: 'society study list' lists the library")
    elif name == "facts" and where is not None:
        from virsci_society.scenarios.analysis.facts import chosen_facts

        for head, text in chosen_facts([where])[where].card():
            tell(*fill(f"{head}: {text}", WIDTH, subsequent_indent="    ").splitlines())
    elif name in KIND_NAMES:
        lines = {"metrics": _metric_lines, "measures": _measure_lines}
        tell(*(lines[name]() if name in lines else part_lines(name)))
    else:
        tell(*_scenario_lines(name))


def _print_runs(folder: Path, json: bool) -> None:
    from virsci_society.scenarios.runs.run_state import list_runs

    runs = list_runs(folder)
    if json:
        tell_json([run.to_data() for run in runs])
        return
    if not runs:
        tell(f"{folder}: no run in it; 'society run quickstart' makes one")
        return
    rows = [
        (
            f"{run.folder} (fork {run.fork_of})" if run.fork_of else run.folder,
            run.state,
            run.date[:16].replace("T", " "),
            None if run.days is None else int(run.days),
            run.calls,
            run.tokens,
            None if run.usd is None else f"{run.usd:,.2f}",
        )
        for run in runs
    ]
    heads = ("folder", "state", "date (UTC)", "days", "model calls", "tokens", "US$")
    print_table(f"runs in {folder}", heads, rows)


def _print_models(folder: Path) -> None:
    """Print the weights that ``use: local`` can load."""
    from virsci_society.agents.backends.weights import GET_SOME, list_weights

    rows = []
    for model in list_weights(folder):
        megabytes = f"{model.path.stat().st_size / 1e6:,.0f}"
        context = model.context or None
        rows.append((model.use, model.path.name, megabytes, context, model.license))
    if not rows:
        tell(f"no weights in installed packages or {folder}; get some: {GET_SOME}")
        return
    heads = ("backend.weights", "file", "MB", "context, tokens", "licence")
    print_table("models for backend.use=local", heads, rows)


def _library_lines() -> Iterator[str]:
    from virsci_society.scenarios.config.document import library

    scenarios = library()
    width = max(map(len, scenarios))
    for name, path in scenarios.items():
        with path.open(encoding="utf-8") as lines:
            head = " ".join(line[1:].strip() for line in lines if line.startswith("#"))
        sentence = head.split(". ")[0].rstrip(".")
        yield f"{name:{width}}  {sentence.split(': ')[0] if len(sentence) > 100 else sentence}"


def part_lines(kind: str) -> Iterator[str]:
    """Every part of a kind with its definition, and where it was published."""
    from virsci_society.scenarios.config.registry import TABLES

    parts = TABLES[kind]
    width = max(map(len, parts))
    for name, path in parts.items():
        part = _part(kind, path)
        yield f"{name:{width}}  {_definition(part) or path}"
        if citation := getattr(part, "citation", ""):
            yield from indent(fill(citation, WIDTH - 4), "    ").splitlines()


def _part(kind: str, path: str) -> object:
    from virsci_society.scenarios.config.reader import import_class
    from virsci_society.scenarios.config.registry import import_member

    return import_class(path) if kind == "protocols" else import_member(path)


def _definition(thing: object) -> str:
    """The first paragraph of a docstring in one line."""
    return " ".join((getdoc(thing) or "").partition("\n\n")[0].split())


def _metric_lines() -> Iterator[str]:
    """Metrics by family, each with its definition and source."""
    from virsci_society.metrics.registry import FAMILIES, METRICS, metrics_named

    yield "Metrics: tables computed from a run, by family. The key `metrics` of a scenario accepts"
    yield "families and metrics; a name that both share (novelty, teams, ...) means the family."
    for family in FAMILIES:
        yield f"family {family}"
        for name in metrics_named(family):
            yield f"  {name:26} {_definition(METRICS[name])}"


def _measure_lines() -> Iterator[str]:
    """Measures by family, each with its unit, definition and source."""
    from virsci_society.metrics.registry import MEASURES

    yield "Measures: one number per run, by family. The key `measures` of a study accepts these"
    yield "names, and `table.column.statistic` of a table or metric, such as teams.meetings.median."
    yield "Only `society compare` and `society calibrate` compute the measures of a comparison."
    for family in dict.fromkeys(measure.family for measure in MEASURES.values()):
        yield f"family {family}"
        for name, measure in MEASURES.items():
            if measure.family == family:
                yield f"  {name:26} {measure.meaning}{f' [{measure.unit}]' if measure.unit else ''}"


def _meanings(name: str) -> list[str]:
    """What a name is, where it is no scenario and no kind: a part, metric or measure."""
    from virsci_society.metrics.registry import FAMILIES, MEASURES, METRICS
    from virsci_society.scenarios.config.registry import TABLES

    meanings = []
    for kind, parts in TABLES.items():
        if path := parts.get(name):
            text = f"{name} is a component of kind {kind}: {_definition(_part(kind, path))}"
            meanings.append(f"{text} 'society list {kind}' lists all.")
    if name in MEASURES:
        meanings.append(f"{name} is a measure: {MEASURES[name].meaning}.")
    if name in FAMILIES or name in METRICS:
        meanings.append(f"{name} is a metric or a family of metrics, see 'society list metrics'.")
    return meanings


def _scenario_lines(name: str) -> Iterator[str]:
    """The file of a scenario or study with its resolved settings, or what a name means."""
    from virsci_society.metrics.registry import MEASURES
    from virsci_society.scenarios.config.document import STUDIES, find_scenario, library
    from virsci_society.scenarios.config.registry import KIND_NAMES, TABLES
    from virsci_society.scenarios.config.schema import load_scenario

    path = STUDIES / f"{name}.yaml"
    is_study = path.is_file()
    try:
        path = path if is_study else find_scenario(name)
    except InputError as error:
        if meanings := _meanings(name):
            yield from meanings
            return
        names = [*KIND_NAMES, *OTHER_NAMES, *library(), *MEASURES, *chain(*TABLES.values())]
        hint = did_you_mean(name, names)
        if near := [one for one in names if name in one and not hint]:
            hint = f"; names with it: {', '.join(near[:5])}"
        kinds = "" if hint else f"; kinds are {', '.join(KIND_NAMES)}"
        raise InputError(f"nothing is called {name!r}{hint}{kinds}") from error
    yield f"# {path}"
    yield from path.read_text(encoding="utf-8").splitlines()
    if is_study:
        return
    data = load_scenario(name).to_data()
    people = data["population"]["ecosystem"]
    size = f", {people['scientists']} scientists" if "scientists" in people else ""
    yield from ("", "# Resolved, with inherited keys and defaults:")
    yield f"#   until {data['until']}, seed {data['seed']}"
    yield f"#   population from {people['use']}{size}"
    for key in ("founding", "protocol", "publication", "backend"):
        yield f"#   {key}: {data[key]['use']}"
    yield f"#   careers: {(data['careers'] or {}).get('use', 'none')}"
    yield f"#   interventions: {len(data['interventions'])}"
    yield f"#   metrics: {', '.join(data['metrics'])}"
