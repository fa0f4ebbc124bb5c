"""OpenAI: models behind the chat completions API of OpenAI, by its own library.

For OpenAI itself and for servers that speak as it does: vLLM, Ollama, llama.cpp, LM Studio. The
library's connections and keys are used, and none of its retries; a request and its answer stay
plain data, because typed ones would cost more than all the rest of a call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from pydantic import PrivateAttr

from agents.classify import of_error, of_response
from agents.errors import InputError, Verdict
from agents.faults import Fault
from agents.live import Fields, Live, Send
from agents.way import Way

if TYPE_CHECKING:
    import openai

HOME = "https://api.openai.com/v1"
HOME_KEY = "OPENAI_API_KEY"
NO_KEY = "none"
"""What is sent to a server that asks for no key."""


class OpenAI(Live):
    """A language model behind the API of OpenAI, or of a server that speaks as it does."""

    client: ClassVar[str] = "openai"

    _clients: list[openai.AsyncOpenAI] = PrivateAttr(default_factory=list)

    def ways(self) -> tuple[Way, ...]:
        """The endpoints; OpenAI's own has its key where everybody keeps it."""
        return tuple(
            Way(way.api_base, way.weight, way.in_flight, HOME_KEY)
            if way.key is None and _is_home(way)
            else way
            for way in super().ways()
        )

    def takes_schema(self) -> bool:
        """These servers all do."""
        return True

    def open(self, way: Way, key: str | None) -> Send:
        """Make a client with connections of its own; they are opened by the first request."""
        import httpx

        client = self._connect(way, key)
        # OpenAI's newer models take only the first of these names, other servers the second.
        longest = "max_completion_tokens" if _is_home(way) else "max_tokens"
        always = {"model": self.model, longest: self.max_tokens}

        async def send(said: Fields, aside: Fields, headers: Mapping[str, str]) -> Any:
            failure: Verdict | Fault
            body = {**always, **said, **aside}
            try:
                response = await client.post(
                    "/chat/completions",
                    cast_to=httpx.Response,
                    body=body,
                    options={"headers": headers},
                )
                return response.json()
            except Exception as error:
                failure = _read_error(error)
            raise failure

        return send

    async def close(self) -> None:
        """Close all connections."""
        clients, self._clients[:] = list(self._clients), []
        for client in clients:
            await client.close()

    def _connect(self, way: Way, key: str | None) -> openai.AsyncOpenAI:
        import httpx
        import openai

        timeout = httpx.Timeout(self.deadlines.read, connect=self.deadlines.connect)
        # As many connections as there are calls in flight (0 is "without end" to aiohttp).
        limits = httpx.Limits(max_connections=0, keepalive_expiry=15.0)
        try:
            connections = openai.DefaultAioHttpClient(
                timeout=timeout, limits=limits, follow_redirects=False
            )
        except RuntimeError as error:
            raise InputError(f"{error}; install openai[aiohttp]") from None
        client = openai.AsyncOpenAI(
            api_key=key or NO_KEY,
            base_url=way.api_base or HOME,
            timeout=timeout,
            max_retries=0,
            http_client=connections,
        )
        self._clients.append(client)
        return client


def _is_home(way: Way) -> bool:
    host = urlsplit(way.api_base or HOME).hostname or ""
    return host == "api.openai.com" or host.endswith(".api.openai.com")


def _read_error(error: Exception) -> Verdict | Fault:
    import openai

    if isinstance(error, openai.APIStatusError):
        answer = error.response
        return of_response(answer.status_code, answer.text, answer.headers)
    return of_error(error)
