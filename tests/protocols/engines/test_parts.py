"""Searches merged, duplicates by cosine, references checked, classes of seniority."""

import numpy as np
import pytest

from tests.protocols.systems.conftest import live, make
from virsci_society.agents.offline.question_context import Asked
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.slots import Reference
from virsci_society.protocols.engines.forms import (
    NoveltyVerdict,
    PairChoice,
    PaperReview,
    PlanStep,
    Proposal,
    SearchQueries,
    StepReview,
)
from virsci_society.protocols.engines.offline_rules import TITLE_WORDS, write_step
from virsci_society.protocols.engines.research_system import proposal_as_idea
from virsci_society.protocols.engines.rounds import mean_of_reviews, merge_searches, most_frequent
from virsci_society.protocols.engines.search import distinct_places
from virsci_society.protocols.forms import Topic
from virsci_society.protocols.systems.idea2proposal import seniority_codes
from virsci_society.society.careers import career_ages
from virsci_society.society.formation.founding import Once
from virsci_society.society.formation.leaders import Selected

__all__ = ["live"]


def paper(number, distance=0.5):
    return Reference(f"p{number}", f"On {number}", "Text.", 2001, (), distance, key=f"P{number}")


def test_searches_are_merged_in_turn_each_paper_once():
    first, second = (paper(1), paper(2), paper(3)), (paper(2), paper(4))
    assert [one.id for one in merge_searches(10, first, second)] == ["p1", "p2", "p4", "p3"]
    assert [one.id for one in merge_searches(2, first, second)] == ["p1", "p2"]
    assert merge_searches(5) == ()


def test_duplicates_are_found_by_cosine():
    vectors = [np.array(v, np.float32) for v in ([1, 0], [2, 0.1], [0, 1], [1, 1], [0, 0])]
    assert distinct_places(vectors, 0.8) == [0, 2, 3, 4]
    assert distinct_places(vectors, 0.7) == [0, 2, 4]
    assert distinct_places([vectors[0].reshape(1, 2)] * 3, 1.0) == [0]


def a_proposal(**changes):
    fields = {"title": "T", "problem": "Gap [P1].", "method": "M [P7][P2].", "plan": "P."}
    return Proposal(**fields | {"cited": ("P2", "P5")} | changes)


def test_a_proposal_becomes_an_idea_that_cites_what_was_retrieved():
    idea = proposal_as_idea("Scientist1", a_proposal(), (paper(1), paper(2)))
    assert idea.used == ("p2", "p1")
    assert idea.retrieved == ("p1", "p2")
    assert idea.idea.experiment == "P."


def test_the_answer_of_most_is_taken_and_else_the_one_in_the_middle():
    a, b, near_b, between = (np.array(v, np.float32) for v in ([1, 0], [0, 1], [0.1, 1], [1, 1]))
    assert most_frequent(0.9, (a, b, near_b, between), ("a", "b", "c", "d")) == "c"
    assert most_frequent(1.0, (a, b), ("a", "b")) == "a"
    assert most_frequent(0.9, (a, b, between), ("a", "b", "d")) == "d"


def test_forms_read_what_models_write():
    assert PairChoice.model_validate({"Better": "Idea b."}).better == "B"
    verdict = NoveltyVerdict.model_validate({"Decision": "Not_Novel."})
    assert verdict.decision == "not novel"
    assert Proposal.model_validate(
        {"Title": "t", "Problem Statement": "p", "Proposed Method": "m", "References": "[P3], 4"}
    ).cited == ("P3", "P4")
    assert SearchQueries.model_validate({"Queries": "one"}).queries == ("one",)
    schema = StepReview.schema_for({"criteria": ("Clarity", "Validity")})
    assert schema["properties"]["Scores"]["required"] == ["Clarity", "Validity"]
    assert NoveltyVerdict.schema_for({"final": True})["properties"]["Decision"]["enum"] == [
        "novel",
        "not novel",
    ]


def test_careers_are_classed_by_thirds(live):
    world = live(make("debate"), until=1.0).society.world
    ages = career_ages(world, range(len(world.population)))
    low, high = np.quantile(ages, [1 / 3, 2 / 3])
    assert low < high
    expected = [0 if age <= low else 2 if age >= high else 1 for age in ages]
    assert seniority_codes(world).tolist() == expected


def classes_of(lived):
    world = lived.society.world
    codes = seniority_codes(world)
    members = lived.rows("members")
    return [int(codes[world.population.rows[row["scientist"]]]) for row in members]


@pytest.mark.parametrize(
    ("arrangement", "expected"), [("vertical", [0, 1, 2]), ("horizontal", [0, 0, 0])]
)
def test_members_are_of_the_classes_that_the_arrangement_asks_for(live, arrangement, expected):
    for seed in range(1, 4):
        protocol = make("idea2proposal", arrangement=arrangement)
        lived = live(protocol, founding=Once(leaders=Selected()), seed=seed, until=60.0)
        joined = classes_of(lived)
        assert len(joined) == 3
        assert sorted(joined) == expected


def test_an_interdisciplinary_team_has_no_topic_twice(live):
    lived = live(make("idea2proposal", arrangement="interdisciplinary"), until=60.0)
    topics = [
        lived.society.world.topic(lived.society.world.population.rows[row["scientist"]])
        for row in lived.rows("members")
    ]
    assert len(set(topics)) == len(topics) == 3


def test_a_leader_who_does_not_fit_ends_the_team(live):
    reasons = set()
    for seed in range(1, 5):
        lived = live(make("idea2proposal", arrangement="horizontal"), seed=seed, until=60.0)
        reasons |= {team["reason"] for team in lived.rows("teams")}
    assert "leader does not fit the arrangement" in reasons


def test_reviews_without_scores_do_not_count():
    reviews = [PaperReview(strengths="s", weaknesses="w", score=score) for score in (5, 8)]
    unreadable = PaperReview.fallback({})
    assert unreadable.words() == ""
    assert mean_of_reviews(*reviews, unreadable) == 6.5
    assert mean_of_reviews(unreadable) is None


def test_a_long_title_of_a_step_does_not_grow_from_version_to_version():
    """A rehearsal lengthens the texts of rules; a plan of many rounds would outgrow every reply."""
    me = Profile("S1", interests=("graph layout", "trees"))
    slots = {"me": me, "topic": Topic(topic="layout"), "step": "method"}
    long = PlanStep(title=" ".join(["layout of trees"] * 40), text="t")
    asked = Asked({**slots, "previous": long}, np.random.default_rng(1))
    assert len(write_step(asked)["Title"].split()) <= TITLE_WORDS
    short = PlanStep(title="Layout of trees", text="t")
    asked = Asked({**slots, "previous": short}, np.random.default_rng(1))
    assert write_step(asked)["Title"] == "Layout of trees"
