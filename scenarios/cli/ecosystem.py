"""``society ecosystem build``: one command for each kind of source, and one for an invented one."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from agents.errors import InputError
from scenarios.guard import guarded

if TYPE_CHECKING:
    from society.ecosystem.build import Built
    from society.ecosystem.ecosystem import Ecosystem
    from society.ecosystem.importers.source import Source
    from society.ecosystem.importers.spool import Spool
    from society.ecosystem.plan import Listener, Plan

KINDS = {
    "jsonl": "JSON lines: id, title, abstract, year, authors, references ...",
    "aminer": "AMiner CS: AMiner-Paper.txt and the three files beside it.",
    "oag": "Open Academic Graph 2.x or 3.x: publications as JSON lines.",
    "openalex": "OpenAlex: a snapshot's works, or pages of the API.",
    "virsci": "VirSci's preprocessed files: one text file per paper.",
    "dblp": "DBLP citation network v10 or v12 as JSON.",
}
"""Kind of source -> what it is."""

Paths = Annotated[
    list[Path], typer.Argument(metavar="PATH...", help="Files or folders, plain or .gz.")
]
Out = Annotated[Path, typer.Option(help="The folder to write.")]

build = typer.Typer(
    help="Build an ecosystem folder from a source.", no_args_is_help=True, rich_markup_mode=None
)


def _from_source(kind: str) -> Callable[..., None]:
    """The command for a kind of source."""

    def command(
        path: Paths,
        out: Out,
        boundary: Annotated[
            int | None, typer.Option(help="The year in which the society starts.")
        ] = None,
        preset: Annotated[
            str | None, typer.Option(help="Years and thresholds: virsci-cs or virsci-oag.")
        ] = None,
        embedding: Annotated[
            str,
            typer.Option(
                help="What makes the vectors: lsa, sentence-transformers:MODEL, litellm:MODEL."
            ),
        ] = "lsa",
        api_base: Annotated[
            str | None, typer.Option(help="Where a litellm: embedding is asked.")
        ] = None,
        key: Annotated[
            str | None, typer.Option(help="Name of the variable that holds its key.")
        ] = None,
        min_papers: Annotated[
            int | None, typer.Option(min=0, help="Papers of a scientist, at least (1).")
        ] = None,
        min_coauthors: Annotated[
            int | None, typer.Option(min=0, help="Co-authors, at least (0).")
        ] = None,
        count_on: Annotated[
            Literal["all", "kept"] | None,
            typer.Option(help="Count them on all the source's past papers (all), or kept ones."),
        ] = None,
        min_citations_past: Annotated[
            int | None, typer.Option(min=0, help="Of a past paper, at the boundary.")
        ] = None,
        min_citations_contemporary: Annotated[
            int | None, typer.Option(min=0, help="Of a paper from the boundary on.")
        ] = None,
        first_year: Annotated[int | None, typer.Option(help="Leave out what is older.")] = None,
        last_year: Annotated[int | None, typer.Option(help="Leave out what is newer.")] = None,
        abstract_required: Annotated[
            bool | None,
            typer.Option(
                "--abstract-required/--no-abstract-required",
                help="Leave out papers without abstract (the default).",
            ),
        ] = None,
        authors: Annotated[
            Literal["id", "name"], typer.Option(help="Tell authors apart by id, or by name.")
        ] = "id",
        nameless: Annotated[
            Literal["name", "drop"],
            typer.Option(help="An author without an id: told by the name, or left out."),
        ] = "name",
        malformed_share: Annotated[
            float, typer.Option(min=0.0, max=1.0, help="Largest share of malformed records.")
        ] = 0.01,
        keep_names: Annotated[
            bool, typer.Option("--keep-names", help="Write key.parquet: masks to real names.")
        ] = False,
        seed: Annotated[int, typer.Option(min=0, help="Of the masks and the embedding.")] = 0,
        licence: Annotated[str, typer.Option(help="What the manifest says of rights.")] = "",
    ) -> None:
        from society.ecosystem.presets import planned

        given = {
            "boundary": boundary,
            "min_papers": min_papers,
            "min_coauthors": min_coauthors,
            "count_on": count_on,
            "min_citations_past": min_citations_past,
            "min_citations_contemporary": min_citations_contemporary,
            "first_year": first_year,
            "last_year": last_year,
            "require_abstract": abstract_required,
        }
        hosting = {"api_base": api_base, "key": key}
        hosting = {name: value for name, value in hosting.items() if value is not None}
        plan, facts = planned(preset, given, embedding=embedding, seed=seed, hosting=hosting)
        options = {"authors": authors, "nameless": nameless, "malformed_share": malformed_share}
        _build(kind, path, out, plan, options, facts | {"licence": licence}, keep_names)

    command.__doc__ = f"Build from {KINDS[kind]}"
    return command


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
    from scenarios.progress import shown_progress

    with shown_progress() as progress:
        progress.begin(f"inventing {scientists:,} scientists and {papers:,} papers")
        made = invented(scientists, papers, seed, progress)
        progress.begin(f"writing {out}")
        with _writing(out):
            made.save(out)
    _tell_counts(made, out)


def invented(
    scientists: int, papers: int, seed: int, progress: Listener | None = None
) -> Ecosystem:
    """A synthetic ecosystem; InputError where its size does not hold together."""
    from pydantic import ValidationError

    from society.ecosystem.synthetic import Synthetic

    try:
        return Synthetic(scientists=scientists, papers=papers).generate(seed, progress)
    except ValidationError as error:
        raise InputError("; ".join(one["msg"] for one in error.errors())) from error


def _build(
    kind: str,
    paths: list[Path],
    out: Path,
    plan: Plan,
    options: dict[str, Any],
    facts: dict[str, Any],
    keep_names: bool,
) -> None:
    from scenarios.progress import shown_progress
    from society.ecosystem.build import build as build_by
    from society.ecosystem.importers.spool import Spool
    from society.ecosystem.importers.table import open_source

    _require_place(out)
    partial = out.with_name(f"{out.name}.partial")
    with shown_progress() as progress:
        source = open_source(kind, paths, progress=progress.count, **options)
        records = Spool(source, partial)
        with _writing(out), _cleared(records):
            partial.mkdir(parents=True, exist_ok=True)
            built = build_by(records, plan, progress=progress, cache=partial / "vectors")
            built = built.told(_provenance(source, paths, options) | facts)
            progress.begin(f"writing {out}")
            built.save(out, key=keep_names)
            shutil.rmtree(partial)
    _tell(built, source, out)


def _provenance(source: Source, paths: list[Path], options: dict[str, Any]) -> dict[str, Any]:
    """What the manifest says of a source; its reading is over."""
    return {
        "source": ", ".join(path.name for path in paths),
        "kind": source.kind,
        "options": options,
        "reading": source.reading.as_json(),
        "authors_are": source.name_rule,
        "unknown": list(source.unknown),
    }


def _tell(built: Built, source: Source, out: Path) -> None:
    manifest = built.ecosystem.manifest
    typer.echo(f"read {source.reading.told()}")
    if source.reading.shown:
        typer.echo(f"{source.reading.malformed:,} malformed records left out:", err=True)
        for line in source.reading.shown:
            typer.echo(f"  {line}", err=True)
    for step in manifest["steps"]:
        typer.echo(f"{step['filter']}: {step['removed']:,} of {step['in']:,} left out")
    counted = manifest["heads"]
    typer.echo(
        f"scientists: {counted['all']:,} counted on all papers before the boundary, "
        f"{counted['kept']:,} on the kept ones; taken: {manifest['filters']['count_on']}"
    )
    for name, values in manifest.get("instead_of_preset", {}).items():
        typer.echo(f"{name}: {values['given']} instead of the preset's {values['preset']}")
    for note in manifest["notes"]:
        typer.echo(f"note: {note}")
    _tell_counts(built.ecosystem, out)


def _tell_counts(made: Ecosystem, out: Path) -> None:
    counts = ", ".join(f"{count:,} {what}" for what, count in made.counts.items())
    typer.echo(f"ecosystem: {out} ({counts})")


def _require_place(out: Path) -> None:
    """Raise InputError now rather than after hours, where the folder is somebody else's."""
    from scenarios.ecosystems import MANIFEST

    if out.is_dir() and any(out.iterdir()) and not (out / MANIFEST).is_file():
        raise InputError(f"{out}: holds other files; give an empty folder or an ecosystem's")


@contextmanager
def _cleared(records: Spool) -> Iterator[None]:
    """Leave nothing behind of a source that cannot be read; what was read stays otherwise."""
    before = records.source.reading
    try:
        yield
    except InputError:
        # Another object where this process, and no other one, has begun to read.
        if records.source.reading is not before and not records.finished:
            shutil.rmtree(records.folder)
        with suppress(OSError):
            records.folder.rmdir()
        raise


@contextmanager
def _writing(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{out}: cannot be written to ({error.strerror}); give another folder with --out"
        ) from error
