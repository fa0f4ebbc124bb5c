"""The fault server: what it answers, each kind of fault, when it happens, and what is counted."""

import base64
import contextlib
import http.client
import json
import math
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.faultserver import KINDS, FaultServer, Plan
from tests.faultserver.asked import Asked
from tests.faultserver.client import ADA, KEY, Client, asked, body_of, completion, settled
from tests.faultserver.slots import Unheard, heard, to_wire
from tests.faultserver.windows import AskedWindow, fit
from tests.faultserver.words import SENTENCE
from virsci_society.agents.errors import ReplyError
from virsci_society.agents.offline.backend import answer_offline
from virsci_society.agents.prompts.request import Message, Request
from virsci_society.agents.prompts.slots import Reference, Utterance
from virsci_society.agents.replies.form import Form
from virsci_society.agents.replies.parser import read_reply
from virsci_society.protocols.forms import Remark
from virsci_society.protocols.ideas import Ballot, Idea

ROOT = Path(__file__).parents[2]
PLAIN = {"messages": [{"role": "user", "content": "Well?"}]}


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


def test_without_slots_the_schema_is_filled_or_there_is_one_sentence(server):
    schema = {"type": "json_schema", "json_schema": {"schema": Idea.model_json_schema()}}
    client = Client(server)

    def said(call="", **form):
        return completion(client.post(PLAIN | form, **{"X-Call-Id": call}))[0]["content"]

    texts = {said(call, response_format=schema) for call in "aab"}
    assert len(texts) == 2
    assert all(Idea.model_validate_json(text) for text in texts)
    assert said() == SENTENCE
    assert json.loads(said(response_format={"type": "json_object"})) == {"answer": SENTENCE}


def test_a_call_is_known_by_its_slots_then_by_the_header_then_by_its_messages(server):
    client = Client(server)
    client.post(body_of(asked("from the slots")), **{"X-Call-Id": "unused"})
    client.post(PLAIN, **{"X-Call-Id": "M%C3%BCller/1"})
    client.post(PLAIN)
    client.post(PLAIN)
    client.post({"messages": [{"role": "user", "content": "Well!"}]})
    calls = server.counts(full=True)["by_call"]
    assert list(calls)[:2] == ["from the slots", "Müller/1"]
    assert [one["attempts"] for one in calls.values()] == [1, 1, 2, 1]


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


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("{", "no JSON"),
        ("[]", "no JSON object"),
        ({"messages": []}, "messages"),
        ({"messages": ["hello"]}, "messages"),
        (PLAIN | {"stream": True}, "streaming"),
        (PLAIN | {"slots": "os:x"}, "slots"),
        (PLAIN | {"response_format": {"type": "json_schema", "json_schema": 3}}, "response_format"),
    ],
)
def test_what_is_not_served_is_said(server, body, why):
    status, _, raw = Client(server).post(body)
    assert status == 400
    assert why in json.loads(raw)["error"]["message"]
    assert server.counts()["outcomes"] == {"misunderstood": 1}
    assert Client(server).post(body, "/v1/completions")[0] == 404


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


def raw_request(server, head):
    one = socket.create_connection(("127.0.0.1", server.port), timeout=120)
    one.sendall(b"%s\r\n\r\n" % head)
    return one


def test_a_client_that_gives_up_is_counted_as_gone(server):
    server.plan(Plan(latency=2))
    body = json.dumps(body_of(asked())).encode()
    one = raw_request(
        server, b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d" % len(body)
    )
    one.sendall(body)
    while server.counts()["requests"] == 0:
        pass
    one.close()
    counts = settled(server)
    assert counts["outcomes"] == {"gone": 1}
    assert (counts["answers"], counts["completion_tokens"]) == (0, 0)


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


def program(*arguments):
    command = [sys.executable, "-m", "tests.faultserver", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, cwd=ROOT, text=True, **pipes)


def test_people_get_the_address_and_at_the_end_the_counts():
    running = program("--port", "0", "--fault", "forbidden=1", "--latency", "0")
    url = running.stdout.readline().strip()
    connection = http.client.HTTPConnection(url.split("/")[2], timeout=120)
    connection.request("POST", "/v1/chat/completions", json.dumps(body_of(asked())))
    assert connection.getresponse().status == 403
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    assert (running.returncode, err) == (0, "")
    assert json.loads(out)["faults"] == {"forbidden": 1}


