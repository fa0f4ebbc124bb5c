"""Answers each request of a run from the journal, or by a paid call to a backend."""

from __future__ import annotations

import asyncio
import types
from collections import Counter
from collections.abc import Generator
from functools import cached_property
from typing import Any

from pydantic import Field

from virsci_society.agents.config import Part
from virsci_society.agents.errors import Diverged, Fault, Stopped, Verdict
from virsci_society.agents.gateway.attempt import Attempts
from virsci_society.agents.gateway.backend import Backend
from virsci_society.agents.gateway.budget import Budget, BudgetAccount
from virsci_society.agents.gateway.retry import Retry, wait_after
from virsci_society.agents.gateway.slots import SharedEndpoint, SlotPool
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.journal.records import CallOutcome, storable
from virsci_society.agents.prompts.request import Reply, Request
from virsci_society.agents.redaction import redact
from virsci_society.agents.replies.text_checks import SHOWS_THE_FORM, WARN_AT
from virsci_society.agents.spelling import plain_line

EXAMPLES = 3
"""Replies that the message shows."""
SHOWN = 160
"""Characters of each."""
COPIED, UNUSABLE = "copied the form", "unusable"
"""Counts of answers, as named in progress lines."""


class Unreadable(Part):
    """When unusable replies stop a run."""

    stop_at: float = Field(default=0.2, ge=0, le=1, allow_inf_nan=False)
    """Stop if more than this share of all replies, or of one form's, is unusable; 1: never."""
    after: int = Field(default=20, ge=1, le=1_000_000)
    """Replies before the share counts; a quarter as many if a form was never readable."""


