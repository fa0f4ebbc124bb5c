"""Classify: what a provider's error means: a verdict on the words, or a fault of a certain kind.

Looked at are the status, the message and codes of a body and the names of exception classes, so
that no provider's library is needed here. The rest of a body may repeat the prompt, and is left
alone. ``agents.completion`` reads what is no error.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from typing import Any

from agents.errors import Filtered, Overflow, Verdict
from agents.faults import Fault
from agents.retry import retry_after_of
from agents.secrets import redact

LONGEST = 500
"""Characters of a message."""
_LOOKED_AT = 100_000
"""Characters of a body that are read for it."""
_SHOWN = 200
"""Characters of a body that are shown where it cannot be read."""

STATUSES: Mapping[int, str] = {
    401: "key",
    402: "credit",
    403: "key",
    408: "server",
    409: "server",
    425: "server",
    429: "rate",
}
"""Kinds of fault by status; others from 500 on are ``server``, below it ``request``."""

CODES: Mapping[str, type[Verdict] | str] = {
    "context_length_exceeded": Overflow,
    "exceed_context_size_error": Overflow,
    "request_too_large": Overflow,
    "content_filter": Filtered,
    "content_filter_policy": Filtered,
    "content_policy_violation": Filtered,
    "responsibleaipolicyviolation": Filtered,
    "data_inspection_failed": Filtered,
    "datainspectionfailed": Filtered,
    "insufficient_quota": "credit",
    "insufficient_balance": "credit",
    "insufficient_credits": "credit",
    "billing_hard_limit_reached": "credit",
    "billing_not_active": "credit",
}
"""Codes and types of errors, in lower case, that say more than the status."""

_TOO_LONG = (
    r"maximum (?:context|prompt|model|input) length|max(?:imum)? context (?:length|limit)"
    r"|longer than the (?:maximum )?(?:model|context)|context length is only"
    r"|model'?s context length|exceeds? the (?:available )?context (?:size|length|window)"
    r"|exceed context limit|prompt is too long|input is too long|prompt too long"
    r"|maximum number of tokens allowed|reduce the length of the (?:messages|input|prompt)"
    r"|`inputs` tokens \+ `max_new_tokens`|current length is \d+ while limit is"
    r"|invalid 'messages.{0,40}string too long|too many tokens: total"
)
_TAKEN_AWAY = (
    r"content[ _](?:management |filter(?:ing)? )policy|content policy|safety system"
    r"|violat\w+ (?:our|the) usage polic|inappropriate content|content exists risk"
    r"|(?:was|been) flagged"
)
_NO_KEY = r"api[ _]key (?:is )?(?:not valid|invalid)|(?:invalid|incorrect) api[ _]key"
_UNPAID = (
    r"credit balance is too low|insufficient (?:account )?(?:balance|credit|funds)"
    r"|billing hard limit|account is not active|billing (?:is )?not (?:active|enabled)"
)
WORDINGS: tuple[tuple[type[Verdict] | str, frozenset[int], re.Pattern[str]], ...] = (
    (
        "request",
        frozenset({400, 422}),
        re.compile(r"max_(?:completion_)?tokens[`' ]* is too large"),
    ),
    (Overflow, frozenset({400, 413, 422, 500}), re.compile(_TOO_LONG)),
    (Filtered, frozenset({400, 403, 422, 451}), re.compile(_TAKEN_AWAY)),
    ("credit", frozenset({400, 403}), re.compile(_UNPAID)),
    ("key", frozenset({400}), re.compile(_NO_KEY)),
)
"""What messages without a telling code say: OpenAI, vLLM, Ollama, Anthropic, Gemini and others."""

ERRORS: Mapping[str, str] = {
    "ServerTimeoutError": "timeout",
    "TimeoutException": "timeout",
    "TimeoutError": "timeout",
    "APITimeoutError": "timeout",
    "InvalidURL": "request",
    "InvalidUrlClientError": "request",
    "UnsupportedProtocol": "request",
    "LocalProtocolError": "request",
    "PayloadEncodingError": "connection",
    "ClientPayloadError": "connection",
    "ClientConnectionError": "connection",
    "TransportError": "connection",
    "OSError": "connection",
    "APIConnectionError": "connection",
    "JSONDecodeError": "garbled",
    "UnicodeDecodeError": "garbled",
    "DecodingError": "garbled",
    "HttpProcessingError": "garbled",
    "ClientResponseError": "garbled",
    "APIResponseValidationError": "garbled",
}
"""Kinds of fault by class names of Python, aiohttp, httpx, openai and litellm."""


def of_response(status: int, body: str, headers: Mapping[str, str]) -> Verdict | Fault:
    """What an answer that is no success means.

    Args:
        status: of HTTP.
        body: as text.
        headers: under lower-case names, or in a mapping that does not tell cases apart.
    """
    message, codes = _complaint(body[:_LOOKED_AT])
    told = one_line(f"HTTP {status}: {message or body or 'no reason given'}")
    meaning = _meaning(status, message.lower(), codes)
    if not isinstance(meaning, str):
        return meaning(told)
    return Fault(told, meaning, status=status, after=retry_after_of(headers, time.time()))


def of_success(said: Any) -> Verdict | Fault | None:
    """What an answer with a status of success means; None: it is a completion.

    Some routers send an error in its place, with the true status inside.

    Args:
        said: the body, as text or as data.
    """
    try:
        data = json.loads(said) if isinstance(said, str) else said
    except (ValueError, RecursionError):
        return Fault(one_line(f"the answer is no JSON: {said[:_SHOWN]}"), "garbled")
    choices, error = attribute(data, "choices"), attribute(data, "error")
    if isinstance(choices, list | tuple) and choices:
        return None
    if not error:
        return Fault("the answer is no chat completion that has choices", "garbled")
    status = attribute(error, "code")
    if isinstance(status, int) and 400 <= status < 600:
        return of_response(status, json.dumps({"error": error}, default=str), {})
    return Fault(one_line(f"an error in place of an answer: {error}"), "garbled")


def of_error(error: BaseException, *, sent: bool = True) -> Verdict | Fault:
    """What an exception of a provider's library means, where no answer came.

    Args:
        error: the exception; the first cause in its chain decides.
        sent: whether a request may have gone out before it was raised.
    """
    chain = [*_causes(error)]
    for one in reversed(chain):
        for cls in type(one).__mro__:
            if cls.__name__ in ERRORS:
                told = ": ".join(filter(None, (type(one).__name__, str(one))))
                return Fault(one_line(told), ERRORS[cls.__name__])
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and status >= 300:
        return of_response(status, str(error), {})
    told = one_line(f"{type(error).__name__}: {error}")
    return Fault(told, "garbled" if sent else "request")


def one_line(text: str) -> str:
    """The text without secrets, line breaks and control characters, cut to ``LONGEST``."""
    shown = "".join(c if c.isprintable() else " " for c in text[:_LOOKED_AT])
    clean = redact(" ".join(shown.split()))
    return clean if len(clean) <= LONGEST else clean[: LONGEST - 1] + "…"


def attribute(thing: Any, name: str) -> Any:
    """A field of plain data or of an object; None where there is none."""
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)


def _meaning(status: int, message: str, codes: frozenset[str]) -> type[Verdict] | str:
    for code in sorted(codes & CODES.keys()):
        return CODES[code]
    for meaning, statuses, wording in WORDINGS:
        if status in statuses and wording.search(message):
            return meaning
    return STATUSES.get(status, "server" if status >= 500 else "request")


def _complaint(body: str) -> tuple[str, frozenset[str]]:
    """The message of an error body, empty where it has none, and its codes in lower case."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return body, frozenset()
    data = data[0] if isinstance(data, list) and data else data
    if not isinstance(data, dict):
        return body, frozenset()
    error = data.get("error", data)
    error = error if isinstance(error, dict) else {"message": error}
    inner = error.get("innererror")
    told = (_worded(part.get(name)) for part in (error, data) for name in ("message", "detail"))
    message = next(filter(None, told), "")
    places = (error, inner if isinstance(inner, dict) else {})
    codes = [part.get(name) for part in places for name in ("code", "type", "status")]
    return message, frozenset(code.lower() for code in codes if isinstance(code, str))


def _worded(told: Any) -> str:
    """A message, also where it is a list of complaints that repeat their input."""
    if isinstance(told, list):
        return "; ".join(str(one["msg"]) for one in told if isinstance(one, dict) and "msg" in one)
    return told if isinstance(told, str) else ""


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The exception and what it was raised for, from the last to the first."""
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        yield one
        one = one.__cause__ or one.__context__
