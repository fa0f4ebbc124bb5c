"""The profile of the released code: every departure alone, and all of them by one name."""

import numpy as np
import pytest

from tests.protocols.scripted_backend import PLANTED, dissolved, play, speakers, strike_at
from virsci_society.protocols.virsci.ideas import Confidence
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.protocols.virsci.released_code import RELEASED_CODE
from virsci_society.protocols.virsci.settings import PROFILES
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.society.literature.embedding.base import paper_text

SMALL = {"team_size": 3, "turns": 2}
DEPARTURES = [
    (section, key)
    for section, value in RELEASED_CODE.items()
    for key in (value if isinstance(value, dict) else [""])
]


def value_at(settings, section, key):
    value = getattr(settings, section)
    return getattr(value, key) if key else value


def departure(section, key, value):
    return {section: {key: value} if key else value}


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
    named = VirSci(profile="released-code").model_dump()
    spelled = VirSci(**RELEASED_CODE).model_dump()
    assert named.pop("profile") == "released-code"
    assert spelled.pop("profile") == "paper"
    assert named == spelled


@pytest.mark.parametrize(("section", "key"), DEPARTURES)
def test_every_key_of_the_profile_is_a_departure_and_can_be_taken_back(section, key):
    paper, full = VirSci(), VirSci(profile="released-code")
    usual, theirs = value_at(paper, section, key), value_at(full, section, key)
    alone = VirSci(**departure(section, key, theirs))
    assert value_at(alone, section, key) == theirs != usual
    back = VirSci(profile="released-code", **departure(section, key, usual))
    assert value_at(back, section, key) == usual
    for other in DEPARTURES:
        if other != (section, key):
            assert value_at(back, *other) == value_at(full, *other)


def test_a_section_given_in_part_takes_the_rest_from_the_profile():
    wanted = Confidence(**RELEASED_CODE["confidence"] | {"first_idea": "unscored"})
    for given in ({"first_idea": "unscored"}, Confidence(first_idea="unscored")):
        assert VirSci(profile="released-code", confidence=given).confidence == wanted
    weights = VirSci(profile="released-code", confidence={"novelty": 2.0}).confidence
    assert (weights.clarity, weights.feasibility, weights.novelty) == (3.0, 0.0, 2.0)


def test_a_profile_can_be_laid_over_a_resolved_scenario():
    """Arms of a study and interventions start from scenarios in which every key has its value."""
    scenario = load_scenario(
        "virsci/paper", settings=["protocol.topic.restarts=1", "protocol.cites=retrieved"]
    )
    changed = scenario.set("protocol.profile", "released-code")
    released = VirSci(profile="released-code")
    settings = changed.protocol
    assert (settings.topic.restarts, settings.cites) == (1, "retrieved")
    for section, key in DEPARTURES:
        assert value_at(settings, section, key) == value_at(released, section, key)
    assert settings.max_invitations == scenario.protocol.max_invitations
    assert changed.set("protocol.profile", "paper").protocol.topic.leaving == "on"
    own = load_scenario("virsci/paper", settings=["protocol.released_code.guests=join"])
    back = own.set("protocol.profile", "released-code").set("protocol.profile", "paper")
    assert back.protocol.cites == "used"
    assert scenario.set("seed", 7).protocol == scenario.protocol


# ---- consensus ----------------------------------------------------------------------------


def test_the_leader_alone_decides_on_the_topic(synthetic):
    def only(leader_agrees):
        return says(agree=lambda call: {"Agree": leader_agrees is call.team.startswith(call.who)})

    protocol = VirSci(**SMALL, topic={"restarts": 0, "consensus": "leader"})
    played = play(synthetic, protocol, only(True))
    assert played.team["state"] == "published"
    assert [said.call.who for said in played.of(act="agree")] == [played.team["leader"]]
    # The same voices are no majority, and others' voices are not asked for.
    assert (
        dissolved(play(synthetic, VirSci(**SMALL, topic={"restarts": 0}), only(True)))
        == "no consensus"
    )
    assert dissolved(play(synthetic, protocol, only(False))) == "no consensus"


