"""Bodies: what each kind of answer looks like on the wire, as OpenAI words it."""

from __future__ import annotations

import time
from dataclasses import dataclass

from tests.faultserver.asked import tokens
from tests.faultserver.counts import ANSWERED, LIMITED, REASKED
from tests.faultserver.plan import EMPTY, chance
from tests.faultserver.wire import HttpResponse
from tests.faultserver.words import UNREADABLE, with_secret, words

INVALID = "invalid_request_error"
ERRORS = {
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
WRONG = (
    {"prompt_tokens": -5, "completion_tokens": -7, "total_tokens": -12},
    {"prompt_tokens": "many", "completion_tokens": "a few", "total_tokens": "plenty"},
    {"prompt_tokens": 10**18, "completion_tokens": 10**18, "total_tokens": 2},
)


@dataclass(frozen=True)
class Answer:
    """A response, what came of the attempt, and the true tokens of a completion that it holds."""

    response: HttpResponse
    outcome: str
    usage: tuple[int, int] | None = None


def error(status, message, kind=INVALID, code=None):
    """An error as OpenAI puts it."""
    said = {"message": message, "type": kind, "param": None, "code": code}
    return HttpResponse.of(status, {"error": said})


def instead(way, plan, secret):
    """What is sent in place of any answer; ``secret`` is the Authorization header."""
    if way in ERRORS:
        response = error(*ERRORS[way])
        if way == "rate_limited":
            response.headers["Retry-After"] = f"{plan.retry_after:g}"
    elif way == "malformed_http":
        response = HttpResponse(200, b'{"choices": [{"message": <<<')
    elif way == "bad_gateway":
        response = HttpResponse(502, HTML, kind="text/html")
    elif way == "echo_key":
        why = f"Unexpected failure; the request had Authorization: {secret}"
        response = error(500, why, "server_error")
    else:
        return None
    return Answer(response, way)


def answer(asked, drawn, plan, secret):
    """The response to one question; how it is sent is the server's affair."""
    way = drawn.way
    if (other := instead(way, plan, secret)) is not None:
        return other
    if drawn.words == "overflow":
        why = f"This model's maximum context length is {max(1, asked.prompt_tokens - 1)} tokens."
        return Answer(error(400, why, code="context_length_exceeded"), way or "overflow")
    text, finish, refusal, outcome = _said(asked, drawn, plan, secret)
    usage = (asked.prompt_tokens, tokens(len(text or refusal or "")))
    message = {"role": "assistant", "content": text, "refusal": refusal}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
    body = {
        "id": f"chatcmpl-{int(chance(asked.id) * 2**53):014x}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": asked.model,
        "choices": [] if way == "no_choices" else [choice],
        "usage": {
            "prompt_tokens": usage[0],
            "completion_tokens": usage[1],
            "total_tokens": sum(usage),
        },
    }
    spoil(body, drawn.usage, asked.id)
    return Answer(HttpResponse.of(200, body), outcome, usage)


def spoil(body, kind, call):
    """Falsify the usage of a body."""
    if kind == "missing_usage":
        del body["usage"]
    elif kind == "zero_usage":
        body["usage"] = dict.fromkeys(body["usage"], 0)
    elif kind == "wrong_usage":
        body["usage"] = WRONG[int(chance(call, kind) * len(WRONG))]


def _said(asked, drawn, plan, secret):
    """Words, reason to finish, refusal and outcome; the first thing that goes wrong names it."""
    named, finish, refusal = drawn.way or drawn.words or drawn.usage, "stop", None
    if drawn.way in EMPTY:
        return None if drawn.way == "null_content" else "", finish, refusal, drawn.way
    text = words(asked)
    match drawn.words:
        case None if asked.first and plan.happens(plan.reask, "reask", asked.id):
            text, named = UNREADABLE, named or REASKED
        case "refusal":
            text, refusal = None, "I'm sorry, but I cannot help with that."
        case "content_filter":
            text, finish = "", "content_filter"
        case "length":
            text, finish = text[: len(text) // 2], "length"
        case "malformed_reply":
            text = UNREADABLE
        case "prose_reply":
            text = (
                f"Gladly, here is what I think.\n\n```json\n{text}\n```\n\nI hope that this helps."
            )
        case "echo_key_200":
            text = with_secret(text, secret)
    if asked.limit is not None and text is not None and tokens(len(text)) > asked.limit:
        text, finish, named = text[: 4 * asked.limit], "length", named or LIMITED
    return text, finish, refusal, named or ANSWERED
