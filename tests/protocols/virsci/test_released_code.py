"""The profile of the released code: every departure alone, and all of them by one name."""

import numpy as np
import pytest
from pydantic import ValidationError

from protocols.virsci.protocol import VirSci
from protocols.virsci.settings import (
    PROFILES,
    RELEASED_CODE,
    Confidence,
    PromptSwitches,
    ReferenceUse,
    VirSciSettings,
)
from scenarios.config.schema import load_scenario
from society.literature.embedding.base import paper_text
from tests.protocols.scripted_backend import PLANTED, dissolved, play, speakers, strike_at

SMALL = {"team_size": 3, "turns": 2}
SECTIONS = {"confidence": Confidence, "prompts": PromptSwitches, "references": ReferenceUse}


def says(**acts):
    """Replies by act: fields, or a function of the call that gives them."""

    def script(call, request):
        fields = acts.get(call.act)
        return fields(call) if callable(fields) else fields

    return script


def members(played):
    return [row["scientist"] for row in played.rows("members")]


# ---- the profile --------------------------------------------------------------------------


def test_a_profile_is_nothing_but_the_values_of_its_keys():
    assert VirSci(profile="paper") == VirSci()
    assert set(PROFILES) == {"paper", "full", "released-code"}
    named = VirSci(profile="released-code").settings.model_dump()
    spelled = VirSci(**RELEASED_CODE).settings.model_dump()
    assert named.pop("profile") == "released-code"
    assert spelled.pop("profile") == "paper"
    assert named == spelled


@pytest.mark.parametrize("key", sorted(RELEASED_CODE))
def test_every_key_of_the_profile_is_a_departure_and_can_be_taken_back(key):
    paper = getattr(VirSci().settings, key)
    if key in SECTIONS:
        paper = paper.model_dump()
        assert not RELEASED_CODE[key].items() & paper.items()
        paper = SECTIONS[key](**paper)
    # Pooled votes are also how we read the paper, which does not say.
    assert (getattr(VirSci(**{key: RELEASED_CODE[key]}).settings, key) == paper) is (key == "votes")
    back = VirSci(profile="released-code", **{key: paper}).settings
    others = {other: getattr(back, other) for other in RELEASED_CODE if other != key}
    full = VirSci(profile="released-code").settings
    assert others == {other: getattr(full, other) for other in others}
    if key not in SECTIONS:
        assert getattr(back, key) == paper


def test_a_section_given_in_part_takes_the_rest_from_the_profile():
    wanted = Confidence(**RELEASED_CODE["confidence"] | {"first_idea": "unscored"})
    for given in ({"first_idea": "unscored"}, Confidence(first_idea="unscored")):
        assert VirSci(profile="released-code", confidence=given).settings.confidence == wanted
    weights = VirSci(profile="released-code", confidence={"novelty": 2.0}).settings.confidence
    assert (weights.clarity, weights.novelty, weights.ranked_by) == (3.0, 2.0, "next")


def test_an_unknown_profile_is_refused_by_name():
    for wrong in ("fast", 3, ["paper"]):
        with pytest.raises(ValidationError, match="profile"):
            VirSci(profile=wrong)


def test_the_resolved_scenario_is_complete_and_reads_back_equal():
    settings = ["protocol.profile=released-code", "protocol.confidence.first_idea=unscored"]
    scenario = load_scenario("virsci/paper", settings=settings)
    data = scenario.to_data()["protocol"]
    assert data["profile"] == "released-code"
    assert {key: data[key] for key in RELEASED_CODE if key not in SECTIONS} == {
        key: value for key, value in RELEASED_CODE.items() if key not in SECTIONS
    }
    for key, section in SECTIONS.items():
        assert data[key] == section(**RELEASED_CODE[key]).model_dump() | (
            {"first_idea": "unscored"} if key == "confidence" else {}
        )
    assert data["min_size"] == "all", "what the file gives beside the profile stays"
    spelled = VirSci(
        **{key: value for key, value in data.items() if key not in ("use", "selection")}
    )
    assert spelled == scenario.protocol


