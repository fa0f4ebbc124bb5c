"""Dispatcher: where simulated time meets wall time.

The clock hands it work; the work starts at once. With a backend that may suspend, one loop
thread does it, reached through one inbox with one wake-up per burst. With a backend that
answers inline, the same coroutines are driven to their end on the clock's thread. Nothing here
depends on when an answer arrives.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn

from agents.errors import ProtocolError, SocietyError, Stopped, Verdict
from agents.gateway import Gateway
from society.answer import Answer, answers_in

Work = Coroutine[Any, Any, Any]

SWITCH_SECONDS = 0.0005
"""How soon clock and loop let go of the interpreter for one another while words are due."""


class Dispatcher:
    """All unread words of one society.

    Args:
        gateway: where requests go.
        now: reads the simulated date.
        on_stop: told on the clock's thread, before a stop unwinds anything there.
        outstanding: most unsettled questions at present; the clock waits at the next ask.
    """

    def __init__(
        self,
        gateway: Gateway,
        now: Callable[[], float],
        on_stop: Callable[[], None],
        outstanding: Callable[[], int],
    ) -> None:
        self.gateway = gateway
        self.fault: BaseException | None = None
        self._now = now
        self._on_stop = on_stop
        self._inline = gateway.backend.inline
        self._bound = outstanding
        self._unsettled = 0
        self._clock: int | None = None
        self._gate = threading.Condition()
        self._awaited: Callable[[], bool] | None = None
        self._inbox: deque[tuple[Answer[Any], Work, bool]] = deque()
        self._awake = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._interval = sys.getswitchinterval()
        self._tasks: set[asyncio.Task[None]] = set()

    def on_clock(self, inside: bool) -> None:
        """Mark the present thread as the clock's for the length of a step."""
        self._clock = threading.get_ident() if inside else None

    def submit(self, answer: Answer[Any], work: Work, *, bounded: bool = False) -> Answer[Any]:
        """Start the work that settles this Answer; ``bounded`` questions wait at the bound.

        Consultations and functions of Answers never do (rule 17).
        """
        if self._inline:
            self._drive(answer, work)
            return answer
        self._hold(lambda: not bounded or self._unsettled < self._bound())
        with self._gate:
            self._unsettled += bounded
        self._inbox.append((answer, work, bounded))
        if not self._awake:
            self._awake = True
            self._running_loop().call_soon_threadsafe(self._empty_inbox)
        return answer

    def read(self, answer: Answer[Any], note: Callable[[], None]) -> Any:
        """Wait for an Answer on the clock's thread; ``note`` is told that it has been read."""
        if self._clock != threading.get_ident():
            raise ProtocolError(f"{answer!r} was read outside the clock's own thread")
        if self._now() < answer.due:
            raise ProtocolError(
                f"{answer!r} was read on day {self._now():g}, before it is due on day "
                f"{answer.due:g}"
            )
        self._hold(lambda: answer._settled)
        note()
        if answer._error is not None:
            raise answer._error
        return answer._value

    def settle(self, answers: list[Answer[Any]]) -> None:
        """Wait until all of these have settled, whatever their words are."""
        for answer in answers:
            self._hold(lambda answer=answer: answer._settled)  # type: ignore[misc]

    def stop(self, fault: BaseException) -> None:
        """Let the clock leave at its next look; the first fault is the one reported."""
        if self.fault is None:
            self.fault = fault
        self._wake_clock()

    def close(self) -> None:
        """End the loop thread; unsettled work is dropped."""
        loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None:
            return
        sys.setswitchinterval(self._interval)
        loop.call_soon_threadsafe(loop.stop)
        if thread is not threading.current_thread():
            thread.join(timeout=10)

    def _hold(self, ready: Callable[[], bool]) -> None:
        """Sleep on one condition until ready; the clock never polls."""
        if not ready():
            with self._gate:
                self._awaited = ready
                while not ready() and self.fault is None:
                    self._gate.wait()
                self._awaited = None
        # Also when ready: what a stop has settled are no words.
        if self.fault is not None:
            self._leave()

    def _leave(self) -> NoReturn:
        self._on_stop()
        raise Stopped(f"the run was stopped: {self.fault}")

    def _drive(self, answer: Answer[Any], work: Work) -> None:
        """Run work that never suspends to its end, on this thread."""
        try:
            work.send(None)
        except StopIteration as end:
            answer._settle(end.value, None)
        except Verdict as verdict:
            answer._settle(None, verdict)
        except Exception as fault:
            self.stop(fault)
            self._leave()
        else:
            work.close()
            raise ProtocolError(f"{answer!r}: a backend that says it is inline has suspended")

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._interval = sys.getswitchinterval()
            sys.setswitchinterval(SWITCH_SECONDS)
            self._thread = threading.Thread(target=self._serve, name="answers", daemon=True)
            self._thread.start()
        return self._loop

    def _serve(self) -> None:
        loop = self._loop
        if loop is None:
            return
        asyncio.set_event_loop(loop)
        loop.run_forever()
        for task in list(self._tasks):
            task.cancel()
        loop.run_until_complete(asyncio.gather(*self._tasks, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()

    def _empty_inbox(self) -> None:
        # Cleared first: what is appended from here on either is taken below or wakes us again.
        self._awake = False
        while self._inbox:
            answer, work, bounded = self._inbox.popleft()
            task = asyncio.get_running_loop().create_task(self._answer(answer, work, bounded))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _answer(self, answer: Answer[Any], work: Work, bounded: bool) -> None:
        value: Any = None
        error: SocietyError | None = None
        try:
            value = await work
        except Verdict as verdict:
            error = verdict
        except Exception as fault:
            self.stop(fault)
            error = Stopped(f"the run was stopped: {fault}")
        answer._settle(value, error)
        with self._gate:
            self._unsettled -= bounded
        self._wake_clock()

    def _wake_clock(self) -> None:
        awaited = self._awaited
        if awaited is not None and (self.fault is not None or awaited()):
            with self._gate:
                self._gate.notify_all()


async def settled(value: Any) -> Any:
    """The value of a slot once its Answers have settled; what settled to None is left out.

    Raises:
        SocietyError: the error of the first Answer that has one.
    """
    if isinstance(value, Answer):
        while not value._settled:
            waiter = asyncio.get_running_loop().create_future()
            value._waiters.append(waiter)
            await waiter
        if value._error is not None:
            raise value._error
        return value._value
    if isinstance(value, (tuple, list)) and answers_in(value):
        parts = [await settled(item) for item in value]
        return tuple(part for part in parts if part is not None)
    return value
