"""Consulting: whom the offline scientist asks outside its team, and what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from agents.offline.chance import happens, pick, ranked
from agents.offline.constants import RULES
from agents.offline.phrases import expertise, listed, without
from agents.offline.sayings import QUESTIONS
from agents.offline.words import affinity


def question(
    slots: Mapping[str, Any], text: str, probability: float, rng: np.random.Generator
) -> dict[str, str] | None:
    """A question to the outsider who knows most about the talk that the speaker does not."""
    outsiders = listed(slots.get("outsiders"))
    if not outsiders or not happens(probability, rng):
        return None
    mine = expertise(slots.get("me"))
    scores = []
    for person in outsiders:
        terms = expertise(person)
        shared = len(terms) - len(without(terms, mine))
        matching = sum(affinity((term,), text) for term in without(terms, mine))
        scores.append(matching - RULES.ask_own * shared)
    person = ranked(outsiders, scores, 0.0, rng)[0]
    theirs = without(expertise(person), mine) or list(expertise(person))
    if not theirs:
        return {"Scientist": person.id, "Question": "What would you advise us to look at first?"}
    named = max(theirs, key=lambda term: affinity((term,), text))
    return {"Scientist": person.id, "Question": pick(QUESTIONS, rng).format(x=named)}
