"""``society rate``: abstracts out to people on a blinded sheet, and their ratings back in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scenarios.guard import guarded

if TYPE_CHECKING:
    from metrics.filled import Said

rate = typer.Typer(
    help="Let people rate abstracts: a blinded sheet out, their ratings in.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Sheets = Annotated[list[Path], typer.Argument(metavar="SHEET...", help="Filled sheets.")]


@rate.command("export")
@guarded
def export(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs.")],
    out: Annotated[Path, typer.Option("--out", help="The sheet, a new CSV file.")],
    key: Annotated[
        Path | None, typer.Option(help="The key, a new file; SHEET.key.json by default.")
    ] = None,
    pairs: Annotated[bool, typer.Option("--pairs", help="Pairs of papers of two arms.")] = False,
    most: Annotated[int | None, typer.Option(min=1, help="Most rows, drawn at random.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of order, sides and pairs.")] = 0,
) -> None:
    """Write a sheet of abstracts that says nothing of where they are from, and its key."""
    from metrics.sheets import pair_sheet, rating_sheet, write_sheet
    from scenarios.rating import entries_of

    make = pair_sheet if pairs else rating_sheet
    rows, told = make(entries_of(runs), seed, most)
    where = key or out.with_name(f"{out.stem}.key.json")
    write_sheet(out, where, rows, told)
    asked = "which of two is better" if pairs else "novelty, feasibility and effectiveness, 1 to 10"
    typer.echo(f"{out}: {len(rows)} {'pairs' if pairs else 'abstracts'}; {asked}")
    typer.echo(f"{where}: where they are from; do not show it to the raters")
    typer.echo("one copy of the sheet for each rater, named after the rater")


@rate.command("import")
@guarded
def import_(
    sheets: Sheets,
    key: Annotated[Path, typer.Option(help="The key that was written with the sheet.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the tables; beside the key by default.")
    ] = None,
    incomplete: Annotated[
        bool, typer.Option("--incomplete", help="Take what is there of half-filled sheets.")
    ] = False,
) -> None:
    """Read filled sheets: agreement between raters, and ON against their ratings."""
    from metrics.filled import read_sheets
    from metrics.sheets import read_key

    told = read_key(key)
    said = read_sheets(sheets, told, incomplete=incomplete)
    folder = out or key.with_name(f"{key.name.removesuffix('.key.json')}-results")
    (_import_pairs if told["kind"] == "pairs" else _import_ratings)(said, told, folder)
    typer.echo(f"tables: {folder}")


def _import_ratings(said: list[Said], told: dict[str, Any], folder: Path) -> None:
    from metrics.ratings import agreements
    from scenarios.overview import print_table
    from scenarios.rating import correlated, ratings_of, write_results
    from scenarios.rating_tables import print_agreements, print_correlations

    ratings = ratings_of(said, told)
    agreed = agreements(ratings, told["seed"])
    found = correlated(ratings, told)
    write_results(folder, {"ratings": ratings, "agreement": agreed, "correlations": found})
    means = ratings.groupby(["arm", "dimension"], sort=True)["score"].agg(["size", "mean"])
    rows = [(*name, int(size), float(mean)) for name, size, mean in means.itertuples()]
    print_table("ratings by arm", ("arm", "rating", "ratings", "mean"), rows)
    print_agreements(agreed)
    print_correlations(found[found["measure"] == "ON"])


def _import_pairs(said: list[Said], told: dict[str, Any], folder: Path) -> None:
    from metrics.ratings import preferences
    from scenarios.rating import choices_of, write_results
    from scenarios.rating_tables import print_preferences

    choices = choices_of(said, told)
    found = preferences(choices)
    write_results(folder, {"choices": choices, "preferences": found})
    print_preferences(found)
