"""LiteLLM: models of any provider that litellm knows.

litellm is asked for one completion at a time and for nothing else: the ways to the model, retries
and budgets are ours. Left to itself it sends a request again when a connection breaks, when a
parameter is refused or when it is led elsewhere; here the first answer counts, so every request
of a call passes its Exchange, and a second one does not.
"""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from functools import cache
from typing import Any, ClassVar

from pydantic import PrivateAttr

from agents.classify import of_error, of_response, of_success
from agents.errors import Verdict
from agents.faults import Fault
from agents.live import Fields, Live, Send
from agents.request import Usage
from agents.secrets import shield_logs
from agents.way import Way

ENVIRONMENT = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}
"""Set before litellm is imported: no list of prices is fetched, no ``.env`` file is read."""

TRANSPORT = {"DISABLE_AIOHTTP_TRANSPORT": "False", "LITELLM_HTTP2": "False"}
"""Set whatever they were: only on its usual way are a call's requests counted."""

NO_KEY = "none"
"""What is sent to a server on this machine, so that no key meant for a provider goes there."""

ASKED_ABOUT = ("ollama", "ollama_chat")
"""Providers about whose models litellm would ask a server on this machine before every call."""
FREE = {"mode": "chat", "input_cost_per_token": 0.0, "output_cost_per_token": 0.0}
"""What litellm is told of models that its list does not have. It looks for a price after every
call, in all the places where one could be; the price that counts is asked for here."""

AS_IT_IS = ("openai", "hosted_vllm", "litellm_proxy", "openai_like", "lm_studio", "llamafile")
"""Providers that speak as OpenAI does. The format of a reply goes into their requests as it is;
given as a parameter, it would be copied piece by piece on its way through two libraries."""


class LiteLLM(Live):
    """A language model of any provider, through litellm."""

    client: ClassVar[str] = "litellm"

    _transports: set[Any] = PrivateAttr(default_factory=set)

    @property
    def priced(self) -> bool:
        """True if a price is given, or litellm's list has the model."""
        return self.prices is not None or _is_listed(self.model)

    def price(self, usage: Usage) -> float:
        """US dollars for these tokens, by the price given or by litellm's list; else 0."""
        if self.prices is not None or not _is_listed(self.model):
            return super().price(usage)
        return _listed_price(self.model, usage)

    def takes_schema(self) -> bool:
        """As litellm's list of models says."""
        return _takes_schema(self.model)

    def open(self, way: Way, key: str | None) -> Send:
        """Get litellm ready; it makes its connections itself."""
        litellm = library_for(self.model)
        always = self._settings(way, key)
        as_it_is = self.model.split("/", 1)[0] in AS_IT_IS

        async def send(said: Fields, aside: Fields, headers: Mapping[str, str]) -> Any:
            if as_it_is and "response_format" in said:
                aside = {**aside, "response_format": said["response_format"]}
                said = {name: value for name, value in said.items() if name != "response_format"}
            if aside:
                said = {**said, "extra_body": aside}
            if headers:
                said = {**said, "extra_headers": headers}
            with exchange_of_call() as exchange:
                try:
                    return await litellm.acompletion(**always, **said)
                except Exception as error:
                    failure = exchange.failure(error)
                finally:
                    self._transports.update(exchange.transports)
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

    def _settings(self, way: Way, key: str | None) -> dict[str, Any]:
        """What is said with every call."""
        import httpx

        said: dict[str, Any] = {"model": self.model, "max_tokens": self.max_tokens}
        said |= {"num_retries": 0, "max_retries": 0, "drop_params": True}
        said["timeout"] = httpx.Timeout(self.deadlines.read, connect=self.deadlines.connect)
        if way.api_base is not None:
            said["api_base"] = way.api_base
        if key is not None or way.is_local:
            said["api_key"] = key or NO_KEY
        return said


