"""One run of a study under its lease, and a batch of runs on threads of one process.

It does not depend on engines, and an error of a run never propagates.
"""

from __future__ import annotations

import os
import socket
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from virsci_society.agents.errors import Diverged, InputError, SocietyError, Stopped
from virsci_society.agents.gateway.budget import Budget
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.journal.records import NANO, nano_bound
from virsci_society.agents.redaction import redact
from virsci_society.agents.spelling import cut_text
from virsci_society.scenarios.config.schema import Scenario, load_scenario
from virsci_society.scenarios.config.yaml_io import read_yaml
from virsci_society.scenarios.runs.execute import SharedResources, run_scenario
from virsci_society.scenarios.runs.lease import Lease, LeaseHeld, LeaseLost, hold_lease, stop_all
from virsci_society.scenarios.runs.progress import Progress
from virsci_society.scenarios.runs.run_journal import JOURNAL
from virsci_society.scenarios.runs.run_state import read_manifest
from virsci_society.scenarios.runs.signals import POLL_SECONDS
from virsci_society.scenarios.study.design import scenario_of
from virsci_society.scenarios.study.lock import (
    BASE,
    ENDED,
    FAILED_STATES,
    QUARANTINE,
    RunResult,
    folder_of,
    keep_only,
    read_result,
    require_lock,
    write_result,
)
from virsci_society.scenarios.study.study_file import STUDY, crossed_settings

T = TypeVar("T")
LONGEST_REASON = 400
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Environment variables that numerical libraries read at import."""


class Opened:
    """The files of a study that its runs need, read once for many of them."""

    def __init__(self, study: Path, trust: bool) -> None:
        self.lock, self.settings = require_lock(study), read_yaml(study / STUDY).data
        self.base, self.trust = load_scenario(study / BASE, trust=trust), trust


def run_one(
    study: Path,
    index: int,
    *,
    trust: bool = False,
    again: bool = False,
    opened: Opened | None = None,
    resources: SharedResources | None = None,
) -> RunResult:
    """Do one run of a study, or resume it."""
    opened, folder = opened or Opened(study, trust), folder_of(study, index)
    waiting = opened.lock.waiting(index)

    def is_over(held: RunResult) -> bool:
        return held.state in ENDED and not (again and held.state == "quarantined")

    if is_over(result := read_result(study, index) or waiting):
        return result
    try:
        with hold_lease(folder, f"process {os.getpid()} of {socket.gethostname()}") as lease:
            # Checked again: another worker may have finished it.
            if is_over(result := read_result(study, index) or waiting):
                return result
            return _run_under(lease, study, opened, result, resources or SharedResources())
    except (LeaseHeld, LeaseLost) as held:
        return replace(waiting, state="running", reason=_reason_of(held))


class _StartRecorder(Progress):
    """Records that a run has started; a process that dies earlier does not count against it."""

    def __init__(self, record: Callable[[], object]) -> None:
        self.record, self.recorded = record, False

    def begin(self, phase: str) -> None:
        """Record the start once."""
        if not self.recorded:
            self.recorded = True
            self.record()


def _run_under(
    lease: Lease, study: Path, opened: Opened, before: RunResult, resources: SharedResources
) -> RunResult:
    """Do a run under its lease, unless it is to be put into quarantine."""
    folder, lock = folder_of(study, before.index), opened.lock
    # It was killed at the present end of its journal.
    died_at = (*before.died_at, _answered(folder)) if before.state == "running" else ()
    fresh = replace(lock.waiting(before.index), died_at=died_at)

    def write(**found: Any) -> RunResult:
        result = replace(fresh, **found)
        # Another owner may have written a result since.
        lease.check()
        write_result(study, result)
        return result

    if fresh.deaths >= QUARANTINE:
        how = f" ({before.reason})" if before.reason else ""
        reason = f"its process died {fresh.deaths} times{how}; --again starts it"
        return write(state="quarantined", reason=f"{reason} anyway", code=3)
    progress = _StartRecorder(lambda: write(state="running"))
    try:
        scenario = _scenario_of(opened, fresh)
        # A page takes longer than most rehearsals; 'society export page' writes it.
        run_scenario(scenario, folder, progress, lease=lease, resources=resources, page=False)
        # Measuring limits the threads of numerical libraries, which belong to the whole process.
        with resources.build_lock:
            measures = measure_run_folder(folder, lock.kept_measures(lock.data["measures"]))
        manifest = read_manifest(folder)
        result = write(
            state="done",
            died_at=(),
            digest=manifest["digest"],
            boundary=manifest["boundary"],
            embedding=(manifest.get("embedding") or {}).get("title") or "",
            measures=measures,
            **_spent_by(folder),
        )
    except LeaseLost:
        raise  # its new owner writes the result
    except BaseException as error:
        # An error of one run must not stop the others.
        if isinstance(error, InputError | Stopped | Diverged):
            code = error.exit_code
        else:
            code = 1 if isinstance(error, Exception) else Stopped.exit_code
        ours, reason = isinstance(error, SocietyError), _reason_of(error)
        whole = redact(str(error) if ours else "".join(traceback.format_exception(error)))
        result = write(
            state="stopped" if code in (4, 5) else "failed",
            reason=reason,
            code=code,
            details="" if " ".join(whole.split()) == reason else whole,
            died_at=(),
            **_spent_by(folder),
        )
        if not isinstance(error, Exception):
            raise
        return result
    keep_only(folder, opened.settings["keep"])
    return result


def _scenario_of(opened: Opened, run: RunResult) -> Scenario:
    """The scenario of a run, with its own part of the study's budget."""
    lock, base, arm = opened.lock, opened.base, opened.lock.arm_of(run.index)
    more = {"seed": run.seed, "name": f"{base.name}, {arm['name']}"[:200]}
    crossed = crossed_settings(lock.data.get("crossed", {}), run.replicate)
    scenario = scenario_of(base, arm["set"] | crossed | more, trust=opened.trust)
    if (budget := opened.settings.get("budget")) is None:
        return scenario
    part = share_of(Budget.model_validate(budget), lock.runs)
    narrower = narrower_budget(scenario.backend.budget, part)
    speaking = scenario.backend.model_copy(update={"budget": narrower})
    return scenario.model_copy(update={"backend": speaking})


