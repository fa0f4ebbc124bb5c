"""The fault server: what it answers when all is well, what it counts, and how it runs."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pydantic import ValidationError

from tests.faultserver import FaultServer, Plan
from tests.faultserver.__main__ import main
from tests.faultserver.asked import Asked
from tests.faultserver.client import BOB, Client, asked, body_of, completion, post, settled
from tests.faultserver.demo import told
from tests.faultserver.kinds import table
from tests.faultserver.words import SENTENCE, words
from virsci_society.agents.errors import ReplyError
from virsci_society.agents.offline.backend import answer_offline
from virsci_society.agents.replies.parser import read_reply
from virsci_society.protocols.forms import Choice, Remark
from virsci_society.protocols.ideas import Ballot, Idea

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


def test_who_tells_the_slots_is_answered_by_the_offline_scientist(server):
    request = asked()
    status, _, raw = post(server, request)
    data, reply = json.loads(raw), answer_offline(request)
    assert status == 200
    assert data["model"] == "test"
    assert data["object"] == "chat.completion"
    assert data["choices"][0]["message"] == {
        "role": "assistant",
        "content": reply.text,
        "refusal": None,
    }
    assert data["choices"][0]["finish_reason"] == "stop"
    assert data["usage"] == {
        "prompt_tokens": reply.usage.prompt_tokens,
        "completion_tokens": reply.usage.completion_tokens,
        "total_tokens": reply.usage.prompt_tokens + reply.usage.completion_tokens,
    }


def test_without_slots_the_schema_is_filled(server):
    schema = {"type": "json_schema", "json_schema": {"schema": Idea.model_json_schema()}}
    body = {"messages": [{"role": "user", "content": "An idea about maps?"}]}
    client = Client(server)
    texts = set()
    for call in ("a", "a", "b"):
        raw = client.post(body | {"response_format": schema}, **{"X-Call-Id": call})[2]
        texts.add(json.loads(raw)["choices"][0]["message"]["content"])
    assert len(texts) == 2
    assert all(Idea.model_validate_json(text) for text in texts)


def test_without_anything_there_is_one_sentence(server):
    body = {"messages": [{"role": "user", "content": [{"type": "text", "text": "Well?"}]}]}
    said = json.loads(Client(server).post(body)[2])["choices"][0]["message"]["content"]
    assert said == SENTENCE
    said = Client(server).post(body | {"response_format": {"type": "json_object"}})[2]
    assert json.loads(json.loads(said)["choices"][0]["message"]["content"]) == {"answer": SENTENCE}


def test_a_call_is_known_by_its_slots_then_by_the_header_then_by_its_messages(server):
    client = Client(server)
    plain = {"messages": [{"role": "user", "content": "Well?"}]}
    client.post(body_of(asked("from the slots")), **{"X-Call-Id": "unused"})
    client.post(plain, **{"X-Call-Id": "M%C3%BCller/1"})
    client.post(plain)
    client.post(plain)
    client.post({"messages": [{"role": "user", "content": "Well!"}]})
    calls = server.counts(full=True)["by_call"]
    assert list(calls)[:2] == ["from the slots", "Müller/1"]
    assert [one["attempts"] for one in calls.values()] == [1, 1, 2, 1]


def said_by(plan, request):
    body = json.dumps(body_of(request)).encode()
    return words(Asked.read(body, {}), plan)


def test_a_share_of_the_acceptances_is_kept():
    slots = {"inviter": BOB, "load": 0, "ties": 3, "similarity": 0.9}
    plan, kept, accepted = Plan(accept=0.6), 0, 0
    for number in range(400):
        request = asked(f"call {number}", Choice, seed=number, **slots)
        honest = Choice.model_validate_json(answer_offline(request).text)
        bent = Choice.model_validate_json(said_by(plan, request))
        assert honest.accepted or bent == honest
        accepted += honest.accepted
        kept += bent.accepted
    assert accepted > 100
    assert abs(kept / accepted - 0.6) < 0.1
    assert said_by(plan, asked()) == answer_offline(asked()).text


def test_a_share_of_the_first_askings_cannot_be_read(server):
    server.plan(Plan(reask=0.5))
    client = Client(server)
    outcomes = Counter()
    for number in range(60):
        first = asked(f"call {number}")
        text = client.say(first)
        try:
            read_reply(Remark, text)
        except ReplyError:
            outcomes["unread"] += 1
            again = asked(f"call {number}/re-ask1", attempt=1)
            assert client.say(again) == answer_offline(again).text
    assert 15 < outcomes["unread"] < 45
    counts = server.counts()["outcomes"]
    assert counts == {"answered": 60, "reask": outcomes["unread"]}
    plain = {"messages": [{"role": "user", "content": "?"}]}
    answered = {"role": "assistant", "content": "!"}
    server.plan(Plan(reask=1))
    assert SENTENCE.encode() not in client.post(plain)[2]
    assert SENTENCE.encode() in client.post({"messages": [*plain["messages"], answered]})[2]


def test_texts_grow_and_still_fill_the_form():
    plan, request = Plan(wordy=3), asked()
    short, long = answer_offline(request).text, said_by(plan, request)
    before, after = Remark.model_validate_json(short), Remark.model_validate_json(long)
    assert len(after.response.split()) == 3 * len(before.response.split())
    assert after.response.startswith(before.response)
    ballot = asked(form=Ballot, ideas=())
    before = Ballot.model_validate_json(answer_offline(ballot).text)
    after = Ballot.model_validate_json(said_by(plan, ballot))
    assert after.decision == before.decision
    assert len(after.reason.split()) == 3 * len(before.reason.split())


def test_words_end_at_the_limit_that_the_client_sets(server):
    request = asked()
    for field in ("max_tokens", "max_completion_tokens"):
        message, why, data = completion(post(server, request, **{field: 5}))
        assert message["content"] == answer_offline(request).text[:20]
        assert (why, data["usage"]["completion_tokens"]) == ("length", 5)
        assert completion(post(server, request, **{field: 9999}))[1] == "stop"
    assert server.counts()["outcomes"] == {"answered": 2, "limit": 2}


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("{", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[]", "no JSON object"),
        ({}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": ["hello"]}, "messages"),
        ({"messages": [{"role": "user", "content": "?"}], "stream": True}, "streaming"),
        ({"messages": [{"role": "user", "content": "?"}], "slots": {"form": "os:x"}}, "slots"),
        (
            {
                "messages": [{"role": "user", "content": "?"}],
                "response_format": {"type": "json_schema", "json_schema": {"schema": 3}},
            },
            "response_format",
        ),
    ],
)
def test_what_is_not_served_is_said(server, body, why):
    client = Client(server)
    status, _, raw = client.post(body)
    assert status == 400
    assert why in json.loads(raw)["error"]["message"]
    assert client.say(asked()) == answer_offline(asked()).text
    assert server.counts()["outcomes"] == {"misunderstood": 1, "answered": 1}


@pytest.mark.parametrize("path", ["/v1/completions", "/"])
def test_other_addresses_are_not_served(server, path):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    connection.request("POST", path, "{}")
    assert connection.getresponse().status == 404
    assert server.counts()["requests"] == 0


def test_there_is_one_model(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    connection.request("GET", "/v1/models")
    assert [one["id"] for one in json.load(connection.getresponse())["data"]] == ["test"]


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
    assert counts["repeated_answers"] == 0
    assert counts["connections"] == 32
    assert 2 <= counts["most_at_once"] <= counts["most_connections"] <= 32
    assert counts["completion_tokens"] == sum((len(text) + 3) // 4 for text in texts)
    assert counts["first"] < counts["last"] <= time.time()
    assert all(one["answers"] == one["attempts"] == 1 for one in counts["by_call"].values())
    post(server, asked(ids[0]))
    assert server.counts()["repeated_answers"] == 1


def raw_request(server, head, *parts):
    one = socket.create_connection(("127.0.0.1", server.port), timeout=120)
    one.sendall(head)
    for part in parts:
        one.sendall(part)
    return one


def test_a_client_that_gives_up_is_counted_as_gone(server):
    server.plan(Plan(latency=2))
    body = json.dumps(body_of(asked())).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body)
    one = raw_request(server, head, body)
    while server.counts()["requests"] == 0:
        pass
    one.close()
    counts = settled(server)
    assert counts["outcomes"] == {"gone": 1}
    assert (counts["answers"], counts["completion_tokens"]) == (0, 0)


def test_a_stalled_answer_ends_when_the_client_gives_up(server):
    server.plan(Plan(rates={"stalled": 1}))
    with pytest.raises(TimeoutError):
        Client(server, timeout=0.5).post(body_of(asked()))
    assert settled(server)["outcomes"] == {"stalled": 1}


def test_bodies_in_chunks_are_read(server):
    body = json.dumps(body_of(asked())).encode()
    head = b"POST /v1/chat/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunks = [b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:7], body[7:])]
    with raw_request(server, head, *chunks, b"0\r\n\r\n") as one:
        assert one.recv(15) == b"HTTP/1.1 200 OK"


@pytest.mark.parametrize(
    "head",
    [
        b"hello\r\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nno colon\r\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_what_is_no_request_is_refused(server, head):
    with raw_request(server, head) as one:
        got = b"".join(iter(lambda: one.recv(4096), b""))
    assert got.startswith(b"HTTP/1.1 400")
    assert server.counts()["requests"] == 0


def test_behaviour_changes_while_it_runs(server):
    client = Client(server)
    for plan, status in ((Plan(rates={"forbidden": 1}), 403), (Plan(), 200)):
        server.plan(plan)
        assert client.post(body_of(asked()))[0] == status
    server.plan(Plan(rates={"server_error": 0.5}))
    with pytest.raises(ValidationError, match="no fault is called 'droped'"):
        Plan(rates={"droped": 0.5})
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    connection.request("POST", "/plan", '{"rates": {"slow": 2}}')
    assert connection.getresponse().status == 400
    connection.close()
    connection.request("GET", "/plan")
    assert json.load(connection.getresponse())["rates"] == {"server_error": 0.5}


def test_a_reset_forgets_attempts_and_streaks(server):
    server.plan(Plan(rates={"server_error": 1}, streak=1))
    for _ in range(3):
        assert [Client(server).post(body_of(asked()))[0] for _ in range(2)] == [500, 200]
        server.reset()
        assert server.counts()["requests"] == 0


HOLDER = """
import os, signal
from tests.faultserver import FaultServer
print(FaultServer().start().port, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def listens(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def test_it_ends_with_the_process_that_started_it():
    done = subprocess.run(
        [sys.executable, "-c", HOLDER],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == -signal.SIGKILL
    deadline = time.monotonic() + 120
    while listens(int(done.stdout)):
        assert time.monotonic() < deadline


def program(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "tests.faultserver", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_people_get_the_address_and_at_the_end_the_counts():
    running = program("--port", "0", "--fault", "forbidden=1", "--streak", "9", "--latency", "0")
    url = running.stdout.readline().strip()
    connection = http.client.HTTPConnection(url.split("/")[2], timeout=120)
    connection.request("POST", "/v1/chat/completions", json.dumps(body_of(asked())))
    assert connection.getresponse().status == 403
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    assert (running.returncode, err) == (0, "")
    assert json.loads(out)["faults"] == {"forbidden": 1}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--fault", "droped=0.1"], "no fault is called 'droped'"),
        (["--fault", "dropped=2"], "rates.dropped"),
        (["--plan", '{"latenzy": 1}'], "latenzy"),
        (["--latency", "soon"], "latency"),
    ],
)
def test_a_wrong_plan_ends_with_a_sentence(arguments, why, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["faultserver", "--port", "0", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert why in err


def test_a_port_that_is_taken_is_said(server):
    running = program("--port", str(server.port))
    err = running.communicate(timeout=120)[1]
    assert running.returncode == 1
    assert f"port {server.port}" in err
    assert "Traceback" not in err
    with pytest.raises(RuntimeError, match="exit code 1"):
        FaultServer(port=server.port).start()


def test_the_page_has_the_table_of_kinds_and_every_field_is_explained():
    page = (ROOT / "tests" / "faultserver" / "README.md").read_text()
    assert table() in page
    for field in Plan.model_fields:
        assert f"        {field}: " in Plan.__doc__ or f"    {field}: " in Plan.__doc__, field


def test_every_count_is_explained(server):
    page = (ROOT / "tests" / "faultserver" / "README.md").read_text()
    post(server, asked())
    counts = server.counts(full=True)
    assert all(f"`{name}`" in page for name in counts)
    lines = told(counts)
    assert "asked 1 times about 1 calls over 1 connections" in lines
    assert "outcomes: answered 1" in lines


@pytest.mark.slow
def test_the_demo_is_a_society_over_http(tmp_path):
    out, bad = tmp_path / "run", ["--fault", "server_error=0.2", "--fault", "prose_reply=0.3"]
    command = [sys.executable, "-m", "tests.faultserver.demo", "--out", str(out), *bad]
    small = ("until=40d", "metrics=[]", "founding.teams_per_year=1.5", "protocol.turns=1")
    small = (*small, "population.ecosystem.scientists=12", "population.ecosystem.papers=80")
    short = [part for setting in small for part in ("--set", setting)]
    done = subprocess.run(
        [*command, *short], cwd=ROOT, capture_output=True, text=True, timeout=500, check=True
    )
    assert f"Open the report: {out / 'report.html'}" in done.stdout
    assert (out / "report.html").exists()
    assert "(0 calls were answered twice)" in done.stdout
    assert "faults: prose_reply" in done.stdout
    again = subprocess.run(
        [*command, *short], cwd=ROOT, capture_output=True, text=True, timeout=500, check=True
    )
    assert "Nothing had to be asked" in again.stdout
