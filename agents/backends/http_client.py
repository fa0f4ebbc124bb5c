"""HTTP requests to model servers, by the proxy and certificates of the environment."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from http.client import HTTPException
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import (  # type: ignore[attr-defined]
    BaseHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    ProxyHandler,
    Request,
    build_opener,
    proxy_bypass_environment,
)

from virsci_society.agents.backends.endpoint_settings import is_local
from virsci_society.agents.errors import Fault, InputError

if TYPE_CHECKING:
    import aiohttp

MOST_BYTES = 64 * 2**20
"""Bytes of the longest body that is read."""
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
PROXIES = ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
CERTIFICATES: dict[str, Callable[[str], bool]] = {
    "SSL_CERT_FILE": os.path.isfile,
    "SSL_CERT_DIR": lambda places: all(map(os.path.isdir, places.split(os.pathsep))),
}
KEEP_ALIVE = 15.0
"""Seconds for which an idle connection is kept open."""
SIGNS_OF_LIFE = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3}
"""The operating system tries a silent connection after so many seconds, then again, so many times:
it notices a peer that is gone, and routers do not forget the connection."""
T = TypeVar("T")


class HttpResponse(NamedTuple):
    """The response to a request, its body as text."""

    status: int
    body: str
    headers: Mapping[str, str]


class Route(NamedTuple):
    """How requests to an address travel, and the variables that say so."""

    proxy: str | None = None
    proxy_variable: str = ""
    certificates: str = ""


def route_to(address: str) -> Route:
    """Return the proxy and certificates of the environment for requests to an address."""
    parts = urlsplit(address)
    certificates = _certificate_variable() if parts.scheme == "https" else ""
    if is_local(address):
        return Route(certificates=certificates)
    bypass = {"no": os.environ.get("no_proxy") or os.environ.get("NO_PROXY") or ""}
    unproxied = proxy_bypass_environment(parts.netloc.rpartition("@")[2], bypass)
    if unproxied or _in_networks(parts.hostname or "", bypass["no"]):
        return Route(certificates=certificates)
    for variable in (f"{parts.scheme}_proxy", "all_proxy"):
        for name in (variable, variable.upper()):
            if proxy := os.environ.get(name, "").strip():
                usable = _proxy_address(proxy)
                if usable is None:
                    raise InputError(
                        f"the environment variable {name} names a proxy that cannot be used "
                        f"({proxy.partition('://')[0]}://...): expected http://HOST:PORT; change "
                        "or unset it, or add the server to NO_PROXY"
                    )
                return Route(usable, name, certificates)
    return Route(certificates=certificates)


def _in_networks(host: str, networks: str) -> bool:
    """Return whether a numeric address is in a network of a list, such as 10.0.0.0/8."""
    for network in filter(None, map(str.strip, networks.split(","))):
        try:
            if ip_address(host) in ip_network(network, strict=False):
                return True
        except ValueError:
            continue
    return False


def _proxy_address(proxy: str) -> str | None:
    """Return the address of an HTTP proxy; None if it is invalid."""
    address = proxy if "://" in proxy else f"http://{proxy}"
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    return address if usable else None


def prepare_environment(address: str | None) -> None:
    """Let libraries that read the environment ask this machine without a proxy."""
    if address is not None:
        route_to(address)
    for name in ("no_proxy", "NO_PROXY"):
        hosts = [host.strip(" []") for host in os.environ.get(name, "").split(",")]
        own = urlsplit(address or "").hostname if is_local(address) else ""
        os.environ[name] = ",".join(dict.fromkeys(filter(None, [*hosts, *LOCAL_HOSTS, own])))
    if is_local(address):
        for name in PROXIES:
            if name in os.environ and _proxy_address(os.environ[name]) is None:
                del os.environ[name]
        for name, exists in CERTIFICATES.items():
            if name in os.environ and not exists(os.environ[name]):
                del os.environ[name]


def _certificate_variable() -> str:
    for name, exists in CERTIFICATES.items():
        if value := os.environ.get(name):
            if not exists(value):
                raise InputError(f"the environment variable {name}: {value} does not exist")
            return name
    return ""


def trusted_certificates() -> ssl.SSLContext:
    """Return the TLS context of every client, which checks names and certificates."""
    name = _certificate_variable()
    return _context(name, os.environ.get(name, ""))


@cache
def _context(variable: str, place: str) -> ssl.SSLContext:
    # Reading the authorities takes 30 ms of processor time; all clients share one context.
    try:
        context = ssl.create_default_context()
        if variable == "SSL_CERT_FILE":
            context.load_verify_locations(cafile=place)
        elif variable == "SSL_CERT_DIR":
            context.load_verify_locations(capath=place)
    except (OSError, ssl.SSLError) as error:
        raise InputError(
            f"the environment variable {variable}: {place} contains no certificates ({error})"
        ) from None
    return context


class HttpClient:
    """A client of one server on one event loop, which follows no redirect and repeats nothing."""

    def __init__(self, address: str, key: str | None = None, *, connect: float = 10.0) -> None:
        self.address = address.rstrip("/")
        self._key, self._connect = key, connect
        self._route = route_to(self.address)
        self._session: aiohttp.ClientSession | None = None

    async def post(self, path: str, body: Mapping[str, Any]) -> HttpResponse:
        """Post a JSON body; raises errors of aiohttp and the operating system."""
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        headers = {"Content-Type": "application/json"}
        async with self._open().post(
            self.address + path,
            data=text,
            headers=headers,
            proxy=self._route.proxy,
            allow_redirects=False,
        ) as response:
            return HttpResponse(response.status, await _read_body(response), response.headers)

    async def reach(self) -> None:
        """Ask for the list of models, and read only the head of the answer."""
        async with self._open().get(
            self.address + "/models", proxy=self._route.proxy, allow_redirects=False
        ):
            return

    async def close(self) -> None:
        """Close all connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            import aiohttp

            headers = {"User-Agent": "virsci-society", "Accept": "application/json"}
            if self._key is not None:
                headers["Authorization"] = f"Bearer {self._key}"
            secure = trusted_certificates() if self.address.startswith("https:") else True
            self._session = aiohttp.ClientSession(
                # As many connections as there are calls in flight.
                connector=aiohttp.TCPConnector(
                    limit=0, keepalive_timeout=KEEP_ALIVE, ssl=secure, socket_factory=_open_socket
                ),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._connect),
                headers=headers,
                # A cookie of an earlier answer must not change what a server says.
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=False,
            )
        return self._session


