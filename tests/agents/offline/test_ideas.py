"""Ideas: recombined from references and expertise, rated from measured things."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.agents.offline.offline_examples import (
    an_idea,
    paper,
    papers,
    person,
    rng_of,
    slots_of_idea,
    standing,
)
from virsci_society.agents.offline.backend import answer_by_rule
from virsci_society.agents.offline.constants import RULES
from virsci_society.agents.offline.terms import expertise, paper_terms
from virsci_society.agents.offline.text import count_words, split_sentences, stems
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.slots import Advice, Reference
from virsci_society.protocols.forms import Critique, GuestReply, Topic
from virsci_society.protocols.ideas import CandidateIdea, Idea


def said_by(me, seed=1, **more):
    return answer_by_rule(Idea, slots_of_idea(me, **more), rng_of(seed))


def places(idea):
    """Places, from 1, of the references that an idea uses; the examples have no other keys."""
    return [int(key.removeprefix("P")) for key in idea.uses]


def many(me, n=200, **more):
    return [said_by(me, seed, **more) for seed in range(n)]


def text_of(idea):
    return f"{idea.title}. {idea.idea} {idea.experiment}".lower()


@pytest.mark.parametrize("i", range(4))
def test_an_idea_holds_an_interest_of_its_speaker(i):
    me = person(i)
    for idea in many(me, 30):
        assert any(term.lower() in text_of(idea) for term in expertise(me))


def test_a_new_idea_uses_the_words_of_the_references_it_names():
    for idea in many(person(3), 60):
        assert idea.uses
        used = [papers()[n - 1] for n in places(idea)]
        assert any(term.lower() in text_of(idea) for p in used for term in paper_terms(p))


def test_uses_are_keys_of_listed_references():
    for idea in (*many(person(3), 60), *many(person(3), 60, previous=standing())):
        assert 1 <= len(idea.uses) <= 4
        assert len(set(idea.uses)) == len(idea.uses)
        assert all(1 <= n <= 6 for n in places(idea))
    keyed = tuple(replace(one, key=f"P{n}") for n, one in enumerate(papers(), 40))
    for idea in many(person(3), 60, references=keyed):
        assert set(idea.uses) <= {"P40", "P41", "P42", "P43", "P44", "P45"}


def test_without_references_nothing_is_used():
    for idea in many(person(3), 20, references=()):
        assert idea.uses == ()
        assert idea.idea


def test_the_first_references_are_used_most():
    plain = tuple(
        Reference(f"p{i}", f"Alpha{i} beta{i} gamma{i}", "", 2000, (), 0.8) for i in range(8)
    )
    counts = np.zeros(9)
    for idea in many(person(3), 300, references=plain):
        counts[places(idea)] += 1
    assert counts[1] > counts[4] > counts[8]


def test_a_reference_near_the_speaker_is_used_more():
    plain = tuple(
        Reference(f"p{i}", f"Alpha{i} beta{i} gamma{i}", "", 2000, (), 0.8) for i in range(6)
    )
    near = Reference("near", "Eye tracking and colour perception", "", 2000, (), 0.8)
    shown = (*plain[:5], near)
    mine = sum("P6" in idea.uses for idea in many(person(3), 200, references=shown))
    other = sum("P6" in idea.uses for idea in many(person(5), 200, references=shown))
    assert mine > other + 40


def test_refining_keeps_the_core_and_adds_ones_own():
    before = standing()
    kept = 0
    for idea in many(person(3), 100, previous=before):
        if split_sentences(before.idea.idea)[0] in idea.idea:
            kept += 1
            assert idea.title.startswith("Edge bundling for ray casting with ")
            assert any(term in idea.idea.lower() for term in map(str.lower, expertise(person(3))))
            assert idea.idea != before.idea.idea
    assert 30 < kept < 80


def test_insiders_refine_more_often_than_outsiders_of_the_idea():
    before = standing()
    core = split_sentences(before.idea.idea)[0]
    insider = person(8, "Edge Bundling", "Ray Casting", "GPU")
    inside = sum(core in idea.idea for idea in many(insider, 300, previous=before))
    outside = sum(core in idea.idea for idea in many(person(3), 300, previous=before))
    assert inside > outside + 40


def test_chains_of_refinement_stay_short_and_readable():
    team = [person(i) for i in range(8)]
    previous = None
    for turn in range(56):
        idea = said_by(team[turn % 8], turn, previous=previous)
        assert count_words(idea.title) <= 18
        assert 15 <= count_words(idea.idea) <= 130
        lines = split_sentences(idea.idea)
        assert 2 <= len(lines) <= 4
        assert len(set(lines)) == len(lines)
        for line in (*lines, *split_sentences(idea.experiment), idea.title):
            assert line[0].isupper()
            assert "{" not in line
        previous = CandidateIdea(idea, "Scientist1", papers())


def test_a_strangers_idea_can_be_refined():
    strange = an_idea(idea="word " * 400, title="…", experiment="")
    for seed in range(40):
        idea = said_by(person(1), seed, previous=CandidateIdea(strange))
        assert count_words(idea.idea) < 130
        assert count_words(idea.title) < 20


def test_different_speakers_move_the_idea_to_different_words():
    first = set().union(*(stems(text_of(i)) for i in many(person(0), 30, references=())))
    second = set().union(*(stems(text_of(i)) for i in many(person(4), 30, references=())))
    assert len(first ^ second) > 8


def test_what_a_guest_said_enters_the_idea():
    reply = GuestReply(answer="I would bring coral reefs to bear on it.")
    found = many(person(1), 200, said=(reply,))
    assert sum("coral reefs" in text_of(idea) for idea in found) > 80


def test_advice_and_plain_replies_of_a_guest_weigh_the_same():
    reply = GuestReply(answer="I would bring coral reefs to bear on it.")
    advice = Advice("Scientist9", "Scientist1", "What of reefs?", reply)
    assert many(person(1), 40, said=(advice,)) == many(person(1), 40, said=(reply,))


def test_what_is_switched_on_is_told():
    before = standing()
    for idea in many(person(3), 20, previous=before):
        assert idea.reason
        assert (idea.gist, idea.objection, idea.marks) == ("", "", None)
    for idea in many(person(3), 20, previous=before, extras=("gist", "marks")):
        assert idea.gist in idea.idea
        assert "ray casting" in idea.objection.lower() or "gpu" in idea.objection.lower()
        assert all(1 <= value <= 10 for value in idea.marks.model_dump().values())
    for idea in many(person(3), 20, extras=("marks",)):
        assert (idea.objection, idea.marks) == ("", None)


def test_extras_leave_the_idea_as_it_is():
    """They are drawn without chance, so a switch changes nothing but what it adds."""
    plain = many(person(3), 20, previous=standing())
    told = many(person(3), 20, previous=standing(), extras=("gist", "marks"))
    assert [idea.text for idea in plain] == [idea.text for idea in told]
    assert [idea.uses for idea in plain] == [idea.uses for idea in told]


def test_a_critique_names_the_last_concept_of_the_idea():
    told = answer_by_rule(Critique, {"me": person(1), "idea": standing()}, rng_of(1))
    assert "GPU" in told.soundness
    assert "GPU" in told.objection
    assert "GPU" in told.advice


def test_memory_and_known_scientists_enter_now_and_then():
    found = many(person(1), 300, memory=("About coral reefs.",), knowledge=(person(9, "Kelp"),))
    assert 30 < sum("coral reefs" in text_of(idea) for idea in found) < 130
    assert 20 < sum("kelp" in text_of(idea) for idea in found) < 110


def test_the_topic_shows_in_new_ideas():
    found = many(person(1), 100, topic=Topic(topic="Coral reefs for kelp"))
    assert sum("coral reefs" in text_of(idea) for idea in found) > 80


def test_consulting_happens_at_its_rate():
    asked = [i.ask for i in many(person(1), 600, outsiders=(person(3), person(4)))]
    rate = sum(ask is not None for ask in asked) / 600
    assert rate == pytest.approx(RULES.ask_idea, abs=0.04)


def mean_of(field, **more):
    return np.mean([getattr(idea, field) for idea in many(person(3), 150, **more)])


def test_novelty_rises_and_feasibility_falls_with_distance():
    near, far = papers(6, 0.3), papers(6, 1.2)
    assert mean_of("novelty", references=near) + 2 < mean_of("novelty", references=far)
    assert mean_of("feasibility", references=near) > mean_of("feasibility", references=far) + 1


def test_only_the_nearest_references_count():
    mixed = (*papers(3, 0.3), *(paper(i, 1.9) for i in range(3, 6)))
    assert mean_of("novelty", references=mixed) < mean_of("novelty", references=papers(6, 0.8))


def test_clarity_falls_with_the_number_of_concepts():
    bare = mean_of("clarity", references=())
    assert mean_of("clarity") < bare


def test_without_references_the_ratings_are_neutral_and_noisy():
    found = [idea.novelty for idea in many(person(3), 200, references=())]
    assert np.mean(found) == pytest.approx(RULES.novelty_low + RULES.novelty_span / 2, abs=0.3)
    assert np.std(found) == pytest.approx(RULES.rating_noise, abs=0.1)


@pytest.mark.parametrize("distance", [0.0, 0.5, 5.0, float("nan"), float("inf")])
def test_ratings_stay_on_their_scale(distance):
    for idea in many(person(3), 20, references=papers(4, distance)):
        for value in (idea.clarity, idea.feasibility, idea.novelty):
            assert 1 <= value <= 10
            assert round(value, 1) == value


def test_expertise_far_from_the_references_is_rated_newer():
    shown = tuple(paper(4, 0.8, f"Text mining {i} topic models") for i in range(4))
    at_home = np.mean([i.novelty for i in many(person(4), 200, references=shown)])
    abroad = np.mean([i.novelty for i in many(person(6), 200, references=shown)])
    assert abroad > at_home


def test_a_scientist_without_interests_has_ideas():
    for idea in many(Profile("S"), 20, references=()):
        assert idea.idea
        assert idea.title
