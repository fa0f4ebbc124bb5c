"""Reads what a provider or its library answers, as a reply, a verdict or a fault."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

from virsci_society.agents.errors import Fault, Filtered, Overflow, Refused, Verdict
from virsci_society.agents.prompts.request import (
    Reply,
    Request,
    Usage,
    estimate_tokens,
    most_tokens,
    total_characters,
)
from virsci_society.agents.redaction import redact
from virsci_society.agents.spelling import cut_text, plain_line, read_sections

BEYOND = 100_000
"""Tokens that hidden thoughts and a provider's own prompt may add; larger counts are mistakes."""

_SECTIONS = read_sections(Path(__file__).with_name("wordings.txt"))


def _meanings(section: str) -> dict[str, str]:
    lines = (line.partition(": ") for line in _SECTIONS[section])
    return {word: meaning for meaning, _, words in lines for word in words.split()}


ENDINGS, STATUSES, CODES, ERRORS = map(_meanings, ("endings", "statuses", "codes", "exceptions"))
"""Meanings of finish reasons, statuses, error codes and names of exceptions."""
THOUGHTS = ("reasoning_content", "reasoning", "reasoning_details", "thinking", "thinking_blocks")
ASIDE = (*THOUGHTS, "tool_calls", "function_call")
"""Fields of a message that some servers use for the text of ``content``."""
BLOCKED = ("usage", "prompt_feedback", "promptFeedback", "prompt_filter_results")
"""Fields of an answer without choices that is no error: its prompt or reply was blocked."""
CACHED = ("prompt_cache_hit_tokens", "cache_read_input_tokens", "cached_tokens")
"""Tokens of a prompt from a cache, by DeepSeek, Anthropic and Moonshot; OpenAI, vLLM and llama.cpp
have them in ``prompt_tokens_details``."""
LONGEST = 500
"""Characters of a message."""
_MOST_READ, _SHOWN = 100_000, 200
"""Characters of a body that are parsed, and shown if it cannot be parsed."""

VERDICTS: Mapping[str, type[Verdict]] = {"overflow": Overflow, "filtered": Filtered}
WORDINGS = tuple(
    (title.split()[0], title.split()[1:], re.compile("|".join(patterns)))
    for title, patterns in _SECTIONS.items()
    if " " in title
)
"""Meaning, statuses and pattern of error messages without a specific code, in lower case."""
REFUSALS = tuple(
    (re.compile(words), f"give --set backend.{key}")
    for key, _, words in (line.partition(": ") for line in _SECTIONS["refusals"])
)
"""What messages about a refused parameter say, and the setting by which it is not sent."""

UNSENT = frozenset(_SECTIONS["unsent"])
NETWORK = frozenset(_SECTIONS["network"]) | UNSENT
"""Class names of errors raised before a request is sent, and of network errors."""
_ACCESS = re.compile(r"(?i)credential|api[ _]?key|project_id|access[ _]?token")
_LONGEST_HEADER = 100
_SECONDS = re.compile(r"(-?)([0-9]{1,15}(?:\.[0-9]{0,15})?)")


def read_completion(completion: Any, request: Request, max_reply_tokens: int) -> Reply:
    """The reply in a chat completion, given as an object or as plain data."""
    counted, choices = get_field(completion, "usage"), get_field(completion, "choices")
    failure = classify_success(completion) or _wordless(choices[0])
    if failure is not None:
        # What a provider counted it bills, whether or not there were words.
        failure.usage = None if counted is None else _usage(counted, request, "", max_reply_tokens)
        raise failure
    text = _text(get_field(get_field(choices[0], "message"), "content"))
    usage = _usage(counted, request, text, max_reply_tokens)
    # A server may call itself anything, of any length; the name goes into tables.
    name = str(get_field(completion, "model") or "")[:200]
    # llama.cpp states the tokens that it reads and writes in a second with each reply.
    timings = get_field(completion, "timings")
    said = [get_field(timings, f"{what}_per_second") for what in ("prompt", "predicted")]
    sound = all(isinstance(one, float | int) and 0.01 < one < BEYOND for one in said)
    speed = (float(said[0]), float(said[1])) if sound else None
    cut = ENDINGS.get(_finish_reason(choices[0])) == "cut"
    return Reply(text, usage, name, cut=cut, speed=speed)