class Exchange:
    """What one call has sent and got: one request, and its answer or what went wrong.

    Attributes:
        sent: a request has gone out.
        response: its answer, as httpx has it.
        error: what was raised in its place.
        transports: those it went by.
    """

    def __init__(self) -> None:
        self.sent = False
        self.response: Any = None
        self.error: Exception | None = None
        self.transports: set[Any] = set()

    def failure(self, error: Exception) -> Verdict | Fault | None:
        """What litellm's exception means: the answer knows better, where there was one.

        None if that is a completion after all, of which litellm could not read some detail.
        """
        answer = self.response
        body = None if answer is None else body_of(answer)
        if answer is not None and answer.status_code >= 300:
            return of_response(answer.status_code, body or "", answer.headers)
        if body is not None:
            return of_success(body)
        return of_error(self.error or error, sent=self.sent)


def body_of(answer: Any) -> str | None:
    """The body of an answer; None if it broke off."""
    try:
        return str(answer.text)
    except RuntimeError:
        return None


class SecondRequest(Exception):
    """litellm wanted to send again within one call."""


_EXCHANGE: ContextVar[Exchange | None] = ContextVar("exchange", default=None)


@contextlib.contextmanager
def exchange_of_call() -> Iterator[Exchange]:
    """What one call sends and gets, for as long as it is made; nothing of it is logged."""
    exchange, silent = Exchange(), _silent()
    token, quiet = _EXCHANGE.set(exchange), silent.set(True)
    try:
        yield exchange
    finally:
        _EXCHANGE.reset(token)
        silent.reset(quiet)


@cache
def _silent() -> ContextVar[bool]:
    """What litellm looks at before it logs a call in background tasks, which cost time."""
    try:
        from litellm._internal_context import is_internal_call
    except ImportError:
        return ContextVar("silent", default=False)
    found: ContextVar[bool] = is_internal_call
    return found


@cache
def _library() -> Any:
    """litellm, imported at the first use, with everything switched off that is not the call."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    os.environ.update(TRANSPORT)
    import litellm
    from litellm.llms.custom_httpx.aiohttp_transport import LiteLLMAiohttpTransport

    # They would quote what the model said, where it is not of the type that litellm expects.
    warnings.filterwarnings("ignore", message="Pydantic serializer warnings")
    litellm.disable_aiohttp_transport = False
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    _watch(LiteLLMAiohttpTransport)
    shield_logs()
    return litellm


def _watch(transport: Any) -> None:
    """Lead every request that such transports send past the Exchange of its call."""
    send = transport.handle_async_request
    if getattr(send, "once", False):
        return

    async def once(self: Any, request: Any) -> Any:
        exchange = _EXCHANGE.get()
        if exchange is None:
            return await send(self, request)
        if exchange.sent:
            raise SecondRequest("one attempt is one request")
        exchange.sent = True
        exchange.transports.add(self)
        try:
            exchange.response = await send(self, request)
        except Exception as error:
            exchange.error = error
            raise
        return exchange.response

    once.once = True  # type: ignore[attr-defined]
    transport.handle_async_request = once


@cache
def library_for(model: str) -> Any:
    """litellm, which knows enough of the model to ask nobody and to search for nothing."""
    litellm, provider = _library(), model.split("/", 1)[0]
    if provider in ASKED_ABOUT:
        told = FREE | {"supports_response_schema": True, "litellm_provider": provider}
        litellm.model_cost.setdefault(model, told)
    elif not _is_listed(model):
        _takes_schema(model)  # asked while litellm's own list is all that it knows
        litellm.model_cost[model] = FREE | {"litellm_provider": provider}
    return litellm


@cache
def _is_listed(model: str) -> bool:
    """True if litellm's list has a price for the model, or it runs where nobody pays."""
    if model.split("/", 1)[0] in ASKED_ABOUT:
        return True
    try:
        _library().cost_per_token(model=model, prompt_tokens=1, completion_tokens=1)
    except Exception:
        return False
    return True


def _listed_price(model: str, usage: Usage) -> float:
    prompt, reply = library_for(model).cost_per_token(
        model=model,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
    )
    return float(prompt + reply)


@cache
def _takes_schema(model: str) -> bool:
    litellm = library_for(model) if model.split("/", 1)[0] in ASKED_ABOUT else _library()
    return bool(litellm.supports_response_schema(model))
