"""Dispatcher: where simulated time meets wall time.

The clock hands it work; the work starts at once. What can be answered without waiting (by a
backend that answers inline, or by the journal) is driven to its end on the clock's thread. What
would have to be paid for stands still until the clock cannot go on without it: from then on one
loop thread does all work, reached through one inbox with one wake-up per burst. Nothing here
depends on when an answer arrives.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

from agents.errors import ProtocolError, SocietyError, Stopped, Verdict
from agents.gateway import SHUT, Gateway
from society.answer import Answer
from society.errand import Errand, Work, on_loop

GRACE_SECONDS = 2.0
"""How long a stopped run waits for the answers that it has paid for."""
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
        self._bound = outstanding
        self._live = not (gateway.inline or gateway.shut)
        self._unsettled = 0
        self._clock: int | None = None
        self._gate = threading.Condition()
        self._awaited: Callable[[], bool] | None = None
        self._interruption: Stopped | None = None
        self._standing: dict[str, Errand] = {}
        self._ready: deque[Errand] = deque()
        self._inbox: deque[Errand] = deque()
        self._awake = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._interval = sys.getswitchinterval()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def halted(self) -> bool:
        """Must the clock leave? It looks before every event."""
        if self._interruption is not None and self.fault is None:
            self.fault = self._interruption
        return self.fault is not None

    def on_clock(self, inside: bool) -> None:
        """Mark the present thread as the clock's for the length of a step."""
        self._clock = threading.get_ident() if inside else None

    def submit(self, answer: Answer[Any], work: Work, *, bounded: bool = False) -> Answer[Any]:
        """Start the work that settles this Answer; ``bounded`` questions wait at the bound.

        Consultations and functions of Answers never do (rule 17).
        """
        errand = Errand(answer, work, bounded)
        try:
            self._hold(lambda: not bounded or self._unsettled < self._bound())
        except Stopped:
            work.close()
            raise
        if bounded:
            self._count(1)
        if self._live:
            self._hand_over(errand)
        else:
            self._drive(errand)
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

    def interrupt(self, reason: Stopped) -> None:
        """Stop from a signal handler: a plain flag, and a word to the loop; no lock is taken."""
        self._interruption = reason
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # closed meanwhile
                loop.call_soon_threadsafe(self.stop, reason)

    def close(self) -> None:
        """End the loop thread; unsettled work is dropped."""
        for errand in self._standing.values():
            errand.work.close()
        self._standing.clear()
        loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is not None and self.gateway.commons is not None:
            self.gateway.commons.do(self._wind_up())
        if loop is None or thread is None:
            return
        sys.setswitchinterval(self._interval)
        loop.call_soon_threadsafe(loop.stop)
        if thread is not threading.current_thread():
            thread.join(timeout=10)

    def _hold(self, ready: Callable[[], bool]) -> None:
        """Sleep on one condition until ready; the clock never polls."""
        if not ready() and not self._live:
            self._go_live()
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

    def _drive(self, errand: Errand) -> None:
        """Go on with work on this thread as far as it comes without waiting."""
        self._ready.append(errand)
        while self._ready:
            errand = self._ready.popleft()
            self._standing.pop(errand.answer.id, None)
            try:
                errand.pending = errand.work.send(None)
            except StopIteration as end:
                self._settle(errand, end.value, None)
            except Verdict as verdict:
                self._settle(errand, None, verdict)
            except Exception as fault:
                self.stop(fault)
                self._leave()
            else:
                self._stand(errand)

    def _stand(self, errand: Errand) -> None:
        """Leave work standing until the Answer it needs is there, or may be paid for."""
        if isinstance(errand.pending, Answer):
            errand.pending._waiters.append(partial(self._ready.append, errand))
        elif errand.pending is not SHUT:
            errand.work.close()
            raise ProtocolError(f"{errand.answer!r}: an inline backend has suspended")
        self._standing[errand.answer.id] = errand

    def _go_live(self) -> None:
        """Nothing but unknown words is outstanding: pay for them from now on."""
        try:
            self.gateway.open()
        except SocietyError as fault:
            self.stop(fault)
            self._leave()
        self._live = True
        for errand in self._standing.values():
            if isinstance(errand.pending, Answer):
                errand.pending._waiters.clear()
        for errand in self._standing.values():
            self._hand_over(errand)
        self._standing.clear()

    def _hand_over(self, errand: Errand) -> None:
        self._inbox.append(errand)
        if not self._awake:
            self._awake = True
            self._running_loop().call_soon_threadsafe(self._empty_inbox)

    def _settle(self, errand: Errand, value: Any, error: SocietyError | None) -> None:
        errand.answer._settle(value, error)
        if errand.bounded:
            self._count(-1)

    def _count(self, change: int) -> None:
        if self._live:
            with self._gate:
                self._unsettled += change
        else:
            self._unsettled += change

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None and self.gateway.commons is not None:
            self._loop = self.gateway.commons.loop
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
        loop.run_until_complete(self._wind_up())
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()

    async def _wind_up(self) -> None:
        """Let what is paid for come home, and drop the rest."""
        await self.gateway.close(GRACE_SECONDS if self.fault is not None else 0.0)
        left = list(self._tasks)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def _empty_inbox(self) -> None:
        # Cleared first: what is appended from here on either is taken below or wakes us again.
        self._awake = False
        while self._inbox:
            errand = self._inbox.popleft()
            task = asyncio.get_running_loop().create_task(self._answer(errand))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _answer(self, errand: Errand) -> None:
        value: Any = None
        error: SocietyError | None = None
        try:
            value = await on_loop(errand)
        except Verdict as verdict:
            error = verdict
        except Exception as fault:
            self.stop(fault)
            error = Stopped(f"the run was stopped: {fault}")
        self._settle(errand, value, error)
        self._wake_clock()

    def _wake_clock(self) -> None:
        awaited = self._awaited
        if awaited is not None and (self.fault is not None or awaited()):
            with self._gate:
                self._gate.notify_all()
