"""How the server behaves, every kind of fault, and what is drawn for one attempt at a call."""

from __future__ import annotations

import hashlib
import math
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, field_validator


class Kind(NamedTuple):
    """One way of not answering well, drawn for ``each`` attempt at a call or once for its words."""

    sort: str
    each: bool = False
    kept: bool = True


_WAY = Kind("transport", each=True, kept=False)
KINDS = {
    "slow": Kind("transport", each=True),  # the answer, ``slow_seconds`` late
    "stalled": _WAY,  # nothing, until the client gives up or ``stalled_seconds`` have passed
    "cut_body": _WAY,  # 200, and the connection closed in the middle of the body
    "dropped": _WAY,  # the connection closed before any answer
    "malformed_http": _WAY,  # 200 with a body that is no JSON
    "no_choices": _WAY,  # 200 with an empty list of choices
    "null_content": _WAY,  # 200 with null for the words
    "empty_content": _WAY,  # 200 with empty words
    "unauthorised": _WAY,  # 401, as for a wrong key
    "forbidden": _WAY,  # 403
    "not_found": _WAY,  # 404, as for a model that does not exist
    "quota": _WAY,  # 429 with the code insufficient_quota
    "rate_limited": _WAY,  # 429 with Retry-After: ``retry_after`` seconds
    "rate_limited_bare": _WAY,  # 429 that does not say when to come back
    "server_error": _WAY,  # 500
    "bad_gateway": _WAY,  # 502 with a page of HTML
    "unavailable": _WAY,  # 503
    "refusal": Kind("verdict"),  # 200 with a refusal and null for the words
    "content_filter": Kind("verdict"),  # 200 with finish_reason content_filter and no words
    "overflow": Kind("verdict"),  # 400 with the code context_length_exceeded
    "length": Kind("words"),  # 200 with finish_reason length, the words cut in the middle
    "malformed_reply": Kind("words"),  # 200 with words that hold no JSON
    "prose_reply": Kind("words"),  # 200 with the right JSON fenced inside prose
    "missing_usage": Kind("usage"),  # the answer without usage
    "zero_usage": Kind("usage"),  # the answer with a usage of zero tokens
    "wrong_usage": Kind("usage"),  # the answer with negative, textual or enormous counts
    "echo_key": Kind("secret", each=True, kept=False),  # 500 that repeats the key
    "echo_key_200": Kind("secret"),  # the answer with the key in its words
}
"""Every kind of fault, by the name that ``Plan.rates`` uses, and what the client sees of it."""
EMPTY = ("no_choices", "null_content", "empty_content")
"""Those that are completions without words; they have usage."""

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=0, le=600, allow_inf_nan=False)]


class Plan(BaseModel):
    """Behaviour of the server; every draw is a hash of ``seed``, the call id and what is drawn."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seed: int = 0  # of all draws
    latency: Seconds = 0.0  # mean, before any answer
    latency_kind: Literal["fixed", "exponential"] = "fixed"
    rates: dict[str, Share] = Field(default_factory=dict)  # by kind
    streak: int = Field(default=3, ge=0)  # most faults on the way in a row at one call
    from_n: int = Field(default=0, ge=0)  # these happen after so many requests
    reask: Share = 0.0  # share of first askings whose words cannot be read
    slow_seconds: Seconds = 1.0
    stalled_seconds: float = Field(default=60.0, ge=0, le=60)
    retry_after: Seconds = 0.05
    plays: Literal["openai", "ollama", "vllm", "llama.cpp"] = "openai"
    window: int | None = Field(default=None, ge=1)  # tokens; None: 4,096
    trained: int = Field(default=131_072, ge=1)  # window that an Ollama's model was made for

    @field_validator("rates")
    @classmethod
    def _known(cls, rates):
        for kind in rates:
            if kind not in KINDS:
                raise ValueError(f"no fault is called {kind!r}; there are {', '.join(KINDS)}")
        return rates

    def delay(self, call, attempt):
        """Seconds to wait before this attempt is answered."""
        if self.latency_kind == "fixed" or self.latency == 0.0:
            return self.latency
        return -self.latency * math.log(1.0 - chance(self.seed, call, attempt, "latency"))

    def draw(self, call, attempt, *, spared=False):
        """What goes wrong with this attempt; a ``spared`` one meets no fault on the way."""

        def first(of_group, *place):
            # The kinds of a group are drawn independently, and the one that hit deepest is taken.
            hits = []
            for kind, rate in self.rates.items():
                if of_group(KINDS[kind]) and (drawn := chance(self.seed, *place, kind)) < rate:
                    hits.append((drawn / rate, kind))
            return min(hits)[1] if hits else None

        way = None if spared else first(lambda kind: kind.each, call, attempt)
        usage = first(lambda kind: kind.sort == "usage", call)
        words = first(lambda kind: not kind.each and kind.sort != "usage", call)
        return Drawn(way, words, usage)

    def happens(self, rate, what, call):
        """One draw for a call; ``what`` names it."""
        return chance(self.seed, call, what) < rate


class Drawn(NamedTuple):
    """What goes wrong with one attempt: on the way, with the words, with the count of tokens."""

    way: str | None = None
    words: str | None = None
    usage: str | None = None

    @property
    def met(self):
        """The kinds that the client can see: one on the way hides what was not sent for it."""
        kinds = [self.way]
        if self.way in (None, "slow"):
            kinds += [self.words, None if self.words == "overflow" else self.usage]
        elif self.way in EMPTY:
            kinds += [self.usage]
        return [kind for kind in kinds if kind is not None]


def chance(*place):
    """A number in [0, 1) that is the same for the same place, everywhere."""
    body = "\x1f".join(map(str, place)).encode("utf-8", "surrogatepass")
    return (int.from_bytes(hashlib.blake2b(body, digest_size=8).digest()) >> 11) / 2.0**53
