"""Every error of the project, sorted by whose move it is.

::

    SocietyError
    ├── InputError        yours: a file, a key, a value; the message says what to change  (exit 2)
    ├── Verdict           nobody's: the words themselves decided (refusal, unreadable reply)
    │   └── ReplyError    a reply that could not be read as its form
    ├── Dissolved         the team's: it ended without a paper, and the reason is logged
    ├── Stopped           the world's: a fault outside the simulation ended the run early (exit 5)
    └── ProtocolError     the programmer's: a rule of the simulated world was broken

    Over (a BaseException)    the team's end, to a protocol that keeps catching its Dissolved

Each takes exactly one message, because SimPy rebuilds an exception as ``type(e)(*e.args)``
when it crosses a process.
"""

from __future__ import annotations


class SocietyError(Exception):
    """Base of everything raised on purpose."""

    exit_code = 1

    def __init__(self, message: str) -> None:
        super().__init__(message)


class InputError(SocietyError):
    """Bad input: what is wrong, where it stands, what to do."""

    exit_code = 2


class Verdict(SocietyError):
    """The words decided: a refusal, or a reply that no re-ask made readable."""


class ReplyError(Verdict):
    """A reply that could not be read as the form that was asked for."""


class Dissolved(SocietyError):
    """A team ended without a paper; the message is the reason."""


class Stopped(SocietyError):
    """The run was ended from outside the simulated world; it leaves no trace in it."""

    exit_code = 5


class ProtocolError(SocietyError):
    """A rule of the simulated world was broken by code; the message says which."""


class Over(BaseException):
    """A dissolved team goes on; no ``except Exception`` of its protocol can catch this."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