def test_a_profile_can_be_laid_over_a_resolved_scenario():
    """Arms of a study and interventions start from scenarios in which every key has its value."""
    scenario = load_scenario(
        "virsci/paper", settings=["protocol.restarts=1", "protocol.cites=retrieved"]
    )
    changed = scenario.set("protocol.profile", "released-code")
    assert changed.protocol == VirSci(
        **{name: getattr(scenario.protocol.settings, name) for name in VirSciSettings.model_fields}
        | dict(RELEASED_CODE)
        | {"profile": "released-code"}
    )
    assert changed.set("protocol.profile", "paper").protocol.settings.leaving == "on"
    own = load_scenario("virsci/paper", settings=["protocol.guests=join"])
    back = own.set("protocol.profile", "released-code").set("protocol.profile", "paper")
    assert back.protocol.settings.cites == "used"
    assert scenario.set("seed", 7).protocol == scenario.protocol


# ---- consensus ----------------------------------------------------------------------------


def test_the_leader_alone_decides_on_the_topic(synthetic):
    def only(leader_agrees):
        return says(agree=lambda call: {"Agree": leader_agrees is call.team.startswith(call.who)})

    protocol = VirSci(**SMALL, restarts=0, consensus="leader")
    played = play(synthetic, protocol, only(True))
    assert played.team["state"] == "published"
    assert [said.call.who for said in played.of(act="agree")] == [played.team["leader"]]
    # The same voices are no majority, and others' voices are not asked for.
    assert dissolved(play(synthetic, VirSci(**SMALL, restarts=0), only(True))) == "no consensus"
    assert dissolved(play(synthetic, protocol, only(False))) == "no consensus"


def test_the_topic_is_forced_on_the_second_pass(synthetic):
    nobody = says(agree={"Agree": False})
    played = play(synthetic, VirSci(**SMALL, forced_after=2), nobody)
    assert played.team["state"] == "published"
    assert played.team["restarts"] == 1
    assert {said.call.visit for said in played.of(stage="topic")} == {1, 2}
    assert played.team["topic"].startswith("zq")
    # Nobody has to be overruled where all agree.
    assert play(synthetic, VirSci(**SMALL, forced_after=2)).team["restarts"] == 0
    # Restarts that run out first still end the team.
    short = VirSci(**SMALL, forced_after=2, restarts=0)
    assert dissolved(play(synthetic, short, nobody)) == "no consensus"


# ---- people -------------------------------------------------------------------------------


def test_refusals_are_not_replaced(synthetic):
    first = says(invite=lambda call: {"Selected Action": "Action 2"} if call.seat == 0 else None)
    for inviting in ("one_by_one", "at_once"):
        protocol = VirSci(team_size=4, turns=1, replacement="off", inviting=inviting)
        played = play(synthetic, protocol, first)
        outcomes = [row["outcome"] for row in played.rows("invitations")]
        assert outcomes == ["declined", "accepted", "accepted"]
        assert (played.team["target_size"], played.team["size"]) == (4, 3)
    everybody = says(invite={"Selected Action": "Action 2"})
    played = play(synthetic, VirSci(team_size=4, turns=1, replacement="off"), everybody)
    assert dissolved(played) == "too small"
    assert len(played.rows("invitations")) == 3


def test_nobody_is_asked_whether_to_stay(synthetic):
    everybody_leaves = says(stay={"Stay": False})
    assert (
        dissolved(play(synthetic, VirSci(**SMALL), everybody_leaves)) == "too small after leaving"
    )
    played = play(synthetic, VirSci(**SMALL, leaving="off"), everybody_leaves)
    assert played.team["size"] == 3
    assert not played.of(act="stay")


