"""Who sees what: every prompt of every stage holds exactly the words it should, and no other."""

import re

import pytest

from tests.protocols.paper_equations import (
    KNOWLEDGE,
    RECALLED,
    Past,
    attributed,
    check,
    check_words,
    expected,
    may_be_asked,
    members_at,
    named,
    oneself,
    people_under,
    query,
)
from tests.protocols.scripted_backend import play, strike_at, word
from virsci_society.agents.prompts.slots import introduce
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.society.formation.founding import Once


def mixed_ballots(call, request):
    """Votes that fall on different ideas in different turns."""
    if call.act == "vote":
        choice = (call.seat + call.turn) % len(request.slots["ideas"])
        return {"Decision Made": f"Idea {choice} {word(request.id, 'Decision Made')}"}
    return None


def one_restart(call, request):
    """Nobody agrees with the first topic."""
    return {"Agree": False} if call.act == "agree" and call.visit == 1 else None


def a_leaver(call, request):
    return {"Stay": False} if call.act == "stay" and call.seat == 2 else None


def stops_after(turn):
    def script(call, request):
        if request.form.__name__ == "AnotherTurn":
            return {"Another Turn": call.turn < turn}
        return None

    return script


SMALL = {"team_size": 3, "turns": 3}
SCENES = {
    "as it is": ({}, None, False),
    "guests speak": ({}, None, True),
    "no invitation": ({"discussion": {"invitation": "off"}}, None, True),
    "no knowledge": ({"discussion": {"knowledge": "off"}}, None, True),
    "no papers for ideas": ({"references": {"ideas": "off"}}, None, False),
    "no papers for ballots": ({"references": {"assessment": "off"}}, None, False),
    "papers for the draft alone": ({"references": {"ideas": "off", "draft": "on"}}, None, False),
    "no papers": ({"references": {"ideas": "off", "assessment": "off"}}, None, False),
    "no assessment": ({"novelty_assessment": "off"}, None, True),
    "mixed ballots": ({}, mixed_ballots, False),
    "random order": (
        {"discussion": {"speaking_order": "random"}, "team_size": 4},
        mixed_ballots,
        True,
    ),
    "adaptive to the end": ({"discussion": {"pacing": "adaptive", "max_turns": 3}}, None, True),
    "adaptive, two turns": (
        {"discussion": {"pacing": "adaptive", "max_turns": 4}},
        stops_after(2),
        True,
    ),
    "adaptive, one turn": ({"discussion": {"pacing": "adaptive"}}, stops_after(1), True),
    "a restart": ({}, one_restart, True),
    "somebody leaves": ({"team_size": 4}, a_leaver, True),
    "nobody is asked to leave": ({"topic": {"leaving": "off"}}, None, False),
    "start topic": ({"topic": {"start": "tides of the moon"}}, None, True),
    "given topic": ({"topic": {"given": "tides of the moon"}}, None, True),
    "reviewed": ({"abstract": {"self_review": "on"}}, None, True),
    "one strike": ({"abstract": {"self_review": "on"}}, strike_at(1), True),
    "new idea": ({"abstract": {"self_review": "on"}}, strike_at(1, 2), True),
    "alone": ({"team_size": 1}, None, True),
    "one turn": ({"turns": 1}, None, True),
    "two": ({"team_size": 2, "turns": {"topic": 1, "ideas": 2, "abstract": 3}}, None, True),
}


IN_BOTH = ("as it is", "guests speak", "somebody leaves", "a restart", "new idea", "alone", "two")
"""Scenes that ``make test`` plays with either profile; the others with the full one."""


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    ("scene", "profile"),
    [
        pytest.param(
            scene, name, marks=() if name == "full" or scene in IN_BOTH else pytest.mark.slow
        )
        for name in ("paper", "full")
        for scene in SCENES
    ],
)
def test_every_prompt_holds_exactly_the_words_it_should_by_those_who_said_them(
    synthetic, scene, profile
):
    settings, script, consults = SCENES[scene]
    protocol = VirSci(profile=profile, **SMALL | settings)
    played = play(synthetic, protocol, script, consults=consults)
    assert played.team["state"] == "published"
    check(played)


def test_the_scenes_show_what_they_are_named_for(synthetic):
    def scene(name):
        settings, script, consults = SCENES[name]
        return play(synthetic, VirSci(**SMALL | settings), script, consults=consults)

    guests = scene("guests speak")
    assert {s.call.stage for s in guests.of_form("GuestReply")} == {"topic", "ideas", "abstract"}
    assert not scene("no invitation").of_form("GuestReply")
    assert scene("a restart").team["restarts"] == 1
    assert scene("one strike").team["strikes"] == 1
    assert {s.call.visit for s in scene("new idea").of(stage="ideas")} == {1, 2}
    left = scene("somebody leaves")
    assert [r["stayed"] for r in left.rows("members")].count(False) == 1


@pytest.mark.parametrize("profile", ["paper", "full"])
def test_nobody_has_spoken_yet_is_said_where_it_is_true(synthetic, profile):
    protocol = VirSci(profile=profile, **SMALL, abstract={"self_review": "on"})
    played = play(synthetic, protocol, strike_at(1, 2))
    opened = [said for said in played.said if "nobody has spoken" in said.user]
    told = [(*said.call[1:5], said.form) for said in opened]
    opening = [("topic", 1, 1, 0, "Remark"), ("ideas", 1, 1, 0, "Idea"), ("ideas", 2, 1, 0, "Idea")]
    # In the full profile a critic speaks before the draft; after a self-review there is a text.
    drafts = [("abstract", visit, 1, 0, "Draft") for visit in (1, 3)]
    assert sorted(told) == sorted(opening + (drafts if profile == "paper" else []))
    again = [said for said in played.said if "nobody has spoken yet in this attempt" in said.user]
    assert all(said.call.visit > 1 for said in again)
    assert len(again) == (2 if profile == "paper" else 1)


