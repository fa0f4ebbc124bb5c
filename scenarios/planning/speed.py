"""How fast a model reads prompts and writes replies, alone and with several calls at a time."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic

from virsci_society.agents.backends.context_window import read_window
from virsci_society.agents.backends.http import ChatCompletionsBackend
from virsci_society.agents.errors import Fault, SocietyError, Verdict
from virsci_society.agents.gateway.backend import Endpoint
from virsci_society.agents.loop_thread import PatientLoop
from virsci_society.agents.prompts.request import (
    Message,
    Request,
    Usage,
    estimate_tokens,
    total_characters,
    trim_messages,
)

SHORT = 16
"""Tokens to which a reply is limited where its length does not matter."""
AT_A_TIME = 4
"""Most calls at a time that are compared with one alone."""
SECONDS = 60.0
"""Most real seconds for which a plan asks a server on this machine."""
CHARACTERS = 1200
"""Of the prompts by which a plan asks it, and of calls that are not timed."""
LONG_ENOUGH = 0.2
"""Seconds of a call from which several at a time are compared: of shorter ones our own are much."""
LLAMA = ("llama.cpp", "the weights")
"""Servers that state their times, by ``ContextWindow.server``."""


@dataclass(frozen=True, slots=True)
class Speed:
    """Tokens read and written in a second by one call; ``calls`` at a time bring ``gain`` times."""

    prompt: float
    reply: float
    source: str
    calls: int = 1
    gain: float = 1.0

    def gain_of(self, calls: int) -> float:
        """The same gain of another number of calls at a time, as far as it is known."""
        # A server that four calls hardly slow down is assumed to have room for more.
        grows = self.gain > 0.8 * self.calls
        return max(1.0, calls * self.gain / self.calls if grows else min(calls, self.gain))


ASSUMED = Speed(1000.0, 50.0, "assumed")


@dataclass(frozen=True, slots=True)
class TimedCall:
    """The seconds and tokens of one call; ``stated``: tokens a second, as the server reports."""

    seconds: float
    usage: Usage
    stated: tuple[float, float] | None


def unlike(question: Request) -> Request:
    """The same question with another beginning, which no server has in its cache."""
    first, *rest = question.messages
    mark = secrets.token_hex(4)
    changed = Message(first.role, f"({mark}) {first.content}")
    return replace(question, id=f"{question.id}/{mark}", messages=(changed, *rest))


async def warm_up(paid: ChatCompletionsBackend, question: Request) -> None:
    """Make a short call that is not timed: libraries are imported, the server loads the model."""
    brief = replace(question, messages=trim_messages(question.messages, CHARACTERS))
    await _time_short(paid.model_copy(update={"max_tokens": SHORT}).endpoint(), brief)


async def _time_short(endpoint: Endpoint, question: Request) -> TimedCall:
    """Time a reply that is cut to ``SHORT`` tokens, which may end before its first word."""
    began = monotonic()
    try:
        reply = await endpoint.complete(unlike(question))
    except (Verdict, Fault) as error:
        if isinstance(error, Fault) and error.kind != "empty":
            raise
        asked = estimate_tokens(total_characters(question.messages))
        usage = error.usage or Usage(asked, SHORT, estimated=True)
        return TimedCall(monotonic() - began, usage, None)
    return TimedCall(monotonic() - began, reply.usage, reply.speed)


async def measure_speed(
    paid: ChatCompletionsBackend, question: Request, whole: TimedCall | None, calls: int
) -> tuple[Speed, int]:
    """The speed, and the tokens of a reply that was limited to ``SHORT``; ``whole`` was not."""
    time_one = partial(
        _time_short, paid.model_copy(update={"max_tokens": SHORT}).endpoint(), question
    )
    brief, gain = await time_one(), 1.0
    calls = min(calls, AT_A_TIME) if brief.seconds >= LONG_ENOUGH else 1
    if calls > 1:
        began = monotonic()
        await asyncio.gather(*(time_one() for _ in range(calls)))
        gain = calls * brief.seconds / (monotonic() - began)
    whole, limited = whole or brief, brief.usage.completion_tokens
    if stated := whole.stated or brief.stated:
        return Speed(*stated, "reported by the server", calls, gain), limited
    # seconds = prompt tokens / reading + reply tokens / writing, twice.
    more = whole.usage.completion_tokens - limited
    # Times differ by chance: writing and reading take at least a twentieth of a call.
    later = max(whole.seconds - brief.seconds, whole.seconds / 20)
    if more <= 0:
        more, later = max(1, whole.usage.completion_tokens), whole.seconds
    fresh = max(1, brief.usage.prompt_tokens - brief.usage.cached_tokens)
    reading = max(brief.seconds - limited * later / more, brief.seconds / 20)
    return Speed(fresh / reading, more / later, "measured", calls, gain), limited


def speed_text(speed: Speed) -> str:
    """Tokens a second, their source, and the gain of several calls at a time, in one line."""
    text = (
        f"speed: {speed.prompt:,.0f} tokens of a prompt read and {speed.reply:,.0f} of a reply "
        f"written in a second ({speed.source})"
    )
    if speed.calls > 1:
        text += (
            f"; {speed.calls} concurrent calls give {speed.gain:.2g} times the throughput of one"
        )
    return text


def duration(seconds: float) -> str:
    """A length of real time, to two digits or so."""
    for unit, length in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:,.3g} {unit}"
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"


def speed_of(paid: ChatCompletionsBackend, question: Request | None, in_flight: int) -> Speed:
    """The speed of a model: stated in the scenario, measured of llama.cpp here, or assumed."""
    if paid.tokens_per_second is not None:
        return Speed(*paid.tokens_per_second, "backend.tokens_per_second")
    if question is None or not paid.free or read_window(paid).server not in LLAMA:
        return ASSUMED
    brief = replace(question, messages=trim_messages(question.messages, CHARACTERS))

    async def ask() -> Speed:
        try:
            async with asyncio.timeout(SECONDS):
                await warm_up(paid, brief)
                return (await measure_speed(paid, brief, None, in_flight))[0]
        except (TimeoutError, SocietyError):
            return ASSUMED
        finally:
            await paid.close()

    known = (paid.endpoint_settings.name, paid.model)
    if known not in _MEASURED:
        with asyncio.Runner(loop_factory=PatientLoop) as runner:
            _MEASURED[known] = runner.run(ask())
    return _MEASURED[known]


_MEASURED: dict[tuple[str, str], Speed] = {}
"""By address and model, for the arms of a study."""
