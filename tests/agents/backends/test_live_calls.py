"""One attempt by either backend, over real HTTP: what is sent, what comes back, what goes wrong."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time

import pytest

from tests.agents.backends.live_provider import Broken, Provider, a_request, completion, http
from virsci_society.agents.backends.http_client import probe, route_to
from virsci_society.agents.backends.litellm import LiteLLM
from virsci_society.agents.backends.openai import OpenAI
from virsci_society.agents.errors import (
    RULES,
    Fault,
    Filtered,
    InputError,
    Overflow,
    Refused,
    Verdict,
)
from virsci_society.agents.loop_thread import LoopThread
from virsci_society.agents.prompts.request import Usage

pytestmark = pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
PREFIX = {LiteLLM: "openai/", OpenAI: ""}
KEY = "sk-live-0123456789abcdefABCDEF"


@pytest.fixture(scope="module")
def provider():
    serving = Provider()
    yield serving
    serving.stop()


@pytest.fixture(params=[LiteLLM, OpenAI], ids=["litellm", "openai"])
def made(request, provider):
    """A function that makes a backend of either kind for the provider."""

    def make(model="little", **settings):
        settings = {"api_base": provider.url} | settings
        return request.param(model=PREFIX[request.param] + model, **settings)

    return make


def attempt(backend, *requests):
    """Replies to requests that are made at once, or what was raised instead."""

    async def make():
        complete = backend.endpoint().complete
        calls = (complete(request) for request in requests or (a_request(),))
        try:
            return await asyncio.gather(*calls, return_exceptions=True)
        finally:
            await backend.close()

    return asyncio.run(make())


def failure(backend):
    (error,) = attempt(backend)
    assert isinstance(error, Verdict | Fault), error
    assert error.__context__ is None
    assert error.__cause__ is None
    return error


def test_an_answer_is_words_with_their_tokens(made, provider):
    provider.answer(http(200, completion("Let us begin.")))
    (reply,) = attempt(made())
    assert reply.text == "Let us begin."
    assert reply.usage == Usage(11, 5, estimated=False)
    assert reply.model == "served-model"
    assert not reply.cut
    (heard,) = provider.heard
    assert heard.path == "/v1/chat/completions"
    said = heard.body
    assert said["model"] == "little"
    assert said["max_tokens"] == 2048
    assert said["temperature"] == 0.7
    assert [one["content"] for one in said["messages"]] == ["You are Scientist1.", "What now?"]
    assert said["stream"] is False
    assert not said.keys() & {"top_p", "slots", "n", "tools", "extra_body"}


def test_settings_are_sent_as_they_are_given(made, provider):
    provider.answer(http(200, completion()))
    extra = {"frequency_penalty": 0.5, "chat_template_kwargs": {"thinking": False}}
    attempt(made(temperature=None, top_p=0.9, max_tokens=77, extra=extra))
    said = provider.heard[0].body
    assert "temperature" not in said
    assert (said["top_p"], said["max_tokens"], said["frequency_penalty"]) == (0.9, 77, 0.5)
    assert said["chat_template_kwargs"] == {"thinking": False}


def test_each_call_has_a_seed_of_its_own(made, provider):
    provider.answer(http(200, completion()))
    seeds = (5, 6, 5 + 2**40, 2**64 - 1, 0)
    attempt(made(), *map(a_request, seeds))
    sent = {one.body["seed"] for one in provider.heard}
    assert len(sent) == len(seeds)
    assert all(0 < seed < 2**31 for seed in sent)
    again = set()
    for _ in range(2):
        provider.answer(http(200, completion()))
        attempt(made(), *map(a_request, seeds[:1]))
        again |= {one.body["seed"] for one in provider.heard}
    assert len(again) == 1
    assert again < sent
    provider.answer(http(200, completion()))
    attempt(made(seeded="off"))
    assert "seed" not in provider.heard[0].body


def test_the_form_is_sent_without_what_it_says_to_programmers(made, provider):
    provider.answer(http(200, completion()))
    attempt(made(structured="on"), a_request(1), a_request(2))
    for heard in provider.heard:
        form = heard.body["response_format"]
        assert form["type"] == "json_schema"
        assert form["json_schema"]["name"] == "Note"
        schema = form["json_schema"]["schema"]
        assert list(schema["properties"]) == ["text", "detail"]
        assert "programmers" not in json.dumps(schema)
    provider.answer(http(200, completion()))
    attempt(made(structured="off"))
    assert "response_format" not in provider.heard[0].body


def test_a_schema_is_sent_where_the_model_is_known_to_take_it(provider):
    provider.answer(http(200, completion()))
    for backend in (
        LiteLLM(model="openai/gpt-4o", api_base=provider.url),
        LiteLLM(model="openai/little", api_base=provider.url),
        OpenAI(model="little", api_base=provider.url),
    ):
        attempt(backend)
    formats = ["response_format" in one.body for one in provider.heard]
    assert formats == [True, True, True]
    # Of a model elsewhere that no list knows nobody can tell.
    assert not LiteLLM(model="openai/little", api_base="https://models.example.org/v1").sends_schema
    assert LiteLLM(model="openai/little", api_base="http://192.168.0.7:8000/v1").sends_schema


def test_a_schema_that_is_refused_is_left_out_once_and_for_all(made, provider):
    def answering(heard):
        refused = "response_format" in heard.body
        return http(400, error("guided decoding is not available")) if refused else http(200, good)

    good = completion()
    provider.answer(answering)
    backend = made()
    first, second = attempt(backend, a_request(1), a_request(2))
    assert {first.kind, second.kind} == {"schema"}
    assert first.rule.retryable
    assert "structured=off" in first.advice
    (reply,) = attempt(backend, a_request(1))
    assert reply.text == "Good."
    assert '{"text": "...", "detail": ...}' in provider.heard[-1].body["messages"][-1]["content"]
    (fault,) = attempt(made(structured="on"))
    assert (fault.kind, fault.advice) == ("request", "give --set backend.structured=off")


def test_half_a_character_in_a_prompt_stops_nothing(made, provider):
    provider.answer(http(200, completion()))
    (reply,) = attempt(made(), a_request(text="broken \ud800 here"))
    assert reply.text == "Good."
    assert provider.heard[0].body["messages"][1]["content"] == "broken ? here"


def test_an_answer_at_the_limit_of_length_is_cut(made, provider):
    provider.answer(http(200, completion("Let us", "length")))
    (reply,) = attempt(made())
    assert reply.cut


def error(message, code=None, kind="invalid_request_error"):
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


NOT_WORDS = {
    "401": (http(401, error("Incorrect API key provided", "invalid_api_key")), "key"),
    "403": (http(403, error("Country not supported")), "key"),
    "402": (http(402, error("Payment required")), "credit"),
    "quota": (http(429, error("You exceeded your quota", "insufficient_quota")), "credit"),
    "balance": (http(400, error("Your credit balance is too low to go on")), "credit"),
    "404": (http(404, error("The model `little` does not exist", "model_not_found")), "request"),
    "400": (http(400, error("Unsupported value: temperature")), "request"),
    "422": (http(422, {"detail": [{"msg": "no extra fields", "input": "flagged"}]}), "request"),
    "roles": (http(400, error("Conversation roles must alternate user/assistant")), "request"),
    "moved": (http(302, b"", location="/v1/elsewhere"), "redirect"),
    "moved for good": (http(308, b"", location="/v1/elsewhere"), "request"),
    "429": (http(429, error("Slow down", "rate_limit_exceeded")), "rate"),
    "408": (http(408, error("Too slow")), "server"),
    "409": (http(409, error("Conflict")), "server"),
    "500": (http(500, error("rate limit: invalid_request_error, try again")), "server"),
    "502": (http(502, b"<html>Bad gateway</html>", content_type="text/html"), "server"),
    "503": (http(503, error("Overloaded"), x_should_retry="true"), "server"),
    "529": (http(529, error("Overloaded", kind="overloaded_error")), "server"),
    "no choices": (http(200, completion(choices=[])), "withheld"),
    "null choices": (http(200, completion(choices=None)), "withheld"),
    "error beside words": (
        http(200, completion("Half a", "error", error={"code": 502, "message": "Lost"})),
        "server",
    ),
    "network_error": (http(200, completion("Half a", "network_error")), "server"),
    "abort": (http(200, completion("Half a", "abort")), "server"),
    "busy": (http(200, completion("", "insufficient_system_resource")), "server"),
    "sensitive": (http(200, completion("", "sensitive")), Filtered),
    "filter, half": (http(200, completion("Half a", "content_filter")), Filtered),
    "another thing": (http(200, {"object": "list", "data": []}), "garbled"),
    "a list": (http(200, [1, 2]), "garbled"),
    "no JSON": (http(200, b"{not JSON"), "garbled"),
    "a page": (http(200, b"<html>hello</html>", content_type="text/html"), "garbled"),
    "nothing": (http(200, b""), "garbled"),
    "no HTTP": (Broken(b"SSH-2.0-OpenSSH\r\n\r\n"), "garbled"),
    "inner 429": (http(200, {"error": {"message": "Upstream is busy", "code": 429}}), "rate"),
    "inner trouble": (http(200, {"error": {"message": "Upstream is ill"}}), "garbled"),
    "null": (http(200, completion(None)), "empty"),
    "blank": (http(200, completion(" \n")), "empty"),
    "inner credit": (
        http(200, completion(choices=None, base_resp={"status_code": 1008, "status_msg": "x"})),
        "garbled",
    ),
    "digits": (http(200, b'{"usage": {"prompt_tokens": ' + b"1" * 5000 + b"}}"), "garbled"),
    "another choice": (http(200, {"choices": [{"text": "words"}], "usage": {}}), "garbled"),
    "Gemini": (http(200, completion("Half a", "content_filter: PROHIBITED_CONTENT")), Filtered),
    "thought in pieces": (
        http(200, completion(content=[{"type": "reasoning", "text": "A draft"}])),
        "empty",
    ),
    "only a tool": (
        http(200, completion(None, "tool_calls", message={"tool_calls": [{"id": "a"}]})),
        "empty",
    ),
    "all thought": (http(200, completion("", "length")), "empty"),
    "dropped": (Broken(), "connection"),
    "reset": (Broken(reset=True), "connection"),
    "cut": (Broken(http(200, completion())[:-20]), "connection"),
    "refusal": (http(200, completion(None, message={"refusal": "I cannot."})), Refused),
    "filter": (http(200, completion(None, "content_filter")), Filtered),
    "filter, blank": (http(200, completion("", "content_filter")), Filtered),
    "policy": (http(400, error("Rejected", "content_policy_violation")), Filtered),
    "too long": (http(400, error("Too many", "context_length_exceeded")), Overflow),
    "vllm": (
        http(400, {"message": "This model's maximum context length is 10 tokens.", "code": 400}),
        Overflow,
    ),
}


@pytest.mark.sweep(4)
@pytest.mark.parametrize("case", NOT_WORDS)
def test_whatever_comes_instead_of_words_costs_one_request(made, provider, case):
    answer, meaning = NOT_WORDS[case]
    provider.answer(answer)
    error = failure(made())
    assert (error.kind if isinstance(error, Fault) else type(error)) == meaning
    assert len(provider.heard) == 1
    assert "\n" not in str(error)


def test_every_kind_of_fault_is_met():
    met = {meaning for _, meaning in NOT_WORDS.values() if isinstance(meaning, str)}
    assert met | {"timeout", "schema"} == RULES.keys()


@pytest.mark.parametrize("way", [Broken(), Broken(reset=True), http(422, {"detail": "no"})])
@pytest.mark.parametrize(
    "model", ["anthropic/claude-x", "ollama_chat/little", "gemini/gemini-x", "hosted_vllm/little"]
)
def test_other_providers_are_sent_one_request_as_well(provider, network_names, model, way):
    provider.answer(way)
    failure(LiteLLM(model=model, api_base=provider.url))
    assert len(provider.heard) == 1
    assert network_names == set()


@pytest.fixture
def network_names(monkeypatch):
    """The hosts that are looked up, beside the provider's."""
    seen = set()
    look_up = socket.getaddrinfo

    def noted(host, *arguments, **named):
        seen.add(host)
        return look_up(host, *arguments, **named)

    monkeypatch.setattr(socket, "getaddrinfo", noted)
    yield seen
    seen.discard("127.0.0.1")


