"""The context window of a model, as its server or litellm's list of models tells it.

A window holds prompt and reply of one call. vLLM and llama.cpp refuse a prompt that is longer than
theirs, Ollama drops the beginning of it. No question is put to the model here: what is read are
the pages on which the servers describe themselves. They are vLLM's ``/v1/models``
(``max_model_len``), llama.cpp's ``/props`` (``n_ctx`` of one slot), and Ollama's ``/api/show`` and
``/api/ps``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from virsci_society.agents.backends.endpoint_settings import EndpointSettings
from virsci_society.agents.backends.http import ChatCompletionsBackend
from virsci_society.agents.backends.http_client import fetch_json
from virsci_society.agents.backends.litellm import listed_window
from virsci_society.agents.backends.responses import get_field, token_count
from virsci_society.agents.errors import InputError

Server = Literal["Ollama", "vLLM", "llama.cpp", "litellm's list", "the server", ""]
"""What told a window; a server whose kind is not known, or empty where nothing did."""
Ask = Callable[..., Any]
"""Asks a server for the page at a path, or posts a body to it; None where it has no such page."""
OLLAMA_HOME = "http://localhost:11434"
"""Where litellm looks for Ollama if no address is given, nor ``OLLAMA_API_BASE`` set."""
SECONDS = 5.0
"""For which a server is waited for."""
LONGEST = 2**30
"""Tokens of the longest window that is believed."""


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """The context window of a model, in tokens.

    Attributes:
        server: what told it.
        tokens: what a call has now; None: not known.
        most: what the model was made for, where the server tells that too; None: not known.
    """

    server: Server = ""
    tokens: int | None = None
    most: int | None = None


def _ask_server(endpoint: EndpointSettings, model: str) -> ContextWindow:
    """The context window that a server tells of itself; no key is sent where none is set."""
    root = (endpoint.api_base or "").rstrip("/").removesuffix("/v1")
    try:
        key = endpoint.secret()
    except InputError:
        key = None

    def ask(path: str, body: Mapping[str, Any] | None = None) -> Any:
        return fetch_json(root + path, body, key=key, seconds=SECONDS)

    try:
        # llama.cpp comes first: it has the other pages as well, and says other things there.
        windows = (known(ask, model) for known in (_llama_cpp, _openai_like, _ollama))
        return next(filter(None, windows), ContextWindow())
    except OSError:
        return ContextWindow()


def read_window(backend: ChatCompletionsBackend) -> ContextWindow:
    """The context window of a model.

    A server with an address is asked about itself; the model of a provider is looked up in
    litellm's list. What cannot be reached or understood is not known, and no error.
    """
    endpoint = backend.endpoint_settings
    address, model = endpoint.api_base, backend.model
    if backend.sets_window:
        address = address or os.environ.get("OLLAMA_API_BASE") or OLLAMA_HOME
    if backend.client == "litellm":
        model = model.partition("/")[2] or model
    if address is not None:
        told = _ask_server(EndpointSettings(address, key=endpoint.key), model)
        if told.server or endpoint.is_local or backend.sets_window:
            return told
    listed = listed_window(backend.model)
    return ContextWindow() if listed is None else ContextWindow("litellm's list", listed)


def _llama_cpp(ask: Ask, model: str) -> ContextWindow | None:
    """What llama.cpp's server tells: the window of one of the slots that calls are answered in."""
    told = ask("/props")
    slot = get_field(told, "default_generation_settings")
    tokens = _tokens(slot, "n_ctx") or _tokens(told, "n_ctx")
    return None if tokens is None else ContextWindow("llama.cpp", tokens)


def _openai_like(ask: Ask, model: str) -> ContextWindow | None:
    """What a list of models tells: vLLM's, and those of gateways that state a length as well."""
    told = get_field(ask("/v1/models"), "data")
    for one in told if isinstance(told, list) else ():
        if get_field(one, "id") != model:
            continue
        tokens = _tokens(one, "max_model_len")
        if tokens is not None:
            return ContextWindow("vLLM", tokens)
        tokens = _tokens(one, "context_length") or _tokens(one, "context_window")
        if tokens is not None:
            return ContextWindow("the server", tokens)
    return None


def _ollama(ask: Ask, model: str) -> ContextWindow | None:
    """What Ollama tells: the window of the model, and that which its file or its runner has."""
    told = ask("/api/show", {"model": model})
    about = get_field(told, "model_info")
    if not isinstance(about, dict):
        return None
    lengths = (_tokens(about, name) for name in about if name.endswith(".context_length"))
    most = next(filter(None, lengths), None)
    tokens = _running(get_field(ask("/api/ps"), "models"), model)
    return ContextWindow("Ollama", tokens or _num_ctx(get_field(told, "parameters")), most)


def _running(loaded: Any, model: str) -> int | None:
    """The window with which a model is loaded now."""
    names = {model, f"{model}:latest"}
    for one in loaded if isinstance(loaded, list) else ():
        if get_field(one, "name") in names or get_field(one, "model") in names:
            return _tokens(one, "context_length")
    return None


def _num_ctx(parameters: Any) -> int | None:
    """The window that the model's own file states, in lines of a name and a value."""
    for line in parameters.splitlines() if isinstance(parameters, str) else ():
        name, _, value = line.strip().partition(" ")
        if name == "num_ctx" and value.strip().isdecimal():
            return token_count(int(value), LONGEST)
    return None


def _tokens(told: Any, name: str) -> int | None:
    return token_count(get_field(told, name), LONGEST)
