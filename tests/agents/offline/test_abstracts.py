"""Abstracts: long enough, bounded, readable, and really changed by every reviser."""

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
    slots_of_revision,
    standing,
    team_of,
)
from virsci_society.agents.offline.abstracts import CRITERIA, FURTHER, AbstractText
from virsci_society.agents.offline.backend import answer_by_rule
from virsci_society.agents.offline.constants import RULES
from virsci_society.agents.offline.grammar import MARKS, PARTS, frame_mark
from virsci_society.agents.offline.terms import expertise, sentence_terms, split_terms
from virsci_society.agents.offline.text import count_words, split_sentences, stems
from virsci_society.agents.profile import Profile
from virsci_society.protocols.forms import Draft, GuestReply
from virsci_society.protocols.ideas import CandidateIdea
from virsci_society.protocols.virsci.forms import Revision, SelfReview
from virsci_society.protocols.virsci.offline_rules import text_overlap


def drafted(me=None, seed=1, idea=None, **more):
    slots = {"me": me or person(1), "idea": idea or standing(), "knowledge": (), "outsiders": ()}
    return answer_by_rule(Draft, {**slots, **more}, rng_of(seed))


def revised(me, draft, seed=1, **more):
    return answer_by_rule(Revision, slots_of_revision(me, draft, **more), rng_of(seed))


def chain(team, length, seed=0, draft=None):
    draft = draft or drafted(team[0], seed)
    yield draft
    for k in range(length):
        draft = revised(team[(k + 1) % len(team)], draft, 1000 * seed + k)
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


@pytest.mark.parametrize("seed", range(25))
def test_a_draft_is_long_enough_and_has_five_parts_in_order(seed):
    draft = drafted(person(seed), seed)
    assert_readable(draft.abstract)
    parts = [MARKS[frame_mark(line)] for line in split_sentences(draft.abstract)]
    assert parts == sorted(parts, key=PARTS.index)
    assert set(parts) == set(PARTS)


def test_a_draft_carries_the_idea():
    draft = drafted()
    assert split_sentences(standing().idea.idea)[0] in draft.abstract
    assert draft.title == standing().idea.title


def test_a_draft_uses_references_and_the_leaders_interests():
    draft = drafted(person(3), idea=standing())
    assert any(term in draft.abstract for term in expertise(person(3)))
    text = draft.abstract.lower()
    assert "uncertainty visualization" in text or "volume rendering" in text


def test_leaders_write_different_drafts():
    # Few words differ: a draft brings in an interest of its leader and one term of a reference.
    for seed in (0, 1, 2, 4, 5, 7):
        drafts = {i: drafted(person(i), seed).abstract for i in (3, 4)}
        assert len(stems(drafts[3]) ^ stems(drafts[4])) > 2
        for one, other in ((3, 4), (4, 3)):
            assert any(term in drafts[one] for term in expertise(person(one)))
            assert not any(term in drafts[other] for term in expertise(person(one)))


@pytest.mark.parametrize("seed", range(12))
def test_a_draft_brings_in_two_terms_beyond_its_idea_at_most(seed):
    idea = standing()
    draft = drafted(person(3 + seed % 5), seed, knowledge=(person(seed % 8),))
    given = {*split_terms(idea.idea.title), *sentence_terms(split_sentences(idea.idea.idea))}
    named = sentence_terms(split_sentences(draft.abstract))
    known = {term.casefold() for term in given}
    assert 1 <= len({term for term in named if term.casefold() not in known}) <= FURTHER


@pytest.mark.parametrize("seed", range(12))
def test_a_revision_brings_in_two_terms_beyond_the_draft_at_most(seed):
    before = drafted(person(1), seed)
    guest = GuestReply(answer="I would bring coral reefs to bear on kelp, because it is near.")
    known = (person(seed % 8),)
    after = revised(person(3), before, seed, guest=guest, knowledge=known)
    given = sentence_terms([before.title, *split_sentences(before.abstract)])
    named = sentence_terms(split_sentences(after.abstract))
    assert len(set(named) - set(given)) <= FURTHER


@given(any_text, any_text)
def test_any_idea_can_be_drafted(title, idea):
    words = standing(title=title or "x", idea=idea or "x")
    draft = drafted(Profile("S"), idea=CandidateIdea(words.idea))
    assert 200 < count_words(draft.abstract) < 400


@pytest.mark.parametrize("seed", range(6))
def test_fifty_six_revisions_stay_long_bounded_and_readable(seed):
    team = team_of(8)
    lengths = []
    for draft in chain(team, 56, seed):
        assert_readable(draft.abstract)
        assert 3 <= count_words(draft.title) <= 18
        lengths.append(count_words(draft.abstract))
    assert np.mean(lengths[-20:]) < 345


def test_every_revision_changes_the_text_but_not_all_of_it():
    drafts = list(chain(team_of(4), 28))
    for before, after in pairwise(drafts):
        old, new = set(split_sentences(before.abstract)), set(split_sentences(after.abstract))
        assert new - old
        assert len(old & new) >= len(old) // 2


