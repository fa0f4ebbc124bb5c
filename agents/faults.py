"""Fault: why one attempt at a call brought no words, and what may be done about it.

A fault is no event of the simulated world: the same request is made again under the same id, or
the whole run stops. Backends turn whatever their library raises into faults; only the gateway
ever sees them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agents.errors import SocietyError

if TYPE_CHECKING:
    from agents.request import Usage


@dataclass(frozen=True, slots=True)
class Rule:
    """What the gateway does about one kind of fault.

    Attributes:
        again: the same request may be made again; otherwise the run stops at once.
        ailing: it speaks against the endpoint, and counts towards opening its breaker.
        advice: what a user can do if the run stops for it.
    """

    again: bool
    ailing: bool
    advice: str


RULES: Mapping[str, Rule] = {
    "timeout": Rule(True, True, "raise backend.deadlines, or see whether the server is alive"),
    "connection": Rule(True, True, "see whether the server runs at backend.api_base"),
    "server": Rule(True, True, "the provider has trouble; the same command goes on later"),
    "garbled": Rule(True, True, "the endpoint does not answer as a chat completion should"),
    "empty": Rule(True, False, "the model returns no text; raise backend.max_tokens"),
    "rate": Rule(True, False, "lower backend.in_flight; the same command goes on later"),
    "key": Rule(False, False, "put a valid key into the provider's environment variable"),
    "credit": Rule(False, False, "the account has no credit left; the same command goes on later"),
    "request": Rule(False, False, "see backend.model, backend.api_base and the model's limits"),
}
"""Every kind of fault there is."""


class Fault(SocietyError):
    """One attempt failed.

    Attributes:
        kind: a key of ``RULES``.
        status: HTTP status, where there was an answer.
        after: seconds after which the provider asks to be called again; None if it did not say.
        usage: tokens that the provider bills for it all the same; None if it told none.
    """

    usage: Usage | None = None

    def __init__(
        self, message: str, kind: str, *, status: int | None = None, after: float | None = None
    ) -> None:
        super().__init__(message)
        self.kind, self.status, self.after = kind, status, after

    @property
    def rule(self) -> Rule:
        """What to do about it."""
        return RULES[self.kind]
