"""The class ``Answer``, a promise of the words that a call to a model will return.

The words may be late inside a team; nothing leaves a team before it is read. An Answer can be
handed on unread into the next question. Only ``read`` makes the simulated world wait for the
real one, so a protocol reads an Answer only to decide something.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NoReturn, TypeVar

from virsci_society.agents.errors import ProtocolError

T = TypeVar("T")


class Answer(Generic[T]):
    """A promise of the words of one call, or of the value of a pure function of other Answers.

    It refuses truth, comparison, formatting, iteration, length and hashing, because each of
    them would depend on words that nobody has read (rule 10).

    Args:
        id_: id of the call, or of the derived Answer; unique in a run.
        due: simulated date in days from which it may be read.
        sources: the Answers that it depends on; all are older, so no circle can arise (rule 18).
        derived: True for a function of other Answers.
        read: waits for this Answer and returns its value; raises what it settled with.

    Attributes:
        needs: ids of the calls that it depends on directly.
        calls: rows of the call and its re-asks; empty for a derived Answer.

    Example:
        >>> answer = vs.Answer("Scientist1/1/idea", 7.0, (), False, read=lambda self: "a map")
        >>> answer.due, answer.read()
        (7.0, 'a map')
        >>> "yes" if answer else "no"
        Traceback (most recent call last):
            ...
        virsci_society.agents.errors.ProtocolError: ...
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
        # Derived Answers are replaced by their own needs: only the words of calls are waited for.
        needs = [id_ for s in sources for id_ in (s.needs if s.derived else (s.id,))]
        # Each once and in order; the order of a set would depend on the hash seed (rule 12).
        self.needs: tuple[str, ...] = tuple(dict.fromkeys(needs))
        self.derived: bool = derived
        self.calls: list[Any] = []
        self._read = read
        self._settled = False
        self._value: Any = None
        self._error: Exception | None = None
        self._waiters: list[Callable[[], None]] = []

    def read(self) -> T:
        """Wait for the words on the clock's thread and return them.

        Returns:
            The reply as its form, or the value of the function.

        Raises:
            Verdict: the words are a refusal or stayed unreadable.
            Stopped: the run was stopped from outside.
            ProtocolError: read before it is due, or outside the clock's thread.
        """
        value: T = self._read(self)
        return value

    def _settle(self, value: Any, error: Exception | None) -> None:
        """Store the value or the error and wake what waits for it.

        Args:
            value: the words; meaningless where there is an error.
            error: raised by ``read``.
        """
        # Without its traceback, which would keep slots and prompt alive (rule 21).
        self._value, self._error = value, error and error.with_traceback(None)
        # After value and error: another thread looks at this flag alone, without a lock.
        self._settled = True
        # Dropped: a waiter holds the work that waited, and the Answer lives as long as its team
        # (rule 21).
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            waiter()

    # Not refused: messages of errors name the Answer by it (rule 10).
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
    """The Answers in the value of a slot: the value itself, or those inside its tuple or list."""
    if isinstance(value, Answer):
        return [value]
    if isinstance(value, (tuple, list)):
        return [answer for item in value for answer in answers_in(item)]
    return []
