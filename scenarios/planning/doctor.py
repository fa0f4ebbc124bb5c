"""Checks of the installation and of the model of a scenario, which costs some ten calls."""

from __future__ import annotations

import asyncio
import os
import platform
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import metadata
from time import monotonic
from typing import Literal
from urllib.parse import urlsplit

from virsci_society.agents.backends.context_window import OLLAMA_HOME, read_window
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
from virsci_society.agents.prompts.request import (
    Reply,
    Request,
    estimate_tokens,
    reask_messages,
    words_that_fit,
)
from virsci_society.agents.redaction import redact
from virsci_society.agents.replies.parser import read_reply
from virsci_society.agents.replies.text_checks import SHOWS_THE_FORM, check_text, copied
from virsci_society.agents.spelling import plain_line
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.planning.speed import (
    SHORT,
    Speed,
    TimedCall,
    duration,
    measure_speed,
    speed_text,
    unlike,
    warm_up,
)
from virsci_society.scenarios.runs.rehearsal import (
    LONGEST_RATIO,
    REHEARSED,
    Rehearsal,
    longest_prompt,
    request_window,
    tokens_needed,
    window_size,
)

DISTRIBUTION = "virsci-society"
SECONDS = 240.0
"""Most real seconds with a model."""
AT_A_TIME = 8
"""Most questions at a time."""
PATIENCE = 10.0
"""Seconds in which a server that is alive lists its models."""
NO_GAIN = 1.2
"""Least throughput gain that justifies concurrent calls."""
OFTEN = 0.2
"""Share of the forms that may have to be asked for again without a note."""
SHOWN = 120
"""Characters of a reply that are shown."""


@dataclass(frozen=True)
class CheckResult:
    """The result of one check, with advice where something is to be done."""

    state: Literal["ok", "note", "problem"]
    message: str
    advice: str = ""


ok, note, problem = (partial(CheckResult, state) for state in ("ok", "note", "problem"))
_TRIMMED = "and longer prompts are trimmed by a fixed rule"


def examine(scenario: Scenario) -> Iterator[CheckResult]:
    """Check the installation and, where the scenario names one, its model."""
    backend = scenario.backend.backend
    paid = backend.paid
    yield from check_installation("llm" if getattr(paid, "client", "") == "litellm" else "")
    offline = isinstance(paid, Offline)
    yield ok(f"answers: {backend.about}{'; no connection was made' if offline else ''}")
    if offline:
        return
    access = list(check_access(paid))
    yield from access
    if any(finding.state == "problem" for finding in access):
        return
    rehearsal = Rehearsal(scenario)
    rehearsal.run(most=REHEARSED)
    questions = list(rehearsal.first.values())
    if not questions:
        yield problem("the scenario makes no call", "raise until, or found more teams")
        return
    if isinstance(paid, ChatCompletionsBackend):
        longest = longest_prompt(scenario)
        yield from compare_windows(paid, longest)
        if paid.sets_window and not paid.window:
            # Before the first question: Ollama reloads a model when its window changes.
            try:
                paid = request_window(paid, tokens_needed(paid, longest))
            except InputError:
                return  # a run would be refused, too
            yield ok(f"every request asks for a context window of {paid.window:,} tokens")
    session = _Session(paid, scenario.backend.at_once)
    try:
        with asyncio.Runner(loop_factory=PatientLoop) as runner:
            runner.run(session.run(questions))
    except SocietyError as error:
        session.error = error
    yield from session.findings(backend.with_paid(paid).unreadable_advice)
    if session.speed is not None and isinstance(paid, ChatCompletionsBackend):
        prompt = estimate_tokens(round(LONGEST_RATIO * rehearsal.longest))
        yield from check_deadlines(paid, session.speed, prompt, scenario.backend.at_once)


