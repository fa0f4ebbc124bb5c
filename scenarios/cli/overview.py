"""The commands ``society show`` (a run in ten lines or in tables) and ``society transcript``."""

from __future__ import annotations

import shutil
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from virsci_society.agents.errors import InputError
from virsci_society.agents.invented_names import masked_name, with_invented_names
from virsci_society.agents.spelling import printable
from virsci_society.scenarios.terminal.console import cell, open_to_show, print_table
from virsci_society.scenarios.terminal.options import (
    Json,
    RunFolder,
    guarded,
    open_in_browser,
    tell,
    tell_json,
)

if TYPE_CHECKING:
    from virsci_society.scenarios.runs.run_state import RunState

LABEL = 22
"""Columns before the text of each line of ``society show``."""
FOLLOW_SECONDS = 3.0
"""Between two looks at a run that is followed."""
ROWS_SHOWN = 40
"""Rows of a table that are printed."""


@guarded
def show(
    run: RunFolder,
    json: Json = False,
    open_: Annotated[
        bool, typer.Option("--open", help="Open the page of a run or a study in the browser.")
    ] = False,
    follow: Annotated[
        bool, typer.Option("--follow", help="Refresh every few seconds until the run ends.")
    ] = False,
    table: Annotated[
        str | None, typer.Option(metavar="NAME", help="Print one table or metric of a run.")
    ] = None,
) -> None:
    """Summarize a finished or running run.

    For a running run, progress and latest state are shown.
    """
    if run.is_file():
        raise InputError(
            f"{run}: is a file; give a run folder, such as runs/{run.stem}-1, or "
            f"see the scenario with 'society list {run}'"
        )
    if table is not None:
        _show_table(run, table, json)
    elif open_:
        from virsci_society.agents.files.atomic_files import require_regular_file
        from virsci_society.society.results.run import resolve_run_folder

        if not run.is_dir():
            raise InputError(f"{run}: no such folder; 'society list runs' lists your runs")
        page = resolve_run_folder(run) / "report.html"
        if not page.exists():
            open_to_show(run)  # tells what it is instead: a study, a folder of runs, a killed run
            raise InputError(f"{page}: missing; 'society export page {run}' writes it")
        open_in_browser(require_regular_file(page))
    elif follow:
        from rich.console import Console

        from virsci_society.scenarios.runs.run_state import RUNNING, read_state

        screen = Console()
        with suppress(KeyboardInterrupt):  # which leaves the run alone
            while read_state(run).state == RUNNING:
                screen.clear()
                _show(run, json)
                time.sleep(FOLLOW_SECONDS)
            screen.clear()
            _show(run, json)
    else:
        _show(run, json)


def _show_table(run: Path, name: str, json: bool) -> None:
    """Print the first rows of a table or metric of a run; all of them as JSON."""
    from json import loads

    from virsci_society.metrics.novelty.novelty import embedding_of
    from virsci_society.metrics.registry import compute_metric, metrics_named
    from virsci_society.society.results.dataframes import with_numpy_dtypes
    from virsci_society.society.results.tables import TABLES

    opened = open_to_show(run)
    table = opened.table(name) if name in TABLES else compute_metric(opened, name)
    if json:
        tell_json(loads(table.to_json(orient="records")))
        return
    shown = with_numpy_dtypes(table.head(ROWS_SHOWN))
    if "scientist" in shown and "name" not in shown:
        position = list(shown).index("scientist") + 1
        shown.insert(position, "name", shown["scientist"].map(with_invented_names))
    count = f"the first {ROWS_SHOWN} of {len(table)}" if len(table) > ROWS_SHOWN else len(table)
    by = f"; by {embedding_of(opened)}" if name in metrics_named("novelty") else ""
    print_table(
        f"{name}: {count} rows{by}", list(map(str, shown.columns)), shown.to_numpy().tolist()
    )


def _show(run: Path, json: bool) -> None:
    from virsci_society.metrics.summary_file import SUMMARY, read_summary
    from virsci_society.scenarios.runs.run_state import FINISHED, has_world, read_state

    state = read_state(run)
    if state.session and not has_world(run):
        if json:
            tell_json(state.to_data())
        else:
            tell(*_state_lines(state))
        return
    written = read_summary(run) if state.state == FINISHED else None
    if written is None:
        from virsci_society.metrics.summary import summarise_run

        _print(summarise_run(open_to_show(run)), state, json)
        return
    try:
        _print(written, state, json)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        # A folder may come from a stranger, whose list of hashes fits whatever is in it.
        raise InputError(f"{run / SUMMARY}: not a run summary") from error


def _state_lines(state: RunState) -> Iterator[str]:
    """The state of a run without tables, from its journal."""
    from virsci_society.scenarios.runs.run_state import RUNNING, resume_hint

    spent = {"attempts": state.calls, "prompt_tokens": state.tokens, "usd": state.usd}
    spent["free"] = state.free
    day = "before the first answer" if state.days is None else f"day {state.days:g}"
    resume = resume_hint(state)
    if state.state == RUNNING:
        resume = f"'society show {state.folder} --follow' shows it until it ends"
    rows = {
        "state": state.words,
        "progress": state.stood.removeprefix("progress: ") or f"{day}, session {state.session}",
        "fork": state.fork_of,
        "calls": f"{state.answered or 0:,} answered",
        "cost": _cost(spent),
        "to go on": resume,
    }
    seed = "" if state.seed is None else f", seed {state.seed}"
    yield f"{state.scenario or state.folder}{seed}"
    yield from (f"  {name:20}{text}" for name, text in rows.items() if text)


