"""Answer: a promise of words.

Words may be late inside a team; nothing leaves a team before it is read. An Answer can be
handed on unread into the next question. Only ``read`` makes the simulated world wait for the
real one, so it is for deciding something.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NoReturn, TypeVar

from agents.errors import ProtocolError

T = TypeVar("T")


class Answer(Generic[T]):
    """The words of one call, or a pure function of other Answers, once they are there.

    It refuses truth, comparison, formatting, iteration, length and hashing, because each of
    them would depend on words that nobody has read (rule 10).
    """

    __slots__ = (
        "_error",
        "_read",
        "_settled",
        "_value",
        "_waiters",
        "calls",
        "derived",
        "due",
        "id",
        "needs",
    )

    def __init__(
        self,
        id_: str,
        due: float,
        sources: tuple[Answer[Any], ...],
        derived: bool,
        read: Callable[[Answer[Any]], Any],
    ) -> None:
        self.id = id_
        self.due = due
        # Derived Answers are seen through: what is waited for are the words of calls.
        needs = [id_ for s in sources for id_ in (s.needs if s.derived else (s.id,))]
        self.needs: tuple[str, ...] = tuple(dict.fromkeys(needs))
        self.derived: bool = derived
        self.calls: list[Any] = []
        self._read = read
        self._settled = False
        self._value: Any = None
        self._error: Exception | None = None
        self._waiters: list[Callable[[], None]] = []

    def read(self) -> T:
        """The words themselves; waits for them.

        Raises:
            Verdict: the words are a refusal or stayed unreadable.
            Stopped: the run was stopped from outside.
            ProtocolError: read before it is due, or outside the clock's thread.
        """
        value: T = self._read(self)
        return value

    def _settle(self, value: Any, error: Exception | None) -> None:
        # Without its traceback, which would keep slots and prompt alive (rule 21).
        self._value, self._error = value, error and error.with_traceback(None)
        self._settled = True
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            waiter()

    def __repr__(self) -> str:
        return f"<Answer {self.id}>"

    def _refuse(self, *_: object) -> NoReturn:
        raise ProtocolError(f"read it first: {self!r}")

    __bool__ = __len__ = __iter__ = __str__ = __contains__ = _refuse
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __hash__ = _refuse
    __getitem__ = __int__ = __float__ = _refuse

    def __format__(self, _: str) -> NoReturn:
        self._refuse()


def answers_in(value: Any) -> list[Answer[Any]]:
    """The Answers in a slot: the slot itself, or those inside its tuple or list."""
    if isinstance(value, Answer):
        return [value]
    if isinstance(value, (tuple, list)):
        return [answer for item in value for answer in answers_in(item)]
    return []
