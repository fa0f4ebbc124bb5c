"""Which hosts are this machine, and which API key may be sent to which host.

A scenario file is data, and may be a stranger's: it names a variable of the user's environment and
an address. A key goes to the hosts of its own provider and to this machine. Any other pair must be
the user's wish: the variable was named on the command line or in Python, ``--trust`` was given, or
the pair is listed in the user's own file.
"""

from __future__ import annotations

import os
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from virsci_society.agents.errors import InputError

HOSTS = {
    "OPENAI_API_KEY": ("api.openai.com",),
    "ANTHROPIC_API_KEY": ("api.anthropic.com",),
    "GEMINI_API_KEY": ("googleapis.com",),
    "GOOGLE_API_KEY": ("googleapis.com",),
    "MISTRAL_API_KEY": ("api.mistral.ai",),
    "GROQ_API_KEY": ("api.groq.com",),
    "DEEPSEEK_API_KEY": ("api.deepseek.com",),
    "TOGETHER_API_KEY": ("api.together.xyz", "api.together.ai"),
    "TOGETHERAI_API_KEY": ("api.together.xyz", "api.together.ai"),
    "FIREWORKS_API_KEY": ("api.fireworks.ai",),
    "OPENROUTER_API_KEY": ("openrouter.ai",),
    "XAI_API_KEY": ("api.x.ai",),
    "COHERE_API_KEY": ("api.cohere.com", "api.cohere.ai"),
    "CO_API_KEY": ("api.cohere.com", "api.cohere.ai"),
    "AZURE_API_KEY": ("azure.com",),
    "HF_TOKEN": ("huggingface.co",),
    "HUGGINGFACE_API_KEY": ("huggingface.co",),
    "PERPLEXITYAI_API_KEY": ("api.perplexity.ai",),
    "CEREBRAS_API_KEY": ("api.cerebras.ai",),
    "DASHSCOPE_API_KEY": ("aliyuncs.com",),
    "MOONSHOT_API_KEY": ("api.moonshot.ai", "api.moonshot.cn"),
    "ZAI_API_KEY": ("api.z.ai", "open.bigmodel.cn"),
    "NVIDIA_NIM_API_KEY": ("api.nvidia.com",),
    "OLLAMA_API_KEY": ("ollama.com",),
}
"""Hosts of a provider, subdomains included, by the usual variable of its key."""
NAMED = "VIRSCI_SOCIETY_KEYS"
"""The variable in which a command keeps what its user has named, for the processes it starts."""
EVERY = "*"


def is_local(address: str | None) -> bool:
    """Return whether an address is on this machine."""
    host = urlsplit(address or "").hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return host.endswith(".localhost")


def allow_key(variable: str) -> None:
    """Note that the user has named a variable, or with ``EVERY`` trusts the scenario file."""
    named = os.environ.get(NAMED, "").split()
    if variable not in named:
        os.environ[NAMED] = " ".join([*named, variable])


def require_key_host(variable: str, address: str | None) -> None:
    """Check that the value of a variable may be sent to an address.

    Args:
        address: None: the provider's own.
    """
    host = urlsplit(address or "").hostname or ""
    hosts = HOSTS.get(variable, ())
    own = not host or any(host == one or host.endswith(f".{one}") for one in hosts)
    if is_local(address) or (hosts and own):
        return
    if {variable, EVERY} & set(os.environ.get(NAMED, "").split()):
        return
    place = _own_file()
    if (variable, host) in _listed(place):
        return
    raise InputError(
        f"backend.key: the value of {variable} would be sent to {host or 'the provider'}, which is "
        f"not known as a host of its provider; if that is right, give --set "
        f"backend.key={variable} on the command line, or --trust, or add the line "
        f"'{variable} {host}' to {place}"
    )


def is_home(address: str) -> bool:
    """Return whether an address is one of a known provider."""
    host = urlsplit(address).hostname or ""
    known = (one for hosts in HOSTS.values() for one in hosts)
    return any(host == one or host.endswith(f".{one}") for one in known)


def _own_file() -> Path:
    configured = os.environ.get("XDG_CONFIG_HOME")
    folder = Path(configured) if configured else Path.home() / ".config"
    return folder / "virsci-society" / "keys"


def _listed(place: Path) -> set[tuple[str, ...]]:
    try:
        lines = place.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return set()
    return {tuple(line.split()) for line in lines}
