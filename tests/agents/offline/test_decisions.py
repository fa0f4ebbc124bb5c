"""Judgement: rates, monotonicity and words of the decisions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tests.agents.offline.offline_examples import FIELDS, paper, person, rng_of, standing
from virsci_society.agents.offline.backend import answer_by_rule
from virsci_society.agents.offline.constants import RULES
from virsci_society.agents.offline.question_context import Asked
from virsci_society.agents.profile import Profile
from virsci_society.protocols.forms import AnotherTurn, Choice, Draft, Summary, Topic
from virsci_society.protocols.ideas import Ballot
from virsci_society.protocols.offline_rules import acceptance_probability, settledness
from virsci_society.protocols.virsci.forms import Agreement, SelfReview, Stay


def invited(**changes):
    slots = {
        "me": person(0),
        "inviter": person(1, papers=20, citations=400),
        "members": (),
        "load": 0,
        "ties": 0,
        "similarity": 0.6,
    }
    return {**slots, **changes}


def accepted_with(slots):
    return acceptance_probability(Asked(slots, rng_of()))


def rate(rule, slots, n=3000):
    rng = rng_of(7)
    return np.mean([rule(slots, rng) for _ in range(n)])


def test_draws_follow_their_weights_and_ranks_only_break_ties():
    asked = Asked({}, rng_of(3))
    picks = [asked.pick("abc") for _ in range(3000)]
    assert all(900 < picks.count(letter) < 1100 for letter in "abc")
    drawn = [asked.weighted("ab", [3.0, 1.0]) for _ in range(4000)]
    assert 2850 < drawn.count("a") < 3150
    assert asked.weighted("ab", [0.0, 0.0]) in "ab"
    assert asked.weighted("ab", [0.0, 1.0]) == "b"
    assert asked.ranked("abc", [1.0, 3.0, 2.0]) == ["b", "c", "a"]
    assert {asked.ranked("ab", [1.0, 1.0])[0] for _ in range(50)} == {"a", "b"}
    assert (asked.chance(0.0), asked.chance(1.0)) == (False, True)


def test_a_similar_and_free_invitee_accepts_three_times_in_four():
    assert accepted_with(invited()) == pytest.approx(0.75, abs=0.04)
    simulated = rate(lambda s, r: answer_by_rule(Choice, s, r).accepted, invited())
    assert simulated == pytest.approx(accepted_with(invited()), abs=0.03)


def test_acceptance_falls_with_load_by_the_stated_slope():
    rates = [accepted_with(invited(load=load)) for load in range(12)]
    assert all(a > b for a, b in pairwise(rates))
    assert rates[4] < 0.3
    floor = RULES.invite_floor
    odds = [np.log((p - floor) / (1 - p)) for p in rates[:4]]
    assert np.diff(odds) == pytest.approx([-RULES.invite_load] * 3)


@pytest.mark.parametrize(
    ("less", "more"),
    [
        ({"similarity": 0.1}, {"similarity": 0.9}),
        ({"ties": 0}, {"ties": 5}),
        ({"inviter": person(1, papers=1)}, {"inviter": person(1, papers=200)}),
        ({"inviter": person(1, citations=0)}, {"inviter": person(1, citations=9000)}),
    ],
)
def test_acceptance_rises(less, more):
    assert accepted_with(invited(**less)) < accepted_with(invited(**more))


@pytest.mark.parametrize("load", [0, 1, 4])
@pytest.mark.parametrize("inviter", [person(0), person(5), Profile("S9")])
def test_the_reason_fits_the_answer(load, inviter):
    rng = rng_of(5)
    for _ in range(60):
        choice = answer_by_rule(Choice, invited(load=load, inviter=inviter, ties=load), rng)
        assert choice.reasoning[0].isupper()
        assert choice.reasoning.endswith(".")
        if choice.accepted:
            assert "I join" in choice.reasoning
        elif load == 1:
            assert "another team" in choice.reasoning
        elif load > 1:
            assert f"{load} other teams" in choice.reasoning


def test_agreement_rises_with_affinity():
    topic = Topic(topic="Volume rendering for graph drawing")
    near, far = ({"me": me, "topic": topic} for me in (person(0), person(6)))
    agrees = [rate(lambda s, r: answer_by_rule(Agreement, s, r).agree, s) for s in (near, far)]
    assert agrees[0] > 0.85
    assert 0.4 < agrees[1] < 0.6


def test_leaving_rises_with_load_and_distance():
    topic = Topic(topic="Volume rendering for graph drawing")

    def leaves(me, load):
        slots = {"me": me, "topic": topic, "load": load}
        return 1 - rate(lambda s, r: answer_by_rule(Stay, s, r).stay, slots, 5000)

    assert leaves(person(0), 0) < leaves(person(6), 0) < leaves(person(6), 6)


def test_the_farthest_idea_usually_wins():
    ideas = (standing(0.6), standing(0.9), standing(0.7))
    rng = rng_of(2)
    votes = [
        answer_by_rule(Ballot, {"me": person(0), "ideas": ideas}, rng).choice for _ in range(500)
    ]
    assert votes.count(1) > 400
    assert votes.count(2) > votes.count(0)


def turns_held(progress, seed):
    rng = rng_of(seed)
    for turn in range(1, 7):
        slots = {"stage": "x", "turn": turn, "turns_left": 7 - turn, "progress": progress}
        if not answer_by_rule(AnotherTurn, {"me": person(0), **slots}, rng).another:
            return turn
    return 7


def test_adaptive_stages_take_about_three_turns():
    summary = Summary(summary='The team put forward "maps for graphs" and "graphs for text".')
    held = [turns_held((summary,), seed) for seed in range(800)]
    assert 2.3 < np.mean(held) < 3.8
    assert max(held) <= 7
    assert len(set(held)) > 4


def test_a_settled_outcome_ends_the_stage_sooner():
    ballot = {n: Ballot(decision=f"Idea {n}") for n in range(3)}
    agreed, split = (ballot[1],) * 4, (ballot[0], ballot[1], ballot[2])
    assert settledness(agreed) == pytest.approx(1.0)
    assert settledness(split) == pytest.approx(0.0)
    early = np.mean([turns_held(agreed, seed) for seed in range(500)])
    late = np.mean([turns_held(split, seed) for seed in range(500)])
    assert early + 1 < late


def reviewed(draft, *near):
    slots = {"me": person(0), "draft": Draft(title="x", abstract=draft), "near": near}
    return answer_by_rule(SelfReview, slots, rng_of())


WORDS = " ".join(f"{a} {b}" for a, b, *_ in FIELDS) + " shapes of many kinds in motion"


def test_a_copy_scores_a_hundred_and_is_listed():
    review = reviewed(WORDS, paper(0, abstract=WORDS))
    assert review.similarity_scores == {"Written Abstract vs A": 100.0}
    assert review.high_overlap_pairs[0].pair == "Written Abstract vs A"
    assert review.high_overlap_pairs[0].reason.startswith("Both texts speak of ")
