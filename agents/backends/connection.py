"""The certificates that clients of model servers trust, and a probe of a server's address."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import TYPE_CHECKING

from virsci_society.agents.errors import Fault

if TYPE_CHECKING:
    import ssl

    from virsci_society.agents.backends.endpoint_settings import EndpointSettings


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


async def probe(endpoint: EndpointSettings, seconds: float) -> Fault | bool:
    """Look whether anything answers at an address, without a question to a model and without a key.

    A model may think for minutes over its first reply, so silence after a question says nothing.
    The list of its models any server answers at once, if only with an error.

    Args:
        endpoint: with an address.
        seconds: for which it is waited for.

    Returns:
        True: a server has answered. False: that cannot be told, so the first question shall show
        it. A fault: the address is silent, or hangs up.
    """
    import httpx

    # A proxy is no way to a server on this machine.
    trusted = not endpoint.is_local
    address = (endpoint.api_base or "").rstrip("/")
    certificates = trusted_certificates(from_environment=trusted)
    try:
        async with (
            asyncio.timeout(seconds),
            httpx.AsyncClient(timeout=seconds, trust_env=trusted, verify=certificates) as client,
            # Only the head of the answer is read: it tells enough, and a body may never end.
            client.stream("GET", f"{address}/models"),
        ):
            return True
    except (TimeoutError, httpx.TimeoutException):
        return _unreached(f"{address}: no answer within {seconds:g} seconds (deadlines.connect)")
    except (httpx.RemoteProtocolError, httpx.ReadError):
        return _unreached(f"{address}: the connection is closed without an answer")
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError):
        # The client that sends the questions may have other proxies and certificates.
        return False


def _unreached(message: str) -> Fault:
    fault = Fault(message, "connection")
    fault.sent = False
    return fault
