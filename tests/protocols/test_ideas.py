"""Which idea goes on: confidence, ballots, ties, and what is cited."""

import pytest

from tests.protocols.scripted_backend import STAGES, play, spoken
from virsci_society.protocols.ideas import (
    Ballot,
    CandidateIdea,
    Idea,
    count_ties,
    plurality_winner,
    shortlist,
)
from virsci_society.protocols.virsci.protocol import VirSci


def rated(*novelties):
    """Ideas with these ratings of their novelty, in the order of being said."""

    def script(call, request):
        if request.form.__name__ != "Idea":
            return None
        place = (call.turn - 1) * 2 + call.seat
        return {"Clarity": 1, "Feasibility": 1, "Novelty": novelties[place]}

    return script


def on_the_ballot(played):
    """Places (turn, seat) of the ideas that the first voter saw."""
    shown = [standing.idea.title for standing in played.of(act="vote")[0].request.slots["ideas"]]
    ideas = played.of_form("Idea")
    return [(s.call.turn - 1) * 2 + s.call.seat for s in ideas if s.reply["Title"] in shown]


@pytest.mark.parametrize(
    ("novelties", "kept", "ties"),
    [
        ((9, 1, 8, 2, 7, 3), [0, 2, 4], 0),
        ((1, 2, 3, 4, 5, 6), [3, 4, 5], 0),
        ((5, 5, 5, 5, 5, 5), [3, 4, 5], 3),
        ((5, 9, 5, 5, 1, 1), [1, 2, 3], 2),
        ((9, 9, 9, 9, 1, 1), [1, 2, 3], 3),
    ],
)
def test_three_ideas_stay_the_later_one_on_a_tie(synthetic, novelties, kept, ties):
    played = play(synthetic, VirSci(team_size=2, turns=3), rated(*novelties))
    assert on_the_ballot(played) == kept
    assert played.team["ties"] == ties


def test_the_weights_decide_what_confidence_is(synthetic):
    def script(call, request):
        if request.form.__name__ != "Idea":
            return None
        place = (call.turn - 1) * 2 + call.seat
        return {"Clarity": 1 + place, "Feasibility": 10 - place, "Novelty": 1}

    for weights, kept in (({"clarity": 0}, [0, 1, 2]), ({"feasibility": 0}, [3, 4, 5])):
        protocol = VirSci(team_size=2, turns=3, confidence=weights)
        assert on_the_ballot(play(synthetic, protocol, script)) == kept


@pytest.mark.parametrize(("n", "turns", "count"), [(1, 1, 1), (2, 1, 2), (1, 2, 2), (3, 1, 3)])
def test_fewer_than_three_ideas_all_stay(synthetic, n, turns, count):
    played = play(synthetic, VirSci(team_size=n, turns=turns))
    (ballot, *_) = played.of(act="vote")
    assert len(ballot.request.slots["ideas"]) == count
    offered = [f'"Idea {number}"' in ballot.user for number in range(4)]
    assert offered == [number < count for number in range(4)]
    assert played.team["ties"] == 0


def chosen(played):
    (draft,) = played.of_form("Draft")
    title = draft.request.slots["idea"].idea.title
    titles = [s.reply["Title"] for s in played.of_form("Idea")]
    return titles.index(title)


def votes(*choices):

    def script(call, request):
        if call.act != "vote":
            return None
        return {"Decision Made": f"Idea {choices[(call.turn - 1) * 2 + call.seat]}"}

    return script


@pytest.mark.parametrize(
    ("ballots", "winner"),
    [
        # The last turn alone would elect idea 1; all turns together elect idea 2.
        ((2, 2, 2, 0, 1, 1), 2),
        ((2, 2, 2, 2, 1, 1), 2),
        ((0, 0, 0, 0, 0, 0), 0),
        # Two ballots each: the highest confidence (idea 1) wins.
        ((0, 0, 1, 1, 2, 2), 1),
        ((2, 2, 0, 0, 2, 0), 0),
    ],
)
def test_ballots_of_all_turns_are_counted_together(synthetic, ballots, winner):
    ratings, cast = rated(5, 7, 5, 1, 1, 1), votes(*ballots)

    def script(call, request):
        return ratings(call, request) or cast(call, request)

    played = play(synthetic, VirSci(team_size=2, turns=3), script)
    assert on_the_ballot(played) == [0, 1, 2]
    assert chosen(played) == winner


def test_without_assessment_the_last_scientists_idea_is_taken(synthetic):
    protocol = VirSci(team_size=2, turns=3, novelty_assessment="off")
    played = play(synthetic, protocol, rated(9, 9, 9, 1, 1, 1))
    assert chosen(played) == 5
    assert not played.of(stage="novelty")
    assert played.team["ties"] is None, "no three were kept"
    assert [spoken(played, stage) for stage in STAGES] == [6, 6, 0, 6]


def standing(title, clarity=5.0, feasibility=5.0, novelty=5.0):
    ratings = {"clarity": clarity, "feasibility": feasibility, "novelty": novelty}
    return CandidateIdea(Idea(idea=title, title=title, **ratings))


def ballot(words):
    return Ballot(decision=words)


def test_elections_by_hand():
    ideas = [standing("a"), standing("b", novelty=9), standing("c", novelty=9)]
    even = (1.0, 1.0, 1.0)

    def winner(*choices, weights=even):
        return plurality_winner(weights, ideas, *(ballot(f"Idea {n}") for n in choices)).idea.title

    assert winner(0, 0, 1) == "a"
    assert winner(0, 1) == "b"
    assert winner(1, 2) == "b"
    assert winner(2, 1) == "b"
    assert winner() == "b"
    assert winner(0, 1, weights=(1.0, 1.0, 0.0)) == "a"
    abstention = Ballot.fallback({})
    assert plurality_winner(even, ideas, abstention, abstention, ballot("Idea 2")).idea.title == "c"
    assert shortlist(even, *ideas) == tuple(ideas)
    assert count_ties(even, *ideas, standing("d", novelty=1)) == 0
    assert count_ties(even, *ideas, standing("d")) == 1


def test_a_ballot_that_stays_unreadable_is_an_abstention(synthetic):
    def script(call, request):
        if call.act == "vote":
            return {"Decision Made": "none of them" if call.seat == 0 else "Idea 1"}
        return None

    played = play(synthetic, VirSci(team_size=2, turns=1), script)
    assert chosen(played) == 1
    assert played.count(act="vote", defaulted=True) == 1
    assert spoken(played, "novelty") == 2


def test_the_papers_an_idea_says_it_uses_are_cited(synthetic):
    def script(call, request):
        if request.form.__name__ == "Idea":
            first, second = [paper.key for paper in request.slots["references"][:2]] or ("P1", "P2")
            # Keys in any spelling; of papers that are not on the page none counts.
            return {"Uses": [second[1:], int(first[1:]), f"[{second}]", "P9999", 0, -1]}
        return None

    played = play(synthetic, VirSci(team_size=2, turns=2, novelty_assessment="off"), script)
    last = played.of_form("Idea")[-1]
    shown = [reference.id for reference in last.request.slots["references"]]
    assert [row["cited"] for row in played.rows("citations")] == [shown[1], shown[0]]
    unread = VirSci(team_size=2, turns=2, references={"ideas": "off"})
    assert not play(synthetic, unread, script).rows("citations")
