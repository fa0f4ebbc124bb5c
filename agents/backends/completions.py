"""Reads the chat completion of a provider as a reply.

A completion without words becomes a verdict or a fault. Errors are read in
``agents.backends.provider_errors``.
"""

from __future__ import annotations

from typing import Any

from virsci_society.agents.backends.provider_errors import classify_success, get_field, one_line
from virsci_society.agents.errors import Fault, Filtered, Refused, Verdict
from virsci_society.agents.prompts.request import Reply, Request, most_tokens
from virsci_society.agents.usage import Usage, estimate_tokens

BEYOND = 100_000
"""Tokens that hidden thoughts and a provider's own prompt may add; larger counts are mistakes."""

CUT = frozenset({"length", "max_tokens"})
FILTERED = frozenset({"content_filter", "safety"})
"""Reasons to finish, beside ``stop``."""


def read_completion(completion: Any, request: Request, max_reply_tokens: int) -> Reply:
    """The reply in a chat completion, given as an object or as plain data.

    Args:
        completion: the completion.
        request: the request that it answers.
        max_reply_tokens: most tokens that were asked for.

    Raises:
        Verdict: the model declined, or a filter took the words away.
        Fault: it holds no words, or is no completion.
    """
    counted = get_field(completion, "usage")
    failure = classify_success(completion) or _wordless(get_field(completion, "choices")[0])
    if failure is not None:
        # What a provider counted it bills, whether or not there were words.
        failure.usage = None if counted is None else _usage(counted, request, "", max_reply_tokens)
        raise failure
    choice = get_field(completion, "choices")[0]
    text = _text(get_field(get_field(choice, "message"), "content"))
    usage = _usage(counted, request, text, max_reply_tokens)
    cut = _finish_reason(choice) in CUT
    return Reply(text, usage, str(get_field(completion, "model") or "")[:200], cut=cut)


def _wordless(choice: Any) -> Verdict | Fault | None:
    """Why there are no words; None if there are."""
    message = get_field(choice, "message")
    refusal = _refusal(message)
    if refusal.strip():
        return Refused(one_line(f"the model declined: {refusal}"))
    return (
        None if _text(get_field(message, "content")).strip() else _no_text(_finish_reason(choice))
    )


def _finish_reason(choice: Any) -> str:
    return str(get_field(choice, "finish_reason") or "").lower()


def _no_text(why: str) -> Verdict | Fault:
    if why in FILTERED:
        return Filtered("the provider's content filter took the answer away")
    if why in CUT:
        return Fault("the reply was cut before its first word; raise backend.max_tokens", "empty")
    return Fault("the reply has no text" + (f" (it ended with {why})" if why else ""), "empty")


def _text(content: Any) -> str:
    """The words of a message; some servers send them in pieces."""
    if isinstance(content, list):
        content = "".join(_text(get_field(piece, "text")) for piece in content)
    return content if isinstance(content, str) else ""


def _refusal(message: Any) -> str:
    """The words by which the model declined; litellm stores them aside."""
    aside = get_field(message, "provider_specific_fields")
    return _text(get_field(message, "refusal")) or _text(get_field(aside, "refusal"))


def _usage(counted: Any, request: Request, text: str, max_reply_tokens: int) -> Usage:
    """Tokens as the provider counted them, or one per four characters where it did not.

    Args:
        counted: the provider's counts.
        request: the request.
        text: the reply.
        max_reply_tokens: most tokens that were asked for.
    """
    asked = sum(len(message.content) for message in request.messages)
    prompt = _count(get_field(counted, "prompt_tokens"), most_tokens(request, BEYOND))
    # No tokens can be believed of no words only.
    least = 1 if text else 0
    reply = _count(get_field(counted, "completion_tokens"), max_reply_tokens + BEYOND, least)
    estimated = prompt is None or reply is None
    return Usage(prompt or estimate_tokens(asked), reply or estimate_tokens(len(text)), estimated)


def _count(value: Any, most: int, least: int = 1) -> int | None:
    """A number of tokens, if it can be believed."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    believed = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
    return value if believed else None
