"""The rules by which the offline scientist agrees to review, judges, and answers reviews.

A judgement comes from how near the manuscript is to the reviewer and from chance. No rule looks
for quality, so reviewers agree only as far as their interests do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from virsci_society.agents.offline.abstracts import revise_abstract
from virsci_society.agents.offline.constants import RULES
from virsci_society.agents.offline.random_choice import bernoulli, finite_number, sigmoid
from virsci_society.agents.offline.terms import expertise, full_text
from virsci_society.agents.offline.text import affinity, as_sentence, with_article

Slots = Mapping[str, Any]


def agreement_probability(slots: Slots) -> float:
    """The probability of agreeing to review, from 0 to 1."""
    return sigmoid(
        RULES.referee_base
        + RULES.referee_affinity * _affinity(slots)
        - RULES.referee_load * max(0.0, finite_number(slots.get("load")))
        - RULES.referee_open * max(0.0, finite_number(slots.get("open")))
    )


def answer_review_request(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """Agree to review a manuscript, or decline.

    Args:
        slots: the structured slots of the form.
        rng: generator of this call.

    Returns:
        The reply under the names of the prompt.
    """
    if bernoulli(agreement_probability(slots), rng):
        term = _nearest(slots)
        why = f"I know about {with_article(term)}" if term else "I can say something about it"
        return {"Selected Action": "Action 1", "Reasoning": as_sentence(why)}
    busy = finite_number(slots.get("load")) + finite_number(slots.get("open")) > 0
    why = "I have too much other work" if busy else "It lies too far from my own work"
    return {"Selected Action": "Action 2", "Reasoning": as_sentence(why)}


def review_manuscript(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """Score a manuscript, recommend by the overall score, and name what is missed.

    Args:
        slots: the structured slots of the form.
        rng: generator of this call.

    Returns:
        The reply under the names of the prompt.
    """
    rounds = max(1.0, finite_number(slots.get("round"), 1.0))
    mean = RULES.mark_base + RULES.mark_affinity * _affinity(slots)
    mean += RULES.mark_round * (rounds - 1.0)
    overall, originality, soundness, clarity = (
        _mark(mean + RULES.mark_noise * float(noise)) for noise in rng.standard_normal(4)
    )
    return {
        "Recommendation": recommend(overall, bool(slots.get("final"))),
        "Originality": originality,
        "Soundness": soundness,
        "Clarity": clarity,
        "Overall": overall,
        "Comments": _comments(slots, overall),
    }


def recommend(overall: float, final: bool) -> str:
    """Accept, revise or reject by the overall score.

    Args:
        overall: the score, 1 to 10.
        final: True: there is no further round, so the middle divides accept from reject.
    """
    if final:
        middle = (RULES.mark_accept + RULES.mark_reject) / 2.0
        return "accept" if overall >= middle else "reject"
    if overall >= RULES.mark_accept:
        return "accept"
    return "reject" if overall < RULES.mark_reject else "revise"


def revise_manuscript(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """Revise as in a review round of the abstract, with what the reviewers miss brought in.

    Args:
        slots: the structured slots of the form.
        rng: generator of this call.

    Returns:
        The reply under the names of the prompt.
    """
    reports = tuple(report.said for report in slots.get("reports") or ())
    revising = {**slots, "draft": slots["manuscript"], "guest": reports, "review": True}
    revised = revise_abstract(revising, rng)
    return {
        "Title": revised["Title"],
        "Abstract": revised["Abstract"],
        "Response": revised["Modifications"],
    }


def _comments(slots: Slots, overall: float) -> str:
    low = _manuscript(slots).casefold()
    missed = [term for term in expertise(slots.get("me")) if term.casefold() not in low]
    opening = (
        "The manuscript is clear and worth publishing"
        if overall >= RULES.mark_accept
        else "The manuscript does not yet show what it sets out to show"
    )
    asked = f'It should be related to "{missed[0]}"' if missed else "Its methods need more detail"
    return f"{as_sentence(opening)} {as_sentence(asked)}"


def _mark(score: float) -> float:
    return round(min(10.0, max(1.0, score)), 1)


def _manuscript(slots: Slots) -> str:
    return full_text(slots.get("manuscript"))


def _affinity(slots: Slots) -> float:
    me = slots.get("me")
    return affinity(tuple(me.interests), _manuscript(slots)) if me is not None else 0.0


def _nearest(slots: Slots) -> str:
    terms = expertise(slots.get("me"))
    text = _manuscript(slots)
    return max(terms, key=lambda term: affinity((term,), text), default="")