def test_the_topic_is_forced_on_the_second_pass(synthetic):
    nobody = says(agree={"Agree": False})
    played = play(synthetic, VirSci(**SMALL, released_code={"forced_after": 2}), nobody)
    assert played.team["state"] == "published"
    assert played.team["restarts"] == 1
    assert {said.call.visit for said in played.of(stage="topic")} == {1, 2}
    assert played.team["topic"].startswith("zq")
    # Nobody has to be overruled where all agree.
    assert play(synthetic, VirSci(**SMALL, released_code={"forced_after": 2})).team["restarts"] == 0
    # Restarts that run out first still end the team.
    short = VirSci(**SMALL, released_code={"forced_after": 2}, topic={"restarts": 0})
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


def test_guests_join_for_good_and_nobody_sees_what_they_answer(synthetic):
    def asks_once(call, request):
        speaks = request.form.__name__ in ("Remark", "Idea", "Draft", "Revision")
        first = (call.stage, call.turn, call.seat) in (("topic", 1, 1), ("ideas", 2, 0))
        return {"Ask": None} if speaks and not first else None

    protocol = VirSci(**SMALL, released_code={"guests": "join"})
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
    protocol = VirSci(
        team_size=2, turns=2, released_code={"guests": "join"}, abstract={"self_review": "on"}
    )
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

    protocol = VirSci(team_size=3, turns=1, topic={"restarts": 0}, released_code={"guests": "join"})
    played = play(synthetic, protocol, two_of_three, consults=True)
    assert len(played.of(act="agree")) == 3
    assert len(speakers(played, "ideas")[1]) > 3
    assert played.team["state"] == "published"


def calls_upon(text):
    """The second speaker of the first turn of every stage says this, with names filled in."""

    def script(call, request):
        if request.form.__name__ not in ("Remark", "Idea") or (call.turn, call.seat) != (1, 1):
            return None
        taken = request.slots["team"]
        others = [f"Scientist{number}" for number in range(9)]
        others = [name for name in others if name not in taken]
        field = "Response" if request.form.__name__ == "Remark" else "Idea"
        return {field: text.format(*others, me=taken[1])}

    return script


BY_THE_WAY = {**SMALL, "released_code": {"asking": "by_the_way"}}


def guests_of(played):
    return [(row["stage"], row["guest"]) for row in played.rows("consultations")]


def test_outsiders_are_consulted_when_they_are_named_by_the_way(synthetic):
    text = "By the way, {0} knows, {2} does, {me} does not, and so does {0}; Nobody77 never."
    played = play(synthetic, VirSci(**BY_THE_WAY), calls_upon(text))
    topic = [guest for stage, guest in guests_of(played) if stage == "topic"]
    assert len(topic) == len(set(topic)) == 2
    assert {stage for stage, _ in guests_of(played)} == {"topic", "ideas"}
    for said in played.of_form("GuestReply"):
        assert f"{said.call.who} asks you" not in said.user
        assert "You are named in it." in said.user
        assert text[:12] in said.user
    assert not any(said.request.slots.get("outsiders") for said in played.said), "nobody is shown"
    # What guests answer is heard, as in the paper, unless they join.
    answers = {said.word("Answer") for said in played.of_form("GuestReply")}
    assert answers <= {w for said in played.said for w in PLANTED.findall(said.user)}


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("{0} knows.", False),
        ("by the way, ask somebody", False),
        ("BY THE WAY, {0}", False),
        ("And by the way, {0}.", True),
        ("By the way: scientist {0}", True),
    ],
)
def test_the_words_and_a_name_call_somebody_and_neither_alone(synthetic, text, called):
    played = play(synthetic, VirSci(**BY_THE_WAY), calls_upon(text))
    assert bool(guests_of(played)) == bool(played.of_form("GuestReply")) == called
    off = VirSci(**BY_THE_WAY, discussion={"invitation": "off"})
    assert not called or not guests_of(play(synthetic, off, calls_upon(text)))


