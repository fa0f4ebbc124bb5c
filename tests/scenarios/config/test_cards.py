"""The card of a user, as the documentation prints it, and what can be wrong with one."""

import re
import shutil
from pathlib import Path

import pytest

from tests.command_line import society
from virsci_society import load_scenario
from virsci_society.scenarios.config.reader import read_card
from virsci_society.scenarios.config.registry import PROTOCOLS
from virsci_society.society.results.run import Run

ROOT = Path(__file__).parents[3]
CARD = ROOT / "examples" / "cards" / "doubters.yaml"


@pytest.fixture
def card(here, small_text):
    """The example in a folder of a user, and a scenario that names it."""
    shutil.copytree(CARD.parent, here / "mine")
    used = "protocol: {use: mine/doubters.yaml}"
    Path("small.yaml").write_text(re.sub(r"protocol: .*", used, small_text))
    read_card.cache_clear()
    yield Path("mine/doubters.yaml")
    read_card.cache_clear()


@pytest.mark.usefixtures("card")
def test_a_card_of_ones_own_runs_without_trust_and_is_replayed():
    checked = society("check", "small.yaml")
    assert "has its slots: doubt, draft, idea, topic" in checked.output
    asked = ("--set", "until=12w", "--set", "protocol.ideas=2", "--set", "metrics=[teams]")
    done = society("run", "small.yaml", *asked, "--out", "run")
    assert done.exit_code == 0, done.output
    run = Run.open("run")
    assert set(run.table("teams")["protocol"]) == {"doubters"}
    assert {"doubters.yaml", "prompts/doubt.txt"} <= set(run.manifest["prompts"])
    asked = run.table("calls")
    ideas = asked[(asked["form"] == "Idea")].groupby("team").size()
    assert set(ideas) == {2}
    assert society("replay", "run").exit_code == 0


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("asks: idea", "asks: ideea", ":11:27: stages.0.meetings.0.turns.0.asks: expected one of"),
        (
            "times: ideas",
            "times: idees",
            ":11:39: stages.0.meetings.0.turns.0.times: no key is called",
        ),
        ("who: leader", "who: bos", "no scientist is called 'bos'"),
        (
            "who: leader, asks: idea",
            "who: everybody, asks: joint_idea",
            "one person makes one joint",
        ),
        ("papers: topic", "papers: core", "the card needs a key 'entities'"),
        ("page: doubt}", "page: doubt}\n  expand: {how: evolve, count: 1}", "goes with how: elo"),
        ("default: 3, least: 1, most: 20", "default: on", "the key 'ideas' is not a number"),
        ("papers: topic", "papers: found", "'found' needs queries before it"),
        ("asks: idea,", "asks: notes,", ":7:1: stages: no question asks for an idea"),
        (
            "page: doubt",
            "page: dout",
            "no prompt is called 'dout'; did you mean 'doubt'?; write it as",
        ),
        ("engine: search", "engine: rounds", ":4:1: engine: search is the section of"),
        ("- name: ideas", "- naem: ideas", "naem: unknown key; did you mean 'name'?"),
        ("citation:", "citatoin:", "citation: required, but not given"),
        ("default: 3", "default: 30", ":6:3: keys.ideas: got 30, expected at most 20"),
        ("{how", "{how: ", "not YAML"),
    ],
)
def test_a_fault_of_a_card_is_told_with_file_and_line(card, right, wrong, told):
    text = card.read_text(encoding="utf-8")
    assert right in text
    card.write_text(text.replace(right, wrong, 1), encoding="utf-8")
    checked = society("check", "small.yaml")
    assert checked.exit_code == 2
    assert "doubters.yaml:" in checked.stderr
    assert told in checked.stderr


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("idea.idea.text", "ideal.idea.text", "7: the slot 'ideal' is undefined; did you mean"),
        ("references | titles", "papers | titles", "11: the slot 'papers' is undefined"),
        ("idea.idea.text", "idea.idea.txet", "7: 'virsci_society.protocols.ideas.Idea object'"),
        ("{% endif %}", "", "Unexpected end of template"),
    ],
)
def test_a_wrong_slot_is_told_with_page_and_line(card, right, wrong, told):
    page = card.parent / "prompts" / "doubt.txt"
    text = page.read_text(encoding="utf-8")
    assert right in text
    page.write_text(text.replace(right, wrong, 1).replace("idea.papers", "papers"))
    checked = society("check", "small.yaml")
    assert checked.exit_code == 2
    assert "doubt.txt:" in checked.stderr
    assert told in checked.stderr


def test_a_page_of_a_turn_with_an_unknown_slot_is_told_before_anything_runs(card):
    (card.parent / "prompts" / "idea.txt").write_text("{{ topik }} {{ answer_form }}")
    checked = society("check", "small.yaml")
    assert checked.exit_code == 2
    assert "idea.txt:1: no question gives the slot 'topik'; did you mean 'topic'?" in checked.stderr


@pytest.mark.usefixtures("card")
def test_a_scenario_that_is_moved_with_its_card_keeps_its_identity():
    shutil.copytree("mine", "elsewhere/mine")
    shutil.copy("small.yaml", "elsewhere/small.yaml")
    here, there = (
        load_scenario(name).identity() for name in ("small.yaml", "elsewhere/small.yaml")
    )
    assert here == there
    assert here["protocol"]["use"] == "doubters.yaml"


def test_every_card_of_the_project_says_what_is_published_and_what_is_not():
    cards = [path for path in PROTOCOLS.values() if path.endswith(".yaml")]
    assert len(cards) == 10
    for path in cards:
        card = read_card(path).card
        assert card.as_published, path
        assert card.adapted, path
        assert card.left_out or card.name == "hypogen", path


def test_a_card_that_is_not_there_is_told():
    checked = society("check", "quickstart", "--set", "protocol.use=nowhere.yaml")
    assert checked.exit_code == 2
    assert "nowhere.yaml: no such card" in checked.stderr
