"""Plan: how the server behaves, and what it draws for one attempt at a call."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from tests.faultserver.kinds import EMPTY, KINDS

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=0, le=600, allow_inf_nan=False)]


class Plan(BaseModel):
    """Behaviour of the server; every draw is a hash of ``seed``, the call id and what is drawn.

    Attributes:
        seed: of all draws.
        latency: mean seconds before any answer.
        latency_kind: always the mean, or exponentially distributed.
        rates: probability of each kind of fault, by its name in ``KINDS``.
        streak: most faults on the way in a row at one call id; then one attempt is spared.
        from_n: faults on the way happen after so many requests since the last reset.
        until_n: and up to this one; None: without end. Both go by the order of arrival.
        wordy: times as long as the offline scientist's are texts of five words and more.
        accept: share of the accepted invitations that stay accepted.
        reask: share of the first askings whose words cannot be read; a re-ask is answered well.
        slow_seconds: lateness of ``slow``.
        stalled_seconds: patience of ``stalled``, at most 60.
        retry_after: seconds in the header of ``rate_limited``.
        plays: the server whose pages and context window are played (``windows.py``).
        window: tokens of its context window; None: 4,096. For an Ollama, that of the model's file.
        trained: tokens of the window that the model of a played Ollama was made for.
        refuses: a played Ollama knows ``truncate`` and ``shift`` (releases since 0.12.6).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    seed: int = 0
    latency: Seconds = 0.0
    latency_kind: Literal["fixed", "exponential"] = "fixed"
    rates: dict[str, Share] = Field(default_factory=dict)
    streak: int = Field(default=3, ge=0)
    from_n: int = Field(default=0, ge=0)
    until_n: int | None = Field(default=None, ge=0)
    wordy: float = Field(default=1.0, ge=1, le=1000)
    accept: Share = 1.0
    reask: Share = 0.0
    slow_seconds: Seconds = 1.0
    stalled_seconds: float = Field(default=60.0, ge=0, le=60)
    retry_after: Seconds = 0.05
    plays: Literal["openai", "ollama", "vllm", "llama.cpp"] = "openai"
    window: int | None = Field(default=None, ge=1)
    trained: int = Field(default=131_072, ge=1)
    refuses: bool = True

    @field_validator("rates")
    @classmethod
    def _known(cls, rates: dict[str, float]) -> dict[str, float]:
        for kind in rates:
            if kind not in KINDS:
                raise ValueError(f"no fault is called {kind!r}; there are {', '.join(KINDS)}")
        return rates

    def delay(self, call: str, attempt: int) -> float:
        """Seconds to wait before this attempt is answered."""
        if self.latency_kind == "fixed" or self.latency == 0.0:
            return self.latency
        return -self.latency * math.log(1.0 - chance(self.seed, call, attempt, "latency"))

    def draw(self, call: str, attempt: int, *, spared: bool = False) -> Drawn:
        """What goes wrong with this attempt; a ``spared`` one meets no fault on the way.

        The kinds of one group are drawn independently; of several that hit, the one that hit
        deepest is taken.
        """

        def first(of_group: Callable[[str], bool], *place: object) -> str | None:
            return self._deepest(filter(of_group, self.rates), call, *place)

        way = None if spared else first(lambda kind: KINDS[kind].each, attempt)
        usage = first(lambda kind: KINDS[kind].sort == "usage")
        words = first(lambda kind: not KINDS[kind].each and KINDS[kind].sort != "usage")
        return Drawn(way, words, usage)

    def happens(self, rate: float, what: str, call: str) -> bool:
        """One draw for a call; ``what`` names it."""
        return chance(self.seed, call, what) < rate

    def _deepest(self, kinds: Iterable[str], *place: object) -> str | None:
        hits = []
        for kind in kinds:
            drawn, rate = chance(self.seed, *place, kind), self.rates[kind]
            if drawn < rate:
                hits.append((drawn / rate, kind))
        return min(hits)[1] if hits else None


@dataclass(frozen=True, slots=True)
class Drawn:
    """What goes wrong with one attempt: on the way, with the words, with the count of tokens."""

    way: str | None = None
    words: str | None = None
    usage: str | None = None

    @property
    def met(self) -> tuple[str, ...]:
        """The kinds that the client can see: one on the way hides what was not sent for it."""
        kinds: tuple[str | None, ...] = (self.way,)
        if self.way in (None, "slow"):
            kinds = (self.way, self.words, self.usage)
            if self.words == "overflow":
                kinds = (self.way, self.words)
        elif self.way in EMPTY:
            kinds = (self.way, self.usage)
        return tuple(kind for kind in kinds if kind is not None)


def chance(*place: object) -> float:
    """A number in [0, 1) that is the same for the same place, everywhere."""
    body = "\x1f".join(map(str, place)).encode("utf-8", "surrogatepass")
    return (int.from_bytes(hashlib.blake2b(body, digest_size=8).digest()) >> 11) / 2.0**53
