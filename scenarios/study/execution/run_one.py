"""One run of a study under its lease, in whatever process an engine calls it.

It knows nothing of engines. It returns the run's status; the same status, the run's folder and its
measures lie in the study's folder. It never raises for what is wrong with a run, so that one
failing replicate does not end a study.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from virsci_society.agents.errors import SocietyError
from virsci_society.agents.gateway.budget import Budget
from virsci_society.agents.journal.records import NANO, Spending, nano_bound
from virsci_society.agents.redaction import redact
from virsci_society.agents.spelling import cut_text
from virsci_society.scenarios.config.schema import Scenario, load_scenario
from virsci_society.scenarios.runs.execute import run_scenario
from virsci_society.scenarios.runs.lease import Lease, LeaseHeld, LeaseLost, hold_lease
from virsci_society.scenarios.runs.progress import Progress
from virsci_society.scenarios.runs.run_state import read_manifest
from virsci_society.scenarios.runs.shared_resources import SharedResources
from virsci_society.scenarios.study.design import scenario_of
from virsci_society.scenarios.study.folder import (
    BASE,
    Lock,
    keep_only,
    read_budget,
    read_keep,
    require_lock,
)
from virsci_society.scenarios.study.status import (
    ENDED,
    QUARANTINE,
    Status,
    append_log,
    count_crashes,
    exit_code_of,
    folder_of,
    log_error,
    measure_run_folder,
    read_status,
    record_begin,
    record_end,
    write_run_measures,
    write_status,
)
from virsci_society.scenarios.study.study_file import crossed_settings

LONGEST_REASON = 400


def run_one(
    study: Path,
    index: int,
    *,
    trust: bool = False,
    again: bool = False,
    resources: SharedResources | None = None,
) -> Status:
    """Do one run of a study, or resume it.

    Args:
        study: the study's folder, with its lock.
        index: of the run.
        trust: let dotted paths in its scenario be imported.
        again: begin it also if it is in quarantine.
        resources: shared with the other runs of this process.

    Returns:
        The status of the run.

    Raises:
        InputError: the study's folder has no lock, or no such run.
        Stopped: the run is done, and what is not kept of it cannot be deleted.
    """
    lock = require_lock(study)
    waiting = lock.waiting(index)
    folder = folder_of(study, index)
    status = read_status(study, index) or waiting
    if _is_over(status, again):
        return status
    owner = f"process {os.getpid()} of {socket.gethostname()}"
    try:
        with hold_lease(folder, owner) as lease:
            # Once more: another worker may have done it, and deleted what is not kept of it.
            status = read_status(study, index) or waiting
            if not _is_over(status, again):
                one = _LeasedRun(study, lock, waiting, lease, trust)
                status = one.execute(again, resources or SharedResources())
                if status.state == "done":
                    lease.check()
                    keep_only(folder, read_keep(study))
            return status
    except (LeaseHeld, LeaseLost) as held:
        return replace(waiting, state="running", reason=_reason_of(held))


def _is_over(status: Status, again: bool) -> bool:
    return status.state in ENDED and not (again and status.state == "quarantined")


class _RecordedBegin(Progress):
    """Notes that a run has begun its own work, at its first phase.

    Not before: a process that is killed while it imports the libraries dies of no run's fault.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._noted = folder, False

    def begin(self, phase: str) -> None:
        """Note the beginning once."""
        if not self._noted:
            self._noted = True
            record_begin(self._folder, f"process {os.getpid()}")


