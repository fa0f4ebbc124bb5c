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
from statistics import median
from time import monotonic

from virsci_society._installation import changed_files
from virsci_society.agents.backends.http import ChatCompletionsBackend
from virsci_society.agents.errors import Fault, InputError, ReplyError, SocietyError, Verdict
from virsci_society.agents.gateway.backend import Backend, Endpoint
from virsci_society.agents.lazy_imports import install_line
from virsci_society.agents.offline.backend import Offline
from virsci_society.agents.prompts.request import Reply, Request, reask_messages
from virsci_society.agents.replies.parser import read_reply
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.planning.context_check import CheckResult, compare_windows
from virsci_society.scenarios.runs.rehearsal import (
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
OFTEN = 0.2
"""Share of the forms that may have to be asked for again without a note."""
SHORT = 16
"""Tokens to which a reply is limited, to see whether the limit is respected."""


def examine(scenario: Scenario, *, quick: bool = False) -> Iterator[CheckResult]:
    """Check the installation and, where the scenario names one, its model."""
    yield from check_installation()
    backend = scenario.backend.backend
    if isinstance(backend.paid, Offline):
        yield CheckResult("ok", f"who speaks: {backend.about}; nothing was connected to")
        return
    yield CheckResult("ok", f"who speaks: {backend.about}")
    missing = [*check_key_variables(backend.paid)]
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
    session = _Session(paid, scenario.backend.at_once)
    try:
        asyncio.run(session.run(questions[:1] if quick else questions))
    except SocietyError as error:
        session.error = error
    yield from session.findings(scenario.backend.backend.with_paid(paid).unreadable_advice)


@dataclass
class _Session:
    """Questions to a model, and what became of them.

    Attributes:
        forms: how the reply to each form was read, by the form's name: a rung of the parser,
            ``re-asked``, ``unread``, or the verdict.
        seconds: of each reply.
        limited: tokens of a reply that was limited to ``SHORT``; None: there was none.
        repeated: whether the first question got the same reply after the others; None: not tried.
    """

    paid: Backend
    in_flight: int
    forms: dict[str, str] = field(default_factory=dict)
    wanted: int = 0
    replies: list[Reply] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    limited: int | None = None
    repeated: bool | None = None
    error: SocietyError | None = None

    async def run(self, questions: list[Request]) -> None:
        """Ask the first question alone, then the others side by side."""
        self.wanted = len(questions)
        try:
            async with asyncio.timeout(SECONDS):
                endpoint = self.paid.endpoint()
                await self._ask(endpoint, questions[0])
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
                    await self._try_repeating(self.paid, endpoint, questions[0])
                    await self._try_limit(self.paid, questions[-1])
        except TimeoutError:
            raise Fault(f"no answer within the doctor's {SECONDS:g} s", "timeout") from None
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
                try:
                    rung = read_reply(question.form, reply.text, cut=reply.cut).rung
                    self.forms[name] = "re-asked" if again else rung
                    return
                except ReplyError as error:
                    messages = reask_messages(question.messages, reply, error)
                    question = replace(
                        question, id=f"{question.id}/re-ask1", attempt=1, messages=messages
                    )
            self.forms[name] = "unread"
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

    async def _try_limit(self, paid: ChatCompletionsBackend, question: Request) -> None:
        short = paid.model_copy(update={"max_tokens": SHORT})
        try:
            reply = await short.complete(question)
            self.limited = reply.usage.completion_tokens
        except Verdict:
            pass
        finally:
            await short.close()

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
                else fault.rule.advice,
            )
        if self.replies:
            yield from self._replies(advice)
        elif self.error is None:
            yield CheckResult("note", f"the model gave a verdict in place of a reply: {self.forms}")

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
        if self.paid.priced:
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
        if self.wanted == 1:
            return
        median_, worst = median(self.seconds), max(self.seconds)
        yield CheckResult("ok", f"latency: median {median_:.2f} s, worst {worst:.2f} s")
        counts = Counter(self.forms.values())
        counted = ", ".join(f"{number} {how}" for how, number in counts.most_common())
        message = f"forms: {len(self.forms)} asked for; {counted}"
        unread = [form for form, how in self.forms.items() if how == "unread"]
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
