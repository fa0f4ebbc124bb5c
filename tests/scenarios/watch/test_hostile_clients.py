"""Clients of the watch page that are slow, forge headers, or send again what was sent before."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.scenarios.watch.browserlike import ask, events, post, until
from virsci_society.agents.people.folder import KEY_LENGTH
from virsci_society.scenarios.watch import server as serving
from virsci_society.scenarios.watch.play import Questions
from virsci_society.scenarios.watch.server import WatchServer

STEM = f"0001-a-{'0' * KEY_LENGTH}"
"""Name of a question."""


class Large:
    """A state larger than what a connection holds, another one at every look."""

    def __init__(self) -> None:
        self.looks = 0

    def __call__(self) -> dict[str, Any]:
        self.looks += 1
        return {"looks": self.looks, "text": "x" * 8_000_000}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "SECONDS", 0.5)


@pytest.fixture
def page(quick: None) -> Iterator[WatchServer]:
    with WatchServer(lambda: {"kind": "run"}, lambda given: None, every=0.01) as made:
        yield made


def connected(server: WatchServer) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    return made


def head_of(server: WatchServer, method: str = "GET", path: str = "state", *headers: str) -> bytes:
    own = f"Host: 127.0.0.1:{server.port}"
    lines = [f"{method} /{server.token}/{path} HTTP/1.1", *(headers or (own,)), "", ""]
    return "\r\n".join(lines).encode()


def told(server: WatchServer, sent: bytes) -> bytes:
    with connected(server) as client:
        client.sendall(sent)
        client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(65536), b""))


def test_a_reader_that_takes_nothing_is_cut_off_and_holds_up_nobody(
    quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "VIEWERS", 2)
    with WatchServer(Large(), every=0.02) as server, connected(server) as idle:
        idle.sendall(head_of(server, "GET", "events"))
        with events(server.url) as seen:
            first = next(seen)["looks"]
            assert next(seen)["looks"] > first
            until(lambda: server.viewers._value == 1)  # the place of the idle one is free again
            with events(server.url) as other:
                assert next(other)["looks"] > first
        until(lambda: server.viewers._value == 2)


@pytest.mark.parametrize("dribbled", ["line", "headers", "body of a stranger", "body"])
def test_a_request_that_dribbles_in_is_cut_off(page: WatchServer, dribbled: str) -> None:
    """A byte now and then keeps each read short of its bound, but not the whole request."""
    length = f"Content-Length: {serving.MOST_BYTES}"
    own = (f"Host: 127.0.0.1:{page.port}", f"Origin: http://127.0.0.1:{page.port}")
    begun = {
        "line": b"GET /",
        "headers": head_of(page)[:-4] + b"\r\nX-Slow: ",
        "body of a stranger": head_of(page, "POST", "answer", "Host: evil", length),
        "body": head_of(page, "POST", "answer", *own, length, "Content-Type: application/json"),
    }[dribbled]
    began = time.monotonic()
    with connected(page) as client:
        client.sendall(begun)
        client.settimeout(0.05)
        while time.monotonic() < began + 60:
            try:
                client.sendall(b"x")
                if not client.recv(4096) and dribbled != "body of a stranger":
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        else:
            raise AssertionError("the connection is still served")
    assert ask(page.url, "state")[0] == 200


def test_strangers_that_connect_and_say_nothing_are_few(
    page: WatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "CONNECTIONS", 4)
    with WatchServer(lambda: {"kind": "run"}) as server:
        before = threading.active_count()
        idle = [connected(server) for _ in range(20)]
        try:
            # Those beyond the bound are closed at once.
            gone = [one for one in idle if closed(one)]
            assert len(gone) >= 16 - 4
            assert threading.active_count() <= before + 4
            until(lambda: ask_or_none(server) == 200)
        finally:
            for one in idle:
                one.close()


def closed(client: socket.socket) -> bool:
    client.settimeout(0.05)
    try:
        return not client.recv(1)
    except TimeoutError:
        return False
    except OSError:
        return True


def ask_or_none(server: WatchServer) -> int | None:
    try:
        return ask(server.url, "state")[0]
    except OSError:
        return None


FORGED: list[Callable[[int], tuple[str, ...]]] = [
    lambda port: ("X: y",),
    lambda port: (f"Host: 127.0.0.1:{port}", "Host: evil.example"),
    lambda port: ("Host: evil.example", f"Host: 127.0.0.1:{port}"),
    lambda port: (f"Host: 127.0.0.1:{port}, evil.example",),
    lambda port: (f"Host: evil.example\r\n 127.0.0.1:{port}",),
    lambda port: (f"Host: user@127.0.0.1:{port}",),
    lambda port: (f"Host: 127.0.0.1:{port}.evil.example",),
    lambda port: (f"Host: 127.0.0.1.evil.example:{port}",),
    lambda port: (f"Host: 127.0.0.1:{port}#evil.example",),
    lambda port: (f"Host: [::1]:{port}",),
    lambda port: (f"Host: 0.0.0.0:{port}",),
    lambda port: (f"Host: localhost.:{port}",),
    lambda port: ("Host: evil.example", f"X-Forwarded-Host: 127.0.0.1:{port}"),
    lambda port: (f"Host: 127.0.0.1:{port}", "Origin: http://evil.example", "Origin: null"),
    lambda port: (f"Host: 127.0.0.1:{port}", "Origin: http://localhost"),
]


@pytest.mark.parametrize("forged", FORGED)
@pytest.mark.parametrize("path", ["", "state", "events"])
def test_a_forged_host_or_origin_is_refused(
    page: WatchServer, path: str, forged: Callable[[int], tuple[str, ...]]
) -> None:
    answer = told(page, head_of(page, "GET", path, *forged(page.port)))
    assert answer.split(b"\r\n")[0].split()[1] == b"403"
    assert page.token.encode() not in answer


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /{token}/state\r\n\r\n",
        b"GET http://127.0.0.1:{port}/{token}/state HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        b"PUT /{token}/state HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nOrigin: http://evil.example\r\n\r\n",
        b"HEAD /{token}/state HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 200 + b"\r\n",
    ],
)
def test_what_no_browser_sends_is_refused_under_the_same_headers(page, sent: bytes) -> None:
    named = sent.replace(b"{token}", page.token.encode()).replace(
        b"{port}", str(page.port).encode()
    )
    answer = told(page, named)
    assert b'"kind"' not in answer
    if answer.startswith(b"HTTP/"):  # what is too old for headers is told in words alone
        assert b"Content-Security-Policy: default-src 'none'" in answer
        assert answer.split()[1][:1] in (b"4", b"5")
    else:
        assert answer.startswith((b"open the address", b"not a request"))


def test_a_token_is_worth_nothing_after_its_server(quick: None) -> None:
    with WatchServer(lambda: {"kind": "run"}, lambda given: None) as first:
        held, port = first.token, first.port
    with WatchServer(lambda: {"kind": "run"}, lambda given: None, port=port) as second:
        assert second.token != held
        for path in ("state", "events", ""):
            assert ask(second.url, f"/{held}/{path}")[0] == 403
        assert post(second.url, {"stem": "1"}, path=f"/{held}/answer")[0] == 403


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    for name in ("questions", "answers"):
        (tmp_path / name).mkdir()
    (tmp_path / "questions" / f"{STEM}.md").write_text("What now?", encoding="utf-8")
    return tmp_path


def test_of_an_answer_that_is_sent_many_times_at_once_the_first_is_taken(
    inbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from virsci_society.scenarios.watch import play

    written = play.write_answer

    def slowly(*given: Any) -> None:
        time.sleep(0.02)
        written(*given)

    monkeypatch.setattr(play, "write_answer", slowly)
    questions = Questions(inbox, set)
    with WatchServer(questions.state, questions.answer) as server:
        ends: list[int] = []

        def send(number: int) -> None:
            ends.append(post(server.url, {"stem": STEM, "text": f'{{"n": {number}}}'})[0])

        threads = [threading.Thread(target=send, args=(number,)) for number in range(8)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        first = (inbox / "answers" / f"{STEM}.json").read_text(encoding="utf-8")
        assert sorted(ends) == [200, *[409] * 7]
        assert post(server.url, {"stem": STEM, "text": "{}"})[0] == 409
    assert (inbox / "answers" / f"{STEM}.json").read_text(encoding="utf-8") == first


def test_a_consent_that_is_sent_again_keeps_when_somebody_agreed(inbox: Path) -> None:
    questions = Questions(inbox, set, None, "You may stop at any time.")
    questions.answer({"consent": True})
    held = json.loads((inbox / "consent.json").read_text(encoding="utf-8"))
    (inbox / "consent.json").write_text(json.dumps(held | {"agreed": "then"}), encoding="utf-8")
    questions.answer({"consent": True})
    assert json.loads((inbox / "consent.json").read_text(encoding="utf-8"))["agreed"] == "then"


def test_an_answer_to_what_somebody_else_has_answered_is_refused(
    inbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from virsci_society.agents.errors import InputError
    from virsci_society.scenarios.watch import play

    monkeypatch.setattr(play, "_question", lambda stem, text: {"call": "a/1", "who": ""})
    questions = Questions(inbox, lambda: {"a/1"})
    with pytest.raises(InputError, match="somebody has answered for you"):
        questions.answer({"stem": STEM, "text": "{}"})
    assert not list((inbox / "answers").iterdir())
