"""A backend for models of any provider that litellm knows.

litellm repeats requests by itself; the Exchange of a call lets no second one through.
"""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from functools import cache
from importlib.util import find_spec
from typing import Any, ClassVar

from pydantic import PrivateAttr

from virsci_society.agents.backends.endpoint_settings import EndpointSettings, is_home, is_local
from virsci_society.agents.backends.http import (
    ChatCompletionsBackend,
    Fields,
    Send,
    require_library,
)
from virsci_society.agents.backends.http_client import prepare_environment, while_alive
from virsci_society.agents.backends.responses import (
    classify_exception,
    classify_refusal,
    classify_response,
    classify_success,
    get_field,
)
from virsci_society.agents.errors import Fault, Verdict
from virsci_society.agents.prompts.request import Request, Usage
from virsci_society.agents.redaction import shield_logs
from virsci_society.agents.spelling import did_you_mean

ENVIRONMENT = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}
"""Set before litellm is imported: no list of prices is fetched, no ``.env`` file is read."""

TRANSPORT = {"DISABLE_AIOHTTP_TRANSPORT": "False", "LITELLM_HTTP2": "False"}
"""Set whatever they were: only on its usual transport are a call's requests counted."""

NO_KEY = "none"
"""What is sent to a server on this machine, so that no key meant for a provider goes there."""

ASKED_ABOUT = ("ollama", "ollama_chat")
"""Providers about whose models litellm would ask a server on this machine before every call."""
UNCUT = {"truncate": False, "shift": False}
"""What Ollama is sent beside a request, so that a prompt that is too long is an error (400). Left
to itself it keeps the end of such a prompt, without a word. Releases before 0.12.6 ignore it."""
FREE = {"mode": "chat", "input_cost_per_token": 0.0, "output_cost_per_token": 0.0}
"""What litellm is told of models that its list does not have. It looks for a price after every
call, in all the places where one could be; the price that counts is asked for here."""

OPENAI_LIKE = ("openai", "hosted_vllm", "litellm_proxy", "openai_like", "lm_studio", "llamafile")
"""Providers that speak as OpenAI does. The format of a reply goes into their requests as it is;
given as a parameter, it would be copied piece by piece on its way through two libraries."""


