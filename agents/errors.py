"""Every error of the project, sorted by whose move it is.

::

    SocietyError
    ├── InputError        yours: a file, a key, a value; the message says what to change  (exit 2)
    │   └── Held          a living owner works on the run folder (scenarios.study.leases)
    ├── Verdict           nobody's: the words themselves decided
    │   ├── ReplyError    a reply that could not be read as its form
    │   ├── Refused       the model declined to answer
    │   ├── Filtered      the provider's content filter took the answer away
    │   └── Overflow      the prompt is longer than the model can read
    ├── Dissolved         the team's: it ended without a paper, and the reason is logged
    ├── Fault             the provider's: one attempt failed; it is repeated, or the run stops
    ├── Stopped           the world's: a fault outside the simulation ended the run early (exit 5)
    │   ├── BudgetReached the budget's: nothing more may be paid for                       (exit 4)
    │   └── Lost          the run folder was taken over by another owner (scenarios.study.leases)
    ├── Diverged          journal and code disagree about a call that was made             (exit 6)
    └── ProtocolError     the programmer's: a rule of the simulated world was broken

    Over (a BaseException)    the team's end, to a protocol that keeps catching its Dissolved

Each takes exactly one message, because SimPy rebuilds an exception as ``type(e)(*e.args)``
when it crosses a process; ``agents.faults.Fault`` has more and never enters one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agents.request import Usage


class SocietyError(Exception):
    """Base of everything raised on purpose."""

    exit_code = 1

    def __init__(self, message: str) -> None:
        super().__init__(message)


class InputError(SocietyError):
    """Bad input: what is wrong, where it stands, what to do."""

    exit_code = 2


class Verdict(SocietyError):
    """The words decided: a refusal, or a reply that no re-ask made readable.

    Attributes:
        usage: tokens that the provider bills for it all the same; None if it told none.
    """

    usage: Usage | None = None


class ReplyError(Verdict):
    """A reply that could not be read as the form that was asked for."""


class Refused(Verdict):
    """The model declined to answer."""


class Filtered(Verdict):
    """The provider's content filter took the answer away."""


class Overflow(Verdict):
    """The prompt is longer than the model can read."""


class Dissolved(SocietyError):
    """A team ended without a paper; the message is the reason."""


class Stopped(SocietyError):
    """The run was ended from outside the simulated world; it leaves no trace in it."""

    exit_code = 5


class BudgetReached(Stopped):
    """What the next call may cost does not fit the budget any more."""

    exit_code = 4


class Diverged(SocietyError):
    """A call that the journal knows would now be made differently, or not at all."""

    exit_code = 6


class ProtocolError(SocietyError):
    """A rule of the simulated world was broken by code; the message says which."""


class Over(BaseException):
    """A dissolved team goes on; no ``except Exception`` of its protocol can catch this."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
