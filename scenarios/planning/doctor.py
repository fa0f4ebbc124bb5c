"""Checks of the installation and of the model of a scenario, each with advice.

Nothing is written. A scenario of rule-based scientists makes no connection; that of a language
model costs some ten calls.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import metadata
from time import monotonic
from urllib.parse import urlsplit

from virsci_society._installation import changed_files
from virsci_society.agents.backends.http import ChatCompletionsBackend
from virsci_society.agents.backends.http_client import probe, route_to
from virsci_society.agents.errors import (
    Fault,
    InputError,
    ReplyError,
    SocietyError,
    UnfitReply,
    Verdict,
)
from virsci_society.agents.gateway.backend import Backend, Endpoint
from virsci_society.agents.lazy_imports import install_line
from virsci_society.agents.loop_thread import PatientLoop
from virsci_society.agents.offline.backend import Offline
from virsci_society.agents.prompts.request import Reply, Request, estimate_tokens, reask_messages
from virsci_society.agents.redaction import redact
from virsci_society.agents.replies.parser import read_reply
from virsci_society.agents.replies.text_checks import SHOWS_THE_FORM, check_text, copied
from virsci_society.agents.spelling import plain_line
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.planning.context_check import CheckResult, compare_windows
from virsci_society.scenarios.planning.speed import (
    SHORT,
    Speed,
    TimedCall,
    duration,
    measure_speed,
    round_up,
    speed_text,
    unlike,
)
from virsci_society.scenarios.runs.rehearsal import (
    LONGEST_RATIO,
    REHEARSED,
    Rehearsal,
    longest_prompt,
    request_window,
    tokens_needed,
)

OLDEST_PYTHON = (3, 11)
PACKAGES = ("mesa", "simpy", "numpy", "pandas", "pydantic", "faiss-cpu")
RANGES = {"mesa": ((3, 3), (4,))}
"""Releases from the first on and below the second."""
STOLEN = {"litellm": ("1.82.7", "1.82.8")}
"""Releases that took credentials away."""
SECONDS = 240.0
"""Most real seconds with a model."""
AT_A_TIME = 8
"""Most questions at a time."""
PATIENCE = 10.0
"""Seconds in which a server that is alive lists its models."""
NO_GAIN = 1.2
"""Times as many tokens a second from which several calls at a time are worth while."""
OFTEN = 0.2
"""Share of the forms that may have to be asked for again without a note."""
SHOWN = 120
"""Characters of a reply that are shown."""


def examine(scenario: Scenario, *, quick: bool = False) -> Iterator[CheckResult]:
    """Check the installation and, where the scenario names one, its model."""
    yield from check_installation()
    backend = scenario.backend.backend
    if isinstance(backend.paid, Offline):
        yield CheckResult("ok", f"who speaks: {backend.about}; nothing was connected to")
        return
    yield CheckResult("ok", f"who speaks: {backend.about}")
    missing = [*check_key_variables(backend.paid), *check_route(backend.paid)]
    if getattr(backend.paid, "client", "") == "litellm":
        missing.append(check_package("litellm", install_line("llm")))
    yield from missing
    if all(finding.state != "problem" for finding in missing):
        yield from _check_model(scenario, quick=quick)


def check_installation() -> Iterator[CheckResult]:
    """Check Python, the packages and the embedded backend."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < OLDEST_PYTHON:
        yield CheckResult("problem", f"Python {version}", "use Python 3.11 or newer")
    else:
        yield CheckResult("ok", f"Python {version}")
    changed = changed_files()
    if changed:
        message = f"{changed[0]} is not the file that was installed"
        advice = "install it once more: pip install --force-reinstall --no-deps virsci-society"
        yield CheckResult("problem", message, advice)
    else:
        yield CheckResult("ok", "every file is as it was installed")
    yield from (check_package(name) for name in PACKAGES)
    yield check_offline_backend()


def check_package(name: str, cure: str = "pip install -e . once more") -> CheckResult:
    """Is a package installed, in a release that is known to work?"""
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return CheckResult("problem", f"{name} is not installed", f"run {cure}")
    if version in STOLEN.get(name, ()):
        return CheckResult(
            "problem",
            f"{name} {version} steals credentials",
            f"install another release of {name}, and change every key this machine has seen",
        )
    least, below = RANGES.get(name, ((0,), (10**6,)))
    if not least <= _numbers(version) < below:
        allowed = f"{'.'.join(map(str, least))} or newer, below {'.'.join(map(str, below))}"
        return CheckResult("problem", f"{name} {version}", f"install {name} {allowed}")
    return CheckResult("ok", f"{name} {version}")


