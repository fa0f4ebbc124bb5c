"""Base of all backends of language models behind HTTP; retries, slots and budget are not here."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import ConfigDict, Field, PrivateAttr, field_validator, model_validator

from virsci_society.agents.backends.endpoint_settings import (
    Address,
    EndpointSettings,
    Variable,
    is_own,
)
from virsci_society.agents.backends.http_client import probe
from virsci_society.agents.backends.responses import read_completion
from virsci_society.agents.config import Part, Switch
from virsci_society.agents.errors import Fault, Overflow
from virsci_society.agents.gateway.backend import Backend, Endpoint
from virsci_society.agents.lazy_imports import require_extra
from virsci_society.agents.prompts.request import Reply, Request, Usage
from virsci_society.agents.redaction import redact
from virsci_society.agents.replies.form import json_pattern

Fields = Mapping[str, Any]
Send = Callable[[Fields], Awaitable[Any]]
"""Makes one HTTP request and returns the chat completion; raises Verdict or Fault only. Its
argument holds the fields of the request."""

SEEDS = 2**31 - 1
"""Seeds that every provider takes: 1 to 2^31 - 1."""
PER_TOKEN = 3
"""Characters that a token of English holds at least, for trimming to ``context``."""

_HASHED = (
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


def require_library(name: str) -> None:
    """Check that a library through which language models are asked is installed."""
    require_extra("llm", name, f"a language model needs {name}")


Rate = Annotated[float, Field(gt=0, le=10_000_000, allow_inf_nan=False)]


class Deadlines(Part):
    """Timeouts of one attempt, in real seconds."""

    connect: float = Field(default=10.0, gt=0, le=604_800, allow_inf_nan=False)
    """Seconds until there is a connection; until a first response, where no server has ever
    responded."""
    read: float = Field(default=120.0, gt=0, le=604_800, allow_inf_nan=False)
    """Seconds of silence before the server is asked whether it is still alive."""
    total: float = Field(default=300.0, gt=0, le=604_800, allow_inf_nan=False)
    """Seconds until the reply is complete."""


class Price(Part):
    """What the model costs, in US dollars per million tokens."""

    input: float = Field(ge=0, le=1_000_000, allow_inf_nan=False)
    """Prompt tokens."""
    output: float = Field(ge=0, le=1_000_000, allow_inf_nan=False)
    """Reply tokens."""
    cached: float | None = Field(default=None, ge=0, le=1_000_000, allow_inf_nan=False)
    """Prompt tokens from the provider's cache, at most ``input``; null: as ``input``."""

    @model_validator(mode="after")
    def _cached_is_no_dearer(self) -> Price:
        if self.cached is not None and self.cached > self.input:
            # What is reserved for a call is the price of a prompt that is not in the cache.
            raise ValueError("cached costs more than input; give at most as much")
        return self

    def of(self, usage: Usage) -> float:
        """US dollars for these tokens."""
        cached, less = usage.cached_tokens, self.input if self.cached is None else self.cached
        prompt = (usage.prompt_tokens - cached) * self.input + cached * less
        return (prompt + usage.completion_tokens * self.output) / 1_000_000


