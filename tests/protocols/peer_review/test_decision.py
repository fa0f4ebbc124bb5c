"""Decisions by stated rules, worked out by hand; and the share of acceptances that they give."""

import pytest

from tests.protocols.scripted_backend import play
from virsci_society.protocols.peer_review.forms import Review
from virsci_society.protocols.peer_review.protocol import PeerReview, decide
from virsci_society.protocols.wordless import Wordless
from virsci_society.society.formation.founding import Once
from virsci_society.society.kernel.durations import FixedDuration, Times
from virsci_society.society.teams.publication import ByChance

SAID = {"a": "accept", "v": "revise", "r": "reject"}


@pytest.mark.parametrize(
    ("rule", "letters", "decision"),
    [
        ("majority", "aar", "accept"),
        ("majority", "arr", "reject"),
        ("majority", "avr", "revise"),
        ("majority", "vva", "revise"),
        ("majority", "ar", "revise"),  # one of two is not more than half
        ("majority", "a", "accept"),
        ("all", "aaa", "accept"),
        ("all", "aav", "revise"),
        ("all", "aar", "reject"),
        ("all", "vvv", "revise"),
        ("all", "r", "reject"),
    ],
)
def test_recommendations_become_a_decision(rule, letters, decision):
    said = [SAID[letter] for letter in letters]
    assert decide(rule, said, final=False) == decision
    assert decide(rule, said, final=True) == decision.replace("revise", "reject")


@pytest.mark.parametrize(
    ("said", "meant"), [("Accept.", "accept"), ("major revision", "revise"), ("REJECTED", "reject")]
)
def test_usual_words_for_a_recommendation_are_read(said, meant):
    marks = dict.fromkeys(("Originality", "Soundness", "Clarity", "Overall"), 5)
    told = {"Recommendation": said, "Comments": "", **marks}
    assert Review.model_validate(told).recommendation == meant


MANY = 200
QUICK = Times(homework=None, publication_delay=1.0)


def accepted(synthetic, publication, script=None):
    """The share of many manuscripts that appears, each judged alone."""
    how = {"founding": Once(count=MANY, every=100.0), "until": MANY * 100.0, "times": QUICK}
    protocol = Wordless(team_size=1, meetings=0)
    played = play(synthetic, protocol, script, publication=publication, **how)
    ends = [(row["state"], row["reason"]) for row in played.rows("teams")]
    published = ends.count(("published", None))
    assert published + ends.count(("dissolved", "rejected")) == MANY
    return published / MANY


def coin(call, request):
    """Half of all reviews recommend acceptance, the others rejection."""
    said = "accept" if request.seed % 2 else "reject"
    return {"Recommendation": said} if call.act == "review" else None


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("rule", "share"),
    # Of three fair coins: more than half heads 1/2, all heads 1/8.
    [("majority", 1 / 2), ("all", 1 / 8)],
)
def test_the_share_of_acceptances_is_that_of_the_rule(synthetic, rule, share):
    review = PeerReview(rounds=1, decision=rule, effort=FixedDuration(length=1.0), choice="uniform")
    found = accepted(synthetic, review, coin)
    assert abs(found - share) < 4 * (share * (1 - share) / MANY) ** 0.5


@pytest.mark.parametrize(
    ("accept", "times", "share"),
    [(0.3, 1, 0.3), (0.3, 2, 1 - 0.7**2), (1.0, 1, 1.0), (0.0, 3, 0.0)],
)
def test_the_share_of_acceptances_by_lot(synthetic, accept, times, share):
    lot = ByChance(accept=accept, submissions=times, decision=10.0, resubmission=5.0)
    found = accepted(synthetic, lot)
    assert abs(found - share) <= 4 * (share * (1 - share) / MANY) ** 0.5


def test_a_lot_has_its_dates_and_rows_and_asks_nobody(synthetic):
    """Handed in on day 0, decided 90 days later, 30 days between; there will be no paper."""
    played = play(
        synthetic,
        Wordless(team_size=2, meetings=0),
        publication=ByChance(accept=0.0, submissions=2),
    )
    assert [(row["submitted"], row["decided"]) for row in played.rows("submissions")] == [
        (0.0, 90.0),
        (120.0, 210.0),
    ]
    assert {row["decision"] for row in played.rows("submissions")} == {"reject"}
    assert (played.team["state"], played.team["reason"]) == ("dissolved", "rejected")
    assert not played.rows("calls")
    assert not played.rows("homework")
