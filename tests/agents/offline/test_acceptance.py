"""Acceptance rules: the default is the rule of before, others decide by what they state."""

import asyncio

import pytest
from pydantic import ValidationError

from tests.agents.offline.offline_examples import person
from virsci_society.agents.errors import ProtocolError
from virsci_society.agents.offline.backend import (
    DEFAULT_ACCEPTANCE,
    Acceptance,
    AlwaysAccept,
    ConstantAcceptance,
    LogisticAcceptance,
    Offline,
    answer_offline,
)
from virsci_society.agents.offline.constants import RULES
from virsci_society.agents.prompts.request import Request
from virsci_society.protocols.forms import Choice


class CloseFriends(Acceptance):
    """Accepts an inviter with enough joint papers, and nobody else."""

    least: int = 2

    def probability(self, invitation):
        return float(invitation.joint_papers >= self.least)


class Broken(Acceptance):
    def probability(self, invitation):
        return float("nan")


def request(seed=1, **slots):
    facts = {"inviter": person(1), "members": (), "load": 0, "ties": 0, "similarity": 0.3}
    return Request("id", person(0), (), Choice, {**facts, **slots}, seed)


def accepted(rule, **slots):
    """Answers to 400 invitations by a rule."""
    return [
        Choice.model_validate_json(answer_offline(request(seed, **slots), rule).text).accepted
        for seed in range(400)
    ]


def test_coefficients_are_the_constants_of_the_table():
    lacking = [
        name for name in LogisticAcceptance.model_fields if not hasattr(RULES, f"invite_{name}")
    ]
    assert not lacking, f"agents/offline/constants.py lacks invite_{lacking[0]}"
    assert DEFAULT_ACCEPTANCE.model_dump() == {
        name: getattr(RULES, f"invite_{name}") for name in LogisticAcceptance.model_fields
    }


def test_the_default_rule_gives_the_reply_that_no_rule_gives_and_is_not_told():
    for seed in range(50):
        question = request(seed, load=seed % 4, ties=seed % 3)
        by_backend = asyncio.run(Offline().complete(question))
        assert by_backend == answer_offline(question)
    assert Offline().model_settings == Offline(acceptance=LogisticAcceptance()).model_settings == ""


def test_another_rule_is_part_of_the_hash_of_every_request():
    tolds = [
        Offline(acceptance=rule).model_settings
        for rule in (AlwaysAccept(), ConstantAcceptance(p=0.1), ConstantAcceptance(p=0.2))
    ]
    assert len({"", *tolds}) == 4


def test_a_constant_looks_at_nothing():
    free, busy = (accepted(ConstantAcceptance(p=0.3), load=load) for load in (0, 9))
    assert free == busy
    assert 0.2 < sum(free) / len(free) < 0.4
    assert not any(accepted(ConstantAcceptance(p=0.0)))


def test_a_rule_of_ones_own_decides_by_what_it_is_told():
    assert all(accepted(CloseFriends(), ties=2))
    assert not any(accepted(CloseFriends(), ties=1))
    assert all(accepted(CloseFriends(least=1), ties=1))


def test_a_rule_that_gives_no_probability_is_named():
    with pytest.raises(ProtocolError, match=r"Broken.probability gave nan, expected 0 to 1"):
        answer_offline(request(), Broken())
    with pytest.raises(ValidationError):
        ConstantAcceptance(p=1.5)
