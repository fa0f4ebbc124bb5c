"""One rule-based team under each protocol says what it said before, to the letter.

A digest that changes with a change of wording is printed by the failing test; a changed digest is
announced in the changelog under *Results change*.
"""

import hashlib
import json

import pytest

from tests.protocols.systems.conftest import SMALL, make
from virsci_society.protocols.virsci.protocol import VirSci

GOLDEN = {
    "virsci": "8a3de0ff78d5",
    "virsci full": "cca94bf71fcc",
    "virsci released-code": "f5a641809848",
    "ai_scientist": "92dbc7664009",
    "ai_scientist_v2": "38d942281f80",
    "hypogen": "f0189b998e6f",
    "research_town": "cc75be38f108",
    "ai_researcher": "85b8638e8710",
    "research_agent": "246f5894b154",
    "cycle_researcher": "fa9888cf985a",
    "idea2proposal": "eb5440df4c4b",
    "virtual_lab": "658606083b70",
    "debate": "7d88ae094c2a",
    "co_scientist": "c8e5db60986b",
    "solo_virsci": "cd9724383d9e",
}


def protocol_named(name):
    kind, _, profile = name.partition(" ")
    small = {"profile": profile or "paper", "turns": 1, "team_size": 3}
    return VirSci(**small) if kind == "virsci" else make(name)


@pytest.mark.parametrize("name", GOLDEN)
def test_the_transcript_is_unchanged(live, name):
    told = [
        [request.id, [(m.role, m.content) for m in request.messages], reply.text]
        for _, request, reply in live(protocol_named(name)).asked
    ]
    digest = hashlib.sha256(json.dumps(told, ensure_ascii=False).encode()).hexdigest()[:12]
    assert digest == GOLDEN[name]


def test_every_system_has_a_transcript():
    assert {*GOLDEN} == {"virsci", "virsci full", "virsci released-code", *SMALL}