@pytest.mark.slow
def test_the_demo_is_a_society_over_http(tmp_path):
    out, bad = tmp_path / "run", ["--fault", "server_error=0.2", "--fault", "prose_reply=0.3"]
    command = [sys.executable, "-m", "tests.faultserver.demo", "--out", str(out), *bad]
    small = ("until=40d", "metrics=[]", "founding.teams_per_year=1.5", "protocol.turns=1")
    small = (*small, "population.ecosystem.scientists=12", "population.ecosystem.papers=80")
    command += [part for setting in small for part in ("--set", setting)]
    how = {"cwd": ROOT, "capture_output": True, "text": True, "timeout": 500, "check": True}
    done = subprocess.run(command, **how).stdout
    assert f"Open the report: {out / 'report.html'}" in done
    assert (out / "report.html").exists()
    assert "(0 calls were answered twice)" in done
    assert "prose_reply" in done
    assert "Nothing had to be asked" in subprocess.run(command, **how).stdout


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


def test_tokens_are_the_true_ones_of_the_answers_that_can_be_kept(server):
    usage = answer_offline(asked()).usage
    for kind in ("zero_usage", "wrong_usage", "missing_usage", "null_content", "echo_key"):
        server.plan(Plan(rates={kind: 1}, streak=1))
        post(server, asked(kind))
    counts = server.counts()
    assert counts["answers"] == 3
    assert counts["prompt_tokens"] == 3 * usage.prompt_tokens
    assert counts["completion_tokens"] == 3 * usage.completion_tokens
    assert counts["tokens"]["null_content"] == [usage.prompt_tokens, 0]
    assert "echo_key" not in counts["tokens"]


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


def test_rates_are_met_and_kinds_do_not_disturb_each_other():
    alone = Plan(seed=1, rates={"dropped": 0.2})
    both = Plan(seed=1, rates={"refusal": 0.1, "dropped": 0.2, "zero_usage": 0.3, "slow": 0})
    ids = [f"call {number}" for number in range(4000)]
    drawn = [both.draw(id_, 1) for id_ in ids]
    assert [alone.draw(id_, 1).way for id_ in ids] == [one.way for one in drawn]
    for kind, rate in both.rates.items():
        share = sum(kind in one for one in drawn) / len(ids)
        assert abs(share - rate) < 0.025, kind
    other = Plan(seed=2, rates=alone.rates)
    assert [other.draw(id_, 1) for id_ in ids] != [alone.draw(id_, 1) for id_ in ids]


def test_what_is_said_does_not_depend_on_the_attempt():
    plan = Plan(rates=dict.fromkeys(KINDS, 0.3))
    for number in range(50):
        drawn = [plan.draw(f"call {number}", attempt) for attempt in range(1, 9)]
        assert len({(one.words, one.usage) for one in drawn}) == 1
    assert len({plan.draw("call", attempt).way for attempt in range(1, 50)}) > 5
    assert plan.draw("call", 1, spared=True).way is None


@pytest.mark.parametrize(
    ("rates", "seen"),
    [
        (("server_error", "prose_reply", "zero_usage"), {"server_error"}),
        (("cut_body", "prose_reply", "zero_usage"), {"cut_body"}),
        (("empty_content", "prose_reply", "zero_usage"), {"empty_content", "zero_usage"}),
        (("slow", "prose_reply", "zero_usage"), {"slow", "prose_reply", "zero_usage"}),
        (("overflow", "zero_usage"), {"overflow"}),
    ],
)
def test_a_fault_that_another_has_hidden_does_not_count(server, rates, seen):
    server.plan(Plan(rates=dict.fromkeys(rates, 1), streak=1, slow_seconds=0))
    with contextlib.suppress(http.client.IncompleteRead):
        post(server, asked())
    assert settled(server)["faults"] == dict.fromkeys(seen, 1)


GOOD, BAD = ["answered"] * 2, ["server_error"] * 2


