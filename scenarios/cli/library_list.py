"""The command ``society list``: the library, one scenario, parts that a key takes, runs, keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from inspect import getdoc
from pathlib import Path
from textwrap import fill
from typing import Annotated

import typer

from virsci_society.agents.errors import InputError
from virsci_society.agents.spelling import did_you_mean
from virsci_society.scenarios.terminal.arguments import complete_scenario, guarded, tell, tell_json
from virsci_society.scenarios.terminal.console import print_table

WIDTH = 96
"""Columns of a citation."""


def complete_name(incomplete: str) -> list[str]:
    """Scenarios and kinds of parts that begin with a text, for the shell."""
    from virsci_society.scenarios.config.registry import KIND_NAMES

    kinds = [
        kind for kind in (*KIND_NAMES, "models", "runs", "keys") if kind.startswith(incomplete)
    ]
    return [*complete_scenario(incomplete), *kinds]


@guarded
def list_(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="A scenario; a part; a kind: protocols, measures, ...; models; runs; keys.",
            autocompletion=complete_name,
        ),
    ] = None,
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="WHERE",
            help="Of runs and models: the folder. Of facts, keys: the fact or section to show.",
        ),
    ] = Path("runs"),
    json: Annotated[
        bool, typer.Option("--json", help="Runs as JSON, or keys as JSON Schema for editors.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Of keys: all, not only those that are commonly set.")
    ] = False,
) -> None:
    """List scenarios, components, runs and settings.

    Parts that installed packages add are listed below the library. `list runs` names the runs
    below a folder, each with its state, date and cost; `list models` the weights (GGUF files) in
    installed packages and below a folder; `list keys` prints the keys of a scenario, `list keys
    protocol.selection` those of a section; `list topics` says what the name means.
    """
    from virsci_society.scenarios.config.registry import KIND_NAMES

    if json and name not in ("runs", "keys"):
        raise InputError("--json goes with 'list runs' and 'list keys'")
    if name == "runs":
        _print_runs(folder, json)
        return
    if name == "models":
        _print_models(folder)
        return
    if name == "keys":
        _print_keys(json, full, None if folder == Path("runs") else str(folder))
        return
    if name is None:
        lines = [*_library_lines(), *_plugin_lines()]
    elif name == "facts" and folder != Path("runs"):
        lines = list(_fact_lines(str(folder)))
    elif name in KIND_NAMES:
        lines = list(_kind_lines(name))
    else:
        lines = list(_scenario_lines(name))
    tell(*lines)


def _print_runs(folder: Path, json: bool) -> None:
    from virsci_society.scenarios.runs.run_state import list_runs

    found = list_runs(folder)
    if json:
        tell_json([one.to_data() for one in found])
        return
    if not found:
        tell(f"{folder}: no run in it; 'society run quickstart' makes one")
        return
    rows = [
        (
            one.folder,
            one.state,
            one.date[:16].replace("T", " "),
            None if one.days is None else int(one.days),
            one.calls,
            one.tokens,
            None if one.usd is None else f"{one.usd:,.2f}",
        )
        for one in found
    ]
    heads = ("folder", "state", "date (UTC)", "days", "model calls", "tokens", "US$")
    print_table(f"runs in {folder}", heads, rows)


def _print_models(folder: Path) -> None:
    """The weights that ``use: local`` can load."""
    from virsci_society.agents.backends.weights import GET_SOME, list_weights

    found = list(list_weights(folder))
    if not found:
        tell(f"no weights in installed packages or {folder}; get some: {GET_SOME}")
        return
    rows = [
        (
            one.use,
            one.path.name,
            f"{one.path.stat().st_size / 1e6:,.0f}",
            one.context or None,
            one.license or None,
        )
        for one in found
    ]
    heads = ("backend.weights", "file", "MB", "context, tokens", "licence")
    print_table("models for backend.use=local", heads, rows)


def _print_keys(json: bool, full: bool, section: str | None) -> None:
    """The keys of a scenario file, as a page for people or as JSON Schema."""
    from virsci_society.scenarios.config.schema import Scenario

    if section is not None:
        from virsci_society.scenarios.config.keys import render_section

        tell(*render_section(Scenario, section).splitlines())
        return
    if json:
        from virsci_society.scenarios.config.keys import schema_text

        tell(*schema_text(Scenario).splitlines())
    else:
        from virsci_society.scenarios.config.keys import common_keys, render_reference

        text = render_reference(Scenario, None if full else common_keys())
        tell(*text.splitlines())


def _library_lines() -> Iterator[str]:
    from virsci_society.scenarios.config.document import library

    found = library()
    width = max(len(name) for name in found)
    for name, path in found.items():
        yield f"{name:{width}}  {first_sentence(path)}"


def _plugin_lines() -> Iterator[str]:
    from virsci_society.scenarios.config.registry import installed_parts

    found = installed_parts()
    if found:
        yield ""
        yield "from installed packages:"
    for one in found:
        yield f"  {one.kind:12} {one.name:20} {one.path} ({one.package})"


def _kind_lines(kind: str) -> Iterator[str]:
    from virsci_society.scenarios.config.registry import parts_of_kind

    if kind in ("metrics", "measures"):
        yield from _metric_lines() if kind == "metrics" else _measure_lines()
        return
    if kind == "protocols":
        yield from protocol_lines(parts_of_kind(kind))
        return
    found = parts_of_kind(kind)
    width = max(len(name) for name in found)
    for name, path in found.items():
        yield f"{name:{width}}  {_first_line(path)}"


def _fact_lines(name: str) -> Iterator[str]:
    """The card of one fact."""
    from virsci_society.scenarios.analysis.facts import chosen_facts

    for head, text in chosen_facts([name])[name].card():
        yield from fill(f"{head}: {text}", WIDTH, subsequent_indent="    ").splitlines()


def protocol_lines(protocols: Mapping[str, str]) -> Iterator[str]:
    """For each protocol (import paths by name) what it is, then where it was published."""
    from virsci_society.scenarios.config.keys import summary
    from virsci_society.scenarios.config.registry import import_class
    from virsci_society.society.teams.contracts import TeamProtocol

    for name, path in protocols.items():
        cls = import_class(path)
        yield f"{name}: {summary(cls)}"
        if issubclass(cls, TeamProtocol) and cls.citation:
            lines = fill(cls.citation, WIDTH, initial_indent="    ", subsequent_indent="    ")
            yield from lines.splitlines()


def _metric_lines() -> Iterator[str]:
    """Metrics by family, each with its definition and source."""
    from virsci_society.metrics.registry import FAMILIES
    from virsci_society.scenarios.config.registry import installed_of

    yield "Metrics: tables computed from a run, by family. The key `metrics` of a scenario accepts"
    yield "families and metrics; a name that both share (novelty, teams, ...) means the family."
    for family, metrics in FAMILIES.items():
        yield f"family {family}"
        for name, metric in metrics.items():
            definition = " ".join((getdoc(metric) or "").partition("\n\n")[0].split())
            yield f"  {name:26} {definition}"
    if outside := installed_of("metrics"):
        yield f"from installed packages: {', '.join(outside)}"


def _measure_lines() -> Iterator[str]:
    """Measures by family, each with its unit, definition and source."""
    from itertools import groupby

    from virsci_society.metrics.measures import MEASURES

    yield "Measures: one number per run, by family. The key `measures` of a study accepts these"
    yield "names, and `table.column.statistic` of a table or metric, such as teams.meetings.median."
    yield "Only `society compare` and `society calibrate` compute the measures of a comparison."
    for family, measures in groupby(MEASURES.items(), lambda item: item[1].family):
        yield f"family {family}"
        for name, one in measures:
            unit = f" [{one.unit}]" if one.unit else ""
            told = "" if one.meaning == one.label else f": {one.meaning}"
            yield f"  {name:26} {one.label}{unit}{told}"


def _meanings(name: str) -> list[str]:
    """What a name is, where it is no scenario and no kind: a part, metric, measure or key."""
    from virsci_society.metrics.measures import MEASURES, metrics_named
    from virsci_society.scenarios.config.registry import TABLES, parts_of_kind

    found = [
        f"{name} is a part of the kind {kind}: {_first_line(parts_of_kind(kind)[name])} "
        f"'society list {kind}' names all."
        for kind in TABLES
        if name in parts_of_kind(kind)
    ]
    if name in MEASURES:
        found.append(f"{name} is a measure: {MEASURES[name].label} ({MEASURES[name].meaning}).")
    if metrics_named(name):
        found.append(f"{name} is a metric, or a family of them: see 'society list metrics'.")
    return found


def _scenario_lines(name: str) -> Iterator[str]:
    from virsci_society.scenarios.config.document import STUDIES, find_scenario, library
    from virsci_society.scenarios.config.registry import KIND_NAMES

    study = STUDIES / f"{name}.yaml"
    if study.is_file():
        path = study
    else:
        try:
            path = find_scenario(name)
        except InputError as error:
            if meanings := _meanings(name):
                yield from meanings
                return
            hint = did_you_mean(name, [*library(), *KIND_NAMES])
            kinds = ", ".join(KIND_NAMES)
            raise InputError(f"{error}\nkinds of parts are {kinds}{hint}") from error
    yield f"# {path}"
    yield from path.read_text(encoding="utf-8").splitlines()
    if path != study:
        yield ""
        yield from _contents(name)


def _contents(name: str) -> Iterator[str]:
    """What a scenario comes to, with everything that it extends."""
    from virsci_society.scenarios.config.schema import load_scenario

    data = load_scenario(name).to_data()
    people = data["population"]["ecosystem"]
    size = f", {people['scientists']} scientists" if "scientists" in people else ""
    yield "# In all, with what it extends and the defaults:"
    yield f"#   until {data['until']}, seed {data['seed']}"
    yield f"#   population from {people['use']}{size}"
    for key in ("founding", "protocol", "publication", "backend"):
        yield f"#   {key}: {data[key]['use']}"
    yield f"#   careers: {(data['careers'] or {}).get('use', 'nobody comes or leaves')}"
    yield f"#   interventions: {len(data['interventions'])}"
    yield f"#   metrics: {', '.join(data['metrics'])}"


def first_sentence(path: Path) -> str:
    """The first sentence of a scenario's head."""
    with path.open(encoding="utf-8") as lines:
        head = [line[1:].strip() for line in lines if line.startswith("#")]
    words = " ".join(head).split(". ")[0].rstrip(".")
    return words.split(": ")[0] if len(words) > 100 else words


def _first_line(path: str) -> str:
    from inspect import getdoc

    from virsci_society.scenarios.config.registry import import_member

    return (getdoc(import_member(path)) or path).splitlines()[0]
