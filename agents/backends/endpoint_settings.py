"""Address and key of a model; no message repeats what was refused, which may be a secret."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import unquote, urlsplit

from pydantic import BeforeValidator

from virsci_society.agents.backends.hosts import is_local, place_of, require_key_host
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
            "an address with a password, a query or a key in it is kept nowhere; put the key "
            "into an environment variable and name that under key"
        )
    return value


def _variable(value: Any) -> Any:
    """The value, if it is the name of a variable, and not a key given in its place."""
    if value is None:
        return None
    if not isinstance(value, str) or not _VARIABLE.fullmatch(value) or redact(value) != value:
        raise ValueError(
            "expected the name of an environment variable in capitals, such as OPENAI_API_KEY; "
            "the key itself never stands in a file"
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
            what = "holds spaces or letters that no key has" if key else "is not set"
            what += "" if key else f"; type: export {self.key}=..."
            raise InputError(f"backend.key: the environment variable {self.key} {what}")
        remember_secret(key)
        return key