def test_only_the_provider_is_looked_for(made, provider, network_names):
    provider.answer(http(200, completion()))
    attempt(made())
    assert network_names <= {"127.0.0.1"}


def test_nobody_there_is_a_fault_of_the_connection(made):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    fault = failure(made(api_base=f"http://127.0.0.1:{port}/v1"))
    assert fault.kind == "connection"


def test_silence_of_the_whole_server_ends_at_the_deadline_of_reading(made, provider):
    provider.answer(lambda _: never())
    fault = failure(made(deadlines={"read": 0.5, "connect": 1.0}))
    assert fault.kind == "timeout"
    assert "0.5 seconds (deadlines.read)" in str(fault)
    assert [one.path.rpartition("/")[2] for one in provider.heard] == ["completions", "models"]


def test_a_slow_reply_is_waited_for_while_the_server_answers(made, provider):
    async def slow(heard):
        if heard.path.endswith("/completions"):
            await asyncio.sleep(2.0)
        return http(200, completion("late"))

    provider.answer(slow)
    assert attempt(made(deadlines={"read": 0.5}))[0].text == "late"
    asked = [one.path.rpartition("/")[2] for one in provider.heard]
    assert asked.count("completions") == 1
    assert asked.count("models") >= 2


def test_a_request_that_a_living_server_has_lost_ends_at_the_total_deadline(made, provider):
    provider.answer(lambda one: never() if "completions" in one.path else http(404, error("no")))
    fault = failure(made(deadlines={"read": 0.3, "total": 1.5}))
    assert "1.5 seconds (deadlines.total)" in str(fault)


