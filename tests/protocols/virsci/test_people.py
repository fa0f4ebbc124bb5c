"""Who is in a team: invitations, consensus, leaving, and what ends it."""

import pytest

from tests.protocols.scripted_backend import STAGES, dissolved, play, speakers, spoken
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.society.kernel.durations import FixedDuration, Times


def no_consensus(visits):
    def script(call, request):
        return {"Agree": False} if call.act == "agree" and call.visit <= visits else None

    return script


@pytest.mark.parametrize("restarts", [0, 1, 3])
def test_without_consensus_the_discussion_restarts_up_to_the_limit(synthetic, restarts):
    protocol = VirSci(team_size=3, turns=2, topic={"restarts": restarts})
    played = play(synthetic, protocol, no_consensus(99))
    assert dissolved(played) == "no consensus"
    assert [spoken(played, "topic", visit) for visit in range(1, restarts + 3)] == (
        [6] * (restarts + 1) + [0]
    )
    assert played.team["restarts"] == restarts
    assert not played.of(stage="ideas")
    assert not played.events("left")
    if restarts:
        rescued = play(synthetic, protocol, no_consensus(restarts))
        assert rescued.team["state"] == "published"
        assert rescued.team["restarts"] == restarts


@pytest.mark.parametrize(("n", "agree", "enough"), [(4, 2, False), (4, 3, True), (3, 2, True)])
def test_consensus_is_a_majority(synthetic, n, agree, enough):
    def script(call, request):
        return {"Agree": call.seat < agree} if call.act == "agree" else None

    played = play(synthetic, VirSci(team_size=n, turns=1, topic={"restarts": 0}), script)
    assert (played.team["state"] == "published") == enough


def leaves(*seats):
    def script(call, request):
        return {"Stay": False} if call.act == "stay" and call.seat in seats else None

    return script


def test_who_leaves_is_gone_from_all_that_follows(synthetic):
    played = play(synthetic, VirSci(team_size=4, turns=2), leaves(2))
    team = [row["scientist"] for row in played.rows("members")]
    stayed = [row["stayed"] for row in played.rows("members")]
    assert stayed == [True, True, False, True]
    assert [s.call.who for s in played.of(act="stay")] == team[1:]
    assert [spoken(played, stage) for stage in STAGES] == [8, 6, 6, 6]
    for stage in STAGES[1:]:
        assert team[2] not in speakers(played, stage)[1]
    authors = [row["scientist"] for row in played.rows("authorships")]
    assert authors == [team[0], team[1], team[3]]
    assert played.team["size"] == 3
    assert [event["scientist"] for event in played.events("left")] == [team[2]]


def test_leaving_off_asks_nobody(synthetic):
    played = play(
        synthetic, VirSci(team_size=4, turns=1, topic={"leaving": "off"}), leaves(1, 2, 3)
    )
    assert not played.of(act="stay")
    assert played.team["size"] == 4


def declines(*seats):
    def script(call, request):
        refused = call.act == "invite" and (not seats or call.seat in seats)
        return {"Selected Action": "Action 2"} if refused else None

    return script


def outcomes(played):
    return [row["outcome"] for row in played.rows("invitations")]


def test_a_refusal_is_replaced_by_the_next_draw(synthetic):
    played = play(synthetic, VirSci(turns=1), declines(0, 2))
    assert outcomes(played) == ["declined", "accepted", "declined", "accepted", "accepted"]
    invited = [row["invitee"] for row in played.rows("invitations")]
    assert len(set(invited)) == 5
    assert played.team["leader"] not in invited
    members = [row["scientist"] for row in played.rows("members")]
    assert members[1:] == [invited[1], invited[3], invited[4]]
    assert played.team["target_size"] == played.team["size"] == 4


def test_invitations_go_out_one_after_the_other(synthetic):
    played = play(synthetic, VirSci(turns=1), declines(1))
    rows = played.rows("invitations")
    assert [row["sent"] for row in rows] == [0.0, 14.0, 28.0, 42.0]
    assert [row["answered"] for row in rows] == [14.0, 28.0, 42.0, 56.0]
    assert played.team["formed"] == 56.0


def test_at_once_all_empty_seats_are_invited_side_by_side(synthetic):
    played = play(synthetic, VirSci(turns=1, inviting="at_once"), declines(0, 3))
    assert [row["sent"] for row in played.rows("invitations")] == [0.0, 0.0, 0.0, 14.0, 28.0]
    assert played.team["size"] == 4


def test_the_number_of_invitations_is_limited(synthetic):
    for inviting in ("one_by_one", "at_once"):
        protocol = VirSci(turns=1, max_invitations=5, inviting=inviting)
        played = play(synthetic, protocol, declines())
        assert dissolved(played) == "too small"
        assert outcomes(played) == ["declined"] * 5
        assert not played.of(stage="topic")


def test_when_nobody_is_left_to_ask_the_leader_gives_up(synthetic):
    everybody = len(synthetic.profiles)
    played = play(synthetic, VirSci(turns=1, max_invitations=100), declines())
    assert dissolved(played) == "too small"
    assert len(outcomes(played)) == everybody - 1


@pytest.mark.parametrize(
    ("n", "min_size", "join", "lives"),
    [
        (4, None, 1, True),
        (4, None, 0, False),
        (1, None, 0, True),
        (4, 1, 0, True),
        (4, 3, 1, False),
        (4, 3, 2, True),
        (4, "all", 2, False),
        (4, "all", 3, True),
    ],
)
def test_the_smallest_team(synthetic, n, min_size, join, lives):
    protocol = VirSci(team_size=n, min_size=min_size, turns=1, max_invitations=6)
    played = play(synthetic, protocol, declines(*range(join, 6)))
    if lives:
        assert played.team["state"] == "published"
        assert played.team["size"] == join + 1
    else:
        assert dissolved(played) == "too small"


def test_nobody_wants_more_people_than_there_are(synthetic):
    everybody = len(synthetic.profiles)
    played = play(synthetic, VirSci(team_size=99, turns=1, max_invitations=99))
    assert played.team["target_size"] == played.team["size"] == everybody


def test_a_society_without_waiting_works_too(synthetic):
    """No notice, no homework, no reply window: whatever is read is due by then."""
    times = Times(
        utterance=FixedDuration(length="10m"),
        homework=None,
        meeting_notice=0,
        reply_window=0,
        publication_delay=0,
    )
    for settings in (
        {},
        {"discussion": {"pacing": "adaptive", "max_turns": 2}},
        {"abstract": {"self_review": "on"}},
    ):
        protocol = VirSci(team_size=3, turns=2, **settings)
        played = play(synthetic, protocol, no_consensus(1), consults=True, times=times)
        assert played.team["state"] == "published"
