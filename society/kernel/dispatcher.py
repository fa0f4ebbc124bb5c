"""The dispatcher runs the work behind Answers and lets the simulated clock wait for them.

What must be paid for is suspended until the clock cannot go on without it (rules 22 and 25). A
resumed run begins at day 0 again, since SimPy processes cannot be saved.
"""

from __future__ import annotations

import asyncio
import threading
import types
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

from virsci_society.agents.errors import ProtocolError, SocietyError, Stopped, Verdict
from virsci_society.agents.gateway.gateway import GATEWAY_CLOSED, Gateway
from virsci_society.agents.loop_thread import LoopThread
from virsci_society.society.kernel.answer import Answer

Work = Coroutine[Any, Any, Any]


# Equal only to itself: to compare fields would compare Answers, which refuse it (rule 10).
@dataclass(eq=False, slots=True)
class Task:
    """The work behind one Answer, and how far it is."""

    answer: Answer[Any]
    work: Work
    bounded: bool
    pending: Any = None


@types.coroutine
def on_loop(task: Task) -> Generator[Any, Any, Any]:
    """Continue work on the loop's thread from the point at which it was suspended."""
    work, pending = task.work, task.pending
    try:
        while True:
            try:
                if isinstance(pending, Answer):
                    yield from _settling(pending)
                # ``GATEWAY_CLOSED`` is passed over: the gateway is open when work comes here.
                elif pending is not None and pending is not GATEWAY_CLOSED:
                    yield pending
            except BaseException as error:
                # A cancellation too: the work gives back its slot and its reservation in
                # ``finally``.
                pending = work.throw(error)
            else:
                pending = work.send(None)
    except StopIteration as end:
        return end.value


def _settling(answer: Answer[Any]) -> Generator[Any, Any, None]:
    # No race: on the loop's thread only this thread settles Answers.
    if answer._settled:
        return
    waiter = asyncio.get_running_loop().create_future()
    # ``done`` where the task was cancelled meanwhile; a result set then would raise.
    answer._waiters.append(lambda: None if waiter.done() else waiter.set_result(None))
    yield from waiter


GRACE_SECONDS = 2.0
"""How long a stopped run waits for the replies that it has paid for."""
SWITCH_SECONDS = 0.0005
"""Interval at which the clock's thread and the loop thread hand the interpreter to one another."""


