"""The fault server: what each kind of fault is, and when it happens."""

import contextlib
import http.client
import json
import time

import pytest

from tests.faultserver import KINDS, FaultServer, Plan
from tests.faultserver.client import KEY, Client, asked, body_of, completion, post, settled
from virsci_society.agents.errors import ReplyError
from virsci_society.agents.offline.backend import answer_offline
from virsci_society.agents.replies.parser import read_reply


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


def failed(expected, code=None, after=None):
    def check(result, request):
        status, got, raw = result
        assert status == expected
        assert json.loads(raw)["error"]["code"] == code
        assert got.get("Retry-After") == after

    return check


def says(content, finish="stop", refusal=False):
    def check(result, request):
        message, why, _ = completion(result)
        text = answer_offline(request).text
        assert message["content"] == (content(text) if callable(content) else content)
        assert why == finish
        assert bool(message["refusal"]) == refusal

    return check


def unreadable(result, request):
    with pytest.raises(ReplyError):
        read_reply(request.form, completion(result)[0]["content"])


def in_prose(result, request):
    text = completion(result)[0]["content"]
    assert not text.startswith("{")
    assert read_reply(request.form, text).form.as_json() == answer_offline(request).text


def counted(check):
    def usage(result, request):
        message, _, data = completion(result)
        assert message["content"] == answer_offline(request).text
        assert check(data.get("usage"))

    return usage


def wrong(usage):
    prompt = usage["prompt_tokens"]
    return not isinstance(prompt, int) or not 0 <= prompt < 10**9


def html(result, request):
    assert result[0] == 502
    assert result[1]["Content-Type"] == "text/html"
    assert result[2].startswith(b"<html>")


def no_json(result, request):
    assert result[0] == 200
    with pytest.raises(ValueError):
        json.loads(result[2])


def key_in_error(result, request):
    assert result[0] == 500
    assert KEY in result[2].decode()


def key_in_words(result, request):
    reply = read_reply(request.form, completion(result)[0]["content"]).form
    assert KEY in reply.response


def no_choices(result, request):
    assert result[0] == 200
    assert json.loads(result[2])["choices"] == []


