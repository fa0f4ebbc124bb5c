"""Rules by which the offline scientist answers a survey: they compare words, and mean nothing.

The nearness of a question to the respondent's interests and chance give the answer. The rules stand
in for a model so that a form can be tried without one; their answers are of no other use.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from virsci_society.agents.offline.random_choice import gumbel_noise, pick
from virsci_society.agents.offline.terms import NEUTRAL, expertise
from virsci_society.agents.offline.text import affinity, truncate_words

SPREAD = 0.2
"""Standard deviation of the noise, as a share of the scale."""
NOISE = 0.3
"""Scale of the Gumbel noise in a choice."""
REASON = "A rule has compared words."

Slots = Mapping[str, Any]


def say(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """A sentence with an interest of the respondent, cut to the limit of words."""
    term = pick(expertise(slots.get("me")) or NEUTRAL, rng)
    text = f"By rule, and from my interests alone: {term}."
    return {"Answer": truncate_words(text, slots["answer_kind"].words)}


def place_on_scale(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """The middle of the scale, raised by the nearness of the question, with noise."""
    low, high = slots["answer_kind"].scale
    share = 0.4 + 0.4 * _nearness(slots, str(slots["question"])) + SPREAD * rng.standard_normal()
    number = round(low + (high - low) * min(1.0, max(0.0, share)))
    return {"Reason": REASON, "Answer": number}


def choose(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """The option nearest to the respondent's interests, with Gumbel noise."""
    options = slots["answer_kind"].options
    scores = [_nearness(slots, option) + gumbel_noise(rng, NOISE) for option in options]
    return {"Reason": REASON, "Answer": options[int(np.argmax(scores))]}


def _nearness(slots: Slots, text: str) -> float:
    me = slots.get("me")
    return affinity(tuple(me.interests), text) if me is not None else 0.0
