"""Commands ``society review`` and ``rate``: what people and models say of runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from virsci_society.agents.errors import InputError
from virsci_society.agents.spelling import did_you_mean
from virsci_society.scenarios.config.registry import find_code_here
from virsci_society.scenarios.runs.progress import make_progress
from virsci_society.scenarios.terminal.arguments import Settings, Trust, guarded, tell
from virsci_society.scenarios.terminal.console import cell, print_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from virsci_society.scenarios.judgement.agreement import PairFit
    from virsci_society.scenarios.judgement.judge import JudgeJob
    from virsci_society.scenarios.judgement.review import ReviewJob
    from virsci_society.scenarios.judgement.sheets import Rating

HELP = "Let people rate abstracts: a blinded sheet out, their ratings in."
rate = typer.Typer(help=HELP, no_args_is_help=True)
WITHIN = "[95 %]"
"""Ends the head of a column that is printed with its interval."""
CORRELATION = {
    **{"measure": "measure", "against": "rating", "n": "n"},
    **{"Pearson [95 %]": "pearson", "Spearman [95 %]": "spearman"},
}
AGREEMENT = {
    **{"rating": "dimension", "taken as": "level", "alpha [95 %]": "alpha"},
    **{"abstracts": "abstracts", "raters": "raters"},
}
PREFERENCE = {
    **{"arm": "arm", "against": "other", "decided": "n", "ties": "ties"},
    **{"preferred [95 %]": "preferred", "p": "p"},
}
STRENGTH = {
    **{"arm": "arm", "answers": "answers", "wins": "wins"},
    **{"strength [95 %]": "strength", "preferred to an average arm": "chance"},
}
AUDIT = {"question": "question", "value [95 %]": "value"}
"""Columns of tables by the heads under which they are printed."""
Sheets = Annotated[list[Path], typer.Argument(metavar="SHEET...", help="Filled sheets.")]
Plan = Annotated[
    bool, typer.Option("--plan", help="Only tell the calls and tokens; nothing is asked.")
]

RatedFolders = Annotated[
    list[Path], typer.Argument(metavar="RUN...", help="Folders of runs, or of a study.")
]
SheetKey = Annotated[
    Path | None, typer.Option(help="The key, a new file; SHEET.key.json by default.")
]
RatingKind = Annotated[
    str, typer.Option(help="What is rated: idea (three questions) or proposal (the rubric).")
]
ArmNames = Annotated[
    list[str] | None, typer.Option("--arm", help="An arm to take; may be given again.")
]
Tiers = Annotated[
    str | None,
    typer.Option(metavar="SCORE", help="As many low as high by a score: review.proposal.overall."),
]
Swapped = Annotated[bool, typer.Option("--swapped", help="Each pair twice, its sides exchanged.")]
AcrossTopics = Annotated[
    bool, typer.Option("--across-topics", help="Pairs of papers on different topics, too.")
]
Most = Annotated[int | None, typer.Option(min=1, help="Most abstracts or pairs, drawn at random.")]


@guarded
def review(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="A run, a study, or texts as JSON lines.")
    ],
    kind: Annotated[
        str, typer.Option(help="virsci, novelty, proposal or proposal_told.")
    ] = "virsci",
    set_: Settings = None,
    panel: Annotated[
        str | None, typer.Option(help="Name of the panel; by default that of its model.")
    ] = None,
    trust: Trust = False,
) -> None:
    """Let a model review the abstracts of a run or a study; --set backend.KEY=VALUE says which.

    The same command resumes a review that was stopped: nothing answered is asked again. The
    run's own tables and its digest stay as they are.
    """
    from virsci_society.scenarios.judgement.review import ReviewJob

    find_code_here(trust)
    made = ReviewJob.of(run, kind, set_ or (), panel, trust=trust)
    if made.done:
        tell(f"{made.folder} holds this review already; nothing to do")
    else:
        with make_progress() as progress:
            progress.begin(f"reviewing ({kind})")
            made.execute(progress.wait)
    _show_review(made)


def _show_review(made: ReviewJob) -> None:
    import pandas as pd

    from virsci_society.scenarios.judgement.agreement import correlation_table, read_novelty
    from virsci_society.scenarios.judgement.review import read_averages

    table = read_averages(made.folder.parents[1])
    mine = table[(table["panel"] == made.folder.name) & (table["kind"] == made.kind.name)]
    rows = []
    for name, scores in mine.groupby("dimension", sort=False)["score"]:
        known = scores.dropna()
        mean = float(known.mean()) if len(known) else None
        rows.append((str(name), len(known), mean, len(scores) - len(known)))
    title = f"{made.kind.name}: {made.kind.source}"
    print_table(title, ("score", "abstracts", "mean", "unreadable"), rows)
    if made.runs:
        measured = []
        for before, run in made.runs.items():
            table = read_novelty(run)
            measured.append(table.assign(paper=before + table["paper"]))
        scored = mine.assign(rating=mine["dimension"])
        _print_correlations(correlation_table(pd.concat(measured, ignore_index=True), scored))
    else:
        tell(f"beside people's ratings: society rate audit FILE --judge {made.folder}")
    tell(f"tables: {made.folder / 'averages.parquet'}, {made.folder / 'reviews.parquet'}")
    tell(f"who reviewed: {made.about}")


@rate.command("export")
@guarded
def export(
    runs: RatedFolders,
    out: Annotated[Path, typer.Option("--out", help="The sheet, a new CSV file.")],
    key: SheetKey = None,
    kind: RatingKind = "idea",
    arm: ArmNames = None,
    tiers: Tiers = None,
    pairs: Annotated[bool, typer.Option("--pairs", help="Pairs of papers of two arms.")] = False,
    swapped: Swapped = False,
    across_topics: AcrossTopics = False,
    most: Most = None,
    seed: Annotated[int, typer.Option(min=0, help="Of order, sides and pairs.")] = 0,
) -> None:
    """Write a sheet of abstracts that says nothing of where they are from, and its key."""
    from virsci_society.scenarios.judgement import sheets
    from virsci_society.scenarios.judgement.review_kinds import RUBRIC
    from virsci_society.scenarios.judgement.sheet_entries import entries_of, of_arms

    _require_fitting(kind, tiers, pairs, swapped=swapped, across_topics=across_topics)
    entries = of_arms(entries_of(runs, tiers), arm or ())
    if pairs:
        rows, key_data = sheets.pair_sheet(
            entries, seed, most, swapped=swapped, across_topics=across_topics
        )
    else:
        rows, key_data = sheets.rating_sheet(entries, seed, most, kind)
    where = key or out.with_name(f"{out.stem}.key.json")
    sheets.write_sheet(out, where, rows, key_data)
    asked = "which of two is better" if pairs else f"{_listed(sheets.RATINGS[kind])}, 1 to 10"
    tell(f"{out}: {len(rows)} {'pairs' if pairs else 'abstracts'}; {asked}")
    if kind == "proposal":
        scales = out.with_name(f"{out.stem}.scales.txt")
        sheets.write_new(scales, f"{RUBRIC}\n")
        tell(f"{scales}: what the scores mean; give it to the raters")
    tell(f"{where}: where they are from; do not show it to the raters")
    tell("one copy of the sheet for each rater, named after the rater")


def _require_fitting(
    kind: str, tiers: str | None, pairs: bool, *, swapped: bool, across_topics: bool
) -> None:
    """Refuse options of ``rate export`` that do not go together."""
    from virsci_society.scenarios.judgement.sheets import RATINGS

    if kind not in RATINGS:
        hint = did_you_mean(kind, RATINGS)
        raise InputError(f"--kind {kind}: expected {' or '.join(RATINGS)}{hint}")
    if swapped and not pairs:
        raise InputError("--swapped: only pairs have sides; give --pairs too")
    if across_topics and not pairs:
        raise InputError("--across-topics: only pairs are matched by topic; give --pairs too")
    if pairs and (tiers is not None or kind != "idea"):
        raise InputError("--kind and --tiers are for ratings; leave them out, or --pairs")


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(name.replace('_', ' ') for name in names[:-1])} and {names[-1]}"


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
    plan: Plan = False,
    trust: Trust = False,
) -> None:
    """Let a model fill in a sheet of pairs; it sees the sheet alone, every pair in both orders.

    --set backend.KEY=VALUE says who judges; by default rules do, which count words. The filled
    sheet is read by rate import, as a person's is. The same command resumes a judge that was
    stopped.
    """
    from virsci_society.scenarios.judgement.judge import JudgeJob
    from virsci_society.scenarios.planning.plan import question_cost
    from virsci_society.scenarios.terminal.plan_tables import print_question_cost

    find_code_here(trust)
    made = JudgeJob.of(sheet, set_ or (), seed=seed, out=out, trust=trust)
    if plan:
        title = f"{sheet.name}: {len(made.rows)} pairs, {made.calls} judgements"
        print_question_cost(title, made.about, question_cost(made.scenario, made.rehearse))
        return
    if made.done:
        tell(f"{made.folder} holds these judgements already; nothing to do")
    else:
        with make_progress() as progress:
            progress.begin("judging")
            made.execute(progress.wait)
    _show_judgements(made)


def _show_judgements(made: JudgeJob) -> None:
    import pandas as pd

    from virsci_society.scenarios.judgement.judge import JUDGEMENTS

    table = pd.read_csv(made.folder / f"{JUDGEMENTS}.csv")
    counts = table["said"].fillna("unreadable").value_counts()
    rows = [(said, int(counts[said])) for said in ("A", "B", "tie", "unreadable") if said in counts]
    print_table("which of two, as they were shown", ("said", "judgements"), rows)
    tell(f"filled sheet: {made.filled}")
    tell(f"who judged: {made.about}")


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
    from virsci_society.scenarios.judgement.sheets import read_key, read_sheets

    key_data = read_key(key)
    answers = read_sheets(sheets, key_data, incomplete=incomplete)
    folder = out or key.with_name(f"{key.name.removesuffix('.key.json')}-results")
    (_import_pairs if key_data["kind"] == "pairs" else _import_ratings)(answers, key_data, folder)
    # The names are those of files that raters send back.
    tell(f"rated by: {'; '.join(sorted({one.rater for one in answers}))}")
    tell(f"tables: {folder}")


@rate.command("audit")
@guarded
def audit(
    ratings: Annotated[
        Path, typer.Argument(metavar="FILE", help="Ratings as JSON lines (docs/reviews.md).")
    ],
    judge: Annotated[
        list[str], typer.Option("--judge", help="A rater, or a panel's folder; may be repeated.")
    ],
    dimension: Annotated[
        str | None, typer.Option(help="Such as novelty; all ratings by default.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the intervals.")] = 0,
) -> None:
    """Tell what a judge is worth, beside people who rated the same texts.

    Several --judge are one judge who rated each text several times.
    """
    from virsci_society.scenarios.judgement import audit as held
    from virsci_society.scenarios.judgement.rating_files import read_ratings

    table, names = held.with_panels(read_ratings(ratings, dimension), judge, dimension)
    found = held.rating_set(table, names)
    rows = held.audit(found, seed)
    texts, raters = found.people.shape
    times = found.judge.shape[1]
    judged = f"the judge rated each {'once' if times == 1 else f'{times} times'}"
    tell(f"{texts} texts, {raters} people; {judged}")
    _print_columns("what this judge is worth", rows, AUDIT)


def _import_ratings(answers: list[Rating], key_data: dict[str, Any], folder: Path) -> None:
    from virsci_society.scenarios.judgement.agreement import (
        agreement_table,
        correlate,
        measures_of_runs,
        ratings_of,
        review_errors,
        write_results,
    )

    ratings = ratings_of(answers, key_data)
    agreed = agreement_table(ratings, key_data["seed"])
    measured, reviewed = measures_of_runs(key_data)
    found, errors = correlate(ratings, measured, reviewed), review_errors(ratings, reviewed)
    tables = {"ratings": ratings, "agreement": agreed, "correlations": found}
    write_results(folder, tables | ({"errors": errors} if len(errors) else {}), key_data)
    means = ratings.groupby(["arm", "dimension"], sort=True)["score"].agg(["size", "mean"])
    rows = [(*name, int(size), float(mean)) for name, size, mean in means.itertuples()]
    print_table("ratings by arm", ("arm", "rating", "ratings", "mean"), rows)
    _print_columns("agreement between raters (Krippendorff's alpha)", agreed, AGREEMENT)
    _print_correlations(found[found["measure"] == "ON"])
    if len(errors):
        heads = ("rating", "panel", "tier", "n", "people", "model", "mean absolute error")
        columns = dict(zip(heads, errors.columns, strict=True))
        _print_columns("reviews beside people's ratings", errors, columns)


def _import_pairs(answers: list[Rating], key_data: dict[str, Any], folder: Path) -> None:
    from virsci_society.scenarios.judgement.agreement import (
        choices_of,
        fit_pairs,
        pair_agreement,
        preference_table,
        write_results,
    )

    choices = choices_of(answers, key_data)
    found = preference_table(choices)
    fit = fit_pairs(choices)
    tables = {"choices": choices, "preferences": found, "strengths": fit.arms}
    write_results(folder, tables, key_data)
    title = "which is preferred (exact interval, binomial test)"
    _print_columns(title, found, PREFERENCE)
    _print_strengths(fit, pair_agreement(choices))


def _print_correlations(found: pd.DataFrame) -> None:
    """Print correlations over abstracts; a line where there are too few of them."""
    from virsci_society.scenarios.judgement.agreement import MIN_ABSTRACTS

    if not len(found):
        tell(
            f"no correlations: fewer than {MIN_ABSTRACTS} abstracts have both a measure and a score"
        )
        return
    _print_columns("correlation over abstracts", found, CORRELATION)


def _print_columns(title: str, found: pd.DataFrame, columns: Mapping[str, str]) -> None:
    """Print columns by their heads, those whose head says so with their 95 % intervals."""
    rows = [
        [_within(row, name) if WITHIN in head else row[name] for head, name in columns.items()]
        for row in found.to_dict("records")
    ]
    print_table(title, tuple(columns), rows)


def _print_strengths(fit: PairFit, alpha: float) -> None:
    """Print the strength of each arm, the effect of position and the agreement on pairs."""
    title = "strengths by pairs (Bradley and Terry 1952; ties count half)"
    _print_columns(title, fit.arms, STRENGTH)
    first = f"{cell(fit.first)} [{cell(fit.first_low)}, {cell(fit.first_high)}]"
    tell(
        f"position: the first of two was preferred in {cell(fit.first_share)} of the decided "
        f"answers; effect on the logit {first}, 0 where it does not matter"
    )
    if alpha == alpha:
        tell(f"agreement on pairs answered more than once: alpha {cell(alpha)}")


def _within(row: Any, name: str) -> str:
    """A value with its interval, whose columns are ``low`` and ``high``, or have its name first."""
    prefix = f"{name}_" if f"{name}_low" in row else ""
    low, high = row[f"{prefix}low"], row[f"{prefix}high"]
    return f"{cell(float(row[name]))} [{cell(float(low))}, {cell(float(high))}]"
