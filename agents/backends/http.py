"""Live: what every language model behind HTTP has in common.

Settings, the ways to the model, what a request says, and the total deadline of one attempt. How
it is sent is the subclass's; retries, slots, budget and journal are the gateway's.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from string import punctuation
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import quote

from pydantic import ConfigDict, Field, WithJsonSchema, field_validator, model_validator

from agents.backend import Backend, Endpoint
from agents.completion import read_completion
from agents.errors import InputError
from agents.faults import Fault
from agents.forms import Form
from agents.part import Part, Switch
from agents.request import Reply, Request, Usage
from agents.secrets import redact
from agents.way import SCHEMA, Address, Variable, Way, Ways

Fields = Mapping[str, Any]
Send = Callable[[Fields, Fields, Mapping[str, str]], Awaitable[Any]]
"""Makes one HTTP request and returns the chat completion; raises Verdict or Fault only. It is
given what is said, and what ``Live.aside`` adds to body and headers."""

SEEDS = 2**31 - 1
"""Seeds that every provider takes: 1 to 2^31 - 1."""
PER_TOKEN = 3
"""Characters that a token of English holds at least, for trimming to ``context``."""

_TOLD = (
    *("model", "temperature", "max_tokens", "top_p"),
    *("structured", "seeded", "context", "extra"),
)

_RESERVED = re.compile(
    r"messages|model|model_list|n|stream\w*|seed|temperature|top_p|max_tokens|max_completion_tokens"
    r"|response_format|slots|tools|tool_choice|functions|function_call|api_base|base_url|headers"
    r"|extra_(?:headers|query|body)|timeout|num_retries|max_retries|\w*fallback\w*|client"
    r"|shared_session|drop_params|cache|caching|callbacks|logger_fn|mock_\w*"
)
_CREDENTIAL = re.compile(r"(?i)api_?key|access_?key|secret|password|credential|authorization")


class Deadlines(Part):
    """How long one attempt at a call may take, in real seconds."""

    connect: float = Field(default=10.0, gt=0, allow_inf_nan=False)
    """Until there is a connection."""
    read: float = Field(default=120.0, gt=0, allow_inf_nan=False)
    """Of silence on it."""
    total: float = Field(default=300.0, gt=0, allow_inf_nan=False)
    """From the beginning to the last word."""


class Price(Part):
    """What the model costs, in US dollars per million tokens."""

    input: float = Field(ge=0, allow_inf_nan=False)
    """Of prompts."""
    output: float = Field(ge=0, allow_inf_nan=False)
    """Of replies."""

    def of(self, usage: Usage) -> float:
        """US dollars for these tokens."""
        tokens = usage.prompt_tokens * self.input + usage.completion_tokens * self.output
        return tokens / 1_000_000


class Live(Backend):
    """A language model behind HTTP; subclasses say how a request is sent."""

    model_config = ConfigDict(hide_input_in_errors=True)
    execution: ClassVar[frozenset[str]] = frozenset(
        {"api_base", "via", "key", "deadlines", "prices"}
    )
    client: ClassVar[str] = ""
    """Name of the library that sends."""

    model: str = Field(
        min_length=1,
        max_length=200,
        pattern=r"^[!-~]+$",
        json_schema_extra={"hint": "name the model, for instance with --set backend.model=NAME"},
    )
    """Name of the model, as the provider (``openai``) or litellm (``provider/name``) knows it."""
    api_base: Address = None
    """Address of the API, such as ``http://127.0.0.1:8000/v1``; null: the provider's own."""
    via: Annotated[Ways, WithJsonSchema(SCHEMA)] = ()
    """Several endpoints of the same model, in place of ``api_base``: a list of sections with
    ``api_base``, ``weight`` (share of the calls, 1 by default), ``in_flight`` (most at a time)
    and ``key``."""
    key: Variable = None
    """Name of the environment variable that holds the key, never the key itself; null: the
    provider's usual variable, or no key for a server of one's own."""
    temperature: float | None = Field(default=0.7, ge=0, le=2, allow_inf_nan=False)
    """Spread of the sampling; null: the model's own."""
    max_tokens: int = Field(default=2048, ge=1, le=1_000_000)
    """Most tokens of one reply."""
    top_p: float | None = Field(default=None, gt=0, le=1, allow_inf_nan=False)
    """Share of the likeliest tokens that is sampled from; null: the model's own."""
    structured: Literal["auto", "on", "off"] = "auto"
    """Whether the form's JSON Schema is sent along as the format of the reply; ``auto``: where
    the model is known to take it."""
    seeded: Switch = "on"
    """Whether each call is sent a seed of its own, derived from the scenario's."""
    context: int | None = Field(default=None, ge=2)
    """Tokens that the model can read and write in one call; longer prompts are trimmed to it.
    null: not known."""
    extra: dict[str, Any] = Field(default_factory=dict)
    """Further parameters of the request, such as ``{reasoning_effort: low}``."""
    deadlines: Deadlines = Field(default_factory=Deadlines)
    """How long one attempt may take."""
    prices: Price | None = None
    """What the model costs; null: as litellm's list of prices says, or unknown."""

    @field_validator("extra")
    @classmethod
    def _harmless(cls, value: dict[str, Any]) -> dict[str, Any]:
        return _checked_extra(value)

    @model_validator(mode="after")
    def _fits_together(self) -> Live:
        if self.via and self.api_base:
            raise ValueError("via and api_base are both given; api_base stands in each of via")
        names = [way.name for way in self.via]
        if len(set(names)) < len(names):
            raise ValueError("via names one endpoint twice; give it once, with a larger weight")
        if self.context is not None and self.context <= self.max_tokens:
            raise ValueError("context leaves no room for a prompt beside max_tokens")
        return self

    @property
    def about(self) -> str:
        """Which language model speaks."""
        return f"the language model {self.model}, through {self.client}"

    @property
    def told(self) -> str:
        """Model and sampling as canonical JSON, the same for every way to the model."""
        values = {name: getattr(self, name) for name in _TOLD}
        told = {name: value for name, value in values.items() if value not in (None, {})}
        return json.dumps(told, sort_keys=True, separators=(",", ":"))

    @property
    def longest_reply(self) -> int:
        """Most tokens of one reply."""
        return self.max_tokens

    @property
    def room(self) -> int | None:
        """Characters of messages that fit beside the longest reply, where that is known."""
        return None if self.context is None else (self.context - self.max_tokens) * PER_TOKEN

    @property
    def priced(self) -> bool:
        """True if ``price`` knows what the tokens cost."""
        return self.prices is not None

    def price(self, usage: Usage) -> float:
        """US dollars for these tokens; 0 where no price is known."""
        return 0.0 if self.prices is None else self.prices.of(usage)

    def ways(self) -> tuple[Way, ...]:
        """The endpoints, each complete with its key's variable."""
        return tuple(
            Way(way.api_base, way.weight, way.in_flight, way.key or self.key)
            for way in self.via or (Way(self.api_base),)
        )

    def endpoints(self) -> tuple[Endpoint, ...]:
        """The ways to the model, opened.

        Raises:
            InputError: the environment variable of a key is missing.
        """
        return tuple(
            Endpoint(way.name, self._opened(way), way.weight, way.in_flight) for way in self.ways()
        )

    async def complete(self, request: Request) -> Reply:
        """Make one attempt by the first way."""
        return await self.endpoints()[0].complete(request)

    def open(self, way: Way, key: str | None) -> Send:
        """Get ready to send requests that way, with that key."""
        raise NotImplementedError

    def takes_schema(self) -> bool:
        """Whether the model is known to take a JSON Schema; asked if ``structured`` is auto."""
        raise NotImplementedError

    def sampling(self, request: Request) -> dict[str, Any]:
        """What is said beside the model and the longest reply, under the names of OpenAI."""
        said: dict[str, Any] = {
            "messages": [
                {"role": m.role, "content": _writable(m.content)} for m in request.messages
            ]
        }
        if self.temperature is not None:
            said["temperature"] = self.temperature
        if self.top_p is not None:
            said["top_p"] = self.top_p
        if self.seeded == "on":
            said["seed"] = 1 + request.seed % SEEDS
        if self.structured == "on" or (self.structured == "auto" and self.takes_schema()):
            said["response_format"] = _format(request.form)
        return said | self.extra

    def aside(self, request: Request, way: Way) -> tuple[dict[str, Any], dict[str, str]]:
        """Further fields and headers for the test server, and for nobody else.

        The model ``test`` on this machine answers from the slots, which no real model is told.
        """
        if self.model.rsplit("/", 1)[-1] != "test" or not way.is_local:
            return {}, {}
        from agents.slots import tell

        return {"slots": tell(request)}, {"X-Call-Id": quote(request.id, safe=punctuation)}

    def _opened(self, way: Way) -> Callable[[Request], Awaitable[Reply]]:
        return partial(self._attempt, way, self.open(way, way.secret()))

    async def _attempt(self, way: Way, send: Send, request: Request) -> Reply:
        total = self.deadlines.total
        try:
            aside, headers = self.aside(request, way)
            async with asyncio.timeout(total):
                answer = await send(self.sampling(request), aside, headers)
        except TimeoutError:
            fault = Fault(f"no answer within {total:g} seconds (deadlines.total)", "timeout")
        except InputError as error:
            fault = Fault(str(error), "request")
        else:
            return read_completion(answer, request, self.max_tokens)
        raise fault


def _checked_extra(value: dict[str, Any]) -> dict[str, Any]:
    for name in value:
        if _RESERVED.fullmatch(name) or _CREDENTIAL.search(name):
            raise ValueError(f"{name!r} cannot be given here: it has a key of its own, or none")
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise ValueError("expected parameters that can be written as JSON") from None
    if redact(text) != text:
        raise ValueError("there is a credential in it; name the variable that holds it under key")
    return value


def _format(form: type[Form]) -> dict[str, Any]:
    """The form as a format of replies; made anew for each request, as litellm writes into it."""
    schema = {"name": form.__name__[:64], "schema": form.json_schema()}
    return {"type": "json_schema", "json_schema": schema}


def _writable(text: str) -> str:
    """The text without halves of characters, which UTF-8 cannot say."""
    return text.encode("utf-8", "replace").decode("utf-8")
