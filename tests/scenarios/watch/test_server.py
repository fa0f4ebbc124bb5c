"""The watch page's server: who is let in, what each answer forbids, and what viewers are sent."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from typing import Any

import pytest

from tests.scenarios.watch.browserlike import ask, events, post
from virsci_society.agents.errors import InputError
from virsci_society.scenarios.watch import server as serving
from virsci_society.scenarios.watch.server import FILES, WatchServer


class Shown:
    """A state that tests change, and the answers that came."""

    def __init__(self) -> None:
        self.number, self.looks, self.taken = 0, 0, []

    def state(self) -> dict[str, Any]:
        self.looks += 1
        if self.number < 0:
            raise InputError("this folder cannot be read")
        return {"kind": "run", "number": self.number}

    def answer(self, given: Any) -> None:
        if given.get("stem") == "unknown":
            raise InputError("unknown: no open question")
        self.taken.append(given)


@pytest.fixture
def shown() -> Shown:
    return Shown()


@pytest.fixture
def server(shown: Shown) -> Iterator[WatchServer]:
    with WatchServer(shown.state, shown.answer, every=0.01) as made:
        yield made


def test_whoever_has_the_address_gets_the_page_and_its_files(server: WatchServer) -> None:
    for name, (_, kind) in FILES.items():
        status, headers, body = ask(server.url, name)
        assert (status, headers["Content-Type"]) == (200, kind)
        assert body
    assert ask(server.url, "nothing.js")[0] == 404
    assert ask(server.url, "../server.py")[0] in (403, 404)


@pytest.mark.parametrize(
    "path", ["/", "/state", "/events", "/wrong/", "/wrong/state", "//", "/%C3%A9/"]
)
def test_a_stranger_without_the_token_gets_403(server: WatchServer, path: str) -> None:
    status, _, body = ask(server.url, path)
    assert status == 403
    assert server.token.encode() not in body
    assert post(server.url, {}, path="/answer")[0] == 403


@pytest.mark.parametrize("name", ["", "state", "events", "watch.js"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1"},
        {"Host": "127.0.0.1:1"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://{own}"},
        {"Origin": "http://{own}.evil.example"},
    ],
)
def test_another_host_or_origin_gets_403_in_spite_of_the_token(server, name, headers) -> None:
    own = f"127.0.0.1:{server.port}"
    sent = {key: value.format(own=own) for key, value in headers.items()}
    assert ask(server.url, name, **sent)[0] == 403


def test_nothing_is_taken_from_another_page(server: WatchServer, shown: Shown) -> None:
    given = {"stem": "0001", "text": "{}"}
    for origin in ("http://evil.example", "null", ""):
        assert post(server.url, given, Origin=origin)[0] == 403
    assert post(server.url, given, Host="evil.example")[0] == 403
    assert post(server.url, given, Content_Type="text/plain")[0] == 415
    assert post(server.url, [1])[0] == 400
    assert post(server.url, {"text": "x" * serving.MOST_BYTES})[0] == 413
    assert shown.taken == []
    assert post(server.url, given)[0] == 200
    assert post(server.url, given, Origin=f"http://localhost:{server.port}")[0] == 200
    assert shown.taken == [given, given]
    refused = post(server.url, {"stem": "unknown"})
    assert refused == (409, {"told": "unknown: no open question"})


@pytest.mark.parametrize("headers", [{}, {"Origin": "null"}, {"Host": "evil.example"}])
def test_a_refused_request_is_read_to_its_end(server: WatchServer, headers: Any) -> None:
    """Larger than what sockets hold: the answer arrives only if the body is read."""
    status, _ = post(server.url, {"text": "x" * 8 * serving.MOST_BYTES}, **headers)
    assert status == (403 if headers else 413)


def test_without_questions_nothing_can_be_posted(shown: Shown) -> None:
    with WatchServer(shown.state) as server:
        assert post(server.url, {"stem": "0001", "text": "{}"})[0] == 404


def test_every_answer_forbids_foreign_content_and_no_other_page_may_read_it(server) -> None:
    for path in ("", "state", "nothing", "/stranger"):
        _, headers, _ = ask(server.url, path)
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; ")
        assert "unsafe" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"
        assert not [name for name in headers if name.lower().startswith("access-control")]


def test_tokens_are_random_and_compared_in_constant_time(shown: Shown, monkeypatch) -> None:
    compared = []
    monkeypatch.setattr(
        serving.hmac, "compare_digest", lambda a, b: compared.append((a, b)) or a == b
    )
    assert serving.hmac is hmac
    with WatchServer(shown.state) as one, WatchServer(shown.state) as other:
        assert one.token != other.token
        assert len(one.token) >= 32
        assert ask(one.url, f"/{other.token}/")[0] == 403
        assert compared == [(other.token.encode(), one.token.encode())]


def test_viewers_are_sent_what_changes_and_a_reload_loses_nothing(server, shown) -> None:
    with events(server.url) as first, events(server.url) as second:
        assert next(first)["number"] == next(second)["number"] == 0
        shown.number = 1
        assert next(first)["number"] == next(second)["number"] == 1
    shown.number = 2
    server.forget()
    with events(server.url) as again:
        assert next(again)["number"] == 2


def test_the_folder_is_read_once_for_all_viewers(shown: Shown) -> None:
    with WatchServer(shown.state, every=3600) as server:
        for _ in range(3):
            assert ask(server.url, "state")[2] == b'{"kind": "run", "number": 0}'
    assert shown.looks == 1


def test_a_folder_that_cannot_be_read_is_told_and_looked_at_again(server, shown) -> None:
    shown.number = -1
    with events(server.url) as seen:
        assert next(seen) == {"kind": "trouble", "trouble": "this folder cannot be read"}
        shown.number = 3
        assert next(seen)["number"] == 3


def test_too_many_pages_are_refused(shown: Shown, monkeypatch) -> None:
    monkeypatch.setattr(serving, "VIEWERS", 1)
    with WatchServer(shown.state, every=0.01) as server, events(server.url) as first:
        next(first)
        assert ask(server.url, "events")[0] == 503


def test_a_page_that_is_opened_again_at_once_has_the_same_port(shown: Shown) -> None:
    with WatchServer(shown.state) as first:
        ask(first.url)  # closed by the server, the connection lingers for a minute
    with WatchServer(shown.state, port=first.port) as second:
        assert second.port == first.port


def test_a_port_that_is_taken_is_no_hindrance(server: WatchServer, shown: Shown) -> None:
    with WatchServer(shown.state, port=server.port) as other:
        assert other.port != server.port
        assert ask(other.url)[0] == 200