def test_deadlines_do_not_count_what_keeps_the_loop_busy(provider):
    async def busy():
        looking = asyncio.ensure_future(probe(provider.url, 0.5))
        await asyncio.sleep(0)
        time.sleep(1.5)
        return await looking

    provider.answer(http(200, completion()))
    loop = LoopThread("test")
    try:
        assert loop.submit(busy()).result(timeout=20) is True
    finally:
        loop.stop()


async def never():
    await asyncio.Event().wait()
    return b""


@pytest.mark.parametrize(
    ("variable", "key"), [("LITTLE_KEY", KEY), ("DOOR", "open-sesame-of-the-little-model")]
)
def test_the_key_comes_from_the_environment_and_goes_nowhere_else(
    made, provider, monkeypatch, variable, key
):
    monkeypatch.setenv(variable, key + "\n")

    def echo(heard):
        shown = heard.headers["authorization"]
        return http(500, error(f"Who are you, {shown.split()[1]}? Authorization: {shown}"))

    provider.answer(echo)
    backend = made(key=variable)
    fault = failure(backend)
    assert provider.heard[0].headers["authorization"] == f"Bearer {key}"
    for shown in (str(fault), repr(fault), repr(backend), backend.model_settings, backend.about):
        assert key not in shown
        assert key[3:12] not in shown
    assert "Who are you, [redacted]?" in str(fault)


