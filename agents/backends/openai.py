"""A backend for models behind the chat completions API, by OpenAI's own library.

It serves OpenAI itself and servers that speak the same protocol: vLLM, Ollama, llama.cpp, LM
Studio. The library's connections and keys are used, and none of its retries. Requests and answers
stay plain data, because typed ones would cost more time than all the rest of a call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from pydantic import PrivateAttr

from virsci_society.agents.backends.endpoint_settings import EndpointSettings, trusted_certificates
from virsci_society.agents.backends.http import (
    ChatCompletionsBackend,
    Fields,
    Send,
    require_library,
)
from virsci_society.agents.backends.responses import classify_exception, classify_response
from virsci_society.agents.errors import Fault, InputError, Verdict

if TYPE_CHECKING:
    import openai

HOME = "https://api.openai.com/v1"
HOME_KEY = "OPENAI_API_KEY"
NO_KEY = "none"
"""What is sent to a server that asks for no key."""


class OpenAI(ChatCompletionsBackend):
    """A language model behind the API of OpenAI, or of a server that speaks as it does."""

    client: ClassVar[str] = "openai"

    _clients: list[openai.AsyncOpenAI] = PrivateAttr(default_factory=list)

    def endpoint_settings(self) -> tuple[EndpointSettings, ...]:
        """The endpoints; OpenAI's own gets the usual variable of its key."""
        return tuple(
            EndpointSettings(endpoint.api_base, endpoint.weight, endpoint.in_flight, HOME_KEY)
            if endpoint.key is None and _is_home(endpoint)
            else endpoint
            for endpoint in super().endpoint_settings()
        )

    def refusal(self) -> str:
        """Empty: only the server knows its models; InputError if the library is not installed."""
        require_library("openai")
        return ""

    def takes_schema(self) -> bool:
        """True: these servers all take a JSON Schema."""
        return True

    def make_sender(self, endpoint: EndpointSettings, key: str | None) -> Send:
        """The function that posts a request by a client with connections of its own.

        They are opened by the first request.
        """
        require_library("openai")
        import httpx

        client = self._connect(endpoint, key)
        # OpenAI's newer models take only the first of these names, other servers the second.
        longest = "max_completion_tokens" if _is_home(endpoint) else "max_tokens"
        always = {"model": self.model, longest: self.max_tokens}

        async def send(fields: Fields) -> Any:
            failure: Verdict | Fault
            try:
                response = await client.post(
                    "/chat/completions", cast_to=httpx.Response, body={**always, **fields}
                )
                return response.json()
            except Exception as error:
                failure = _read_error(error)
            # Not in the handler: the library's exception, whose request holds the key, would be
            # chained to it.
            raise failure

        return send

    async def close(self) -> None:
        """Close all connections."""
        clients, self._clients[:] = list(self._clients), []
        for client in clients:
            await client.close()

    def _connect(self, endpoint: EndpointSettings, key: str | None) -> openai.AsyncOpenAI:
        """A client of OpenAI's library without retries."""
        import httpx
        import openai

        timeout = httpx.Timeout(self.deadlines.read, connect=self.deadlines.connect)
        # As many connections as there are calls in flight (0 is "without end" to aiohttp).
        limits = httpx.Limits(max_connections=0, keepalive_expiry=15.0)
        try:
            connections = openai.DefaultAioHttpClient(
                timeout=timeout,
                limits=limits,
                follow_redirects=False,
                verify=trusted_certificates(),
            )
        except RuntimeError as error:
            raise InputError(f"{error}; install openai[aiohttp]") from None
        client = openai.AsyncOpenAI(
            api_key=key or NO_KEY,
            base_url=endpoint.api_base or HOME,
            timeout=timeout,
            max_retries=0,
            http_client=connections,
        )
        self._clients.append(client)
        return client


def _is_home(endpoint: EndpointSettings) -> bool:
    host = urlsplit(endpoint.api_base or HOME).hostname or ""
    return host == "api.openai.com" or host.endswith(".api.openai.com")


def _read_error(error: Exception) -> Verdict | Fault:
    import openai

    if isinstance(error, openai.APIStatusError):
        answer = error.response
        return classify_response(answer.status_code, answer.text, answer.headers)
    return classify_exception(error)
