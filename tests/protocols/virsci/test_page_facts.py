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
            ["and decides whether it stands.", "and the team works on it."],
            ["Afterwards you are asked whether it stands.", "The team then works on it."],
            [
                "If you do not, the discussion starts again.",
                "The team will work on it in any case, because this discussion was its last.",
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