def test_who_has_been_called_and_will_join_is_not_called_again(synthetic):
    def twice(call, request):
        if request.form.__name__ == "Remark" and call.turn == 1 and call.seat > 0:
            outside = next(f"Scientist{n}" for n in range(9) if f"Scientist{n}" not in call_team)
            return {"Response": f"By the way, {outside}"}
        call_team.update(request.slots.get("team", ()))
        return None

    call_team = set()
    played = play(
        synthetic, VirSci(**SMALL, released_code={"asking": "by_the_way", "guests": "join"}), twice
    )
    assert len(guests_of(played)) == len(played.of_form("GuestReply")) == 1
    assert members(played)[3:] == [guest for _, guest in guests_of(played)]


def test_outsiders_are_consulted_and_shown_in_the_topic_discussion_only(synthetic):
    played = play(synthetic, VirSci(**SMALL, discussion={"invitation": "topic"}), consults=True)
    assert {stage for stage, _ in guests_of(played)} == {"topic"}
    played = play(
        synthetic, VirSci(**SMALL, discussion={"invitation": "off", "knowledge": "topic"})
    )
    shown = {said.form for said in played.said if said.request.slots.get("knowledge")}
    assert shown == {"Remark"}


# ---- ideas --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "more", [{}, {"prompts": {"carry": "on"}}, {"released_code": {"guests": "join"}}]
)
def test_without_dialogue_a_speaker_sees_the_idea_on_the_table_alone(synthetic, more):
    played = play(synthetic, VirSci(**SMALL, ideas={"dialogue": "off"}, **more), consults=True)
    assert played.count(act="summarise", stage="ideas") == 0
    assert played.count(act="summarise", stage="topic") == 1
    ideas = played.of_form("Idea")
    # With carry the titles and gists of earlier ideas stand on the page.
    carried = ("Title", "In Short") if more.get("prompts") else ()
    for place, said in enumerate(ideas):
        told = set(PLANTED.findall(said.user))
        for before, other in enumerate(ideas[:place]):
            seen = {field for field in ("Idea", "Title", "Experiment") if other.word(field) in told}
            assert seen == ({"Idea", "Title", "Experiment"} if before == place - 1 else seen)
            assert before == place - 1 or seen <= set(carried)
            assert other.word("Reason") not in told
    asked = [stage for stage, _ in guests_of(played)].count("ideas")
    assert bool(asked) == bool(more), "nobody is asked where nobody would hear the answer"


def test_adaptive_pacing_without_dialogue_shows_the_leader_the_ideas_of_the_round(synthetic):
    settings = {"discussion": {"pacing": "adaptive", "max_turns": 2}, "ideas": {"dialogue": "off"}}
    played = play(synthetic, VirSci(**SMALL, **settings))
    (decision,) = [s for s in played.of_form("AnotherTurn") if s.call.stage == "ideas"]
    assert all(said.word("Title") in decision.user for said in played.of_form("Idea")[:3])


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


CLARITY = {"confidence": {"clarity": 3, "feasibility": 0, "novelty": 0}}
NOT_BELOW = CLARITY | {"released_code": {"listed": "not_below_best"}}
SHIFTED = CLARITY | {"released_code": {"ranked_by": "next"}}
RATINGS = ((10, 10, 10), (2, 9, 9), (3, 1, 1), (4, 1, 1))


def clear(*ratings):
    return [(clarity, 1, 1) for clarity in ratings]


