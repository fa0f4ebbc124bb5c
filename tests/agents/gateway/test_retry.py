"""Retry: the wait before another attempt, and what a provider asks for (R3)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from virsci_society.agents.backends.responses import retry_after_seconds
from virsci_society.agents.errors import Fault, Refused, Stopped
from virsci_society.agents.gateway.retry import Retry, conclude, wait_after
from virsci_society.agents.prompts.request import Reply, Usage

IDS = [f"S{n}/0/topic/0/1/{seat}/utter" for n in range(50) for seat in range(4)]
NOON = 1_445_412_480.0
"""Wed, 21 Oct 2015 07:28:00 GMT."""


def test_waits_double_up_to_the_longest_and_are_spread_around_it():
    retry = Retry(first=0.5, longest=30.0)
    for number, planned in enumerate([0.5, 1, 2, 4, 8, 16, 30, 30, 30], 1):
        waits = [retry.delay(id_, number, None) for id_ in IDS]
        assert 0.5 * planned <= min(waits) < 0.55 * planned
        assert 1.45 * planned < max(waits) < 1.5 * planned
        assert sum(waits) / len(waits) == pytest.approx(planned, rel=0.1)


def test_the_same_attempt_always_waits_as_long():
    assert Retry().delay("a/b", 3, None) == 1.5991959152373112
    assert Retry().delay("a/b", 3, 7.0) == 7.195048131958372
    assert len({Retry().delay(id_, number, None) for id_ in IDS for number in (1, 2)}) == 400


def test_a_wish_of_the_provider_is_the_least_wait():
    waits = [Retry().delay(id_, 1, 20.0) for id_ in IDS]
    assert 20 <= min(waits) < 20.1
    assert 21.9 < max(waits) <= 22


def test_no_wait_is_longer_than_patience():
    assert Retry(patience=50).delay("a", 1, 86_400.0) == 50
    assert Retry(patience=5).delay("a", 9, None) == 5
    assert Retry(patience=0).delay("a", 1, None) == 0


@pytest.mark.parametrize(
    "settings",
    [
        *({"attempts": 0}, {"first": 0}, {"first": -1}, {"longest": 0}, {"patience": -1}),
        *({"patience": float("inf")}, {"first": float("nan")}, {"tries": 3}),
    ],
)
def test_settings_out_of_range_are_refused(settings):
    with pytest.raises(ValidationError):
        Retry(**settings)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        *(("120", 120.0), (" 1.5 ", 1.5), ("0", 0.0), ("-3", 0.0), ("2.", 2.0)),
        ("Wed, 21 Oct 2015 07:28:30 GMT", 30.0),
        ("Wed, 21 Oct 2015 09:28:30 +0200", 30.0),
        ("Wed, 21 Oct 2015 07:28:30 -0000", 30.0),
        ("Wednesday, 21-Oct-15 07:29:00 GMT", 60.0),
        ("Wed Oct 21 07:28:10 2015", 10.0),
        ("Wed, 21 Oct 2014 07:28:00 GMT", 0.0),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(value, seconds):
    assert retry_after_seconds({"retry-after": value}, NOON) == seconds


@pytest.mark.parametrize(
    "value",
    [
        *("", " ", "soon", "nan", "inf", "1e5", "1_000", "٣", "9" * 400, "5 seconds", "- 5"),
        *("Wed, 99 Oct 2015 07:28:00 GMT", "x" * 10_000_000),
        "Wed, 21 Oct 2015 07:28:30 GMT" + " (x)" * 30,
        "Wed, 21 Oct 2015 07:28:00 +99999999999999999999",
    ],
)
def test_junk_is_no_wish(value):
    assert retry_after_seconds({"retry-after": value}, NOON) is None


@given(st.text() | st.from_regex(r"\w{3}, \d+ \w{3} \d+ \d+:\d+:\d+ [-+]?\w*"))
def test_no_header_does_harm(value):
    seconds = retry_after_seconds({"retry-after": value}, NOON)
    assert seconds is None or 0 <= seconds < 1e15


@pytest.mark.parametrize("jump", [-3600.0, 0.0, 3600.0])
def test_a_date_to_wait_for_is_read_by_the_clock_that_set_it(jump):
    headers = {"Retry-After": "Wed, 21 Oct 2015 07:28:09 GMT"}
    headers["Date"] = "Wed, 21 Oct 2015 07:28:00 GMT"
    assert retry_after_seconds(headers, NOON + jump) == 9
    headers["Date"] = "yesterday"
    assert retry_after_seconds(headers, NOON) == 9


def test_milliseconds_come_first_if_they_can_be_read():
    assert retry_after_seconds({"retry-after": "3", "Retry-After-Ms": "250"}, NOON) == 0.25
    assert retry_after_seconds({"retry-after-ms": "-1"}, NOON) == 0
    assert retry_after_seconds({"retry-after": "3", "retry-after-ms": "soon"}, NOON) == 3


# What follows from an attempt: pure functions, so no event loop is needed


def test_a_reply_and_a_verdict_end_the_call():
    usage = Usage(7, 3, estimated=False)
    reply = conclude(Reply("words", usage, "small"), [])
    assert (reply.recorded, reply.outcome.text, reply.usage, reply.bills_most) == (
        *("answered", "words", usage),
        False,
    )
    refused = conclude(Refused("no"), [])
    assert (refused.recorded, refused.outcome.kind, refused.usage) == ("refused", "refused", None)


def test_a_fault_leaves_the_call_open_until_the_third_empty_answer():
    empty, lost = Fault("nothing", "empty"), Fault("gone", "connection")
    assert [conclude(lost, []).outcome, conclude(empty, [empty, lost]).outcome] == [None, None]
    last = conclude(empty, [empty, lost, empty])
    assert (last.outcome.kind, last.outcome.text, last.fault) == ("answer", "", empty)
    assert conclude(empty, [empty, empty, empty]).outcome is None


def test_only_a_fault_of_unknown_cost_bills_the_most():
    unsent = Fault("refused", "connection")
    unsent.sent = False
    made = {"timeout": Fault("late", "timeout"), "rate": Fault("wait", "rate"), "unsent": unsent}
    assert {name: conclude(fault, []).bills_most for name, fault in made.items()} == {
        "timeout": True,
        "rate": False,
        "unsent": False,
    }


@pytest.mark.parametrize(
    ("kinds", "silent", "why"),
    [
        (["key"], 0.0, "to a valid key"),
        (["server", "server"], 0.0, "2 attempts at a/b have failed"),
        (["rate"], 60.0, "nothing has been answered for 60 seconds"),
        (["rate", "empty", "rate", "server"], 59.0, None),
    ],
)
def test_the_last_fault_waits_or_stops_the_run(kinds, silent, why):
    faults = [Fault("trouble", kind) for kind in kinds]
    retry = Retry(attempts=2, patience=60.0)
    if why is None:
        expected = retry.delay("a/b", len(faults), None)
        assert wait_after("a/b", faults, retry, silent) == expected
    else:
        with pytest.raises(Stopped, match=why):
            wait_after("a/b", faults, retry, silent)
