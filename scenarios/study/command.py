"""Commands ``society study``: new, list, plan, lock, run, status and report."""

from __future__ import annotations

import math
import time
from collections import Counter
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.config.registry import find_code_here
from virsci_society.scenarios.runs.progress import elapsed_and_left, make_progress
from virsci_society.scenarios.terminal.options import (
    Json,
    Settings,
    Trust,
    guarded,
    tell,
    tell_json,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from virsci_society.scenarios.study.design import Design
    from virsci_society.scenarios.study.lock import Lock, RunResult
    from virsci_society.scenarios.study.plan import StudyForecast

RUNS_SHOWN, ARMS_SHOWN = 20, 40
"""Unfinished runs, and arms, that are listed one by one."""
HELP = "Run replicates of several arms and compare them."
TEMPLATE = Path(__file__).with_name("new_study.yaml")
study = typer.Typer(help=HELP, no_args_is_help=True)
StudyName = Annotated[
    str, typer.Argument(metavar="STUDY", help="A name, a file, or a study's folder.")
]
Out = Annotated[
    Path | None, typer.Option("--out", help="The study's folder (default runs/studies/NAME).")
]


@study.command("list")
@guarded
def list_() -> None:
    """List the studies of the library."""
    from virsci_society.scenarios.study.study_file import about_of, studies

    found = studies()
    width = max(map(len, found), default=0)
    for name, path in found.items():
        tell(f"{name:{width}}  {about_of(path)}")


@study.command()
@guarded
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the new file.")],
    base: Annotated[
        str, typer.Option("--base", metavar="SCENARIO", help="Base scenario of all arms.")
    ] = "quickstart",
) -> None:
    """Write a commented study file with two arms that runs unchanged."""
    from virsci_society.agents.files.atomic_files import make_folder, write_atomically
    from virsci_society.scenarios.config.document import SUFFIXES, find_scenario, library
    from virsci_society.scenarios.config.yaml_io import write_yaml

    target = Path(name) if Path(name).suffix in SUFFIXES else Path(f"{name}.yaml")
    if target.exists() or target.is_symlink():
        raise InputError(f"{target}: exists already; give another name")
    found = find_scenario(base)
    above = base if base in library() else str(found.resolve())
    text = TEMPLATE.read_text(encoding="utf-8").replace("FILE", str(target))
    text = text.replace("study: NAME\n", write_yaml({"study": target.stem}))
    text = text.replace("studies/NAME/", f"studies/{target.stem}/")
    make_folder(target.parent)
    write_atomically(target, text.replace("base: BASE\n", write_yaml({"base": above})))
    tell(f"wrote {target}; edit it, then run")
    tell(f"  society check {target}")
    tell(f"  society study run {target}")


@study.command()
@guarded
def plan(study: StudyName, set_: Settings = None, trust: Trust = False) -> None:
    """Estimate the cost of a study and its smallest detectable effect."""
    from virsci_society.scenarios.study.design import check_arms, read_study
    from virsci_society.scenarios.study.plan import match_budgets, study_forecast

    find_code_here(trust)
    design = read_study(study, set_ or (), trust=trust)
    check_arms(design, keys=False)
    with make_progress() as progress:
        design = match_budgets(design, progress=progress, trust=trust)
        found = study_forecast(design, progress)
    print_forecast(found)