@pytest.mark.parametrize(
    ("settings", "ratings", "listed", "ties"),
    [
        # Confidence is three times clarity, without the first idea.
        ({}, RATINGS, [0, 1, 3], 0),
        (CLARITY, RATINGS, [0, 2, 3], 0),
        ({"confidence": {"first_idea": "unscored"}}, RATINGS, [1, 2, 3], 0),
        (
            {"confidence": CLARITY["confidence"] | {"first_idea": "unscored"}},
            *(RATINGS, [1, 2, 3], 0),
        ),
        # Only ideas not below the best so far are listed.
        (CLARITY, clear(5, 4, 5, 7), [0, 2, 3], 0),
        (NOT_BELOW, clear(5, 4, 5, 7), [0, 2, 3], 0),
        (NOT_BELOW, clear(9, 4, 5, 7), [0], 0),
        (NOT_BELOW, clear(9, 4, 5, 9), [0, 3], 0),
        # Ideas are ranked by the rating of the one after them; three stay as they are.
        (SHIFTED, clear(9, 2, 3, 8), [2, 1, 0], 0),
        (SHIFTED, clear(9, 2, 2, 2), [0, 1, 2], 0),
        (SHIFTED | {"team_size": 3, "turns": 1}, clear(9, 2, 3), [0, 1, 2], 0),
        # The number of ties is that of the list that is ranked.
        (SHIFTED | {"turns": 3}, clear(9, 8, 2, 2, 2, 1), [0, 1, 2], 2),
    ],
)
def test_which_ideas_are_on_the_ballot(synthetic, settings, ratings, listed, ties):
    played = play(synthetic, VirSci(**PAIR | settings), rated(*ratings))
    assert on_the_ballot(played) == listed
    assert played.team["ties"] == ties


def test_the_unscored_idea_still_stands_where_there_are_too_few(synthetic):
    protocol = VirSci(team_size=2, turns=1, confidence={"first_idea": "unscored"})
    played = play(synthetic, protocol, rated((10, 10, 10), (1, 1, 1)))
    assert on_the_ballot(played) == [0, 1]
    # Nobody votes for either of them, so that confidence decides.
    abstain = says(vote={"Decision Made": "Idea 2"})
    drafted = play(synthetic, protocol, abstain).of_form("Draft")[0].request.slots["idea"]
    assert drafted.idea.title == played.of_form("Idea")[1].reply["Title"]


def test_an_unreadable_vote_counts_for_idea_0(synthetic):
    def script(call, request):
        if call.act != "vote":
            return None
        # Two of three ballots say nothing, in the re-asks as well.
        return {"Decision Made": "Idea 1" if call.seat == 0 else "the better one"}

    assert chosen(play(synthetic, VirSci(**SMALL), script)) == 1
    counted = VirSci(**SMALL, released_code={"unreadable_votes": "first_idea"})
    assert chosen(play(synthetic, counted, script)) == 0


def test_of_tied_ideas_the_first_voted_for_wins(synthetic):
    votes = (2, 0, 2, 0)
    script = says(vote=lambda call: {"Decision Made": f"Idea {votes[call.seat]}"})
    ratings = [(5, 5, 9), (1, 1, 1), (5, 5, 8), (5, 5, 7)]

    def both(call, request):
        if request.form.__name__ == "Idea":
            return dict(zip(("Clarity", "Feasibility", "Novelty"), ratings[call.seat], strict=True))
        return script(call, request)

    four = {"team_size": 4, "turns": 1}
    assert chosen(play(synthetic, VirSci(**four), both)) == 0
    assert (
        chosen(play(synthetic, VirSci(**four, released_code={"tied_votes": "first_cast"}), both))
        == 2
    )
    nobody = says(vote={"Decision Made": "none"})
    abstained = play(synthetic, VirSci(**four, released_code={"tied_votes": "first_cast"}), nobody)
    assert abstained.team["state"] == "published"


def chosen(played):
    (draft,) = played.of_form("Draft")
    titles = [s.idea.title for s in played.of(act="vote")[0].request.slots["ideas"]]
    return titles.index(draft.request.slots["idea"].idea.title)


def test_votes_of_all_turns_are_pooled_or_only_the_last_counts(synthetic):
    """3 for idea 0 in turn 1; in turn 2, 2 for idea 1 and 1 for idea 0."""
    votes = {1: (0, 0, 0), 2: (1, 1, 0)}
    script = says(vote=lambda call: {"Decision Made": f"Idea {votes[call.turn][call.seat]}"})
    assert chosen(play(synthetic, VirSci(**SMALL, assessment={"votes": "all_turns"}), script)) == 0
    assert chosen(play(synthetic, VirSci(**SMALL, assessment={"votes": "last_turn"}), script)) == 1


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