class Dispatcher:
    """Runs the work behind all Answers; called on the clock's thread unless noted."""

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
        self._bound = outstanding
        self._live = not (gateway.inline or gateway.shut)
        self._unsettled = 0
        self._clock: int | None = None
        self._gate = threading.Condition()
        self._awaited: Callable[[], bool] | None = None
        self._interruption: Stopped | None = None
        self._suspended: dict[str, Task] = {}
        self._ready: deque[Task] = deque()
        self._inbox: deque[Task] = deque()
        self._awake = False
        self._loop_thread: LoopThread | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def halted(self) -> bool:
        """True if the run has to stop; the clock checks it before every event (rule 3)."""
        # Taken over here: the signal handler itself sets nothing but its own flag (rule 3).
        if self._interruption is not None and self.fault is None:
            self.fault = self._interruption
        return self.fault is not None

    def on_clock(self, inside: bool) -> None:
        """Mark this thread as the clock's while a step lasts: only there may one ``read``."""
        self._clock = threading.get_ident() if inside else None

    def submit(self, answer: Answer[Any], work: Work, *, bounded: bool = False) -> Answer[Any]:
        """Start the work that settles an Answer."""
        task = Task(answer, work, bounded)
        try:
            self._wait_until(lambda: not bounded or self._unsettled < self._bound())
        except Stopped:
            # Else Python warns that the coroutine was never awaited.
            work.close()
            raise
        # The clock alone takes this bound, so no work waits for room that other work holds
        # (rule 17).
        if bounded:
            self._count(1)
        if self._live:
            self._send_to_loop(task)
        else:
            self._run_inline(task)
        return answer

    def read(self, answer: Answer[Any], note: Callable[[], None]) -> Any:
        """Wait on the clock's thread for the value of an Answer; ``note`` logs the reading."""
        if self._clock != threading.get_ident():
            raise ProtocolError(f"{answer!r} was read outside the clock's own thread")
        if self._now() < answer.due:
            raise ProtocolError(
                f"{answer!r} was read on day {self._now():g}, before it is due on day "
                f"{answer.due:g}"
            )
        self._wait_until(lambda: answer._settled)
        # Also without a value: the clock waits for a verdict as it does for a reply.
        note()
        if answer._error is not None:
            raise answer._error
        return answer._value

    def settle(self, answers: list[Answer[Any]]) -> None:
        """Wait until all of these Answers have settled, with a value or an error."""
        for answer in answers:
            self._wait_until(lambda answer=answer: answer._settled)  # type: ignore[misc]

    def stop(self, fault: BaseException) -> None:
        """On any thread, stop the clock at its next check; the first fault is reported."""
        if self.fault is None:
            self.fault = fault
        self._wake_clock()

    def interrupt(self, reason: Stopped) -> None:
        """Stop from a signal handler: set a flag and wake the loop; no lock is taken (rule 3)."""
        self._interruption = reason
        # The clock may be asleep on its condition: the loop, which may take the lock, wakes it.
        loop_thread = self._loop_thread
        if loop_thread is not None:
            with suppress(RuntimeError):  # closed meanwhile
                loop_thread.call_soon(self.stop, reason)

    def close(self) -> None:
        """End the loop thread; unsettled work is dropped (rule 26)."""
        for task in self._suspended.values():
            task.work.close()
        self._suspended.clear()
        loop_thread, self._loop_thread = self._loop_thread, None
        if loop_thread is None:
            return
        # A shared loop goes on for other runs: only the work of this one ends.
        if self.gateway.shared is not None:
            self.gateway.shared.run(self._wind_up())
        else:
            loop_thread.stop()

    def _wait_until(self, ready: Callable[[], bool]) -> None:
        """Sleep on one condition until ``ready()`` is true; the clock never polls."""
        # On this thread all work has run as far as it can, so only paid replies are left to wait
        # for (rule 22).
        if not ready() and not self._live:
            self._go_live()
        if not ready():
            with self._gate:
                # Set before the test: whoever makes it true from here on sees it and wakes us.
                self._awaited = ready
                while not ready() and self.fault is None:
                    self._gate.wait()
                self._awaited = None
        # Also when ready: an Answer that a stop has settled has no value (rule 2).
        if self.fault is not None:
            self._abort()

    def _abort(self) -> NoReturn:
        self._on_stop()
        raise Stopped(f"the run was stopped: {self.fault}")

    def _run_inline(self, task: Task) -> None:
        """Run work on this thread as far as it gets, and then the work that it has unblocked."""
        # A queue and no recursion: a chain of Answers can be longer than Python's stack is deep.
        self._ready.append(task)
        while self._ready:
            task = self._ready.popleft()
            self._suspended.pop(task.answer.id, None)
            try:
                task.pending = task.work.send(None)
            except StopIteration as end:
                self._settle(task, end.value, None)
            except Verdict as verdict:
                self._settle(task, None, verdict)
            except Exception as fault:
                self.stop(fault)
                self._abort()
            else:
                self._suspend(task)

    def _suspend(self, task: Task) -> None:
        """Suspend work until the Answer that it needs is there, or until calls may be paid for."""
        if isinstance(task.pending, Answer):
            task.pending._waiters.append(partial(self._ready.append, task))
        elif task.pending is not GATEWAY_CLOSED:
            task.work.close()
            raise ProtocolError(f"{task.answer!r}: an inline backend has suspended")
        self._suspended[task.answer.id] = task

    def _go_live(self) -> None:
        """Open the gateway, now that everything known is compared, and start the loop (rule 22)."""
        try:
            self.gateway.open()
        except SocietyError as fault:
            self.stop(fault)
            self._abort()
        self._live = True
        # First all waiters of this thread are dropped, then the loop starts: it would call them.
        for task in self._suspended.values():
            if isinstance(task.pending, Answer):
                task.pending._waiters.clear()
        for task in self._suspended.values():
            self._send_to_loop(task)
        self._suspended.clear()

    def _send_to_loop(self, task: Task) -> None:
        """Put work into the inbox; wake the loop only if it is not awake already (rule 25)."""
        # Appended before the flag is read: the loop clears the flag before it empties the inbox.
        self._inbox.append(task)
        if not self._awake:
            self._awake = True
            self._running_loop().call_soon(self._empty_inbox)

    def _settle(self, task: Task, value: Any, error: SocietyError | None) -> None:
        task.answer._settle(value, error)
        if task.bounded:
            self._count(-1)

    def _count(self, change: int) -> None:
        # Both threads count once the loop runs; before that a lock would only cost time.
        if self._live:
            with self._gate:
                self._unsettled += change
        else:
            self._unsettled += change

    def _running_loop(self) -> LoopThread:
        if self._loop_thread is None and self.gateway.shared is not None:
            self._loop_thread = self.gateway.shared.loop_thread
        if self._loop_thread is None:
            self._loop_thread = LoopThread(
                "answers", wind_up=self._wind_up, switch_interval=SWITCH_SECONDS
            )
            if self._interruption is not None:  # a signal came while there was no loop to tell
                self._loop_thread.call_soon(self.stop, self._interruption)
        return self._loop_thread

    async def _wind_up(self) -> None:
        """Wait a moment for replies that are paid for, and cancel the rest."""
        while self._inbox:
            # Else Python warns that the coroutine was never awaited.
            self._inbox.popleft().work.close()
        await self.gateway.close(GRACE_SECONDS if self.fault is not None else 0.0)
        # A copy, because a task that ends takes itself out of the set.
        left = list(self._tasks)
        for task in left:
            task.cancel()
        # Awaited, so that their ``finally`` clauses run while the loop still runs.
        await asyncio.gather(*left, return_exceptions=True)

    def _empty_inbox(self) -> None:
        # Cleared first: work appended from here on either is taken below or wakes the loop again.
        self._awake = False
        if not self._inbox:
            return
        loop = asyncio.get_running_loop()
        running = loop.create_task(self._answer(self._inbox.popleft()))
        # Kept here, since the loop itself holds its tasks only weakly.
        self._tasks.add(running)
        running.add_done_callback(self._tasks.discard)
        # One in each round of the loop: a burst of work does not keep replies waiting.
        loop.call_soon(self._empty_inbox)

    async def _answer(self, task: Task) -> None:
        value: Any = None
        error: SocietyError | None = None
        try:
            value = await on_loop(task)
        except Verdict as verdict:
            error = verdict
        except Exception as fault:
            self.stop(fault)
            # Settled all the same: the clock, and other work, may be waiting for this Answer.
            error = Stopped(f"the run was stopped: {fault}")
        self._settle(task, value, error)
        self._wake_clock()

    def _wake_clock(self) -> None:
        """Wake the clock if the condition that it waits for is true, or the run is stopped."""
        # Read once: the clock may set it to None between the test and the call.
        awaited = self._awaited
        if awaited is not None and (self.fault is not None or awaited()):
            with self._gate:
                self._gate.notify_all()