@pytest.mark.parametrize("echo", [http(200, b"no JSON: " + KEY.encode()), Broken(KEY.encode())])
def test_a_key_in_an_answer_that_cannot_be_read_is_not_shown(made, provider, monkeypatch, echo):
    monkeypatch.setenv("LITTLE_KEY", KEY)
    provider.answer(echo)
    assert KEY[3:12] not in str(failure(made(key="LITTLE_KEY")))


@pytest.mark.parametrize("held", [None, "", "  ", "two words", "k\u00e9y"])
def test_a_key_that_is_not_there_is_told_by_its_name(made, monkeypatch, held):
    monkeypatch.delenv("LITTLE_KEY", raising=False)
    if held is not None:
        monkeypatch.setenv("LITTLE_KEY", held)
    backend = made(key="LITTLE_KEY")
    with pytest.raises(InputError, match="LITTLE_KEY") as caught:
        backend.endpoint()
    assert not (held or "").strip() or held not in str(caught.value)


def test_a_server_of_ones_own_gets_no_key_of_a_provider(made, provider, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    provider.answer(http(200, completion()))
    attempt(made())
    assert KEY not in json.dumps(provider.heard[0].headers)


def test_openai_itself_gets_its_usual_key(monkeypatch):
    assert OpenAI(model="gpt-x").endpoint_settings.key == "OPENAI_API_KEY"
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InputError, match="OPENAI_API_KEY is not set"):
        OpenAI(model="gpt-x").endpoint()
    other = OpenAI(model="gpt-x", api_base="https://api.openai.com.example.org")
    assert other.endpoint_settings.key is None


