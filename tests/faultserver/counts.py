"""Counts: what the server was asked and what it sent, exactly."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tests.faultserver.kinds import KINDS

ANSWERED, REASKED, LIMITED = "answered", "reask", "limit"
"""Outcomes of attempts that met no fault: answered well, answered unreadably because the plan's
``reask`` says so, and cut at the limit of length that the client itself set."""
GONE, MISUNDERSTOOD, FAILED = "gone", "misunderstood", "failed"
"""The client gave up before all was sent; the request is none that the server understands; the
server itself broke down, with a traceback on stderr."""


@dataclass(slots=True)
class CallCount:
    """What happened to one call id.

    ``answers`` are the completions wholly sent whose words or verdict the client can keep; the
    tokens are theirs.
    """

    attempts: int = 0
    answers: int = 0
    streak: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    outcomes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Counts:
    """All that is counted since the start or the last reset; times are seconds of the epoch."""

    requests: int = 0
    under_way: int = 0
    most_at_once: int = 0
    connections: int = 0
    open_connections: int = 0
    most_connections: int = 0
    first: float | None = None
    last: float | None = None
    outcomes: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    tokens: dict[str, list[int]] = field(default_factory=dict)
    calls: dict[str, CallCount] = field(default_factory=dict)
    windows: Counter[int] = field(default_factory=Counter)
    cut: int = 0
    generated: list[int] = field(default_factory=lambda: [0, 0, 0])

    def connect(self) -> None:
        """The first request for a completion has come over a connection."""
        self.connections += 1
        self.open_connections += 1
        self.most_connections = max(self.most_connections, self.open_connections)

    def disconnect(self) -> None:
        """Such a connection is closed."""
        self.open_connections -= 1

    def arrive(self) -> None:
        """A request for a completion is here."""
        self.requests += 1
        self.under_way += 1
        self.most_at_once = max(self.most_at_once, self.under_way)
        self.last = time.time()
        self.first = self.last if self.first is None else self.first

    def see(self, num_ctx: int | None) -> None:
        """A request asks for a context window of its own, or for none."""
        if num_ctx is not None:
            self.windows[num_ctx] += 1

    def generate(self, usage: tuple[int, int] | None) -> None:
        """An answer of so many tokens was generated, whether or not it arrives; None: none was."""
        if usage is not None:
            self.generated = [
                self.generated[0] + 1,
                *map(sum, zip(self.generated[1:], usage, strict=True)),
            ]

    def attempt(self, call: str) -> CallCount:
        """The next attempt at a call id."""
        counted = self.calls.setdefault(call, CallCount())
        counted.attempts += 1
        return counted

    def leave(
        self,
        outcome: str,
        counted: CallCount | None = None,
        usage: tuple[int, int] | None = None,
        faults: tuple[str, ...] = (),
    ) -> None:
        """A request is done with.

        Args:
            outcome: what came of it.
            counted: of its call, if that is known.
            usage: true tokens of a completion that was wholly sent.
            faults: those that the client has met.
        """
        self.under_way -= 1
        self.outcomes[outcome] += 1
        self.faults.update(faults)
        if counted is not None:
            counted.outcomes.append(outcome)
        if usage is None:
            return
        spent = self.tokens.setdefault(outcome, [0, 0])
        spent[:] = [spent[0] + usage[0], spent[1] + usage[1]]
        if counted is not None and is_kept(outcome):
            counted.answers += 1
            counted.prompt_tokens += usage[0]
            counted.completion_tokens += usage[1]

    def renewed(self) -> Counts:
        """Counts from nought, for the connections that are open."""
        held = self.open_connections
        return Counts(connections=held, open_connections=held, most_connections=held)

    def shown(self, *, full: bool = False) -> dict[str, Any]:
        """All of it as plain data; ``full`` with one entry for each call id."""
        calls = self.calls.values()
        shown: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("requests", "under_way", "most_at_once", "connections")
        }
        shown |= {"open_connections": self.open_connections, "first": self.first}
        shown |= {"most_connections": self.most_connections, "last": self.last}
        shown["calls"] = len(self.calls)
        shown["answers"] = sum(call.answers for call in calls)
        shown["repeated_answers"] = sum(call.answers > 1 for call in calls)
        shown["prompt_tokens"] = sum(call.prompt_tokens for call in calls)
        shown["completion_tokens"] = sum(call.completion_tokens for call in calls)
        shown["outcomes"] = dict(sorted(self.outcomes.items()))
        shown["faults"] = dict(sorted(self.faults.items()))
        shown["tokens"] = dict(sorted(self.tokens.items()))
        shown["windows"] = {str(size): n for size, n in sorted(self.windows.items())}
        shown["cut"] = self.cut
        answers, prompts, replies = self.generated
        shown["generated"] = {
            "answers": answers,
            "prompt_tokens": prompts,
            "completion_tokens": replies,
        }
        if full:
            shown["by_call"] = {id_: _plain(call) for id_, call in self.calls.items()}
        return shown


def is_kept(outcome: str) -> bool:
    """Does an attempt that ended so give the client words, or a verdict, to keep?"""
    return KINDS[outcome].kept if outcome in KINDS else outcome in (ANSWERED, REASKED, LIMITED)


def _plain(call: CallCount) -> dict[str, Any]:
    return {name: getattr(call, name) for name in CallCount.__slots__}
