"""The rules by which the offline scientist answers the forms of peer review."""

from __future__ import annotations

import math
from typing import Any

from virsci_society.agents.offline.abstracts import revise_abstract
from virsci_society.agents.offline.constants import RULES
from virsci_society.agents.offline.question_context import Asked, Rule, missed, rating
from virsci_society.agents.offline.text import as_sentence, sigmoid, with_article
from virsci_society.agents.replies.form import Form
from virsci_society.protocols.peer_review.forms import Review, Rewrite, Willingness


def agreement_probability(asked: Asked) -> float:
    """The probability of agreeing to review, from 0 to 1."""
    return sigmoid(
        RULES.referee_base
        + RULES.referee_affinity * asked.affinity(asked.text("manuscript"))
        - RULES.referee_load * asked.count("load")
        - RULES.referee_open * asked.count("open")
    )


def answer_review_request(asked: Asked) -> dict[str, Any]:
    """Agree to review the likelier, the nearer the manuscript is and the less there is to do."""
    if asked.chance(agreement_probability(asked)):
        term = asked.nearest(asked.text("manuscript"))
        why = f"I know about {with_article(term)}" if term else "I can say something about it"
        return {"Selected Action": "join", "Reasoning": as_sentence(why)}
    busy = asked.number("load") + asked.number("open") > 0
    why = "I have too much other work" if busy else "It lies too far from my own work"
    return {"Selected Action": "decline", "Reasoning": as_sentence(why)}


def review_manuscript(asked: Asked) -> dict[str, Any]:
    """Score a manuscript, recommend by the overall score, and name what is missed."""
    text = asked.text("manuscript")
    rounds = max(1.0, asked.number("round", 1.0))
    mean = RULES.mark_base + RULES.mark_affinity * asked.affinity(text)
    mean += RULES.mark_round * (rounds - 1.0)
    noise = asked.rng.standard_normal(4)
    if asked.slots.get("looks") is not None:
        # The draws have a part in common where it is known how the manuscript looks.
        common = RULES.mark_agreement
        noise = math.sqrt(common) * asked.number("looks") + math.sqrt(1.0 - common) * noise
    overall, originality, soundness, clarity = (
        rating(mean + RULES.mark_noise * float(deviation)) for deviation in noise
    )
    opening = (
        "The manuscript is clear and worth publishing."
        if overall >= RULES.mark_accept
        else "The manuscript does not yet show what it sets out to show."
    )
    return {
        "Recommendation": recommend(overall, bool(asked.slots.get("final"))),
        "Originality": originality,
        "Soundness": soundness,
        "Clarity": clarity,
        "Overall": overall,
        "Comments": f"{opening} {missed(asked, text, 'Its methods need more detail')}",
    }


def recommend(overall: float, final: bool) -> str:
    """Accept, revise or reject by the overall score; in the last round the middle divides."""
    if final:
        middle = (RULES.mark_accept + RULES.mark_reject) / 2.0
        return "accept" if overall >= middle else "reject"
    if overall >= RULES.mark_accept:
        return "accept"
    return "reject" if overall < RULES.mark_reject else "revise"


def revise_manuscript(asked: Asked) -> dict[str, Any]:
    """Revise as in a review round of the abstract, with what the reviewers miss brought in."""
    reports = tuple(report.said for report in asked.slots.get("reports") or ())
    manuscript = asked.slots["manuscript"]
    # Reviewers stand where a revision has its guests: both are heard from outside the team.
    revising = {**asked.slots, "draft": manuscript, "guest": reports, "review": True}
    revised = revise_abstract(Asked(revising, asked.rng))
    return {
        "Title": revised["Title"],
        "Abstract": revised["Abstract"],
        "Response": revised["Modifications"],
    }


OFFLINE_RULES: dict[type[Form], Rule] = {
    Willingness: answer_review_request,
    Review: review_manuscript,
    Rewrite: revise_manuscript,
}
"""The rule of each form of ``forms``."""