def shown_on_ballots(played):
    ballot = played.of_form("Ballot")[0]
    return [len(idea.references) for idea in ballot.request.slots["ideas"]], ballot


def test_few_ideas_have_more_papers_each(synthetic):
    uses = {"references": {"per_idea": 2}, "released_code": {"few_ideas": 4}}
    assert shown_on_ballots(play(synthetic, VirSci(**SMALL, **uses)))[0] == [2, 2, 2]
    two = VirSci(team_size=2, turns=1, **uses)
    assert shown_on_ballots(play(synthetic, two))[0] == [4, 4]


def test_a_pooled_list_does_not_say_which_paper_is_near_to_which_idea(synthetic):
    for ballot, told in (("per_idea", 3), ("pooled", 0)):
        protocol = VirSci(**SMALL, released_code={"ballot": ballot})
        _, said = shown_on_ballots(play(synthetic, protocol))
        assert said.user.count("\nNearest papers: ") == told
        keys = [paper.key for paper in said.request.slots["papers"]]
        by_number = sorted(keys, key=lambda key: int(key[1:]))
        assert (keys == by_number) == (ballot == "pooled")


def test_papers_are_searched_by_the_title_alone(synthetic):
    found, past = {}, synthetic.past[0].abstract

    def other_words(call, request):
        """Else title and text would be about the same interest, and be near the same papers."""
        return {"Idea": past} if request.form.__name__ == "Idea" else None

    for query in ("idea", "title"):
        played = play(synthetic, VirSci(**SMALL, references={"query": query}), other_words)
        said = played.of_form("Idea")[1]
        literature = played.society.literature
        before = played.of_form("Idea")[0].reply
        text = before["Title"] + (f". {before['Idea']}" if query == "idea" else "")
        visible = literature.visible(said.request.asked)
        wanted = [paper.id for paper in literature.search(text, 8, visible)]
        found[query] = [paper.id for paper in said.request.slots["references"]]
        assert found[query] == wanted
    assert found["idea"] != found["title"]


@pytest.mark.parametrize("score", [69, 70, "none at all"])
def test_a_self_review_that_is_recorded_has_no_consequence(synthetic, score):
    protocol = VirSci(**SMALL, abstract={"self_review": "recorded", "threshold": 70})
    review = says(review={"similarity_scores": {"Written Abstract vs A": score}})
    played = play(synthetic, protocol, review)
    assert played.team["state"] == "published"
    assert played.team["strikes"] == 0
    assert {said.call.visit for said in played.of(stage="abstract")} == {1}
    assert played.count(act="review") >= 1


@pytest.mark.slow
@pytest.mark.parametrize("neighbour_query", ["abstract", "abstract_only", "idea"])
def test_a_paper_is_found_by_its_abstract_or_by_its_idea(synthetic, neighbour_query):
    past = synthetic.past[0].abstract

    def other_words(call, request):
        """Else title and abstract would be about the same interest, and embedded alike."""
        return {"Abstract": past} if request.form.__name__ == "Revision" else None

    played = play(synthetic, VirSci(**SMALL, neighbour_query=neighbour_query), other_words)
    (paper,) = played.rows("papers")
    idea = played.of_form("Draft")[0].request.slots["idea"]
    told = {
        "abstract": paper_text(paper["title"], paper["abstract"]),
        "abstract_only": paper["abstract"],
        "idea": idea.query,
    }
    literature = played.society.literature
    vector = literature.vector(paper["paper"]).ravel()
    same = {name: literature.embedding.encode([text])[0] for name, text in told.items()}
    assert [name for name in told if np.array_equal(vector, same[name])] == [neighbour_query]


# ---- all together -------------------------------------------------------------------------