def _print(figures: Mapping[str, Any], state: RunState, json: bool) -> None:
    if json:
        tell_json(figures)
        return
    lines = list(map(printable, brief_lines(figures, state.folder, state.fork_of)))
    if sys.stdout.isatty():
        wrapper = textwrap.TextWrapper(
            max(shutil.get_terminal_size().columns, LABEL + 20),
            subsequent_indent=" " * LABEL,
            break_long_words=False,
            break_on_hyphens=False,
        )
        # A digest, which is one word, stays on the line of its label.
        wrapped = [wrapper.wrap(line) if " " in line[LABEL:] else [line] for line in lines]
        lines = [part for parts in wrapped for part in parts]
    tell(*lines)


def brief_lines(summary: Mapping[str, Any], folder: str, fork_of: str = "") -> list[str]:
    """A summary in ten lines: what happened in a sentence, then figures."""
    from virsci_society.metrics.summary_file import text_sentences

    backend = summary["backend"]
    about = backend.get("about") if isinstance(backend, Mapping) else backend
    invited, calls, ledger = summary["invitations"], summary["calls"], summary["ledger"]
    invitations = ""
    if invited["sent"]:
        invitations = (
            f"{invited['sent']:,} sent: {invited['accepted']:,} accepted, "
            f"{invited['declined']:,} declined, {invited['full']:,} turned away at the team "
            f"limit, {invited['unanswered']:,} without an answer; "
            f"{invited['cross_team']:,} to members of other teams"
        )
    overlap = []
    if most := summary["max_memberships"]:
        overlap.append(f"at most {_many(most, 'team')} a scientist at a time")
    if asked := summary["consultations"]:
        overlap.append(_many(asked, "consultation"))
    waited = summary["waiting"]
    scores = [name for name in ("HD", "CD", "CI", "ON") if summary[name] is not None]
    novelty = ", ".join(f"{name} {cell(summary[name]['mean'])}" for name in scores)
    if novelty and summary.get("embedding"):
        novelty += f", by {summary['embedding']}"
    stages = ", ".join(f"{name} {number:,}" for name, number in calls["by_stage"].items())
    counted = f"{calls['total']:,}: {stages}" if stages else "none"
    if summary["partial"] is not None:
        counted += " (of teams that had ended)"
    rows = [
        ("what happened", _sentence_of(summary)),
        ("fork", fork_of),
        *(("replies", sentence) for sentence in text_sentences(summary["reading"])),
        ("invitations", invitations),
        ("overlap", "; ".join(overlap)),
        ("waiting for people", f"{waited:.2g} days per team" if waited else "none"),
        ("novelty (means)", novelty or "not measured"),
        ("calls", counted),
        ("cost", _cost(ledger or {})),
        ("answers", cell(about)),
        ("digest", summary["digest"] or "none: the run has not finished"),
    ]
    title = f"{cell(summary['scenario'])}, seed {summary['seed']}"
    title += f" (every figure: society show {folder} --json)"
    return [cell(title), *(f"  {name:20}{text}" for name, text in rows if text)]


def _sentence_of(summary: Mapping[str, Any]) -> str:
    """What happened in a run, in one sentence of its summary."""
    from virsci_society.metrics.summary_file import ended_words

    teams = summary["teams"]
    dissolved = sum(teams["dissolved"].values())
    parts = [f"{teams['published']:,} published {_many(summary['papers'], 'paper')}"]
    if dissolved:
        parts.append(f"{dissolved:,} dissolved")
    still = (teams["running"] or 0) + (teams["finished"] or 0)
    if still:
        parts.append(f"{still:,} had not published by the end")
    people, days = _many(summary["scientists"], "scientist"), round(summary["days"])
    founded = _many(teams["founded"], "team")
    if sizes := summary["team_sizes"]:
        founded += f" of {' to '.join(map(str, dict.fromkeys(sizes)))}"
    if summary["partial"] is not None:
        # Only teams that had ended are in the tables.
        how = ended_words(summary, f"{days:,}").removeprefix("was ")
        return f"{how}; of the teams of {people}, {founded} had ended: {', '.join(parts)}"
    return f"in {_many(days, 'day')}, {people} founded {founded}: {', '.join(parts)}"


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _cost(ledger: Mapping[str, Any]) -> str:
    from virsci_society.agents.journal.records import price_words, spent_in

    attempts, tokens, usd = spent_in(ledger)
    if not attempts:
        return "no model was called"
    cached = f" ({ledger['cached_tokens']:,} from a cache)" if ledger.get("cached_tokens") else ""
    price = price_words(usd, ledger.get("free", False)) if tokens else "nothing was paid"
    return f"{tokens:,} tokens{cached} in {attempts:,} attempts; {price}"


@guarded
def transcript(
    run: RunFolder,
    team: Annotated[
        str | None, typer.Argument(metavar="TEAM", help="A team; by default, teams are listed.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Every team.")] = False,
    stage: Annotated[
        str | None, typer.Option("--stage", metavar="STAGE", help="This stage only.")
    ] = None,
) -> None:
    """Print the conversations of a team, stage by stage.

    Without a team, the teams of the run are listed.
    """
    from virsci_society.metrics.report.transcript import team_lines, transcript_lines

    opened = open_to_show(run)
    if team is None and not all_:
        tell(*map(with_invented_names, team_lines(opened, with_invented_names)))
        return
    chosen = None if team is None else masked_name(team)
    tell(*map(with_invented_names, transcript_lines(opened, chosen, stage)))