def _wordless(choice: Any) -> Verdict | Fault | None:
    """Why there are no words that count; None if there are."""
    error, why = get_field(choice, "error"), _finish_reason(choice)
    if error:
        return _inner_error(error)
    message = get_field(choice, "message")
    pieces = get_field(message, "content")
    # litellm stores the words by which a model declines aside.
    aside = get_field(message, "provider_specific_fields")
    refusal = _text(get_field(message, "refusal")) or _text(get_field(aside, "refusal"))
    refusal = refusal or (_text(pieces, "refusal") if isinstance(pieces, list) else "")
    if refusal.strip() or why == "refusal":
        return Refused(one_line(f"the model refused: {refusal}".removesuffix(": ")))
    ending = ENDINGS.get(why, "") if why else "finished"
    if ending == "filtered":
        return Filtered("the provider's content filter blocked the reply")
    if not ending:
        return Fault(one_line(f"the provider aborted the reply: it ended with {why!r}"), "server")
    if _text(pieces).strip():
        return None
    if message is None or not (pieces is None or isinstance(pieces, str | list)):
        shown = f"{json.dumps(choice, default=str):.{_SHOWN}}"
        return Fault(one_line(f"the choice has no message with text: {shown}"), "garbled")
    elsewhere = next((name for name in ASIDE if get_field(message, name)), "")
    if ending == "cut":
        where = f", in {elsewhere}" if elsewhere else ""
        said = f"the reply was cut off before its first word{where}; raise backend.max_tokens"
    elif elsewhere:
        said = (
            f"the reply has no text; its content is in {elsewhere}; turn thinking and tools of the "
            "server off, or its parser of them (llama.cpp: --reasoning-format none, vLLM: no "
            "--reasoning-parser)"
        )
    else:
        said = f"the reply has no text (it ended with {why})" if why else "the reply has no text"
    return Fault(said, "empty")


def _finish_reason(choice: Any) -> str:
    named = get_field(choice, "finish_reason") or get_field(choice, "native_finish_reason") or ""
    # Gemini's OpenAI layer writes "content_filter: PROHIBITED_CONTENT", Vercel "content-filter".
    return str(named).partition(":")[0].strip().lower().replace("-", "_")


def _text(content: Any, kind: str = "text") -> str:
    """The words of a message; some servers send them in pieces."""
    if isinstance(content, dict):
        content = [content]
    if isinstance(content, list):
        said = (piece for piece in content if get_field(piece, "type") not in THOUGHTS)
        content = "".join(_text(get_field(piece, kind)) for piece in said)
    return content if isinstance(content, str) else ""


def _usage(counted: Any, request: Request, text: str, max_reply_tokens: int) -> Usage:
    """Tokens as the provider counted them, or one per four characters where it did not."""
    prompt = token_count(get_field(counted, "prompt_tokens"), most_tokens(request, BEYOND))
    # No tokens can be believed of no words only.
    least = 1 if text else 0
    reply = token_count(get_field(counted, "completion_tokens"), max_reply_tokens + BEYOND, least)
    estimated = prompt is None or reply is None
    details = get_field(counted, "prompt_tokens_details")
    named = (get_field(details, "cached_tokens"), *(get_field(counted, name) for name in CACHED))
    cached = token_count(next(filter(None, named), None), prompt or 0)
    counts = (
        prompt or estimate_tokens(total_characters(request.messages)),
        reply or estimate_tokens(len(text)),
    )
    return Usage(*counts, estimated, cached or 0)