class ReadabilityWatch:
    """Counts the answers of a run that could not be used, those from its journal included."""

    def __init__(self, bounds: Unreadable, advice: str) -> None:
        self._bounds, self._advice = bounds, advice
        self.hints: Counter[str] = Counter()
        """What a user can do, for answers that could not be used for a known cause."""
        self._asked: Counter[str] = Counter()
        self._unusable: Counter[str] = Counter()
        self._echoed = 0
        self._examples: dict[str, list[str]] = {}

    def record(
        self,
        form: str,
        reply: str | None,
        *,
        echoed: bool = False,
        may_stop: bool = True,
        hint: str = "",
    ) -> None:
        """Count one answer to a form; ``reply``: the text of an unusable one."""
        self._asked[form] += 1
        self._echoed += echoed
        if reply is None:
            return
        self._unusable[form] += 1
        self.hints.update([hint] if hint else [])
        examples = self._examples.setdefault(form, [])
        if len(examples) < EXAMPLES:
            # Secrets go before the cut: half of one would not be recognised.
            examples.append(plain_line(redact(reply[:100_000]))[:SHOWN] or "(no text)")
        if may_stop and self._exceeds(form):
            raise Stopped(self._message(form))

    @property
    def marks(self) -> dict[str, str]:
        """Problems of over a twentieth of the answers, with counts; safe from any thread."""
        asked = self._asked.total()
        counts = {COPIED: self._echoed, UNUSABLE: self._unusable.total()}
        return {
            what: f"{count:,} of {asked:,} {what}"
            for what, count in counts.items()
            if count > WARN_AT * asked
        }

    @property
    def warnings(self) -> dict[str, str]:
        """A sentence for each of these problems; safe from any thread."""
        asked, unusable = self._asked.total(), self._unusable.total()
        warnings, marks = {}, self.marks
        if COPIED in marks:
            warnings[COPIED] = (
                f"{SHOWS_THE_FORM}: {self._echoed:,} of {asked:,} answers copied the form"
            )
        if UNUSABLE in marks:
            # Of tuples, not by a function: another thread may add a form meanwhile.
            _, worst = max(zip(self._unusable.values(), self._unusable, strict=False))
            warnings[UNUSABLE] = (
                f"{unusable:,} of {asked:,} answers could not be used, most often {worst}; "
                "defaults replace them"
            )
        return warnings

    def _exceeds(self, form: str) -> bool:
        asked, unusable = self._asked[form], self._unusable[form]
        least, most = self._bounds.after, self._bounds.stop_at
        if most < 1 and asked == unusable >= max(1, least // 4):
            return True
        total = self._asked.total()
        of_form = asked >= least and unusable > most * asked
        return of_form or (total >= least and self._unusable.total() > most * total)

    def _message(self, form: str) -> str:
        examples = "".join(f"\n  - {text}" for text in self._examples[form])
        advice = max(self.hints, key=lambda hint: (self.hints[hint], hint), default=self._advice)
        return (
            f"{self._unusable.total()} of {self._asked.total()} answers could not be used, and "
            f"{self._unusable[form]} of {self._asked[form]} of the form {form}"
            f"{f'; {self._echoed} repeated the text of the form' if self._echoed else ''}. "
            f"Examples:{examples}\n"
            f"{advice[0].upper()}{advice[1:]}. Another model or request begins a new run (--out "
            f"NEW); to resume this one with its defaults: --set backend.unreadable.stop_at=1"
        )


GATEWAY_CLOSED = object()
"""Yielded by a request while paid calls are not allowed yet."""


@types.coroutine
def _until_open() -> Generator[Any, Any, None]:
    """Suspend the coroutine once, with ``GATEWAY_CLOSED``, until the dispatcher resumes it."""
    yield GATEWAY_CLOSED


class Gateway:
    """Answers the requests of one run by one backend, on one loop thread."""

    def __init__(
        self,
        backend: Backend,
        in_flight: int,
        journal: Journal | None = None,
        *,
        retry: Retry | None = None,
        budget: Budget | None = None,
        strict: bool = False,
        shared: SharedEndpoint | None = None,
        unreadable: Unreadable | None = None,
    ) -> None:
        advice = backend.unreadable_advice
        # A replay repeats what has happened, so nothing stops it.
        self.readability = ReadabilityWatch(unreadable or Unreadable(), advice)
        self._watches_rules = unreadable is not None
        self.shared, self._ended = shared, False
        self.backend, self.in_flight = backend, in_flight
        self.inline = backend.inline
        if journal is None and not self.inline:
            journal = Journal(None)
        self.journal = journal
        self.strict = strict
        self.shut = strict or not (journal is None or journal.is_empty)
        # What this session stores itself is never asked for again, so an empty journal is not read.
        self._lookup = journal is not None and not journal.is_empty
        self._retry, self._budget = retry or Retry(), budget or Budget()
        self._unknown: tuple[float, str] | None = None
        self._attempts: Attempts | None = None
        self._answered, self._trouble = 0, ""

    @property
    def waiting(self) -> int:
        """Number of requests that wait for a slot."""
        return 0 if self._attempts is None else self._attempts.pool.waiting

    @property
    def under_way(self) -> int:
        """Number of requests that have been sent and not answered."""
        return 0 if self._attempts is None else len(self._attempts.under_way)

    @property
    def spent(self) -> tuple[int, float]:
        """Tokens and US dollars of the attempts of this session that have ended."""
        attempts = self._attempts
        return (0, 0.0) if attempts is None else (attempts.tokens, attempts.usd)

    def status_line(self) -> str:
        """One line on the calls of this session; safe from any thread."""
        line = f"calls: {self._answered:,} answered, {self.under_way} under way"
        if self.waiting:
            line += f", {self.waiting:,} waiting for a slot"
        return "; ".join(filter(None, (line, self._trouble, *self.readability.marks.values())))

    async def complete(self, request: Request) -> Reply:
        """Answer one request from the journal or by the backend."""
        backend = self.backend.backend_for(request.id, request.who.id)
        outcome = self._replay(request, backend.inline)
        # The past of a fork is its parent's, and no call may be added to it (rule 23).
        if outcome is None and self.journal is not None and request.asked < self.journal.fork_date:
            self._compare()
            raise Diverged(_never_made((request.asked, request.id)))
        # Before the gate: an inline backend costs nothing, so it answers also while nothing may be
        # paid.
        if outcome is None and backend.inline:
            return await self._complete_inline(request, backend)
        if outcome is None and self.shut:
            # The smallest, so that the message names the same call in every run (rule 22).
            call = (request.asked, request.id)
            self._unknown = call if self._unknown is None else min(self._unknown, call)
            await _until_open()
        if outcome is None:
            outcome = await self._ask(request)
        return outcome.reply()

    def record_reading(
        self, form: str, reply: str | None, *, live: bool, echoed: bool = False, hint: str = ""
    ) -> None:
        """Count an answer that was parsed, or an unusable one."""
        if live or self._watches_rules:
            # A replay stops for nothing: its replies are what they are.
            may_stop = not self.strict
            self.readability.record(form, reply, echoed=echoed, may_stop=may_stop, hint=hint)

    def open(self) -> None:
        """Begin to pay for requests that the journal does not hold, if the run has not diverged."""
        self._compare()
        if self.strict and self._unknown is not None:
            raise Diverged(_never_made(self._unknown))
        self.shut = False

    def finish(self, until: float) -> None:
        """Check that a run finished on a day has requested every earlier call of its journal."""
        self._compare()
        if self.journal is None:
            return
        call = self.journal.first_unrequested(until)
        if call is not None:
            raise Diverged(
                f"the call {call} was made before and is no longer made: scenario, "
                f"prompts or code have changed; {_ADVICE}"
            )

    async def close(self, grace: float = 0.0) -> None:
        """Start no further attempt, wait ``grace`` seconds for others, close an own backend."""
        self._ended, attempts = True, self._attempts
        if attempts is not None:
            # A shared pool serves other runs too; there ``ended`` turns this run's requests away.
            attempts.ended = True
            if self.shared is None:
                attempts.pool.close(Stopped("the run was stopped"))
            # What has been sent is paid for, so its answers are worth a short wait.
            if attempts.under_way and grace > 0:
                await asyncio.wait(attempts.under_way, timeout=grace)
        if self.shared is None:
            await self.backend.close()

    def _replay(self, request: Request, inline: bool) -> CallOutcome | None:
        """The outcome that the journal holds for a request; None if it holds none."""
        if not self._lookup or self.journal is None:
            return None
        outcome = self.journal.lookup_call(request)
        # While the gateway is shut the comparison waits for ``open``, when all known calls have
        # been asked for and the smallest mismatch is known (rule 22).
        if outcome is None and (inline or not self.shut):
            self._compare()
        return outcome

    def _compare(self) -> None:
        """Raise Diverged if any request of this session differs from the journal."""
        mismatch = None if self.journal is None else self.journal.first_mismatch
        if mismatch is not None:
            raise Diverged(
                f"the call {mismatch[1]} of day {mismatch[0]:g} was made before with other "
                f"words: its prompt, the model or its settings have changed; {_ADVICE}"
            )

    async def _complete_inline(self, request: Request, backend: Backend) -> Reply:
        """Ask a backend that never suspends and costs nothing."""
        if self.strict:
            raise Diverged(_never_made((request.asked, request.id)))
        try:
            outcome = CallOutcome.of_reply(await backend.complete(request))
        except Verdict as verdict:
            outcome = CallOutcome.of_verdict(verdict)
        if self.journal is not None:
            self.journal.store_outcome(request, outcome)
        return outcome.reply()

    async def _ask(self, request: Request) -> CallOutcome:
        """Make attempts until one settles the call, or raise Stopped."""
        faults: list[Fault] = []
        while True:
            result = await self._attempt_maker.make(request, faults)
            if isinstance(result, CallOutcome):
                self._answered, self._trouble = self._answered + 1, ""
                if faults and not result.text:
                    self.readability.hints[str(faults[-1])] += 1
                return result
            faults.append(result)
            pool = self._attempt_maker.pool
            silent = pool.seconds_since_success()
            wait = wait_after(request.id, faults, self._retry, silent, pool.contact)
            self._trouble = f"trouble: {storable(str(result))[:200]}; again in {wait:.0f} s"
            await asyncio.sleep(wait)

    @cached_property
    def _attempt_maker(self) -> Attempts:
        """What makes attempts; made at the first paid call, on the loop."""
        if self.journal is None:
            self.journal = Journal(None)
        if self.shared is not None:
            pool = self.shared.pool
        else:
            endpoint, patience = self.backend.endpoint(), self._retry.patience
            pool = SlotPool(endpoint, self.in_flight, patience=patience)
        spending = self.journal.totals().spending
        account = BudgetAccount(self._budget, spending)
        if spending.calls:
            # Answered in an earlier session of this run: the server is known to be there.
            pool.reached = True
        self._attempts = attempts = Attempts(
            self.backend, pool, self.journal, account, pool_is_own=self.shared is None
        )
        # Closed before its first paid call, it makes none any more.
        attempts.ended = self._ended
        return attempts


_ADVICE = "resume it with the original settings, or start a new run with --out NEW"


def _never_made(call: tuple[float, str]) -> str:
    """The message for a call, given by date and id, that a replay does not hold."""
    return (
        f"the call {call[1]} of day {call[0]:g} was never made by the run of this journal: "
        f"scenario, prompts or code have changed, or the run was not finished; {_ADVICE}"
    )
