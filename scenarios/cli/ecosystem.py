"""Commands ``society ecosystem``: build and describe the data a society starts from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from virsci_society.agents.errors import InputError, disk_errors_as
from virsci_society.agents.files.atomic_files import make_folder, refuse_links, remove_folder
from virsci_society.scenarios.runs.progress import make_progress
from virsci_society.scenarios.terminal.arguments import add_options, guarded, tell
from virsci_society.scenarios.terminal.console import print_table

if TYPE_CHECKING:
    from virsci_society.society.ecosystem.building.build_options import BuildOptions
    from virsci_society.society.ecosystem.ecosystem import Ecosystem
    from virsci_society.society.ecosystem.importers.source import Source


KINDS = {
    "jsonl": "JSON: id, title, abstract, year, authors, references ...",
    "aminer": "AMiner: AMiner-Paper.txt and the files beside it, or the citation network.",
    "oag": "Open Academic Graph 2.x or 3.x: publications as JSON.",
    "openalex": "OpenAlex: a snapshot's works, or pages of the API.",
    "virsci": "VirSci's preprocessed files: one text file per paper.",
    "dblp": "DBLP citation network v10, v12 or v13 as JSON.",
    "csv": "CSV: a table of your own, or an export of Scopus or Web of Science.",
    "ris": "RIS: an export of Scopus, Web of Science, Zotero ...",
    "bibtex": "BibTeX: title, author, year, abstract of every entry.",
}
"""Kind of source -> what it is."""

Paths = Annotated[
    list[Path], typer.Argument(metavar="PATH...", help="Files or folders, plain, .gz, .bz2 or .xz.")
]
Out = Annotated[Path, typer.Option(help="The folder to write.")]
Boundary = Annotated[int | None, typer.Option(help="The year in which the society starts.")]
Preset = Annotated[str | None, typer.Option(help="Years and thresholds: virsci-cs or virsci-oag.")]
EmbeddingName = Annotated[
    str,
    typer.Option(
        help="What makes the vectors: lsa, sentence-transformers:MODEL, litellm:MODEL, or lsa+ "
        "before a model for both side by side."
    ),
]
ApiBase = Annotated[str | None, typer.Option(help="Where a litellm: embedding is asked.")]
KeyVariable = Annotated[str | None, typer.Option(help="Name of the variable that holds its key.")]
Authors = Annotated[
    Literal["id", "name"], typer.Option(help="Tell authors apart by id, or by name.")
]
Nameless = Annotated[
    Literal["name", "drop"],
    typer.Option(help="An author without an id: told by the name, or left out."),
]
MalformedShare = Annotated[
    float, typer.Option(min=0.0, max=1.0, help="Largest share of malformed records.")
]
MaxAuthors = Annotated[
    int, typer.Option(min=1, help="A paper with more authors is kept without authors.")
]
ColumnNames = Annotated[
    str,
    typer.Option(metavar="FIELD=COLUMN,...", help="Of csv: where the fields are; or scopus, wos."),
]
KeepNames = Annotated[
    bool, typer.Option("--keep-names", help="Write key.parquet: masks to real names.")
]


FLAGS = {"require_abstract": "--abstract-required/--no-abstract-required"}
"""Filters whose option has another name than the field."""


class BuildGroup(TyperGroup):
    """The commands of ``build``; importers from outside are commands of the same form."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command for a kind of source, also for one that an installed package adds."""
        known = super().get_command(ctx, cmd_name)
        if known is not None or not _is_outside(cmd_name):
            return known
        single = typer.Typer(rich_markup_mode=None, add_completion=False)
        single.command(cmd_name)(guarded(_from_source(cmd_name)))
        return typer.main.get_command(single)


def _is_outside(kind: str) -> bool:
    from virsci_society.scenarios.config.registry import installed_of

    return ":" in kind or kind in installed_of("importers")