def check_installation(extra: str = "") -> Iterator[CheckResult]:
    """Check the releases of all required packages."""
    from packaging.requirements import Requirement

    python = f"Python {platform.python_version()}"
    try:
        installed = metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        yield problem(f"{DISTRIBUTION} is not installed in {python}", "run pip install -e .")
        return
    yield ok(f"{DISTRIBUTION} {installed.version}, {python}")
    releases = []
    for wanted in map(Requirement, installed.requires or ()):
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": extra}):
            continue
        cure = install_line(extra) if wanted.marker is not None else "pip install -e . once more"
        try:
            version = metadata.version(wanted.name)
        except metadata.PackageNotFoundError:
            yield problem(f"{wanted.name} is not installed", f"run {cure}")
            continue
        if wanted.specifier.contains(version, prereleases=True):
            releases.append(f"{wanted.name} {version}")
        else:
            yield problem(f"{wanted.name} {version}", f"install {wanted.name}{wanted.specifier}")
    yield ok(f"packages: {', '.join(releases)}")


def check_access(backend: Backend) -> Iterator[CheckResult]:
    """Is the key's variable set, which proxy is used, and which certificates are trusted?"""
    endpoint = getattr(backend, "endpoint_settings", None)
    if endpoint is None:
        return
    if endpoint.key is not None:
        if os.environ.get(endpoint.key, "").strip():
            yield ok(f"the environment variable {endpoint.key} is set")
        else:
            yield problem(f"the environment variable {endpoint.key} is not set", "set it")
    if not (endpoint.api_base or endpoint.provider):
        return
    try:
        route = route_to(endpoint.api_base or f"https://{endpoint.provider}")
    except InputError as error:
        yield problem(str(error), "change or unset that variable")
        return
    way = "directly, without a proxy"
    if route.proxy is not None:
        # Without the name and password that may be in it.
        host = urlsplit(route.proxy).netloc.rpartition("@")[2]
        way = f"through the proxy {host} ({route.proxy_variable})"
    message = f"requests go to {endpoint.place} {way}"
    if not (endpoint.api_base or "https:").startswith("http:"):
        message += f"; certificates from {route.certificates or 'the system'}"
    yield ok(message)


def check_deadlines(
    paid: ChatCompletionsBackend, speed: Speed, prompt: int, slots: int
) -> Iterator[CheckResult]:
    """Tokens a second, alone and with several calls, and the deadlines of the longest call."""
    slow = speed.calls > 1 and speed.gain < NO_GAIN
    yield CheckResult(
        "note" if slow else "ok",
        speed_text(speed),
        "give --set backend.in_flight=1: more calls at a time bring nothing" if slow else "",
    )
    seconds = prompt / speed.prompt + paid.max_tokens / speed.reply
    seconds *= slots / speed.gain_of(slots)
    # A server whose address only litellm knows is not asked after silence, which is its end.
    blind = paid.client == "litellm" and not paid.api_base
    deadlines = {one: getattr(paid.deadlines, one) for one in ("read", "total")[not blind :]}
    steps = (factor * 10**power for power in range(1, 7) for factor in (3, 6, 12))
    enough = next((step for step in steps if step >= 2 * seconds), 604_800)
    advice = " ".join(
        f"--set backend.deadlines.{one}={enough}"
        for one, length in deadlines.items()
        if length < seconds
    )
    yield CheckResult(
        "note" if advice else "ok",
        f"the longest call ({prompt:,} tokens of prompt, {paid.max_tokens:,} of reply, {slots} at "
        f"a time) takes about {duration(seconds)}; "
        + ", ".join(f"deadlines.{one} is {length:g} s" for one, length in deadlines.items()),
        advice and f"give {advice}, or a smaller backend.in_flight or backend.max_tokens",
    )


