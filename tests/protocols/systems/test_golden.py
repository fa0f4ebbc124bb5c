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
    "virsci": "4e820d1a0208",
    "virsci full": "487d526c33d6",
    "virsci released-code": "44d9d8c20596",
    "ai_scientist": "652c27495f34",
    "ai_scientist_v2": "009858135d12",
    "hypogen": "a778d3722f50",
    "research_town": "eff0392b4e35",
    "ai_researcher": "dcd3f5616b75",
    "research_agent": "9f629b4ae9c9",
    "cycle_researcher": "021da4e32a5e",
    "idea2proposal": "3948716cd40d",
    "virtual_lab": "43e4c05192cb",
    "debate": "fe963467e38d",
    "co_scientist": "3283f4f5d060",
    "solo_virsci": "06db17537dde",
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