@pytest.mark.parametrize(
    ("bounds", "wanted"),
    [
        ({"streak": 0}, GOOD),
        ({"streak": 1}, ["server_error", "answered"] * 2),
        ({"streak": 3}, [*BAD, "server_error", "answered"] * 2),
        ({"streak": 99, "from_n": 2, "until_n": 4}, [*GOOD, *BAD, *GOOD]),
    ],
)
def test_a_streak_ends_and_faults_can_be_bound_to_a_stretch_of_requests(server, bounds, wanted):
    server.plan(Plan(rates={"server_error": 1}, **bounds))
    client = Client(server)
    for _ in wanted:
        client.post(body_of(asked("call")))
    assert server.counts(full=True)["by_call"]["call"]["outcomes"] == wanted


# Slots


def test_all_of_a_request_arrives():
    messages = (Message("user", "Speak."),)
    slots = {"me": ADA, "at": (Reference("p1", "Maps", "", 2001, (), math.inf), {1: [0.1]})}
    slots["said"] = (Utterance("Scientist2", Remark(response="So.")), Ballot.fallback({}))
    told = Request("t/1/re-ask1", ADA, messages, Remark, slots, seed=2**64 - 1, attempt=1)
    assert repr(heard(to_wire(told), messages)) == repr(told)


class _Evil:
    def __init__(self, call):
        self.call = call

    def __reduce__(self):
        return self.call, ("x",)


@pytest.mark.parametrize("call", [os.system, eval, subprocess.Popen, to_wire, exec])
def test_only_forms_and_data_classes_of_this_repository_are_made(call):
    with pytest.raises(Unheard, match="is no form or data class"):
        heard(to_wire(Request("t/1", ADA, (), Remark, {"value": _Evil(call)})))


@pytest.mark.parametrize("told", [None, "x", ("t/1", ADA, Form), ("t/1", ADA, int, {}, 1, 0)])
def test_what_is_no_request_is_not_understood(told):
    with pytest.raises(Unheard):
        heard(base64.b64encode(pickle.dumps(told)).decode())


# Windows: what the servers that are played do with a prompt that is too long

BEGINNING = "The beginning of it."
LONG = BEGINNING + "x" * 4000 + "The end of it."
TOKENS = (len(LONG) + 3) // 4


def question(text, limit=None):
    return Asked("call", "test", (Message("system", text),), None, {}, limit)


OWN = AskedWindow(own_api=True, num_ctx=10**6)


@pytest.mark.parametrize(
    ("said", "plan", "end"),
    [
        (AskedWindow(), {}, "whole"),
        (AskedWindow(), {"plays": "vllm", "window": TOKENS + 100}, "whole"),
        (AskedWindow(), {"plays": "vllm", "window": TOKENS + 99}, "refused"),
        (AskedWindow(), {"plays": "llama.cpp", "window": TOKENS + 1}, "whole"),
        (AskedWindow(), {"plays": "llama.cpp", "window": TOKENS}, "refused"),
        (AskedWindow(), {"plays": "ollama", "window": 100}, 53),
        (AskedWindow(), {"plays": "ollama", "window": 100, "refuses": False}, 100),
        (OWN, {"plays": "ollama", "window": 100}, "whole"),
        (OWN, {"plays": "ollama", "trained": TOKENS + 1}, "whole"),
        (OWN, {"plays": "ollama", "trained": 100}, 53),
        (AskedWindow(num_ctx=10**6), {"plays": "ollama", "window": 100}, 53),
        (AskedWindow(True, 100, refusing=True), {"plays": "ollama"}, "refused"),
        (AskedWindow(True, 100, refusing=True), {"plays": "ollama", "refuses": False}, 100),
    ],
)
def test_what_is_read_of_a_long_prompt(said, plan, end):
    asked = question(LONG, limit=100)
    seen, refused = fit(asked, said, Plan(**plan))
    assert (refused is not None) == (end == "refused")
    if isinstance(end, int):
        (message,) = seen.messages
        assert seen.prompt_tokens == end
        assert message.content.startswith(BEGINNING[:20] + "x")
        assert message.content.endswith("The end of it.")
    else:
        assert seen is asked
        assert not refused or (refused.response.status, refused.outcome) == (400, "overflow")