build = typer.Typer(
    cls=BuildGroup,
    help="Build an ecosystem folder from a source: one of those below, one that an installed "
    "package adds ('society list importers'), or package.module:Class with --trust.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def _from_source(kind: str) -> Callable[..., None]:
    """The command for a kind of source."""

    def command(
        path: Paths,
        out: Out,
        boundary: Boundary = None,
        preset: Preset = None,
        embedding: EmbeddingName = "lsa",
        api_base: ApiBase = None,
        key: KeyVariable = None,
        authors: Authors = "id",
        nameless: Nameless = "name",
        malformed_share: MalformedShare = 0.01,
        max_authors: MaxAuthors = 100,
        columns: ColumnNames = "",
        keep_names: KeepNames = False,
        seed: Annotated[int, typer.Option(min=0, help="Of the masks and the embedding.")] = 0,
        licence: Annotated[str, typer.Option(help="What the manifest says of rights.")] = "",
        trust: Annotated[
            bool, typer.Option("--trust", help="Import an importer that is named by path.")
        ] = False,
        **filters: Any,
    ) -> None:
        from virsci_society.society.ecosystem.building.build_options import build_options

        given = {"boundary": boundary, **filters}
        hosting = {"api_base": api_base, "key": key}
        hosting = {name: value for name, value in hosting.items() if value is not None}
        plan, facts = build_options(preset, given, embedding=embedding, seed=seed, hosting=hosting)
        options: dict[str, Any] = {"authors": authors, "nameless": nameless}
        options |= {"malformed_share": malformed_share, "max_authors": max_authors}
        options |= {"columns": columns} if columns else {}
        if columns and kind != "csv":
            raise InputError(f"--columns is for csv; {kind} has columns of its own")
        source = _importer(kind, trust=trust)
        _build(source, path, out, plan, options, facts | {"licence": licence}, keep_names)

    from virsci_society.society.ecosystem.building.build_options import PaperFilters, PeopleFilters

    add_options(command, "authors", PeopleFilters, PaperFilters, flags=FLAGS)
    command.__doc__ = f"Build from {KINDS.get(kind, f'{kind}, an importer from outside.')}"
    return command


def _importer(kind: str, *, trust: bool) -> str | type[Source]:
    """The kind of source, or the class behind a name or path from outside."""
    if kind in KINDS:
        return kind
    from virsci_society.scenarios.config.registry import (
        find_code_here,
        import_member,
        installed_of,
        require_trust,
    )
    from virsci_society.society.ecosystem.importers.source import Source

    path = installed_of("importers").get(kind, kind)
    if path == kind:
        require_trust(path, trust=trust)
        find_code_here(trust)
    found = import_member(path)
    if not (isinstance(found, type) and issubclass(found, Source)):
        raise InputError(
            f"{path!r} is no importer; subclass virsci_society.society.ecosystem.importers.Source"
        )
    return found


for _kind in KINDS:
    build.command(_kind)(guarded(_from_source(_kind)))


@build.command()
@guarded
def synthetic(
    out: Out,
    scientists: Annotated[int, typer.Option(min=1)] = 300,
    papers: Annotated[int, typer.Option(min=2, help="Past and contemporary together.")] = 4000,
    seed: Annotated[int, typer.Option(min=0)] = 1,
) -> None:
    """Invent a research community of a stated size."""
    with make_progress() as progress:
        progress.begin(f"inventing {scientists:,} scientists and {papers:,} papers")
        made = invented(scientists, papers, seed)
        progress.begin(f"writing {out}")
        with _writing(out):
            made.save(out)
    _tell_counts(made, out)


def invented(scientists: int, papers: int, seed: int) -> Ecosystem:
    """A synthetic ecosystem of a stated size."""
    from pydantic import ValidationError

    from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic

    try:
        return Synthetic(scientists=scientists, papers=papers).generate(seed)
    except ValidationError as error:
        raise InputError("; ".join(one["msg"] for one in error.errors())) from error


def _build(
    kind: str | type[Source],
    paths: list[Path],
    out: Path,
    plan: BuildOptions,
    options: dict[str, Any],
    facts: dict[str, Any],
    keep_names: bool,
) -> None:
    from virsci_society.society.ecosystem.building.builder import build as build_by
    from virsci_society.society.ecosystem.importers.source import open_source
    from virsci_society.society.ecosystem.storage import require_place

    require_place(out)
    partial = out.with_name(f"{out.name}.partial")
    with make_progress() as progress, _writing(out), _working_folder(partial):
        source = open_source(kind, paths, **options)
        built = build_by(
            source, plan, lambda: _provenance(source, paths, options) | facts, progress, partial
        )
        if not built.past:
            raise _no_past(built.manifest["notes"])
        progress.begin(f"writing {out}")
        built.save(out, key=keep_names)
    _tell(built, source, out)


def _no_past(notes: list[str]) -> InputError:
    """The error of a build without past papers; what else was noted is printed before it."""
    (why,) = [note for note in notes if note.startswith("EMPTY: no past papers")]
    for note in notes:
        if note != why:
            tell(f"note: {note}", err=True)
    return InputError(why.removeprefix("EMPTY: "))


def _provenance(source: Source, paths: list[Path], options: dict[str, Any]) -> dict[str, Any]:
    """What the manifest says of a source; its reading is over."""
    return {
        "source": ", ".join(path.name for path in paths),
        "kind": source.kind,
        "options": options,
        "reading": asdict(source.report),
        "authors_are": source.authors_are,
        "cleaning": source.report.cleaning(),
        "unknown": list(source.unknown),
    }


def _tell(built: Ecosystem, source: Source, out: Path) -> None:
    manifest = built.manifest
    tell(f"read {source.report.summary()}")
    if source.report.shown:
        tell(f"{source.report.malformed:,} malformed records left out:", err=True)
        for line in source.report.shown:
            tell(f"  {line}", err=True)
    for step in manifest["steps"]:
        tell(f"{step['filter']}: {step['removed']:,} of {step['in']:,} left out")
    counted = manifest["heads"]
    tell(
        f"scientists: {counted['all']:,} counted on all papers before the boundary, "
        f"{counted['kept']:,} on the kept ones; taken: {manifest['filters']['count_on']}"
    )
    for name, values in manifest.get("instead_of_preset", {}).items():
        tell(f"{name}: {values['given']} instead of the preset's {values['preset']}")
    for note in manifest["notes"]:
        tell(f"note: {note}")
    rows = [tuple(row.values()) for row in manifest["cleaning"]]
    if rows:
        print_table("changed or left out", ("what", "how many", "example"), rows)
    else:
        tell("changed or left out: nothing")
    _tell_counts(built, out)


def _tell_counts(made: Ecosystem, out: Path) -> None:
    counts = ", ".join(f"{count:,} {what}" for what, count in made.counts.items())
    tell(f"ecosystem: {out} ({counts})")


@contextmanager
def _working_folder(folder: Path) -> Iterator[None]:
    """A folder that is removed at the end."""
    refuse_links(folder)
    make_folder(folder)
    try:
        yield
    finally:
        remove_folder(folder)


@contextmanager
def _writing(out: Path) -> Iterator[None]:
    hint = "; give another folder with --out"
    with disk_errors_as(InputError, f"{out}: cannot be written to", hint):
        yield


HELP = "Build and describe the data a society starts from."
ecosystem = typer.Typer(help=HELP, no_args_is_help=True)
ecosystem.add_typer(build, name="build")


@ecosystem.command()
@guarded
def info(
    source: Annotated[str, typer.Argument(metavar="DIR|synthetic")],
    scientists: Annotated[int, typer.Option(min=1, help="Of synthetic.")] = 300,
    papers: Annotated[int, typer.Option(min=2, help="Of synthetic.")] = 4000,
    seed: Annotated[int, typer.Option(min=0, help="Of synthetic.")] = 1,
) -> None:
    """Describe an ecosystem in figures, beside those of a real community (IEEE VIS)."""
    from virsci_society.society.ecosystem.ecosystem import Ecosystem
    from virsci_society.society.ecosystem.summary import describe

    with make_progress() as progress:
        progress.begin("preparing the ecosystem")
        made = (
            invented(scientists, papers, seed) if source == "synthetic" else Ecosystem.load(source)
        )
        table = describe(made)
    rows = [tuple(row) for row in table.itertuples(index=False)]
    print_table(source, tuple(table.columns), rows)
