"""One endpoint of a model, with its settings.

No message here repeats an address or a name that was refused: it may hold a secret.
"""

from __future__ import annotations

import os
import re
from typing import Annotated, Any
from urllib.parse import unquote, urlsplit

from pydantic import BeforeValidator, ConfigDict, Field
from pydantic.dataclasses import dataclass

from virsci_society.agents.backends.http_client import is_local
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
    if secret or _has_key_in_path(parts.hostname or "", unquote(parts.path)):
        raise ValueError(
            "an address with a password, a query or a key in it is kept nowhere; put the key "
            "into an environment variable and name that under key"
        )
    return value


def _has_key_in_path(host: str, path: str) -> bool:
    return not host.endswith(_ACCOUNTS) and _KEY_IN_PATH.search(path) is not None


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


@dataclass(frozen=True, config=ConfigDict(extra="forbid", hide_input_in_errors=True))
class EndpointSettings:
    """One endpoint of the model.

    Attributes:
        api_base: address of the API; None: the provider's own.
        weight: share of the calls, relative to the other endpoints.
        in_flight: most calls at a time; None: no bound of its own.
        key: name of the environment variable with the key; None: that of the backend.
    """

    api_base: Address = None
    weight: Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)] = 1.0
    in_flight: Annotated[int, Field(ge=1, le=10_000)] | None = None
    key: Variable = None

    @property
    def name(self) -> str:
        """Name for the ledger: the address, and the name of the key's variable."""
        return " ".join(filter(None, (self.api_base, self.key and f"({self.key})")))

    @property
    def is_local(self) -> bool:
        """True if the address is on this machine."""
        return is_local(self.api_base)

    def secret(self) -> str | None:
        """The key that the variable holds; from now on it is redacted everywhere.

        Returns:
            The key; None where no variable is named.

        Raises:
            InputError: the variable is missing, or holds something that cannot be a key.
        """
        if self.key is None:
            return None
        # A key that was read from a file brings its line end along.
        key = os.environ.get(self.key, "").strip()
        if not _PRINTABLE.fullmatch(key):
            what = "holds spaces or letters that no key has" if key else "is not set"
            raise InputError(f"backend.key: the environment variable {self.key} {what}")
        remember_secret(key)
        return key


SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "api_base": {"type": ["string", "null"]},
            "weight": {"type": "number", "exclusiveMinimum": 0, "maximum": 1_000_000},
            "in_flight": {"type": ["integer", "null"], "minimum": 1},
            "key": {"type": ["string", "null"]},
        },
        "additionalProperties": False,
    },
}
"""JSON Schema of a list of them, for editors."""


def known_keys(value: Any) -> Any:
    """The value, if no section in it has an unknown key; values are not shown."""
    known = EndpointSettings.__dataclass_fields__
    for entry in value if isinstance(value, list | tuple) else ():
        for name in entry if isinstance(entry, dict) else ():
            if name not in known:
                raise ValueError(f"unknown key {name!r}, expected one of {', '.join(known)}")
    return value


EndpointList = Annotated[tuple[EndpointSettings, ...], BeforeValidator(known_keys)]
"""Several endpoints of one model."""
