"""What providers' errors mean, by the wordings that they really use."""

from __future__ import annotations

import json

import pytest

from tests.agents.backends.live_provider import a_request, completion
from virsci_society.agents.backends.responses import (
    LONGEST,
    classify_exception,
    classify_response,
    classify_success,
    one_line,
    read_completion,
)
from virsci_society.agents.errors import RULES, Fault, Filtered, Overflow
from virsci_society.agents.prompts.request import Usage


def openai(message, code=None, kind="invalid_request_error"):
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def anthropic(kind, message):
    return {"type": "error", "error": {"type": kind, "message": message}}


def gemini(code, status, message):
    return {"error": {"code": code, "message": message, "status": status}}


TOO_LONG = [
    (400, openai("Too long", "context_length_exceeded")),
    (
        400,
        openai(
            "This model's maximum context length is 8192 tokens. However, you requested 9000 "
            "tokens (8000 in the messages, 1000 in the completion)."
        ),
    ),
    (
        400,
        {
            "object": "error",
            "message": "You passed 5001 input tokens and requested 100 output tokens. However, "
            "the model's context length is only 4096 tokens",
            "type": "BadRequestError",
            "code": 400,
        },
    ),
    (400, {"message": "The decoder prompt (length 5000) is longer than the maximum model length"}),
    (500, {"error": "the input length exceeds the context length"}),
    (400, anthropic("invalid_request_error", "prompt is too long: 205000 tokens > 200000 maximum")),
    (
        400,
        anthropic(
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 199000 + 4096 > 200000",
        ),
    ),
    (413, anthropic("request_too_large", "Request exceeds the maximum size")),
    (
        400,
        gemini(
            400,
            "INVALID_ARGUMENT",
            "The input token count (1200000) exceeds the maximum number of tokens allowed "
            "(1048576).",
        ),
    ),
    (
        400,
        {
            "error": {
                "code": 400,
                "message": "request (9000 tokens) exceeds the available context size (4096 "
                "tokens), try increasing it",
                "type": "exceed_context_size_error",
            }
        },
    ),
    (400, openai("Please reduce the length of the messages or completion.")),
    (422, {"error": "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000"}),
    (400, {"message": "Input is too long for requested model."}),
    (
        400,
        openai(
            "Invalid 'messages[1].content': string too long. Expected a string with maximum "
            "length 1048576, but got a string with length 2000000 instead."
        ),
    ),
]

TAKEN_AWAY = [
    (400, openai("Your request was rejected by our safety system.", "content_policy_violation")),
    (
        400,
        {
            "error": {
                "message": "The response was filtered due to the prompt triggering Azure OpenAI's "
                "content management policy.",
                "code": "content_filter",
                "status": 400,
                "innererror": {"code": "ResponsibleAIPolicyViolation"},
            }
        },
    ),
    (400, anthropic("invalid_request_error", "Output blocked by content filtering policy")),
    (400, openai("Invalid prompt: it was flagged as potentially violating our usage policy.")),
    (400, openai("Input data may contain inappropriate content.", "data_inspection_failed")),
    (400, openai("Content Exists Risk")),
]

