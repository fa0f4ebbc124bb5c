"""What calls teach: a manner is found again from what was said in it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from virsci_society.agents.backends.model_mimic import Leaning, MimicSettings, ModelMimic
from virsci_society.agents.journal.records import CallOutcome
from virsci_society.agents.offline.backend import Offline, answer_offline
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.request import Message, Request
from virsci_society.protocols.forms import Choice, Remark
from virsci_society.scenarios.planning.model_rates import Calibration, ModelRates

ADA = Profile("Scientist1", ("X",), ("graphs", "proteins"), 4, 9)
BEN = Profile("Scientist2", ("Y",), ("graphs", "maps"), 14, 90)
INVITED = {"inviter": BEN, "members": (BEN,), "load": 0, "ties": 1, "similarity": 0.5}
SPEAKING = {"members": (ADA, BEN), "role": "leader", "summaries": (), "said": (), "start": ""}
MANNER = MimicSettings(
    wordiness=3.0,
    around=0.5,
    leanings={"Choice.accepted": Leaning(kept=0.5, turned=0.2)},
    re_asks=0.1,
    prompt_tokens=0.3,
    overhead=12,
    reply_tokens=0.4,
)


def asked(number: int) -> Request:
    told = (Message("user", "Well? " * (10 + number % 7)),)
    form, slots = (Remark, SPEAKING) if number % 3 else (Choice, INVITED)
    return Request(f"t/{number}", ADA, told, form, slots, seed=number)


def heard(count: int, manner: MimicSettings = MANNER) -> ModelRates:
    """What is learnt from so many calls of a model with a manner."""
    lessons, model = Calibration(), ModelMimic(imitated=Offline(), settings=manner)
    for number in range(count):
        request = asked(number)
        reply = asyncio.run(model.complete(request))
        kept = CallOutcome("answer", reply.text, "m", replace(reply.usage, estimated=False))
        lessons.observe(request, kept, answer_offline(request))
    return lessons.rates("learnt", [1.0, 2.0, 3.0] * count)


def test_a_manner_is_found_again() -> None:
    rates = heard(600)
    kept, turned = rates.yes["Choice.accepted"]
    assert rates.calls == 600
    assert rates.wordiness.all.likely == pytest.approx(3.0, rel=0.02)
    assert rates.around.all.likely == pytest.approx(0.5, rel=0.05)
    assert kept.likely == pytest.approx(0.5, abs=0.12)
    assert turned.likely == pytest.approx(0.2, abs=0.12)
    assert rates.re_asks.likely == pytest.approx(0.1, abs=0.03)
    assert rates.prompt_tokens.likely == pytest.approx(0.3, rel=0.03)
    assert rates.overhead == pytest.approx(12.0, abs=1.5)
    assert rates.reply_tokens.all.likely == pytest.approx(0.4, rel=0.02)
    assert (rates.latency.likely, rates.slowest) == (2.0, 3.0)


def test_the_rates_that_were_learnt_make_the_manner_that_was_heard() -> None:
    manner = heard(600).mimic_settings()
    assert manner.wordiness_of["Remark"] == pytest.approx(3.0, rel=0.02)
    assert manner.leanings["Choice.accepted"].kept == pytest.approx(0.5, abs=0.12)


def test_a_few_calls_leave_more_open_than_many() -> None:
    few, many = heard(20), heard(300)
    for name in ("re_asks", "prompt_tokens"):
        one, other = getattr(few, name), getattr(many, name)
        assert one.high - one.low > other.high - other.low


def test_what_was_not_seen_stays_assumed() -> None:
    rates = Calibration().rates("nothing", [])
    assumed = ModelRates("nothing")
    assert (rates.wordiness.all, rates.around.all) == (assumed.wordiness.all, assumed.around.all)
    assert (rates.latency, rates.prompt_tokens) == (assumed.latency, assumed.prompt_tokens)
    assert (rates.yes, rates.re_asks) == (assumed.yes, assumed.re_asks)


def test_a_verdict_teaches_nothing_of_words() -> None:
    lessons, request = Calibration(), asked(0)
    lessons.observe(request, CallOutcome("filtered", "taken away"), answer_offline(request))
    rates = lessons.rates("one", [])
    assert rates.calls == 1
    assert rates.wordiness.all.seen == 0
