"""Decides, in pure functions, whether an attempt ends its call, is repeated or stops the run.

The jitter comes from a hash of the call's id; libraries draw it from a global generator.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from virsci_society.agents.config import Part
from virsci_society.agents.errors import Fault, Filtered, InputError, Stopped, Verdict
from virsci_society.agents.journal.records import ANSWERED, CallOutcome
from virsci_society.agents.prompts.request import Reply, Usage

EMPTY_ATTEMPTS = 3
"""After this many empty replies to one request, accept the empty reply; after this many replies
without choices, take the page as filtered."""
UNREACHED = (
    "start the server, correct its address with --set backend.api_base=ADDRESS, or check the "
    "network connection; for a server that starts slowly raise backend.deadlines.connect"
)
"""What a user can do where no server has ever answered."""
_DOUBLINGS = 60


class Retry(Part):
    """How often a failed call is repeated, and after which wait."""

    attempts: int = Field(default=8, ge=1, le=1000)
    """Attempts per call; rate limits do not count."""
    first: float = Field(default=0.5, gt=0, le=3600, allow_inf_nan=False)
    """Seconds before the second attempt; each further wait is twice as long."""
    longest: float = Field(default=30.0, gt=0, le=86_400, allow_inf_nan=False)
    """Longest wait in seconds; waits vary by half."""
    patience: float = Field(default=600.0, ge=0, le=604_800, allow_inf_nan=False)
    """Seconds without any success after which the run stops; also the longest single wait."""

    def delay(self, id: str, number: int, after: float | None) -> float:
        """Seconds to wait before another attempt, no fewer than the provider asks for."""
        spread, late = _uniform_draws(id, number)
        # The exponent has a bound, because rate limits do not count as attempts and a large power
        # of 2.0 overflows.
        planned: float = min(self.longest, self.first * 2.0 ** min(number - 1, _DOUBLINGS))
        seconds = planned * (0.5 + spread)
        if after is not None:
            # Never sooner than the provider says, and a little apart, so that not all calls come
            # back at once.
            seconds = max(seconds, after * (1 + late / 10))
        return min(seconds, self.patience)


def _uniform_draws(id: str, number: int) -> tuple[float, float]:
    """Two numbers in [0, 1), always the same for the same attempt."""
    digest = hashlib.sha256(f"{id}\0{number}".encode("utf-8", "surrogatepass")).digest()
    # 53 bits, which a float holds exactly; 64 could round up to 1.
    first, second = (int.from_bytes(digest[at : at + 8]) >> 11 for at in (0, 8))
    return first / 2**53, second / 2**53


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What follows from how one attempt ended; ``usage`` None: nothing was counted or billed."""

    recorded: str
    outcome: CallOutcome | None = None
    fault: Fault | None = None
    usage: Usage | None = None
    bills_most: bool = False


def conclude(ending: Reply | Verdict | Fault, earlier: Sequence[Fault]) -> Conclusion:
    """What the end of an attempt means for its call, after the faults of earlier attempts."""
    if isinstance(ending, Reply):
        return Conclusion(ANSWERED, CallOutcome.of_reply(ending), usage=ending.usage)
    if isinstance(ending, Verdict):
        verdict = CallOutcome.of_verdict(ending)
        return Conclusion(verdict.kind, verdict, usage=ending.usage)
    kinds = [fault.kind for fault in (*earlier, ending)]
    outcome: CallOutcome | None = None
    if kinds.count("empty") == EMPTY_ATTEMPTS:
        outcome = CallOutcome("answer", "")
    elif kinds.count("withheld") == EMPTY_ATTEMPTS:
        outcome = CallOutcome.of_verdict(Filtered(str(ending)))
    return Conclusion(ending.kind, outcome, ending, ending.usage, ending.cost_unknown)


def wait_after(
    id: str, faults: Sequence[Fault], retry: Retry, silent: float, contact: float | None = None
) -> float:
    """Seconds until a call is attempted again; raises the error by which its run stops.

    ``silent``: seconds since the last answer; ``contact``: most of them before the very first
    answer, None after it.
    """
    fault = faults[-1]
    # Rate limits and empty answers have bounds of their own: patience, EMPTY_ATTEMPTS. A schema is
    # sent no more once it was refused.
    failed = sum(earlier.kind not in ("rate", "empty", "withheld", "schema") for earlier in faults)
    if contact is not None and not (fault.rule.retryable or fault.sent):
        # Refused by the library on this machine: the same command could never continue.
        raise InputError(f"backend.model: {fault}; {fault.advice}")
    if not fault.rule.retryable:
        why = ""
    elif failed >= retry.attempts:
        why = f"; {failed} attempts at {id} have failed"
    elif silent >= retry.patience:
        why = f"; nothing has been answered for {silent:.0f} seconds"
    else:
        delay = retry.delay(id, len(faults), fault.retry_after)
        # A request that was sent may be with a slow model; one that was not meets no server.
        if contact is None or fault.sent or silent + delay <= contact:
            return delay
        raise Stopped(f"{fault}; no call of this run was ever answered; {UNREACHED}")
    raise Stopped(f"{fault}{why}; {fault.advice}")