def check_offline_backend() -> CheckResult:
    """Does the backend of rule-based scientists answer?"""
    from virsci_society.agents.profile import Profile
    from virsci_society.agents.replies.parser import read_reply
    from virsci_society.protocols.forms import Summary

    request = Request("doctor", Profile("Scientist"), (), Summary, {"said": (), "stage": "topic"})
    try:
        read_reply(Summary, asyncio.run(Offline().complete(request)).text)
    except SocietyError as error:
        return CheckResult(
            "problem", f"the embedded backend does not answer: {error}", "install anew"
        )
    return CheckResult("ok", "the embedded backend answers")


def _numbers(version: str) -> tuple[int, ...]:
    parts = version.split(".")
    return tuple(int(part) for part in parts[:2] if part.isdecimal())


def check_key_variables(backend: Backend) -> Iterator[CheckResult]:
    """Is the environment variable of the key set? Its value is not shown."""
    endpoint = getattr(backend, "endpoint_settings", None)
    if endpoint is None or endpoint.key is None:
        return
    if os.environ.get(endpoint.key, "").strip():
        yield CheckResult("ok", f"the environment variable {endpoint.key} is set")
    else:
        yield CheckResult(
            "problem", f"the environment variable {endpoint.key} is not set", f"set {endpoint.key}"
        )


def check_route(backend: Backend) -> Iterator[CheckResult]:
    """Which proxy do requests pass, and which certificates are trusted?"""
    endpoint = getattr(backend, "endpoint_settings", None)
    if endpoint is None or not (endpoint.api_base or endpoint.provider):
        return
    try:
        route = route_to(endpoint.api_base or f"https://{endpoint.provider}")
    except InputError as error:
        yield CheckResult("problem", str(error), "change or unset that variable")
        return
    way = "directly, without a proxy"
    if route.proxy is not None:
        # Without the name and password that may stand in it.
        host = urlsplit(route.proxy).netloc.rpartition("@")[2]
        way = f"through the proxy {host} ({route.proxy_variable})"
    message = f"requests go to {endpoint.place} {way}"
    if not (endpoint.api_base or "https:").startswith("http:"):
        names = route.certificates or "the system"
        message += f"; certificates are those of {names}"
    yield CheckResult("ok", message)


def _check_model(scenario: Scenario, *, quick: bool) -> Iterator[CheckResult]:
    """Compare context windows, then ask one question of each form; ``quick``: one in all."""
    rehearsal, paid = Rehearsal(scenario), scenario.backend.backend.paid
    rehearsal.run(most=REHEARSED)
    questions = list(rehearsal.first.values())
    if not questions:
        advice = "raise until, or found more teams"
        yield CheckResult("problem", "the scenario asks nothing", advice)
        return
    if isinstance(paid, ChatCompletionsBackend) and not quick:
        longest = longest_prompt(scenario)
        yield from compare_windows(paid, longest)
        if paid.sets_window and not paid.window:
            # Before the first question: Ollama loads a model anew when its window changes.
            try:
                paid = request_window(paid, tokens_needed(paid, longest))
            except InputError:
                return  # a run would be refused, too
            message = f"every request asks for a context window of {paid.window:,} tokens"
            yield CheckResult("ok", message)
    session = _Session(paid, scenario.backend.at_once, rehearsal.longest)
    try:
        with asyncio.Runner(loop_factory=PatientLoop) as runner:
            runner.run(session.run(questions[:1] if quick else questions))
    except SocietyError as error:
        session.error = error
    yield from session.findings(scenario.backend.backend.with_paid(paid).unreadable_advice)