def test_guests_join_for_good_and_nobody_sees_what_they_answer(synthetic):
    def asks_once(call, request):
        speaks = request.form.__name__ in ("Remark", "Idea", "Draft", "Revision")
        first = (call.stage, call.turn, call.seat) in (("topic", 1, 1), ("ideas", 2, 0))
        return {"Ask": None} if speaks and not first else None

    protocol = VirSci(**SMALL, guests="join")
    played = play(synthetic, protocol, asks_once, consults=True)
    guests = [row["guest"] for row in played.rows("consultations")]
    assert len(guests) == len(set(guests)) == 2
    assert members(played)[3:] == guests
    assert [row["scientist"] for row in played.rows("authorships")] == members(played)
    assert played.team["size"] == 5
    assert played.team["target_size"] == 3
    sizes = {
        stage: [len(turn) for turn in speakers(played, stage).values()]
        for stage in ("topic", "ideas", "novelty", "abstract")
    }
    # Whoever is asked in a last turn sits in the first meeting of the next stage.
    assert sizes == {"topic": [3, 4], "ideas": [4, 4], "novelty": [5, 5], "abstract": [5, 5]}
    answers = {said.word("Answer") for said in played.of_form("GuestReply")}
    assert len(answers) == 2
    assert not answers & {w for said in played.said for w in PLANTED.findall(said.user)}
    advised = play(synthetic, VirSci(**SMALL), asks_once, consults=True)
    heard = {said.word("Answer") for said in advised.of_form("GuestReply")}
    assert heard <= {w for said in advised.said for w in PLANTED.findall(said.user)}
    assert len(members(advised)) == 3


def test_a_member_is_not_seated_twice_and_a_late_guest_not_at_all(synthetic):
    """Everybody asks the first outsider it is shown, in every turn."""
    protocol = VirSci(team_size=2, turns=2, guests="join", self_review="on")
    played = play(synthetic, protocol, strike_at(1), consults=True)
    assert len(set(members(played))) == len(members(played)) == played.team["size"]
    last = [
        row["guest"]
        for row in played.rows("consultations")
        if row["stage"] == "abstract" and row["guest"] not in members(played)
    ]
    assert last, "those asked in the last turn of the abstract come too late"
    assert played.team["state"] == "published"


def test_a_majority_is_one_of_those_who_were_asked(synthetic):
    """Guests of the last turn join between the question and its effect."""

    def two_of_three(call, request):
        return {"Agree": call.seat != 2} if call.act == "agree" else None

    protocol = VirSci(team_size=3, turns=1, restarts=0, guests="join")
    played = play(synthetic, protocol, two_of_three, consults=True)
    assert len(played.of(act="agree")) == 3
    assert len(speakers(played, "ideas")[1]) > 3
    assert played.team["state"] == "published"


# ---- ideas --------------------------------------------------------------------------------


def rated(*ratings):
    """Ideas with these (clarity, feasibility, novelty), in the order of being said."""

    def script(call, request):
        if request.form.__name__ != "Idea":
            return None
        clarity, feasibility, novelty = ratings[(call.turn - 1) * 2 + call.seat]
        return {"Clarity": clarity, "Feasibility": feasibility, "Novelty": novelty}

    return script


def on_the_ballot(played):
    """Places of the ideas that the first voter saw, in the order of being said."""
    titles = [said.reply["Title"] for said in played.of_form("Idea")]
    shown = played.of(act="vote")[0].request.slots["ideas"]
    return [titles.index(standing.idea.title) for standing in shown]


PAIR = {"team_size": 2, "turns": 2}


def test_confidence_is_three_times_clarity_without_the_first_idea(synthetic):
    ratings = [(10, 10, 10), (2, 9, 9), (3, 1, 1), (4, 1, 1)]
    script = rated(*ratings)
    assert on_the_ballot(play(synthetic, VirSci(**PAIR), script)) == [0, 1, 3]
    clarity = {"clarity": 3, "feasibility": 0, "novelty": 0}
    played = play(synthetic, VirSci(**PAIR, confidence=clarity), script)
    assert on_the_ballot(played) == [0, 2, 3]
    unscored = {"first_idea": "unscored"}
    played = play(synthetic, VirSci(**PAIR, confidence=unscored), script)
    assert on_the_ballot(played) == [1, 2, 3]
    played = play(synthetic, VirSci(**PAIR, confidence=clarity | unscored), script)
    assert on_the_ballot(played) == [1, 2, 3]
    assert played.team["ties"] == 0


