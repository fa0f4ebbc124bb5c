"""The context window of a model, as its server or litellm's list of models reports it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from virsci_society.agents.backends.endpoint_settings import EndpointSettings
from virsci_society.agents.backends.http import ChatCompletionsBackend
from virsci_society.agents.backends.http_client import fetch_json
from virsci_society.agents.backends.litellm import listed_window
from virsci_society.agents.backends.local import Local
from virsci_society.agents.backends.responses import get_field, token_count
from virsci_society.agents.errors import InputError

OLLAMA_HOME = "http://localhost:11434"
"""Where litellm looks for Ollama if no address is given, nor ``OLLAMA_API_BASE`` set."""
SECONDS = 5.0
"""Time that a server has to answer."""
LONGEST = 2**30
"""Tokens of the longest window that is believed."""


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """The context window of a model, in tokens."""

    server: Literal[
        "Ollama", "vLLM", "llama.cpp", "litellm's list", "the weights", "the server", ""
    ] = ""
    tokens: int | None = None
    most: int | None = None


def read_window(backend: ChatCompletionsBackend) -> ContextWindow:
    """The context window of a model, from its server or litellm's list, if they know it."""
    if isinstance(backend, Local):
        return ContextWindow("the weights", None, backend.trained_window)
    endpoint = backend.endpoint_settings
    address, model = endpoint.api_base, backend.model
    if backend.sets_window:
        address = address or os.environ.get("OLLAMA_API_BASE") or OLLAMA_HOME
    if backend.client == "litellm":
        model = model.partition("/")[2] or model
    if address is not None:
        window = _ask_server(EndpointSettings(address, endpoint.key), model)
        if window.server or endpoint.is_local or backend.sets_window:
            return window
    listed = listed_window(backend.model)
    return ContextWindow() if listed is None else ContextWindow("litellm's list", listed)


def _ask_server(endpoint: EndpointSettings, model: str) -> ContextWindow:
    """The context window that a server reports; no key is sent where none is set."""
    root = (endpoint.api_base or "").rstrip("/").removesuffix("/v1")
    try:
        key = endpoint.secret()
    except InputError:
        key = None

    def page(path: str, body: Mapping[str, Any] | None = None) -> Any:
        return fetch_json(root + path, body, key=key, seconds=SECONDS)

    def listed(entries: Any, *names: str) -> Any:
        """The entry of the model in a list, known by one of these fields."""
        entries = entries if isinstance(entries, list) else []
        ids = {model, f"{model}:latest"}
        return next(
            (entry for entry in entries for name in names if get_field(entry, name) in ids), None
        )

    try:
        # llama.cpp comes first: it has the other pages as well, and says other things there.
        props = page("/props")
        slot = get_field(props, "default_generation_settings")
        if tokens := _tokens(slot, "n_ctx") or _tokens(props, "n_ctx"):
            return ContextWindow("llama.cpp", tokens)
        card = listed(get_field(page("/v1/models"), "data"), "id")
        if tokens := _tokens(card, "max_model_len"):
            return ContextWindow("vLLM", tokens)
        if tokens := _tokens(card, "context_length") or _tokens(card, "context_window"):
            return ContextWindow("the server", tokens)
        shown = page("/api/show", {"model": model})
        about = get_field(shown, "model_info")
        if not isinstance(about, dict):
            return ContextWindow()
        lengths = (_tokens(about, name) for name in about if name.endswith(".context_length"))
        loaded = listed(get_field(page("/api/ps"), "models"), "name", "model")
        # Not loaded: the model's own file may state it, in lines of a name and a value.
        lines = (line.split() for line in str(get_field(shown, "parameters")).splitlines())
        stated = [words[1] for words in lines if len(words) == 2 and words[0] == "num_ctx"]
        own = int(stated[0]) if stated and stated[0].isdecimal() else None
        tokens = _tokens(loaded, "context_length") or token_count(own, LONGEST)
        return ContextWindow("Ollama", tokens, next(filter(None, lengths), None))
    except OSError:
        return ContextWindow()


def _tokens(data: Any, name: str) -> int | None:
    return token_count(get_field(data, name), LONGEST)
