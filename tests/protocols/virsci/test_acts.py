"""What a team's acts draw, read and are told: chance of their own, decisions, one's own load."""

import pytest

from tests.protocols.scripted_backend import play
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.society import model
from virsci_society.society.formation.founding import Once
from virsci_society.society.kernel.durations import FixedDuration, Gamma, Times
from virsci_society.society.kernel.streams import Streams

SMALL = {"team_size": 3, "turns": 2}


def test_no_two_acts_of_a_team_share_a_stream(synthetic, monkeypatch):
    """Utterances, homework, invitations and speaking orders included (rule 9)."""
    drawn = []

    class Noting(Streams):
        def key(self, *names):
            drawn.append(names)
            return super().key(*names)

    monkeypatch.setattr(model, "Streams", Noting)
    times = Times(utterance=Gamma(mean="10m"), homework=Gamma(mean="2d"))
    protocol = VirSci(
        **SMALL, discussion={"speaking_order": "random"}, abstract={"self_review": "on"}
    )
    played = play(synthetic, protocol, consults=True, times=times)
    assert {"utterance", "homework", "words", "team"} <= {names[0] for names in drawn}
    assert len(set(drawn)) == len(drawn), "two acts have drawn from one stream"
    meetings = {}
    for row in played.rows("homework"):
        place = (row["stage"], row["visit"], row["turn"])
        meetings.setdefault(place, []).append(row["effort"])
    assert all(len(set(efforts)) == len(efforts) == 3 for efforts in meetings.values())


DECIDING = {"Choice", "Agreement", "Stay"}


@pytest.mark.parametrize(
    ("settings", "forms"),
    [
        ({}, DECIDING),
        ({"topic": {"leaving": "off"}}, DECIDING - {"Stay"}),
        ({"discussion": {"pacing": "adaptive", "max_turns": 3}}, DECIDING | {"AnotherTurn"}),
        ({"abstract": {"self_review": "on"}}, DECIDING | {"SelfReview"}),
        ({"topic": {"given": "tides"}}, {"Choice"}),
    ],
    ids=["as it is", "nobody leaves", "adaptive", "self-review", "given topic"],
)
def test_words_are_read_only_to_decide_and_only_when_the_effect_is_due(synthetic, settings, forms):
    """Everything else stays unread until the paper appears, so that the clock never waits."""
    played = play(synthetic, VirSci(**SMALL | settings), consults=True)
    calls = {row["call"]: row for row in played.rows("calls")}
    times, published = played.society.world.times, played.team["published"]
    before = [row for row in played.rows("reads") if row["date"] < published]
    assert {calls[row["answer"]]["form"] for row in before} == forms
    for row in before:
        call = calls[row["answer"]]
        window = times.reply_window if call["form"] == "Choice" else times.meeting_notice
        assert row["date"] - call["asked"] >= window, call["call"]


@pytest.mark.slow
def test_the_invited_know_how_many_teams_they_are_in(synthetic):
    """Also the table of invitations does, and what counts as an invitation across teams."""
    founding = Once(count=25, every="1.3d", max_teams=9)
    times = Times(utterance=FixedDuration(length="10m"), homework=FixedDuration(length="2d"))
    played = play(synthetic, VirSci(**SMALL), founding=founding, times=times)
    members, told = played.rows("members"), {}
    for said in played.of_form("Choice"):
        told[said.call.team, said.call.who] = said
    loads = []
    for row in played.rows("invitations"):
        load = sum(
            member["scientist"] == row["invitee"]
            and member["joined"] < row["sent"] < member["left"]
            for member in members
        )
        said = told[row["team"], row["invitee"]]
        assert f"You are working in {load} other team" in said.user
        assert said.request.slots["load"] == row["load"] == load
        assert row["cross_team"] == (load > 0)
        loads.append(load)
    assert min(loads) == 0
    assert max(loads) >= 2


def test_a_guest_is_neither_member_nor_author(synthetic):
    played = play(synthetic, VirSci(**SMALL), consults=True)
    team = [row["scientist"] for row in played.rows("members")]
    guests = {row["guest"] for row in played.rows("consultations")}
    assert guests
    assert not guests & set(team)
    assert [row["scientist"] for row in played.rows("authorships")] == team


def test_an_invitation_that_stays_unreadable_is_no_acceptance(synthetic):
    def mumbles(call, request):
        unclear = request.form.__name__ == "Choice" and call.seat == 0
        return {"Selected Action": "perhaps"} if unclear else None

    played = play(synthetic, VirSci(**SMALL), mumbles)
    assert [row["outcome"] for row in played.rows("invitations")] == [
        "declined",
        "accepted",
        "accepted",
    ]
    assert played.count(act="invite", defaulted=True) == 1


def test_people_are_introduced_as_of_the_date_of_asking(synthetic):
    """Members, those who know and those who may be asked, with what they have published since."""
    played = play(synthetic, VirSci(**SMALL), founding=Once(count=6, every="150d", max_teams=9))
    asked = {row["call"]: row["asked"] for row in played.rows("calls")}
    population, grown = played.society.population, set()
    for said in played.said:
        for slot in ("me", "members", "knowledge", "outsiders"):
            shown = said.request.slots.get(slot, ())
            for profile in shown if isinstance(shown, tuple) else (shown,):
                row = population.rows[profile.id]
                assert profile == population.profile(row, asked[said.request.id])
                if profile != synthetic.profiles[row]:
                    grown.add(slot)
    assert grown == {"me", "members", "knowledge", "outsiders"}
