"""Ballots: who votes, in which order the ideas are listed, and what a vote then means."""

import pytest

from tests.protocols.paper_equations import Past
from tests.protocols.scripted_backend import play
from virsci_society.protocols.virsci.protocol import VirSci

PERMUTED = {"prompts": {"idea_order": "permuted"}}


def listed(said):
    """Titles of the ideas as the ballot lists them, from the page."""
    lines = said.user.splitlines()
    at = [n for n, line in enumerate(lines) if line.startswith("Idea ") and line.endswith(":")]
    return [lines[n + 1].removeprefix("> Title: ") for n in at]


def always_the(place):
    """Everybody always votes for the same one of the three ideas, by its words."""

    def script(call, request):
        if call.act != "vote":
            return None
        ideas = [standing.idea.title for standing in request.slots["ideas"]]
        wanted = sorted(ideas)[place]
        return {"Decision Made": f"Idea {ideas.index(wanted)}"}

    return script


@pytest.mark.parametrize("order", ["round_table", "random"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_permuted_ballots_are_counted_for_the_ideas_that_were_meant(synthetic, place, order):
    protocol = VirSci(team_size=3, turns=3, discussion={"speaking_order": order}, **PERMUTED)
    played = play(synthetic, protocol, always_the(place))
    ballots = played.of(act="vote")
    titles = sorted(listed(ballots[0]))
    assert len(titles) == 3
    (draft,) = played.of_form("Draft")
    assert draft.request.slots["idea"].idea.title == titles[place]
    assert len({said.reply["Decision Made"] for said in ballots}) > 1, "the numbers differ"
    assert Past(played, draft).winner()[0].reply["Title"] == titles[place]


def test_each_ballot_of_a_member_has_another_order_and_all_hold_the_same_ideas(synthetic):
    played = play(synthetic, VirSci(team_size=3, turns=3, **PERMUTED))
    orders = {}
    for said in played.of(act="vote"):
        orders.setdefault(said.call.who, []).append(tuple(listed(said)))
    assert len({frozenset(order) for own in orders.values() for order in own}) == 1
    assert [len(set(own)) for own in orders.values()] == [3, 3, 3]
    assert len({tuple(own) for own in orders.values()}) > 1, "members differ in their orders"
    fixed = play(synthetic, VirSci(team_size=3, turns=3))
    assert len({tuple(listed(said)) for said in fixed.of(act="vote")}) == 1


@pytest.mark.parametrize("profile", ["paper", "full"])
def test_everybody_votes_once_a_turn_also_where_speakers_are_drawn(synthetic, profile):
    protocol = VirSci(
        profile=profile, team_size=4, turns=5, discussion={"speaking_order": "random"}
    )
    played = play(synthetic, protocol)
    team = sorted(row["scientist"] for row in played.rows("members"))
    for turn in range(1, 6):
        assert sorted(said.call.who for said in played.of(act="vote", turn=turn)) == team
    spoke = [sorted(s.call.who for s in played.of(stage="ideas", turn=t)) for t in range(1, 6)]
    assert any(len(set(turn)) < 4 for turn in spoke), "in discussions some stay silent"


def test_the_leader_is_told_the_votes_by_the_numbers_of_its_own_list(synthetic):
    protocol = VirSci(team_size=3, discussion={"pacing": "adaptive", "max_turns": 3}, **PERMUTED)
    played = play(synthetic, protocol, always_the(1))
    decisions = [s for s in played.of_form("AnotherTurn") if s.call.stage == "novelty"]
    assert len(decisions) == 2
    for said in decisions:
        (own,) = played.of(act="vote", turn=said.call.turn, who=said.call.who)
        number = own.reply["Decision Made"]
        assert said.user.count(f"> {number}\n") == 3