def print_forecast(found: StudyForecast) -> None:
    """Print the cost of a study and its smallest detectable effect."""
    from virsci_society.metrics.inference.comparisons import power_sentences
    from virsci_society.scenarios.planning.plan import SUMS, figure_text
    from virsci_society.scenarios.planning.speed import duration
    from virsci_society.scenarios.study.plan import UNITS, comparisons_in, deviation
    from virsci_society.scenarios.terminal.console import print_table

    design, file, first = found.design, found.design.file, found.plans[0]

    def print_arms(title: str, columns: Sequence[str], rows: Sequence[tuple[str, ...]]) -> None:
        print_table(title, columns, rows[:ARMS_SHOWN])
        if len(rows) > ARMS_SHOWN:
            tell(f"... and {len(rows) - ARMS_SHOWN} more arms")

    if file.match is not None and design.matching is not None:
        matched, far, unit = [], [], UNITS[file.match.by]
        for one in design.matching:
            off = deviation(one.planned, one.target)
            value = "" if one.value is None else str(one.value)
            gap = "" if math.isnan(off) else f"{off:+.1%}"
            matched.append((one.arm, one.key or "as given", value, f"{one.planned:,.6g}", gap))
            if one.key is None and abs(off) > file.match.within:
                far.append(one.arm)
        targets = (f"{one.target:,.6g}" for one in design.matching if one.target is not None)
        title = f"matched to {' and '.join(dict.fromkeys(targets))} {unit} a run"
        print_arms(title, ("arm", "key", "value", unit, "off"), matched)
        if far:
            tell(f"unchanged, and off by more than {file.match.within:.0%}: {', '.join(far)}")
    figures = [
        (label, figure_text(name, total))
        for name, label in SUMS.items()
        if (name != "usd" or found.priced) and (total := found.total(name))
    ]
    wall = found.wall_time()
    if wall:
        figures.append(("wall time, sharing slots", duration(wall)))
    title = f"{file.study}: {len(design.arms)} arms x {file.replicates} replicates = {design.runs}"
    if figures:
        arms = zip(design.arms, found.plans, strict=True)
        rows = [(arm.name, f"{one.calls:,}") for arm, one in arms]
        print_arms("calls of one run", ("arm", "calls"), rows)
        print_table(f"{title} runs", ("figure", "estimate"), figures)
    else:
        tell(f"{title} runs")
    if not wall:
        at_once = prod(design.sizes(design.runs))
        seconds = file.replicates * math.fsum(found.rehearsed) / at_once
        tell(
            f"wall time: at least {duration(max(seconds, *found.rehearsed))} on this machine, "
            f"{at_once} runs at a time (--jobs)"
        )
    tell("rehearsed by rule-based scientists with the first seed of each arm")
    tell(f"answers: {first.scenario.backend.backend.about}")
    if not first.by_rules:
        tell(first.assumptions)
    if not found.priced:
        tell("the price of a model is not known; 'society plan' shows how to set it")
    tell(*power_sentences(file.replicates, file.paired, comparisons_in(design)))


@study.command()
@guarded
def lock(study: StudyName, set_: Settings = None, out: Out = None, trust: Trust = False) -> None:
    """Fix runs, measures and comparisons before the first run."""
    from virsci_society.scenarios.study.design import check_arms
    from virsci_society.scenarios.study.run_study import open_study

    folder = _folder_of(study, out)
    with make_progress() as progress:
        design, held = open_study(
            study,
            set_ or (),
            folder,
            progress,
            trust=trust,
            by="lock",
            check=lambda design, _: check_arms(design, keys=False),
        )
    tell(f"{folder / 'lock.json'}: {design.runs} runs, {held.data['hash']}")


