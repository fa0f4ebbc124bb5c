"""The page on the offline scientist says what the code does."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from virsci_society.agents.offline import constants
from virsci_society.agents.offline.constants import Constants, table

PAGE = Path(__file__).parents[3] / "docs" / "offline.md"
SOURCES = sorted(
    [
        *Path(constants.__file__).parent.glob("*.py"),
        *(Path(__file__).parents[3] / "protocols").rglob("offline_rules.py"),
    ]
)


def test_the_page_prints_the_constants_as_assumptions_and_names_every_rule():
    text = PAGE.read_text(encoding="utf-8")
    named = (
        *("assumptions", "not fitted", "invitation", "topic", "agreement", "staying", "consult"),
        *("guest", "summary", "idea", "rating", "ballot", "abstract", "revision", "another turn"),
        *("self-review", "without a rule"),
    )
    assert table() in text
    assert [name for name in named if name not in text.lower()] == []


def test_every_constant_has_a_meaning_and_is_used():
    code = "\n".join(path.read_text() for path in SOURCES if path.name != "constants.py")
    for item in fields(Constants):
        assert item.metadata["meaning"]
        assert re.search(rf"\bRULES\.{item.name}\b", code), item.name


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_nothing_but_the_seed_decides_and_no_rule_knows_a_metric(path):
    code = path.read_text()
    banned = r"\bhash\(|np\.random\.(?:seed|rand|default_rng)|import time\b|\bset\("
    found = re.findall(banned, code)
    assert not found, (path.name, found)
    if path.name != "backend.py":
        assert "import random" not in code
    assert not re.search(r"\b(?:HD|CD|CI|ON)\b|dissimilarity|contemporary", code)