SEEN = {
    "slow": says(lambda text: text),
    "stalled": http.client.RemoteDisconnected,
    "cut_body": http.client.IncompleteRead,
    "dropped": (http.client.RemoteDisconnected, ConnectionError),
    "malformed_http": no_json,
    "no_choices": no_choices,
    "null_content": says(None),
    "empty_content": says(""),
    "unauthorised": failed(401, "invalid_api_key"),
    "forbidden": failed(403, "unsupported_country"),
    "not_found": failed(404, "model_not_found"),
    "quota": failed(429, "insufficient_quota"),
    "rate_limited": failed(429, "rate_limit_exceeded", after="0.125"),
    "rate_limited_bare": failed(429, "rate_limit_exceeded"),
    "server_error": failed(500),
    "bad_gateway": html,
    "unavailable": failed(503),
    "refusal": says(None, refusal=True),
    "content_filter": says("", "content_filter"),
    "overflow": failed(400, "context_length_exceeded"),
    "length": says(lambda text: text[: len(text) // 2], "length"),
    "malformed_reply": unreadable,
    "prose_reply": in_prose,
    "missing_usage": counted(lambda usage: usage is None),
    "zero_usage": counted(lambda usage: set(usage.values()) == {0}),
    "wrong_usage": counted(wrong),
    "echo_key": key_in_error,
    "echo_key_200": key_in_words,
}
"""What the client sees of each kind: a check of the result, or the error of http.client."""


def test_every_kind_is_tried():
    assert set(SEEN) == set(KINDS)


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
        check(post(server, request), request)
    assert time.monotonic() - before >= 0.1 * (kind in ("slow", "stalled"))
    counts = settled(server)
    assert counts["outcomes"] == {kind: 1}
    assert counts["faults"] == {kind: 1}
    paid = KINDS[kind].kept and kind != "overflow"
    assert counts["answers"] == paid
    assert counts["by_call"][request.id]["outcomes"] == [kind]
    # A fault on the way is over after the streak; words stay what they are.
    if KINDS[kind].each:
        says(lambda text: text)(post(server, request), request)
        assert settled(server)["outcomes"] == {kind: 1, "answered": 1}
        assert server.counts()["repeated_answers"] == (kind == "slow")
    else:
        check(post(server, request), request)
        assert settled(server)["outcomes"] == {kind: 2}


def test_tokens_are_the_true_ones_of_the_answers_that_can_be_kept(server):
    request = asked()
    usage = answer_offline(request).usage
    for kind in (*("zero_usage", "wrong_usage", "missing_usage"), "null_content", "echo_key"):
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
        share = sum(kind in (one.way, one.words, one.usage) for one in drawn) / len(ids)
        assert abs(share - rate) < 0.025, kind
    assert Plan(seed=2, rates=alone.rates).draw(ids[0], 1) in [(alone.draw(i, 1)) for i in ids]
    other = Plan(seed=2, rates=alone.rates)
    assert [other.draw(id_, 1) for id_ in ids] != [alone.draw(id_, 1) for id_ in ids]


def test_what_is_said_does_not_depend_on_the_attempt():
    rates = dict.fromkeys(KINDS, 0.3)
    plan = Plan(rates=rates)
    for number in range(50):
        drawn = [plan.draw(f"call {number}", attempt) for attempt in range(1, 9)]
        assert len({(one.words, one.usage) for one in drawn}) == 1
    ways = {plan.draw("call", attempt).way for attempt in range(1, 50)}
    assert len(ways) > 5
    assert plan.draw("call", 1, spared=True).way is None


def test_a_fault_that_another_has_hidden_does_not_count(server):
    rates = {"prose_reply": 1, "zero_usage": 1}
    for way, seen in (
        ("server_error", {"server_error"}),
        ("cut_body", {"cut_body"}),
        ("empty_content", {"empty_content", "zero_usage"}),
        ("slow", {"slow", *rates}),
    ):
        server.reset()
        server.plan(Plan(rates={way: 1} | rates, streak=1, slow_seconds=0))
        with contextlib.suppress(http.client.IncompleteRead):
            post(server, asked())
        assert settled(server)["faults"] == dict.fromkeys(sorted(seen), 1)
    server.plan(Plan(rates={"overflow": 1, "zero_usage": 1}))
    post(server, asked("another"))
    assert server.counts()["faults"]["zero_usage"] == 1


def outcomes_of(server, attempts):
    client = Client(server)
    for _ in range(attempts):
        client.post(body_of(asked("call")))
    return server.counts(full=True)["by_call"]["call"]["outcomes"]


@pytest.mark.parametrize("streak", [0, 1, 3])
def test_one_attempt_is_spared_after_a_streak(server, streak):
    server.plan(Plan(rates={"server_error": 1}, streak=streak))
    wanted = ["server_error"] * streak + ["answered"]
    assert outcomes_of(server, 2 * len(wanted)) == 2 * wanted


def test_faults_can_be_bound_to_a_stretch_of_requests(server):
    server.plan(Plan(rates={"unavailable": 1}, streak=99, from_n=2, until_n=4))
    good, bad = ["answered"] * 2, ["unavailable"] * 2
    assert outcomes_of(server, 6) == [*good, *bad, *good]


@pytest.mark.parametrize("kind", ["fixed", "exponential"])
def test_latency_has_its_mean(kind):
    plan = Plan(latency=0.2, latency_kind=kind)
    delays = [plan.delay(f"call {number}", 1) for number in range(4000)]
    assert abs(sum(delays) / len(delays) - 0.2) < 0.01
    assert (len(set(delays)) == 1) == (kind == "fixed")
    assert min(delays) >= 0
