"""How fast a model reads prompts and writes replies, alone and with several calls at a time.

Questions of one form are compared that begin with other words, so that no cache of the server
takes part. llama.cpp states its own times; those of other servers follow from a whole reply and a
short one.
"""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass, replace
from time import monotonic

from virsci_society.agents.backends.context_window import read_window
from virsci_society.agents.backends.http import ChatCompletionsBackend
from virsci_society.agents.errors import Fault, SocietyError, Verdict
from virsci_society.agents.gateway.backend import Endpoint
from virsci_society.agents.loop_thread import PatientLoop
from virsci_society.agents.prompts.request import Message, Request, Usage, trim_messages

SHORT = 16
"""Tokens to which a reply is limited where its length does not matter."""
AT_A_TIME = 4
"""Most calls at a time that are compared with one alone."""
SECONDS = 60.0
"""Most real seconds for which a plan asks a server on this machine."""
CHARACTERS = 1200
"""Of the prompts by which a plan asks it."""
LLAMA = ("llama.cpp", "the weights")
"""Servers that state their times, by ``ContextWindow.server``."""


@dataclass(frozen=True, slots=True)
class Speed:
    """Tokens a second of one call alone.

    Attributes:
        prompt: tokens of a prompt that are read in a second.
        reply: tokens of a reply that are written in a second.
        source: who says so.
        calls: calls at a time that were compared with one alone.
        gain: how many times as many tokens a second they bring together.
    """

    prompt: float
    reply: float
    source: str
    calls: int = 1
    gain: float = 1.0

    def seconds(self, prompt: float, reply: float) -> float:
        """Seconds of a call alone, of so many tokens."""
        return prompt / self.prompt + reply / self.reply

    def gain_of(self, calls: int) -> float:
        """How many times as much as one alone so many calls at a time bring, as far as is known."""
        # A server that four calls do not slow down is taken to have room for more.
        return max(1.0, calls * self.gain / self.calls if self.grows else min(calls, self.gain))

    @property
    def grows(self) -> bool:
        """True if several calls at a time are hardly slower than one."""
        return self.gain > 0.8 * self.calls


ASSUMED = Speed(1000.0, 50.0, "assumed")


@dataclass(frozen=True, slots=True)
class TimedCall:
    """The seconds and tokens of one call; ``stated``: tokens a second, by the server's own word."""

    seconds: float
    usage: Usage
    stated: tuple[float, float] | None


def unlike(question: Request) -> Request:
    """The same question with another beginning, which no server has in its cache."""
    first, *rest = question.messages
    mark = secrets.token_hex(4)
    changed = Message(first.role, f"({mark}) {first.content}")
    return replace(question, id=f"{question.id}/{mark}", messages=(changed, *rest))


async def time_call(endpoint: Endpoint, question: Request) -> TimedCall:
    """Make a call, and take its time, also where its reply is no answer."""
    began = monotonic()
    try:
        reply = await endpoint.complete(question)
    except (Verdict, Fault) as error:
        if error.usage is None:
            raise
        return TimedCall(monotonic() - began, error.usage, None)
    return TimedCall(monotonic() - began, reply.usage, reply.speed)


async def measure_speed(
    paid: ChatCompletionsBackend, question: Request, whole: TimedCall | None, calls: int
) -> tuple[Speed, TimedCall]:
    """Measure how fast a model reads and writes; also returns a reply limited to ``SHORT`` tokens.

    Args:
        whole: the call of such a question with its whole reply; None: it is not made.
        calls: calls at a time that are compared with one alone.
    """
    endpoint = paid.model_copy(update={"max_tokens": SHORT}).endpoint()
    brief = await time_call(endpoint, unlike(question))
    gain, calls = 1.0, min(calls, AT_A_TIME)
    if calls > 1:
        began = monotonic()
        await asyncio.gather(*(time_call(endpoint, unlike(question)) for _ in range(calls)))
        gain = calls * brief.seconds / (monotonic() - began)
    prompt, reply, source = rates(brief if whole is None else whole, brief)
    return Speed(prompt, reply, source, calls, gain), brief


def rates(whole: TimedCall, brief: TimedCall) -> tuple[float, float, str]:
    """Tokens read and written a second, and who says so."""
    stated = whole.stated or brief.stated
    if stated is not None:
        return *stated, "the server says"
    # seconds = prompt tokens / reading + reply tokens / writing, twice.
    more = whole.usage.completion_tokens - brief.usage.completion_tokens
    later = whole.seconds - brief.seconds
    if more <= 0 or later <= 0:
        more, later = max(1, whole.usage.completion_tokens), whole.seconds
    writing = more / later
    reading = brief.seconds - brief.usage.completion_tokens / writing
    fresh = brief.usage.prompt_tokens - brief.usage.cached_tokens
    # Times differ by chance: reading takes at least a twentieth of the shorter call.
    return max(1, fresh) / max(reading, brief.seconds / 20), writing, "measured"


def speed_text(speed: Speed) -> str:
    """Tokens a second, who says so, and what calls at a time bring, in one line."""
    text = (
        f"speed: {speed.prompt:,.0f} tokens of a prompt read and {speed.reply:,.0f} of a reply "
        f"written in a second ({speed.source})"
    )
    if speed.calls > 1:
        text += f"; {speed.calls} calls at a time bring {speed.gain:.2g} times as many as one"
    return text


def duration(seconds: float) -> str:
    """A length of real time, to two digits or so."""
    for unit, length in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:,.3g} {unit}"
    return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"


def round_up(seconds: float) -> int:
    """The next of 30, 60, 120, 300, 600, 1200, ... seconds."""
    steps = (factor * 10**power for power in range(1, 7) for factor in (3, 6, 12))
    return next((step for step in steps if step >= seconds), 604_800)


def speed_of(paid: ChatCompletionsBackend, question: Request | None, in_flight: int) -> Speed:
    """How fast a model is: as the scenario states, as llama.cpp on this machine says, or assumed.

    Of llama.cpp on this machine, whose calls cost nothing, some short questions are asked.
    """
    if paid.tokens_per_second is not None:
        return Speed(*paid.tokens_per_second, "backend.tokens_per_second")
    if question is None or not paid.free or read_window(paid).server not in LLAMA:
        return ASSUMED
    known = (paid.endpoint_settings.name, paid.model)
    if known not in _ASKED:
        _ASKED[known] = _ask(paid, question, in_flight)
    return _ASKED[known]


_ASKED: dict[tuple[str, str], Speed] = {}
"""Of each address and model, for the arms of a study."""


def _ask(paid: ChatCompletionsBackend, question: Request, in_flight: int) -> Speed:
    brief = replace(question, messages=trim_messages(question.messages, CHARACTERS))

    async def ask() -> Speed:
        try:
            async with asyncio.timeout(SECONDS):
                return (await measure_speed(paid, brief, None, in_flight))[0]
        except (TimeoutError, SocietyError):
            return ASSUMED
        finally:
            await paid.close()

    with asyncio.Runner(loop_factory=PatientLoop) as runner:
        return runner.run(ask())