class LiteLLM(ChatCompletionsBackend):
    """A language model of any provider, through litellm."""

    client: ClassVar[str] = "litellm"

    _transports: set[Any] = PrivateAttr(default_factory=set)

    @property
    def sets_window(self) -> bool:
        """True for models behind Ollama's own API, which has ``num_ctx``."""
        return self.model.split("/", 1)[0] in ASKED_ABOUT

    @property
    def window(self) -> int | None:
        """Tokens of the context window that every request asks for; None: it asks for none."""
        num_ctx = self.extra.get("num_ctx")
        return num_ctx if isinstance(num_ctx, int) and self.sets_window else super().window

    def request_fields(self, request: Request) -> dict[str, Any]:
        """Fields of the request; for Ollama with the context window that it is asked for."""
        wanted = {} if self.window is None else {"num_ctx": self.window}
        # In this order: a window that the user gives under ``extra`` wins.
        return wanted | super().request_fields(request)

    @property
    def free(self) -> bool:
        """True if the server is on this machine, and the model is not a provider's."""
        if self.sets_window:
            address = self.api_base or os.environ.get("OLLAMA_API_BASE") or "http://localhost"
            return self.prices is None and is_local(address)
        return super().free and not _is_listed(self.model)

    @property
    def priced(self) -> bool:
        """True if a price is given or nothing is paid, or litellm's list has the model."""
        return super().priced or _is_listed(self.model)

    def price(self, usage: Usage) -> float:
        """US dollars for these tokens, by the price given or by litellm's list; else 0."""
        if self.prices is not None or not _is_listed(self.model):
            return super().price(usage)
        prompt, reply = litellm_for(self.model).cost_per_token(
            model=self.model,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cache_read_input_tokens=usage.cached_tokens,
        )
        return float(prompt + reply)

    @property
    def endpoint_settings(self) -> EndpointSettings:
        """Address of the endpoint, the variable that holds its key, and the provider."""
        return EndpointSettings(self.api_base, self.key, provider_of(self.model))

    def refusal(self) -> str:
        """Why litellm cannot ask the model: it knows no such provider; empty if it does."""
        litellm = _library()
        try:
            litellm.get_llm_provider(self.model, api_base=self.api_base)
        except Exception:
            provider, _, name = self.model.rpartition("/")
            near = did_you_mean(provider.lower(), [str(key) for key in litellm.models_by_provider])
            return (
                f"backend.model: litellm has no provider for {self.model!r}; write PROVIDER/NAME, "
                f"such as anthropic/NAME, or openai/{name} with backend.api_base for a server with "
                f"an OpenAI-compatible API{near}"
            )
        return ""

    def takes_schema(self) -> bool:
        """True if litellm lists the model as supporting JSON Schema."""
        return _takes_schema(self.model)

    def make_sender(self, key: str | None) -> Send:
        """The function that sends a request through litellm, which makes its own connections."""
        prepare_environment(self.api_base)
        litellm = litellm_for(self.model)
        import httpx

        # Only of a provider whose address litellm alone knows, silence means all that can be told.
        silence = self.deadlines.read if self.api_base is None else None
        longest = "max_tokens" if self.max_tokens_name == "auto" else self.max_tokens_name
        always = litellm_arguments(self.model, self.endpoint_settings, key) | {
            longest: self.max_tokens,
            "timeout": httpx.Timeout(silence, connect=self.deadlines.connect),
        }
        openai_like = self.model.split("/", 1)[0] in OPENAI_LIKE
        address, deadlines = self.api_base, self.deadlines
        beside = UNCUT if self.sets_window else {"stream": False} if openai_like else {}

        async def send(fields: Fields) -> Any:
            sent = dict(fields)
            extra = {**beside, **sent.pop("extra_body", {})}
            if openai_like and "response_format" in sent:
                extra["response_format"] = sent.pop("response_format")
            if extra:
                sent["extra_body"] = extra
            with recorded_exchange() as exchange:
                try:
                    asked = litellm.acompletion(**always, **sent)
                    if address is not None:
                        asked = while_alive(asked, address, deadlines.connect, deadlines.read)
                    completion = await asked
                    return as_received(completion, exchange.response.text)
                except Fault:
                    raise
                except Exception as error:
                    failure = exchange.failure(error) or classify_success(exchange.response.text)
                finally:
                    self._transports.update(exchange.transports)
            # A completion after all, of which litellm could not read some detail.
            if failure is None:
                return json.loads(exchange.response.text)
            raise failure

        return send

    async def close(self) -> None:
        """Close the connections that were used; litellm opens others when it needs them."""
        transports = list(self._transports)
        self._transports.clear()
        for transport in transports:
            await transport.aclose()


FINISH_REASONS = (
    *("choices.0.finish_reason", "candidates.0.finishReason", "stop_reason", "stopReason"),
    *("done_reason", "finish_reason"),
)
"""Where providers say why a reply ended: OpenAI, Gemini, Anthropic, Bedrock, Ollama, Cohere."""


def as_received(completion: Any, body: str) -> Any:
    """The completion with the provider's own reason to finish; litellm calls unknown ones stop."""
    received = json.loads(body)
    if get_field(received, "choices"):
        return received
    reasons = (reason for path in FINISH_REASONS if (reason := _at(received, path)))
    choice = completion.choices[0]
    ended = next(reasons, choice.finish_reason)
    return {
        "choices": [{"message": choice.message, "finish_reason": ended}],
        "usage": get_field(completion, "usage"),
        "model": completion.model,
    }


def _at(data: Any, path: str) -> Any:
    """The value at a path of names and positions in JSON data; None: nothing."""
    for step in path.split("."):
        data = (data or [None])[0] if isinstance(data, list) else get_field(data, step)
    return data


@cache
def provider_of(model: str) -> str:
    """The provider of a model, by the name that litellm has for it; empty: not known."""
    provider, slash, _ = model.partition("/")
    if slash:
        return provider
    try:
        return str(_library().get_llm_provider(model)[1])
    except Exception:
        return ""


def litellm_arguments(model: str, endpoint: EndpointSettings, key: str | None) -> dict[str, Any]:
    """The arguments of every call of litellm, with its own retries disabled."""
    arguments: dict[str, Any] = {"model": model, "num_retries": 0, "max_retries": 0}
    arguments["drop_params"] = True
    if endpoint.api_base is not None:
        arguments["api_base"] = endpoint.api_base
    # Left to itself litellm would send the usual variable of its provider to any address.
    address, provider = endpoint.api_base, endpoint.provider
    if key is not None or not (address is None or is_home(address, provider)):
        arguments["api_key"] = key or NO_KEY
    return arguments


