"""Work: one run of a study, in whatever process it is asked for.

It knows nothing of engines. Whoever calls it gets the run's status; the same status, the run's
folder and its measures lie in the study's folder. It never raises for what is wrong with a run:
one failing replicate does not end a study.
"""

from __future__ import annotations

import json
import math
import os
import socket
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from agents.budget import NANO, Budget
from agents.errors import SocietyError
from agents.secrets import redact
from scenarios.company import Company
from scenarios.execute import run
from scenarios.load import read_yaml
from scenarios.runfolder import DIGEST
from scenarios.schema import Scenario, load_scenario
from scenarios.study.deaths import QUARANTINE, begun, deaths, ended
from scenarios.study.design import scenario_of
from scenarios.study.file import STUDY
from scenarios.study.folder import BASE
from scenarios.study.leases import Held, Lease, Lost, leased
from scenarios.study.lock import Lock, require_lock
from scenarios.study.logs import log, log_error
from scenarios.study.shares import Shares, spent_by
from scenarios.study.status import (
    ENDED,
    Status,
    code_of,
    folder_of,
    read_status,
    write_status,
    write_text,
)

LONGEST_REASON = 400


def run_one(
    study: Path,
    index: int,
    *,
    share: Budget | None = None,
    trust: bool = False,
    again: bool = False,
    company: Company | None = None,
) -> Status:
    """Do one run of a study, or go on with it, and tell how it stands.

    Args:
        study: the study's folder, with its lock.
        index: of the run.
        share: what it may spend; by default its share of the study's budget, if there is one.
        trust: let dotted paths in its scenario be imported.
        again: begin it also if it is in quarantine.
        company: the other runs of this process.

    Raises:
        InputError: the study's folder has no lock, or no such run.
    """
    lock = require_lock(study)
    waiting = lock.waiting(index)
    status = read_status(study, index) or waiting
    if status.state in ENDED and not (again and status.state == "quarantined"):
        return status
    folder = folder_of(study, index)
    owner = f"process {os.getpid()} of {socket.gethostname()}"
    try:
        with leased(folder, owner) as lease:
            one = _One(study, lock, waiting, lease, trust)
            return one.settle(share, again, company or Company())
    except (Held, Lost) as held:
        return replace(waiting, state="running", reason=_said(held))


class _One:
    """One run under its lease."""

    def __init__(self, study: Path, lock: Lock, waiting: Status, lease: Lease, trust: bool) -> None:
        self.study, self.lock, self.waiting = study, lock, waiting
        self.lease, self.trust = lease, trust
        self.folder = folder_of(study, waiting.index)

    def settle(self, share: Budget | None, again: bool, company: Company) -> Status:
        """Run it, unless it kills whatever runs it; note how it stands before and after."""
        died = deaths(self.folder)
        if died >= QUARANTINE and not again:
            reason = f"it has killed its process {died} times; --again begins it all the same"
            log(self.study, self.waiting.index, reason)
            return self._note("quarantined", reason, 3, died)
        shares = None if share is not None else self._shares()
        begun(self.folder, f"process {os.getpid()}")
        self._note("running", "", 0, died)
        try:
            if shares is not None:
                share = shares.take(self.waiting.index)
            status = self._attempt(share, died, company)
        finally:
            with suppress(Lost):
                self.lease.check()
                ended(self.folder)
        if shares is not None:
            with suppress(SocietyError):
                shares.settle(self.waiting.index, over=status.state != "stopped")
        return status

    def _attempt(self, share: Budget | None, died: int, company: Company) -> Status:
        try:
            scenario = self._scenario(share)
            # A page takes longer than most rehearsals; 'society report' of the folder writes it.
            run(scenario, self.folder, lease=self.lease, company=company, page=False)
            with company.alone:
                self._measure(self.lock.data["measures"])
        except Lost:
            raise  # how it stands is for its new owner to say
        except Exception as error:
            # Whatever is wrong with one run is its own affair.
            code = code_of(error)
            state = "stopped" if code in (4, 5) else "failed"
            if state == "failed":
                log_error(self.study, self.waiting.index, error)
            return self._note(state, _said(error), code, died)
        return self._note("done", "", 0, 0)

    def _scenario(self, share: Budget | None) -> Scenario:
        told = self.lock.arms[self.waiting.index // self.lock.replicates]
        base = load_scenario(self.study / BASE, trust=self.trust)
        more = {"seed": self.waiting.seed, "name": f"{base.name}, {told['name']}"[:200]}
        scenario = scenario_of(base, told["set"], trust=self.trust, **more)
        if share is None:
            return scenario
        budget = least(scenario.backend.budget, share)
        speaking = scenario.backend.model_copy(update={"budget": budget})
        return scenario.model_copy(update={"backend": speaking})

    def _measure(self, names: Iterable[str]) -> None:
        write_measured(self.study, self.waiting.index, measured_of(self.folder, names))

    def _shares(self) -> Shares | None:
        budget = budget_of(self.study)
        return None if budget is None else Shares(self.study, budget, self.lock.runs)

    def _note(self, state: Any, reason: str, code: int, died: int) -> Status:
        """Write the status; what was spent is read in the journal."""
        spent, digest = None, ""
        if state != "running":
            with suppress(SocietyError):
                spent = spent_by(self.folder)
        if state == "done":
            digest = (self.folder / DIGEST).read_text(encoding="utf-8").strip()
        status = replace(
            self.waiting, state=state, reason=reason, code=code, deaths=died, digest=digest
        )
        if spent is not None:
            status = replace(status, calls=spent.calls, tokens=spent.tokens, usd=spent.nano / NANO)
        self.lease.check()
        write_status(self.study, status)
        return status


def budget_of(study: Path) -> Budget | None:
    """What all runs of a study together may spend; None: each has its scenario's own budget."""
    told = read_yaml(study / STUDY).data.get("budget")
    return None if told is None else Budget.model_validate(told)


def least(one: Budget, other: Budget) -> Budget:
    """The narrower of two budgets, bound by bound."""
    bounds = {}
    for name in Budget.model_fields:
        given = [getattr(budget, name) for budget in (one, other)]
        bounds[name] = min((bound for bound in given if bound is not None), default=None)
    return Budget.model_validate(bounds)


def measured_of(folder: Path, names: Iterable[str]) -> dict[str, float]:
    """The measures of a finished run folder; NaN where the run does not tell."""
    from metrics.measures import measured
    from society.run import Run

    return measured(Run.open(folder), names)


def measures_file(study: Path, index: int) -> Path:
    """Where the measures of a run lie."""
    return study / "runs" / f"{index:04d}.measures.json"


def write_measured(study: Path, index: int, values: dict[str, float]) -> None:
    """Keep the measures of a run beside its folder; what is not available becomes null."""
    told = {name: value if math.isfinite(value) else None for name, value in values.items()}
    write_text(measures_file(study, index), json.dumps(told) + "\n")


def read_measured(study: Path, index: int) -> dict[str, float]:
    """The measures of a run that were kept; none where there is no file of them."""
    try:
        told = json.loads(measures_file(study, index).read_text(encoding="utf-8"))
        return {
            str(name): math.nan if value is None else float(value) for name, value in told.items()
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _said(error: BaseException) -> str:
    """Why, in one line that is safe to show."""
    kind = "" if isinstance(error, SocietyError) else f"{type(error).__name__}: "
    line = " ".join(redact(f"{kind}{error}").split())
    return line if len(line) <= LONGEST_REASON else f"{line[: LONGEST_REASON - 3]}..."
