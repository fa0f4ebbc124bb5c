"""Whether the prompts of a scenario fit into the context window of its model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

from virsci_society.agents.backends.context_window import OLLAMA_HOME, read_window
from virsci_society.agents.backends.http import ChatCompletionsBackend
from virsci_society.agents.prompts.request import words_that_fit
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.runs.rehearsal import longest_prompt, tokens_needed, window_size


@dataclass(frozen=True)
class CheckResult:
    """The result of one check, with advice where something is to be done."""

    state: Literal["ok", "note", "problem"]
    message: str
    advice: str = ""


ok, note, problem = (partial(CheckResult, state) for state in ("ok", "note", "problem"))
_TRIMMED = "and longer prompts are trimmed by a fixed rule"


def context_warnings(scenario: Scenario) -> Iterator[str]:
    """Warnings where the longest prompt hardly fits the model's window."""
    paid = scenario.backend.backend.paid
    if not isinstance(paid, ChatCompletionsBackend):
        return
    if told := _words_that_do_not_fit(scenario, paid):
        yield told
    if longest := longest_prompt(scenario):
        for finding in compare_windows(paid, longest):
            if finding.state != "ok":
                yield f"{finding.message}; {finding.advice}"


_ASKED = re.compile(r"(\d+) \| fitting")
"""Words that a page asks for, in the text of its file."""


def _words_that_do_not_fit(scenario: Scenario, paid: ChatCompletionsBackend) -> str:
    """Say where pages would ask for more words than a reply can have; empty: nowhere."""
    room = words_that_fit(paid.max_reply_tokens)
    parts = scenario.protocol.components
    pages = {page.name: page for part in parts for page in getattr(part, "pages", ())}
    asked = {
        name: max(map(int, _ASKED.findall(page.text)), default=0) for name, page in pages.items()
    }
    long = sorted(name for name, words in asked.items() if words > room)
    if not long:
        return ""
    most = max(asked.values())
    return (
        f"backend.max_tokens: {paid.max_reply_tokens:,} tokens hold about {room:,} words, so the "
        f"pages {', '.join(long)} ask for no more, in place of up to {most:,}; set "
        f"backend.max_tokens={2 * most} or more for those"
    )


def compare_windows(paid: ChatCompletionsBackend, longest: int) -> Iterator[CheckResult]:
    """Does the longest prompt (characters) fit into what the scenario states and the server has?"""
    need = tokens_needed(paid, longest)
    takes = f"the longest prompt takes about {need:,} tokens with its reply"
    stated = paid.context if paid.context is not None else paid.window
    if stated is not None and stated < need:
        yield note(
            f"backend.context: {takes}, more than {stated:,}, {_TRIMMED}",
            f"set backend.context={window_size(need)} if the model can read so many",
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
        yield ok(f"{takes}; the context window is not known")
        return
    has = f"the context window has at most {tokens:,} ({window.server} says)"
    if need <= tokens:
        yield ok(f"{takes}; {has}")
        return
    longer = {
        "vLLM": f"start vLLM with --max-model-len {window_size(need)}",
        "llama.cpp": f"start llama-server with --ctx-size {window_size(need)} for each slot",
    }.get(window.server, "use a model with a longer window")
    yield problem(f"{takes}, and {has}", f"{longer}, or set backend.context={tokens}, {_TRIMMED}")
