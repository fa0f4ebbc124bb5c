"""When a model that cannot write the forms stops a run, and what is said then (promise R17)."""

import asyncio

import pytest

from tests.agents.backends.live_provider import a_request
from virsci_society.agents.backends.hybrid import Hybrid
from virsci_society.agents.backends.litellm import LiteLLM
from virsci_society.agents.backends.openai import OpenAI
from virsci_society.agents.errors import Fault, Filtered, Stopped
from virsci_society.agents.gateway.backend import Backend
from virsci_society.agents.gateway.gateway import Gateway, ReadabilityWatch, Unreadable
from virsci_society.agents.gateway.retry import Retry
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.replies.parser import ENDED_THINKING


class Live(Backend):
    """Never asked here."""


def watch(**bounds):
    return ReadabilityWatch(Unreadable(**bounds), "Use another model")


def test_a_form_that_is_never_readable_stops_the_run_early():
    one = watch()
    for _ in range(100):
        one.record("Utterance", None)
    for _ in range(4):
        one.record("Ballot", "no JSON")
    with pytest.raises(Stopped, match="5 of 5 of the form Ballot"):
        one.record("Ballot", "no JSON")


def test_the_share_over_all_forms_counts_from_a_least_number_on():
    one = watch(after=20)
    for number in range(4):
        for _ in range(3):
            one.record(f"Form{number}", None)
        one.record(f"Form{number}", "?")
    for _ in range(4):
        one.record("Other", None)
    with pytest.raises(Stopped, match="5 of 21 answers"):
        one.record("Form0", "?")


def test_a_share_within_the_bound_is_warned_of_and_does_not_stop():
    one = watch(after=20)
    for number in range(200):
        one.record("Utterance", "?" if number % 10 == 9 else None)
    assert "20 of 200 answers could not be used, most often Utterance" in one.warnings["unusable"]
    calm = watch()
    for number in range(200):
        calm.record("Utterance", "?" if number % 20 == 19 else None)
    assert calm.warnings == {}


def test_three_examples_are_shown_plain_and_without_secrets():
    one = watch(after=16)
    replies = ["\x1b[2Jwiped", "sk-live-0123456789abcdefABCDEF is mine", "x" * 5_000, "a fourth"]
    for reply in replies[:3]:
        one.record("Ballot", reply)
    with pytest.raises(Stopped) as stop:
        one.record("Ballot", replies[3])
    told = str(stop.value)
    assert stop.value.exit_code == 5
    assert "\x1b" not in told
    assert "0123456789abcdef" not in told
    assert "a fourth" not in told
    assert told.count("\n  - ") == 3
    assert "backend.unreadable.stop_at=1" in told
    assert len(told) < 1_500


def test_rules_are_watched_only_if_asked_for():
    silent = Gateway(Live(), 1)
    for _ in range(50):
        silent.record_reading("Ballot", "?", live=False)
    asked = Gateway(Live(), 1, unreadable=Unreadable(after=4))
    with pytest.raises(Stopped):
        asked.record_reading("Ballot", "?", live=False)
    for _ in range(4):
        silent.record_reading("Ballot", "?", live=True)
    with pytest.raises(Stopped):
        silent.record_reading("Ballot", "?", live=True)


def test_a_replay_never_stops_for_what_was_read():
    with Journal(None) as journal:
        again = Gateway(Live(), 1, journal, strict=True)
        for _ in range(50):
            again.record_reading("Ballot", "?", live=True)


@pytest.mark.parametrize(
    ("live", "key"),
    [
        (OpenAI(model="m"), "backend.live.max_tokens"),
        (OpenAI(model="m", structured="off"), "backend.live.structured=on"),
        (LiteLLM(model="anthropic/unheard-of"), "backend.live.structured=on"),
    ],
)
def test_the_stop_of_a_hybrid_names_the_keys_of_its_live_part(live, key):
    gateway = Gateway(Hybrid(live=live, live_share=0.5), 1, unreadable=Unreadable(after=4))
    with pytest.raises(Stopped) as stop:
        gateway.record_reading("Ballot", "?", live=True)
    assert key in str(stop.value)
    assert key.replace("live.", "") not in str(stop.value)
    assert "backend.unreadable.stop_at=1" in str(stop.value)


class Wordless(Backend):
    """A model whose words stand elsewhere."""

    async def complete(self, _):
        raise Fault("the reply has no text; its content is in reasoning_content", "empty")


def test_where_replies_have_no_words_it_is_said_why():
    gateway = Gateway(Wordless(), 1, retry=Retry(first=0.001, longest=0.001))

    async def ask():
        try:
            return await gateway.complete(a_request())
        finally:
            await gateway.close()

    assert asyncio.run(ask()).text == ""
    for _ in range(4):
        gateway.readability.record("Ballot", "")
    with pytest.raises(Stopped, match=r"its content is in reasoning_content\. Another model"):
        gateway.readability.record("Ballot", "")


@pytest.mark.parametrize(
    ("hint", "advice"),
    [
        (ENDED_THINKING, r"raise backend\.max_tokens"),
        (Filtered.hint, "content filter"),
        ("", "JSON"),
    ],
)
def test_the_stop_names_the_cause_where_it_is_known(hint, advice):
    gateway = Gateway(OpenAI(model="m"), 1, unreadable=Unreadable(after=4))
    with pytest.raises(Stopped, match=rf"{advice}.*\. Another model"):
        gateway.record_reading("Ballot", "?", live=True, hint=hint)
