"""The HTTP server of the watch page, on loopback and for whoever has its address alone.

The address holds a random token, which is compared in constant time. A request with another Host,
with an Origin of another page, or without the token gets 403, so that neither a stranger on this
machine nor a page in the same browser that guesses the port learns or changes anything. No other
page may read an answer (there are no CORS headers), and a content security policy lets the page
load and run its own files alone. A request that dribbles in, and a reader that takes nothing, are
cut off. Server-sent events carry the whole state each time, so a page
that is loaded again, or whose connection was cut, has missed nothing.
"""

from __future__ import annotations

import contextlib
import hmac
import io
import json
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import Any, Self

from virsci_society.agents.errors import InputError
from virsci_society.agents.invented_names import NamesOnPage
from virsci_society.agents.redaction import redact

LOOPBACK = "127.0.0.1"
VIEWERS = 64
"""Most pages that are sent events at the same time."""
MOST_BYTES = 1_100_000
"""Most bytes of an answer that is posted."""
MOST_DISCARDED = 16 * MOST_BYTES
"""Most bytes of a refused request that are read and thrown away."""
STILL_HERE = 15.0
"""Seconds after which a page is sent a comment, by which a closed connection is noticed."""
SECONDS = 30.0
"""In which a request must have come as a whole, and each part of an answer must have been taken."""
CONNECTIONS = 128
"""Most connections at a time; whoever has no token can hold a place for ``SECONDS``."""
FILES: Mapping[str, tuple[str, str]] = {
    "": ("watch.html", "text/html; charset=utf-8"),
    "watch.css": ("watch.css", "text/css; charset=utf-8"),
    "watch.js": ("watch.js", "text/javascript; charset=utf-8"),
    "watch_forms.js": ("watch_forms.js", "text/javascript; charset=utf-8"),
}
"""File and type by what stands behind the token in an address."""
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
JSON = "application/json"

State = Callable[[], dict[str, Any]]


class WatchServer:
    """Serves the watch page from ``start`` to ``close``, on threads of its own.

    Args:
        state: gives the state that the page shows, as plain data; called by one thread at a time.
        answer: takes an answer of a person; None: nothing can be answered on the page.
        seats: names of seats by the secret of their links. The page of a seat is sent the part of
            ``state()["seats"]`` under its name, what it answers bears this name as ``seat``, and
            the page of ``url`` is sent no part and can answer nothing.
        port: where it listens; 0, and a port that is taken: any free one.
        every: seconds between two looks (> 0).
    """

    def __init__(
        self,
        state: State,
        answer: Callable[[Mapping[str, Any]], None] | None = None,
        *,
        seats: Mapping[str, str] | None = None,
        port: int = 0,
        every: float = 1.0,
    ) -> None:
        self.token = secrets.token_urlsafe(24)
        self.seats = dict(seats or {})
        self.every, self.answer = every, answer
        self.ended = threading.Event()
        self.viewers = threading.BoundedSemaphore(VIEWERS)
        self._state, self._lock, self.names = state, threading.Lock(), NamesOnPage()
        self._latest: tuple[float, dict[str, Any]] | None = None
        handler = type("Handler", (_Handler,), {"app": self})
        try:
            self._server = _Server((LOOPBACK, port), handler)
        except OSError:
            self._server = _Server((LOOPBACK, 0), handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True
        )

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """The address of the page, with the token."""
        return self._address(self.token)

    @property
    def links(self) -> dict[str, str]:
        """The address of the page of each seat, with its secret."""
        return {seat: self._address(secret) for secret, seat in self.seats.items()}

    def _address(self, secret: str) -> str:
        return f"http://{LOOPBACK}:{self.port}/{secret}/"

    def start(self) -> Self:
        """Begin to serve."""
        self._thread.start()
        return self

    def close(self) -> None:
        """Serve nothing any more, and end what is being sent."""
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def snapshot(self, secret: str = "") -> str:
        """The state that one page is sent, as JSON in one line, at most ``every`` seconds old."""
        with self._lock:
            now = time.monotonic()
            # One look for all pages: it reads the folder, and the view is not made for two threads.
            if self._latest is None or now - self._latest[0] >= self.every:
                try:
                    found = self._state()
                except InputError as error:
                    found = {"kind": "trouble", "trouble": redact(str(error))}
                self._latest = time.monotonic(), found
            found = self._latest[1]
        if self.seats and "seats" in found:
            found = found | {"seats": found["seats"].get(self.seats.get(secret))}
        return self.names.invented(json.dumps(found))

    def is_ours(self, name: str) -> bool:
        """Is this the name of this server in a Host header?"""
        return name in (f"{LOOPBACK}:{self.port}", f"localhost:{self.port}")

    def forget(self) -> None:
        """Look anew for the next page that asks."""
        with self._lock:
            self._latest = None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # So that links hold when a stopped run goes on at once. Windows would let two servers listen.
    allow_reuse_address = os.name != "nt"

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._places = threading.BoundedSemaphore(CONNECTIONS)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection on a thread of its own, or close it where there are too many."""
        # The run of a player shares this process: strangers must not fill it with threads.
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection, and free its place."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a viewer that goes away in the middle of an answer is no error."""


