"""Forms through the constrained decoders of llama.cpp's server, with a model of random weights."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass

import pytest

from tests.peers import llama_server
from tests.peers.forms import declared_fields, reply_forms, written_fields
from tests.peers.runs import MAX_TOKENS, RUNS
from virsci_society.agents.backends.openai import OpenAI
from virsci_society.agents.errors import Fault, Overflow, Verdict
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.request import Message, Request
from virsci_society.protocols.forms import Summary

pytestmark = [
    pytest.mark.peers,
    pytest.mark.skipif(llama_server.missing() is not None, reason=str(llama_server.missing())),
]
GRAMMARS = ("gbnf", "llguidance")
SEEDS = range(8)
"""Seeds with which each form is asked for; each gives other noise."""


def outcomes(peers, grammar, form, seeds=SEEDS, text="What now?", sent=None, **settings):
    """What comes of one question with each seed: a reply, or what was raised in its place."""
    sent = [] if sent is None else sent
    given = peers.settings(RUNS[grammar])
    chosen = {key: given[key] for key in ("model", "api_base", "max_tokens", "extra")}
    model = OpenAI.model_validate(chosen | settings)

    async def ask():
        try:
            return [await answer(seed) for seed in seeds]
        finally:
            await model.close()

    async def answer(seed):
        messages = (Message("system", "You are Scientist1."), Message("user", text))
        request = Request(f"t/topic/0/1/{seed}/utter/", Profile("S"), messages, form, {}, seed)
        sent.append(model.request_fields(request))
        try:
            return await model.complete(request)
        except (Verdict, Fault) as error:
            return error

    return asyncio.run(ask())


@dataclass(frozen=True)
class Filled:
    """A form as it was asked for and filled: names in the schema, and in each whole reply."""

    sent: list[str]
    required: list[str]
    replies: list[list[str]]


@pytest.fixture(scope="module")
def fill(peers):
    """A function that has a form filled by a decoder, with every seed, once."""
    done = {}

    def filled(grammar, form):
        if (grammar, form) not in done:
            sent = []
            results = outcomes(peers, grammar, form, sent=sent)
            schema = sent[0]["response_format"]["json_schema"]["schema"]
            required = schema.get("required", [])
            done[grammar, form] = Filled(
                list(schema["properties"]), required, list(whole(form, results))
            )
        return done[grammar, form]

    return filled


def whole(form, results):
    """The fields of each reply that is whole JSON; at least one must be."""
    some = False
    for one in results:
        if isinstance(one, Exception) or one.cut:
            continue
        try:
            yield written_fields(form, one.text)
            some = True
        except ValueError:
            # LLGuidance lets pass what is no JSON, such as a fraction behind a space.
            continue
    assert some, f"no reply was whole: {results}"


@pytest.mark.parametrize("grammar", GRAMMARS)
@pytest.mark.parametrize("form", reply_forms(), ids=lambda form: form.__name__)
def test_a_form_is_filled_in_the_order_in_which_it_is_declared(fill, form, grammar):
    filled = fill(grammar, form)
    for written in filled.replies:
        assert written == [name for name in declared_fields(form) if name in written]


@pytest.mark.parametrize("grammar", GRAMMARS)
@pytest.mark.parametrize("form", reply_forms(), ids=lambda form: form.__name__)
def test_nothing_that_a_form_asks_for_is_left_out(fill, form, grammar):
    """A field that the schema does not require may be left out, and llama.cpp writes it last."""
    filled = fill(grammar, form)
    assert set(filled.required) == set(filled.sent)
    for written in filled.replies:
        assert set(written) == set(filled.sent)


@pytest.mark.parametrize("form", reply_forms(), ids=lambda form: form.__name__)
def test_a_form_is_filled_in_the_order_of_the_schema_that_was_sent(fill, form):
    filled = fill("llguidance", form)
    for written in filled.replies:
        assert written == [name for name in filled.sent if name in written]


@pytest.mark.parametrize("form", reply_forms(), ids=lambda form: form.__name__)
def test_what_is_not_required_comes_last_in_the_order_of_llama_cpp(fill, form):
    """So a thought before a choice has to be required, or it comes after the choice."""
    filled = fill("gbnf", form)
    later = [name for name in filled.sent if name not in filled.required]
    order = [*(name for name in filled.sent if name in filled.required), *later]
    for written in filled.replies:
        assert set(filled.required) <= set(written)
        assert written == [name for name in order if name in written]


def test_noise_without_end_is_cut_at_the_limit(peers):
    results = outcomes(peers, "llguidance", Summary, max_tokens=20, extra={})
    cut = [one for one in results if not isinstance(one, Exception) and one.cut]
    assert cut
    assert all(one.usage.completion_tokens == 20 for one in cut)
    assert not any(one.usage.estimated for one in cut)


def test_what_the_server_cannot_parse_is_asked_for_again_and_no_outage(peers):
    """Its own parser answers some noise with 500; a run must not take the server for broken."""
    results = outcomes(peers, "gbnf", Summary, range(60), max_tokens=MAX_TOKENS, extra={})
    kinds = Counter(one.kind for one in results if isinstance(one, Fault))
    assert kinds["empty"] > 0, kinds
    assert set(kinds) == {"empty"}


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_a_prompt_that_is_too_long_is_a_verdict(peers, grammar):
    (result,) = outcomes(peers, grammar, Summary, [1], text="long " * 2 * llama_server.CONTEXT)
    assert isinstance(result, Overflow), result


@pytest.mark.parametrize("name", GRAMMARS)
def test_most_replies_are_read_as_they_were_written(played, name):
    reading = played(name).summary["reading"]
    assert 2 * reading["rungs"]["strict"] >= reading["asked"]
