"""Requests to a watch page as a browser would make them, for tests."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit


def ask(url: str, path: str = "", **headers: str) -> tuple[int, Mapping[str, str], bytes]:
    """Status, headers and body of a GET below the page's address; a leading slash begins anew."""
    return _send("GET", url, path, None, headers)


def post(url: str, data: Any, path: str = "answer", **headers: str) -> tuple[int, dict[str, Any]]:
    """Status and answer of a POST of JSON from the page itself."""
    parts = urlsplit(url)
    own = {"Origin": f"http://{parts.netloc}", "Content_Type": "application/json"}
    status, _, body = _send("POST", url, path, json.dumps(data).encode(), own | headers)
    return status, json.loads(body) if body.startswith(b"{") else {}


def _send(
    method: str, url: str, path: str, body: bytes | None, headers: Mapping[str, str]
) -> tuple[int, Mapping[str, str], bytes]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    sent = {name.replace("_", "-"): value for name, value in headers.items() if value}
    try:
        where = path if path.startswith("/") else f"{parts.path}{path}"
        connection.request(method, where, body, sent)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


@contextmanager
def events(url: str) -> Iterator[Iterator[dict[str, Any]]]:
    """The states that the page is sent, one after another."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    connection.request("GET", f"{parts.path}events")
    answer = connection.getresponse()
    assert answer.headers["Content-Type"].startswith("text/event-stream")

    def states() -> Iterator[dict[str, Any]]:
        for line in answer:
            if line.startswith(b"data: "):
                yield json.loads(line.removeprefix(b"data: "))

    try:
        yield states()
    finally:
        answer.close()
        connection.close()


def until(condition: Callable[[], Any]) -> Any:
    """Wait for a condition; the bound is a guard against hangs only."""
    end = time.monotonic() + 120
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return found
