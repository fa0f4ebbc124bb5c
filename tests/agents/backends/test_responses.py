"""What providers' errors mean, by the wordings that they really use."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.agents.backends.live_provider import a_request, completion
from virsci_society.agents.backends.responses import (
    LONGEST,
    classify_exception,
    classify_response,
    classify_success,
    read_completion,
)
from virsci_society.agents.errors import Fault
from virsci_society.agents.prompts.request import Usage

with Path(__file__).with_name("provider_errors.csv").open(encoding="utf-8", newline="") as file:
    ERRORS = [(row["meaning"], int(row["status"]), row["body"]) for row in csv.DictReader(file)]
"""What OpenAI, Anthropic, Gemini, vLLM, Ollama and others answer, and what it means."""


@pytest.mark.parametrize(("meaning", "status", "body"), ERRORS)
def test_an_error_is_a_verdict_or_a_fault_of_its_kind(meaning, status, body):
    found = classify_response(status, body, {})
    assert str(found).startswith(f"HTTP {status}: ")
    if isinstance(found, Fault):
        assert (found.kind, found.status) == (meaning, status)
    else:
        assert type(found).__name__ == meaning


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
    fault = classify_response(status, json.dumps(body), {})
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


def test_causes_that_go_in_circles_end():
    one, other = ValueError("a"), ValueError("b")
    one.__cause__, other.__cause__ = other, one
    assert classify_exception(one).kind == "garbled"


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
