"""Which API key may be sent to which host.

A scenario may be a stranger's: it names a variable of the user's environment and an address. So a
key goes to its provider and to this machine, and elsewhere only by the user's own wish.
"""

from __future__ import annotations

import os
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from virsci_society.agents.errors import InputError

HOSTS = {
    "OPENAI_API_KEY": ("api.openai.com", "openai"),
    "ANTHROPIC_API_KEY": ("api.anthropic.com", "anthropic"),
    "GEMINI_API_KEY": ("googleapis.com", "gemini"),
    "GOOGLE_API_KEY": ("googleapis.com", "gemini"),
    "MISTRAL_API_KEY": ("api.mistral.ai", "mistral"),
    "GROQ_API_KEY": ("api.groq.com", "groq"),
    "DEEPSEEK_API_KEY": ("api.deepseek.com", "deepseek"),
    "TOGETHER_API_KEY": ("api.together.xyz", "api.together.ai", "together_ai"),
    "TOGETHERAI_API_KEY": ("api.together.xyz", "api.together.ai", "together_ai"),
    "FIREWORKS_API_KEY": ("api.fireworks.ai", "fireworks_ai"),
    "OPENROUTER_API_KEY": ("openrouter.ai", "openrouter"),
    "XAI_API_KEY": ("api.x.ai", "xai"),
    "COHERE_API_KEY": ("api.cohere.com", "api.cohere.ai", "cohere", "cohere_chat"),
    "CO_API_KEY": ("api.cohere.com", "api.cohere.ai", "cohere", "cohere_chat"),
    "AZURE_API_KEY": ("azure.com", "azure", "azure_ai"),
    "HF_TOKEN": ("huggingface.co", "huggingface"),
    "HUGGINGFACE_API_KEY": ("huggingface.co", "huggingface"),
    "PERPLEXITYAI_API_KEY": ("api.perplexity.ai", "perplexity"),
    "CEREBRAS_API_KEY": ("api.cerebras.ai", "cerebras"),
    "DASHSCOPE_API_KEY": ("aliyuncs.com", "dashscope"),
    "MOONSHOT_API_KEY": ("api.moonshot.ai", "api.moonshot.cn", "moonshot"),
    "ZAI_API_KEY": ("api.z.ai", "open.bigmodel.cn", "zai"),
    "NVIDIA_NIM_API_KEY": ("api.nvidia.com", "nvidia_nim"),
    "OLLAMA_API_KEY": ("ollama.com", "ollama", "ollama_chat"),
}
"""Hosts of a provider, subdomains included, and its names in litellm, by the usual variable of its
key."""
NAMED = "VIRSCI_SOCIETY_TRUSTED_VARIABLES"
"""The variable in which a command keeps what its user has named, for the processes it starts."""
EVERY = "*"


def is_local(address: str | None) -> bool:
    """Return whether an address is on this machine."""
    host = urlsplit(address or "").hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return host.endswith(".localhost")


def is_own(address: str | None) -> bool:
    """Return whether an address is on this machine or in a private network."""
    host = urlsplit(address or "").hostname or ""
    try:
        return ip_address(host).is_private
    except ValueError:
        # A name of one part, as containers have, is known to no public name server.
        own = host.endswith((".local", ".internal", ".lan"))
        return is_local(address) or own or bool(host and "." not in host)


def allow_key(variable: str) -> None:
    """Note that the user has named a variable, or with ``EVERY`` trusts the scenario file."""
    named = os.environ.get(NAMED, "").split()
    if variable not in named:
        os.environ[NAMED] = " ".join([*named, variable])


def place_of(address: str | None, provider: str) -> str:
    """Return the host of an address, or the provider where there is no address."""
    return urlsplit(address or "").hostname or provider


def require_key_host(variable: str, address: str | None, provider: str) -> None:
    """Check that the value of a variable may be sent to an address."""
    place = place_of(address, provider)
    if is_local(address) or _belongs(place, HOSTS.get(variable, ())):
        return
    if {variable, EVERY} & set(os.environ.get(NAMED, "").split()):
        return
    configured = os.environ.get("XDG_CONFIG_HOME")
    folder = Path(configured) if configured else Path.home() / ".config"
    own_file = folder / "virsci-society" / "keys"
    try:
        lines = own_file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        lines = []
    if [variable, place] in map(str.split, lines):
        return
    raise InputError(
        f"backend.key: the value of {variable} would be sent to {place or 'the provider'}, which "
        f"is not known as a host of its provider; if that is right, give --set "
        f"backend.key={variable} on the command line, or --trust, or add the line "
        f"'{variable} {place}' to {own_file}"
    )


def is_home(address: str, provider: str) -> bool:
    """Return whether an address is one of a provider, given by its name in litellm."""
    return any(
        provider in places and _belongs(place_of(address, ""), places) for places in HOSTS.values()
    )


def _belongs(place: str, places: tuple[str, ...]) -> bool:
    return any(place == one or place.endswith(f".{one}") for one in places)
