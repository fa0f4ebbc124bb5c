"""Wire: HTTP/1.1 read from and written to a stream, as much of it as the server needs.

No library stands between: a connection must be cut, stalled or dropped at any byte.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, urlsplit

LONGEST = 64 * 2**20
"""Bytes of the longest body that is read."""


class BadRequest(ValueError):
    """What came is no HTTP request that can be read; the connection is closed."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request; the names of headers are in lower case."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """One response with its whole body."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = "application/json"

    @classmethod
    def of(cls, status: int, data: Any, **headers: str) -> HttpResponse:
        """A response in JSON."""
        return cls(status, json.dumps(data).encode(), headers)

    def head(self) -> bytes:
        """Status line and headers, the true length of the body among them."""
        lines = [
            f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}",
            f"Content-Type: {self.kind}",
            f"Content-Length: {len(self.body)}",
            *(f"{name.replace('_', '-')}: {value}" for name, value in self.headers.items()),
        ]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")


async def read_request(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> HttpRequest | None:
    """The next request of a connection; None when the client has closed it.

    Raises:
        BadRequest: what came is no request.
    """
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    except asyncio.LimitOverrunError:
        raise BadRequest("the headers are too long") from None
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    try:
        method, target, _ = first.split(" ")
        pairs = (line.split(":", 1) for line in lines)
        headers = {name.strip().lower(): value.strip() for name, value in pairs}
    except ValueError:
        raise BadRequest(f"no request line or header: {first[:80]!r}") from None
    if headers.get("expect", "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    url = urlsplit(target)
    body = await _body(reader, headers)
    return HttpRequest(method, url.path, dict(parse_qsl(url.query)), headers, body)


async def write_response(writer: asyncio.StreamWriter, response: HttpResponse) -> None:
    """Send all of it; returns when the system has taken the last byte.

    Raises:
        ConnectionError: the client is gone.
    """
    writer.write(response.head() + response.body)
    await writer.drain()


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if "chunked" in headers.get("transfer-encoding", "").lower():
        return await _chunks(reader)
    length = headers.get("content-length", "0")
    if not length.isdigit() or int(length) > LONGEST:
        raise BadRequest(f"content-length: {length[:40]}")
    return await reader.readexactly(int(length))


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    parts, size = [], 0
    while True:
        line = await reader.readuntil(b"\r\n")
        try:
            length = int(line.split(b";")[0], 16)
        except ValueError:
            raise BadRequest("no chunk") from None
        size += length
        if size > LONGEST:
            raise BadRequest("the body is too long")
        parts.append((await reader.readexactly(length + 2))[:-2])
        if length == 0:
            return b"".join(parts)
