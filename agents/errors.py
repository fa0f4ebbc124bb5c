"""The errors of the project, sorted by who has to act on them.

::

    SocietyError
    ├── InputError        the user's: a file, key or value to correct           (exit code 2)
    │   └── LeaseHeld     another process works on the run folder
    ├── Verdict           nobody's: ReplyError, Refused, Filtered, Overflow
    ├── Dissolved         the team's: it ended without a paper
    ├── Fault             the provider's: one attempt is repeated, or the run stops
    ├── Stopped           from outside the simulated world, as Interrupted and LeaseLost   (5)
    │   └── BudgetReached the next call does not fit into the budget                       (4)
    ├── Diverged          journal and code disagree about a call                           (6)
    └── ProtocolError     the programmer's: a rule of the simulated world was broken

Each takes exactly one message, because SimPy rebuilds an exception as ``type(e)(*e.args)`` when it
crosses a process; ``Fault`` has more, and only the gateway ever sees one.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from virsci_society.agents.prompts.request import Usage


class SocietyError(Exception):
    """Base of everything raised on purpose."""

    exit_code = 1

    def __init__(self, message: str) -> None:
        super().__init__(message)


class InputError(SocietyError):
    """Invalid input; the message says what is wrong, where, and how to fix it.

    Example:
        >>> try:
        ...     vs.load_scenario("quickstart", **{"protocol.turn": 3})
        ... except vs.InputError as error:
        ...     print(error)
        protocol.turn: unknown key; did you mean 'turns'?
    """

    exit_code = 2


class Verdict(SocietyError):
    """The model's answer is not a usable reply; ``hint`` says what the user can do."""

    usage: Usage | None = None
    hint: str = ""


class ReplyError(Verdict):
    """A reply that could not be read as the form that was asked for."""

    was_read = False


class UnfitReply(ReplyError):
    """A reply that was read, and that is asked for again; the message tells the model why."""

    was_read = True


class Refused(Verdict):
    """The model declined to answer."""


class Filtered(Verdict):
    """The provider's content filter took the answer away."""

    hint = (
        "The provider's content filter blocks answers; use another model, or allow these "
        "topics in the provider's settings"
    )


class Overflow(Verdict):
    """The prompt is longer than the model can read."""


class Dissolved(SocietyError):
    """A team ended without a paper; the message is the reason.

    Example:
        >>> def choose_topic(proposals):
        ...     if not proposals:
        ...         raise vs.Dissolved("no topic")
        ...     return proposals[0]
        >>> choose_topic([])
        Traceback (most recent call last):
            ...
        virsci_society.agents.errors.Dissolved: no topic
    """


class Stopped(SocietyError):
    """The run was ended from outside the simulated world; it leaves no trace in that world."""

    exit_code = 5


class BudgetReached(Stopped):
    """The largest cost of the next call does not fit into the budget any more."""

    exit_code = 4


class Interrupted(Stopped):
    """A signal, such as that of Ctrl-C, asked the run to stop."""


class Diverged(SocietyError):
    """A call that the journal knows would now be made differently, or not at all."""

    exit_code = 6


class ProtocolError(SocietyError):
    """A rule of the simulated world was broken by code; the message says which."""


class Over(BaseException):
    """A protocol of a dissolved team goes on; no ``except Exception`` of it can catch this."""

    def __init__(self, message: str) -> None:
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Rule:
    """What the gateway does about one kind of fault."""

    retryable: bool
    endpoint_at_fault: bool
    advice: str
    maybe_generated: bool = False


RULES: Mapping[str, Rule] = {
    "timeout": Rule(
        True, True, "raise backend.deadlines, or check whether the server is running", True
    ),
    "connection": Rule(True, True, "check that a server runs at backend.api_base", True),
    "redirect": Rule(True, True, "set backend.api_base to the address of the redirect"),
    "server": Rule(True, True, "the provider has an outage; repeat the command later to resume"),
    "garbled": Rule(True, True, "the endpoint does not return chat completions", True),
    # Here and for "rate" the endpoint works, and nothing counts against it.
    "empty": Rule(True, False, "the model returns no text; raise backend.max_tokens", True),
    "withheld": Rule(True, False, "the provider returns no choices; check its content filter"),
    "schema": Rule(True, False, "give --set backend.structured=off"),
    "rate": Rule(True, False, "lower backend.in_flight, or repeat the command later to resume"),
    "key": Rule(False, False, "set the provider's environment variable to a valid key"),
    "credit": Rule(
        False, False, "the account has no credit left; add some, then repeat the command to resume"
    ),
    "request": Rule(False, False, "check backend.model, backend.api_base and the model's limits"),
}
"""The rule for each kind of fault."""
GATEWAY_STATUSES = frozenset({408, 499, 502, 504, 520, 522, 524})
"""HTTP statuses by which a proxy reports that it lost or gave up a server that was at work."""


class Fault(SocietyError):
    """One attempt failed; ``retry_after``: seconds that the provider asks to wait, if any."""

    usage: Usage | None = None
    sent: bool = True
    hint: str = ""

    def __init__(
        self,
        message: str,
        kind: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind, self.status, self.retry_after = kind, status, retry_after

    @property
    def rule(self) -> Rule:
        """The rule for its kind."""
        return RULES[self.kind]

    @property
    def advice(self) -> str:
        """What a user can do if the run stops for it."""
        return self.hint or self.rule.advice

    @property
    def cost_unknown(self) -> bool:
        """True if the provider may have generated a reply whose tokens nobody has counted."""
        if not self.sent or (self.usage is not None and not self.usage.estimated):
            return False
        return self.rule.maybe_generated or self.status in GATEWAY_STATUSES


DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Numbers of an OSError that say that there is no room: nobody's input is wrong, a run stops."""


@contextmanager
def disk_errors_as(kind: type[SocietyError], what: str, hint: str = "") -> Iterator[None]:
    """Raise an error of ours where the file system fails within this block."""
    try:
        yield
    except OSError as error:
        raise kind(f"{what}: {error.strerror}{hint}") from error