class _TimedReads(io.RawIOBase):
    """Reads one request, whose bytes all together may take ``SECONDS``.

    With a bound on each read alone, a byte now and then would hold a thread for days.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._until = connection, time.monotonic() + SECONDS

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some bytes; raises TimeoutError once the time is over."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the request has not come as a whole")
        self._connection.settimeout(left)
        return self._connection.recv_into(buffer)


class _Handler(BaseHTTPRequestHandler):
    """One request; the class that serves has the server as ``app``."""

    app: WatchServer
    _unread = 0
    """Bytes of the body of this request that have not been read."""
    _secret = ""
    """That of the seat whose page asks; empty: the page is no seat's."""
    server_version = "society"
    sys_version = ""

    def setup(self) -> None:
        """Read with a bound on the whole request."""
        super().setup()
        self.rfile = io.BufferedReader(_TimedReads(self.connection))

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse what is no request of a browser, under the headers of every other answer."""
        self._send(HTTPStatus(code), "text/plain", b"not a request of this page\n")

    def do_GET(self) -> None:
        """Answer with the page, one of its files, the state, or the events."""
        place = self._place()
        if place is None:
            self._refuse()
        elif place == "events":
            self._send_events()
        elif place == "state":
            self._send(HTTPStatus.OK, JSON, self.app.snapshot(self._secret).encode())
        elif place in FILES:
            name, kind = FILES[place]
            content = resources.files("virsci_society.scenarios.watch").joinpath(name).read_bytes()
            self._send(HTTPStatus.OK, kind, content)
        else:
            self._send(HTTPStatus.NOT_FOUND, "text/plain", b"nothing here\n")

    def do_POST(self) -> None:
        """Take an answer of a person."""
        length = self.headers.get("Content-Length", "")
        if length.isdecimal():
            # Python refuses to read numbers of thousands of digits.
            self._unread = int(length) if len(length) < 10 else MOST_DISCARDED
        self._answer_post()
        self._discard_body()

    def _answer_post(self) -> None:
        place = self._place()
        # A browser says with every POST from which page it comes.
        if place is None or self.headers.get("Origin") is None:
            self._refuse()
        elif place != "answer" or self.app.answer is None or (self.app.seats and not self._secret):
            self._send(HTTPStatus.NOT_FOUND, "text/plain", b"nothing here\n")
        else:
            status, told = self._take_answer(self.app.answer)
            self._send(status, JSON, json.dumps({"told": told}).encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: the address holds the token."""

    def _take_answer(self, answer: Callable[[Mapping[str, Any]], None]) -> tuple[HTTPStatus, str]:
        if not 0 < self._unread <= MOST_BYTES:
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"at most {MOST_BYTES:,} bytes"
        if self.headers.get_content_type() != JSON:
            return HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"send {JSON}"
        try:
            body, self._unread = self.rfile.read(self._unread), 0
            given = json.loads(self.app.names.masked(body.decode()))
        except (ValueError, RecursionError):
            given = None
        if not isinstance(given, dict):
            return HTTPStatus.BAD_REQUEST, "send one JSON object"
        if self._secret:
            given |= {"seat": self.app.seats[self._secret]}
        try:
            answer(given)
        except InputError as error:
            return HTTPStatus.CONFLICT, str(error)
        except OSError as error:
            # The disk may be full, or the folder not be this user's any more.
            return HTTPStatus.CONFLICT, f"the answer cannot be written: {error.strerror}"
        self.app.forget()
        return HTTPStatus.OK, "taken"

    def _discard_body(self) -> None:
        """Read what a refused request still sends.

        To close a connection with bytes unread resets it, and the sender, still busy with its
        request, would get an error of the network in place of the answer.
        """
        with contextlib.suppress(OSError):
            self.wfile.flush()
            self._unread = min(self._unread, MOST_DISCARDED)
            while self._unread > 0 and (read := self.rfile.read1(min(self._unread, 65_536))):
                self._unread -= len(read)

    def _place(self) -> str | None:
        """What stands behind the token in the address; None for a stranger."""
        if self.request_version == "HTTP/0.9":  # which has no headers, so it names no host
            return None
        hosts, origins = self.headers.get_all("Host", []), self.headers.get_all("Origin", [])
        origins_ours = all(
            one.startswith("http://") and self.app.is_ours(one[len("http://") :]) for one in origins
        )
        path = self.path.partition("?")[0]
        _, token, *rest = (*path.split("/", 2), "")[:3]
        # In constant time: how long a refusal takes must not tell how much of a guess is right.
        known = [one for one in (self.app.token, *self.app.seats) if _is_same(token, one)]
        self._secret = known[0] if known and known[0] in self.app.seats else ""
        if not known or len(hosts) != 1 or not self.app.is_ours(hosts[0]) or not origins_ours:
            return None
        # Without the slash at its end the page's own files would be looked for beside the token.
        return rest[0] if path.count("/") >= 2 else None

    def _refuse(self) -> None:
        self._send(HTTPStatus.FORBIDDEN, "text/plain", b"open the address that was printed\n")

    def _send(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        self._begin(status, kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _begin(self, status: HTTPStatus, kind: str) -> None:
        # One request a connection: the bound on reading is made when a connection is.
        self.close_connection = True
        self.connection.settimeout(SECONDS)  # reading has left what remained of its own time
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Connection", "close")

    def _send_events(self) -> None:
        """Send the state whenever it has changed, until the page or the server is closed."""
        if not self.app.viewers.acquire(blocking=False):
            self._send(HTTPStatus.SERVICE_UNAVAILABLE, "text/plain", b"too many pages are open\n")
            return
        try:
            self._begin(HTTPStatus.OK, "text/event-stream; charset=utf-8")
            self.end_headers()
            last, sent = "", time.monotonic()
            while not self.app.ended.is_set():
                text = self.app.snapshot(self._secret)
                if text != last:
                    self.wfile.write(f"data: {text}\n\n".encode())
                    last, sent = text, time.monotonic()
                elif time.monotonic() - sent >= STILL_HERE:
                    self.wfile.write(b": still here\n\n")
                    sent = time.monotonic()
                self.wfile.flush()
                self.app.ended.wait(self.app.every)
        except OSError:
            return
        finally:
            self.app.viewers.release()


def _is_same(guess: str, secret: str) -> bool:
    return hmac.compare_digest(guess.encode("utf-8", "replace"), secret.encode())
