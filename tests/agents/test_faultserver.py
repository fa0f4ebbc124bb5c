"""The fault server: what it answers, each kind of fault, when it happens, and what is counted."""

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.faultserver import KINDS, FaultServer, Plan
from tests.faultserver.client import KEY, Client, asked, body_of, completion, settled
from virsci_society.agents.errors import ReplyError
from virsci_society.agents.offline.backend import answer_offline
from virsci_society.agents.replies.parser import read_reply
from virsci_society.protocols.forms import Remark

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def _running():
    with FaultServer() as server:
        yield server


@pytest.fixture
def server(_running):
    """A server that answers well and has counted nothing."""
    _running.plan(Plan())
    _running.reset()
    return _running


def post(server, request, **fields):
    client = Client(server)
    with contextlib.closing(client.connection):
        return client.post(body_of(request, **fields))


def test_who_tells_the_slots_is_answered_by_the_offline_scientist(server):
    request = asked()
    reply = answer_offline(request)
    message, why, data = completion(post(server, request))
    assert message == {"role": "assistant", "content": reply.text, "refusal": None}
    assert (why, data["model"], data["object"]) == ("stop", "test", "chat.completion")
    prompt, words = reply.usage.prompt_tokens, reply.usage.completion_tokens
    wanted = {"prompt_tokens": prompt, "completion_tokens": words, "total_tokens": prompt + words}
    assert data["usage"] == wanted


def test_a_share_of_the_first_askings_cannot_be_read(server):
    server.plan(Plan(reask=0.5))
    client, unread = Client(server), 0
    for number in range(60):
        text = client.say(asked(f"call {number}"))
        try:
            read_reply(Remark, text)
        except ReplyError:
            unread += 1
            again = asked(f"call {number}/re-ask1", attempt=1)
            assert client.say(again) == answer_offline(again).text
    assert 15 < unread < 45
    assert server.counts()["outcomes"] == {"answered": 60, "reask": unread}