def measure_run_folder(folder: Path, names: Iterable[str]) -> dict[str, float]:
    """The measures of a finished run folder, in every embedding; NaN where it has none."""
    from virsci_society.metrics.novelty.novelty import means_by_embedding
    from virsci_society.metrics.registry import measure_run
    from virsci_society.society.results.run import Run

    run, named = Run.open(folder), list(names)
    return measure_run(run, named) | means_by_embedding(run, named)


def share_of(budget: Budget, runs: int) -> Budget:
    """An equal part of the budget of a study, rounded down, so that all together keep it."""
    usd = None if budget.usd is None else nano_bound(budget.usd) // runs / NANO
    calls, tokens = (None if n is None else n // runs for n in (budget.calls, budget.tokens))
    return Budget(usd=usd, tokens=tokens, calls=calls)


def narrower_budget(one: Budget, other: Budget) -> Budget:
    """The narrower of two budgets, bound by bound."""
    bounds = {}
    for name in Budget.model_fields:
        given = [getattr(budget, name) for budget in (one, other)]
        bounds[name] = min((bound for bound in given if bound is not None), default=None)
    return Budget.model_validate(bounds)


def _read_journal(folder: Path, read: Callable[[Journal], T], missing: T) -> T:
    """Read a value from a journal; ``missing`` if a kill left it empty or damaged."""
    path = folder / JOURNAL
    with suppress(SocietyError):
        if path.is_file() and path.stat().st_size:
            with Journal(path, frozen=True, verify=False) as journal:
                return read(journal)
    return missing


def _spent_by(folder: Path) -> dict[str, Any]:
    """Spending of a run by its journal; a call in doubt counts at its maximum cost."""
    spent = _read_journal(folder, lambda journal: journal.totals().spending, None)
    if spent is None:
        return {}
    return {"calls": spent.calls, "tokens": spent.tokens, "usd": spent.nano / NANO}


def _answered(folder: Path) -> int:
    """Progress of a run: the number of calls with a stored answer."""
    return _read_journal(folder, lambda journal: journal.unreplayed, 0)


def _reason_of(error: BaseException) -> str:
    """The reason of a failure in one line, without secrets, at most 400 characters."""
    kind = "" if isinstance(error, SocietyError) else f"{type(error).__name__}: "
    line = " ".join(redact(f"{kind}{error}").split())
    return cut_text(line, LONGEST_REASON, "...")


def run_batch(
    study: Path,
    indices: Sequence[int],
    together: int,
    stop: Callable[[], Stopped | None],
    *,
    fail_fast: bool = False,
    **options: Any,
) -> Iterator[RunResult]:
    """Do runs of this process, each on a thread that steps its clock (rule 18), over one loop."""
    resources = SharedResources(shared=together > 1)
    opened = Opened(study, options.get("trust", False))
    todo, ends = deque(indices), SimpleQueue[RunResult | BaseException | None]()

    def work() -> None:
        while True:
            try:
                index = todo.popleft()
            except IndexError:
                return ends.put(None)
            try:
                result = run_one(study, index, opened=opened, resources=resources, **options)
                if fail_fast and result.state in FAILED_STATES:
                    todo.clear()
                ends.put(result)
            except BaseException as error:
                ends.put(error)

    working = min(together, len(todo))
    with single_threaded_numerics():
        try:
            for _ in range(working):
                threading.Thread(target=work, name="society", daemon=True).start()
            while working:
                if (reason := stop()) is not None:
                    todo.clear()
                    stop_all(reason, study)
                try:
                    end = ends.get(timeout=POLL_SECONDS)
                except Empty:
                    continue
                if end is None:
                    working -= 1
                elif isinstance(end, BaseException):
                    raise end
                else:
                    yield end
        finally:
            resources.close()


@contextmanager
def single_threaded_numerics() -> Iterator[None]:
    """Let numeric libraries work on one thread, those loaded already and those loaded later.

    Else a sum of one run could depend on another run at the same time (rule 12).
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    before = {name: os.environ[name] for name in THREADS if name in os.environ}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        with threadpool_limits(limits=1):
            yield
    finally:
        for name in THREADS:
            os.environ.pop(name, None)
        os.environ.update(before)
