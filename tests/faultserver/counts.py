"""Counts: what the server was asked and what it sent, exactly."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tests.faultserver.plan import KINDS

ANSWERED, REASKED, LIMITED = "answered", "reask", "limit"
"""Outcomes of attempts that met no fault: answered well, answered unreadably because the plan's
``reask`` says so, and cut at the limit of length that the client itself set."""
GONE, MISUNDERSTOOD, FAILED = "gone", "misunderstood", "failed"
"""The client gave up before all was sent; the request is none that the server understands; the
server itself broke down, with a traceback on stderr."""


@dataclass
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


@dataclass
class Counts:
    """All that is counted since the start or the last reset; what each means says ``README.md``."""

    requests: int = 0
    under_way: int = 0
    most_at_once: int = 0
    connections: int = 0
    open_connections: int = 0
    cut: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    tokens: dict[str, list[int]] = field(default_factory=dict)
    windows: Counter[int] = field(default_factory=Counter)
    generated: Counter[str] = field(default_factory=Counter)
    calls: dict[str, CallCount] = field(default_factory=dict)

    def connect(self):
        """The first request for a completion has come over a connection."""
        self.connections += 1
        self.open_connections += 1

    def arrive(self):
        """A request for a completion is here."""
        self.requests += 1
        self.under_way += 1
        self.most_at_once = max(self.most_at_once, self.under_way)

    def generate(self, usage):
        """An answer of so many tokens was generated, whether or not it arrives; None: none was."""
        prompt, completion = usage or (0, 0)
        more = {"prompt_tokens": prompt, "completion_tokens": completion}
        self.generated.update({"answers": usage is not None, **more})

    def attempt(self, call):
        """The next attempt at a call id."""
        counted = self.calls.setdefault(call, CallCount())
        counted.attempts += 1
        return counted

    def leave(self, outcome, counted=None, usage=None, faults=()):
        """A request is done with."""
        self.under_way -= 1
        self.outcomes[outcome] += 1
        self.faults.update(faults)
        if counted is not None:
            counted.outcomes.append(outcome)
        if usage is None:
            return
        spent = self.tokens.setdefault(outcome, [0, 0])
        spent[:] = [spent[0] + usage[0], spent[1] + usage[1]]
        kept = KINDS[outcome].kept if outcome in KINDS else outcome in (ANSWERED, REASKED, LIMITED)
        if counted is not None and kept:
            counted.answers += 1
            counted.prompt_tokens += usage[0]
            counted.completion_tokens += usage[1]

    def shown(self, *, full=False):
        """All of it as plain data; ``full`` with one entry for each call id."""
        calls = self.calls.values()
        shown = vars(self) | {
            "calls": len(calls),
            "answers": sum(call.answers for call in calls),
            "repeated_answers": sum(call.answers > 1 for call in calls),
            "prompt_tokens": sum(call.prompt_tokens for call in calls),
            "completion_tokens": sum(call.completion_tokens for call in calls),
        }
        by_call = {id_: vars(call) for id_, call in self.calls.items()} if full else {}
        return shown | ({"by_call": by_call} if full else {})