def token_count(value: Any, most: int, least: int = 1) -> int | None:
    """A number of tokens that a server states, if it can be believed; a whole float counts."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    # To Python True is an int, and no count.
    believed = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
    return value if believed else None


def classify_response(status: int, body: str, headers: Mapping[str, str]) -> Verdict | Fault:
    """What an answer without success means."""
    message, codes, parameter = _read_error(body[:_MOST_READ])
    reason = message or body or "no reason given"
    if not (message or body) and status < 400:
        # Without user name and query.
        address = headers.get("location", "").partition("?")[0].partition("#")[0]
        scheme, slashes, rest = address.rpartition("//")
        host, slash, path = rest.partition("/")
        target = f"{scheme}{slashes}{host.rpartition('@')[2]}{slash}{path}"
        reason = f"it leads to {target}" if target else reason
    text, said, code = one_line(f"HTTP {status}: {reason}"), message.lower(), str(status)
    other = "server" if status >= 500 else "request" if status >= 400 else "redirect"
    other = "garbled" if status < 300 else other
    meanings = (
        *(CODES[one] for one in sorted(codes & CODES.keys())),
        *(kind for kind, statuses, words in WORDINGS if code in statuses and words.search(said)),
        STATUSES.get(code, other),
    )
    meaning = meanings[0]
    if meaning in VERDICTS:
        return VERDICTS[meaning](text)
    after = retry_after_seconds(headers, time.time())
    fault = Fault(text, meaning, status=status, retry_after=after)
    if meaning in ("request", "server"):
        complaint = f"{said or body[:_MOST_READ].lower()} {parameter}"
        fault.hint = next((key for words, key in REFUSALS if words.search(complaint)), "")
    return fault


def classify_success(answer: Any) -> Verdict | Fault | None:
    """What an answer with a status of success means; some routers hide an error in one."""
    try:
        data = json.loads(answer) if isinstance(answer, str) else answer
    except (ValueError, RecursionError):
        return Fault(one_line(f"the response is not JSON: {answer[:_SHOWN]}"), "garbled")
    choices, error = get_field(data, "choices"), get_field(data, "error")
    # MiniMax reports errors here; some gateways add an empty error to every answer.
    base = get_field(data, "base_resp")
    error = base if get_field(base, "status_code") else error
    if error and not (choices and isinstance(error, dict) and not any(error.values())):
        return _inner_error(error)
    if isinstance(choices, list | tuple) and choices:
        return None
    if not choices and any(get_field(data, name) for name in BLOCKED):
        # So some providers answer a page that their filter has blocked.
        return Fault("the provider returned no choices; its filter may block the page", "withheld")
    if isinstance(data, dict) and _read_error(json.dumps(data, default=str))[0]:
        return _inner_error(data)
    shown = f"{json.dumps(data, default=str):.{_SHOWN}}"
    return Fault(
        one_line(f"the response is not a chat completion with choices: {shown}"), "garbled"
    )


def _inner_error(error: Any) -> Verdict | Fault:
    """What an error inside of an answer with a status of success means."""
    status = get_field(error, "code") or get_field(error, "status")
    if isinstance(status, str) and status.isdecimal():
        status = int(status)
    sound = isinstance(status, int) and 400 <= status < 600
    body = json.dumps({"error": error}, default=str)
    return classify_response(status if sound else 200, body, {})


def classify_exception(error: BaseException, *, sent: bool = True) -> Verdict | Fault:
    """What an exception of a provider's library means, where no answer came."""
    chain = [*_causes(error)]
    names = [[cls.__name__ for cls in type(cause).__mro__] for cause in chain]
    for cause, classes in zip(reversed(chain), reversed(names), strict=True):
        if kind := next((ERRORS[name] for name in classes if name in ERRORS), ""):
            text = ": ".join(filter(None, (type(cause).__name__, str(cause))))
            fault = Fault(one_line(text), kind)
            fault.sent = sent and UNSENT.isdisjoint(name for classes in names for name in classes)
            return fault
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and status >= 300:
        return classify_response(status, str(error), {})
    text = one_line(f"{type(error).__name__}: {error}")
    return Fault(text, "garbled" if sent else "request")


