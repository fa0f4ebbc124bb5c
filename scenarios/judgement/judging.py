"""Pairs on a blinded sheet, judged by a model; the filled sheet is read as a rater's is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from virsci_society.agents.errors import Stopped
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.judgement.question_folder import (
    QuestionRecord,
    ask_in_folder,
    load_speaker,
    speaker_slug,
)
from virsci_society.scenarios.judgement.ratings.judge import (
    Judge,
    agreed,
    judgement_table,
    orders_of,
)
from virsci_society.scenarios.judgement.ratings.sheets import read_pairs, sheet_text

if TYPE_CHECKING:
    from virsci_society.scenarios.judgement.ratings.judge import Judgement
    from virsci_society.society.kernel.calls import Call

BASE = "quickstart"
"""The scenario whose backend ``--set`` changes: rules, where nothing is set."""
FILLED = "filled.csv"
JUDGEMENTS = "judgements"


@dataclass(frozen=True)
class JudgeJob:
    """A sheet of pairs that a model fills in.

    Attributes:
        sheet: its file.
        rows: of the sheet.
        scenario: its backend judges.
        seed: of the words.
        folder: for journal, judgements and the filled sheet.
    """

    sheet: Path
    rows: tuple[dict[str, str], ...]
    scenario: Scenario
    seed: int
    folder: Path

    @classmethod
    def of(
        cls,
        sheet: Path,
        settings: Sequence[str] = (),
        *,
        seed: int = 0,
        out: Path | None = None,
        trust: bool = False,
    ) -> JudgeJob:
        """Read the sheet and the settings.

        Args:
            sheet: that was written by ``rate export --pairs``.
            settings: ``backend.key=value``: who judges; rules by default.
            seed: of the words.
            out: the folder; by default one beside the sheet that names the model.
            trust: let dotted paths in settings be imported.

        Raises:
            InputError: no sheet of pairs, or settings of something else.
        """
        rows = tuple(read_pairs(sheet))
        scenario = load_speaker(BASE, settings, "a judge", trust=trust)
        folder = out or sheet.with_name(f"{sheet.stem}-judged-by-{speaker_slug(scenario)}")
        return cls(sheet, rows, scenario, seed, folder)

    @property
    def about(self) -> str:
        """A sentence about who judges; it is the name of the rater on the filled sheet."""
        return str(self.scenario.backend.backend.about)

    @property
    def filled(self) -> Path:
        """The filled sheet."""
        return self.folder / FILLED

    @property
    def calls(self) -> int:
        """Calls that are made, where every reply can be read."""
        return len(orders_of(self.rows))

    @property
    def done(self) -> bool:
        """Has this very model judged these very pairs already?"""
        return self._record.done

    def rehearse(self, gateway: Gateway) -> list[Call]:
        """Judge through another gateway, whose words are not kept; the rows of its calls."""
        with Judge(gateway, self.seed) as judge:
            return [call for one in judge.judge(self.rows) for call in one.calls]

    def execute(self, announce: Callable[[str], None] = lambda line: None) -> list[Judgement]:
        """Judge what has not been judged yet, and write the table and the filled sheet.

        Args:
            announce: is given a line of progress now and then.

        Returns:
            Every judgement, those of earlier sessions too.

        Raises:
            Stopped: backend, budget, disk or a signal ended it early; the same call goes on.
            Diverged: the folder's journal knows a call that would now be made differently.
            InputError: the folder holds something else, or cannot be written to.
        """
        from virsci_society.agents.files.atomic_files import write_atomically
        from virsci_society.society.results.table_files import write_csv

        self._record.begin()

        def count(done: int) -> None:
            announce(f"{done:,} of {self.calls:,} judgements made")

        judgements: list[Judgement]
        judgements, ledger = ask_in_folder(
            self.folder,
            self.scenario,
            lambda gateway: Judge(gateway, self.seed),
            lambda judge: judge.judge(self.rows, count),
            "of a judge: --out NEW",
        )
        sides = agreed(judgements)
        filled = [
            {**row, "rater": self.about, "preferred": sides[row["item"]]} for row in self.rows
        ]
        try:
            write_csv(
                self.folder, {JUDGEMENTS: judgement_table(judgements, self.about)}, self.about
            )
            write_atomically(self.filled, sheet_text(filled, "pairs"))
        except OSError as error:
            raise Stopped(f"{self.folder}: cannot be written to: {error.strerror}") from error
        self._record.finish(self.scenario, ledger)
        return judgements

    @cached_property
    def _record(self) -> QuestionRecord:
        who = json.dumps(self.scenario.identity().get("backend", {}), sort_keys=True)
        sheet = json.dumps(self.rows, sort_keys=True)
        asked: dict[str, Any] = {"sheet": _hash(sheet), "seed": self.seed, "backend": _hash(who)}
        return QuestionRecord(self.folder, asked, [row["item"] for row in self.rows])


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