@study.command()
@guarded
def run(
    study: StudyName,
    set_: Settings = None,
    out: Out = None,
    index: Annotated[
        str | None,
        typer.Option(
            "--index", metavar="I", help="Only run I, for job arrays; I/N: runs I, I+N, I+2N ..."
        ),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", metavar="N", min=1, help="Processes on this machine.")
    ] = None,
    together: Annotated[
        int | None,
        typer.Option(
            "--together",
            metavar="N",
            min=1,
            help="Concurrent runs per process, sharing its call slots.",
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", metavar="ADDRESS", help="Use a dask scheduler's workers."),
    ] = None,
    local_cluster: Annotated[
        int | None,
        typer.Option("--local-cluster", metavar="N", min=1, help="Use N dask workers here."),
    ] = None,
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Stop at the first run that fails.")
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Also retry quarantined runs.")] = False,
    trust: Trust = False,
) -> None:
    """Run the missing runs of a study and write its page.

    Repeat the command to resume a study that was stopped; on a finished study it does nothing.
    """
    from virsci_society.scenarios.study.design import check_arms
    from virsci_society.scenarios.study.lock import exit_code, read_results, unfinished_runs
    from virsci_society.scenarios.study.run_study import open_study, run_anywhere

    def check(design: Design, held: Lock | None) -> None:
        if held is None or again or unfinished_runs(read_results(folder, held)):
            # The workers of a scheduler have their own API keys.
            check_arms(design, keys=scheduler is None)

    def leave(found: Sequence[RunResult]) -> None:
        if code := exit_code(found):
            _print_ends(folder, found, "the same command", err=True)
            raise typer.Exit(code)

    folder = _folder_of(study, out)
    with make_progress() as progress:
        design, held = open_study(study, set_ or (), folder, progress, trust=trust, check=check)
    todo = _runs_to_do(folder, held, index, again=again)
    done = []
    if todo:
        at_once = prod(design.sizes(len(todo), jobs, together))
        done = run_anywhere(
            design,
            folder,
            todo,
            jobs=jobs,
            together=together,
            scheduler=scheduler,
            local_cluster=local_cluster,
            fail_fast=fail_fast,
            again=again,
            trust=trust,
            on_result=_line_by_line(folder, len(todo), at_once),
        )
    if index is not None:
        leave(done)
        return
    leave(_conclude(design, folder, held, changed=bool(todo)))
    # Reviewers come after the runs, so that here they are only announced.
    tell(*_without_reviews(design, folder), err=True)


@study.command()
@guarded
def status(study: StudyName, out: Out = None, json: Json = False) -> None:
    """Show the state of the runs of a study."""
    from virsci_society.scenarios.study.lock import STATES, as_shown, read_results, require_lock
    from virsci_society.scenarios.terminal.console import print_table

    folder = _folder_of(study, out)
    found = [as_shown(folder, one) for one in read_results(folder, require_lock(folder))]
    if json:
        tell_json([one.to_data() for one in found])
        return
    shown = [state for state in STATES if any(one.state == state for one in found)]
    counts = Counter((one.arm, one.state) for one in found)
    arms = dict.fromkeys(one.arm for one in found)
    rows = [(arm, *(str(counts[arm, state]) for state in shown)) for arm in arms]
    tell(f"{folder}: {len(found)} runs")
    print_table("runs by arm", ("arm", *shown), rows)
    _print_reasons(folder, found, err=False)
    tokens, usd = sum(one.tokens for one in found), math.fsum(one.usd for one in found)
    if tokens or usd:
        tell(f"spent: {tokens:,} tokens, {usd:.4f} US dollars")


@study.command()
@guarded
def report(
    study: StudyName,
    set_: Settings = None,
    out: Out = None,
    interim_p: Annotated[
        bool, typer.Option("--interim-p", help="Show p values before all runs are done.")
    ] = False,
    trust: Trust = False,
) -> None:
    """Write the page of a study again from its finished runs.

    Until all runs are done it is an interim page, with estimates and intervals but no p values.
    """
    from virsci_society.scenarios.study.lock import require_lock
    from virsci_society.scenarios.study.run_study import open_study

    folder = _folder_of(study, out)
    require_lock(folder)
    # A study of the library is kept in its folder, with the settings that it was run with.
    source = study if Path(study).is_file() else str(folder)
    with make_progress() as progress:
        design, held = open_study(source, set_ or (), folder, progress, trust=trust)
    found = _conclude(design, folder, held, changed=True, interim_p=interim_p)
    if any(one.state != "done" for one in found):
        _print_ends(folder, found, f"'society study run {folder}'", err=False)
    elif missing := _without_reviews(design, folder):
        raise InputError("\n".join(missing))


def _runs_to_do(folder: Path, lock: Lock, index: str | None, *, again: bool) -> list[int]:
    """The unfinished runs, the quarantined with ``--again``, or those that ``--index`` names."""
    from virsci_society.scenarios.study.lock import read_results, unfinished_runs

    if index is not None:
        return _indices(index, lock)
    before = read_results(folder, lock)
    todo = unfinished_runs(before)
    if again:
        todo += [one.index for one in before if one.state == "quarantined"]
    if todo:
        tell(f"{folder}: {len(todo)} of {lock.runs} runs to do", err=True)
    return todo


def _folder_of(study: str, out: Path | None) -> Path:
    from virsci_society.scenarios.study.study_file import default_study_folder, find_study

    return default_study_folder(find_study(study)) if out is None else out


def _indices(text: str, lock: Lock) -> list[int]:
    """The runs that ``--index`` names."""
    first, slash, step = text.partition("/")
    if not first.isdecimal() or (slash and not (step.isdecimal() and int(step))):
        raise InputError(f"--index: got {text!r}, expected I or I/N, such as 7 or 7/100")
    lock.waiting(int(first))
    return list(range(int(first), lock.runs, int(step) if slash else lock.runs))


def _conclude(
    design: Design, folder: Path, lock: Lock, *, changed: bool, interim_p: bool = False
) -> list[RunResult]:
    """Gather, write the page and say where it is; returns how every run stands."""
    from virsci_society.scenarios.study.run_study import conclude
    from virsci_society.scenarios.study.tables import speaker_of_study

    found, new = conclude(
        design,
        folder,
        lock,
        changed=changed,
        interim_p=interim_p,
        tell=lambda line: tell(line, err=True),
    )
    if any(one.state == "done" for one in found):
        if not new:
            tell(f"{folder} already contains this study; nothing to do")
        tell(f"report: {folder / 'report.html'}")
        tell(f"answers: {speaker_of_study(design)}")
    return found


def _without_reviews(design: Design, folder: Path) -> list[str]:
    """A line for each planned outcome that no reviewer has given yet, with its place."""
    wanted = {
        one.of: one.of.split(".")[1] for one in design.comparisons if one.of.startswith("review.")
    }
    if not wanted:
        return []
    from virsci_society.scenarios.study.study import Study

    study = Study.open(folder)
    return [
        f"{design.places[score]}: {score}: no reviews yet; 'society review {folder} --kind "
        f"{kind} --set backend.model=MODEL' asks for them, and 'society study report {folder}' "
        "enters them"
        for score, kind in wanted.items()
        if not study.panels(score)
    ]


def _line_by_line(folder: Path, total: int, at_once: int) -> Callable[[RunResult], None]:
    """Prints each run as it ends, with the share that has ended and the remaining time."""
    from virsci_society.scenarios.study.lock import describe_result

    begun, ended = time.monotonic(), set[int]()

    def line(one: RunResult) -> None:
        ended.add(one.index)
        share = len(ended) / total
        known = share if len(ended) >= 2 * at_once else 0.0
        gone = elapsed_and_left(time.monotonic() - begun, known)
        tell(f"{len(ended)} of {total} ({share:.0%}; {gone}): {describe_result(folder, one)}")

    return line


def _print_ends(folder: Path, found: Sequence[RunResult], command: str, *, err: bool) -> None:
    """Print which runs are not done, why, and what a command would do."""
    from virsci_society.scenarios.study.lock import FAILED_STATES

    _print_reasons(folder, found, err=err)
    counts = Counter(one.state for one in found if one.state != "done")
    counted = ", ".join(f"{count} {state}" for state, count in counts.items())
    effects = [
        *(["resumes it"] if {*counts} - {*FAILED_STATES} else []),
        *(["retries failed runs"] if counts["failed"] else []),
        *(["with --again starts quarantined runs"] if counts["quarantined"] else []),
    ]
    tell(f"of {len(found)} runs, {counted}; {command} {' and '.join(effects)}", err=err)


def _print_reasons(folder: Path, found: Sequence[RunResult], *, err: bool) -> None:
    from virsci_society.scenarios.study.lock import describe_result

    unfinished = [one for one in found if one.reason and one.state != "done"]
    for one in unfinished[:RUNS_SHOWN]:
        tell(describe_result(folder, one), err=err)
    if len(unfinished) > RUNS_SHOWN:
        tell(
            f"... and {len(unfinished) - RUNS_SHOWN} more; 'society study status --json' lists all",
            err=err,
        )
