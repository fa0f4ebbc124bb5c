"""Commands ``society study``: list, plan, lock, run, status and report."""

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
from virsci_society.scenarios.terminal.arguments import (
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
    from virsci_society.scenarios.study.execution.engine import Engine
    from virsci_society.scenarios.study.folder import Lock
    from virsci_society.scenarios.study.run_result import RunResult

MOST = 20
"""Runs that are not done, that are told one by one."""
HELP = "Replicate a scenario in several arms, and compare them."
study = typer.Typer(help=HELP, no_args_is_help=True)
StudyName = Annotated[
    str, typer.Argument(metavar="STUDY", help="A name, a file, or a study's folder.")
]
Out = Annotated[
    Path | None, typer.Option("--out", help="The study's folder (default runs/studies/NAME).")
]

Index = Annotated[
    str | None,
    typer.Option(
        "--index", metavar="I", help="Do run I only, as in a job array; I/N: runs I, I+N, I+2N ..."
    ),
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", metavar="N", min=1, help="Processes on this machine.")
]
Together = Annotated[
    int | None,
    typer.Option(
        "--together", metavar="N", min=1, help="Runs in each process, sharing their slots."
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option("--scheduler", metavar="ADDRESS", help="Use a dask scheduler's workers."),
]
LocalCluster = Annotated[
    int | None, typer.Option("--local-cluster", metavar="N", min=1, help="Use N dask workers here.")
]
FailFast = Annotated[bool, typer.Option("--fail-fast", help="Stop at the first run that fails.")]
Again = Annotated[bool, typer.Option("--again", help="Begin quarantined runs as well.")]
InterimP = Annotated[
    bool, typer.Option("--interim-p", help="Show p values before every run is done.")
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
def plan(study: StudyName, set_: Settings = None, trust: Trust = False, json: Json = False) -> None:
    """Tell what a study will take, and how small an effect it can find; nothing is paid."""
    from virsci_society.scenarios.study.budget_matching import match_budgets
    from virsci_society.scenarios.study.design import check_arms
    from virsci_society.scenarios.study.forecast import study_forecast
    from virsci_society.scenarios.study.reader import read_study

    find_code_here(trust)
    design = read_study(study, set_ or (), trust=trust)
    check_arms(design, keys=False)
    with make_progress() as progress:
        design = match_budgets(design, progress=progress, trust=trust)
        found = study_forecast(design, progress)
    if json:
        tell_json(found.to_data())
    else:
        from virsci_society.scenarios.study.forecast import print_forecast

        print_forecast(found)


@study.command()
@guarded
def lock(study: StudyName, set_: Settings = None, out: Out = None, trust: Trust = False) -> None:
    """Write down what will be run, measured and compared, before anything is run."""
    from virsci_society.scenarios.study.design import check_arms
    from virsci_society.scenarios.study.folder import open_folder

    design, folder, locked = _read(study, set_, out, trust)
    check_arms(design, keys=False)
    design = _matched(design, locked, trust)
    held = open_folder(design, folder, "lock")
    tell(f"{folder / 'lock.json'}: {design.runs} runs, {held.data['hash']}")


@study.command()
@guarded
def run(
    study: StudyName,
    set_: Settings = None,
    out: Out = None,
    index: Index = None,
    jobs: Jobs = None,
    together: Together = None,
    scheduler: Scheduler = None,
    local_cluster: LocalCluster = None,
    fail_fast: FailFast = False,
    again: Again = False,
    trust: Trust = False,
) -> None:
    """Do the runs of a study that are missing, gather them, and write its page.

    The same command resumes a study that was stopped; on a finished one it does nothing.
    """
    from virsci_society.scenarios.study.design import check_arms
    from virsci_society.scenarios.study.execution.engine import Engine
    from virsci_society.scenarios.study.folder import open_folder, read_results, unfinished_runs

    design, folder, locked = _read(study, set_, out, trust)
    if locked is None or again or unfinished_runs(read_results(folder, locked)):
        # The workers of a scheduler have keys of their own.
        check_arms(design, keys=scheduler is None)
    design = _matched(design, locked, trust)
    held = open_folder(design, folder, "run")
    engine = Engine(jobs, together, scheduler, local_cluster, fail_fast, again, trust)
    if index is not None:
        _end(folder, _do(engine, design, folder, _indices(index, held)))
        return
    if todo := _tell_missing(folder, held, again=again):
        _do(engine, design, folder, todo)
    _end(folder, _conclude(design, folder, held, changed=bool(todo)))
    # Reviewers come after the runs, so that here they are only announced.
    for line in _without_reviews(design, folder):
        tell(line, err=True)


def _tell_missing(folder: Path, held: Lock, *, again: bool) -> list[int]:
    """Tell and return the runs that are to be done."""
    from virsci_society.scenarios.study.folder import read_results, unfinished_runs

    before = read_results(folder, held)
    todo = unfinished_runs(before)
    if again:
        todo += [one.index for one in before if one.state == "quarantined"]
    if todo:
        tell(f"{folder}: {len(todo)} of {held.runs} runs to do", err=True)
    return sorted(todo)


def _do(engine: Engine, design: Design, folder: Path, runs: Sequence[int]) -> list[RunResult]:
    """Do runs and tell how far they are."""
    at_once = prod(engine.sizes(design, len(runs)))
    return engine.run(design, folder, runs, _line_by_line(folder, len(runs), at_once))


@study.command()
@guarded
def status(study: StudyName, out: Out = None, json: Json = False) -> None:
    """Tell how the runs of a study stand."""
    from virsci_society.scenarios.study.folder import require_lock, results_to_show

    folder = _folder_of(study, out)
    found = results_to_show(folder, require_lock(folder))
    if json:
        tell_json([one.to_data() for one in found])
    else:
        _print_results(folder, found)


@study.command()
@guarded
def report(
    study: StudyName,
    set_: Settings = None,
    out: Out = None,
    interim_p: InterimP = False,
    trust: Trust = False,
) -> None:
    """Gather the runs that are done, and write the study's page again.

    Until every run is done it is an interim page: estimates with their intervals, but no p values.
    """
    from virsci_society.scenarios.study.folder import open_folder, require_lock

    folder = _folder_of(study, out)
    require_lock(folder)
    # A study of the library is kept in its folder, with the settings that it was run with.
    source = study if Path(study).is_file() else str(folder)
    design, folder, locked = _read(source, set_, folder, trust)
    design = _matched(design, locked, trust)
    lock = open_folder(design, folder, "run")
    found = _conclude(design, folder, lock, changed=True, interim_p=interim_p)
    if any(one.state != "done" for one in found):
        _print_ends(folder, found, f"'society study run {folder}'", err=False)
    elif missing := _without_reviews(design, folder):
        raise InputError("\n".join(missing))


def _read(
    study: str, settings: list[str] | None, out: Path | None, trust: bool
) -> tuple[Design, Path, Lock | None]:
    """The design, its folder and the lock in it; None before there is one."""
    from virsci_society.scenarios.study.folder import read_lock
    from virsci_society.scenarios.study.reader import read_study

    find_code_here(trust)
    folder = _folder_of(study, out)
    held = read_lock(folder)
    measured = () if held is None else held.data["measures"]
    return read_study(study, settings or (), trust=trust, measured=measured), folder, held


def _matched(design: Design, locked: Lock | None, trust: bool) -> Design:
    """The design with the values that its lock holds, or that are chosen now."""
    if design.file.match is None:
        return design
    from virsci_society.scenarios.study.budget_matching import match_budgets

    held = None if locked is None else locked.data.get("match")
    with make_progress() as progress:
        return match_budgets(design, held, progress=progress, trust=trust)


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
    """Gather and write the page, if there is anything new; returns how every run stands."""
    from virsci_society.scenarios.study.folder import read_results, trim_runs
    from virsci_society.scenarios.study.gather import (
        gather,
        is_gathered,
        speaker_of_study,
        study_json,
    )

    found = read_results(folder, lock)
    if not any(one.state == "done" for one in found):
        return found
    if changed or not is_gathered(folder, study_json(design, lock, folder, found)):
        from virsci_society.scenarios.study.results.page import write_study_page

        tell(f"gathering {sum(one.state == 'done' for one in found):,} runs", err=True)
        gather(design, folder, lock, found)
        tell("writing the page", err=True)
        write_study_page(folder, interim_p=interim_p)
    else:
        tell(f"{folder} holds this study already; nothing to do")
    trim_runs(folder, found, design.file.keep)
    tell(f"report: {folder / 'report.html'}")
    tell(f"who spoke: {speaker_of_study(design)}")
    return found


def _without_reviews(design: Design, folder: Path) -> list[str]:
    """A line for each planned outcome that no reviewer has given yet, with its place."""
    wanted = {
        one.of: one.of.split(".")[1] for one in design.comparisons if one.of.startswith("review.")
    }
    if not wanted:
        return []
    from virsci_society.scenarios.study.results.study import Study

    study = Study.open(folder)
    return [
        f"{design.reviewed_at[score]}: {score}: no reviews yet; 'society review {folder} --kind "
        f"{kind} --set backend.model=MODEL' asks for them, and 'society study report {folder}' "
        "enters them"
        for score, kind in wanted.items()
        if not study.panels(score)
    ]


def _line_by_line(folder: Path, total: int, at_once: int) -> Callable[[RunResult], None]:
    """Prints each run as it ends, with the share that has ended and the remaining time."""
    from virsci_society.scenarios.study.run_result import describe_result

    begun, ended = time.monotonic(), set[int]()

    def line(one: RunResult) -> None:
        ended.add(one.index)
        share = len(ended) / total
        known = share if len(ended) >= 2 * at_once else 0.0
        gone = elapsed_and_left(time.monotonic() - begun, known)
        tell(f"{len(ended)} of {total} ({share:.0%}; {gone}): {describe_result(folder, one)}")

    return line


def _end(folder: Path, found: Sequence[RunResult]) -> None:
    """Leave with the exit code that these runs come to, and say which are not done and why."""
    from virsci_society.scenarios.study.run_result import exit_code

    code = exit_code(found)
    if code:
        _print_ends(folder, found, "the same command", err=True)
        raise typer.Exit(code)


def _print_results(folder: Path, found: Sequence[RunResult]) -> None:
    """Print how many runs of each arm are in which state, and why some are not done."""
    from virsci_society.scenarios.study.run_result import STATES
    from virsci_society.scenarios.terminal.console import print_table

    shown = [state for state in STATES if any(one.state == state for one in found)]
    arms = dict.fromkeys(one.arm for one in found)
    counts = Counter((one.arm, one.state) for one in found)
    rows = [(arm, *(str(counts[arm, state]) for state in shown)) for arm in arms]
    tell(f"{folder}: {len(found)} runs")
    print_table("runs by arm", ("arm", *shown), rows)
    _print_reasons(folder, found, err=False)
    tokens, usd = sum(one.tokens for one in found), math.fsum(one.usd for one in found)
    if tokens or usd:
        tell(f"spent: {tokens:,} tokens, {usd:.4f} US dollars")


def _print_ends(folder: Path, found: Sequence[RunResult], command: str, *, err: bool) -> None:
    """Print which runs are not done, why, and what a command would do."""
    from virsci_society.scenarios.study.run_result import DECIDED

    _print_reasons(folder, found, err=err)
    counts = Counter(one.state for one in found if one.state != "done")
    counted = ", ".join(f"{count} {state}" for state, count in counts.items())
    open_ones = sum(count for state, count in counts.items() if state not in DECIDED)
    effects = [
        *(["resumes it"] if open_ones else []),
        *(["tries those that failed again"] if counts["failed"] else []),
        *(["begins those in quarantine with --again"] if counts["quarantined"] else []),
    ]
    tell(f"of {len(found)} runs, {counted}; {command} {' and '.join(effects)}", err=err)


def _print_reasons(folder: Path, found: Sequence[RunResult], *, err: bool) -> None:
    from virsci_society.scenarios.study.run_result import describe_result

    told = [one for one in found if one.reason and one.state != "done"]
    for one in told[:MOST]:
        tell(describe_result(folder, one), err=err)
    if len(told) > MOST:
        tell(f"... and {len(told) - MOST} more; 'society study status --json' has all", err=err)
