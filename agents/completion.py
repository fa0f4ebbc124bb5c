"""Completion: a chat completion read as words, with their tokens.

One without words becomes a verdict or a fault; errors are read in ``agents.classify``.
"""

from __future__ import annotations

from typing import Any

from agents.budget import most_tokens
from agents.classify import attribute, of_success, one_line
from agents.errors import Filtered, Refused, Verdict
from agents.faults import Fault
from agents.request import Reply, Request, Usage

BEYOND = 100_000
"""Tokens that hidden thoughts and a provider's own prompt may add; larger counts are mistakes."""

CUT = frozenset({"length", "max_tokens"})
FILTERED = frozenset({"content_filter", "safety"})
"""Reasons to finish, beside ``stop``."""


def read_completion(said: Any, request: Request, longest_reply: int) -> Reply:
    """The words of a chat completion, given as an object or as plain data.

    Args:
        said: the completion.
        request: what it answers.
        longest_reply: most tokens that were asked for.

    Raises:
        Verdict: the model declined, or a filter took the words away.
        Fault: it holds no words, or is no completion.
    """
    told = attribute(said, "usage")
    failure = of_success(said) or _wordless(attribute(said, "choices")[0])
    if failure is not None:
        # What a provider counted it bills, whether or not there were words.
        failure.usage = None if told is None else _usage(told, request, "", longest_reply)
        raise failure
    choice = attribute(said, "choices")[0]
    text = _text(attribute(attribute(choice, "message"), "content"))
    usage = _usage(told, request, text, longest_reply)
    cut = _reason(choice) in CUT
    return Reply(text, usage, str(attribute(said, "model") or "")[:200], cut=cut)


def _wordless(choice: Any) -> Verdict | Fault | None:
    """Why there are no words; None if there are."""
    message = attribute(choice, "message")
    refusal = _refusal(message)
    if refusal.strip():
        return Refused(one_line(f"the model declined: {refusal}"))
    return None if _text(attribute(message, "content")).strip() else _silence(_reason(choice))


def _reason(choice: Any) -> str:
    return str(attribute(choice, "finish_reason") or "").lower()


def _silence(why: str) -> Verdict | Fault:
    if why in FILTERED:
        return Filtered("the provider's content filter took the answer away")
    if why in CUT:
        return Fault("the reply was cut before its first word; raise backend.max_tokens", "empty")
    return Fault("the reply has no text" + (f" (it ended with {why})" if why else ""), "empty")


def _text(content: Any) -> str:
    """The words of a message; some servers send them in pieces."""
    if isinstance(content, list):
        content = "".join(_text(attribute(piece, "text")) for piece in content)
    return content if isinstance(content, str) else ""


def _refusal(message: Any) -> str:
    """Why the model declined; litellm puts it aside."""
    aside = attribute(message, "provider_specific_fields")
    return _text(attribute(message, "refusal")) or _text(attribute(aside, "refusal"))


def _usage(told: Any, request: Request, text: str, longest_reply: int) -> Usage:
    """The tokens as counted by the provider, or four characters each where it did not count."""
    asked = sum(len(message.content) for message in request.messages)
    prompt = _count(attribute(told, "prompt_tokens"), most_tokens(request, BEYOND))
    reply = _count(attribute(told, "completion_tokens"), longest_reply + BEYOND)
    estimated = prompt is None or reply is None
    return Usage(prompt or _tokens(asked), reply or _tokens(len(text)), estimated)


def _count(told: Any, most: int) -> int | None:
    """A number of tokens that can be believed."""
    if isinstance(told, float) and told.is_integer():
        told = int(told)
    believed = isinstance(told, int) and not isinstance(told, bool) and 0 < told <= most
    return told if believed else None


def _tokens(characters: int) -> int:
    return (characters + 3) // 4