@dataclass
class _Session:
    """Questions to a model, and what became of them.

    Attributes:
        forms: how the reply to each form was read, by the form's name: a rung of the parser,
            ``re-asked``, ``unread``, or the verdict.
        said: the beginning of the last reply to each form.
            ``re-asked``, ``echoed`` (a copy of the page, also when asked again), ``unread``, or the
            verdict.
        seconds: of each reply.
        limited: tokens of a reply that was limited to ``SHORT``; None: there was none.
        repeated: whether the first question got the same reply after the others; None: not tried.
    """

    paid: Backend
    in_flight: int
    longest: int
    forms: dict[str, str] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)
    wanted: int = 0
    replies: list[Reply] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    limited: int | None = None
    repeated: bool | None = None
    speed: Speed | None = None
    error: SocietyError | None = None

    async def run(self, questions: list[Request]) -> None:
        """Ask the first question alone, then the others side by side."""
        self.wanted = len(questions)
        try:
            async with asyncio.timeout(SECONDS):
                endpoint = self.paid.endpoint()
                # Alone, and none that an earlier doctor has left in the server's cache.
                first = unlike(questions[0])
                await self._ask(endpoint, first)
                places = asyncio.Semaphore(
                    min(self.in_flight, endpoint.most or AT_A_TIME, AT_A_TIME)
                )

                async def ask(question: Request) -> None:
                    async with places:
                        await self._ask(endpoint, question)

                tasks = [asyncio.create_task(ask(one)) for one in questions[1:]]
                try:
                    await asyncio.gather(*tasks)
                finally:
                    for task in tasks:
                        task.cancel()
                if len(questions) > 1 and isinstance(self.paid, ChatCompletionsBackend):
                    await self._try_repeating(self.paid, endpoint, first)
                    await self._take_time(self.paid, questions[0])
        except TimeoutError:
            late = Fault(f"no answer within the doctor's {SECONDS:g} s", "timeout")
            address = getattr(self.paid, "api_base", None)
            if address and await probe(address, PATIENCE) is True:
                late.hint = (
                    "the server is alive, for it lists its models: it is slow, or busy with "
                    "something else; use a smaller model, or lower backend.max_tokens"
                )
            raise late from None
        finally:
            await self.paid.close()

    async def _ask(self, endpoint: Endpoint, question: Request) -> None:
        """Ask one question, and once more if the reply cannot be read."""
        name = question.form.__name__
        try:
            for again in (False, True):
                began = monotonic()
                reply = await endpoint.complete(question)
                self.seconds.append(monotonic() - began)
                self.replies.append(reply)
                self.said[name] = plain_line(redact(reply.text))[:SHOWN]
                try:
                    parsed = read_reply(question.form, reply.text, cut=reply.cut)
                    instructions = getattr(question, "instructions", "")
                    noticed = check_text(parsed.form, question.slots, instructions)
                    if noticed.echoed:
                        raise copied(noticed.echoed)
                    self.forms[name] = "re-asked" if again else parsed.rung
                    return
                except ReplyError as error:
                    self.forms[name] = "echoed" if isinstance(error, UnfitReply) else "unread"
                    messages = reask_messages(question.messages, reply, error)
                    question = replace(
                        question, id=f"{question.id}/re-ask1", attempt=1, messages=messages
                    )
        except Verdict as verdict:
            self.forms[name] = type(verdict).__name__.lower()

    async def _try_repeating(
        self, paid: ChatCompletionsBackend, endpoint: Endpoint, question: Request
    ) -> None:
        # After other questions: a server's prompt cache changes its arithmetic, and a question that
        # is asked twice in a row does not show that.
        if paid.seeded == "on" and self.replies:
            with suppress(Verdict):
                again = await endpoint.complete(question)
                self.repeated = again.text == self.replies[0].text

    async def _take_time(self, paid: ChatCompletionsBackend, question: Request) -> None:
        """Measure tokens a second, by questions of the form that was asked for first."""
        first = self.replies[0] if question.form.__name__ in self.said else None
        whole = None if first is None else TimedCall(self.seconds[0], first.usage, first.speed)
        self.speed, brief = await measure_speed(paid, question, whole, self.in_flight)
        self.limited = brief.usage.completion_tokens

    def findings(self, advice: str) -> Iterator[CheckResult]:
        """What was found; ``advice`` is what to do where replies cannot be read."""
        if self.error is not None:
            where = f"after {len(self.forms)} of {self.wanted} forms"
            # A slow model is no fault once it has answered.
            fault = self.error if isinstance(self.error, Fault) else None
            late = fault is not None and fault.kind == "timeout" and bool(self.forms)
            yield CheckResult(
                "note" if late else "problem",
                f"{where if self.forms else 'the model does not answer'}: {self.error}",
                "see with 'society plan' how long a run takes"
                if late
                else "correct that, and ask again"
                if fault is None
                else fault.advice,
            )
        if self.replies:
            yield from self._replies(advice)
        elif self.error is None:
            yield CheckResult("note", f"the model gave a verdict in place of a reply: {self.forms}")

    def _times(self, paid: ChatCompletionsBackend, speed: Speed) -> Iterator[CheckResult]:
        """Tokens a second, alone and with several calls, and the deadlines that follow."""
        slow = speed.calls > 1 and speed.gain < NO_GAIN
        yield CheckResult(
            "note" if slow else "ok",
            speed_text(speed),
            "give --set backend.in_flight=1: more calls at a time bring nothing" if slow else "",
        )
        prompt = estimate_tokens(round(LONGEST_RATIO * self.longest))
        slots = self.in_flight
        seconds = speed.seconds(prompt, paid.max_tokens) * slots / speed.gain_of(slots)
        takes = (
            f"the longest call ({prompt:,} tokens of prompt, {paid.max_tokens:,} of reply, "
            f"{slots} at a time) takes about {duration(seconds)}"
        )
        # A server whose address only litellm knows is not asked after silence, which is its end.
        blind = paid.client == "litellm" and not paid.api_base
        wanted = ("read", "total") if blind else ("total",)
        keys = [one for one in wanted if getattr(paid.deadlines, one) < seconds]
        told = ", ".join(f"deadlines.{one} is {getattr(paid.deadlines, one):g} s" for one in wanted)
        enough = round_up(2 * seconds)
        advice = " ".join(f"--set backend.deadlines.{one}={enough}" for one in keys)
        yield CheckResult(
            "note" if keys else "ok",
            f"{takes}; {told}",
            f"give {advice}, or a smaller backend.in_flight or backend.max_tokens" if keys else "",
        )

    def _replies(self, advice: str) -> Iterator[CheckResult]:
        name = f" as {self.replies[0].model}" if self.replies[0].model else ""
        yield CheckResult("ok", f"the model answers{name}, in {self.seconds[0]:.2f} s")
        if any(reply.usage.estimated for reply in self.replies):
            yield CheckResult(
                "note",
                "the provider does not count tokens; budgets and costs go by four characters each",
                "switch usage on at the server, if it can",
            )
        else:
            yield CheckResult("ok", "tokens are counted by the provider")
        if self.paid.free:
            yield CheckResult("ok", "the server is on this machine, so nothing is paid")
        elif self.paid.priced:
            usd = sum(self.paid.price(reply.usage) for reply in self.replies)
            yield CheckResult(
                "ok",
                f"the price of the model is known: {len(self.replies)} test calls cost {usd:.6f} "
                "US dollars",
            )
        else:
            yield CheckResult(
                "note",
                "the price of the model is not known, so a budget in dollars cannot be set",
                "give backend.prices.input and backend.prices.output per million tokens",
            )
        cached = sum(reply.usage.cached_tokens for reply in self.replies)
        if cached:
            prompts = sum(reply.usage.prompt_tokens for reply in self.replies)
            yield CheckResult("ok", f"{cached:,} of {prompts:,} prompt tokens were in its cache")
        yield from (CheckResult("ok", f"{form}: {text}") for form, text in self.said.items())
        if self.wanted == 1:
            return
        if self.speed is None and self.replies[0].speed is not None:
            self.speed = Speed(*self.replies[0].speed, "the server says")
        if self.speed is not None and isinstance(self.paid, ChatCompletionsBackend):
            yield from self._times(self.paid, self.speed)
        counts = Counter(self.forms.values())
        counted = ", ".join(f"{number} {how}" for how, number in counts.most_common())
        message = f"forms: {len(self.forms)} asked for; {counted}"
        unread = [form for form, how in self.forms.items() if how == "unread"]
        echoed = [form for form, how in self.forms.items() if how == "echoed"]
        if echoed:
            yield CheckResult(
                "problem",
                f"{SHOWS_THE_FORM}: words of the page came in place of an answer to "
                f"{', '.join(echoed)}",
                "use a larger model",
            )
        if unread:
            yield CheckResult("problem", f"{message}; never filled: {', '.join(unread)}", advice)
        elif counts["re-asked"] > OFTEN * len(self.forms):
            yield CheckResult("note", message, f"re-asks cost. {advice}")
        else:
            yield CheckResult("ok", message)
        if self.repeated:
            yield CheckResult("ok", "a question was answered the same after others, by its seed")
        elif self.repeated is not None:
            yield CheckResult(
                "note",
                "the same question with the same seed got another reply after other questions, so "
                "a run is repeated by 'society replay' alone",
                "for use: local, set backend.deterministic=on; see docs/live.md for other servers",
            )
        if self.limited is not None and self.limited > 2 * SHORT:
            yield CheckResult(
                "problem",
                f"replies are not limited to max_tokens: {self.limited} tokens came where {SHORT} "
                "were asked for, so a budget could be overspent",
                "see whether the server takes max_tokens, or use another",
            )
        elif self.limited is not None:
            yield CheckResult("ok", "replies are limited to max_tokens")
