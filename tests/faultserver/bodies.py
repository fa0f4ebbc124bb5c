"""Bodies: what each kind of answer looks like on the wire, as OpenAI words it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.faultserver.asked import Asked, tokens
from tests.faultserver.counts import ANSWERED, LIMITED, REASKED
from tests.faultserver.kinds import EMPTY
from tests.faultserver.plan import Drawn, Plan, chance
from tests.faultserver.wire import HttpResponse
from tests.faultserver.words import UNREADABLE, with_secret, words

INVALID = "invalid_request_error"
ERRORS: Mapping[str, tuple[int, str, str, str | None]] = {
    "unauthorised": (401, "Incorrect API key provided.", INVALID, "invalid_api_key"),
    "forbidden": (403, "Country not supported", "request_forbidden", "unsupported_country"),
    "not_found": (404, "The model does not exist.", INVALID, "model_not_found"),
    "quota": (
        *(429, "You exceeded your current quota, please check your plan and billing details."),
        *("insufficient_quota", "insufficient_quota"),
    ),
    "rate_limited": (429, "Rate limit reached for requests", "requests", "rate_limit_exceeded"),
    "rate_limited_bare": (429, "Rate limit reached", "requests", "rate_limit_exceeded"),
    "server_error": (500, "The server had an error. Sorry about that!", "server_error", None),
    "unavailable": (503, "The engine is currently overloaded", "server_error", None),
}
"""Status, message, type and code of each kind that is an error and no more."""
HTML = b"<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
WRONG: tuple[Mapping[str, Any], ...] = (
    {"prompt_tokens": -5, "completion_tokens": -7, "total_tokens": -12},
    {"prompt_tokens": "many", "completion_tokens": "a few", "total_tokens": "plenty"},
    {"prompt_tokens": 10**18, "completion_tokens": 10**18, "total_tokens": 2},
)


@dataclass(frozen=True, slots=True)
class Answer:
    """A response, what came of the attempt, and the true tokens of a completion that it holds."""

    response: HttpResponse
    outcome: str
    usage: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """The message of a completion, and why it ends."""

    text: str | None
    finish: str = "stop"
    refusal: str | None = None


def answer(asked: Asked, drawn: Drawn, plan: Plan, secret: str) -> Answer:
    """The response to one question; how it is sent is the server's affair.

    Args:
        asked: the question.
        drawn: what goes wrong with this attempt.
        plan: how the server behaves otherwise.
        secret: value of the Authorization header.

    Raises:
        Misunderstood: nothing can be said to this question.
    """
    way = drawn.way or ""
    if way in ERRORS:
        return Answer(_error_of(way, plan), way)
    if way in _INSTEAD:
        return Answer(_INSTEAD[way](secret), way)
    if drawn.words == "overflow":
        return Answer(_overflow(asked), way or "overflow")
    said, outcome = _said(asked, drawn, plan, secret)
    usage = (asked.prompt_tokens, tokens(len(said.text or said.refusal or "")))
    body = _completion(asked, said, usage)
    if way == "no_choices":
        body["choices"] = []
    if drawn.usage is not None:
        _spoil(body, drawn.usage, asked.id)
    return Answer(HttpResponse.of(200, body), outcome, usage)


def error(status: int, message: str, kind: str = INVALID, code: str | None = None) -> HttpResponse:
    """An error as OpenAI puts it."""
    said = {"message": message, "type": kind, "param": None, "code": code}
    return HttpResponse.of(status, {"error": said})


def _said(asked: Asked, drawn: Drawn, plan: Plan, secret: str) -> tuple[Said, str]:
    """The message and the outcome; the first thing that goes wrong names it."""
    named = drawn.way or drawn.words or drawn.usage
    if drawn.way in EMPTY:
        return Said(None if drawn.way == "null_content" else ""), drawn.way
    text = words(asked, plan)
    if drawn.words is not None:
        said = _WORDS[drawn.words](text, secret)
    elif asked.first and plan.happens(plan.reask, "reask", asked.id):
        said, named = Said(UNREADABLE), named or REASKED
    else:
        said = Said(text)
    limit = asked.limit
    if limit is not None and said.text is not None and tokens(len(said.text)) > limit:
        said, named = Said(said.text[: 4 * limit], "length"), named or LIMITED
    return said, named or ANSWERED


def _completion(asked: Asked, said: Said, usage: tuple[int, int]) -> dict[str, Any]:
    message = {"role": "assistant", "content": said.text, "refusal": said.refusal}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": said.finish}
    counted = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
    return {
        "id": f"chatcmpl-{int(chance(asked.id) * 2**53):014x}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": asked.model,
        "choices": [choice],
        "usage": counted | {"total_tokens": sum(usage)},
    }


def _spoil(body: dict[str, Any], kind: str, call: str) -> None:
    if kind == "missing_usage":
        del body["usage"]
    elif kind == "zero_usage":
        body["usage"] = dict.fromkeys(body["usage"], 0)
    else:
        body["usage"] = WRONG[int(chance(call, kind) * len(WRONG))]


def _error_of(kind: str, plan: Plan) -> HttpResponse:
    response = error(*ERRORS[kind])
    if kind != "rate_limited":
        return response
    return HttpResponse(429, response.body, {"Retry-After": f"{plan.retry_after:g}"})


def _overflow(asked: Asked) -> HttpResponse:
    return error(
        400,
        f"This model's maximum context length is {max(1, asked.prompt_tokens - 1)} tokens. "
        f"However, your messages resulted in {asked.prompt_tokens} tokens. Please reduce the "
        "length of the messages.",
        code="context_length_exceeded",
    )


_INSTEAD: Mapping[str, Callable[[str], HttpResponse]] = {
    "malformed_http": lambda _: HttpResponse(200, b'{"choices": [{"message": <<<'),
    "bad_gateway": lambda _: HttpResponse(502, HTML, kind="text/html"),
    "echo_key": lambda secret: error(
        500, f"Unexpected failure; the request had Authorization: {secret}", "server_error"
    ),
}
_WORDS: Mapping[str, Callable[[str, str], Said]] = {
    "refusal": lambda text, secret: Said(None, refusal="I'm sorry, but I cannot help with that."),
    "content_filter": lambda text, secret: Said("", "content_filter"),
    "length": lambda text, secret: Said(text[: len(text) // 2], "length"),
    "malformed_reply": lambda text, secret: Said(UNREADABLE),
    "prose_reply": lambda text, secret: Said(
        f"Gladly, here is what I think.\n\n```json\n{text}\n```\n\nI hope that this helps."
    ),
    "echo_key_200": lambda text, secret: Said(with_secret(text, secret)),
}
