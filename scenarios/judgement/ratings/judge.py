"""A model in the place of a rater of pairs, who sees what the sheet shows and nothing else.

Models prefer what stands first, or second, more often than people do (Zheng et al. 2023,
arXiv:2306.05685). So every pair is judged in both orders. Where the sheet holds a pair twice, with
its sides exchanged, each is judged as it stands and the effect of position can be estimated from
the filled sheet. Any other pair is asked about twice, and a preference that changes with the order
is a tie.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from pydantic import Field, field_validator

from virsci_society.agents.errors import Stopped
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.prompt import Prompt
from virsci_society.agents.replies.form import Form
from virsci_society.scenarios.judgement.model_questions import ModelQuestions
from virsci_society.scenarios.judgement.reviews import offline_rules
from virsci_society.scenarios.judgement.reviews.kinds import REVIEWER
from virsci_society.society.kernel.answer import Answer
from virsci_society.society.kernel.calls import Call
from virsci_society.society.kernel.streams import Streams

PAIR = Prompt(Path(__file__).with_name("prompts") / "pair.txt", REVIEWER)
TEXTS = ("title_a", "abstract_a", "title_b", "abstract_b")
"""Cells of a sheet of pairs that a rater reads."""
OTHER = {"A": "B", "B": "A", "tie": "tie"}
JUDGEMENTS = {
    **dict.fromkeys(("item", "order", "preferred", "said"), "string"),
    **dict.fromkeys(("reason", "rung", "verdict", "who_judged", "model"), "string"),
    **dict.fromkeys(("calls", "prompt_tokens", "completion_tokens"), "Int64"),
}
"""One row per item and order: ``AB`` as on the sheet or ``BA``; the preferred side of the sheet,
what was said of the sides as they were shown, the reason, how the reply was read or why not, who
judged, and what it took with its re-asks."""


class PairJudgement(Form):
    """Which of two papers is better. Slots: title and abstract of both, A and B."""

    has_rule: ClassVar[bool] = True
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

    @classmethod
    def answer_by_rule(cls, slots: Mapping[str, Any], rng: np.random.Generator) -> Self:
        """The one to which the rule of the reviews gives the higher score; equal scores tie."""
        scores = [
            offline_rules.rating({"abstract": slots[text]}, "Overall", rng)
            for text in ("abstract_a", "abstract_b")
        ]
        better = "tie" if scores[0] == scores[1] else "A" if scores[0] > scores[1] else "B"
        return cls.model_validate({"Reason": "A rule has counted words.", "Better": better})


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


def orders_of(rows: Sequence[Mapping[str, str]]) -> list[tuple[Mapping[str, str], bool]]:
    """Each row with every order in which it is judged; True is the opposite of the sheet's.

    Args:
        rows: of a sheet of pairs.
    """
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
    """The judgements as rows of ``JUDGEMENTS``.

    Args:
        judgements: in the order of the table.
        speaker: who judged, as every output says it.
    """
    rows = []
    for one in judgements:
        first, last = one.calls[0], one.calls[-1]
        row: dict[str, Any] = {"item": one.item, "order": "BA" if one.swapped else "AB"}
        row |= {"preferred": one.preferred or None}
        row |= {"said": None if one.form is None else one.form.better}
        row |= {"reason": None if one.form is None else one.form.reason or None}
        row |= {"rung": first.rung, "verdict": first.verdict, "who_judged": speaker}
        row |= {"model": last.model, "calls": len(one.calls)}
        for tokens in ("prompt_tokens", "completion_tokens"):
            row[tokens] = sum(getattr(call, tokens) for call in one.calls)
        rows.append(row)
    return pd.DataFrame(rows, columns=list(JUDGEMENTS)).astype(JUDGEMENTS)


class Judge:
    """Judges the pairs of a sheet; call ids are judge / item / order.

    Args:
        gateway: the gateway to the model, with the journal of the judgements.
        seed: root of the calls' seeds.
    """

    def __init__(self, gateway: Gateway, seed: int) -> None:
        self._questions = ModelQuestions(gateway, Streams(seed, "judge"))

    def __enter__(self) -> Self:
        self._questions.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._questions.__exit__()

    def interrupt(self, reason: Stopped) -> None:
        """Stop soon, from a signal handler; what has been answered is kept."""
        self._questions.interrupt(reason)

    def judge(
        self,
        rows: Sequence[Mapping[str, str]],
        told: Callable[[int], None] = lambda done: None,
    ) -> list[Judgement]:
        """Every judgement, in the order of the sheet.

        Args:
            rows: of a sheet of pairs.
            told: is called after each judgement with the number of them so far.

        Raises:
            Stopped: backend, budget, disk or a signal ended it early.
            Diverged: the journal knows a call that would now be made differently.
        """

        def begin() -> list[Answer[Judgement]]:
            return [
                self._questions.submit(f"{row['item']}/{swapped}", self._ask(row, swapped))
                for row, swapped in orders_of(rows)
            ]

        return self._questions.read_all(begin, told)

    async def _ask(self, row: Mapping[str, str], swapped: bool) -> Judgement:
        item, order = row["item"], "BA" if swapped else "AB"
        place = (item, "judge", 1, 0, 0, "judge", "Judge")
        call = Call(
            f"judge/{item}/{order}", *place, asked=0.0, due=0.0, sequence=0, form="PairJudgement"
        )
        shown = (*TEXTS[2:], *TEXTS[:2]) if swapped else TEXTS
        slots = {name: row[text] for name, text in zip(TEXTS, shown, strict=True)}
        words, calls = await self._questions.ask(
            call, Profile("Judge"), "reviewer", PAIR, PairJudgement, slots
        )
        return Judgement(item, swapped, words if isinstance(words, PairJudgement) else None, calls)
