"""Self-review: two strikes; and what the rows of a team's calls say."""

from dataclasses import replace

import pytest

from tests.protocols.scripted_backend import Call, dissolved, play, spoken, strike_at
from virsci_society.agents.profile import Profile
from virsci_society.protocols.virsci.protocol import SoloVirSci, VirSci


def reviewed(synthetic, script, **settings):
    abstract = {"self_review": "on", **settings}
    return play(synthetic, VirSci(team_size=2, turns=2, abstract=abstract), script)


def test_a_review_below_the_threshold_passes(synthetic):
    played = reviewed(synthetic, strike_at(1, score=84.9))
    assert [spoken(played, "abstract", visit) for visit in (1, 2)] == [4, 0]
    assert played.count(act="review") == 1
    assert (played.team["state"], played.team["strikes"]) == ("published", 0)


def test_one_draft_is_what_one_scientist_writes_and_nobody_revises(synthetic):
    once = play(synthetic, VirSci(team_size=3, turns=4, abstract={"one_draft": "on"}))
    assert spoken(once, "abstract", 1) == once.count(form="Draft") == 1
    assert once.team["state"] == "published"
    (paper,) = once.rows("papers")
    assert paper["abstract"] == once.of_form("Draft")[0].reply["Abstract"]
    alone = play(synthetic, SoloVirSci(turns=4, abstract={"one_draft": "on"}))
    assert spoken(alone, "abstract", 1) == 1
    # After a strike one scientist revises it, once.
    struck = reviewed(synthetic, strike_at(1), one_draft="on")
    assert [spoken(struck, "abstract", visit) for visit in (1, 2, 3)] == [1, 1, 0]


def test_one_strike_is_one_more_stage_of_k_turns(synthetic):
    played = reviewed(synthetic, strike_at(1))
    assert [spoken(played, "abstract", visit) for visit in (1, 2, 3)] == [4, 4, 0]
    assert played.count(act="review") == 2
    assert (played.team["state"], played.team["strikes"]) == ("published", 1)
    assert played.count(stage="abstract", form="Draft") == 1
    (paper,) = played.rows("papers")
    last = max(played.of_form("Revision"), key=lambda s: s.call[2:5])
    assert paper["abstract"] == last.reply["Abstract"]


def test_two_strikes_and_the_team_generates_a_new_idea(synthetic):
    played = reviewed(synthetic, strike_at(1, 2))
    assert [spoken(played, "ideas", visit) for visit in (1, 2, 3)] == [4, 4, 0]
    assert [spoken(played, "novelty", visit) for visit in (1, 2, 3)] == [4, 4, 0]
    assert [spoken(played, "abstract", visit) for visit in (1, 2, 3, 4)] == [4, 4, 4, 0]
    assert (played.team["state"], played.team["strikes"]) == ("published", 2)
    assert spoken(played, "topic", 2) == 0


@pytest.mark.parametrize("new_ideas", [0, 1, 2])
def test_new_ideas_are_limited(synthetic, new_ideas):
    played = reviewed(synthetic, strike_at(*range(1, 20)), new_ideas=new_ideas)
    assert dissolved(played) == "too close to the past"
    assert played.team["strikes"] == 2 * (new_ideas + 1)
    assert len({s.call.visit for s in played.of(stage="ideas")}) == new_ideas + 1


def test_the_threshold_is_a_setting(synthetic):
    assert reviewed(synthetic, strike_at(1, score=40), threshold=40).team["strikes"] == 1
    assert reviewed(synthetic, strike_at(1, score=99), threshold=100).team["strikes"] == 0
    off = play(synthetic, VirSci(team_size=2, turns=1), strike_at(1))
    assert off.count(act="review") == 0


def test_call_ids_are_unique_and_name_their_place(synthetic):
    protocol = VirSci(
        team_size=3,
        turns=2,
        abstract={"self_review": "on"},
        discussion={"pacing": "adaptive", "max_turns": 3},
    )
    played = play(synthetic, protocol, strike_at(1, 2), consults=True)
    rows = played.rows("calls")
    assert len({row["call"] for row in rows}) == len(rows) == len(played.said)
    for row in rows:
        call = Call.of(row["call"])
        names = ("team", "stage", "visit", "turn", "seat")
        assert tuple(row[name] for name in names) == call[:5]
        assert row["act"] == ("guest" if call.guest else call.act)
        assert row["scientist"] == (call.guest or call.who)
        assert not row["defaulted"]
        assert not row["unruled"]


def test_profiles_without_interests_can_work(synthetic):
    """People of whom nothing is known but their name are invited and speak like others."""
    nobody = tuple(Profile(id=profile.id) for profile in synthetic.profiles)
    bare = replace(synthetic, profiles=nobody)
    played = play(bare, VirSci(team_size=3, turns=2), consults=True)
    assert played.team["state"] == "published"


def test_a_review_that_scores_nothing_lets_no_draft_pass(synthetic):
    played = reviewed(
        synthetic, lambda call, _: {"similarity_scores": {}} if call.act == "review" else None
    )
    assert dissolved(played).startswith("unreadable: similarity_scores is empty")
    assert played.count(act="re-ask") == 2
