"""The three wordings of the pages: one structure, the same facts, and no sentence in common."""

import re
from collections import Counter

import pytest

from tests.protocols.scripted_backend import play, strike_at
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.protocols.virsci.team_memory import FOLDER, PROMPTS
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.runs.run_folder import prompt_hashes

WORDINGS = ("standard", "second", "third")
NAMES = [page.name for page in PROMPTS]
LITERAL = re.compile(r'(== )?"([^"]*)"( in )?')
"""A text in a slot: words, or a value that a condition names."""


def page(wording, name):
    return VirSci(prompts={"wording": wording}).pages[name]


def tags(text):
    """Slots and conditions of a page, whatever words stand in them."""
    found = re.findall(r"\{[{%].*?[%}]\}", text)
    return Counter(LITERAL.sub(lambda m: m[0] if m[1] or m[3] else '""', one) for one in found)


def sentences(text):
    """Sentences of at least three words, those in slots among them."""
    spoken = re.sub(r"```json.*?```", " ", text, flags=re.DOTALL)
    spoken = re.sub(r"\{%.*?%\}", "\n", spoken)
    slots = re.findall(r"\{\{.*?\}\}", spoken)
    told = [words for slot in slots for _, words, _ in LITERAL.findall(slot)]
    spoken = re.sub(r"\{\{.*?\}\}", " _ ", spoken)
    parts = re.split(r"[.:;?!]\s|\n", "\n".join([spoken, *(f"{one}\n" for one in told)]))
    words = (" ".join(re.findall(r"[a-z0-9]+", part.lower())) for part in parts)
    return {one for one in words if len(one.split()) >= 3}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wording", WORDINGS[1:])
def test_slots_and_conditions_are_those_of_the_standard_page(wording, name):
    other, standard = page(wording, name), page("standard", name)
    assert other.path.parent.name == wording
    assert other.slots == standard.slots
    assert tags(other.text) == tags(standard.text)
    assert other.text.isascii()
    assert other.text.endswith("```json\n{{ answer_form }}\n```\n")


@pytest.mark.parametrize("name", NAMES)
def test_no_sentence_is_in_two_wordings(name):
    told = {wording: sentences(page(wording, name).text) for wording in WORDINGS}
    assert all(len(one) >= 4 for one in told.values())
    for first, second in (("standard", "second"), ("standard", "third"), ("second", "third")):
        assert not told[first] & told[second]


@pytest.mark.parametrize("name", NAMES)
def test_numbers_and_what_else_is_asked_for_are_the_same(name):
    texts = [re.sub(r"\{%.*?%\}", "", page(wording, name).text) for wording in WORDINGS]
    numbers = [set(re.findall(r"\b\d+\b", text)) - {"1", "2"} for text in texts]
    assert numbers[0] == numbers[1] == numbers[2]
    for exact in ("Action 1: ", "Action 2: ", '"Marks"', "Technical Accuracy", "Overall Score"):
        assert len({exact in text for text in texts}) == 1, exact


@pytest.fixture(scope="module", params=WORDINGS)
def everything(request, synthetic):
    """A team with every switch on, in one wording."""
    discussion = {"pacing": "adaptive", "max_turns": 2}
    protocol = VirSci(
        profile="full",
        memory="own",
        team_size=3,
        discussion=discussion,
        abstract={"self_review": "on"},
        prompts={"wording": request.param},
    )
    return request.param, play(synthetic, protocol, strike_at(1), consults=True)


def test_every_page_of_a_wording_is_rendered_as_clean_text(everything):
    wording, played = everything
    used = {said.request.page for said in played.said}
    assert used == set(NAMES)
    for said in played.said:
        assert "\n\n\n" not in said.user
        assert "{{" not in said.user
        assert "{%" not in said.user
    folder = FOLDER if wording == "standard" else FOLDER / wording
    assert sorted(path.stem for path in folder.glob("*.txt")) == sorted(NAMES)


def test_the_manifest_has_the_hashes_of_the_wording_and_of_own_pages(tmp_path):
    plain = prompt_hashes(load_scenario("quickstart"))
    assert {name.partition("/")[0] for name in plain} == {f"{name}.txt" for name in NAMES}
    second = prompt_hashes(load_scenario("quickstart", **{"protocol.prompts.wording": "second"}))
    assert {f"second/{name}" for name in plain} == {*second} - {*plain}
    assert len({*second.values()}) == 2 * len(NAMES)
    own = tmp_path / "mine"
    own.mkdir()
    (own / "stay.txt").write_text("{{ you }} {{ answer_form }}", encoding="utf-8")
    keys = {"protocol.prompts.folder": str(own)}
    assert {*prompt_hashes(load_scenario("quickstart", **keys))} - {*plain} == {"mine/stay.txt"}