def test_the_unscored_idea_still_stands_where_there_are_too_few(synthetic):
    protocol = VirSci(team_size=2, turns=1, confidence={"first_idea": "unscored"})
    played = play(synthetic, protocol, rated((10, 10, 10), (1, 1, 1)))
    assert on_the_ballot(played) == [0, 1]
    # Nobody votes for either of them, so that confidence decides.
    abstain = says(vote={"Decision Made": "Idea 2"})
    drafted = play(synthetic, protocol, abstain).of_form("Draft")[0].request.slots["idea"]
    assert drafted.idea.title == played.of_form("Idea")[1].reply["Title"]


def chosen(played):
    (draft,) = played.of_form("Draft")
    titles = [s.idea.title for s in played.of(act="vote")[0].request.slots["ideas"]]
    return titles.index(draft.request.slots["idea"].idea.title)


def test_votes_of_all_turns_are_pooled_or_only_the_last_counts(synthetic):
    """3 for idea 0 in turn 1; in turn 2, 2 for idea 1 and 1 for idea 0."""
    votes = {1: (0, 0, 0), 2: (1, 1, 0)}
    script = says(vote=lambda call: {"Decision Made": f"Idea {votes[call.turn][call.seat]}"})
    assert chosen(play(synthetic, VirSci(**SMALL, votes="all_turns"), script)) == 0
    assert chosen(play(synthetic, VirSci(**SMALL, votes="last_turn"), script)) == 1


# ---- papers -------------------------------------------------------------------------------


def test_references_are_cited_on_retrieval(synthetic):
    """Without a word of use, nothing is cited by the paper's reading, everything by the code's."""
    played = play(synthetic, VirSci(**SMALL))
    assert not played.rows("citations")
    retrieved = play(synthetic, VirSci(**SMALL, cites="retrieved"))
    cited = [row["cited"] for row in retrieved.rows("citations")]
    shown = {
        reference.id
        for said in retrieved.of_form("Idea")
        for reference in said.request.slots["references"]
    }
    assert shown
    assert shown <= set(cited)
    assert len(cited) == len(set(cited))
    # Of the last idea, which no later prompt has shown, what is near it counts as well.
    ballot = retrieved.of(act="vote")[0].request.slots["ideas"]
    near = {reference.id for standing in ballot for reference in standing.references}
    assert near <= set(cited)
    off = {"ideas": "off", "assessment": "on"}
    blind = play(synthetic, VirSci(**SMALL, cites="retrieved", references=off))
    assert not blind.rows("citations"), "no search, no citation"


@pytest.mark.parametrize("found_by", ["abstract", "idea"])
def test_a_paper_is_found_by_its_abstract_or_by_its_idea(synthetic, found_by):
    played = play(synthetic, VirSci(**SMALL, found_by=found_by))
    (paper,) = played.rows("papers")
    idea = played.of_form("Draft")[0].request.slots["idea"]
    told = {"abstract": paper_text(paper["title"], paper["abstract"]), "idea": idea.query}
    literature = played.society.literature
    vector = literature.vector(paper["paper"]).ravel()
    same = {name: literature.embedding.encode([text])[0] for name, text in told.items()}
    assert [name for name in told if np.array_equal(vector, same[name])] == [found_by]


# ---- all together -------------------------------------------------------------------------


def test_the_released_code_from_end_to_end(synthetic):
    """One member declines, nobody but the leader is asked, and the topic is forced."""

    def script(call, request):
        if call.act == "invite" and call.seat == 1:
            return {"Selected Action": "Action 2"}
        return {"Agree": False, "Stay": False} if call.act in ("agree", "stay") else None

    protocol = VirSci(profile="released-code", team_size=4, turns=1)
    played = play(synthetic, protocol, script, consults=True)
    assert len(played.rows("invitations")) == 3
    assert [said.call.visit for said in played.of(act="agree")] == [1, 2]
    assert not played.of(act="stay")
    assert played.team["restarts"] == 1
    assert played.team["size"] > 3, "guests have joined"
    assert played.rows("citations")
    assert played.team["state"] == "published"
