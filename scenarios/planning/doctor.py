"""Checks of the installation and of the model of a scenario, each with advice.

Nothing is written. A scenario of rule-based scientists makes no connection; that of a language
model costs some twenty calls.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Iterator
from importlib import metadata
from statistics import median
from typing import TypeVar

from virsci_society._installation import changed_files
from virsci_society.agents.errors import BudgetReached, Fault, SocietyError
from virsci_society.agents.gateway.backend import Backend
from virsci_society.agents.journal.records import ANSWERED
from virsci_society.agents.lazy_imports import install_line
from virsci_society.agents.offline.backend import Offline
from virsci_society.agents.prompts.request import Reply, Request
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.planning.context_check import fit_window, judge_reply, long_question
from virsci_society.scenarios.planning.probe import (
    CALLS,
    SHORT,
    CheckResult,
    EndpointTrial,
    ProbeResult,
    count_rungs,
    first_questions,
    run_probe,
    try_once,
    try_twice,
)
from virsci_society.scenarios.runs.rehearsal import longest_page

T = TypeVar("T")

OLDEST_PYTHON = (3, 11)
PACKAGES = ("mesa", "simpy", "numpy", "pandas", "pydantic", "faiss-cpu")
LIBRARIES = ("litellm", "openai")
"""Extra [llm], looked at where a scenario names a language model."""
RANGES = {"mesa": ((3, 3), (4,))}
"""Releases from the first on and below the second."""
STOLEN = {"litellm": ("1.82.7", "1.82.8")}
"""Releases that took credentials away."""
SECONDS, QUICK_SECONDS = 240.0, 90.0
"""Most real seconds with a model."""
OFTEN = 0.2
"""Share of the forms that may have to be asked for again without a word about it."""
CROWDED = 2.0
"""Questions side by side that take so many times as long as one alone wait for each other."""
AT_ONCE = 0.25
"""A call that takes no more seconds than this is no reason to ask for fewer at a time."""


def examine(scenario: Scenario, *, quick: bool = False) -> Iterator[CheckResult]:
    """Check the installation and, where the scenario names one, its model."""
    yield from check_installation()
    backend = scenario.backend.backend
    if isinstance(backend.paid, Offline):
        yield CheckResult("ok", f"who speaks: {backend.about}; nothing was connected to")
        return
    yield CheckResult("ok", f"who speaks: {backend.about}")
    libraries = [check_package(name, install_line("llm")) for name in LIBRARIES]
    missing = [*libraries, *check_key_variables(backend.paid)]
    yield from missing
    if any(finding.state == "problem" for finding in missing):
        return
    asked = first_questions(scenario)
    if not asked:
        yield CheckResult(
            "problem", "the scenario asks nothing", "raise until, or found more teams"
        )
        return
    page = None if quick else longest_page(scenario)
    yield from DoctorSession(scenario, asked, page).findings()


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


class DoctorSession:
    """Checks of one model, within a time limit.

    Args:
        scenario: whose model it is.
        asked: one question of each form.
        page: the longest page; None: ask one question and no more.
    """

    def __init__(self, scenario: Scenario, asked: list[Request], page: Request | None) -> None:
        self._speaking, self._backend = scenario.backend, scenario.backend.backend.paid
        self._seed_of_run, self._asked, self._page = scenario.seed, asked, page
        self._alone = 0.0

    def findings(self) -> Iterator[CheckResult]:
        """Check the model, then the forms and what else a run relies on."""
        fitting: Backend | None = None
        known: list[CheckResult] = []
        if self._page is not None:
            # Before the first question: Ollama loads a model anew when its window changes.
            fitting, known = fit_window(self._backend, self._page)
            self._backend = fitting or self._backend
        trial = self._within(try_once(self._backend, self._asked[0]))
        if isinstance(trial, SocietyError):
            yield _trouble(trial, "the model")
            return
        yield _way(trial)
        if trial.reply is None:
            return
        yield self._counts(trial.reply)
        yield self._price()
        if self._page is not None:
            # Before the forms: it times one call alone, against which the others are held.
            yield self._seed()
            yield from self._forms()
            yield from self._limit()
            yield from known
            if fitting is not None:
                yield from self._long_page(self._page)

    def _forms(self) -> Iterator[CheckResult]:
        result = ProbeResult()
        probe = run_probe(self._backend, self._asked, self._speaking.in_flight, result)
        ended = self._within(probe) or result.stopped
        if ended is not None:
            yield cut_short(ended, len(result.rungs), len(self._asked))
        if result.rungs:
            advice = self._speaking.backend.with_paid(self._backend).unreadable_advice
            yield _read(result, advice)
        seconds = [one.seconds for one in result.attempts if one.outcome == ANSWERED]
        if seconds:
            yield CheckResult(
                "ok", f"latency: median {median(seconds):.2f} s, worst {max(seconds):.2f} s"
            )
            yield self._crowd(median(seconds), result)
        if self._backend.priced:
            usd = sum(one.usd for one in result.attempts)
            yield CheckResult("ok", f"{len(result.attempts)} test calls cost {usd:.6f} US dollars")

    def _counts(self, reply: Reply) -> CheckResult:
        if not reply.usage.estimated:
            return CheckResult("ok", "tokens are counted by the provider")
        return CheckResult(
            "note",
            "the provider does not count tokens; budgets and costs go by four characters each",
            "switch usage on at the server, if it can",
        )

    def _price(self) -> CheckResult:
        if self._backend.priced:
            return CheckResult("ok", "the price of the model is known")
        return CheckResult(
            "note",
            "the price of the model is not known, so a budget in dollars cannot be set",
            "give backend.prices.input and backend.prices.output per million tokens",
        )

    def _crowd(self, latency: float, result: ProbeResult) -> CheckResult:
        # A server on this machine may answer one call in no time that can be measured.
        times, slots = latency / max(self._alone, 1e-3), result.side_by_side
        observed = f"{slots} calls at a time took {times:.1f} times as long as one alone"
        if times < CROWDED or latency < AT_ONCE:
            return CheckResult("ok", f"{observed}; backend.in_flight is {self._speaking.in_flight}")
        fewer = max(1, round(slots / times))
        return CheckResult(
            "note", observed, f"the server works on few at a time; try in_flight={fewer}"
        )

    def _limit(self) -> Iterator[CheckResult]:
        if "max_tokens" not in type(self._backend).model_fields:
            return
        short = self._backend.model_copy(update={"max_tokens": SHORT})
        trial = self._within(try_once(short, self._asked[-1]))
        if isinstance(trial, SocietyError):
            yield _trouble(trial, "a reply held short")
            return
        tokens = trial.reply.usage.completion_tokens if trial.reply is not None else 0
        if tokens <= 2 * SHORT:
            yield CheckResult("ok", "replies are held to max_tokens")
        else:
            yield CheckResult(
                "problem",
                f"replies are not held to max_tokens: {tokens} tokens came where "
                f"{SHORT} were asked for, so a budget could be overspent",
                "see whether the server takes max_tokens, or use another endpoint",
            )

    def _long_page(self, page: Request) -> Iterator[CheckResult]:
        """Is a page as long as the longest read from its first line on?"""
        question, word = long_question(page, self._backend, self._seed_of_run)
        trial = self._within(try_once(self._backend, question))
        where = "a page as long as the longest of a run"
        if isinstance(trial, SocietyError):
            yield _trouble(trial, where)
        elif isinstance(trial.trouble, Fault):
            yield _trouble(trial.trouble, where)
        else:
            yield judge_reply(trial, question, word)

    def _seed(self) -> CheckResult:
        trials = self._within(try_twice(self._backend, self._asked[0]))
        if isinstance(trials, SocietyError):
            return _trouble(trials, "the same question twice")
        self._alone = min(one.seconds for one in trials)
        first, second = (one.reply.text if one.reply else None for one in trials)
        if first is None or second is None:
            return CheckResult("note", "the same question was not answered twice")
        if first == second:
            return CheckResult("ok", "the same question with the same seed was answered the same")
        return CheckResult(
            "note",
            "the same question with the same seed was answered otherwise; a run that is resumed "
            "or replayed stays the same all the same, because its journal keeps every word",
        )

    def _within(self, work: Awaitable[T]) -> T | SocietyError:
        """The result of the work, or the error that ended it, within the time limit."""
        seconds = QUICK_SECONDS if self._page is None else SECONDS

        async def limited() -> T:
            async with asyncio.timeout(seconds):
                return await work

        try:
            return asyncio.run(limited())
        except TimeoutError:
            return Fault(f"no answer within the doctor's time of {seconds:g} s", "timeout")
        except SocietyError as error:
            return error


def _way(one: EndpointTrial) -> CheckResult:
    if one.trouble is not None and isinstance(one.trouble, Fault):
        return _trouble(one.trouble, "the model does not answer")
    if one.reply is None:
        return CheckResult(
            "note", f"the first test question had no words for an answer: {one.trouble}"
        )
    name = f" as {one.reply.model}" if one.reply.model else ""
    return CheckResult("ok", f"the model answers{name}, in {one.seconds:.2f} s")


def cut_short(ended: SocietyError, read: int, forms: int) -> CheckResult:
    """Why not all forms were asked for. A bound of the doctor's own is no fault of the model."""
    some = f"{read} of {forms} forms"
    if isinstance(ended, BudgetReached):
        return CheckResult(
            "note",
            f"the doctor makes at most {CALLS} such calls, which were enough for {some}; this is "
            "no budget of yours",
            "replies that had to be asked for again took the place of the others",
        )
    if read and isinstance(ended, Fault) and ended.kind == "timeout":
        return CheckResult(
            "note",
            f"the doctor's time was over after {some}: {ended}",
            "the model is slow; see with 'society plan' how long a run takes",
        )
    return _trouble(ended, f"after {some}")


def _read(result: ProbeResult, advice: str) -> CheckResult:
    counts = count_rungs(result.rungs)
    counted = ", ".join(f"{count} {rung}" for rung, count in counts.items() if count)
    what = f"forms: {len(result.rungs)} asked for; {counted or 'none answered'}"
    unread = [name for name, rung in result.rungs.items() if rung == "unread"]
    if unread:
        return CheckResult(
            "problem",
            f"{what}; never filled: {', '.join(unread)}",
            advice,
        )
    if counts["re-asked"] > OFTEN * len(result.rungs):
        return CheckResult("note", what, f"re-asks cost. {advice}")
    return CheckResult("ok", what)


def _trouble(error: SocietyError, where: str) -> CheckResult:
    advice = error.rule.advice if isinstance(error, Fault) else "mend that, and ask again"
    return CheckResult("problem", f"{where}: {error}", advice)