@pytest.mark.parametrize("marks", ["off", "on"])
def test_authors_ratings_are_not_shown_to_those_who_rate(synthetic, marks):
    """The paper's replies R hold them (Eq. 2); a rating in sight would anchor another one."""
    played = play(synthetic, VirSci(**SMALL, prompts={"marks": marks}))
    rated = {said.form for said in played.said if re.search(r"^> .*\(Clarity 5", said.user, re.M)}
    assert rated == ({"Idea", "Summary"} if marks == "off" else set())


def test_a_given_topic_skips_the_discussion(synthetic):
    topic = "tides of the moon"
    given = play(synthetic, VirSci(**SMALL, topic={"given": topic}))
    assert not given.of(stage="topic")
    assert all(topic in s.user for s in given.of_form("Idea"))
    assert given.team["topic"] == topic


def test_the_invited_see_inviter_members_ties_and_their_own_load(synthetic):
    played = play(synthetic, VirSci(team_size=4, turns=1))
    invitations = played.of_form("Choice")
    assert len(invitations) == 3
    society, leader = played.society, played.team["leader"]
    for place, said in enumerate(invitations):
        before = [s.call.who for s in invitations[:place]]
        assert f"from {leader}, who leads" in said.user
        assert people_under("Also in the team so far:", said.user) == before
        assert ("Nobody else is in the team so far." in said.user) == (not before)
        assert f"The invitation comes from {leader}" in said.user
        ties = society.ecosystem.coauthors[
            society.population.rows[leader], society.population.rows[said.call.who]
        ]
        assert f"You have written {ties} joint paper" in said.user
        assert "You are working in 0 other teams at present." in said.user
        for name in before:
            assert (
                introduce(
                    {"me": said.request.who, **said.request.slots, **named(said)},
                    society.ecosystem.profiles[society.population.rows[name]],
                )
                in said.user
            )


def test_knowledge_and_outsiders_are_those_nearest_to_the_text_at_hand(synthetic):
    played = play(synthetic, VirSci(**SMALL))
    society = played.society
    for said in played.of_form("Revision"):
        (draft,) = Past(played, said).latest("abstract")
        without = frozenset(members_at(played, said))
        near = society.world.nearest_scientists(3, without, 0.0, query(draft))
        names = [profile.id for profile in near]
        last = said.call.turn == 3 and said.call.seat == 2
        assert people_under(KNOWLEDGE, said.user) == may_be_asked(said) == ([] if last else names)


def test_a_question_to_somebody_who_was_not_shown_reaches_nobody(synthetic):
    def to_a_member(call, request):
        if request.form.__name__ == "Remark":
            me = request.slots["me"].id
            return {"Ask": {"Scientist": me, "Question": "What do you think?"}}
        if request.form.__name__ == "Idea":
            outsiders = request.slots["outsiders"]
            return {"Ask": {"Scientist": outsiders[0].id, "Question": "  "}} if outsiders else None
        return None

    played = play(synthetic, VirSci(**SMALL), to_a_member)
    assert not played.of_form("GuestReply")
    assert not played.rows("consultations")
    check_words(played)


def test_consultations_are_logged_with_asker_guest_stage_and_words(synthetic):
    played = play(synthetic, VirSci(**SMALL), consults=True)
    guests = played.of_form("GuestReply")
    rows = played.rows("consultations")
    # The last speakers of ideas and abstract are offered nobody: no one would hear the answer.
    assert len(rows) == len(guests) == 25
    for row, said in zip(rows, guests, strict=True):
        assert (row["asker"], row["guest"]) == (said.call.who, said.call.guest)
        assert (row["stage"], row["answer"]) == (said.call.stage, said.reply["Answer"])
        assert row["guest"] not in {r["scientist"] for r in played.rows("members")}


def recalled(said):
    return [line[2:] for line in oneself(said).partition(RECALLED)[2].splitlines() if line]


def six_teams(synthetic, memory):
    protocol = VirSci(**SMALL, memory=memory)
    founding = Once(count=6, every="150d", max_teams=9)
    return play(synthetic, protocol, consults=True, founding=founding)


@pytest.mark.slow
def test_memory_is_ones_own_from_other_teams_and_never_in_assessment(synthetic):
    played = six_teams(synthetic, "own")
    asked = {r["call"]: r["asked"] for r in played.rows("calls")}
    remembering = [said for said in played.said if recalled(said)]
    assert {said.form for said in remembering} == {"Remark", "Idea", "Draft", "Revision"}
    for said in remembering:
        lines = recalled(said)
        memory = played.society.population.scientist_named(said.call.who).memory
        own = {entry.line for entry in memory if entry.date <= asked[said.request.id]}
        assert set(lines) <= own
        assert len(lines) <= 5
        teams = {entry.team for entry in memory if entry.line in lines}
        assert said.call.team not in teams
    for said in played.said:
        # Apart from memory and from what has been published, a team's words stay in the team.
        assert attributed(said) == expected(Past(played, said)), said.request.id
