"""What Ollama is sent with every request, and what becomes of a prompt that it cuts."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.agents.backends.live_provider import a_request, http
from virsci_society.agents.backends.litellm import LiteLLM
from virsci_society.agents.errors import Overflow

TOO_LONG = {
    "code": 400,
    "message": "request (8889 tokens) exceeds the available context size (4096 tokens), try "
    "increasing it",
    "type": "exceed_context_size_error",
}
SHIFTED = (
    "the prompt is longer than the context length currently available to the model; shorten the "
    "prompt, adjust the context length in settings, or use a model with a longer context length"
)


def chat(read, **fields):
    message = {"role": "assistant", "content": '{"text": "Good."}'}
    said = {"model": "m", "message": message, "response": '{"text": "Good."}', "done": True}
    counts = {"done_reason": "stop", "prompt_eval_count": read, "eval_count": 5}
    return said | counts | fields


def asked(backend):
    async def one():
        try:
            return await backend.complete(a_request())
        finally:
            await backend.close()

    return asyncio.run(one())


def made(provider, model="ollama_chat/m", **settings):
    return LiteLLM(model=model, api_base=provider.url.removesuffix("/v1"), **settings)


@pytest.mark.parametrize(
    ("model", "path"), [("ollama_chat/m", "/api/chat"), ("ollama/m", "/api/generate")]
)
def test_every_request_asks_for_its_window_and_for_no_cut(provider, model, path):
    provider.answer(http(200, chat(11)))
    asked(made(provider, model).with_window(8192))
    asked(made(provider, model, context=6000))
    asked(made(provider, model))
    assert [one.path for one in provider.heard] == [path] * 3
    sizes = [one.body["options"].get("num_ctx") for one in provider.heard]
    assert sizes == [8192, 6000, None]
    for one in provider.heard:
        assert (one.body["truncate"], one.body["shift"]) == (False, False)
        assert one.body["format"]["type"] == "object"


@pytest.mark.parametrize("error", [json.dumps({"error": TOO_LONG}), SHIFTED])
def test_a_prompt_that_ollama_refuses_is_too_long(provider, error):
    provider.answer(http(400, {"error": error}))
    with pytest.raises(Overflow):
        asked(made(provider).with_window(4096))


@pytest.mark.parametrize(("read", "cut"), [(90, False), (98, False), (99, True), (100, True)])
def test_a_prompt_that_fills_its_window_was_cut(provider, read, cut):
    provider.answer(http(200, chat(read)))
    # ``a_request`` is short; what a server counts is believed up to what its characters allow.
    backend = made(provider).with_window(100)
    if not cut:
        assert asked(backend).usage.prompt_tokens == read
        return
    with pytest.raises(Overflow, match="cut the prompt") as caught:
        asked(backend)
    assert caught.value.usage.prompt_tokens == read
