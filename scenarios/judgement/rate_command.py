"""Commands ``society rate``: abstracts to people on a blinded sheet, and their ratings back.

A model may judge the pairs of a sheet in the place of a person.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.config.registry import find_code_here
from virsci_society.scenarios.terminal.arguments import Settings, Trust, guarded

if TYPE_CHECKING:
    from virsci_society.scenarios.judgement.judging import JudgeJob
    from virsci_society.scenarios.judgement.ratings.sheets import Rating

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
    swapped: Annotated[
        bool, typer.Option("--swapped", help="Each pair twice, its sides exchanged.")
    ] = False,
    most: Annotated[
        int | None, typer.Option(min=1, help="Most abstracts or pairs, drawn at random.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of order, sides and pairs.")] = 0,
) -> None:
    """Write a sheet of abstracts that says nothing of where they are from, and its key."""
    from virsci_society.scenarios.judgement.rating import entries_of
    from virsci_society.scenarios.judgement.ratings.sheets import (
        pair_sheet,
        rating_sheet,
        write_sheet,
    )

    if swapped and not pairs:
        raise InputError("--swapped: only pairs have sides; give --pairs too")
    entries = entries_of(runs)
    if pairs:
        rows, key_data = pair_sheet(entries, seed, most, swapped=swapped)
    else:
        rows, key_data = rating_sheet(entries, seed, most)
    where = key or out.with_name(f"{out.stem}.key.json")
    write_sheet(out, where, rows, key_data)
    asked = "which of two is better" if pairs else "novelty, feasibility and effectiveness, 1 to 10"
    typer.echo(f"{out}: {len(rows)} {'pairs' if pairs else 'abstracts'}; {asked}")
    typer.echo(f"{where}: where they are from; do not show it to the raters")
    typer.echo("one copy of the sheet for each rater, named after the rater")


@rate.command("judge")
@guarded
def judge(
    sheet: Annotated[
        Path, typer.Argument(metavar="SHEET", help="A sheet of pairs, by rate export --pairs.")
    ],
    set_: Settings = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="The folder; beside the sheet by default.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the words.")] = 0,
    plan: Annotated[
        bool, typer.Option("--plan", help="Only tell the calls and tokens; nothing is asked.")
    ] = False,
    trust: Trust = False,
) -> None:
    """Let a model fill in a sheet of pairs; it sees the sheet alone, every pair in both orders.

    --set backend.KEY=VALUE says who judges; by default rules do, which count words. The filled
    sheet is read by rate import, as a person's is. The same command goes on with a judge that was
    stopped.
    """
    from virsci_society.scenarios.judgement.judging import JudgeJob
    from virsci_society.scenarios.planning.question_cost import question_cost
    from virsci_society.scenarios.runs.progress import make_progress
    from virsci_society.scenarios.terminal.plan_tables import print_question_cost

    find_code_here(trust)
    made = JudgeJob.of(sheet, set_ or (), seed=seed, out=out, trust=trust)
    if plan:
        title = f"{sheet.name}: {len(made.rows)} pairs, {made.calls} judgements"
        print_question_cost(title, made.about, question_cost(made.scenario, made.rehearse))
        return
    if made.done:
        typer.echo(f"{made.folder} holds these judgements already; nothing to do")
    else:
        with make_progress() as progress:
            progress.begin("judging")
            made.execute(progress.wait)
    _show_judgements(made)


def _show_judgements(made: JudgeJob) -> None:
    import pandas as pd

    from virsci_society.scenarios.judgement.judging import JUDGEMENTS
    from virsci_society.scenarios.terminal.console import print_table

    table = pd.read_csv(made.folder / f"{JUDGEMENTS}.csv")
    counts = table["said"].fillna("unreadable").value_counts()
    rows = [(said, int(counts[said])) for said in ("A", "B", "tie", "unreadable") if said in counts]
    print_table("which of two, as they were shown", ("said", "judgements"), rows)
    typer.echo(f"filled sheet: {made.filled}")
    typer.echo(f"who judged: {made.about}")


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
    from virsci_society.scenarios.judgement.ratings.sheets import read_key, read_sheets

    key_data = read_key(key)
    answers = read_sheets(sheets, key_data, incomplete=incomplete)
    folder = out or key.with_name(f"{key.name.removesuffix('.key.json')}-results")
    (_import_pairs if key_data["kind"] == "pairs" else _import_ratings)(answers, key_data, folder)
    typer.echo(f"rated by: {'; '.join(sorted({one.rater for one in answers}))}")
    typer.echo(f"tables: {folder}")


def _import_ratings(answers: list[Rating], key_data: dict[str, Any], folder: Path) -> None:
    from virsci_society.scenarios.judgement.rating import correlate, ratings_of, write_results
    from virsci_society.scenarios.judgement.ratings.agreement import agreement_table
    from virsci_society.scenarios.judgement.terminal_tables import (
        print_agreements,
        print_correlations,
    )
    from virsci_society.scenarios.terminal.console import print_table

    ratings = ratings_of(answers, key_data)
    agreed = agreement_table(ratings, key_data["seed"])
    found = correlate(ratings, key_data)
    write_results(
        folder, {"ratings": ratings, "agreement": agreed, "correlations": found}, key_data
    )
    means = ratings.groupby(["arm", "dimension"], sort=True)["score"].agg(["size", "mean"])
    rows = [(*name, int(size), float(mean)) for name, size, mean in means.itertuples()]
    print_table("ratings by arm", ("arm", "rating", "ratings", "mean"), rows)
    print_agreements(agreed)
    print_correlations(found[found["measure"] == "ON"])


def _import_pairs(answers: list[Rating], key_data: dict[str, Any], folder: Path) -> None:
    from virsci_society.scenarios.judgement.rating import choices_of, write_results
    from virsci_society.scenarios.judgement.ratings.agreement import preference_table
    from virsci_society.scenarios.judgement.ratings.bradley_terry import fit_pairs, pair_agreement
    from virsci_society.scenarios.judgement.terminal_tables import (
        print_preferences,
        print_strengths,
    )

    choices = choices_of(answers, key_data)
    found = preference_table(choices)
    fit = fit_pairs(choices)
    tables = {"choices": choices, "preferences": found, "strengths": fit.arms}
    write_results(folder, tables, key_data)
    print_preferences(found)
    print_strengths(fit, pair_agreement(choices))
