"""The fault server: what it answers, each kind of fault, when it happens, and what is counted."""

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.faultserver import KINDS, FaultServer, Plan
from tests.faultserver.client import Client, asked, body_of, completion, settled
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


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_is_met_and_counted_once(server, kind):
    """What a client sees of each kind is held by ``tests/promises/test_faults.py``."""
    plan = Plan(rates={kind: 1}, streak=1, stalled_seconds=0.1, retry_after=0.125, slow_seconds=0.1)
    server.plan(plan)
    request, good = asked(), answer_offline(asked()).text
    # A lower bound holds on a busy machine as well.
    before = time.monotonic()
    broken = kind in ("stalled", "cut_body", "dropped")
    with pytest.raises((http.client.HTTPException, ConnectionError)) if broken else nullcontext():
        post(server, request)
    assert time.monotonic() - before >= 0.1 * (kind in ("slow", "stalled"))
    counts = settled(server)
    assert counts["outcomes"] == counts["faults"] == {kind: 1}
    assert counts["answers"] == (KINDS[kind].kept and kind != "overflow")
    # A fault on the way is over after the streak; words stay what they are.
    if KINDS[kind].each:
        assert completion(post(server, request))[0]["content"] == good
        assert settled(server)["outcomes"] == {kind: 1, "answered": 1}
        assert server.counts()["repeated_answers"] == (kind == "slow")
    else:
        post(server, request)
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
