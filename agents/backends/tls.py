"""The certificate authorities that connections to model servers trust, read once a process."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl


@cache
def trusted_certificates(*, from_environment: bool = True) -> ssl.SSLContext:
    """The TLS context of every client of a model server in this process.

    Reading the authorities takes 30 ms of processor time, which each client would spend by itself.

    Args:
        from_environment: take the authorities that ``SSL_CERT_FILE`` or ``SSL_CERT_DIR`` names,
            where one is set.

    Returns:
        A context that checks certificates and host names, the same one at each call.
    """
    import httpx

    return httpx.create_ssl_context(trust_env=from_environment)