class ChatCompletionsBackend(Backend):
    """A language model behind HTTP; subclasses say how a request is sent."""

    # What is refused may be a key in the wrong place.
    model_config = ConfigDict(hide_input_in_errors=True)
    execution: ClassVar[frozenset[str]] = frozenset(
        {"api_base", "key", "max_tokens_name", "deadlines", "tokens_per_second", "prices"}
    )
    client: ClassVar[str] = ""
    """Name of the library that sends."""

    model: str = Field(
        min_length=1,
        max_length=200,
        pattern=r"^[!-~]+$",
        json_schema_extra={"hint": "name the model, for instance with --set backend.model=NAME"},
    )
    """Name of the model, as OpenAI or litellm (``provider/name``) knows it. Source: VirSci:
    LLaMA3.1-8b."""
    api_base: Address = None
    """Address of the API, such as ``http://127.0.0.1:8000/v1``; null: the provider's own."""
    key: Variable = None
    """Environment variable that contains the API key; null: the provider's usual one, none for a
    local server."""
    temperature: float | None = Field(default=0.7, ge=0, le=2, allow_inf_nan=False)
    """Sampling temperature; null: the model's default."""
    max_tokens: int = Field(default=2048, ge=1, le=1_000_000)
    """Longest reply. Unit: tokens."""
    max_tokens_name: Literal["auto", "max_tokens", "max_completion_tokens"] = "auto"
    """Parameter name of ``max_tokens``; ``auto``: the new name for OpenAI, the old one for
    others."""
    top_p: float | None = Field(default=None, gt=0, le=1, allow_inf_nan=False)
    """Nucleus sampling; null: the model's default. Unit: probability."""
    structured: Literal["auto", "on", "off"] = "auto"
    """Send the JSON Schema of the reply; ``auto``: to known models and private addresses, until
    refused."""
    system_role: Switch = "on"
    """Send a ``system`` message; ``off``: its text begins the user message."""
    seeded: Switch = "on"
    """Send a seed with each call, derived from the scenario's."""
    context: int | None = Field(default=None, ge=2, le=2**30)
    """Context window, to which prompts are trimmed; null: unknown (Ollama gets what the longest
    prompt needs). Unit: tokens."""
    extra: dict[str, Any] = Field(default_factory=dict)
    """Further request parameters, such as ``{reasoning_effort: low}``."""
    deadlines: Deadlines = Field(default_factory=Deadlines)
    """Timeouts of one attempt."""
    tokens_per_second: tuple[Rate, Rate] | None = None
    """Prompt and reply tokens per second, for ``society plan``; null: as llama.cpp reports, else
    1000 and 50."""
    prices: Price | None = None
    """Prices of the model; null: from litellm's list, 0 for a local model, else unknown."""

    _window: int | None = PrivateAttr(default=None)
    _schema_refused: bool = PrivateAttr(default=False)

    @field_validator("extra")
    @classmethod
    def _harmless(cls, value: dict[str, Any]) -> dict[str, Any]:
        for name in value:
            if _RESERVED.fullmatch(name) or _CREDENTIAL.search(name):
                raise ValueError(f"{name!r} cannot be given here: it has its own key, or none")
        try:
            text = json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            raise ValueError("expected parameters that can be written as JSON") from None
        if redact(text) != text:
            raise ValueError(
                "it contains a credential; name the environment variable under key instead"
            )
        return value

    @model_validator(mode="after")
    def _context_has_room(self) -> ChatCompletionsBackend:
        if self.context is not None and self.context <= self.max_tokens:
            raise ValueError(
                "context must exceed max_tokens, to leave room for a prompt; raise it, or lower "
                "max_tokens"
            )
        return self

    @property
    def about(self) -> str:
        """The sentence for reports: which language model answers."""
        return f"the language model {self.model}, through {self.client}"

    @property
    def model_settings(self) -> str:
        """Model and sampling as canonical JSON, the same for every address."""
        values = {name: getattr(self, name) for name in _HASHED}
        stated = {name: value for name, value in values.items() if value not in (None, {})}
        if self.system_role == "off":
            stated["system_role"] = "off"
        # Part of every request's hash: the order of the fields must not change it.
        return json.dumps(stated, sort_keys=True, separators=(",", ":"))

    @property
    def max_reply_tokens(self) -> int:
        """Most tokens of one reply."""
        return self.max_tokens

    @property
    def max_prompt_characters(self) -> int | None:
        """Characters of messages that fit with the longest reply; None: unknown."""
        return None if self.context is None else (self.context - self.max_tokens) * PER_TOKEN

    @property
    def sets_window(self) -> bool:
        """True if the server takes the size of the context window from every request."""
        return False

    @property
    def window(self) -> int | None:
        """Tokens of the context window that every request asks for; None: it asks for none."""
        return (self.context or self._window) if self.sets_window else None

    def with_window(self, tokens: int) -> Self:
        """The same backend with another context window, which is no setting and in no hash."""
        copied = self.model_copy()
        copied._window = tokens
        return copied

    @property
    def free(self) -> bool:
        """True if the server is on this machine, and no price is given."""
        return self.prices is None and self.endpoint_settings.is_local

    @property
    def priced(self) -> bool:
        """True if the price of tokens is known."""
        return self.prices is not None or self.free

    def price(self, usage: Usage) -> float:
        """US dollars for these tokens; 0 where no price is known."""
        return 0.0 if self.prices is None else self.prices.of(usage)

    @property
    def endpoint_settings(self) -> EndpointSettings:
        """Address of the endpoint, and the variable of its key."""
        return EndpointSettings(self.api_base, self.key)

    def endpoint(self) -> Endpoint:
        """The endpoint, ready to be called."""
        settings, contact = self.endpoint_settings, self.deadlines.connect
        send = self.make_sender(settings.secret())
        # Only the library knows a provider's own address, so nothing can be looked at there.
        look = partial(probe, settings.api_base, contact) if settings.api_base else None
        return Endpoint(settings.name, partial(self._attempt, send), look, contact)

    async def complete(self, request: Request) -> Reply:
        """Make one attempt."""
        return await self.endpoint().complete(request)

    def make_sender(self, key: str | None) -> Send:
        """The function that sends requests, with this API key; None: none is given."""
        raise NotImplementedError

    def refusal(self) -> str:
        """Why the library that sends would refuse the model by its name; empty: it does not."""
        return ""

    def takes_schema(self) -> bool:
        """True if the model is known to take a JSON Schema; used if ``structured`` is auto."""
        raise NotImplementedError

    @property
    def sends_schema(self) -> bool:
        """True if the form's JSON Schema goes along with a request."""
        if self.structured == "auto":
            return is_own(self.api_base) or self.takes_schema()
        return self.structured == "on"

    @property
    def unreadable_advice(self) -> str:
        """Advice for users when replies cannot be parsed."""
        if self.sends_schema:
            return (
                "Use a larger model, or raise backend.max_tokens if the replies are cut off "
                "(the form's JSON Schema is sent already; some servers ignore it)"
            )
        return (
            "Send the form's JSON Schema along with --set backend.structured=on, if the server "
            "takes one, or use a larger model"
        )

    def request_fields(self, request: Request) -> dict[str, Any]:
        """Further fields of the request, under OpenAI's names."""
        messages = [
            # UTF-8 cannot hold halves of surrogate pairs.
            {"role": said.role, "content": said.content.encode("utf-8", "replace").decode("utf-8")}
            for said in request.messages
        ]
        if self.system_role == "off":
            system = "\n\n".join(said["content"] for said in messages if said["role"] == "system")
            messages = [said for said in messages if said["role"] != "system"]
            if system and messages:
                messages[0]["content"] = f"{system}\n\n{messages[0]['content']}"
        fields: dict[str, Any] = {"messages": messages}
        # A model to which none is sent takes none, whatever a page would have.
        if self.temperature is not None:
            own = request.temperature
            fields["temperature"] = self.temperature if own is None else own
        if self.top_p is not None:
            fields["top_p"] = self.top_p
        if self.seeded == "on":
            fields["seed"] = 1 + request.seed % SEEDS
        if self.sends_schema and not self._schema_refused:
            # Made anew for each request, as litellm writes into it.
            schema = {"name": request.form.__name__[:64], "schema": json.loads(request.schema_text)}
            fields["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif self.sends_schema:
            # Its pages have no line of JSON, which is missed only where no schema is taken.
            pattern = json_pattern(request.form.schema_for(request.slots))
            messages[-1] = {**messages[-1], "content": f"{messages[-1]['content']}\n{pattern}"}
        return fields | self.extra

    async def _attempt(self, send: Send, request: Request) -> Reply:
        total, address = self.deadlines.total, self.api_base
        fields = self.request_fields(request)
        try:
            async with asyncio.timeout(total):
                answer = await send(fields)
        except TimeoutError:
            fault = Fault(f"no answer within {total:g} seconds (deadlines.total)", "timeout")
            fault.hint = (
                "'society doctor' measures call times; raise backend.deadlines.total, or "
                "lower backend.max_tokens or backend.in_flight"
            )
        except Fault as error:
            fault = error
            if address is not None and error.kind == "connection" and not error.sent:
                error.args = (f"{address}: {error}",)
            if error.kind == "request" and not error.hint:
                named = [name for name in self.extra if name in str(error)]
                error.hint = f"leave {named[0]} out of backend.extra" if named else ""
            elsewhere = re.search(r"(?i)model|endpoints found|deployment", str(error))
            if error.status in (404, 405) and not elsewhere:
                error.hint = _address_hint(address)
            schema = error.kind == "request" and error.hint.endswith("structured=off")
            if schema and self.structured == "auto":
                # Also for what was under way meanwhile; a second refusal is of something else.
                fault = Fault(str(error), "schema") if "response_format" in fields else error
                self._schema_refused = True
        else:
            reply = read_completion(answer, request, self.max_tokens)
            usage, window = reply.usage, self.window
            if window is not None and not usage.estimated and usage.prompt_tokens >= window - 1:
                # Some servers cut a prompt to their window without a word.
                cut = Overflow(
                    f"the server cut the prompt to its context window of {window} tokens"
                )
                cut.usage = usage
                raise cut
            return reply
        raise fault


def _address_hint(address: str | None) -> str:
    """Say what an address lacks, or has too much, where the server knows no such page."""
    path = (address or "").rstrip("/")
    for ending in ("/chat/completions", "/completions", "/responses", "/models"):
        if path.endswith(ending):
            return f"leave {ending} out of backend.api_base: {path.removesuffix(ending)}"
    if not re.search(r"/v\d", path):
        return f"most servers want an address that ends with /v1: --set backend.api_base={path}/v1"
    return "the server has no page /chat/completions below backend.api_base; see its documentation"
