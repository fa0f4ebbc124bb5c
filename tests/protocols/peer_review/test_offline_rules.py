"""The rules by which offline scientists review, against what docs/offline.md states."""

from types import SimpleNamespace

import numpy as np
import pytest

from virsci_society.agents.offline.backend import answer_by_rule
from virsci_society.agents.offline.constants import RULES
from virsci_society.agents.offline.question_context import Asked
from virsci_society.agents.profile import Profile
from virsci_society.protocols.peer_review.forms import Report, Review, Rewrite, Willingness
from virsci_society.protocols.peer_review.offline_rules import (
    agreement_probability,
    recommend,
    review_manuscript,
    revise_manuscript,
)

ME = Profile("Scientist1", interests=("graph theory", "speech recognition"))
FAR = Profile("Scientist2", interests=("silicon anodes",))
SENTENCE = "We study graph theory for speech recognition and test it on many graphs."


def slots(**changes):
    manuscript = Rewrite(title="Graph theory", abstract=SENTENCE)
    asked = {"me": ME, "manuscript": manuscript, "load": 0, "open": 0, "round": 1, "final": False}
    return {**asked, **changes}


def agrees_with(slots):
    return agreement_probability(Asked(slots, None))


def logistic(odds):
    return 1 / (1 + np.exp(-odds))


def test_agreeing_by_hand():
    # Both interests stand in the text, so that the affinity is 1; for the other one it is 0.
    near = RULES.referee_base + RULES.referee_affinity
    assert agrees_with(slots()) == pytest.approx(logistic(near))
    busy = near - 2 * RULES.referee_load - RULES.referee_open
    assert agrees_with(slots(load=2, open=1)) == pytest.approx(logistic(busy))
    assert agrees_with(slots(me=FAR)) == pytest.approx(logistic(RULES.referee_base))


def test_people_agree_as_often_as_the_rule_says():
    rng = np.random.default_rng(3)
    answers = [answer_by_rule(Willingness, slots(load=3), rng).accepted for _ in range(3000)]
    assert np.mean(answers) == pytest.approx(agrees_with(slots(load=3)), abs=0.04)


@pytest.mark.parametrize(
    ("me", "round_", "mean"),
    [
        (FAR, 1, RULES.mark_base),
        (ME, 1, RULES.mark_base + RULES.mark_affinity),
        (ME, 2, RULES.mark_base + RULES.mark_affinity + RULES.mark_round),
    ],
)
def test_scores_have_their_means_and_bounds(me, round_, mean):
    rng = np.random.default_rng(4)
    said = [answer_by_rule(Review, slots(me=me, round=round_), rng) for _ in range(3000)]
    marks = np.array([[one.originality, one.soundness, one.clarity, one.overall] for one in said])
    assert marks.min() >= 1
    assert marks.max() <= 10
    assert marks.mean(axis=0) == pytest.approx([mean] * 4, abs=0.12)
    assert np.corrcoef(marks.T)[0, 3] == pytest.approx(0, abs=0.07)


def test_reviewers_agree_as_far_as_all_see_the_same_in_a_manuscript():
    # The spread of scores stays; two reviewers correlate by the share that all of them see.
    rng, looks = np.random.default_rng(4), np.random.default_rng(5).standard_normal(4000)
    said = np.array(
        [
            [answer_by_rule(Review, slots(me=FAR, looks=one), rng).overall for _ in range(2)]
            for one in looks.tolist()
        ]
    )
    assert said.mean() == pytest.approx(RULES.mark_base, abs=0.06)
    assert said.std() == pytest.approx(RULES.mark_noise, abs=0.06)
    assert np.corrcoef(said.T)[0, 1] == pytest.approx(RULES.mark_agreement, abs=0.03)
    known = np.corrcoef(said[:, 0], looks)[0, 1]
    assert known == pytest.approx(np.sqrt(RULES.mark_agreement), abs=0.03)


@pytest.mark.parametrize(
    ("overall", "final", "said"),
    [
        (6.5, False, "accept"),
        (6.4, False, "revise"),
        (5.0, False, "revise"),
        (4.9, False, "reject"),
        (5.8, True, "accept"),
        (5.7, True, "reject"),
    ],
)
def test_the_score_recommends(overall, final, said):
    assert recommend(overall, final) == said


def test_comments_name_what_is_missed_and_the_revision_brings_it_in():
    said = Review.model_validate(review_manuscript(Asked(slots(me=FAR), np.random.default_rng(1))))
    assert '"silicon anodes"' in said.comments
    told = slots(reports=(Report("", said),))
    revised = [revise_manuscript(Asked(told, np.random.default_rng(seed))) for seed in range(5)]
    for one in revised:
        assert "silicon anodes" in one["Abstract"]
        assert one["Abstract"] != SENTENCE
        assert one["Response"]


def test_a_manuscript_without_words_is_reviewed_all_the_same():
    page = SimpleNamespace(title="", abstract="", words=lambda: "")
    said = review_manuscript(
        Asked(slots(manuscript=page, me=Profile("Scientist3")), np.random.default_rng(1))
    )
    assert said["Recommendation"] in ("accept", "revise", "reject")
