"""Windows: the server plays an Ollama, a vLLM or a llama.cpp, with a context window of its own.

The addresses, fields and errors are those of the three servers (Ollama 0.33, vLLM's
``/v1/models``, llama.cpp's ``/props``). Tokens are counted as everywhere here, four characters
each, over all messages together. An Ollama that is not told otherwise keeps the first five tokens
of a prompt that is too long and its end, so that half of the window stays free.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import NamedTuple

from tests.faultserver.asked import Asked, Misunderstood, read_object
from tests.faultserver.bodies import Answer, error
from tests.faultserver.wire import HttpResponse
from virsci_society.agents.prompts.request import Message

CHAT = "/api/chat"
"""Ollama's own address of a chat completion."""
DEFAULT = 4096
"""Tokens of Ollama's window on a small machine, and of the others if the plan names none."""
KEPT = 5
"""Tokens at the beginning that Ollama keeps: ``num_keep``, and that which begins a text."""


class AskedWindow(NamedTuple):
    """What one body says of the window."""

    own_api: bool = False
    num_ctx: int | None = None
    refusing: bool = False


def read_ollama(body, headers):
    """Understand a body of Ollama's own API."""
    data = read_object(body)
    if data.get("stream", True):
        raise Misunderstood("streaming is not served by the test server; send stream: false")
    options = data.get("options") or {}
    said = {name: data[name] for name in ("model", "messages", "slots") if name in data}
    if "format" in data:
        schema = {"name": "format", "schema": data["format"]}
        said["response_format"] = {"type": "json_schema", "json_schema": schema}
    if "num_predict" in options:
        said["max_tokens"] = options["num_predict"]
    refusing = data.get("truncate") is False or data.get("shift") is False
    window = AskedWindow(True, options.get("num_ctx"), refusing)
    return Asked.read(json.dumps(said).encode(), headers), window


def fit(asked, said, plan):
    """What the model sees of a question, or the error in place of an answer."""
    window, prompt = plan.window or DEFAULT, asked.prompt_tokens
    if plan.plays == "vllm" and prompt + (asked.limit or 0) > window:
        words = (
            f"This model's maximum context length is {window} tokens. However, you requested "
            f"{asked.limit or 0} output tokens and your prompt contains {prompt} input tokens. "
            "Please reduce the length of the input prompt or the number of requested output tokens."
        )
        return asked, Answer(error(400, words, "BadRequestError"), "overflow")
    if plan.plays == "llama.cpp" and prompt >= window:
        return asked, Answer(HttpResponse.of(400, _too_long(prompt, window)), "overflow")
    if plan.plays == "ollama":
        # Ollama asks nothing more of a model than it was made for.
        window = min(said.num_ctx if said.own_api and said.num_ctx else window, plan.trained)
        if prompt > window - 1 and said.refusing and plan.refuses:
            inner = json.dumps(_too_long(prompt, window))
            return asked, Answer(HttpResponse.of(400, {"error": inner}), "overflow")
        if prompt > window - 1:
            # Releases since 0.30 leave half of the window free.
            room = window - (window - KEPT) // 2 if plan.refuses else window
            return _without_beginning(asked, 4 * room), None
    return asked, None


def _without_beginning(asked, room):
    """The question as Ollama cuts it: older messages first, then the beginning of the text."""
    kept = [one for one in asked.messages[:-1] if one.role == "system"] + [asked.messages[-1]]
    text = "".join(message.content for message in kept)
    if len(text) > room:
        text = text[: 4 * KEPT] + text[len(text) - room + 4 * KEPT :]
    return replace(asked, messages=(Message("user", text),))


def as_ollama(answer):
    """A chat completion as Ollama words it; an error stays as it is."""
    try:
        data = json.loads(answer.response.body)
        choice, usage = data["choices"][0], data.get("usage", {})
    except (ValueError, KeyError, IndexError, TypeError):
        return answer
    body = {
        "model": data["model"],
        "created_at": "2026-01-01T00:00:00Z",
        "message": {"role": "assistant", "content": choice["message"]["content"] or ""},
        "done": True,
        "done_reason": choice["finish_reason"],
        "prompt_eval_count": usage.get("prompt_tokens"),
        "eval_count": usage.get("completion_tokens"),
    }
    return replace(answer, response=HttpResponse.of(200, body))


def about(http, plan):
    """What the server that is played tells of itself; None: nothing at this address."""
    own, asked = plan.window or DEFAULT, (plan.plays, http.method, http.path)
    if asked == ("vllm", "GET", "/v1/models"):
        card = {"id": "test", "object": "model", "owned_by": "vllm", "max_model_len": own}
        return HttpResponse.of(200, {"object": "list", "data": [card]})
    if asked == ("llama.cpp", "GET", "/props"):
        slot = {"id": 0, "n_ctx": own, "params": {"n_predict": -1}}
        return HttpResponse.of(200, {"default_generation_settings": slot, "total_slots": 4})
    if asked == ("ollama", "GET", "/api/ps"):
        loaded = {"name": "test:latest", "model": "test:latest", "context_length": plan.window}
        return HttpResponse.of(200, {"models": [loaded] if plan.window else []})
    if asked == ("ollama", "POST", "/api/show"):
        if (model := json.loads(http.body).get("model")) not in ("test", "test:latest"):
            return HttpResponse.of(404, {"error": f"model '{model}' not found"})
        info = {"general.architecture": "llama", "llama.context_length": plan.trained}
        given = f"\nnum_ctx                        {plan.window}" if plan.window else ""
        lines = f'stop                           "<|eot_id|>"{given}'
        return HttpResponse.of(200, {"model_info": info, "parameters": lines})
    return None


def _too_long(prompt, window):
    why = f"request ({prompt} tokens) exceeds the available context size ({window} tokens)"
    kind = "exceed_context_size_error"
    said = {"code": 400, "message": f"{why}, try increasing it", "type": kind}
    return {"error": said | {"n_prompt_tokens": prompt, "n_ctx": window}}