@dataclass
class _Session:
    """Questions to a model and their outcomes by form; ``seconds`` are response times."""

    paid: Backend
    in_flight: int
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
        """Ask the first question alone, then the others side by side, then for speed."""
        self.wanted, paid = len(questions), self.paid
        try:
            async with asyncio.timeout(SECONDS):
                endpoint = paid.endpoint()
                if isinstance(paid, ChatCompletionsBackend):
                    await warm_up(paid, questions[0])
                # Alone, and none that an earlier doctor has left in the server's cache.
                first = unlike(questions[0])
                await self._ask(endpoint, first)
                most = min(self.in_flight, endpoint.most or AT_A_TIME, AT_A_TIME)
                places = asyncio.Semaphore(most)

                async def ask(question: Request) -> None:
                    async with places:
                        await self._ask(endpoint, question)

                await asyncio.gather(*map(ask, questions[1:]))
                if not isinstance(paid, ChatCompletionsBackend):
                    return
                # After other questions: a server's prompt cache changes its arithmetic, and a
                # question that is asked twice in a row does not show that.
                if paid.seeded == "on" and self.replies:
                    with suppress(Verdict):
                        again = await endpoint.complete(first)
                        self.repeated = again.text == self.replies[0].text
                whole = None
                if first.form.__name__ in self.said:
                    one = self.replies[0]
                    whole = TimedCall(self.seconds[0], one.usage, one.speed)
                self.speed, self.limited = await measure_speed(
                    paid, questions[0], whole, self.in_flight
                )
        except TimeoutError:
            late = Fault(f"no answer within the time limit of doctor, {SECONDS:g} s", "timeout")
            address = getattr(paid, "api_base", None)
            if address and await probe(address, PATIENCE) is True:
                late.hint = (
                    "the server lists its models but is slow or busy; use a smaller model, or "
                    "lower backend.max_tokens"
                )
            raise late from None
        finally:
            await paid.close()

    async def _ask(self, endpoint: Endpoint, question: Request) -> None:
        """Ask one question, and once more if the reply cannot be read."""
        name = question.form.__name__
        for again in (False, True):
            began = monotonic()
            try:
                reply = await endpoint.complete(question)
            except Verdict as verdict:
                self.forms[name] = type(verdict).__name__.lower()
                return
            self.seconds.append(monotonic() - began)
            self.replies.append(reply)
            self.said[name] = plain_line(redact(reply.text))[:SHOWN]
            try:
                parsed = read_reply(question.form, reply.text, cut=reply.cut)
                instructions = getattr(question, "instructions", "")
                noticed = check_text(parsed.form, question.schema_text, instructions)
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

    def findings(self, advice: str) -> Iterator[CheckResult]:
        """The findings; ``advice`` is the remedy for unreadable replies."""
        if self.error is not None:
            # A slow model is no fault once it has answered.
            fault = self.error if isinstance(self.error, Fault) else None
            late = fault is not None and fault.kind == "timeout" and bool(self.forms)
            where = f"after {len(self.forms)} of {self.wanted} forms"
            todo = "fix that, then repeat the command" if fault is None else fault.advice
            yield CheckResult(
                "note" if late else "problem",
                f"{where if self.forms else 'the model does not answer'}: {self.error}",
                "'society plan' estimates how long a run takes" if late else todo,
            )
        if not self.replies:
            if self.error is None:
                yield note(f"the model returned no reply but a verdict: {self.forms}")
            return
        first = self.replies[0]
        name = f" as {first.model}" if first.model else ""
        yield ok(f"the model answers{name}, in {self.seconds[0]:.2f} s")
        usages = [reply.usage for reply in self.replies]
        if any(usage.estimated for usage in usages):
            yield note(
                "the provider does not count tokens; budgets and costs assume 4 characters a token",
                "enable usage counts on the server, if possible",
            )
        else:
            yield ok("the provider counts tokens")
        if self.paid.free:
            yield ok("the server runs on this machine, so calls are free")
        elif self.paid.priced:
            yield ok(
                f"the price of the model is known: {len(usages)} test calls cost "
                f"{sum(map(self.paid.price, usages)):.6f} US dollars"
            )
        else:
            yield note(
                "the price of the model is not known, so a budget in dollars is not possible",
                "give backend.prices.input and backend.prices.output per million tokens",
            )
        yield from (ok(f"{form}: {text}") for form, text in self.said.items())
        if self.speed is None and first.speed is not None:
            self.speed = Speed(*first.speed, "reported by the server")
        counts = Counter(self.forms.values())
        counted = ", ".join(f"{number} {how}" for how, number in counts.most_common())
        message = f"forms: {len(self.forms)} tested; {counted}"
        if echoed := [form for form, how in self.forms.items() if how == "echoed"]:
            yield problem(
                f"{SHOWS_THE_FORM}: copies of the prompt replaced answers to {', '.join(echoed)}",
                "use a larger model",
            )
        if unread := [form for form, how in self.forms.items() if how == "unread"]:
            yield problem(f"{message}; never filled: {', '.join(unread)}", advice)
        elif counts["re-asked"] > OFTEN * len(self.forms):
            yield note(message, f"re-asks cost. {advice}")
        else:
            yield ok(message)
        if self.repeated:
            yield ok("the same seed gave the same answer after other calls")
        elif self.repeated is not None:
            yield note(
                "the same call with the same seed got another reply after other calls, so only "
                "'society replay' repeats a run",
                "for use: local, set backend.deterministic=on; see docs/live.md for other servers",
            )
        if self.limited is not None and self.limited > 2 * SHORT:
            yield problem(
                f"replies exceed max_tokens: {self.limited} tokens came where {SHORT} "
                "were asked for, so a budget could be overspent",
                "check whether the server supports max_tokens, or use another",
            )
        elif self.limited is not None:
            yield ok("replies respect max_tokens")


