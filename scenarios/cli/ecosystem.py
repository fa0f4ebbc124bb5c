"""Commands ``society ecosystem``: build and describe the data a society starts from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import make_folder, refuse_links, remove_folder
from virsci_society.agents.spelling import did_you_mean
from virsci_society.scenarios.runs.progress import make_progress
from virsci_society.scenarios.terminal.console import print_table
from virsci_society.scenarios.terminal.options import guarded, tell

if TYPE_CHECKING:
    from virsci_society.society.ecosystem.build_options import BuildOptions
    from virsci_society.society.ecosystem.ecosystem import Ecosystem
    from virsci_society.society.ecosystem.importers.source import Source

HELP = "Build and describe the initial data of a society."
ecosystem = typer.Typer(help=HELP, no_args_is_help=True)
SYNTHETIC = "synthetic"


def year(text: str) -> int:
    """The year that an option gives."""
    if not text.isdecimal():
        raise typer.BadParameter(f"{text!r}: expected a year, such as 2012")
    return int(text)


def _year(meaning: str) -> Any:
    return typer.Option(parser=year, help=meaning)


def _count(meaning: str, least: int = 0) -> Any:
    return typer.Option(min=least, help=meaning)


KIND = typer.Argument(metavar="KIND", help="Such as jsonl; 'society list importers'.")
PATHS = typer.Argument(metavar="PATH...", help="Files or folders, plain, .gz, .bz2 or .xz.")
EMBEDDING = typer.Option(
    help="lsa, sentence-transformers:MODEL, litellm:MODEL, or lsa+MODEL for both."
)
RECENTLY = "Only people with a paper in the last N years before the boundary (all)."
ABSTRACT = typer.Option(
    "--abstract-required/--no-abstract-required", help="Exclude papers without abstract (default)."
)
MALFORMED = typer.Option(min=0.0, max=1.0, help="Maximum share of malformed records.")
COLUMNS = typer.Option(
    metavar="FIELD=COLUMN,...", help="For csv: the column of each field, or scopus, or wos."
)
NAMES = typer.Option("--keep-names", help="Write key.parquet, which maps masked to real names.")
TRUST = typer.Option("--trust", help="Import an importer that is named by path.")
Scientists = Annotated[int, typer.Option("--scientists", min=1, help="For synthetic.")]
Papers = Annotated[
    int, typer.Option("--papers", min=2, help="For synthetic: past and contemporary.")
]


@ecosystem.command()
@guarded
def build(
    context: typer.Context,
    kind: Annotated[str, KIND],
    out: Annotated[Path, typer.Option(help="Output folder.")],
    paths: Annotated[list[Path] | None, PATHS] = None,
    boundary: Annotated[int | None, _year("First year of the society.")] = None,
    preset: Annotated[
        str | None, typer.Option(help="Preset years and thresholds: virsci-cs or virsci-oag.")
    ] = None,
    embedding: Annotated[str, EMBEDDING] = "lsa",
    api_base: Annotated[
        str | None, typer.Option(help="API address of a litellm: embedding.")
    ] = None,
    key: Annotated[str | None, typer.Option(help="Environment variable with the API key.")] = None,
    min_papers: Annotated[int | None, _count("Minimum papers of a scientist (1).")] = None,
    min_coauthors: Annotated[int | None, _count("Minimum co-authors of a scientist (0).")] = None,
    active_years: Annotated[int | None, _count(RECENTLY, 1)] = None,
    first_year: Annotated[int | None, _year("Exclude papers before this year.")] = None,
    last_year: Annotated[int | None, _year("Exclude papers after this year.")] = None,
    require_abstract: Annotated[bool | None, ABSTRACT] = None,
    min_citations_past: Annotated[
        int | None, _count("Minimum citations of a past paper (0).")
    ] = None,
    min_citations_contemporary: Annotated[
        int | None, _count("Minimum citations of a later paper (0).")
    ] = None,
    malformed_share: Annotated[float, MALFORMED] = 0.01,
    max_authors: Annotated[
        int, _count("Papers with more authors are kept without authors.", 1)
    ] = 100,
    columns: Annotated[str, COLUMNS] = "",
    keep_names: Annotated[bool, NAMES] = False,
    seed: Annotated[
        int | None, _count("Seed of masks and embedding (0), or of synthetic (1).")
    ] = None,
    licence: Annotated[str, typer.Option(help="Licence of the data, for the manifest.")] = "",
    trust: Annotated[bool, TRUST] = False,
    scientists: Scientists = 300,
    papers: Papers = 4000,
) -> None:
    """Build an ecosystem folder from a source, or invent one.

    KIND is an importer: jsonl, aminer, oag, openalex, virsci, dblp, csv, ris or bibtex ('society
    list importers' describes them), or package.module:Class with --trust. With synthetic, which
    takes no PATH, a community of the given size is invented.
    """
    from virsci_society.society.ecosystem.build_options import build_options
    from virsci_society.society.ecosystem.ecosystem import require_place
    from virsci_society.society.ecosystem.importers.source import open_source

    importer = None if kind == SYNTHETIC else _importer(kind, trust=trust)
    for_all = dict.fromkeys(("kind", "out", "seed"), kind)
    for_one = {"scientists": SYNTHETIC, "papers": SYNTHETIC, "columns": "csv"}
    _refuse_unused(context, kind, for_all | for_one)
    require_place(out)
    if importer is None:
        _build_synthetic(scientists, papers, 1 if seed is None else seed, out)
        return
    if not paths:
        raise InputError(f"give PATH, the files or folders of {kind}")
    hosting = {name: value for name, value in (("api_base", api_base), ("key", key)) if value}
    # Of the parameters by name it takes the boundary and the filters.
    plan = build_options(
        preset, context.params, embedding=embedding, seed=seed or 0, hosting=hosting
    )
    options: dict[str, Any] = {"malformed_share": malformed_share, "max_authors": max_authors}
    options |= {"columns": columns} if columns else {}
    source = open_source(importer, paths, **options)
    named = ", ".join(path.name for path in paths)
    origin = {"source": named, "kind": source.kind, "options": options}
    rights = {"licence": licence, **({"preset": preset} if preset else {})}
    _build_from_files(source, plan, origin, rights, out, keep_names=keep_names)


def _build_synthetic(scientists: int, papers: int, seed: int, out: Path) -> None:
    """Invent an ecosystem and write its folder."""
    from virsci_society.society.ecosystem.ecosystem import require_same

    with make_progress() as progress:
        progress.begin(f"inventing {scientists:,} scientists and {papers:,} papers")
        made = invented(scientists, papers, seed)
        manifest = made.manifest
        require_same(out, {name: manifest[name] for name in ("source", "filters", "seed")})
        progress.begin(f"writing {out}")
        made.save(out)
    _tell_counts(made, out)


def _build_from_files(
    source: Source,
    plan: BuildOptions,
    origin: Mapping[str, Any],
    rights: Mapping[str, Any],
    out: Path,
    *,
    keep_names: bool,
) -> None:
    """Build an ecosystem from a source and write its folder; ``origin`` goes into the manifest."""
    from virsci_society.society.ecosystem.build import build as build_by
    from virsci_society.society.ecosystem.ecosystem import require_same
    from virsci_society.society.literature.embedding.registry import make_model, name_in_folder

    model = make_model(plan.embedding, plan.hosting)
    settings = {
        "boundary": plan.boundary,
        "filters": plan.filters,
        "embeddings": [name_in_folder(plan.embedding, model)],
        "seed": plan.seed,
    }
    require_same(out, {**origin, **settings})

    def provenance() -> dict[str, Any]:
        """The description of the source in the manifest."""
        # The names of files are all that was known before.
        require_same(out, {"records": source.report.kept})
        return {
            **origin,
            "reading": asdict(source.report),
            "cleaning": source.report.cleaning(),
            "unknown": list(source.unknown),
            **rights,
        }

    partial = out.with_name(f"{out.name}.partial")
    refuse_links(partial)
    with make_progress() as progress:
        make_folder(partial)
        try:
            built = build_by(source, plan, provenance, progress, partial)
            progress.begin(f"writing {out}")
            built.save(out, key=keep_names)
        finally:
            remove_folder(partial)
    _tell(built, source, out)


def _importer(kind: str, *, trust: bool) -> str | type[Source]:
    """The kind of source, or the class behind a name or path from outside."""
    from pkgutil import resolve_name

    from virsci_society.scenarios.config.registry import (
        find_code_here,
        import_member,
        require_trust,
    )
    from virsci_society.society.ecosystem.importers.files import is_data_file
    from virsci_society.society.ecosystem.importers.records import IMPORTERS
    from virsci_society.society.ecosystem.importers.source import Source

    if kind in IMPORTERS:
        return kind
    if ":" not in kind:
        file = Path(kind)
        if file.suffix or file.exists():
            endings = {name: resolve_name(at).endings for name, at in IMPORTERS.items()}
            fits = (name for name, ends in endings.items() if is_data_file(file, *ends))
            command = f"society ecosystem build {next(fits, 'KIND')} {kind} ..."
            raise InputError(f"{kind!r} is not a kind; type: {command}")
        names = (*IMPORTERS, SYNTHETIC)
        near = did_you_mean(kind, names)
        raise InputError(f"{kind!r} is not a kind; choose one of {', '.join(names)}{near}")
    require_trust(kind, trust=trust)
    find_code_here(trust)
    member = import_member(kind)
    if not (isinstance(member, type) and issubclass(member, Source)):
        raise InputError(
            f"{kind!r} is not a subclass of virsci_society.society.ecosystem.importers.Source"
        )
    return member


def _refuse_unused(context: typer.Context, kind: str, takers: Mapping[str, str]) -> None:
    """Raise InputError for all that was given on the command line although the kind ignores it."""
    unused = []
    for parameter in context.command.params:
        name = str(parameter.name)
        origin, taker = context.get_parameter_source(name), takers.get(name)
        ignored = kind == SYNTHETIC if taker is None else kind != taker
        if ignored and origin is not None and origin.name == "COMMANDLINE":
            option = parameter.opts[0] if name != "paths" else "PATH"
            readers = "kinds that read files, such as jsonl"
            unused.append(f"{option} has no effect for {kind}; it is for {taker or readers}")
    if unused:
        raise InputError("\n".join(unused))


def invented(scientists: int, papers: int, seed: int) -> Ecosystem:
    """A synthetic ecosystem of a stated size."""
    from pydantic import ValidationError

    from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic

    try:
        return Synthetic(scientists=scientists, papers=papers).generate(seed)
    except ValidationError as error:
        raise InputError("; ".join(one["msg"] for one in error.errors())) from error


def _tell(built: Ecosystem, source: Source, out: Path) -> None:
    manifest = built.manifest
    tell(f"read {source.report.summary()}")
    if source.report.shown:
        tell(f"{source.report.malformed:,} malformed records left out:", err=True)
        for line in source.report.shown:
            tell(f"  {line}", err=True)
    for step in manifest["steps"]:
        tell(f"{step['filter']}: {step['removed']:,} of {step['in']:,} left out")
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


@ecosystem.command()
@guarded
def info(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="DIR|synthetic")],
    scientists: Scientists = 300,
    papers: Papers = 4000,
    seed: Annotated[int, typer.Option(min=0, help="For synthetic.")] = 1,
) -> None:
    """Describe an ecosystem in figures, beside those of a real community (IEEE VIS)."""
    from virsci_society.society.ecosystem.ecosystem import Ecosystem
    from virsci_society.society.ecosystem.summary import FIGURES, measure

    sizes = dict.fromkeys(("scientists", "papers", "seed"), SYNTHETIC)
    _refuse_unused(context, source, {"source": source} | sizes)
    with make_progress() as progress:
        progress.begin("preparing the ecosystem")
        synthetic = source == SYNTHETIC
        made = invented(scientists, papers, seed) if synthetic else Ecosystem.load(source)
        values = measure(made)
    rows = [(name, value, *FIGURES[name]) for name, value in values.items()]
    print_table(source, ("figure", "value", "vis", "definition"), rows)