FAULTS = [
    ("credit", 429, openai("You exceeded your current quota", "insufficient_quota", "x")),
    ("credit", 429, openai("You exceeded your current quota", None, "insufficient_quota")),
    ("credit", 402, openai("Insufficient Balance")),
    ("credit", 400, anthropic("invalid_request_error", "Your credit balance is too low")),
    (
        "rate",
        429,
        gemini(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, check your billing"),
    ),
    ("rate", 429, openai("Rate limit reached for gpt-x on tokens per min", "rate_limit_exceeded")),
    ("key", 401, openai("Incorrect API key provided: sk-12****90", "invalid_api_key")),
    ("key", 401, openai("rate limit of wrong keys reached; maximum context length is 5")),
    ("key", 400, gemini(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid one.")),
    ("key", 400, openai("No connected db.", "400", "no_db_connection")),
    ("key", 403, openai("Project does not have access to the model")),
    ("request", 404, {"error": "model 'little' not found"}),
    ("request", 405, {}),
    ("request", 413, b"<html>413 Request Entity Too Large</html>"),
    (
        "request",
        400,
        openai(
            "max_tokens is too large: 100000. This model's maximum context length is 4096 tokens "
            "and your request has 10 input tokens."
        ),
    ),
    ("request", 400, openai("Invalid 'user': string too long. Expected a string with maximum 64")),
    ("redirect", 304, b""),
    ("redirect", 307, b""),
    ("request", 308, b"<html>Permanent Redirect</html>"),
    ("server", 500, openai("The server had an error", kind="server_error")),
    (
        "empty",
        500,
        openai(
            "The model produced output that does not match the expected peg-native format",
            kind="server_error",
        ),
    ),
    ("empty", 500, openai("Failed to parse input at pos 12: <tool_call>", kind="server_error")),
    ("server", 503, b"upstream connect error"),
    ("server", 599, b""),
    ("server", 409, openai("Conflict")),
    ("server", 529, anthropic("overloaded_error", "Overloaded")),
]


def meaning(status, body):
    text = body.decode() if isinstance(body, bytes) else json.dumps(body)
    return classify_response(status, text, {})


@pytest.mark.parametrize(("status", "body"), TOO_LONG)
def test_a_prompt_that_is_too_long_is_a_verdict(status, body):
    assert type(meaning(status, body)) is Overflow


@pytest.mark.parametrize(("status", "body"), TAKEN_AWAY)
def test_what_a_filter_took_away_is_a_verdict(status, body):
    assert type(meaning(status, body)) is Filtered


@pytest.mark.parametrize(("kind", "status", "body"), FAULTS)
def test_everything_else_is_a_fault_of_its_kind(kind, status, body):
    fault = meaning(status, body)
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.status) == (kind, status)
    assert str(fault).startswith(f"HTTP {status}: ")


PROMPT = "Discuss: prompt is too long, flagged by our safety system, credit balance is too low."


@pytest.mark.parametrize(
    "body",
    [
        {
            "detail": [
                {"loc": ["body", "seed"], "msg": "extra fields", "input": {"content": PROMPT}}
            ]
        },
        {"error": {"message": "Invalid value", "param": PROMPT}},
        {"error": {"message": "Invalid value"}, "request": {"messages": [{"content": PROMPT}]}},
        {"messages": [{"role": "user", "content": PROMPT}]},
    ],
)
@pytest.mark.parametrize("status", [400, 422])
def test_words_of_a_repeated_prompt_decide_nothing(status, body):
    fault = meaning(status, body)
    assert isinstance(fault, Fault)
    assert fault.kind == "request"


@pytest.mark.parametrize(
    "body",
    [
        *("", "null", "3", "[]", "[[]]", "[1]"),
        '{"error": null}',
        '{"error": []}',
        '{"error": {"message": {"a": 1}, "code": ["x"], "type": 7}}',
        '{"error": {"innererror": "x", "message": null}}',
        '{"detail": [1, {"msg": 5}]}',
        "[" * 100_000,
        '{"error": {"message": "' + "x" * 1_000_000 + '"}}',
        "\x00\x1b[31m\r\n\u2028 red",
        "\ud800",
    ],
)
@pytest.mark.parametrize("status", [400, 500])
def test_no_body_of_an_error_does_harm(status, body):
    fault = classify_response(status, body, {})
    assert isinstance(fault, Fault)
    assert len(str(fault)) <= LONGEST
    assert str(fault).isprintable()
    classify_success(body)


def test_a_list_around_an_error_is_looked_through():
    inner = gemini(400, "INVALID_ARGUMENT", "exceeds the maximum number of tokens allowed")
    assert type(classify_response(400, json.dumps([inner]), {})) is Overflow


def raised(*errors):
    """The last of several exceptions, each raised because of the one before."""
    cause = None
    for error in errors:
        error.__cause__, cause = cause, error
    return cause


class APIConnectionError(Exception):
    """As openai and litellm call it."""


class ServerTimeoutError(ConnectionError, TimeoutError):
    """As aiohttp calls it; it is both."""


class LocalTrouble(Exception):
    """Of a library, before anything is sent."""

    status_code = 401


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError(), "timeout"),
        (ServerTimeoutError("slow"), "timeout"),
        (ConnectionRefusedError(111, "refused"), "connection"),
        (raised(ConnectionResetError(), APIConnectionError("Connection error.")), "connection"),
        (raised(TimeoutError("deep"), APIConnectionError("Connection error.")), "timeout"),
        (raised(KeyError("cache"), APIConnectionError("Connection error.")), "connection"),
        (json.JSONDecodeError("Expecting value", "x", 0), "garbled"),
        (LocalTrouble("no key"), "key"),
        (RuntimeError("what?"), "garbled"),
    ],
)
def test_an_exception_means_what_it_was_first_raised_for(error, kind):
    fault = classify_exception(error)
    assert isinstance(fault, Fault)
    assert fault.kind == kind


