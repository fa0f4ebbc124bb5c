"""A backend for OpenAI and servers with its chat completions API: vLLM, Ollama, llama.cpp."""

from __future__ import annotations

from json import loads
from typing import Any, ClassVar
from urllib.parse import urlsplit

from pydantic import PrivateAttr

from virsci_society.agents.backends.endpoint_settings import EndpointSettings
from virsci_society.agents.backends.http import ChatCompletionsBackend, Fields, Send
from virsci_society.agents.backends.http_client import HttpClient, HttpResponse, while_alive
from virsci_society.agents.backends.responses import (
    classify_exception,
    classify_response,
    classify_success,
)
from virsci_society.agents.errors import Fault, Verdict

HOME = "https://api.openai.com/v1"
HOME_HOST, HOME_KEY = "api.openai.com", "OPENAI_API_KEY"


class OpenAI(ChatCompletionsBackend):
    """A language model behind the API of OpenAI, or of a server with the same API."""

    client: ClassVar[str] = "the OpenAI API"

    _clients: list[HttpClient] = PrivateAttr(default_factory=list)

    @property
    def endpoint_settings(self) -> EndpointSettings:
        """Address and variable of the key; OpenAI's own address has its usual variable."""
        key = self.key or (HOME_KEY if self._is_home else None)
        return EndpointSettings(self.api_base, key, "" if self.api_base else HOME_HOST)

    def takes_schema(self) -> bool:
        """True: these servers all take a JSON Schema."""
        return True

    def make_sender(self, key: str | None) -> Send:
        """The function that posts a request by a new client."""
        return self.sender_to(self.api_base or HOME, key)

    def sender_to(self, address: str, key: str | None) -> Send:
        """The function that posts a request to an address."""
        deadlines = self.deadlines
        client = HttpClient(address, key, connect=deadlines.connect)
        self._clients.append(client)
        # OpenAI's newer models take only the first of these names, other servers the second.
        longest = self.max_tokens_name
        if longest == "auto":
            longest = "max_completion_tokens" if self._is_home else "max_tokens"
        always = {"model": self.model, longest: self.max_tokens, "stream": False}

        async def send(fields: Fields) -> Any:
            try:
                asked = client.post("/chat/completions", {**always, **fields})
                answer = await while_alive(asked, client.address, deadlines.connect, deadlines.read)
            except (Verdict, Fault):
                raise
            except Exception as error:
                failure = classify_exception(error)
            else:
                if answer.status < 300:
                    return _completion(answer)
                failure = classify_response(answer.status, answer.body, answer.headers)
            # Not in the handler: the library's exception, whose request holds the key, would be
            # chained to it.
            raise failure

        return send

    async def close(self) -> None:
        """Close all connections."""
        clients, self._clients[:] = list(self._clients), []
        for client in clients:
            await client.close()

    @property
    def _is_home(self) -> bool:
        """True if the address is OpenAI's own."""
        host = urlsplit(self.api_base or HOME).hostname or ""
        return host == HOME_HOST or host.endswith(f".{HOME_HOST}")


def _completion(answer: HttpResponse) -> Any:
    """The parsed body; a Fault describes a body that is not JSON."""
    try:
        return loads(answer.body)
    except (ValueError, RecursionError):
        pass
    if answer.body.startswith(("data:", "event:", ": ")):
        raise Fault(
            'the server answers with an event stream although "stream": false was sent; turn '
            "streaming off in the server or gateway",
            "request",
        )
    raise classify_success(answer.body) or Fault("the response is not JSON", "garbled")
