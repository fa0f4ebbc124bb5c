"""How often members speak: inference cost, speaking order, pacing."""

from itertools import chain, pairwise

import pytest

from tests.protocols.scripted_backend import STAGES, play, speakers, spoken
from virsci_society.protocols.discussion import speaking_order
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.society.kernel.streams import Streams


@pytest.mark.parametrize(("n", "cost"), [(4, 80), (8, 160)])
def test_cost_of_the_paper(synthetic, n, cost):
    played = play(synthetic, VirSci(team_size=n, topic={"leaving": "off"}), consults=True)
    assert [spoken(played, stage) for stage in STAGES] == [cost / 4] * 4
    # Two questions fewer: nobody hears what is answered to the last speaker of ideas and abstract.
    guests = cost * 3 // 4 - 2
    others = {"invite": n - 1, "summarise": 8, "agree": n, "decide": 1, "guest": guests}
    for act, count in others.items():
        assert played.count(act=act) == count
    assert len(played.rows("calls")) == cost + sum(others.values())
    assert played.team["size"] == n


def test_in_turn_everybody_speaks_once_the_leader_first(synthetic):
    played = play(synthetic, VirSci(turns=3))
    team = [row["scientist"] for row in played.rows("members")]
    assert team[0] == played.team["leader"]
    for stage in STAGES:
        assert speakers(played, stage) == {1: team, 2: team, 3: team}


def test_turns_may_differ_from_stage_to_stage(synthetic):
    turns = {"topic": 1, "ideas": 2, "assessment": 3, "abstract": 4}
    played = play(synthetic, VirSci(team_size=3, turns=turns))
    assert [len(speakers(played, stage)) for stage in STAGES] == [1, 2, 3, 4]


def test_a_team_of_one_speaks_alone_in_either_order(synthetic):
    for order in ("round_table", "random"):
        played = play(synthetic, VirSci(team_size=1, turns=2, discussion={"speaking_order": order}))
        leader = played.team["leader"]
        assert played.team["state"] == "published"
        for stage in STAGES:
            assert speakers(played, stage) == {1: [leader], 2: [leader]}
        assert not played.count(act="invite")
        assert not played.count(act="stay")
        assert played.count(act="agree") == 1


@pytest.mark.parametrize("n", [2, 4])
def test_random_order_is_n_utterances_and_never_the_same_twice_running(synthetic, n):
    played = play(synthetic, VirSci(team_size=n, turns=6, discussion={"speaking_order": "random"}))
    silent = 0
    for stage in STAGES:
        turns = speakers(played, stage)
        assert [len(order) for order in turns.values()] == [n] * 6
        running = list(chain.from_iterable(turns.values()))
        assert all(one != next_ for one, next_ in pairwise(running))
        silent += sum(len(set(order)) < n for order in turns.values())
    assert speakers(played, "abstract")[1][0] == played.team["leader"]
    assert silent > 0 or n == 2


def test_random_speakers_are_uniform_among_all_but_the_last():
    rng = Streams(3).stream("orders")
    members = ["a", "b", "c"]
    followers = dict.fromkeys(["ab", "ac", "ba", "bc", "ca", "cb"], 0)
    first = dict.fromkeys(members, 0)
    for _ in range(2000):
        order = speaking_order(members, "random", rng)
        assert len(order) == 3
        first[order[0]] += 1
        followers[order[0] + order[1]] += 1
    assert max(abs(count - 2000 / 3) for count in first.values()) < 90
    assert max(abs(count - 2000 / 6) for count in followers.values()) < 75
    assert speaking_order(members, "random", rng, "b")[0] == "b"
    assert all(speaking_order(members, "random", rng, None, "c")[0] != "c" for _ in range(50))
    assert speaking_order(members, "round_table", rng, "b", "c") == members


def goes_on_until(**turns):
    """The leader wants turns up to these, stage by stage."""

    def script(call, request):
        if request.form.__name__ == "AnotherTurn":
            return {"Another Turn": call.turn < turns[call.stage]}
        return None

    return script


def test_adaptive_stages_last_as_long_as_the_leader_wants(synthetic):
    wanted = {"topic": 1, "ideas": 3, "novelty": 2, "abstract": 4}
    protocol = VirSci(team_size=3, discussion={"pacing": "adaptive", "max_turns": 4})
    played = play(synthetic, protocol, goes_on_until(**wanted))
    leader = played.team["leader"]
    for stage, turns in wanted.items():
        assert list(speakers(played, stage)) == list(range(1, turns + 1))
        assert spoken(played, stage) == 3 * turns
        asked = [s for s in played.of_form("AnotherTurn") if s.call.stage == stage]
        # Nothing is left to decide after the last turn there can be.
        assert [s.call.turn for s in asked] == list(range(1, min(turns, 3) + 1))
        assert {s.call.who for s in asked} == {leader}
        for said in asked:
            assert said.request.slots["turns_left"] == 4 - said.call.turn


def test_a_decision_with_a_lag_ends_a_stage_one_turn_later(synthetic):
    wanted = {"topic": 1, "ideas": 3, "novelty": 2, "abstract": 4}
    adaptive = {"pacing": "adaptive", "max_turns": 4}
    lagging = VirSci(team_size=3, discussion={**adaptive, "decision_lag": 1})
    played = play(synthetic, lagging, goes_on_until(**wanted))
    for stage, turns in wanted.items():
        held = min(turns + 1, 4)
        assert list(speakers(played, stage)) == list(range(1, held + 1))
        asked = [s for s in played.of_form("AnotherTurn") if s.call.stage == stage]
        # It is asked as long as it can still have an effect, and before the last one is known.
        assert [s.call.turn for s in asked] == list(range(1, min(held, 2) + 1))
        for said in asked:
            assert said.request.slots["turns_left"] == 3 - said.call.turn
            page = said.request.messages[-1].content
            assert "held in any case: decide about the one after it." in page
    prompt = VirSci(team_size=3, discussion=adaptive)
    at_once = play(synthetic, prompt, goes_on_until(**wanted))
    pages = [s.request.messages[-1].content for s in at_once.of_form("AnotherTurn")]
    assert not any("held in any case" in page for page in pages)


def test_adaptive_ends_at_the_latest_after_max_turns(synthetic):
    played = play(synthetic, VirSci(team_size=2, discussion={"pacing": "adaptive", "max_turns": 3}))
    assert [len(speakers(played, stage)) for stage in STAGES] == [3] * 4
    once = play(synthetic, VirSci(team_size=2, discussion={"pacing": "adaptive", "max_turns": 1}))
    assert [len(speakers(once, stage)) for stage in STAGES] == [1] * 4
    assert not once.of_form("AnotherTurn")
