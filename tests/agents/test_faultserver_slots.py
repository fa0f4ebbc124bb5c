"""Slots told to the test server, and heard there: nothing that a rule looks at is lost."""

import json
import math
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pytest

from tests.faultserver import heard as hearing
from tests.faultserver.heard import Unheard, heard
from tests.faultserver.slots import to_wire
from tests.test_determinism import digest, small
from virsci_society.agents.errors import InputError
from virsci_society.agents.offline.backend import Offline, answer_offline
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.request import Message, Request
from virsci_society.agents.prompts.slots import Advice, Reference, TurnPosition, Utterance
from virsci_society.agents.replies.form import Form
from virsci_society.protocols.forms import Question, Remark
from virsci_society.protocols.ideas import Ballot, CandidateIdea, Idea
from virsci_society.protocols.virsci.forms import Revision

ADA = Profile("Scientist1", ("Lab",), ("graphs", "votes"), 3, None, ("Scientist2",))
PAPER = Reference("p1", "On graphs", "", 2001, ("graphs",), 0.25)
IDEA = Idea(idea="Count.", title="Counting", clarity=7, feasibility=6.5, novelty=8, uses=(1, 2))
SAID = Utterance("Scientist2", Remark(response="So."))


class Colour(Enum):
    RED = ("a", 1)


class Place(NamedTuple):
    x: int
    names: tuple[str, ...]


def over_the_wire(**slots):
    """The slots as the server has them."""
    request = Request("t/1", ADA, (), Remark, slots, seed=2**64 - 1, attempt=1)
    return heard(json.loads(json.dumps(to_wire(request), allow_nan=False))).slots


@pytest.fixture
def _this_module_is_known(monkeypatch):
    monkeypatch.setattr(hearing, "PACKAGES", {*hearing.PACKAGES, __name__})
    hearing.class_at.cache_clear()
    yield
    hearing.class_at.cache_clear()


class Relayed(Offline):
    """The offline scientist, told everything through JSON."""

    async def complete(self, request):
        TOLD.append(request.id)
        return answer_offline(heard(json.loads(json.dumps(to_wire(request))), request.messages))


TOLD = []


@pytest.mark.slow
def test_a_society_whose_requests_went_through_json_is_the_same(monkeypatch):
    offline = digest(small(until=100.0))
    assert not TOLD
    monkeypatch.setattr("virsci_society.agents.offline.backend.Offline", Relayed)
    assert digest(small(until=100.0)) == offline
    assert len(TOLD) > 100


def test_all_of_a_request_arrives():
    messages = (Message("user", "Speak."),)
    asked = Request("t/1/re-ask1", ADA, messages, Remark, {"me": ADA}, seed=2**64 - 1, attempt=1)
    got = heard(json.loads(json.dumps(to_wire(asked))), messages)
    assert (got.id, got.who, got.form, got.seed) == (asked.id, ADA, Remark, 2**64 - 1)
    assert (got.attempt, got.messages, got.slots) == (1, messages, {"me": ADA})


@pytest.mark.parametrize(
    "value",
    [
        *("", "é\x00\u2028", 0, -1, 2**70, True, None, 0.1, -0.0, 1e-308, math.inf, -math.inf),
        *((), [], {}, (1, (2, [3, (4,)])), [("a",), ["b"]], ((),), frozenset({"a"})),
        {"a": (1,), "": [2]},
        {1: "a", "b": (2.5,), ("c", 3): None},
        {"~": "list", "": "not a tag"},
        *(ADA, PAPER, (ADA, ADA), {"by": PAPER}),
        *(IDEA, Question(scientist="S", question="?"), CandidateIdea(IDEA, "S", (PAPER,), ("p",))),
        *(SAID, (SAID,), Advice("S2", "S1", "Why?", IDEA), TurnPosition("topic", 1, 2, 1, 3)),
        Remark(response="So.", ask=Question(scientist="S", question="?")),
        Revision(title="T", abstract="A", scores={"Novelty": 7.5}),
        Ballot.fallback({}),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_value_arrives_as_it_was(value):
    got = over_the_wire(value=value)["value"]
    assert got == value
    assert type(got) is type(value)
    assert repr(got) == repr(value)


def test_what_is_not_a_number_arrives():
    assert math.isnan(over_the_wire(value=math.nan)["value"])


@pytest.mark.parametrize(
    ("value", "got"),
    [
        (np.float32(0.5), 0.5),
        (np.float64(0.1), 0.1),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (MappingProxyType({"a": 1}), {"a": 1}),
        ({"a", "b"}, frozenset("ab")),
    ],
)
def test_a_relative_arrives_as_the_plain_kind(value, got):
    assert over_the_wire(value=value)["value"] == got


@pytest.mark.usefixtures("_this_module_is_known")
@pytest.mark.parametrize("value", [Colour.RED, Place(1, ("a",)), (Place(2, ()), Colour.RED)])
def test_enums_and_named_tuples_arrive(value):
    got = over_the_wire(value=value)["value"]
    assert got == value
    assert repr(got) == repr(value)


def test_what_cannot_be_told_is_named():
    with pytest.raises(InputError, match=r"t/1: the slot 'key' holds a builtins:bytes"):
        over_the_wire(plain=1, key=b"x")
    with pytest.raises(InputError, match=r"builtins:object"):
        over_the_wire(deep={"a": [({"b": object()},)]})


@pytest.mark.parametrize(
    "path",
    [
        "os:system",
        "subprocess:Popen",
        "builtins:eval",
        "tests.faultserver.slots:to_wire",
        "tests.faultserver.slots:json.decoder.JSONDecoder",
        "agents.nowhere:Thing",
        "virsci_society.agents.profile:Nobody",
        "virsci_society.agents.errors:SocietyError",
        "",
        ":",
        "virsci_society.agents.profile",
        3,
        None,
    ],
)
@pytest.mark.parametrize("place", ["form", "slot"])
def test_only_our_own_forms_and_dataclasses_are_made(path, place):
    told = to_wire(Request("t/1", ADA, (), Remark, {"value": ADA}))
    if place == "form":
        told["form"] = path
    else:
        told["slots"]["value"] = {"~": path if path is not None else 0, "code": "x"}
    with pytest.raises(Unheard):
        heard(told)


def test_a_form_of_a_function_is_refused_with_its_name():
    class Local(Form):
        words: str

    with pytest.raises(Unheard, match="Local"):
        heard(to_wire(Request("t/1", ADA, (), Local)))


@pytest.mark.parametrize(
    "data", [None, [], "x", {}, {"form": "virsci_society.protocols.forms:Remark"}]
)
def test_what_is_no_request_is_not_understood(data):
    with pytest.raises(Unheard):
        heard(data)


def test_deep_slots_are_not_understood_rather_than_fatal():
    told = to_wire(Request("t/1", ADA, (), Remark))
    deep: list = []
    for _ in range(5000):
        deep = [deep]
    told["slots"]["value"] = deep
    with pytest.raises(Unheard):
        heard(told)
