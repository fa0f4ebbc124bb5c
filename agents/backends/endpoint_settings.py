"""Address and key of a model, and which key may be sent to which host.

A scenario may be a stranger's, so a key leaves for another host only by the user's own wish. No
message repeats an address or a name that was refused, as it may contain a secret.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import unquote, urlsplit

from pydantic import BeforeValidator

from virsci_society.agents.errors import InputError
from virsci_society.agents.redaction import redact, remember_secret

_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,99}")
_PRINTABLE = re.compile(r"[!-~]+")
_KEY_IN_PATH = re.compile(
    r"/(?:api[-_]?)?(?:key|token|secret|auth|password)s?/[^/]{6,}"
    r"|(?=(?:[A-Za-z]*[0-9]){4})(?=[0-9]*[A-Za-z])[A-Za-z0-9]{16,}"
)
"""What follows a word for a key, and runs of letters and digits as only keys have them."""
_ACCOUNTS = (".cloudflare.com",)
"""Hosts whose paths name an account by such a run; it is no secret."""


def _address(value: Any) -> Any:
    """The value, if it is an address without a password, a query or a key."""
    if value is None:
        return None
    try:
        parts = urlsplit(value if isinstance(value, str) else "")
        # The port is looked at because it raises where it is no number.
        well = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        well = False
    if not well or not _PRINTABLE.fullmatch(value):
        raise ValueError("expected an address such as http://127.0.0.1:8000/v1")
    secret = "@" in parts.netloc or "?" in value or "#" in value or redact(value) != value
    account = (parts.hostname or "").endswith(_ACCOUNTS)
    if secret or (not account and _KEY_IN_PATH.search(unquote(parts.path))):
        raise ValueError(
            "an address must not contain a password, a query or a key; put the key "
            "into an environment variable and name that variable under key"
        )
    return value


def _variable(value: Any) -> Any:
    """The value, if it is the name of a variable, and not a key given in its place."""
    if value is None:
        return None
    if not isinstance(value, str) or not _VARIABLE.fullmatch(value) or redact(value) != value:
        raise ValueError(
            "expected the name of an environment variable in capitals, such as OPENAI_API_KEY; "
            "never write the key itself into a file"
        )
    return value


Address = Annotated[str | None, BeforeValidator(_address)]
"""Where an API is, without secrets; None: where the provider's own is."""
Variable = Annotated[str | None, BeforeValidator(_variable)]
"""Name of an environment variable that holds a key; None: no particular one."""


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """Where a model is asked; ``provider`` is a host, or a name of litellm, without address."""

    api_base: str | None = None
    key: str | None = None
    provider: str = ""

    @property
    def name(self) -> str:
        """Name for the ledger: the address, and the name of the key's variable."""
        return " ".join(filter(None, (self.api_base, self.key and f"({self.key})")))

    @property
    def place(self) -> str:
        """The host to which requests go; where only litellm knows it, the provider's name."""
        return place_of(self.api_base, self.provider) or "the provider"

    @property
    def is_local(self) -> bool:
        """True if the address is on this machine."""
        return is_local(self.api_base)

    def secret(self) -> str | None:
        """The key that the variable holds; from now on it is redacted everywhere."""
        if self.key is None:
            return None
        require_key_host(self.key, self.api_base, self.provider)
        # A key that was read from a file brings its line end along.
        key = os.environ.get(self.key, "").strip()
        if not _PRINTABLE.fullmatch(key):
            what = "contains spaces or characters that no key has" if key else "is not set"
            what += "" if key else f"; type: export {self.key}=..."
            raise InputError(f"backend.key: the environment variable {self.key} {what}")
        remember_secret(key)
        return key


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
EVERY_VARIABLE = "*"


def is_local(address: str | None) -> bool:
    """Return whether an address is on this machine."""
    host = (urlsplit(address or "").hostname or "").rstrip(".")
    try:
        number = ip_address(host)
    except ValueError:
        return f".{host}".endswith(".localhost")
    number = getattr(number, "ipv4_mapped", None) or number
    # Unspecified: servers print 0.0.0.0 as their address.
    return number.is_loopback or number.is_unspecified


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
    """Note that the user named a variable, or with ``EVERY_VARIABLE`` trusts the scenario file."""
    named = os.environ.get(NAMED, "").split()
    if variable not in named:
        os.environ[NAMED] = " ".join([*named, variable])


def place_of(address: str | None, provider: str) -> str:
    """Return the host of an address, or the provider without an address."""
    return urlsplit(address or "").hostname or provider


def require_key_host(variable: str, address: str | None, provider: str) -> None:
    """Check that the value of a variable may be sent to an address."""
    place = place_of(address, provider)
    if is_local(address) or _belongs(address, provider, HOSTS.get(variable, ())):
        return
    if {variable, EVERY_VARIABLE} & set(os.environ.get(NAMED, "").split()):
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
        f"is not known as an https host of its provider; if it is correct, give --set "
        f"backend.key={variable} on the command line, or --trust, or add the line "
        f"'{variable} {place}' to {own_file}"
    )


def is_home(address: str, provider: str) -> bool:
    """Return whether an address is one of a provider, given by its name in litellm."""
    return any(provider in places and _belongs(address, "", places) for places in HOSTS.values())


def _belongs(address: str | None, provider: str, places: tuple[str, ...]) -> bool:
    place = place_of(address, provider)
    # Without TLS a key can be read on the way.
    return not (address or "").lower().startswith("http:") and any(
        place == one or place.endswith(f".{one}") for one in places
    )
