"""A study from its file to its page; a child that dies costs its batch and not a whole pool."""

from __future__ import annotations

import json
import multiprocessing
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from virsci_society.agents.errors import InputError, SocietyError, Stopped
from virsci_society.scenarios.config.registry import find_code_here
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.runs.lease import LeaseHeld, hold_lease
from virsci_society.scenarios.runs.progress import Progress
from virsci_society.scenarios.runs.signals import POLL_SECONDS, watch_signals
from virsci_society.scenarios.study.design import Design, check_arms, read_study, study_of
from virsci_society.scenarios.study.lock import (
    FAILED_STATES,
    Lock,
    RunResult,
    describe_result,
    folder_of,
    open_folder,
    read_lock,
    read_result,
    read_results,
    trim_runs,
    unfinished_runs,
    write_result,
)
from virsci_society.scenarios.study.study import Study
from virsci_society.scenarios.study.study_file import FOLDERS
from virsci_society.scenarios.study.tables import gather, is_gathered, study_json

MAX_LOST_WORKERS = 5
"""Consecutive worker deaths per process, before any run started, that stop the study."""
OnResult = Callable[[RunResult], object]


def run_anywhere(
    design: Design,
    folder: Path,
    indices: Sequence[int],
    *,
    jobs: int | None = None,
    together: int | None = None,
    scheduler: str | None = None,
    local_cluster: int | None = None,
    **options: Any,
) -> list[RunResult]:
    """Do runs in processes here or on a cluster; results never depend on it."""
    # One replicate of all arms after another: arms of one seed start from one ecosystem, which
    # is then made once, and a study that is stopped has whole pairs.
    indices = sorted(indices, key=lambda index: (index % design.file.replicates, index))
    if scheduler is None and local_cluster is None:
        jobs, together = design.sizes(len(indices), jobs, together)
        options |= {"jobs": jobs, "together": together, "apart": len(indices) > 1}
        return run_locally(folder, indices, **options)
    refused = {"--jobs": jobs, "--together": together}
    if given := [name for name, value in refused.items() if value is not None]:
        raise InputError(f"{' and '.join(given)}: for runs on this machine, not on a cluster")
    from virsci_society.scenarios.study.dask_engine import run_on_cluster

    options |= {"scheduler": scheduler, "local_cluster": local_cluster}
    return run_on_cluster(folder, indices, **options)


def run_locally(
    study: Path,
    indices: Sequence[int],
    *,
    jobs: int = 1,
    together: int = 1,
    apart: bool = False,
    fail_fast: bool = False,
    on_result: OnResult = lambda result: None,
    **options: Any,
) -> list[RunResult]:
    """Do runs of a study here, ``apart`` in children; returns the result of each started run."""
    from virsci_society.scenarios.study.run_one import run_batch

    found, options = dict[int, RunResult](), {**options, "fail_fast": fail_fast}
    failed: Stopped | None = None
    suspects = [index for index in indices if _begun(study, index) is not None]
    easy = [index for index in indices if index not in suspects]
    with watch_signals() as signalled:

        def stop() -> Stopped | None:
            return signalled.reason or failed

        if jobs > 1 or apart:
            ends = run_in_children(study, easy, suspects, jobs, together, stop, options)
        else:
            batches = ((suspects, 1), (easy, together))
            ends = chain.from_iterable(
                run_batch(study, batch, size, stop, **options) for batch, size in batches if batch
            )
        for result in ends:
            found[result.index] = result
            on_result(result)
            if fail_fast and result.state in FAILED_STATES:
                failed = Stopped("another run has failed (--fail-fast)")
    if signalled.reason is not None:
        raise signalled.reason
    return [found[index] for index in indices if index in found]


class _Child:
    """A child process, and those runs of its batch that have not ended."""

    def __init__(
        self, study: Path, batch: Sequence[int], together: int, options: Mapping[str, Any]
    ) -> None:
        self.left = {index: _begun(study, index) for index in batch}
        # Mesa sets "spawn" as the start method: nothing of this process is inherited.
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        arguments = (theirs, str(study), list(batch), together, options)
        self.process = context.Process(target=do_batch, args=arguments, name="society")
        self.process.start()
        # Otherwise the pipe would stay open after the child dies.
        theirs.close()

    def end(self) -> int | None:
        """Wait for its end; returns its exit code, below zero for a signal."""
        self.pipe.close()
        self.process.join()
        return self.process.exitcode