def test_a_failure_before_anything_was_sent_is_one_of_the_request():
    assert classify_exception(TypeError("wrong"), sent=False).kind == "request"


def test_causes_that_go_in_circles_end():
    one, other = ValueError("a"), ValueError("b")
    one.__cause__, other.__cause__ = other, one
    assert classify_exception(one).kind == "garbled"


@pytest.mark.parametrize("status", [*range(300, 600, 7), 401, 402, 403, 408, 409, 425, 429])
def test_every_status_has_a_kind_with_a_rule(status):
    assert classify_response(status, "", {}).kind in RULES


def test_messages_are_one_short_line_without_secrets(monkeypatch):
    text = "a\nb\tc\x1b[0m " + "Authorization: Bearer sk-abc123def456ghi789 " + "long " * 1000
    line = one_line(text)
    assert line.startswith("a b c [0m ")
    assert "sk-abc123" not in line
    assert len(line) == LONGEST
    assert line.endswith("…")


@pytest.mark.parametrize(
    "said",
    [
        None,
        3,
        "text",
        [],
        {},
        {"choices": None},
        {"choices": "abc"},
        {"choices": [None]},
        {"choices": ["a"]},
        {"choices": [{"message": None}]},
        {"choices": [{"message": "words"}]},
        {"choices": [{"message": {"content": 5}}]},
        {"choices": [{"message": {"content": [1, None, {"text": 4}]}, "finish_reason": ["x"]}]},
        {"error": {"code": 10**30, "message": "x"}},
    ],
)
def test_no_shape_of_an_answer_escapes_as_another_error(said):
    with pytest.raises(Fault) as caught:
        read_completion(said, a_request(), 100)
    assert caught.value.kind in ("garbled", "empty", "server")


def test_counts_that_cannot_be_are_not_believed():
    def usage(**counts):
        return read_completion(completion(usage=counts), a_request(), 100).usage

    assert usage(prompt_tokens=9.0, completion_tokens=2.0) == Usage(9, 2, estimated=False)
    assert usage(prompt_tokens=True, completion_tokens=2) == Usage(7, 2, estimated=True)
    assert usage(prompt_tokens=9, completion_tokens=float("inf")) == Usage(9, 2, estimated=True)
    assert usage(prompt_tokens=9, completion_tokens=2.5) == Usage(9, 2, estimated=True)
    assert usage(prompt_tokens=10**7, completion_tokens=10**7) == Usage(7, 2, estimated=True)
    # Hidden thoughts are counted with the reply.
    assert usage(prompt_tokens=9, completion_tokens=30_000) == Usage(9, 30_000, estimated=False)


@pytest.mark.parametrize(
    "told",
    [
        {"prompt_tokens_details": {"cached_tokens": 6}},
        {"prompt_cache_hit_tokens": 6, "prompt_cache_miss_tokens": 3},
        {"cache_read_input_tokens": 6},
        {"cached_tokens": 6},
        {"prompt_tokens_details": {"cached_tokens": 0}, "prompt_cache_hit_tokens": 6},
    ],
)
def test_tokens_from_a_cache_are_read_under_every_name(told):
    counts = {"prompt_tokens": 9, "completion_tokens": 2}
    usage = read_completion(completion(usage=counts | told), a_request(), 100).usage
    assert usage == Usage(9, 2, estimated=False, cached_tokens=6)
    wrong = {"prompt_tokens_details": {"cached_tokens": 600}}
    usage = read_completion(completion(usage=counts | wrong), a_request(), 100).usage
    assert usage.cached_tokens == 0


def test_the_speed_that_a_server_states_is_kept():
    told = {"prompt_per_second": 40.5, "predicted_per_second": 8}
    assert read_completion(completion(timings=told), a_request(), 100).speed == (40.5, 8.0)
    for wrong in (
        None,
        {},
        {**told, "predicted_per_second": 0},
        {**told, "prompt_per_second": "x"},
    ):
        assert read_completion(completion(timings=wrong), a_request(), 100).speed is None


def test_a_redirect_says_where_it_leads_without_names_and_queries():
    where = {"location": "https://me:secret1234@example.org/v1/chat/completions?key=abc"}
    fault = classify_response(307, "", where)
    assert str(fault) == "HTTP 307: it leads to https://example.org/v1/chat/completions"
    assert fault.rule.retryable
    assert "backend.api_base" in fault.rule.advice
    assert str(classify_response(302, "", {"location": "/v2"})) == "HTTP 302: it leads to /v2"
    assert str(classify_response(302, "", {})) == "HTTP 302: no reason given"
