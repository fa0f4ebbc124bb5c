"""How long a prompt may be: what servers tell of themselves, over real HTTP, and litellm's list."""

from __future__ import annotations

import json
import socket

import pytest

from tests.agents.backends.live_provider import http
from tests.faultserver import Plan
from virsci_society.agents.backends.context_window import ContextWindow, read_window
from virsci_society.agents.backends.litellm import LiteLLM
from virsci_society.agents.backends.openai import OpenAI

KEY = "canary-window-51c0"


def by_openai(server, model="test"):
    return OpenAI(model=model, api_base=server.url)


def by_ollama(server, model="ollama_chat/test"):
    return LiteLLM(model=model, api_base=server.url.removesuffix("/v1"))


def test_vllm_tells_its_window(server):
    server.plan(Plan(plays="vllm", window=9000))
    assert read_window(by_openai(server)) == ContextWindow("vLLM", 9000)
    through = LiteLLM(model="hosted_vllm/test", api_base=server.url)
    assert read_window(through) == ContextWindow("vLLM", 9000)


def test_llama_cpp_tells_the_window_of_a_slot(server):
    server.plan(Plan(plays="llama.cpp", window=7000))
    assert read_window(by_openai(server)) == ContextWindow("llama.cpp", 7000)


@pytest.mark.parametrize("made", [by_openai, by_ollama])
def test_ollama_tells_what_the_model_was_made_for(server, made):
    server.plan(Plan(plays="ollama", trained=60_000))
    assert read_window(made(server)) == ContextWindow("Ollama", None, 60_000)
    server.plan(Plan(plays="ollama", trained=60_000, window=3000))
    assert read_window(made(server)) == ContextWindow("Ollama", 3000, 60_000)


def test_the_models_file_tells_what_no_runner_does(provider):
    def told(heard):
        if heard.path == "/api/show":
            body = {"model_info": {"qwen2.context_length": 500}, "parameters": "num_ctx     300"}
            return http(200, body) if heard.body == {"model": "test"} else http(404, {})
        return http(200, {"models": [{"name": "other", "context_length": 999}]})

    provider.answer(told)
    assert read_window(by_ollama(provider)) == ContextWindow("Ollama", 300, 500)


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        [1, 2],
        "text",
        None,
        {"data": "no list", "model_info": 3},
        {"default_generation_settings": {"n_ctx": True}, "n_ctx": -5},
        {"default_generation_settings": {"n_ctx": 10**12}},
        {"data": [{"id": "test", "max_model_len": "many"}]},
        {"data": [{"id": "test"}, 7], "model_info": {"x.context_length": 1.5}, "parameters": []},
    ],
)
@pytest.mark.parametrize("status", [200, 500])
def test_what_cannot_be_believed_is_not_known(provider, body, status):
    provider.answer(http(status, body))
    assert read_window(by_openai(provider)).tokens is None
    assert read_window(by_ollama(provider)).most is None


def test_a_redirection_is_not_followed(provider, server):
    server.plan(Plan(plays="vllm", window=9000))
    provider.answer(http(302, {}, location=f"{server.url}/models"))
    assert read_window(by_openai(provider)) == ContextWindow()


def test_the_key_goes_to_the_server_and_its_absence_is_no_error(provider, monkeypatch):
    backend = OpenAI(model="test", api_base=provider.url, key="WINDOW_KEY")
    provider.answer(http(404, {}))
    assert read_window(backend) == ContextWindow()
    assert all("authorization" not in one.headers for one in provider.heard)
    monkeypatch.setenv("WINDOW_KEY", KEY)
    read_window(backend)
    assert provider.heard[-1].headers["authorization"] == f"Bearer {KEY}"
    assert {one.path for one in provider.heard} == {"/props", "/v1/models", "/api/show"}


@pytest.mark.parametrize(
    ("backend", "known"),
    [
        (OpenAI(model="gpt-4o-mini"), True),
        (LiteLLM(model="openai/gpt-4o-mini"), True),
        (LiteLLM(model="anthropic/claude-haiku-4-5"), True),
        (LiteLLM(model="openai/nobody-knows-this"), False),
    ],
)
def test_hosted_models_are_looked_up_and_nobody_is_asked(backend, known, monkeypatch):
    def look_up(*place, **named):
        raise AssertionError(f"{place} was looked up")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    window = read_window(backend)
    assert window.server == ("litellm's list" if known else "")
    assert (window.tokens is not None and window.tokens >= 100_000) == known


def test_a_longer_window_is_no_other_model():
    backend = LiteLLM(model="ollama_chat/m")
    longer = backend.with_window(8192)
    assert (backend.window, longer.window) == (None, 8192)
    assert longer.model_settings == backend.model_settings
    assert longer.max_prompt_characters is None
    assert LiteLLM(model="ollama_chat/m", context=5000).window == 5000
    assert LiteLLM(model="ollama_chat/m", extra={"num_ctx": 6000}).with_window(1).window == 6000
    assert LiteLLM(model="openai/m", context=5000).window is None
    assert OpenAI(model="m", context=5000).with_window(9).window is None
    assert "5000" in json.dumps(LiteLLM(model="ollama_chat/m", context=5000).model_settings)
