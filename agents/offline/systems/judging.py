"""The rules by which the offline scientist judges ideas, pairs of ideas and steps of a plan.

No rule looks for quality: they go by distances of papers, nearness of interests, and chance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from virsci_society.agents.offline.constants import RULES
from virsci_society.agents.offline.decisions import mean_distance
from virsci_society.agents.offline.random_choice import (
    bernoulli,
    finite_number,
    gumbel_noise,
    sigmoid,
)
from virsci_society.agents.offline.systems.reading import choose_queries
from virsci_society.agents.offline.terms import as_list, expertise, full_text
from virsci_society.agents.offline.text import affinity, as_sentence

Slots = Mapping[str, Any]


def judge_novelty(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """Novel the likelier, the farther the nearest paper is; undecided in between.

    Args:
        slots: the structured slots of the form.
        rng: generator of this call.

    Returns:
        The reply under the names of the prompt.
    """
    papers = as_list(slots.get("references"))
    nearest = min((finite_number(paper.distance) for paper in papers), default=math.inf)
    far = RULES.distance_middle if math.isinf(nearest) else nearest
    novel = bernoulli(sigmoid(RULES.distance_slope * (far - RULES.distance_middle)), rng)
    again = bernoulli(RULES.search_again, rng)
    reason = as_sentence(f"The nearest paper lies at a distance of {far:.2f}")
    decision = "novel" if novel else "not novel"
    if slots.get("final"):
        return {"Reason": reason, "Decision": decision}
    query = choose_queries(slots, rng)["Queries"][0]
    return {"Reason": reason, "Decision": "search again" if again else decision, "Query": query}


def score_idea(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """A score that rises with the mean distance of the papers near the idea.

    Args:
        slots: the structured slots of the form.
        rng: generator of this call.

    Returns:
        The reply under the names of the prompt.
    """
    far = mean_distance(as_list(getattr(slots.get("idea"), "references", ())))
    rise = sigmoid(
        RULES.distance_slope
        * ((RULES.distance_middle if far is None else far) - RULES.distance_middle)
    )
    noise = RULES.rating_noise * float(rng.standard_normal())
    score = RULES.novelty_low + RULES.novelty_span * rise + noise
    reason = as_sentence(f"Its papers are {rise:.0%} of the way to being far")
    return {"Reason": reason, "Score": _mark(score)}


def choose_of_pair(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """The idea whose papers are farther, with Gumbel noise as on a ballot.

    Args:
        slots: the structured slots of the form.
        rng: generator of this call.

    Returns:
        The reply under the names of the prompt.
    """
    scores = []
    for name in ("first", "second"):
        far = mean_distance(as_list(getattr(slots.get(name), "references", ())))
        noise = gumbel_noise(rng, RULES.ballot_noise)
        scores.append((RULES.distance_middle if far is None else far) + noise)
    better = "A" if scores[0] >= scores[1] else "B"
    return {"Reason": f"Idea {better} lies farther from its papers.", "Better": better}


def review_step(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """A score for each criterion as of a manuscript, and an interest that the step leaves out.

    Args:
        slots: the structured slots of the form.
        rng: generator of this call.

    Returns:
        The reply under the names of the prompt.
    """
    text = full_text(slots.get("text"))
    me = slots.get("me")
    near = affinity(tuple(me.interests), text) if me is not None else 0.0
    mean = RULES.mark_base + RULES.mark_affinity * near
    names = [str(name) for name in as_list(slots.get("criteria"))] or ["Overall"]
    drawn = mean + RULES.mark_noise * rng.standard_normal(len(names))
    low = text.casefold()
    missed = [term for term in expertise(me) if term.casefold() not in low]
    asked = f'It should be related to "{missed[0]}"' if missed else "It needs more detail"
    scores = {name: _mark(float(score)) for name, score in zip(names, drawn, strict=True)}
    return {"Feedback": as_sentence(asked), "Scores": scores}


def _mark(score: float) -> float:
    return round(min(10.0, max(1.0, score)), 1)
