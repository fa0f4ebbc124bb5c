"""Windows: the server plays an Ollama, a vLLM or a llama.cpp, with a context window of its own.

The addresses, fields and errors are those of the three servers (Ollama 0.33, vLLM's
``/v1/models``, llama.cpp's ``/props``). Tokens are counted as everywhere here, four characters
each, over all messages together. An Ollama that is not told otherwise keeps the first five tokens
of a prompt that is too long and its end, so that half of the window stays free.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from tests.faultserver.asked import Asked, Misunderstood, _object
from tests.faultserver.bodies import Answer, error
from tests.faultserver.plan import Plan
from tests.faultserver.wire import HttpRequest, HttpResponse
from virsci_society.agents.prompts.request import Message

CHAT = "/api/chat"
"""Ollama's own address of a chat completion."""
DEFAULT = 4096
"""Tokens of Ollama's window on a small machine, and of the others if the plan names none."""
KEPT = 5
"""Tokens at the beginning that Ollama keeps: ``num_keep``, and that which begins a text."""
_CHARACTERS = 4


@dataclass(frozen=True)
class AskedWindow:
    """What one body says of the window.

    Attributes:
        own_api: it came to Ollama's own address.
        num_ctx: tokens that it asks for; None: none.
        refusing: a prompt that is too long is to be an error.
    """

    own_api: bool = False
    num_ctx: int | None = None
    refusing: bool = False


def read_ollama(body: bytes, headers: Mapping[str, str]) -> tuple[Asked, AskedWindow]:
    """Understand a body of Ollama's own API.

    Raises:
        Misunderstood: it asks for what is not served.
    """
    data = _object(body)
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


def window_of(asked: AskedWindow, plan: Plan) -> int | None:
    """Tokens of the window of one request; None: no bound is played."""
    own = plan.window or DEFAULT
    if plan.plays == "ollama":
        # Ollama asks nothing more of a model than it was made for.
        return min(asked.num_ctx if asked.own_api and asked.num_ctx else own, plan.trained)
    return own if plan.plays in ("vllm", "llama.cpp") else None


def fit(asked: Asked, said: AskedWindow, plan: Plan) -> tuple[Asked, Answer | None]:
    """What the model sees of a question, or the error in place of an answer."""
    window = window_of(said, plan)
    prompt = asked.prompt_tokens
    if window is None:
        return asked, None
    if plan.plays == "vllm" and prompt + (asked.limit or 0) > window:
        words = (
            f"This model's maximum context length is {window} tokens. However, you requested "
            f"{asked.limit or 0} output tokens and your prompt contains {prompt} input tokens. "
            "Please reduce the length of the input prompt or the number of requested output tokens."
        )
        return asked, Answer(error(400, words, "BadRequestError"), "overflow")
    if plan.plays == "llama.cpp" and prompt >= window:
        return asked, Answer(_too_long(prompt, window), "overflow")
    if plan.plays == "ollama" and prompt > window - 1:
        if said.refusing and plan.refuses:
            inner = _too_long(prompt, window).body.decode()
            return asked, Answer(HttpResponse.of(400, {"error": inner}), "overflow")
        return _without_beginning(asked, window, half=plan.refuses), None
    return asked, None


def as_ollama(answer: Answer) -> Answer:
    """A chat completion as Ollama words it; an error stays as it is."""
    try:
        data = json.loads(answer.response.body)
        choice, usage = data["choices"][0], data.get("usage", {})
    except (ValueError, KeyError, IndexError, TypeError):
        return answer
    message = {"role": "assistant", "content": choice["message"]["content"] or ""}
    body = {
        "model": data["model"],
        "created_at": "2026-01-01T00:00:00Z",
        "message": message,
        "done": True,
        "done_reason": choice["finish_reason"],
        "prompt_eval_count": usage.get("prompt_tokens"),
        "eval_count": usage.get("completion_tokens"),
    }
    return replace(answer, response=HttpResponse.of(200, body))


def about(http: HttpRequest, path: str, plan: Plan) -> HttpResponse | None:
    """What the server that is played tells of itself; None: nothing at this address."""
    own = plan.window or DEFAULT
    if plan.plays == "vllm" and (http.method, path) == ("GET", "/models"):
        card = {"id": "test", "object": "model", "owned_by": "vllm", "max_model_len": own}
        return HttpResponse.of(200, {"object": "list", "data": [card]})
    if plan.plays == "llama.cpp" and (http.method, http.path) == ("GET", "/props"):
        slot = {"id": 0, "n_ctx": own, "params": {"n_predict": -1}}
        return HttpResponse.of(200, {"default_generation_settings": slot, "total_slots": 4})
    if plan.plays != "ollama":
        return None
    if (http.method, http.path) == ("POST", "/api/show"):
        return _show(http, plan)
    if (http.method, http.path) == ("GET", "/api/ps"):
        loaded = {"name": "test:latest", "model": "test:latest", "context_length": plan.window}
        return HttpResponse.of(200, {"models": [loaded] if plan.window else []})
    return None


def _show(http: HttpRequest, plan: Plan) -> HttpResponse:
    try:
        model = _object(http.body).get("model")
    except Misunderstood:
        model = None
    if model not in ("test", "test:latest"):
        return HttpResponse.of(404, {"error": f"model '{model}' not found"})
    info = {"general.architecture": "llama", "llama.context_length": plan.trained}
    lines = ['stop                           "<|eot_id|>"']
    if plan.window:
        lines.append(f"num_ctx                        {plan.window}")
    return HttpResponse.of(200, {"model_info": info, "parameters": "\n".join(lines)})


def _too_long(prompt: int, window: int) -> HttpResponse:
    said = {
        "code": 400,
        "message": f"request ({prompt} tokens) exceeds the available context size ({window} "
        "tokens), try increasing it",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": prompt,
        "n_ctx": window,
    }
    return HttpResponse.of(400, {"error": said})


def _without_beginning(asked: Asked, window: int, *, half: bool) -> Asked:
    """The question as Ollama cuts it: older messages first, then the beginning of the text.

    Args:
        asked: the question.
        window: tokens that it has.
        half: leave half of the window free, as releases since 0.30 do.
    """
    kept = [one for one in asked.messages[:-1] if one.role == "system"] + [asked.messages[-1]]
    text = "".join(message.content for message in kept)
    room = window - (window - KEPT) // 2 if half else window
    if len(text) > _CHARACTERS * room:
        head = _CHARACTERS * KEPT
        text = text[:head] + text[len(text) - _CHARACTERS * room + head :]
    return replace(asked, messages=(Message("user", text),))
