"""What a page says of the work is true on the day it is read: found by reading page by page."""

import pytest

from tests.protocols.scripted_backend import play
from virsci_society.protocols.virsci.protocol import VirSci

SMALL = {"team_size": 3, "turns": 2}


def disagree(call, request):
    return {"Agree": False} if call.act == "agree" else None


def after_agreement(said):
    """What a page says follows from the answer."""
    return said.user.split("what the topic could bring.\n", 1)[1].split("\n", 1)[0]


@pytest.mark.parametrize(
    ("more", "opening", "choice", "ends"),
    [
        (
            {"topic": {"restarts": 1}},
            ["and the members say whether they agree."] * 2,
            ["The members then say whether they agree."] * 2,
            [
                "If there is no majority, the discussion starts again.",
                "If there is no majority, the team breaks up.",
            ],
        ),
        (
            {"topic": {"restarts": 1, "consensus": "leader"}},
            ["and decides whether it stands."] * 2,
            ["Afterwards you are asked whether it stands."] * 2,
            ["If you do not, the discussion starts again.", "If you do not, the team breaks up."],
        ),
        (
            {"topic": {"consensus": "leader"}, "released_code": {"forced_after": 2}},
            ["and decides whether it stands.", "and the team takes it."],
            ["Afterwards you are asked whether it stands.", "The team takes it."],
            [
                "If you do not, the discussion starts again.",
                "The team takes it in any case, because this discussion was its last.",
            ],
        ),
    ],
    ids=["majority", "leader", "forced"],
)
def test_a_page_says_who_settles_the_topic_and_what_follows(synthetic, more, opening, choice, ends):
    played = play(synthetic, VirSci(**SMALL, **more), disagree)
    for visit in (1, 2):
        for said in played.of_form("Remark"):
            if said.call.visit == visit:
                first, _, _ = said.user.partition("\n")
                assert first.endswith(opening[visit - 1]), said.request.id
        (chosen,) = (said for said in played.of_form("Topic") if said.call.visit == visit)
        assert chosen.user.partition("\n")[0].endswith(choice[visit - 1])
        asked = [said for said in played.of_form("Agreement") if said.call.visit == visit]
        assert {after_agreement(said) for said in asked} == {ends[visit - 1]}


def test_a_topic_that_the_leader_dropped_alone_was_put_to_no_vote(synthetic):
    for consensus, line in (
        ("majority", "was dropped: 0 of 3 agreed to it."),
        ("leader", "was dropped by the leader, who had proposed it."),
    ):
        played = play(
            synthetic, VirSci(**SMALL, topic={"consensus": consensus, "restarts": 1}), disagree
        )
        pages = [said.user for said in played.of_form("Remark") if said.call.visit == 2]
        assert pages
        assert all(line in page for page in pages)


def test_marks_are_spoken_of_where_they_are_asked_for_and_then_they_are_marks(synthetic):
    ideas = play(synthetic, VirSci(**SMALL, profile="full")).of_form("Idea")
    for place, said in enumerate(ideas):
        assert ('under "Marks"' in said.user) is ('"Marks": {' in said.user) is (place > 0)
        assert '"Marks": null' not in said.user
        schema = said.request.form.schema_for(said.request.slots)["properties"]
        assert ("Marks" in schema) is (place > 0)
        assert not place or schema["Marks"]["type"] == "object"


def test_no_page_speaks_of_papers_that_it_does_not_show(synthetic):
    for shown in ("on", "off"):
        played = play(synthetic, VirSci(**SMALL, references={"ideas": shown}))
        assert {"Papers below" in said.user for said in played.of_form("Idea")} == {shown == "on"}


def test_a_ballot_asks_for_the_comparisons_of_its_form(synthetic):
    for profile, compared in (("paper", False), ("full", True)):
        for said in play(synthetic, VirSci(**SMALL, profile=profile)).of_form("Ballot"):
            assert ("Compare each idea" in said.user) is ('"Comparisons"' in said.user) is compared


def test_writers_are_told_to_meet_objections_where_the_page_has_some(synthetic):
    for profile in ("paper", "full"):
        played = play(synthetic, VirSci(**SMALL, profile=profile))
        told = []
        for said in (*played.of_form("Draft"), *played.of_form("Revision")):
            shown = "Objections to it while" in said.user or "is sound:" in said.user
            told.append("Where an objection below is right" in said.user)
            assert told[-1] is shown, said.request.id
        assert any(told) is (profile == "full")


def test_what_the_mark_of_a_quotation_means_holds_for_ones_own_words(synthetic):
    played = play(synthetic, VirSci(**SMALL))
    assert any("(you)" in said.user for said in played.said)
    assert all("words of others or of yourself" in said.system for said in played.said)


def test_everybody_who_writes_sees_who_is_in_the_team(synthetic):
    played = play(synthetic, VirSci(**SMALL))
    names = [row["scientist"] for row in played.rows("members")]
    for said in (*played.of_form("Draft"), *played.of_form("Revision")):
        (line,) = (text for text in said.user.splitlines() if " The team: " in text)
        assert all(name in line for name in names)