def context_warnings(scenario: Scenario) -> Iterator[str]:
    """Warnings where the longest prompt hardly fits the model's window."""
    paid = scenario.backend.backend.paid
    if not isinstance(paid, ChatCompletionsBackend):
        return
    # The requested words, compared with the longest possible reply.
    room = words_that_fit(paid.max_reply_tokens)
    asked = {
        page.name: max(map(int, re.findall(r"(\d+) \| fitting", page.text)), default=0)
        for part in scenario.protocol.components
        for page in getattr(part, "pages", ())
    }
    if long := sorted(name for name, words in asked.items() if words > room):
        most = max(asked.values())
        yield (
            f"backend.max_tokens: {paid.max_reply_tokens:,} tokens are about {room:,} words, so "
            f"the prompts {', '.join(long)} request no more than that, not up to {most:,}; set "
            f"backend.max_tokens={2 * most} or more for those"
        )
    if longest := longest_prompt(scenario):
        for finding in compare_windows(paid, longest):
            if finding.state != "ok":
                yield f"{finding.message}; {finding.advice}"


def compare_windows(paid: ChatCompletionsBackend, longest: int) -> Iterator[CheckResult]:
    """Does the longest prompt (characters) fit into what the scenario states and the server has?"""
    need = tokens_needed(paid, longest)
    takes = f"the longest prompt needs about {need:,} tokens with its reply"
    stated = paid.context if paid.context is not None else paid.window
    if stated is not None and stated < need:
        yield note(
            f"backend.context: {takes}, more than {stated:,}, {_TRIMMED}",
            f"set backend.context={window_size(need)} if the model supports it",
        )
        # What is trimmed anyway need not fit.
        need = stated
    window = read_window(paid)
    if window.server == "Ollama" and not paid.sets_window:
        # litellm puts the provider before the name: ollama/llama3.1.
        name = paid.model.partition("/")[2] if paid.client == "litellm" else paid.model
        root = (paid.api_base or OLLAMA_HOME).rstrip("/").removesuffix("/v1")
        chosen = "its own choice" if window.tokens is None else f"{window.tokens:,} tokens"
        yield CheckResult(
            "problem" if window.tokens is not None and window.tokens < need else "note",
            f"Ollama takes no context window by the API of OpenAI: it has one of {chosen}, where "
            f"about {need:,} tokens are needed, and drops the beginning of longer prompts without "
            "notice",
            f"use its own API: backend.use=litellm, backend.model=ollama_chat/{name}, "
            f"backend.api_base={root}; or start it with OLLAMA_CONTEXT_LENGTH={window_size(need)}",
        )
        return
    # By its own API Ollama is asked for a window, up to what the model was made for.
    tokens = window.most if paid.sets_window else window.tokens
    if tokens is None:
        yield ok(f"{takes}; the context window is unknown")
        return
    has = f"the context window has at most {tokens:,} (reported by {window.server})"
    if need <= tokens:
        yield ok(f"{takes}; {has}")
        return
    longer = {
        "vLLM": f"start vLLM with --max-model-len {window_size(need)}",
        "llama.cpp": f"start llama-server with --ctx-size {window_size(need)} for each slot",
    }.get(window.server, "use a model with a longer window")
    yield problem(f"{takes}, and {has}", f"{longer}, or set backend.context={tokens}, {_TRIMMED}")
