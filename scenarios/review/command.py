"""Command ``society review``: what a model and people think of the abstracts of runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.config.registry import find_code_here
from virsci_society.scenarios.runs.progress import make_progress
from virsci_society.scenarios.terminal.console import print_table
from virsci_society.scenarios.terminal.options import Settings, Trust, find_runs, guarded, tell

if TYPE_CHECKING:
    import pandas as pd

    from virsci_society.scenarios.review.review_kinds import ReviewKind


@guarded
def review(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...", help="Runs, studies or (--key) sheets.", callback=find_runs
        ),
    ],
    kind: Annotated[
        str, typer.Option(help="virsci, novelty, proposal or proposal_told.")
    ] = "virsci",
    set_: Settings = None,
    panel: Annotated[
        str | None, typer.Option(help="Name of the panel (default: its model's name).")
    ] = None,
    sheet: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a blinded sheet for people.")
    ] = None,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="With --sheet: pairs of papers of two arms.")
    ] = False,
    arm: Annotated[
        list[str] | None,
        typer.Option("--arm", help="With --sheet: only this arm; can be repeated."),
    ] = None,
    most: Annotated[
        int | None, typer.Option(min=1, help="With --sheet: random sample of this size.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, help="With --sheet: seed of order, sides and pairs."),
    ] = None,
    key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Read filled sheets with their key file.")
    ] = None,
    trust: Trust = False,
) -> None:
    """Rate abstracts by a model or blindly by people.

    --set backend.KEY=VALUE chooses the model. Repeat the command to resume a stopped review without
    repeating calls. --sheet writes abstracts without their origin for people to rate; --key reads
    the filled sheets. Tables and digest of a run do not change.
    """
    from virsci_society.agents.spelling import did_you_mean
    from virsci_society.scenarios.review.review_kinds import KINDS

    given: dict[str, Any] = {"--set": set_, "--panel": panel, "--trust": trust}
    for_sheets: dict[str, Any] = {"--pairs": pairs, "--arm": arm, "--most": most, "--seed": seed}
    if sheet is not None and key is not None:
        raise InputError("--sheet writes a sheet and --key reads filled ones: give one of them")
    when, useless = "without --sheet or --key", for_sheets
    if sheet is not None:
        when, useless = "with --sheet", given
    elif key is not None:
        when, useless = "with --key", given | for_sheets
    for name, value in useless.items():
        if value:
            raise InputError(f"{name} has no effect {when}; leave it out")
    if key is not None:
        _read_sheets(runs, key)
        return
    if kind not in KINDS:
        known = ", ".join(KINDS)
        raise InputError(f"--kind {kind}: not one of {known}{did_you_mean(kind, KINDS)}")
    if sheet is not None:
        _write_sheet(runs, sheet, KINDS[kind], arm or (), seed or 0, most, pairs=pairs)
    elif len(runs) > 1:
        raise InputError("a model reviews one run or one study at a time")
    else:
        _review(runs[0], KINDS[kind], set_ or (), panel, trust=trust)


def _review(
    path: Path, kind: ReviewKind, settings: Sequence[str], panel: str | None, *, trust: bool
) -> None:
    """Let a model review, and print mean scores and their correlation with ON."""
    import pandas as pd

    from virsci_society.metrics.novelty.novelty import run_novelty
    from virsci_society.scenarios.review.review import PanelReview, read_averages
    from virsci_society.scenarios.review.sheets import correlation_table

    find_code_here(trust)
    made = PanelReview.of(path, kind, settings, panel, trust=trust)
    with make_progress() as progress:
        progress.begin(f"reviewing ({kind.name})")
        made.execute(progress.wait)
    table = read_averages(path)
    own = table[(table["panel"] == made.folder.name) & (table["kind"] == kind.name)]
    rows = []
    for name, scores in own.groupby("dimension", sort=False)["score"]:
        values = scores.dropna()
        mean = float(values.mean()) if len(values) else None
        rows.append((str(name), len(values), mean, len(scores) - len(values)))
    title = f"{kind.name}: {kind.source}"
    print_table(title, ("score", "abstracts", "mean", "unreadable"), rows)
    measured = []
    for prefix, run in made.runs.items():
        novelty = run_novelty(run)
        measured.append(novelty.assign(paper=prefix + novelty["paper"]))
    scored = own.assign(rating=own["dimension"])
    _print_correlations(correlation_table(pd.concat(measured, ignore_index=True), scored))
    tell(f"tables: {made.folder / 'averages.parquet'}, {made.folder / 'reviews.parquet'}")
    tell(f"answers: {made.about}")


def _write_sheet(
    runs: Sequence[Path],
    sheet: Path,
    kind: ReviewKind,
    arms: Sequence[str],
    seed: int,
    most: int | None,
    *,
    pairs: bool,
) -> None:
    from virsci_society.scenarios.review import sheets
    from virsci_society.scenarios.review.review_kinds import RUBRIC, RUBRIC_SCORES

    papers = sheets.read_papers(runs, arms)
    if pairs:
        rows, content = sheets.pair_sheet(papers, seed, most)
        tell(f"{sheet}: {len(rows)} pairs; which of two is better, A, B or tie")
    else:
        rows, content = sheets.rating_sheet(papers, kind.rated, seed, most)
        asked = ", ".join(name.replace("_", " ") for name in kind.rated)
        tell(f"{sheet}: {len(rows)} abstracts; {asked}, 1 to 10")
    key = sheets.write_sheet(sheet, rows, content)
    if not pairs and kind.rated == RUBRIC_SCORES:
        scales = sheet.with_name(f"{sheet.stem}.scales.txt")
        sheets.write_new(scales, f"{RUBRIC}\n")
        tell(f"{scales}: what the scores mean; give it to the raters")
    tell(f"{key}: where they are from; do not show it to the raters")
    tell("one copy of the sheet for each rater, named after the rater")


def _read_sheets(paths: Sequence[Path], key: Path) -> None:
    """Print agreement and correlations, or preferences, and write all tables."""
    from virsci_society.scenarios.review import sheets

    content = sheets.read_key(key)
    answers = sheets.read_sheets(paths, content)
    folder = key.with_name(f"{key.name.removesuffix('.key.json')}-results")
    if content["asked"] == [sheets.PREFERRED]:
        tables = sheets.pair_results(answers, content)
        title = "which is preferred (exact interval, binomial test)"
        _print_frame(title, tables["preferences"])
    else:
        tables = sheets.rating_results(answers, content)
        grouped = tables["ratings"].groupby(["arm", "dimension"], sort=True)["score"]
        rows = [(*name, len(scores), float(scores.mean())) for name, scores in grouped]
        print_table("ratings by arm", ("arm", "rating", "ratings", "mean"), rows)
        title = "agreement between raters (Krippendorff's alpha, 95 % interval)"
        _print_frame(title, tables["agreement"])
        _print_correlations(tables["correlations"])
    sheets.write_results(folder, tables, content)
    # The names are those of files that raters send back.
    tell(f"rated by: {'; '.join(sorted(set(answers['rater'])))}")
    tell(f"tables: {folder}")


def _print_correlations(found: pd.DataFrame) -> None:
    from virsci_society.scenarios.review.sheets import MIN_ABSTRACTS

    if len(found):
        _print_frame("correlation over abstracts, with 95 % intervals", found)
    else:
        tell(
            f"no correlations: fewer than {MIN_ABSTRACTS} abstracts have both a measure and a score"
        )


def _print_frame(title: str, table: pd.DataFrame) -> None:
    heads = tuple(str(name).replace("_", " ") for name in table)
    print_table(title, heads, list(table.itertuples(index=False, name=None)))