def _open_socket(info: Any) -> socket.socket:
    family, kind, protocol, *_ = info
    opened = socket.socket(family, kind, protocol)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in SIGNS_OF_LIFE.items():
        if hasattr(socket, name):
            opened.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return opened


async def while_alive(work: Awaitable[T], address: str, connect: float, silence: float) -> T:
    """Wait for an answer; every ``silence`` seconds, check that the server still responds."""
    loop = asyncio.get_running_loop()
    timers: list[asyncio.TimerHandle] = []
    looking: list[asyncio.Task[None]] = []

    async def look() -> None:
        if await probe(address, connect) is True:
            timers[:] = [loop.call_later(silence, begin_look)]
        else:
            deadline.reschedule(loop.time())

    def begin_look() -> None:
        looking[:] = [loop.create_task(look())]

    timers.append(loop.call_later(silence, begin_look))
    try:
        async with asyncio.timeout(None) as deadline:
            return await work
    except TimeoutError:
        if not deadline.expired():
            raise
        fault = Fault(
            f"no answer within {silence:g} seconds (deadlines.read), and {address} answers nothing "
            "else either",
            "timeout",
        )
    finally:
        for timer in timers:
            timer.cancel()
        for task in looking:
            task.cancel()
    raise fault


async def _read_body(response: aiohttp.ClientResponse) -> str:
    body = bytearray()
    async for chunk in response.content.iter_chunked(2**16):
        body += chunk
        if len(body) > MOST_BYTES:
            raise Fault(f"the response is longer than {MOST_BYTES:,} bytes", "garbled")
    return body.decode("utf-8", "replace")


def fetch_json(
    url: str, body: Mapping[str, Any] | None = None, *, key: str | None = None, seconds: float
) -> Any:
    """Return the JSON of a server page, waiting for it; None if it is not JSON."""
    route = route_to(url)
    proxies = {urlsplit(url).scheme: route.proxy} if route.proxy else {}
    handlers: list[BaseHandler] = [ProxyHandler(proxies), _NoRedirect()]
    if url.startswith("https:"):
        handlers.append(HTTPSHandler(context=trusted_certificates()))
    headers = {"Content-Type": "application/json"}
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    text = None if body is None else json.dumps(body).encode()
    asked = Request(url, text, headers)  # noqa: S310 - the scheme of an address is http or https
    try:
        with build_opener(*handlers).open(asked, timeout=seconds) as response:
            return json.loads(response.read(MOST_BYTES))
    except HTTPError:
        return None
    except (ValueError, RecursionError, HTTPException):
        return None


class _NoRedirect(HTTPRedirectHandler):
    """Follows no redirect, which could lead a key to another host."""

    def redirect_request(self, *_: Any) -> None:
        """Make no second request."""


async def probe(address: str, seconds: float) -> Fault | bool:
    """See whether anything answers at an address, without a question to a model or a key."""
    import aiohttp

    client = HttpClient(address, connect=seconds)
    try:
        async with asyncio.timeout(seconds):
            await client.reach()
        return True
    except TimeoutError:
        return _unreached(f"{address}: no answer within {seconds:g} seconds (deadlines.connect)")
    except aiohttp.ClientConnectorError:
        return False
    except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError, ConnectionResetError):
        return _unreached(f"{address}: the connection is closed without an answer")
    except (aiohttp.ClientError, OSError, ValueError):
        return False
    finally:
        await client.close()


def _unreached(message: str) -> Fault:
    fault = Fault(message, "connection")
    fault.sent = False
    return fault