def run_in_children(
    study: Path,
    easy: Sequence[int],
    suspects: Sequence[int],
    jobs: int,
    together: int,
    stop: Callable[[], Stopped | None],
    options: Mapping[str, Any],
) -> Iterator[RunResult]:
    """Do runs in child processes; yields the result of each as it ends."""
    batches, alone, children = deque(easy), deque(suspects), list[_Child]()
    stopping, useless = False, 0
    try:
        while True:
            if not stopping and stop() is not None:
                stopping = True
                for child in children:
                    # A broken pipe is noticed below, when it is read.
                    with suppress(OSError):
                        child.pipe.send_bytes(b"stop")
            while not stopping and len(children) < jobs and (alone or batches):
                # Half of an even share, so that a slow child delays no runs at the end.
                size = len(batches) if jobs == 1 else -(-len(batches) // (2 * jobs))
                size = min(max(size, together), len(batches))
                batch = [alone.popleft()] if alone else [batches.popleft() for _ in range(size)]
                children.append(_Child(study, batch, together, options))
            if not children:
                return
            pipes: dict[Any, _Child] = {child.pipe: child for child in children}
            for child in map(pipes.__getitem__, wait(pipes, timeout=POLL_SECONDS)):
                try:
                    message = json.loads(child.pipe.recv_bytes())
                except (EOFError, OSError):
                    children.remove(child)
                    code = child.end()
                    if stopping or not child.left:
                        continue
                    under_way = [i for i, was in child.left.items() if _begun(study, i) != was]
                    how = f"exit code {code}"
                    if code is not None and code < 0:
                        with suppress(ValueError):
                            how = signal.Signals(-code).name
                    hint = ", often a lack of memory" if how == "SIGKILL" else ""
                    reason = f"its process ended before the run did: {how}{hint}"
                    for index in under_way:
                        lease = hold_lease(folder_of(study, index), "its death is noted")
                        with suppress(LeaseHeld), lease:
                            held = read_result(study, index)
                            if held is not None and held.state == "running":
                                write_result(study, replace(held, reason=reason))
                    alone.extend(under_way)
                    batches.extendleft(i for i in reversed(child.left) if i not in under_way)
                    useless = 0 if under_way else useless + 1
                    if useless >= MAX_LOST_WORKERS * jobs:
                        raise Stopped(
                            f"{useless} worker processes in a row ended (exit code {code}) before "
                            "they started a run; find out why (memory, limits of this machine), "
                            "then repeat the command to resume; --jobs 1 needs the least memory"
                        ) from None
                    continue
                if "error" in message:
                    raise SocietyError(message["error"])
                result, useless = RunResult.from_data(message), 0
                del child.left[result.index]
                yield result
    finally:
        for child in children:
            child.end()


def do_batch(
    pipe: Connection, study: str, batch: list[int], together: int, options: Mapping[str, Any]
) -> None:
    """Do a batch of runs, the main function of a child; they stop when the pipe breaks."""
    from virsci_society.scenarios.study.run_one import run_batch

    if options.get("trust"):
        find_code_here(True)
    gone = threading.Event()

    def listen() -> None:
        with suppress(EOFError, OSError):
            pipe.recv_bytes()
        gone.set()

    def send(data: dict[str, Any]) -> None:
        # The parent may be gone: all results are in the study's folder.
        with suppress(OSError):
            pipe.send_bytes(json.dumps(data).encode())

    # A daemon: a thread that waits at the pipe must not keep the process alive.
    threading.Thread(target=listen, daemon=True).start()
    with watch_signals() as signalled:

        def stop() -> Stopped | None:
            return signalled.reason or (Stopped("the study was stopped") if gone.is_set() else None)

        try:
            for result in run_batch(Path(study), batch, together, stop, **options):
                send(result.to_data())
        except BaseException as error:
            kind = "" if isinstance(error, SocietyError) else f"{type(error).__name__}: "
            send({"error": f"{kind}{error}"})


def _begun(study: Path, index: int) -> tuple[int, ...] | None:
    """The deaths of a run that has started and not ended; None for other runs."""
    held = read_result(study, index)
    return held.died_at if held is not None and held.state == "running" else None


def open_study(
    study: str | Path,
    settings: Iterable[str],
    folder: Path,
    progress: Progress,
    *,
    trust: bool,
    by: str = "run",
    check: Callable[[Design, Lock | None], object] = lambda design, held: None,
) -> tuple[Design, Lock]:
    """The design of a study and the lock of its folder, ``check``ed before anything is written."""
    find_code_here(trust)
    held = read_lock(folder)
    measured = () if held is None else held.data["measures"]
    design = read_study(study, settings, trust=trust, measured=measured)
    check(design, held)
    if design.file.match is not None:
        from virsci_society.scenarios.study.plan import match_budgets

        locked = None if held is None else held.data.get("match")
        design = match_budgets(design, locked, progress=progress, trust=trust)
    return design, open_folder(design, folder, by)


def conclude(
    design: Design,
    folder: Path,
    lock: Lock,
    *,
    changed: bool,
    interim_p: bool = False,
    tell: Callable[[str], object] = lambda line: None,
) -> tuple[list[RunResult], bool]:
    """Gather results and write the page if needed; returns the results, and if it was."""
    found = read_results(folder, lock)
    done = sum(one.state == "done" for one in found)
    new = changed or not is_gathered(folder, study_json(design, lock, folder, found))
    if done and new:
        from virsci_society.scenarios.study.page import write_study_page

        tell(f"gathering {done:,} runs")
        gather(design, folder, lock, found)
        tell("writing the page")
        write_study_page(folder, interim_p=interim_p)
    if not done and (folder / "report.html").exists():
        tell(f"{folder / 'report.html'} was kept, but its runs no longer exist")
    trim_runs(folder, found, design.file.keep)
    return found, new


def run_study(
    base: str | Path | Scenario,
    arms: Mapping[str, Any],
    *,
    measures: str | Sequence[str],
    replicates: int = 20,
    comparisons: Sequence[Mapping[str, Any]] | None = None,
    out: Path | str | None = None,
    seed: int = 1,
    jobs: int = 1,
    trust: bool = False,
) -> Study:
    """Replicate a scenario in several arms, and open the finished study.

    Repeat the call to resume a study that was stopped; a finished study is only opened.

    Args:
        base: base scenario of all arms: a name in the library, a path or a scenario.
        arms: the scenario keys of each arm by its name, dotted or nested; or ``grid`` or
            ``latin_hypercube`` as in a study file.
        measures: names of measures, see ``society list measures``.
        replicates: runs of each arm; replicate r has the same seed in every arm.
        comparisons: the planned tests as in a study file; None: a paired test of each measure
            between the first arm and every other.
        out: the study's folder; None: ``runs/studies/`` and the name of the scenario.
        jobs: processes. More than one needs ``if __name__ == "__main__":`` in a script.

    Returns:
        The study: ``results`` is a DataFrame with a row per run and measure, ``compare()`` the
        planned comparisons, and ``folder`` contains ``report.html``.

    Raises:
        InputError: the design is invalid, or no run could be completed.

    Example:
        >>> study = vs.run_study(
        ...     scenario,
        ...     arms={"pairs": {"protocol.team_size": 2}, "threes": {"protocol.team_size": 3}},
        ...     replicates=2,
        ...     measures=["papers"],
        ... )
        >>> study.results.groupby("arm")["value"].size().to_dict()
        {'pairs': 2, 'threes': 2}
        >>> study.compare()[["measure", "of"]].to_numpy().tolist()
        [['papers', 'pairs to threes']]
    """
    find_code_here(trust)
    if not isinstance(arms, Mapping):
        raise InputError(
            f"arms: got {arms!r}, expected the keys of each arm by its name, such as "
            "{'pairs': {'protocol.team_size': 2}}"
        )
    if isinstance(measures, str):
        measures = [measures]
    if comparisons is None:
        comparisons = [{"test": "paired", "of": one} for one in measures]
    data = {
        "study": base.name if isinstance(base, Scenario) else Path(base).stem,
        "arms": dict(arms),
        "replicates": replicates,
        "seed": seed,
        "measures": list(measures),
        "comparisons": list(comparisons),
    }
    design = study_of(data, base, trust=trust)
    folder = FOLDERS / design.name if out is None else Path(out)
    check_arms(design)
    lock = open_folder(design, folder)
    todo = unfinished_runs(read_results(folder, lock))
    if todo:
        _, together = design.sizes(len(todo))
        run_locally(folder, todo, jobs=jobs, together=together, trust=trust)
    found, _ = conclude(design, folder, lock, changed=bool(todo))
    if not any(one.state == "done" for one in found):
        first = describe_result(folder, found[0])
        raise InputError(f"{folder}: no run of this study finished: {first}")
    return Study.open(folder)