class _LeasedRun:
    """One run under its lease."""

    def __init__(self, study: Path, lock: Lock, waiting: Status, lease: Lease, trust: bool) -> None:
        self.study, self.lock, self.waiting = study, lock, waiting
        self.lease, self.trust = lease, trust
        self.folder = folder_of(study, waiting.index)

    def execute(self, again: bool, resources: SharedResources) -> Status:
        """Do the run, unless it is in quarantine; write its status before and after."""
        crashed = count_crashes(self.folder)
        if crashed >= QUARANTINE and not again:
            reason = f"it has killed its process {crashed} times; --again begins it all the same"
            append_log(self.study, self.waiting.index, reason)
            return self._note("quarantined", reason, 3, crashed)
        self._note("running", "", 0, crashed)
        try:
            return self._attempt(crashed, resources)
        finally:
            # Only the owner notes an end: else the run of the next owner would seem to have ended.
            with suppress(LeaseLost):
                self.lease.check()
                record_end(self.folder)

    def _attempt(self, crashed: int, resources: SharedResources) -> Status:
        try:
            scenario = self._scenario()
            # A page takes longer than most rehearsals; 'society export page' writes it.
            run_scenario(
                scenario,
                self.folder,
                _RecordedBegin(self.folder),
                lease=self.lease,
                resources=resources,
                page=False,
            )
            # Measuring limits the threads of numerical libraries, which belong to the whole
            # process.
            with resources.build_lock:
                measured = measure_run_folder(self.folder, self.lock.kept_measures)
                write_run_measures(self.study, self.waiting.index, measured)
        except LeaseLost:
            raise  # how it stands is for its new owner to say
        except Exception as error:
            # Whatever is wrong with one run is its own affair.
            code = exit_code_of(error)
            state = "stopped" if code in (4, 5) else "failed"
            if state == "failed":
                log_error(self.study, self.waiting.index, error)
            return self._note(state, _reason_of(error), code, crashed)
        return self._note("done", "", 0, 0)

    def _scenario(self) -> Scenario:
        arm = self.lock.arm_of(self.waiting.index)
        base = load_scenario(self.study / BASE, trust=self.trust)
        more = {"seed": self.waiting.seed, "name": f"{base.name}, {arm['name']}"[:200]}
        crossed = crossed_settings(self.lock.data.get("crossed", {}), self.waiting.replicate)
        scenario = scenario_of(base, arm["set"] | crossed, trust=self.trust, **more)
        whole = read_budget(self.study)
        if whole is None:
            return scenario
        share = share_of(whole, self.lock.runs)
        budget = narrower_budget(scenario.backend.budget, share)
        speaking = scenario.backend.model_copy(update={"budget": budget})
        return scenario.model_copy(update={"backend": speaking})

    def _note(self, state: Any, reason: str, code: int, crashed: int) -> Status:
        """Write the status, with the spending that the journal shows."""
        spent, digest, boundary = None, "", None
        if state != "running":
            with suppress(SocietyError):
                spent = _spent_by(self.folder)
        if state == "done":
            manifest = read_manifest(self.folder)
            digest, boundary = manifest["digest"], manifest["boundary"]
        status = replace(
            self.waiting,
            state=state,
            reason=reason,
            code=code,
            deaths=crashed,
            digest=digest,
            boundary=boundary,
        )
        if spent is not None:
            status = replace(status, calls=spent.calls, tokens=spent.tokens, usd=spent.nano / NANO)
        # Another owner may have written a status of its own meanwhile.
        self.lease.check()
        write_status(self.study, status)
        return status


def share_of(budget: Budget, runs: int) -> Budget:
    """An equal part of the budget of a study, rounded down, so that all together keep it."""
    usd = None if budget.usd is None else nano_bound(budget.usd) // runs / NANO
    calls, tokens = (
        None if bound is None else bound // runs for bound in (budget.calls, budget.tokens)
    )
    return Budget(usd=usd, tokens=tokens, calls=calls)


def narrower_budget(one: Budget, other: Budget) -> Budget:
    """The narrower of two budgets, bound by bound."""
    bounds = {}
    for name in Budget.model_fields:
        given = [getattr(budget, name) for budget in (one, other)]
        bounds[name] = min((bound for bound in given if bound is not None), default=None)
    return Budget.model_validate(bounds)


def _spent_by(folder: Path) -> Spending:
    """Spending of a run by its journal; a call in doubt counts as all that it can cost."""
    from virsci_society.agents.journal.journal import Journal
    from virsci_society.scenarios.runs.run_journal import JOURNAL

    path = folder / JOURNAL
    if not path.is_file() or not path.stat().st_size:
        return Spending()
    with Journal.open(path, frozen=True, verify=False) as journal:
        return journal.totals().spending


def _reason_of(error: BaseException) -> str:
    """The reason of a failure in one line, without secrets, at most 400 characters."""
    kind = "" if isinstance(error, SocietyError) else f"{type(error).__name__}: "
    line = " ".join(redact(f"{kind}{error}").split())
    return cut_text(line, LONGEST_REASON, "...")
