"""Pairs on a blinded sheet, judged by a model, who sees what the sheet shows and nothing else.

The filled sheet is read as a rater's is. Models prefer what stands first, or second, more often
than people do (Zheng et al. 2023, arXiv:2306.05685). So every pair is judged in both orders. Where
the sheet holds a pair twice, with its sides exchanged, each is judged as it stands and the effect
of position can be estimated from the filled sheet. Any other pair is asked about twice, and a
preference that changes with the order is a tie.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from pydantic import Field, field_validator

from virsci_society.agents.files.atomic_files import write_atomically
from virsci_society.agents.offline.asked import Asked, Rule
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.prompt import Prompt
from virsci_society.agents.replies.form import Form
from virsci_society.scenarios.judgement.model_questions import (
    ModelQuestions,
    QuestionJob,
    QuestionRecord,
    call_cells,
    hash_of,
    load_speaker,
    speaker_slug,
)
from virsci_society.scenarios.judgement.review_kinds import PROMPTS, REVIEWER, rule_score
from virsci_society.scenarios.judgement.sheets import PAIRED, TOPIC, read_pairs, sheet_text
from virsci_society.society.kernel.answer import Answer, Call
from virsci_society.society.results.table_files import write_csv

BASE = "quickstart"
"""The scenario whose backend ``--set`` changes: rules, where nothing is set."""
FILLED = "filled.csv"
PAIR = Prompt(PROMPTS / "pair.txt", REVIEWER)
TEXTS = ("title_a", "abstract_a", "title_b", "abstract_b")
"""Cells of a sheet of pairs that a rater reads."""
OTHER = {"A": "B", "B": "A", "tie": "tie"}
JUDGEMENT_COLUMNS = {
    **dict.fromkeys(("item", "order", "preferred", "said"), "string"),
    **dict.fromkeys(("reason", "rung", "verdict", "who_judged", "model"), "string"),
    **dict.fromkeys(("calls", "prompt_tokens", "completion_tokens"), "Int64"),
}
"""One row per item and order: ``AB`` as on the sheet or ``BA``; the preferred side of the sheet,
what was said of the sides as they were shown, the reason, how the reply was read or why not, who
judged, and what it took with its re-asks."""


class PairJudgement(Form):
    """Which of two papers is better. Slots: topic, title and abstract of both, A and B."""

    reason: str = Field(
        default="", alias="Reason", description="two or three sentences that compare both"
    )
    better: Literal["A", "B", "tie"] = Field(alias="Better")

    @field_validator("better", mode="before")
    @classmethod
    def _as_meant(cls, value: Any) -> Any:
        """Read "Paper A." and "a" as they are meant."""
        if not isinstance(value, str):
            return value
        word = value.strip(" .\"'*").casefold().removeprefix("paper ")
        return {"a": "A", "b": "B", "tie": "tie"}.get(word, value)


def _compare_by_rule(asked: Asked) -> dict[str, Any]:
    """The one to which the rule of the reviews gives the higher score; equal scores tie."""
    scores = [
        rule_score({"abstract": asked.slots[text]}, "Overall", asked.rng)
        for text in ("abstract_a", "abstract_b")
    ]
    better = "tie" if scores[0] == scores[1] else "A" if scores[0] > scores[1] else "B"
    return {"Reason": "A rule has counted words.", "Better": better}


OFFLINE_RULES: dict[type[Form], Rule] = {PairJudgement: _compare_by_rule}


@dataclass(frozen=True, slots=True)
class Judgement:
    """One pair in one order.

    Attributes:
        item: of the sheet.
        swapped: True if the sides stood in the order opposite to that of the sheet.
        form: the judgement, of the sides as they were shown; None where it could not be read.
        calls: rows of the call and its re-asks.
    """

    item: str
    swapped: bool
    form: PairJudgement | None
    calls: tuple[Call, ...]

    @property
    def preferred(self) -> str:
        """The preferred side of the sheet: A, B or tie; empty where nothing could be read."""
        if self.form is None:
            return ""
        return OTHER[self.form.better] if self.swapped else self.form.better


JUDGEMENTS = "judgements"
"""Name of the table, without its suffix."""


@dataclass(frozen=True)
class JudgeJob(QuestionJob[Judgement]):
    """A sheet of pairs that a model fills in; call ids are judge / item / order.

    Attributes:
        sheet: its file.
        rows: of the sheet.
    """

    sheet: Path
    rows: tuple[dict[str, str], ...]
    stream = "judge"
    advice = "of a judge: --out NEW"

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
        return cls(scenario, seed, folder, 0.0, sheet, rows)

    @property
    def filled(self) -> Path:
        """The filled sheet; its rater is who judges."""
        return self.folder / FILLED

    @property
    def calls(self) -> int:
        """Calls that are made, where every reply can be read."""
        return len(orders_of(self.rows))

    @cached_property
    def record(self) -> QuestionRecord:
        """Sheet, seed and model."""
        who = self.scenario.identity().get("backend", {})
        asked: dict[str, Any] = {"sheet": hash_of(self.rows), "seed": self.seed}
        asked["backend"] = hash_of(who)
        return QuestionRecord(self.folder, asked, [row["item"] for row in self.rows])

    def begin(self, questions: ModelQuestions[Judgement]) -> list[Answer[list[Judgement]]]:
        """Ask about every pair in every order in which it is judged."""
        return [
            questions.submit(f"{row['item']}/{swapped}", self._ask(questions, row, swapped))
            for row, swapped in orders_of(self.rows)
        ]

    def progress(self, done: int) -> str:
        """How many judgements have been made."""
        return f"{done:,} of {self.calls:,} judgements made"

    def write(self, replies: Sequence[Judgement]) -> None:
        """Write the table of judgements and the filled sheet."""
        sides = agreed(replies)
        filled = [
            {**row, "rater": self.about, "preferred": sides[row["item"]]} for row in self.rows
        ]
        write_csv(self.folder, {JUDGEMENTS: judgement_table(replies, self.about)}, self.about)
        write_atomically(self.filled, sheet_text(filled, PAIRED))

    async def _ask(
        self, questions: ModelQuestions[Judgement], row: Mapping[str, str], swapped: bool
    ) -> list[Judgement]:
        item, order = row["item"], "BA" if swapped else "AB"
        shown = (*TEXTS[2:], *TEXTS[:2]) if swapped else TEXTS
        words, calls = await questions.ask(
            f"judge/{item}/{order}",
            (item, "judge", 1, 0, 0, "judge", "Judge"),
            Profile("Judge"),
            "reviewer",
            PAIR,
            PairJudgement,
            {TOPIC: row.get(TOPIC, "")}
            | {name: row[text] for name, text in zip(TEXTS, shown, strict=True)},
        )
        form = words if isinstance(words, PairJudgement) else None
        return [Judgement(item, swapped, form, calls)]


def orders_of(rows: Sequence[Mapping[str, str]]) -> list[tuple[Mapping[str, str], bool]]:
    """Each row with every order in which it is judged; True is the opposite of the sheet's."""
    shown = {tuple(row[name] for name in TEXTS) for row in rows}
    orders = []
    for row in rows:
        orders.append((row, False))
        if tuple(row[name] for name in (*TEXTS[2:], *TEXTS[:2])) not in shown:
            orders.append((row, True))
    return orders


def agreed(judgements: Sequence[Judgement]) -> dict[str, str]:
    """By item the preferred side of the sheet; a preference that changes with the order ties.

    An item of which one order could not be read is left empty.
    """
    sides: dict[str, list[str]] = {}
    for one in judgements:
        sides.setdefault(one.item, []).append(one.preferred)
    return {
        item: "" if "" in given else given[0] if len(set(given)) == 1 else "tie"
        for item, given in sides.items()
    }


def judgement_table(judgements: Sequence[Judgement], speaker: str) -> pd.DataFrame:
    """The judgements as rows of ``JUDGEMENT_COLUMNS``.

    Args:
        judgements: in the order of the table.
        speaker: who judged, as every output says it.
    """
    rows = []
    for one in judgements:
        row: dict[str, Any] = {"item": one.item, "order": "BA" if one.swapped else "AB"}
        row |= {"preferred": one.preferred or None}
        row |= {"said": None if one.form is None else one.form.better}
        row |= {"reason": None if one.form is None else one.form.reason or None}
        rows.append({**row, "who_judged": speaker, **call_cells(one.calls)})
    return pd.DataFrame(rows, columns=list(JUDGEMENT_COLUMNS)).astype(JUDGEMENT_COLUMNS)
