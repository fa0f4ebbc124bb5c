"""Who speaks in a hybrid: a function of seed and call id alone (rule 6)."""

import asyncio
from collections import Counter

import pytest
from pydantic import ValidationError

from virsci_society.agents.backends.hybrid import Hybrid
from virsci_society.agents.backends.openai import OpenAI
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.offline.backend import Offline

MODEL = OpenAI(model="test", api_base="http://127.0.0.1:1/v1", prices={"input": 1, "output": 2})


def hybrid(**settings):
    return Hybrid(live=MODEL, **settings)


def live_teams(backend, leaders=2000):
    teams = [f"Scientist{n}/{k}" for n in range(leaders) for k in (1, 2)]
    return {t for t in teams if backend.backend_for(f"{t}/topic/1/1/0/utter/X") is backend.live}


@pytest.mark.parametrize(
    ("share", "least", "most"), [(0.0, 0, 0), (0.1, 340, 460), (1.0, 4000, 4000)]
)
def test_a_share_of_the_teams_is_drawn_by_their_ids(share, least, most):
    # 4,000 teams at 0.1: 400, standard deviation 19.
    drawn = live_teams(hybrid(live_share=share).of_run(3))
    assert least <= len(drawn) <= most


def test_a_larger_share_keeps_the_teams_of_a_smaller_one():
    assert live_teams(hybrid(live_share=0.1).of_run(3)) < live_teams(
        hybrid(live_share=0.3).of_run(3)
    )


def test_another_seed_draws_other_teams():
    one, other = (live_teams(hybrid(live_share=0.5).of_run(seed)) for seed in (1, 2))
    assert one != other


def test_chosen_scientists_and_stages():
    backend = hybrid(scientists=("Scientist3",), stages=("topic", "ideas"))
    spoken = [
        "Scientist3/1/topic/1/1/0/utter/Scientist9",
        "Scientist3/7/ideas/1/1/0/utter/Scientist9",
        "Scientist3/1/abstract/1/1/0/utter/Scientist9",
        "Scientist9/1/topic/1/1/0/utter/Scientist3",
    ]
    assert [backend.backend_for(call) is backend.live for call in spoken] == [
        True,
        True,
        False,
        False,
    ]
    everywhere = hybrid(stages=("topic",))
    assert everywhere.backend_for("Scientist9/1/topic/1/1/0/utter/S") is everywhere.live
    both = hybrid(scientists=("Scientist3",), live_share=0.0)
    assert live_teams(both, 10) == {"Scientist3/1", "Scientist3/2"}


def test_what_makes_no_sense_is_refused():
    for settings, why in (
        ({}, "say which teams are live"),
        ({"live_share": 1.5}, "less than or equal to 1"),
        ({"live_share": 0.5, "base": MODEL}, "base needs a backend that answers at once"),
        ({"live_share": 0.5, "base": Offline(latency=1.0)}, "base needs a backend"),
    ):
        with pytest.raises(ValidationError, match=why):
            hybrid(**settings)
    with pytest.raises(ValidationError, match="not another hybrid"):
        Hybrid(live=hybrid(live_share=0.5), live_share=0.5)


def test_the_rules_answer_without_a_slot_or_an_attempt(synthetic):
    from dataclasses import replace

    from virsci_society.agents.prompts.request import Request
    from virsci_society.protocols.forms import Remark

    backend = hybrid(live_share=0.0)
    gateway = Gateway(backend, 1)
    who = synthetic.profiles[0]
    request = Request(
        "S/1/topic/1/1/0/utter/S", who, (), Remark, {}, model_settings=backend.model_settings
    )
    replies = [
        asyncio.run(gateway.complete(replace(request, id=f"{request.id}{n}"))) for n in (1, 2)
    ]
    assert Counter(reply.model for reply in replies).keys() == {"offline"}
    assert gateway.journal.totals().attempts == 0
    gateway.journal.flush()
    assert gateway.journal.answered()[0] == 2
