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
    "virsci": "0a6fb314b46e",
    "virsci full": "c188c0f41c10",
    "virsci released-code": "e31fb0a64809",
    "ai_scientist": "2a395e731d3d",
    "ai_scientist_v2": "433f45e38abd",
    "hypogen": "982b13e0ad20",
    "research_town": "fc053c6fca01",
    "ai_researcher": "8e4ca53a2d57",
    "research_agent": "f80a6df75ba2",
    "cycle_researcher": "0e65821e39a3",
    "idea2proposal": "c6fa6c2fc541",
    "virtual_lab": "5ef512df8e5a",
    "debate": "ddb38547d492",
    "co_scientist": "2b7dd1caf727",
    "solo_virsci": "97b3592a41bf",
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
