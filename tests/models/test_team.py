"""One team of two, spoken by SmolLM2, and the commands that are used before and after its run."""

import asyncio
import json
from dataclasses import replace

import pytest

from tests.models.runs import TEAM, assert_in_order, assert_replays, assert_speaks, run
from tests.peers.runs import society
from virsci_society.agents.backends.local import Local
from virsci_society.agents.errors import Overflow
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.request import Message, Request
from virsci_society.protocols.forms import Summary
from virsci_society.society.results.run import Run

pytestmark = [pytest.mark.models, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    return run(TEAM, tmp_path_factory.mktemp("team") / "run")


def test_a_team_of_two_writes_its_paper(team):
    assert_speaks(team, "SmolLM2-135M")
    assert team.summary["teams"]["published"] == 1
    assert_in_order(team)
    assert_replays(team)


def test_the_manifest_records_what_was_served(team):
    backend = json.loads((team.folder / "manifest.json").read_text("utf-8"))["backend"]
    assert backend["weights"] == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert len(backend["sha256"]) == 64
    assert backend["xllamacpp"]
    assert min(backend[name] for name in ("threads", "slots")) >= 1
    assert 4096 <= backend["context"] <= 8192


def test_the_plan_is_within_a_factor_of_one_and_a_half_in_tokens(team, tmp_path):
    planned = json.loads(society(["plan", str(TEAM), "--json"], tmp_path).stdout)
    calls = Run.open(team.folder).table("calls")
    # A team that disagrees on its topic discusses it once more, and copies are asked for again.
    first = calls[(calls["visit"] == 1) & (calls["act"] != "re-ask")]
    assert planned["calls"] / 1.5 <= len(first) <= 1.5 * planned["calls"]
    assert planned["calls"] <= len(calls)
    ledger = team.summary["ledger"]
    spent = ledger["prompt_tokens"] + ledger["completion_tokens"]
    assert planned["tokens"] / 1.5 < spent < 1.5 * planned["tokens"]


def test_the_doctor_has_every_form_filled(tmp_path):
    done = society(["doctor", str(TEAM)], tmp_path)
    assert "the model answers as SmolLM2-135M" in done.stdout, done.stdout + done.stderr
    assert "the provider counts tokens" in done.stdout
    assert "Traceback" not in done.stderr


def question(text, seed):
    messages = (Message("system", "You are Scientist1."), Message("user", text))
    return Request(f"t/topic/0/1/{seed}/utter/", Profile("S"), messages, Summary, {}, seed)


def answers(backend, requests):
    """What a backend answers to requests, one after the other: texts, or what was raised."""

    async def ask():
        endpoint = backend.endpoint()
        try:
            return [await one(endpoint, request) for request in requests]
        finally:
            await backend.close()

    async def one(endpoint, request):
        try:
            return (await endpoint.complete(request)).text
        except Overflow as verdict:
            return verdict

    return asyncio.run(ask())


def test_deterministic_repeats_a_reply_whatever_was_asked_in_between():
    text = "Say in a few words what your team works on. " * 8
    first, other = question(text, 1), question(text + "Name one open question.", 2)
    shared = replace(other, messages=(first.messages[0], Message("user", text[:200])))
    backend = Local(deterministic="on", max_tokens=40)
    replies = answers(backend, [first, other, first, shared, first])
    assert replies[0] == replies[2] == replies[4]
    assert answers(backend, [first]) == [replies[0]]  # by another server
    assert replies[1] != replies[0]


def test_a_prompt_that_is_too_long_is_a_verdict():
    (verdict,) = answers(Local(context=512, max_tokens=40), [question("long " * 1000, 1)])
    assert isinstance(verdict, Overflow)
