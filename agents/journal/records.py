"""The records of a journal: outcomes of calls, attempts of the ledger and their totals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import add, sub
from typing import Any, NamedTuple

from virsci_society.agents.errors import Filtered, Overflow, Refused, ReplyError, Verdict
from virsci_society.agents.prompts.request import Reply, Usage
from virsci_society.agents.redaction import redact

VERDICTS: dict[str, type[Verdict]] = {
    "refused": Refused,
    "filtered": Filtered,
    "overflow": Overflow,
    "unreadable": ReplyError,
}
"""Reasons for a missing reply, by their names in journal and tables."""
_NAMES = {verdict: name for name, verdict in VERDICTS.items()}


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """How a call ended: with an answer or with a verdict."""

    kind: str
    text: str
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    cut: bool = False
    unruled: bool = False

    @classmethod
    def of_reply(cls, reply: Reply) -> CallOutcome:
        """The outcome of a call that was answered, in ``storable`` form."""
        return cls(
            *("answer", storable(reply.text), storable(reply.model)),
            *(reply.usage, reply.cut, reply.unruled),
        )

    @classmethod
    def of_verdict(cls, verdict: Verdict) -> CallOutcome:
        """The outcome of a call that ended with a verdict, in ``storable`` form."""
        # Without its traceback, which would keep slots and prompt alive (rule 21).
        return cls(verdict_name(verdict), storable(str(verdict.with_traceback(None))))

    def reply(self) -> Reply:
        """The reply of a call that was answered."""
        if self.kind == "answer":
            return Reply(self.text, self.usage, self.model, self.cut, self.unruled)
        raise VERDICTS[self.kind](self.text)


def verdict_name(verdict: Verdict) -> str:
    """Name of a verdict in journal and tables; a backend's own kind counts as a refusal."""
    kinds = (_NAMES[kind] for kind in type(verdict).__mro__ if kind in _NAMES)
    return next(kinds, "refused")


def storable(text: str) -> str:
    """The text as a journal returns it: without secrets, and valid UTF-8."""
    if not text.isascii():
        # SQLite and files take no half of a surrogate pair, which a model's escapes can contain.
        text = text.encode("utf-8", "replace").decode()
    return redact(text)


ANSWERED = "answered"
IN_DOUBT = "in doubt"
"""Outcome of an attempt that was under way when a run was killed; counted as reserved."""


@dataclass(slots=True)
class Attempt:
    """One attempt at a call: what was reserved for it, how it ended, what it cost."""

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


# Money is summed in whole billionths of a US dollar: sums of integers are exact and do not depend
# on the order in which calls end.
NANO = 1_000_000_000
"""Nano-dollars in one US dollar."""
_TOLERANCE = 1e-3
"""Largest error of a price in nano-dollars that counts as floating-point noise."""


class Spending(NamedTuple):
    """Answered calls, their tokens and price in nano-dollars; also a bound or reservation."""

    calls: int = 0
    tokens: int = 0
    nano: int = 0

    def plus(self, other: Spending) -> Spending:
        """The sum of both, field by field."""
        return Spending(*map(add, self, other))

    def minus(self, other: Spending) -> Spending:
        """The difference of both, field by field."""
        return Spending(*map(sub, self, other))


def nano_dollars(usd: float) -> int:
    """A price in nano-dollars, rounded up but for floating-point noise; never below 0."""
    return max(0, math.ceil(usd * NANO - _TOLERANCE))


def nano_bound(usd: float) -> int:
    """A bound on prices in nano-dollars, rounded down but for floating-point noise."""
    return math.floor(usd * NANO + _TOLERANCE)


USD_DECIMALS, SECOND_DECIMALS = 12, 6
"""Decimals to which sums are rounded: the same in whatever order and with whatever SQLite added."""


@dataclass(slots=True)
class Totals:
    """Sums over the attempts of a run; those of unknown cost count with what was reserved."""

    attempts: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    in_doubt_tokens: int = 0
    estimated: int = 0
    usd: float = 0.0
    in_doubt_usd: float = 0.0
    cut_off: int = 0
    cut_off_tokens: int = 0
    cut_off_usd: float = 0.0
    seconds: float = 0.0
    outcomes: dict[str, int] = field(default_factory=dict)

    def add(
        self,
        outcome: str,
        attempts: int,
        prompt_tokens: int,
        completion_tokens: int,
        estimated: int,
        cached_tokens: int,
        usd: float,
        seconds: float,
    ) -> None:
        """Add attempts that ended in the same way, all with estimated tokens or all without."""
        self.attempts += attempts
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + attempts
        self.estimated += estimated if outcome == ANSWERED else 0
        self.seconds = round(self.seconds + seconds, SECOND_DECIMALS)
        tokens = prompt_tokens + completion_tokens
        # Estimated tokens of a fault are its reservation: nobody knows what it cost.
        if estimated and tokens and outcome not in (ANSWERED, *VERDICTS):
            self.cut_off += attempts
            self.cut_off_tokens += tokens
            self.cut_off_usd = round(self.cut_off_usd + usd, USD_DECIMALS)
            return
        self.prompt_tokens += prompt_tokens
        self.completion_tokens += completion_tokens
        self.cached_tokens += cached_tokens
        self.usd = round(self.usd + usd, USD_DECIMALS)

    @property
    def tokens(self) -> int:
        """All tokens, those reserved for attempts of unknown cost included."""
        unknown = self.in_doubt_tokens + self.cut_off_tokens
        return self.prompt_tokens + self.completion_tokens + unknown

    @property
    def spending(self) -> Spending:
        """What counts against a budget; attempts of unknown cost count as all they can cost."""
        calls = sum(self.outcomes.get(kind, 0) for kind in (ANSWERED, *VERDICTS))
        usd = self.usd + self.in_doubt_usd + self.cut_off_usd
        return Spending(calls, self.tokens, nano_dollars(usd))


def price_words(usd: float, free: bool) -> str:
    """US dollars as people read them, or why there are none."""
    if usd:
        return f"${usd:,.2f}" if usd >= 1 else f"${usd:.4f}"
    return "nothing, the server runs on this machine" if free else "no price known"


def spent_in(ledger: Mapping[str, Any]) -> tuple[int, int, float]:
    """Attempts, tokens and US dollars of a manifest's ledger, those cut off with their estimate."""
    tokens = ("prompt_tokens", "completion_tokens", "cut_off_tokens")
    usd = sum(float(ledger.get(name) or 0.0) for name in ("usd", "cut_off_usd"))
    return int(ledger.get("attempts") or 0), sum(int(ledger.get(key) or 0) for key in tokens), usd
