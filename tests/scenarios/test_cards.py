"""The cards of the library: the comment at the head of every scenario and study."""

import re
import shlex
from pathlib import Path

import pytest

from virsci_society.scenarios.config.document import LIBRARY
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.study.study_file import find_study

ROOT = Path(__file__).parents[2]
FILES = {
    path.relative_to(LIBRARY).with_suffix("").as_posix(): path for path in LIBRARY.rglob("*.yaml")
}
PARTS = ["How it works", "Things to notice", "Things to try", "What it does not show", "Sources"]


def card(name):
    """The lines of the head, without their marks."""
    lines = FILES[name].read_text(encoding="utf-8").splitlines()
    end = next(number for number, line in enumerate(lines) if not line.startswith("#"))
    return [line[2:] for line in lines[:end]]


def commands(name):
    return [shlex.split(line) for line in card(name) if line.startswith("  society ")]


@pytest.mark.parametrize("name", FILES)
def test_a_card_has_all_its_parts(name):
    lines = card(name)
    assert 10 <= len(lines) <= 32
    what, _, rest = "\n".join(lines).partition("\n\n")
    assert len(what) > 20
    labels = re.findall(rf"^({'|'.join(PARTS)}):", rest, re.MULTILINE)
    assert labels == PARTS
    pages = re.findall(r"docs/[\w/-]+\.md", rest)
    assert [page for page in pages if not (ROOT / page).is_file()] == []


@pytest.mark.parametrize("name", FILES)
def test_what_a_card_tells_to_try_can_be_tried(name):
    tries = commands(name)
    own = [words for words in tries if name.removeprefix("studies/") in words]
    assert tries[0] in own
    for words in tries:
        if words[1] == "run":
            settings = [words[at + 1] for at, word in enumerate(words) if word == "--set"]
            assert load_scenario(words[2], settings=settings)
        elif words[1] == "study" and words[2] != "report":
            assert find_study(words[3])
