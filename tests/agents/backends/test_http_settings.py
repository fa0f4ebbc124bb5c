"""The settings of live backends: what is told, what is refused, and that no secret is repeated."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from virsci_society.agents.backends.http import ChatCompletionsBackend
from virsci_society.agents.backends.litellm import LiteLLM
from virsci_society.agents.backends.openai import OpenAI
from virsci_society.agents.prompts.request import Usage

KEY = "sk-proj-0123456789abcdefABCDEF"
BASE = "http://127.0.0.1:8000/v1"


def refused(**settings):
    with pytest.raises(ValidationError) as caught:
        OpenAI(**{"model": "m"} | settings)
    return str(caught.value)


def test_the_model_is_told_its_name_and_sampling_and_nothing_of_the_way():
    one = OpenAI(model="m", api_base=BASE, key="A_KEY", deadlines={"total": 9})
    other = LiteLLM(model="m", api_base="http://127.0.0.1:9/v1", prices={"input": 1, "output": 2})
    assert one.model_settings == other.model_settings
    assert json.loads(one.model_settings) == {
        "model": "m",
        "temperature": 0.7,
        "max_tokens": 2048,
        "structured": "auto",
        "seeded": "on",
    }


def test_every_setting_is_either_told_or_of_execution():
    given = {"top_p": 0.5, "context": 9000, "extra": {"a": 1}, "system_role": "off"}
    told = json.loads(OpenAI(model="m", **given).model_settings)
    assert told.keys() | ChatCompletionsBackend.execution == set(OpenAI.model_fields)
    assert not told.keys() & ChatCompletionsBackend.execution


def test_a_given_price_is_per_million_tokens():
    backend = OpenAI(model="m", prices={"input": 2.0, "output": 10.0})
    assert backend.priced
    assert backend.price(Usage(1_000_000, 500_000)) == pytest.approx(7.0)
    assert not OpenAI(model="m").priced
    assert OpenAI(model="m").price(Usage(10, 10)) == 0.0


def test_tokens_from_a_cache_have_a_price_of_their_own():
    half = Usage(1_000_000, 0, cached_tokens=500_000)
    prices = {"input": 2.0, "output": 10.0}
    assert OpenAI(model="m", prices=prices).price(half) == pytest.approx(2.0)
    cheap = OpenAI(model="m", prices={**prices, "cached": 0.5})
    assert cheap.price(half) == pytest.approx(1.25)
    with pytest.raises(ValueError, match="cached costs more than input"):
        OpenAI(model="m", prices={**prices, "cached": 3.0})
    full = LiteLLM(model="openai/gpt-4o").price(Usage(1000, 0))
    assert LiteLLM(model="openai/gpt-4o").price(Usage(1000, 0, cached_tokens=800)) < full


@pytest.mark.parametrize(
    ("backend", "free"),
    [
        (OpenAI(model="m", api_base="http://127.0.0.1:8000/v1"), True),
        (OpenAI(model="m", api_base="http://[::1]:8000/v1"), True),
        (OpenAI(model="m", api_base="http://models.example/v1"), False),
        (OpenAI(model="m"), False),
        (OpenAI(model="m", api_base=BASE, prices={"input": 1, "output": 2}), False),
        (LiteLLM(model="openai/little", api_base="http://localhost:4000"), True),
        # A proxy that passes calls on to OpenAI.
        (LiteLLM(model="openai/gpt-4o", api_base="http://localhost:4000"), False),
        (LiteLLM(model="ollama_chat/little"), True),
        (LiteLLM(model="ollama_chat/little", api_base="http://models.example"), False),
    ],
)
def test_a_server_on_this_machine_costs_nothing(backend, free, monkeypatch):
    monkeypatch.delenv("OLLAMA_API_BASE", raising=False)
    assert backend.free is free
    if free:
        assert backend.priced
        assert backend.price(Usage(1000, 1000)) == 0.0


@pytest.mark.parametrize(
    ("model", "prices", "priced", "usd"),
    [
        ("openai/gpt-4o", None, True, 0.0125),
        ("gpt-4o", None, True, 0.0125),
        ("openai/gpt-4o", {"input": 1.0, "output": 1.0}, True, 0.002),
        ("openai/little", None, False, 0.0),
        ("ollama_chat/little", None, True, 0.0),
        ("ollama/little", None, True, 0.0),
        ("nobody-knows-this", None, False, 0.0),
    ],
)
def test_litellm_knows_prices_without_asking_anybody(model, prices, priced, usd, monkeypatch):
    import socket

    def look_up(*place, **named):
        raise AssertionError(f"{place} was looked up")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    backend = LiteLLM(model=model, prices=prices)
    assert backend.priced == priced
    assert backend.price(Usage(1000, 1000)) == pytest.approx(usd)


@pytest.mark.parametrize(
    "address",
    [
        f"https://user:{KEY}@example.org/v1",
        f"https://example.org/v1?key={KEY}",
        f"https://example.org/{KEY}/v1",
        f"ftp://example.org/{KEY}",
        f"{KEY}",
        f"http://example.org:{KEY}/v1",
        f"http://example.org/v1\n{KEY}",
        f"http://exämple.org/{KEY}",
        "",
        7,
        [KEY],
    ],
)
def test_an_address_with_a_secret_or_none_at_all_is_refused_unseen(address):
    message = refused(api_base=address)
    assert KEY not in message
    assert "api_base" in message


@pytest.mark.parametrize(
    "name", [KEY, "gsk_0123456789abcdefghij", "lower_case", "A-KEY", "A KEY", "", "1KEY", 5, [KEY]]
)
def test_only_the_name_of_a_variable_is_a_key(name):
    message = refused(key=name)
    assert "expected the name of an environment variable in capitals" in message
    assert str(name) not in message or len(str(name)) < 2


@pytest.mark.parametrize(
    "extra",
    [
        {"api_key": KEY},
        {"messages": []},
        {"model": "n"},
        {"stream": True},
        {"headers": {"Authorization": KEY}},
        {"extra_body": {"n": 2}},
        {"max_tokens": 1},
        {"num_retries": 2},
        {"fallbacks": ["n"]},
        {"mock_response": "words"},
        {"slots": {}},
        {"aws_secret_access_key": KEY},
        {"user": KEY},
        {"bad": {1, 2}},
        {"bad": float("nan")},
    ],
)
def test_extra_parameters_cannot_break_what_is_relied_on(extra):
    message = refused(extra=extra)
    assert KEY not in message
    assert "extra" in message


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"context": 2048}, "context must exceed max_tokens"),
        ({"temperature": 3}, "less than or equal to 2"),
        ({"deadlines": {"read": 0}}, "greater than 0"),
        ({"deadlines": {"read": float("inf")}}, "finite"),
        ({"prices": {"input": 1}}, "output"),
        ({"model": ""}, "at least 1"),
        ({"model": "two words"}, "pattern"),
        ({"max_token": 5}, "Extra inputs"),
    ],
)
def test_what_does_not_fit_together_is_told(settings, words):
    assert words in refused(**settings)


@pytest.mark.parametrize(
    "path",
    [
        "v1/8f14e45fceea167a5a36dedd4bea2543",
        *("bot123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11/v1", "v1/key/horsebattery"),
        *("api_keys/staple/v1", "%38f14e45fceea167a5a36dedd4bea2543/v1"),
        "AKIAIOSFODNN7EXAMP123/v1",
    ],
)
def test_an_address_with_a_key_in_its_path_is_refused_unseen(path):
    message = refused(api_base=f"https://example.org/{path}")
    assert "put the key into an environment variable" in message
    assert path not in message


@pytest.mark.parametrize(
    "address",
    [
        "https://my-resource.openai.azure.com/openai/deployments/gpt-4o-mini-2024-07-18",
        "https://us-central1-aiplatform.googleapis.com/v1/projects/my-project-1/locations/global",
        "https://gateway.ai.cloudflare.com/v1/8f14e45fceea167a5a36dedd4bea2543/gw/openai",
        "https://example.org/deployments/8f14e45f-ceea-167a-5a36-dedd4bea2543/v1",
        *("https://openrouter.ai/api/v1", "http://127.0.0.1:8000/tokenizer/v1"),
    ],
)
def test_an_ordinary_path_is_taken(address):
    assert OpenAI(model="m", api_base=address).api_base == address
