"""Backend: whatever answers a request, behind one asynchronous method."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import ClassVar

from agents.part import Part
from agents.request import Reply, Request, Usage


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One way to the model: several of them share the calls by weight.

    Attributes:
        name: for the ledger; without secrets.
        complete: makes one attempt.
        weight: share of the calls, relative to the other endpoints (> 0).
        in_flight: most attempts at a time here; None: no bound of its own.
    """

    name: str
    complete: Callable[[Request], Awaitable[Reply]]
    weight: float = 1.0
    in_flight: int | None = None


class Backend(Part):
    """Subclass it and write ``complete``; name it in a scenario under ``backend.use``.

    ``inline`` says that ``complete`` never suspends, so that its answers can be computed on
    the clock's own thread; ``about`` is the sentence that every output repeats; ``told`` is what
    the model is told beside the messages; ``execution`` names the fields that change how a call
    is made and never what is said.
    """

    execution: ClassVar[frozenset[str]] = frozenset()

    @property
    def inline(self) -> bool:
        """True if ``complete`` returns without ever suspending."""
        return False

    @property
    def rules(self) -> bool:
        """True if rules speak, and not a model."""
        return False

    @property
    def paid(self) -> Backend:
        """The backend that is connected to and paid for: itself, or the live part of a hybrid."""
        return self

    @property
    def voices(self) -> dict[str, Backend]:
        """Backends of which this one is made, by the keys they stand under."""
        return {}

    def voice(self, call: str) -> Backend:
        """Who answers the call of this id: itself, or a part; a function of the id alone."""
        return self

    def of_run(self, seed: int) -> Backend:
        """The backend as it holds in a run of this seed; itself unless it draws."""
        return self

    @property
    def about(self) -> str:
        """One sentence for reports: who speaks."""
        return type(self).__name__

    @property
    def told(self) -> str:
        """Model name and sampling as canonical text; part of every request's hash."""
        return ""

    @property
    def longest_reply(self) -> int:
        """Most tokens that a reply can have; 0 where that is not known."""
        return 0

    @property
    def room(self) -> int | None:
        """Characters of messages that the model can read; longer ones are trimmed first."""
        return None

    def endpoints(self) -> tuple[Endpoint, ...]:
        """The ways to the model, made anew for each run; at least one."""
        return (Endpoint("", self.complete),)

    def price(self, usage: Usage) -> float:
        """What these tokens cost in US dollars (>= 0)."""
        return 0.0

    async def complete(self, request: Request) -> Reply:
        """Make one attempt at one request; no retries here.

        Raises:
            Verdict: the words themselves are a refusal, or the prompt is too long.
            Fault: no words came; the gateway tries again or stops the run.
        """
        raise NotImplementedError

    async def close(self) -> None:
        """Give back connections; called once, on the loop that made the calls."""
