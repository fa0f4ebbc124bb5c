"""Review: a finished run's abstracts, judged by a model; what was paid for is never paid again.

A panel lives in a folder of its own, ``reviews/NAME`` of the run, with its own journal. The run's
tables and its digest stay as they are.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.errors import Diverged, InputError, Stopped
from scenarios.build import build_gateway
from scenarios.interrupts import interruptible
from scenarios.record import ledger_of, open_journal
from scenarios.runfolder import backend_told
from scenarios.schema import Scenario, load_scenario

if TYPE_CHECKING:
    from metrics.reviews.kinds import Kind
    from metrics.reviews.panel import Manuscript
    from society.run import Run

RECORD = "panel.json"


@dataclass(frozen=True)
class Reviewing:
    """A run, who is to review it, and how.

    Attributes:
        run: finished.
        scenario: the run's own, with the reviewers' backend.
        kind: of review.
        folder: of the panel.
    """

    run: Run
    scenario: Scenario
    kind: Kind
    folder: Path

    @classmethod
    def of(
        cls,
        run: Path,
        kind: str,
        settings: Sequence[str] = (),
        panel: str | None = None,
        *,
        trust: bool = False,
    ) -> Reviewing:
        """Read the run and make up its panel.

        Args:
            run: the run folder.
            kind: a name of ``KINDS``.
            settings: ``backend.key=value``: who reviews; the run's own backend by default.
            panel: its name; that of the model by default.
            trust: let dotted paths in the scenario be imported.

        Raises:
            InputError: no finished run, no such kind, or settings of something else.
        """
        from metrics.reviews.kinds import KINDS
        from metrics.reviews.tables import FOLDER
        from scenarios.spelling import did_you_mean
        from society.run import Run

        if kind not in KINDS:
            known = ", ".join(KINDS)
            raise InputError(f"--kind {kind}: there are {known}{did_you_mean(kind, KINDS)}")
        for setting in settings:
            if not setting.startswith("backend"):
                raise InputError(f"--set {setting}: a review takes keys of backend only")
        opened = Run.open(run)
        scenario = load_scenario(run / "scenario.yaml", settings=settings, trust=trust)
        scenario = _one_voice(scenario)
        name = panel or _slug(scenario)
        if not re.fullmatch(r"\w[\w.-]*", name):
            raise InputError(f"--panel {name}: letters, digits, dots, dashes and _ only")
        return cls(opened, scenario, KINDS[kind], run / FOLDER / name)

    @property
    def about(self) -> str:
        """Who reviews, in a sentence."""
        return str(self.scenario.backend.backend.about)

    @property
    def done(self) -> bool:
        """Have these very reviewers reviewed these very abstracts?"""
        return bool(self._record().get(self.kind.name) == self._identity())

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
        papers = self._manuscripts()
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

    def _manuscripts(self) -> list[Manuscript]:
        from metrics.reviews.panel import Manuscript

        papers = self.run.table("papers")[["paper", "title", "abstract", "topic"]].fillna("")
        return [Manuscript(*row) for row in papers.itertuples(index=False, name=None)]

    def _identity(self) -> str:
        """sha256 of what is asked, of whom, about which abstracts."""
        papers = [[one.id, one.title, one.abstract, one.topic] for one in self._manuscripts()]
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
        kinds = {**self._record(), self.kind.name: self._identity()}
        told = {"kinds": kinds, "backend": backend_told(self.scenario), "ledger": ledger}
        unfinished = self.folder / f"{RECORD}.unfinished"
        unfinished.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
        os.replace(unfinished, self.folder / RECORD)


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


def reviewed_by(panel: Path) -> str:
    """Who has reviewed, as the panel's record says; an empty text where it says nothing.

    Raises:
        InputError: the record is damaged.
    """
    path = panel / RECORD
    if not path.is_file():
        return ""
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["backend"]["about"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read ({error}); remove it") from error