def test_as_many_calls_are_under_way_as_are_made(made, provider):
    calls = 150
    all_here = asyncio.Event()

    async def wait_for_all(_):
        if len(provider.heard) == calls:
            all_here.set()
        await all_here.wait()
        return http(200, completion())

    provider.answer(wait_for_all)
    replies = attempt(made(), *map(a_request, range(calls)))
    assert {reply.text for reply in replies} == {"Good."}
    assert provider.all_closed.wait(120)


def test_a_cancelled_call_is_cancelled(made, provider):
    provider.answer(lambda _: never())
    backend = made()

    async def cancel():
        call = asyncio.create_task(backend.endpoint().complete(a_request()))
        while not provider.heard:
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await backend.close()

    asyncio.run(cancel())
    assert provider.all_closed.wait(120)


def test_closing_leaves_no_connection_and_no_task(made, provider):
    provider.answer(http(200, completion()))
    backend = made()

    async def use():
        await backend.endpoint().complete(a_request())
        await backend.close()
        return asyncio.all_tasks() - {asyncio.current_task()}

    for _ in range(2):
        assert asyncio.run(use()) == set()
        assert provider.all_closed.wait(120)
    assert len(provider.heard) == 2
    assert backend == made()


def test_a_server_without_a_system_role_gets_its_text_with_the_first_question(made, provider):
    provider.answer(http(200, completion()))
    attempt(made(system_role="off"))
    (message,) = provider.heard[0].body["messages"]
    assert message == {"role": "user", "content": "You are Scientist1.\n\nWhat now?"}


REFUSED = {
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
    "'max_completion_tokens' instead.": "max_tokens_name=max_completion_tokens",
    "Unsupported parameter: max_tokens is not supported with this model": (
        "max_tokens_name=max_completion_tokens"
    ),
    "Extra inputs are not permitted: max_tokens": "max_tokens_name=max_completion_tokens",
    "Unsupported value: 'temperature' does not support 0.7 with this model.": "temperature=null",
    "`temperature` and `top_p` cannot both be specified": "temperature=null",
    "top_p: Extra inputs are not permitted": "top_p=null",
    "[{'type': 'extra_forbidden', 'loc': ['body', 'seed']}]": "seeded=off",
    "Invalid parameter: 'response_format' of type 'json_schema' is not supported": "structured=off",
    "guided decoding is not available": "structured=off",
    "Conversation roles must alternate user/assistant/user/assistant/...": "system_role=off",
    "System role not supported": "system_role=off",
    "max_tokens is too large: 2048": "max_tokens=N with a smaller N",
    "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]": (
        "max_tokens=N with a smaller N"
    ),
    "Unrecognized request argument supplied: max_completion_tokens": "max_tokens_name=max_tokens",
    "output_format: Extra inputs are not permitted": "structured=off",
    "json mode is not supported": "structured=off",
    "'messages[0].role' does not support 'system' with this model.": "system_role=off",
    "enable_thinking must be false for non-streaming calls": "extra.enable_thinking=false",
}


@pytest.mark.parametrize("message", REFUSED)
def test_a_refused_parameter_names_the_setting_that_helps(made, provider, message):
    provider.answer(http(400, error(message)))
    fault = failure(made(structured="on"))
    assert (fault.kind, fault.advice) == ("request", f"give --set backend.{REFUSED[message]}")


def test_a_refused_parameter_is_named_from_a_list_of_complaints_or_as_an_extra_one(made, provider):
    place = {"type": "extra_forbidden", "loc": ["body", "max_completion_tokens"]}
    listed = {"detail": [place | {"msg": "Extra inputs are not permitted", "input": 9}]}
    provider.answer(http(422, listed))
    asked = made(max_tokens_name="max_completion_tokens")
    assert failure(asked).advice == "give --set backend.max_tokens_name=max_tokens"
    provider.answer(http(400, error("Unrecognized request argument supplied: repeat_penalty")))
    assert failure(made(extra={"repeat_penalty": 1.1})).advice == (
        "leave repeat_penalty out of backend.extra"
    )


