"""Review: a model judges the abstracts of a run or a study; what was paid is never paid again.

A panel lives in a folder of its own, ``reviews/NAME`` of the run, with its own journal. The run's
tables and its digest stay as they are. A study has panels of its own, each for the abstracts of all
its runs, so that they share slots and one budget.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.errors import Diverged, InputError, Stopped
from metrics.reviews.record import FOLDER, RECORD
from scenarios.build import build_gateway
from scenarios.interrupts import interruptible
from scenarios.record import ledger_of, open_journal
from scenarios.runfolder import backend_told
from scenarios.schema import Scenario, load_scenario

if TYPE_CHECKING:
    from metrics.reviews.kinds import Kind
    from metrics.reviews.panel import Manuscript
    from society.run import Run


@dataclass(frozen=True)
class Reviewing:
    """Runs, who is to review them, and how.

    Attributes:
        runs: finished, by what their papers' ids begin with: of a study's runs ``0007/``, of a
            single one nothing.
        scenario: the run's own or the study's base, with the reviewers' backend.
        kind: of review.
        folder: of the panel.
    """

    runs: Mapping[str, Run]
    scenario: Scenario
    kind: Kind
    folder: Path

    @classmethod
    def of(
        cls,
        path: Path,
        kind: str,
        settings: Sequence[str] = (),
        panel: str | None = None,
        *,
        trust: bool = False,
    ) -> Reviewing:
        """Read the runs and make up their panel.

        Args:
            path: the folder of a run, or of a study, of which the runs that are done are taken.
            kind: a name of ``KINDS``.
            settings: ``backend.key=value``: who reviews; the run's own backend by default.
            panel: its name; that of the model by default.
            trust: let dotted paths in the scenario be imported.

        Raises:
            InputError: no finished run, no such kind, or settings of something else.
        """
        from metrics.reviews.kinds import KINDS
        from scenarios.spelling import did_you_mean

        if kind not in KINDS:
            known = ", ".join(KINDS)
            raise InputError(f"--kind {kind}: there are {known}{did_you_mean(kind, KINDS)}")
        for setting in settings:
            if not setting.startswith("backend"):
                raise InputError(f"--set {setting}: a review takes keys of backend only")
        runs, written = _runs_of(path)
        scenario = _one_voice(load_scenario(written, settings=settings, trust=trust))
        name = panel or _slug(scenario)
        if not re.fullmatch(r"\w[\w.-]*", name):
            raise InputError(f"--panel {name}: letters, digits, dots, dashes and _ only")
        return cls(runs, scenario, KINDS[kind], path / FOLDER / name)

    @property
    def about(self) -> str:
        """Who reviews, in a sentence."""
        return str(self.scenario.backend.backend.about)

    @property
    def done(self) -> bool:
        """Have these very reviewers reviewed these very abstracts?"""
        return bool(self._record().get(self.kind.name) == self._identity)

    def execute(self, told: Callable[[str], None] = lambda line: None) -> None:
        """Review what is not reviewed yet, and write the tables of the panel.

        Args:
            told: how far it is.

        Raises:
            Stopped: backend, budget, disk or a signal ended it early; the same call goes on.
            Diverged: the panel's journal knows a call that would now be made differently.
            InputError: the folder cannot be written to, or the budget asks for a price.
        """
        from metrics.reviews.panel import Panel
        from metrics.reviews.tables import write_reviews

        if self.done:
            return
        papers = self._manuscripts
        _make(self.folder)

        def count(done: int) -> None:
            told(f"{done:,} of {len(papers):,} abstracts reviewed ({self.kind.name})")

        with open_journal(self.folder) as journal:
            gateway = build_gateway(self.scenario, journal)
            with Panel(gateway, self.kind, self.scenario.seed) as panel, interruptible(panel):
                try:
                    opinions = panel.review(papers, count)
                except Diverged as error:
                    raise Diverged(f"{error} (of a review: --panel NEW)") from error
            journal.flush()
            ledger = ledger_of(journal)
        try:
            write_reviews(self.folder, self.kind, opinions)
            self._sign(ledger)
        except OSError as error:
            raise Stopped(f"{self.folder}: cannot be written to: {error.strerror}") from error

    @cached_property
    def _manuscripts(self) -> list[Manuscript]:
        from metrics.reviews.panel import Manuscript

        made: list[Manuscript] = []
        for before, run in self.runs.items():
            papers = run.table("papers")[["paper", "title", "abstract", "topic"]].fillna("")
            rows = papers.itertuples(index=False, name=None)
            made += [Manuscript(f"{before}{paper}", *told) for paper, *told in rows]
        return made

    @cached_property
    def _identity(self) -> str:
        """sha256 of what is asked, of whom, about which abstracts."""
        papers = [[one.id, one.title, one.abstract, one.topic] for one in self._manuscripts]
        who = self.scenario.identity()["backend"]
        told = json.dumps([self.kind.hash, who, self.scenario.seed, papers], ensure_ascii=True)
        return hashlib.sha256(told.encode()).hexdigest()

    def _record(self) -> dict[str, Any]:
        path = self.folder / RECORD
        try:
            kinds = json.loads(path.read_text(encoding="utf-8"))["kinds"] if path.exists() else {}
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            raise InputError(f"{path}: cannot be read ({error}); remove it") from error
        return kinds if isinstance(kinds, dict) else {}

    def _sign(self, ledger: dict[str, Any]) -> None:
        """Written last: a panel whose kind is not named here has not ended."""
        kinds = {**self._record(), self.kind.name: self._identity}
        told = {"kinds": kinds, "backend": backend_told(self.scenario), "ledger": ledger}
        unfinished = self.folder / f"{RECORD}.unfinished"
        unfinished.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
        os.replace(unfinished, self.folder / RECORD)


def _runs_of(path: Path) -> tuple[dict[str, Run], Path]:
    """The finished runs of a folder, and the scenario that they have in common."""
    from scenarios.study.folder import BASE, statuses
    from scenarios.study.lock import LOCK, require_lock
    from scenarios.study.status import folder_of
    from society.run import Run

    if not (path / LOCK).is_file():
        return {"": Run.open(path)}, path / "scenario.yaml"
    done = [one.index for one in statuses(path, require_lock(path)) if one.state == "done"]
    if not done:
        raise InputError(f"{path}: no run of this study is done; 'society study run' does them")
    folders = [folder_of(path, index) for index in done]
    return {f"{folder.name}/": Run.open(folder) for folder in folders}, path / BASE


def _one_voice(scenario: Scenario) -> Scenario:
    """The model alone where rules speak for a part of the society: one panel, one judge."""
    speaking = scenario.backend
    only = speaking.model_copy(update={"backend": speaking.backend.paid})
    return scenario.model_copy(update={"backend": only})


def _slug(scenario: Scenario) -> str:
    told = backend_told(scenario)
    name = re.sub(r"[^\w.-]+", "-", str(told["model"] or told["use"])).strip("-.")
    return name or "panel"


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written to ({error.strerror})") from error