def test_counts_are_exact_under_load(server):
    server.plan(Plan(latency=0.05))
    ids = [f"call {number}" for number in range(128)]

    def four(some):
        client = Client(server)
        texts = [client.say(asked(id_, seed=len(id_))) for id_ in some]
        client.connection.close()
        return texts

    with ThreadPoolExecutor(32) as pool:
        texts = [text for one in pool.map(four, [ids[n::32] for n in range(32)]) for text in one]
    counts = server.counts(full=True)
    assert counts["requests"] == counts["calls"] == counts["answers"] == 128
    assert (counts["repeated_answers"], counts["connections"]) == (0, 32)
    assert 2 <= counts["most_at_once"] <= 32
    assert counts["completion_tokens"] == sum((len(text) + 3) // 4 for text in texts)
    assert all(one["answers"] == one["attempts"] == 1 for one in counts["by_call"].values())
    post(server, asked(ids[0]))
    assert server.counts()["repeated_answers"] == 1


HOLDER = """
import os, signal
from tests.faultserver import FaultServer
print(FaultServer().start().port, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_it_ends_with_the_process_that_started_it():
    path = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", HOLDER]
    done = subprocess.run(command, cwd=ROOT, env=path, capture_output=True, timeout=120)
    assert done.returncode == -signal.SIGKILL
    deadline = time.monotonic() + 120
    with contextlib.suppress(ConnectionError):  # refused, or reset while the port closes
        while True:
            socket.create_connection(("127.0.0.1", int(done.stdout))).close()
            assert time.monotonic() < deadline


# Kinds of faults


def error(status, code=None, after=None):
    def check(result, request):
        told = json.loads(result[2])["error"]["code"]
        return (result[0], result[1].get("Retry-After"), told) == (status, after, code)

    return check


def says(content, finish="stop", refusal=False):
    """``content`` is the words, or a function of the rule-based scientist's."""

    def check(result, request):
        message, why, _ = completion(result)
        words = content(answer_offline(request).text) if callable(content) else content
        return (message["content"], why, bool(message["refusal"])) == (words, finish, refusal)

    return check


def shows(holds, status=200):
    """What is sent has this status, and of its text something holds."""
    return lambda result, request: result[0] == status and holds(result[2].decode())


def is_json(text):
    try:
        return json.loads(text) is not None
    except ValueError:
        return False


def reads(holds):
    """What is read of the words holds something; None: nothing can be read."""

    def check(result, request):
        try:
            form = read_reply(request.form, completion(result)[0]["content"]).form
        except ReplyError:
            form = None
        return holds(form, answer_offline(request).text)

    return check


def usage(holds):
    return shows(lambda text: holds(json.loads(text).get("usage")))


SEEN = {
    "slow": says(lambda text: text),
    "stalled": http.client.RemoteDisconnected,
    "cut_body": http.client.IncompleteRead,
    "dropped": (http.client.RemoteDisconnected, ConnectionError),
    "malformed_http": shows(lambda text: not is_json(text)),
    "no_choices": shows(lambda text: json.loads(text)["choices"] == []),
    "null_content": says(None),
    "empty_content": says(""),
    "unauthorised": error(401, "invalid_api_key"),
    "forbidden": error(403, "unsupported_country"),
    "not_found": error(404, "model_not_found"),
    "quota": error(429, "insufficient_quota"),
    "rate_limited": error(429, "rate_limit_exceeded", after="0.125"),
    "rate_limited_bare": error(429, "rate_limit_exceeded"),
    "server_error": error(500),
    "bad_gateway": shows(lambda text: text.startswith("<html>"), 502),
    "unavailable": error(503),
    "refusal": says(None, refusal=True),
    "content_filter": says("", "content_filter"),
    "overflow": error(400, "context_length_exceeded"),
    "length": says(lambda text: text[: len(text) // 2], "length"),
    "malformed_reply": reads(lambda form, text: form is None),
    "prose_reply": reads(lambda form, text: form.as_json() == text),
    "missing_usage": usage(lambda told: told is None),
    "zero_usage": usage(lambda told: set(told.values()) == {0}),
    "wrong_usage": usage(lambda told: told["prompt_tokens"] not in range(10**9)),
    "echo_key": shows(lambda text: KEY in text, 500),
    "echo_key_200": reads(lambda form, text: KEY in form.response),
}
"""What the client sees of each kind: a check of the result, or the error of http.client."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_is_what_the_table_says_and_is_counted_once(server, kind):
    plan = Plan(rates={kind: 1}, streak=1, stalled_seconds=0.1, retry_after=0.125, slow_seconds=0.1)
    # A lower bound holds on a busy machine as well.
    server.plan(plan)
    request, check = asked(), SEEN[kind]
    before = time.monotonic()
    if isinstance(check, (type, tuple)):
        with pytest.raises(check):
            post(server, request)
    else:
        assert check(post(server, request), request)
    assert time.monotonic() - before >= 0.1 * (kind in ("slow", "stalled"))
    counts = settled(server)
    assert counts["outcomes"] == counts["faults"] == {kind: 1}
    assert counts["answers"] == (KINDS[kind].kept and kind != "overflow")
    assert counts["by_call"][request.id]["outcomes"] == [kind]
    # A fault on the way is over after the streak; words stay what they are.
    if KINDS[kind].each:
        assert SEEN["slow"](post(server, request), request)
        assert settled(server)["outcomes"] == {kind: 1, "answered": 1}
        assert server.counts()["repeated_answers"] == (kind == "slow")
    else:
        assert check(post(server, request), request)
        assert settled(server)["outcomes"] == {kind: 2}


def test_which_attempt_fails_is_no_matter_of_order(server):
    server.plan(Plan(seed=3, rates={"server_error": 0.3, "unavailable": 0.2, "prose_reply": 0.2}))
    ids = [f"call {number}" for number in range(40)]

    def rounds(order):
        server.reset()
        client = Client(server)
        for _ in range(3):
            for id_ in order:
                client.post(body_of(asked(id_)))
        by_call = server.counts(full=True)["by_call"]
        return {id_: by_call[id_]["outcomes"] for id_ in ids}

    first = rounds(ids)
    assert first == rounds(ids[::-1])
    assert len({tuple(outcomes) for outcomes in first.values()}) > 5


GOOD, BAD = ["answered"] * 2, ["server_error"] * 2


@pytest.mark.parametrize(
    ("bounds", "wanted"),
    [
        ({"streak": 0}, GOOD),
        ({"streak": 1}, ["server_error", "answered"] * 2),
        ({"streak": 3}, [*BAD, "server_error", "answered"] * 2),
        ({"streak": 99, "from_n": 2}, [*GOOD, *BAD]),
    ],
)
def test_a_streak_ends_and_faults_can_be_bound_to_a_stretch_of_requests(server, bounds, wanted):
    server.plan(Plan(rates={"server_error": 1}, **bounds))
    client = Client(server)
    for _ in wanted:
        client.post(body_of(asked("call")))
    assert server.counts(full=True)["by_call"]["call"]["outcomes"] == wanted
