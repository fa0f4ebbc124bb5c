"""Wire: HTTP/1.1 read from and written to a stream, as much of it as the server needs.

No library stands between: a connection must be cut, stalled or dropped at any byte.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import parse_qsl, urlsplit

LONGEST = 64 * 2**20
"""Bytes of the longest body that is read."""


class BadRequest(ValueError):
    """What came is no HTTP request that can be read; the connection is closed."""


@dataclass(frozen=True)
class HttpRequest:
    """One request; the names of headers are in lower case."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class HttpResponse:
    """One response with its whole body."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = "application/json"

    @classmethod
    def of(cls, status, data):
        """A response in JSON."""
        return cls(status, json.dumps(data).encode())

    def head(self):
        """Status line and headers, the true length of the body among them."""
        lines = [
            f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}",
            f"Content-Type: {self.kind}",
            f"Content-Length: {len(self.body)}",
            *(f"{name}: {value}" for name, value in self.headers.items()),
        ]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")


async def read_request(reader):
    """The next request of a connection; None when the client has closed it."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    try:
        method, target, _ = first.split(" ")
        pairs = (line.split(":", 1) for line in lines)
        headers = {name.strip().lower(): value.strip() for name, value in pairs}
    except ValueError:
        raise BadRequest(f"no request line or header: {first[:80]!r}") from None
    length = headers.get("content-length", "0")
    if not length.isdigit() or int(length) > LONGEST:
        raise BadRequest(f"content-length: {length[:40]}")
    url = urlsplit(target)
    body = await reader.readexactly(int(length))
    return HttpRequest(method, url.path, dict(parse_qsl(url.query)), headers, body)


async def write_response(writer, response):
    """Send all of it; returns when the system has taken the last byte."""
    writer.write(response.head() + response.body)
    await writer.drain()