@pytest.mark.parametrize(
    ("ending", "advice"),
    [
        ("", "want an address that ends with /v1"),
        ("/v1/chat/completions", "leave /chat/completions out of backend.api_base"),
        ("/v1/other/v2", "has no page /chat/completions below backend.api_base"),
    ],
)
def test_a_wrong_path_is_named(provider, ending, advice):
    provider.answer(http(404, b"404 page not found", content_type="text/plain"))
    address = f"http://127.0.0.1:{provider.port}{ending}"
    assert advice in failure(OpenAI(model="little", api_base=address)).advice


def test_an_event_stream_is_named(provider):
    provider.answer(http(200, b'data: {"choices": []}\n\n', content_type="text/event-stream"))
    fault = failure(OpenAI(model="little", api_base=provider.url))
    assert fault.kind == "request"
    assert "event stream" in str(fault)


def test_words_beside_the_content_are_named(made, provider):
    aside = {"reasoning_content": "I think."}
    provider.answer(http(200, completion(None, message=aside)))
    assert "its content is in reasoning_content" in str(failure(made()))


PROXIES = (
    {"ALL_PROXY": "socks://127.0.0.1:7891/"},
    {"HTTP_PROXY": "socks5h://127.0.0.1:9"},
    {"http_proxy": "http://127.0.0.1:99999"},
    {"HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": "localhost,[::1]"},
    {"SSL_CERT_FILE": "/no/such.pem"},
)


@pytest.mark.parametrize("variables", PROXIES, ids=lambda one: " ".join(one))
def test_a_local_server_is_asked_whatever_the_environment(made, provider, monkeypatch, variables):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    provider.answer(http(200, completion()))
    (reply,) = attempt(made())
    assert reply.text == "Good."


@pytest.mark.parametrize(
    "variables", [PROXIES[0], PROXIES[2], PROXIES[4]], ids=lambda one: str(one)
)
def test_an_environment_that_cannot_be_used_is_named(made, monkeypatch, variables):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    scheme = "https" if "SSL_CERT_FILE" in variables else "http"
    (name,) = variables
    with pytest.raises(InputError, match=f"the environment variable {name}"):
        made(api_base=f"{scheme}://models.example/v1").endpoint()


@pytest.mark.parametrize("host", ["0.0.0.0", "[::ffff:127.0.0.1]", "localhost.", "10.1.2.3"])
def test_this_machine_and_networks_without_a_proxy_are_asked_directly(host, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("NO_PROXY", "corp.example, 10.0.0.0/8")
    assert route_to(f"http://{host}:8000/v1").proxy is None
    assert route_to("http://11.1.2.3:8000/v1").proxy == "http://127.0.0.1:9"


def test_several_folders_of_certificates_are_taken(tmp_path, monkeypatch):
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("SSL_CERT_DIR", f"{tmp_path}{os.pathsep}{tmp_path.parent}")
    assert route_to("https://models.example/v1").certificates == "SSL_CERT_DIR"


def test_a_proxy_of_the_environment_is_used(provider, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{provider.port}")
    provider.answer(http(200, completion()))
    attempt(OpenAI(model="little", api_base="http://models.example/v1"))
    assert provider.heard[0].path == "http://models.example/v1/chat/completions"


def test_a_cookie_of_one_answer_is_not_sent_with_the_next_request(made, provider):
    provider.answer(http(200, completion(), Set_Cookie="who=first"))
    # By name: clients keep no cookies of bare addresses.
    backend = made(api_base=f"http://localhost:{provider.port}/v1")

    async def two_calls():
        complete = backend.endpoint().complete
        replies = [await complete(a_request(number)) for number in range(2)]
        await backend.close()
        return replies

    assert len(asyncio.run(two_calls())) == len(provider.heard) == 2
    assert not any("cookie" in one.headers for one in provider.heard)
