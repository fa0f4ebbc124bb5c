"""The pages of VirSci: every slot filled, every field of the reply named."""

import json
import re

import pytest

from tests.protocols.scripted_backend import play, strike_at
from virsci_society.agents.offline.abstracts import CRITERIA
from virsci_society.agents.replies.form import FIELDS, PATTERN, render_form
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.protocols.virsci.team_memory import PROMPTS
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.runs.run_folder import prompt_hashes

PAGES = {
    "Choice": "invitation",
    "Remark": "topic_turn",
    "GuestReply": "guest",
    "Summary": "summary",
    "AnotherTurn": "another_turn",
    "Topic": "topic_choice",
    "Agreement": "agreement",
    "Stay": "stay",
    "Idea": "idea_turn",
    "Ballot": "ballot",
    "Critique": "critique",
    "Draft": "draft",
    "Revision": "revision",
    "SelfReview": "self_review",
}
READ_BY_RULES = {"me", "role", "memory", "similarity", "turn", "extras"}
"""Slots that the definition, the form or the offline scientist uses, not every page."""
OF_ALL_SPEAKERS = {"sentences", "team", "people"}
"""Slots that every utterance of a discussion is given, whether or not its page has papers."""


@pytest.fixture(scope="module")
def everything(synthetic):
    """A team with every switch on, so that every page is used."""
    given = {
        "team_size": 3,
        "discussion": {"pacing": "adaptive", "max_turns": 2},
        "abstract": {"self_review": "on"},
    }
    protocol = VirSci(profile="full", memory="own", **given)
    return play(synthetic, protocol, strike_at(1), consults=True)


def test_every_page_is_used_and_there_is_no_other(everything):
    assert {said.form for said in everything.said} == set(PAGES)
    assert sorted(page.name for page in PROMPTS) == sorted(PAGES.values())


@pytest.mark.parametrize("form", PAGES)
def test_the_protocol_gives_every_slot_of_the_page_and_no_idle_one(everything, form):
    page = PROMPTS[PAGES[form]]
    for said in everything.of_form(form):
        slots = said.request.slots
        assert page.slots <= set(slots)
        assert set(slots) - READ_BY_RULES - OF_ALL_SPEAKERS <= page.slots
        answer_form = render_form(said.request.form.schema_for(slots), schema_sent=False)
        shown = everything.society.world.cleaned_interests
        whole = {**slots, "answer_form": answer_form, "shown_interests": shown}
        assert page.render(whole) == said.user


def test_the_manifest_has_the_hashes_of_the_prompts_and_of_a_folder_of_ones_own(tmp_path):
    shipped = prompt_hashes(load_scenario("quickstart"))
    assert {name.partition("/")[0] for name in shipped} == {f"{page.name}.txt" for page in PROMPTS}
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "stay.txt").write_text("{{ you }} {{ answer_form }}", encoding="utf-8")
    scenario = load_scenario("quickstart", **{"protocol.prompts.folder": str(folder)})
    assert {*prompt_hashes(scenario)} - {*shipped} == {"mine/stay.txt"}


@pytest.mark.parametrize("form", PAGES)
def test_every_page_asks_for_the_fields_of_the_schema_in_its_order(everything, form):
    for said in everything.of_form(form):
        block, _, _ = said.user.rpartition(FIELDS)[2].partition(PATTERN)
        fields = re.findall(r'^- "([A-Za-z_ ]+)":', block, re.MULTILINE)
        schema = json.loads(said.request.schema_text)
        assert fields == list(schema["properties"]), said.request.id
        assert set(schema.get("required", ())) <= set(fields)
        if "Ask" in fields:
            assert fields[-1] == "Ask"
            assert {"Scientist", "Question"} <= set(
                re.findall(r'^  - "(\w+)":', block, re.MULTILINE)
            )
        if form == "Revision":
            scores = block.partition(": object with ")[2].partition(", each 1 to 10")[0]
            assert re.findall(r'"([\w ]+)"', scores) == list(CRITERIA)
        if form == "Choice":
            assert block.endswith('- "Selected Action": "join" or "decline"\n')


def test_prompts_are_clean_text(everything):
    for said in everything.said:
        for text in (said.system, said.user):
            assert "\n\n\n" not in text, said.request.id
            assert "{{" not in text
            assert "{%" not in text
            assert not re.search(r"None\b|<Answer|object at 0x", text), said.request.id


def test_a_topic_that_the_leader_dropped_alone_was_put_to_no_vote(synthetic):
    def disagree(call, request):
        return {"Agree": False} if call.act == "agree" else None

    for consensus, line in (
        ("majority", "was dropped: 0 of 3 agreed to it."),
        ("leader", "was dropped by the leader, who had proposed it."),
    ):
        played = play(
            synthetic,
            VirSci(team_size=3, turns=2, topic={"consensus": consensus, "restarts": 1}),
            disagree,
        )
        pages = [said.user for said in played.of_form("Remark") if said.call.visit == 2]
        assert pages
        assert all(line in page for page in pages)
