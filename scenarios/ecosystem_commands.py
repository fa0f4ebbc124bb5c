"""``society ecosystem``: build the data a society starts from, and look at it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agents.errors import InputError
from scenarios.guard import guarded

if TYPE_CHECKING:
    from society.ecosystem.ecosystem import Ecosystem
    from society.ecosystem.importers.jsonl import JsonLines

ecosystem = typer.Typer(
    help="Build and describe the data a society starts from.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
build = typer.Typer(
    help="Build an ecosystem folder from a source.", no_args_is_help=True, rich_markup_mode=None
)
ecosystem.add_typer(build, name="build")


@build.command()
@guarded
def jsonl(
    file: Annotated[Path, typer.Argument(help="One paper per line, plain or .gz.")],
    boundary: Annotated[int, typer.Option(help="The year in which the society starts.")],
    out: Annotated[Path, typer.Option(help="The folder to write.")],
    min_papers: Annotated[int, typer.Option(min=0, help="Papers of a scientist, at least.")] = 1,
    min_coauthors: Annotated[int, typer.Option(min=0, help="Co-authors, at least.")] = 0,
    min_citations_past: Annotated[int, typer.Option(min=0, help="Of a past paper.")] = 0,
    min_citations_contemporary: Annotated[
        int, typer.Option(min=0, help="Of a paper from the boundary on.")
    ] = 0,
    first_year: Annotated[int | None, typer.Option(help="Leave out what is older.")] = None,
    last_year: Annotated[int | None, typer.Option(help="Leave out what is newer.")] = None,
) -> None:
    """Build from JSON lines: id, title, abstract, year, authors, references ..."""
    from scenarios.progress import shown_progress
    from society.ecosystem.build import build_ecosystem
    from society.ecosystem.importers.jsonl import JsonLines

    with shown_progress() as progress:
        progress.begin(f"reading {file}")
        source = JsonLines(file, progress=progress.count)
        made = build_ecosystem(
            source,
            boundary=boundary,
            min_papers=min_papers,
            min_coauthors=min_coauthors,
            min_citations_past=min_citations_past,
            min_citations_contemporary=min_citations_contemporary,
            first_year=first_year,
            last_year=last_year,
            source=file.name,
        )
        made.require_runnable()
        progress.begin(f"writing {out}")
        _save(made, out)
    _tell(made, source, out)


@ecosystem.command()
@guarded
def info(
    source: Annotated[str, typer.Argument(metavar="DIR|synthetic")],
    scientists: Annotated[int, typer.Option(min=1, help="Of synthetic.")] = 300,
    papers: Annotated[int, typer.Option(min=2, help="Of synthetic.")] = 4000,
    seed: Annotated[int, typer.Option(min=0, help="Of synthetic.")] = 1,
) -> None:
    """Describe an ecosystem in figures, beside those of a real community (IEEE VIS)."""
    from scenarios.overview import print_table
    from scenarios.progress import shown_progress
    from society.ecosystem.ecosystem import Ecosystem
    from society.ecosystem.info import describe

    with shown_progress() as progress:
        progress.begin("preparing the ecosystem")
        invented = source == "synthetic"
        made = _synthetic(scientists, papers, seed) if invented else Ecosystem.load(source)
        table = describe(made)
    rows = [tuple(row) for row in table.itertuples(index=False)]
    print_table(source, tuple(table.columns), rows)


def _tell(made: Ecosystem, source: JsonLines, out: Path) -> None:
    for step in made.manifest.get("steps", []):
        typer.echo(f"{step['filter']}: {step['removed']:,} of {step['in']:,} left out")
    if source.reading.malformed:
        typer.echo(f"{source.reading.malformed:,} malformed lines left out:", err=True)
        for line in source.reading.shown:
            typer.echo(f"  {line}", err=True)
    for note in made.manifest.get("notes", []):
        typer.echo(f"note: {note}")
    counts = ", ".join(f"{count:,} {what}" for what, count in made.counts.items())
    typer.echo(f"ecosystem: {out} ({counts})")


def _synthetic(scientists: int, papers: int, seed: int) -> Ecosystem:
    from pydantic import ValidationError

    from society.ecosystem.synthetic import Synthetic

    try:
        return Synthetic(scientists=scientists, papers=papers).generate(seed)
    except ValidationError as error:
        raise InputError("; ".join(one["msg"] for one in error.errors())) from error


def _save(made: Ecosystem, out: Path) -> None:
    try:
        made.save(out)
    except OSError as error:
        raise InputError(
            f"{out}: cannot be written to ({error.strerror}); give another folder with --out"
        ) from error