class Exchange:
    """The one HTTP request of a call, and its answer or error."""

    def __init__(self) -> None:
        self.sent = False
        self.response: Any = None
        self.error: Exception | None = None
        self.transports: set[Any] = set()

    def failure(self, error: Exception) -> Verdict | Fault | None:
        """What litellm's exception means; the answer decides, where there was one."""
        answer = self.response
        if answer is not None:
            try:
                body = str(answer.text)
            except RuntimeError:  # httpx: the body broke off
                body = None
            if answer.status_code >= 300:
                return classify_response(answer.status_code, body or "", answer.headers)
            if body is not None:
                return None
        return classify_exception(self.error or error) if self.sent else classify_refusal(error)


_EXCHANGE: ContextVar[Exchange | None] = ContextVar("exchange", default=None)


@contextlib.contextmanager
def recorded_exchange() -> Iterator[Exchange]:
    """A context that records the request of one call; litellm logs nothing of it."""
    exchange, silent = Exchange(), _silent()
    token, quiet = _EXCHANGE.set(exchange), silent.set(True)
    try:
        yield exchange
    finally:
        _EXCHANGE.reset(token)
        silent.reset(quiet)


@cache
def _silent() -> ContextVar[bool]:
    """The flag that keeps litellm from logging a call in background tasks, which cost time."""
    try:
        from litellm._internal_context import is_internal_call
    except ImportError:  # it is internal to litellm, and not in every release
        return ContextVar("silent", default=False)
    flag: ContextVar[bool] = is_internal_call
    return flag


@cache
def _library() -> Any:
    """litellm, imported at the first use, with everything switched off but the call."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    os.environ.update(TRANSPORT)
    require_library("litellm")
    import litellm
    from litellm.llms.custom_httpx.aiohttp_transport import LiteLLMAiohttpTransport

    # They would quote what the model said, where it is not of the type that litellm expects.
    warnings.filterwarnings("ignore", message="Pydantic serializer warnings")
    litellm.disable_aiohttp_transport = False
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    _count_requests(LiteLLMAiohttpTransport)
    shield_logs()
    return litellm


def _count_requests(transport: Any) -> None:
    """Make the transports send every request through the Exchange of its call."""
    send = transport.handle_async_request
    # Wrapped twice, it would take the one request of a call for a second one.
    if getattr(send, "once", False):
        return

    async def once(self: Any, request: Any) -> Any:
        exchange = _EXCHANGE.get()
        if exchange is None:
            return await send(self, request)
        if exchange.sent:
            raise RuntimeError("one attempt is one request")
        exchange.sent = True
        exchange.transports.add(self)
        # A cookie of an earlier answer must not change what a server says.
        request.headers.pop("cookie", None)
        try:
            exchange.response = await send(self, request)
        except Exception as error:
            exchange.error = error
            raise
        return exchange.response

    once.once = True  # type: ignore[attr-defined]
    transport.handle_async_request = once


@cache
def litellm_for(model: str) -> Any:
    """litellm, prepared so that for this model it asks no server and searches no list."""
    litellm, provider = _library(), model.split("/", 1)[0]
    if provider in ASKED_ABOUT:
        entry = FREE | {"supports_response_schema": True, "litellm_provider": provider}
        litellm.model_cost.setdefault(model, entry)
    elif not _is_listed(model):
        _takes_schema(model)  # asked while litellm's own list is all that it knows
        litellm.model_cost[model] = FREE | {"litellm_provider": provider}
    return litellm


@cache
def _is_listed(model: str) -> bool:
    """True if litellm lists a price for the model, or it runs free of charge."""
    if model.split("/", 1)[0] in ASKED_ABOUT:
        return True
    litellm = _library()
    try:
        litellm.cost_per_token(model=model, prompt_tokens=1, completion_tokens=1)
    except Exception:
        return False
    return True


def listed_window(model: str) -> int | None:
    """Tokens that a model reads in one call, by litellm's list; None where it is not there."""
    if find_spec("litellm") is None:
        return None
    listed: Mapping[str, Any] = _library().model_cost
    for name in (model, model.partition("/")[2]):
        tokens = listed.get(name, {}).get("max_input_tokens")
        if isinstance(tokens, int) and tokens > 0:
            return tokens
    return None


@cache
def _takes_schema(model: str) -> bool:
    litellm = litellm_for(model) if model.split("/", 1)[0] in ASKED_ABOUT else _library()
    return bool(litellm.supports_response_schema(model))