def test_a_reviser_brings_in_a_term_of_its_own():
    for seed in range(40):
        before = drafted(person(1), seed)
        me = person(6)
        after = revised(me, before, seed)
        mine = [term for term in expertise(me) if term in after.abstract.casefold()]
        assert mine
        assert any(term in after.modifications.lower() for term in mine)


def test_the_sentence_that_carries_the_idea_stays():
    core = split_sentences(standing().idea.idea)[0]
    assert all(core in draft.abstract for draft in chain(team_of(8), 56))


def test_scores_are_on_scale_and_complete():
    for seed in range(20):
        scores = revised(person(2), drafted(), seed).scores
        assert tuple(scores) == CRITERIA
        assert all(1 <= value <= 10 for value in scores.values())


def test_what_is_near_is_scored_higher():
    draft = drafted(person(1))

    def mean(me):
        found = [revised(me, draft, seed).scores["Overall Score"] for seed in range(60)]
        return np.mean(found)

    assert mean(person(8, "Edge Bundling", "Ray Casting")) > mean(person(9, "Kelp", "Tides"))


def test_a_guests_answer_is_taken_up():
    reply = GuestReply(answer="I would bring coral reefs to bear on it.")
    for guest in (reply, (reply,)):
        for seed in range(25):
            after = revised(person(2), drafted(), seed, guest=guest)
            assert "coral reefs" in after.abstract
            assert "guest" in after.modifications


def test_silent_guests_change_nothing():
    plain = revised(person(2), drafted())
    assert revised(person(2), drafted(), guest=GuestReply(answer="")) == plain
    assert revised(person(2), drafted(), guest=()) == plain


def test_a_review_round_moves_away_from_the_near_abstract():
    moved = []
    for seed in range(30):
        draft = drafted(person(1), seed)
        near = (paper(1, 0.1, draft.title, draft.abstract),)
        review = SelfReview(similarity_scores={"Written Abstract vs A": 95.0})
        plain = revised(person(5), draft, seed)
        careful = revised(person(5), draft, seed, review=review, near=near)
        assert "near abstracts" in careful.modifications
        moved.append(
            text_overlap(plain.abstract, draft.abstract)
            - text_overlap(careful.abstract, draft.abstract)
        )
    assert np.mean(moved) > 1


def test_the_nearest_sentences_go_first():
    draft = drafted(person(1))
    copied = split_sentences(draft.abstract)[4]
    near = (paper(1, 0.1, "Other", copied),)
    gone = sum(copied not in revised(person(5), draft, s, near=near).abstract for s in range(30))
    assert gone > 24


def test_titles_change_seldom_and_keep_their_head():
    draft = drafted()
    titles = [revised(person(5), draft, seed).title for seed in range(400)]
    changed = [title for title in titles if title != draft.title]
    assert 0.08 < len(changed) / 400 < 0.22
    assert all(title.startswith("Edge bundling for ray casting with ") for title in changed)


@pytest.mark.parametrize(
    "abstract",
    [
        "Too short.",
        "no full stop and no capital",
        "word " * 900,
        "One sentence here. " * 200,
        "…",
        "日本語の要旨。",
        "A. B. C.",
        "\u202e\x00",
    ],
)
def test_strangers_abstracts_come_into_bounds(abstract):
    after = revised(person(2), Draft(title="…", abstract=abstract))
    assert 200 < count_words(after.abstract) < 400
    assert after.title


def test_a_part_unknown_counts_with_the_one_before_it():
    text = AbstractText(
        ["This study asks how it goes.", "Nobody knows this one.", "First, we collect x."]
    )
    assert text.parts == ["objective", "objective", "methods"]
    text.add("objective", "New.")
    assert text.lines[2] == "New."
    text.add("introduction", "Start.")
    assert text.lines[0] == "Start."


def test_asking_in_the_abstract_stage():
    draft = drafted()
    slots = slots_of_revision(person(2), draft, outsiders=(person(3),))
    asked = (
        sum(answer_by_rule(Revision, slots, rng_of(seed)).ask is not None for seed in range(400))
        / 400
    )
    assert asked == pytest.approx(RULES.ask_abstract, abs=0.05)


def test_more_diverse_teams_write_with_more_words():
    """The mechanism that the composition rules stand for: what members know enters the text."""

    def words(team):
        found = [list(chain(team, 12, seed))[-1].abstract for seed in range(8)]
        return np.mean([len(stems(text)) for text in found])

    alike = [person(i, "Volume Rendering", "Ray Casting") for i in range(4)]
    assert words(team_of(4)) > words(alike) + 5


def test_references_without_anything_are_enough():
    bare = tuple(paper(i, title="x", abstract=" ") for i in range(3))
    assert drafted(idea=CandidateIdea(standing().idea, references=bare)).abstract
    assert papers(0) == ()
