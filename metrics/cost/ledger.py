"""Requests to the backend, their outcomes, tokens and money, from the manifest of a run.

The ledger belongs to the run, not to the simulated world: no measure depends on it.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from virsci_society.agents.errors import InputError
from virsci_society.agents.journal.records import ANSWERED, IN_DOUBT, SUPERSEDED
from virsci_society.society.results.run import Run

OUTCOMES = {
    ANSWERED: "words came",
    "refused": "the model declined",
    "filtered": "the provider’s content filter took the words away",
    "overflow": "the prompt was too long for the model",
    SUPERSEDED: "given up, because another attempt at the call was quicker",
    "timeout": "no answer in time",
    "connection": "the server could not be reached, or hung up",
    "redirect": "the server sent the request to another address",
    "server": "the server failed",
    "garbled": "the answer was no answer",
    "unanswered": "nobody answered by the deadline of the inbox",
    "folder": "the folder of questions and answers could not be used",
    "empty": "the answer held no text",
    "rate": "too many requests at a time",
    "key": "the key was not accepted",
    "credit": "no credit was left",
    "request": "the request was not accepted",
    IN_DOUBT: "under way when the run was stopped",
}
"""How an attempt can end, in the order in which that is told, and what it means."""

Count = Annotated[int, Field(ge=0)]
Money = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class LedgerRecord(BaseModel):
    """A record in a manifest; unknown keys, of a later release, are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Session(LedgerRecord):
    """One session of a run: the time from its start or continuation to its stop or end.

    Attributes:
        session: its number, from 1.
        release: release of this project.
        changed: keys of the scenario that had another value before: ``until: 365 -> 730``.
    """

    session: Count = 0
    release: str = ""
    changed: list[str] = Field(default_factory=list)


class Ledger(LedgerRecord):
    """Sums over all sessions of a run.

    Attributes:
        attempts: requests made.
        outcomes: attempts by a key of ``OUTCOMES``.
        prompt_tokens: of the attempts whose end is known.
        completion_tokens: likewise.
        estimated: answers whose tokens the provider did not count.
        usd: US dollars at the prices known; 0 where none is.
        in_doubt: calls under way at a stop, the first thousand; they may have been paid twice.
        in_doubt_tokens: most tokens these can have cost.
        in_doubt_usd: most US dollars.
        cut_off: attempts that were cut off before their cost was known.
        cut_off_tokens: most tokens these can have cost, an estimate that counts as spent.
        cut_off_usd: most US dollars.
        hedges: second attempts that were made beside slow ones.
        sessions: the times that the run was begun or gone on with.
        parted: the first call that differs from those of the run it was forked from.
    """

    attempts: Count = 0
    outcomes: dict[str, Count] = Field(default_factory=dict)
    prompt_tokens: Count = 0
    completion_tokens: Count = 0
    estimated: Count = 0
    usd: Money = 0.0
    in_doubt: list[str] = Field(default_factory=list)
    in_doubt_tokens: Count = 0
    in_doubt_usd: Money = 0.0
    cut_off: Count = 0
    cut_off_tokens: Count = 0
    cut_off_usd: Money = 0.0
    hedges: Count = 0
    sessions: list[Session] = Field(default_factory=list)
    parted: str | None = None

    def by_outcome(self) -> list[tuple[str, int]]:
        """Outcomes and their attempts, in the order of ``OUTCOMES``, unknown ones last."""
        known = [name for name in OUTCOMES if self.outcomes.get(name)]
        new = sorted(name for name, count in self.outcomes.items() if count and name not in known)
        return [(name, self.outcomes[name]) for name in (*known, *new)]


def read_ledger(run: Run) -> Ledger | None:
    """The ledger of a run; None where its manifest has none, as that of an older release.

    Raises:
        InputError: the manifest's entry is not a ledger.
    """
    content = run.manifest.get("ledger")
    try:
        return None if content is None else Ledger.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in ("ledger", *first["loc"]))
        raise InputError(f"the run's manifest, {where}: {first['msg']}") from error