def classify_refusal(error: Exception) -> Verdict | Fault:
    """What an exception means where a provider's library is not known to have sent anything."""
    names = {cls.__name__ for cause in _causes(error) for cls in type(cause).__mro__}
    if not names.isdisjoint(NETWORK):
        return classify_exception(error, sent=False)
    text = one_line(f"{type(error).__name__}: {error}")
    # litellm calls a missing key an error 500 of the server, or a lost connection.
    fault = Fault(text, "key") if _ACCESS.search(text) else classify_exception(error, sent=False)
    if isinstance(fault, Fault):
        # Some providers are asked by other ways than ours: what may pass is tried again.
        fault.sent = fault.rule.retryable
    return fault


def one_line(text: str) -> str:
    """The text without secrets, line breaks and control characters, cut to ``LONGEST``."""
    # Redacted before it is cut: half of a key would no longer be known as one.
    return cut_text(redact(plain_line(text[:_MOST_READ])), LONGEST)


def get_field(thing: Any, name: str) -> Any:
    """A field of plain data or of an object; None if missing."""
    # Asked for dictionaries first: to ask for any mapping takes ten times as long.
    plain = isinstance(thing, dict) or isinstance(thing, Mapping)  # noqa: SIM101
    return thing.get(name) if plain else getattr(thing, name, None)


def _read_error(body: str) -> tuple[str, frozenset[str], str]:
    """The message of an error body, its lower-case codes, and the parameter that it names."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return body, frozenset(), ""
    data = data[0] if isinstance(data, list) and data else data
    if not isinstance(data, dict):
        return body, frozenset(), ""
    error = data.get("error", data)
    error = error if isinstance(error, dict) else {"message": error}
    inner = error.get("innererror")
    names = ("message", "detail", "msg", "status_msg", "errors", "error_msg")
    messages = (_message_text(part.get(name)) for part in (error, data) for name in names)
    message = next(filter(None, messages), "")
    places = (error, inner if isinstance(inner, dict) else {})
    codes = [part.get(name) for part in places for name in ("code", "type", "status")]
    known = frozenset(str(code).lower() for code in codes if isinstance(code, str | int))
    return message, known, str(error.get("param") or "").lower()


def _message_text(message: Any) -> str:
    """A message, also where it is a list of complaints that repeat their input."""
    if isinstance(message, dict):
        message = message.get("detail") or message.get("message")
    if isinstance(message, list):
        details = (part for part in message if isinstance(part, dict))
        # The last part of a place is the name of the parameter.
        return "; ".join(
            f"{str(part.get('loc', ''))[-80:]} {part.get('msg') or part.get('message', '')}".strip()
            for part in details
        )
    return message if isinstance(message, str) else ""


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The exception and its causes, from the last to the first."""
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__


def retry_after_seconds(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds to wait (>= 0) by the headers of a response; ``now`` replaces a missing ``date``."""
    named = ((str(name).lower(), str(value).strip()) for name, value in headers.items())
    headers_by_name = {name: value for name, value in named if len(value) <= _LONGEST_HEADER}
    for name, per_second in (("retry-after-ms", 1000), ("retry-after", 1)):
        if number := _SECONDS.fullmatch(headers_by_name.get(name, "")):
            return 0.0 if number[1] else float(number[2]) / per_second
    date = _since_1970(headers_by_name.get("retry-after", ""))
    # The server's own clock, which set the date: ours may have been set by an hour meanwhile.
    sent = _since_1970(headers_by_name.get("date", ""))
    return None if date is None else max(0.0, date - (now if sent is None else sent))


def _since_1970(text: str) -> float | None:
    """The seconds since 1970 of an HTTP date; None if it cannot be read."""
    try:
        date = parsedate_to_datetime(text)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
