"""Backends of language models behind HTTP, and of whoever answers through files.

Read ``http`` first: settings, request fields and deadlines that all of them share. ``openai`` and
``litellm`` send a request, ``completions`` reads the answer and ``provider_errors`` the errors.
``hybrid`` lets a model answer for some teams only, ``embeddings`` turns texts into vectors,
``endpoint_settings`` holds addresses and keys, ``context_window`` asks servers how long prompts may
be, ``tls`` reads whom to trust, and ``wire_slots`` serves the test server. ``inbox`` asks people or
programs, without HTTP.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from agents.backends.embeddings import LiteLLMEmbedding as LiteLLMEmbedding
    from agents.backends.http import ChatCompletionsBackend as ChatCompletionsBackend
    from agents.backends.hybrid import Hybrid as Hybrid
    from agents.backends.inbox.backend import Inbox as Inbox
    from agents.backends.litellm import LiteLLM as LiteLLM
    from agents.backends.openai import OpenAI as OpenAI

__all__ = ["ChatCompletionsBackend", "Hybrid", "Inbox", "LiteLLM", "LiteLLMEmbedding", "OpenAI"]

__getattr__ = lazy_exports(
    __name__,
    {
        "ChatCompletionsBackend": "agents.backends.http",
        "Hybrid": "agents.backends.hybrid",
        "Inbox": "agents.backends.inbox.backend",
        "LiteLLM": "agents.backends.litellm",
        "LiteLLMEmbedding": "agents.backends.embeddings",
        "OpenAI": "agents.backends.openai",
    },
)
