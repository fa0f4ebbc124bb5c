"""Texts of rule-based scientists: readable, bounded, and made of what their authors know.

The wording itself is held by ``tests/protocols/systems/test_golden.py``.
"""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

from tests.agents.offline.offline_examples import (
    any_text,
    paper,
    papers,
    person,
    rng_of,
    slots_of_idea,
    slots_of_revision,
    slots_of_talk,
    standing,
    team_of,
)
from virsci_society.agents.offline.abstracts import CRITERIA
from virsci_society.agents.offline.backend import answer_by_rule
from virsci_society.agents.offline.text import (
    MARKS,
    PARTS,
    count_words,
    expertise,
    frame_mark,
    noun_phrases,
    split_sentences,
    split_terms,
    utterance_terms,
)
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.slots import Reference
from virsci_society.protocols.forms import Draft, GuestReply, Remark
from virsci_society.protocols.ideas import CandidateIdea, Idea
from virsci_society.protocols.virsci.forms import Revision


def drafted(me=None, seed=1, idea=None, **more):
    slots = {"me": me or person(1), "idea": idea or standing(), "knowledge": (), "outsiders": ()}
    return answer_by_rule(Draft, {**slots, **more}, rng_of(seed))


def revised(me, draft, seed=1, **more):
    return answer_by_rule(Revision, slots_of_revision(me, draft, **more), rng_of(seed))


def idea_of(me, seed=1, **more):
    return answer_by_rule(Idea, slots_of_idea(me, **more), rng_of(seed))


def remark_of(me, seed=1, team=None, **more):
    return answer_by_rule(Remark, slots_of_talk(me, team or [me], **more), rng_of(seed))


def chain(team, length, seed=0):
    draft = drafted(team[0], seed)
    yield draft
    for turn in range(length):
        draft = revised(team[(turn + 1) % len(team)], draft, 1000 * seed + turn)
        yield draft


def assert_readable(abstract):
    assert 200 < count_words(abstract) < 400
    lines = split_sentences(abstract)
    assert len(set(lines)) == len(lines)
    for line in lines:
        assert line[0].isupper() or not line[0].isalpha()
        assert line.endswith((".", "!", "?"))
        assert not re.search(r"[{}]|\s\s|\s[.,]|,,|\.\.", line), line
        assert not re.search(r"\b(\w+) \1\b", line.lower()), line
    assert not re.search(r"\ba [aeio]\w+|\ban [bcdfgjkpqtvwz]\w+", abstract)


@pytest.mark.parametrize("seed", range(12))
def test_a_draft_is_readable_and_has_five_parts_in_order(seed):
    draft = drafted(person(seed), seed)
    assert_readable(draft.abstract)
    parts = [MARKS[frame_mark(line)] for line in split_sentences(draft.abstract)]
    assert parts == sorted(parts, key=PARTS.index)
    assert set(parts) == set(PARTS)


@given(any_text, any_text)
def test_any_idea_can_be_drafted(title, idea):
    words = standing(title=title or "x", idea=idea or "x")
    draft = drafted(Profile("S"), idea=CandidateIdea(words.idea))
    assert 200 < count_words(draft.abstract) < 400


@pytest.mark.parametrize("seed", range(3))
def test_revisions_stay_readable_change_something_and_keep_the_idea(seed):
    core = split_sentences(standing().idea.idea)[0]
    drafts = list(chain(team_of(8), 56, seed))
    for draft in drafts:
        assert_readable(draft.abstract)
        assert 3 <= count_words(draft.title) <= 18
        assert core in draft.abstract
    for before, after in pairwise(drafts):
        old, new = set(split_sentences(before.abstract)), set(split_sentences(after.abstract))
        assert new - old
        assert len(old & new) >= len(old) // 2


@pytest.mark.parametrize("seed", range(12))
def test_a_reviser_brings_in_an_interest_of_its_own_and_what_a_guest_said(seed):
    guest = GuestReply(answer="I would bring coral reefs to bear on it.")
    after = revised(person(6), drafted(person(1), seed), seed, guest=guest)
    assert any(term in after.abstract.casefold() for term in expertise(person(6)))
    assert "coral reefs" in after.abstract
    assert tuple(after.scores) == CRITERIA
    assert all(1 <= score <= 10 for score in after.scores.values())


@pytest.mark.parametrize(
    "abstract", ["Too short.", "word " * 900, "One sentence here. " * 200, "…", "日本語。", "\0"]
)
def test_any_abstract_comes_into_bounds(abstract):
    after = revised(person(2), Draft(title="…", abstract=abstract))
    assert 200 < count_words(after.abstract) < 400
    assert after.title


@pytest.mark.parametrize("seed", range(30))
def test_an_idea_holds_an_interest_of_its_speaker_and_uses_listed_papers(seed):
    me = person(seed % 4)
    idea = idea_of(me, seed)
    text = f"{idea.title}. {idea.idea} {idea.experiment}".lower()
    assert any(term.lower() in text for term in expertise(me))
    assert set(idea.uses) <= {f"P{place}" for place in range(1, len(papers()) + 1)}
    assert 1 <= idea.novelty <= 10
    assert not idea_of(me, seed, references=()).uses


def test_ideas_near_the_past_are_rated_less_novel():
    def rated(distance):
        shown = tuple(paper(i, distance) for i in range(6))
        return np.mean([idea_of(person(1), s, references=shown).novelty for s in range(60)])

    assert rated(0.2) < rated(0.9) < rated(1.4)


def test_remarks_read_as_sentences_and_take_up_what_was_said():
    said: tuple = ()
    taken = 0
    for seed in range(60):
        remark = remark_of(person(seed % 4), seed, team=team_of(4), said=said)
        earlier = {term.lower() for one in said for term in split_terms(one.direction)}
        taken += any(term.lower() in earlier for term in split_terms(remark.direction))
        said = (*said[-5:], remark)
        lines = split_sentences(remark.response)
        assert 2 <= len(lines) <= 4
        for line in lines:
            assert line[0].isupper()
            assert line.endswith((".", "?"))
            assert "{" not in line
    assert taken > 30


@given(any_text)
def test_no_term_is_empty(text):
    for terms in (noun_phrases(text), split_terms(text), utterance_terms(text)):
        assert all(terms)
    assert drafted(idea=CandidateIdea(standing().idea, references=(bare(text),))).abstract


def bare(text):
    return Reference("p0", text or "x", text, 2001, (), 0.5)
