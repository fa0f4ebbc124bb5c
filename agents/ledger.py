"""Ledger: one row per attempt at a call, and their totals. It is what a bill is checked against."""

from __future__ import annotations

from dataclasses import dataclass, field

from agents.request import Usage

ANSWERED = "answered"
IN_DOUBT = "in doubt"
"""Outcome of an attempt that was under way when a run was killed; counted as reserved."""


@dataclass(slots=True)
class Attempt:
    """One HTTP request, or one call of whatever else answers.

    Attributes:
        call: id of the request.
        number: 0 for the first attempt at it, over all sessions of the run.
        endpoint: name of the endpoint.
        reserved: most tokens it can cost.
        reserved_usd: most money it can cost.
        outcome: answered, refused, filtered, overflow, a kind of ``agents.faults``, or in doubt.
        status: HTTP status of a fault; None if there was none.
        usage: tokens of the answer.
        usd: its price.
        seconds: real time it took.
        detail: the fault's message, without secrets.
        row: its place in the ledger of a journal; 0 where it has none yet.
    """

    call: str
    number: int
    endpoint: str = ""
    reserved: int = 0
    reserved_usd: float = 0.0
    outcome: str = IN_DOUBT
    status: int | None = None
    usage: Usage = field(default_factory=Usage)
    usd: float = 0.0
    seconds: float = 0.0
    detail: str = ""
    row: int = 0


@dataclass(slots=True)
class Totals:
    """Sums over the attempts of a run, earlier sessions included.

    ``outcomes`` counts attempts by outcome; those in doubt count with what was reserved.
    """

    attempts: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    in_doubt_tokens: int = 0
    estimated: int = 0
    usd: float = 0.0
    in_doubt_usd: float = 0.0
    seconds: float = 0.0
    outcomes: dict[str, int] = field(default_factory=dict)

    def add(
        self,
        outcome: str,
        attempts: int,
        prompt_tokens: int,
        completion_tokens: int,
        estimated: int,
        usd: float,
        seconds: float,
    ) -> None:
        """Add attempts that ended in the same way."""
        self.attempts += attempts
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + attempts
        self.prompt_tokens += prompt_tokens
        self.completion_tokens += completion_tokens
        self.estimated += estimated if outcome == ANSWERED else 0
        self.usd += usd
        self.seconds += seconds

    @property
    def tokens(self) -> int:
        """All tokens, those in doubt included."""
        return self.prompt_tokens + self.completion_tokens + self.in_doubt_tokens
