"""Reviews of the abstracts of a run or a study by a model, resumed without paying twice.

A panel lives in a folder of its own, ``reviews/NAME`` of the run, with its own journal. The run's
tables and its digest stay as they are. A study has panels of its own, each for the abstracts of all
its runs, so that they share slots and one budget.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from virsci_society.agents.errors import InputError, Stopped
from virsci_society.agents.files.atomic_files import write_atomically
from virsci_society.agents.files.file_hashes import check_file
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.judgement.question_folder import (
    ask_in_folder,
    load_speaker,
    make_question_folder,
    speaker_slug,
)
from virsci_society.scenarios.judgement.reviews.review_folder import FOLDER, RECORD
from virsci_society.scenarios.runs.run_folder import backend_summary

if TYPE_CHECKING:
    from virsci_society.scenarios.judgement.reviews.kinds import ReviewKind
    from virsci_society.scenarios.judgement.reviews.panel import ReviewedPaper
    from virsci_society.society.results.run import Run


@dataclass(frozen=True)
class ReviewJob:
    """One review: runs, the model that reviews them, and the kind of review.

    Attributes:
        runs: finished, by what their papers' ids begin with: of a study's runs ``0007/``, of a
            single one nothing.
        scenario: the run's own or the study's base, with the reviewers' backend.
        kind: of review.
        folder: of the panel.
    """

    runs: Mapping[str, Run]
    scenario: Scenario
    kind: ReviewKind
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
    ) -> ReviewJob:
        """Read the runs and make up their panel.

        Args:
            path: the folder of a run, or of a study, of which the runs that are done are taken.
            kind: a name of ``KINDS``.
            settings: ``backend.key=value``: the reviewing model; the run's own backend by default.
            panel: its name; that of the model by default.
            trust: let dotted paths in the scenario be imported.

        Raises:
            InputError: no finished run, no such kind, or settings of something else.
        """
        from virsci_society.agents.spelling import did_you_mean
        from virsci_society.scenarios.judgement.reviews.kinds import KINDS

        if kind not in KINDS:
            known = ", ".join(KINDS)
            raise InputError(f"--kind {kind}: there are {known}{did_you_mean(kind, KINDS)}")
        runs, written = _runs_of(path)
        scenario = load_speaker(written, settings, "a review", trust=trust)
        name = panel or speaker_slug(scenario)
        if not re.fullmatch(r"\w[\w.-]*", name):
            raise InputError(f"--panel {name}: letters, digits, dots, dashes and _ only")
        return cls(runs, scenario, KINDS[kind], path / FOLDER / name)

    @property
    def about(self) -> str:
        """A sentence about the reviewing model."""
        return str(self.scenario.backend.backend.about)

    @property
    def done(self) -> bool:
        """Has this very model reviewed these very abstracts already?"""
        return bool(self._record().get(self.kind.name) == self._identity)

    def execute(self, announce: Callable[[str], None] = lambda line: None) -> None:
        """Review what is not reviewed yet, and write the tables of the panel.

        Args:
            announce: is given a line of progress now and then.

        Raises:
            Stopped: backend, budget, disk or a signal ended it early; the same call goes on.
            Diverged: the panel's journal knows a call that would now be made differently.
            InputError: the folder cannot be written to, or the budget asks for a price.
        """
        from virsci_society.scenarios.judgement.reviews.panel import Panel
        from virsci_society.scenarios.judgement.reviews.tables import write_reviews

        if self.done:
            return
        papers = self._manuscripts
        make_question_folder(self.folder, self.folder.parent.parent)

        def count(done: int) -> None:
            announce(f"{done:,} of {len(papers):,} abstracts reviewed ({self.kind.name})")

        opinions, ledger = ask_in_folder(
            self.folder,
            self.scenario,
            lambda gateway: Panel(gateway, self.kind, self.scenario.seed),
            lambda panel: panel.review(papers, count),
            "of a review: --panel NEW",
        )
        try:
            write_reviews(self.folder, self.kind, opinions, self.about)
            self._sign(ledger)
        except OSError as error:
            raise Stopped(f"{self.folder}: cannot be written to: {error.strerror}") from error

    @cached_property
    def _manuscripts(self) -> list[ReviewedPaper]:
        from virsci_society.scenarios.judgement.reviews.panel import ReviewedPaper

        made: list[ReviewedPaper] = []
        for before, run in self.runs.items():
            papers = run.table("papers")[["paper", "title", "abstract", "topic"]].fillna("")
            rows = papers.itertuples(index=False, name=None)
            made += [ReviewedPaper(f"{before}{paper}", *fields) for paper, *fields in rows]
        return made

    @cached_property
    def _identity(self) -> str:
        """sha256 of what is asked, of whom, about which abstracts."""
        papers = [[one.id, one.title, one.abstract, one.topic] for one in self._manuscripts]
        who = self.scenario.identity().get("backend", {})
        content = json.dumps([self.kind.hash, who, self.scenario.seed, papers], ensure_ascii=True)
        return hashlib.sha256(content.encode()).hexdigest()

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
        record = {"kinds": kinds, "backend": backend_summary(self.scenario), "ledger": ledger}
        write_atomically(self.folder / RECORD, json.dumps(record, indent=2) + "\n")


def _runs_of(path: Path) -> tuple[dict[str, Run], Path]:
    """The finished runs of a folder, and the scenario that they have in common."""
    from virsci_society.scenarios.study.folder import BASE, read_statuses
    from virsci_society.scenarios.study.lock import LOCK, require_lock
    from virsci_society.scenarios.study.status import folder_of
    from virsci_society.society.results.run import Run

    if not (path / LOCK).is_file():
        return {"": Run.open(path)}, check_file(path / "scenario.yaml")
    done = [one.index for one in read_statuses(path, require_lock(path)) if one.state == "done"]
    if not done:
        raise InputError(f"{path}: no run of this study is done; 'society study run' does them")
    folders = [folder_of(path, index) for index in done]
    return {f"{folder.name}/": Run.open(folder) for folder in folders}, path / BASE
