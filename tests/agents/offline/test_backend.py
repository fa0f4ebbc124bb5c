"""Offline: the backend; the same request gives the same bytes, whatever the process."""

from __future__ import annotations

import asyncio
import json
import sys

import pytest

from tests.agents.offline.offline_examples import (
    an_idea,
    papers,
    person,
    rng_of,
    slots_of_idea,
    slots_of_revision,
    slots_of_talk,
    standing,
)
from virsci_society.agents.offline.backend import Offline, answer_by_rule, answer_offline, rule_of
from virsci_society.agents.prompts.request import Message, Request
from virsci_society.agents.replies.form import Form
from virsci_society.agents.replies.parser import read_reply
from virsci_society.protocols.forms import Choice, Draft, GuestReply, Remark, Summary, Topic
from virsci_society.protocols.ideas import Ballot, Idea
from virsci_society.protocols.offline_rules import make_remark
from virsci_society.protocols.virsci.forms import Revision, SelfReview


class Stars(Form):
    stars: int


class Quiet(Form):
    """Answered by a rule of this module."""

    word: str


class Quieter(Quiet):
    """Answered by the rule of its base."""


OFFLINE_RULES = {Quiet: lambda asked: {"word": f"{asked.me.id} {int(asked.rng.integers(1000))}"}}


def asked(form, slots=None, seed=1, **more):
    slots = {k: v for k, v in (slots or {}).items() if k != "me"}
    messages = (Message("system", "You are Scientist0."), Message("user", "x" * 40))
    return Request("id", person(0), messages, form, slots, seed, **more)


def completed(backend, request):
    return asyncio.run(backend.complete(request))


def test_it_answers_inline_without_ever_suspending():
    steps = Offline().complete(asked(Remark, slots_of_talk(person(0), [])))
    with pytest.raises(StopIteration) as stopped:
        steps.send(None)
    assert read_reply(Remark, stopped.value.value.text).form.response


def test_it_says_what_it_is():
    assert Offline().inline
    assert Offline().about == "rule-based scientists, not a language model"
    assert completed(Offline(), asked(Remark, slots_of_talk(person(0), []))).model == "offline"
    assert completed(Offline(), asked(Stars)).unruled


def test_the_one_asked_is_the_one_who_answers():
    slots = {"me": person(5)}
    reply = answer_offline(Request("id", person(0), (), Quiet, slots, 3))
    assert json.loads(reply.text)["word"].startswith("Scientist0 ")
    assert reply.model == "offline"


def test_rules_are_found_in_a_forms_module_beside_it_and_by_its_base():
    assert rule_of(Quiet) is OFFLINE_RULES[Quiet]
    assert rule_of(Quieter) is OFFLINE_RULES[Quiet]
    assert rule_of(Remark) is make_remark
    assert rule_of(Revision)
    assert rule_of(Stars) is None


def test_answers_follow_the_seed_alone():
    slots = slots_of_talk(person(0), [])
    first = answer_offline(asked(Remark, slots, 7))
    assert answer_offline(asked(Remark, slots, 7, attempt=3, due=9.0)) == first
    texts = {answer_offline(asked(Remark, slots, seed)).text for seed in range(40)}
    assert len(texts) > 15


def test_the_delay_is_only_a_delay():
    slow = Offline(latency=0.001)
    assert not slow.inline
    request = asked(Remark, slots_of_talk(person(0), []), 5)
    assert completed(slow, request) == completed(Offline(), request)


def test_replies_can_be_written_as_utf8():
    me = person(0, "lone \ud800 surrogate", "Kelp \udfff")
    reply = answer_offline(Request("id", me, (), Remark, {}, 1))
    assert reply.text.encode("utf-8")
    assert answer_offline(Request("id", me, (), Stars, {"talk": "half \ud800"}, 1)).text.encode(
        "utf-8"
    )


def everything():
    """Replies of many forms to many seeds, as one text."""
    me, others = person(0), [person(i) for i in range(1, 5)]
    said = (
        Remark(response="x", direction="kelp for tides"),
        GuestReply(answer="I would bring coral reefs to bear on it."),
    )
    talk = {"said": said, "outsiders": others, "knowledge": others, "memory": ("About tides.",)}
    draft = answer_by_rule(Draft, {"me": me, "idea": standing()}, rng_of(3))
    near = {"near": papers(3), "guest": said[1]}
    texts = []
    for seed in range(12):
        for form, slots in (
            (Remark, slots_of_talk(me, others, **talk)),
            (GuestReply, {"asker": others[0], "question": "x?", "context": "kelp"}),
            (Summary, {"stage": "topic", "said": said}),
            (Topic, {"said": said, "summaries": ()}),
            (Idea, slots_of_idea(me, previous=standing(), **talk)),
            (Ballot, {"ideas": (standing(0.7), standing(0.8))}),
            (Draft, {"idea": standing(), "knowledge": others, "outsiders": others}),
            (Revision, slots_of_revision(me, draft, **near)),
            (SelfReview, {"draft": draft, "near": papers(3)}),
            (Choice, {"inviter": others[0], "load": 1, "ties": 0, "similarity": 0.3}),
            (Stars, {"idea": an_idea()}),
        ):
            texts.append(answer_offline(asked(form, slots, seed)).text)
    return "\n".join(texts)


def test_the_same_bytes_in_processes_with_different_hash_seeds(offline_nursery):
    assert offline_nursery.call("tests.agents.offline.test_backend:everything") == everything()


def test_rules_take_few_steps():
    """Steps are calls of functions of Python and of C, which no other work on a machine changes."""
    slots = slots_of_talk(person(0), [person(i) for i in range(8)], outsiders=(person(3),))
    requests = [asked(Remark, slots, seed) for seed in range(300)]
    answer_offline(requests[0])
    calls = [0]

    def count(frame, event, arg):
        calls[0] += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        for request in requests:
            answer_offline(request)
    finally:
        sys.setprofile(before)
    assert calls[0] / len(requests) < 5_000
