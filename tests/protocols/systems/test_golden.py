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
    "virsci": "40f39d0ff7ca",
    "virsci full": "822adc08bdc0",
    "virsci released-code": "ed23f304cd89",
    "ai_scientist": "bdcd8f503c60",
    "ai_scientist_v2": "e389d8f39166",
    "hypogen": "e33f9ed4dff0",
    "research_town": "dd89b4668b4c",
    "ai_researcher": "33a16f22d93d",
    "research_agent": "3c14a6a5c669",
    "cycle_researcher": "d5cce44aab0d",
    "idea2proposal": "f3a5e40a2dcb",
    "virtual_lab": "0af8d965636f",
    "debate": "4839dbcd61a4",
    "co_scientist": "58b7b94133c7",
    "solo_virsci": "cb0ef3b549e1",
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
