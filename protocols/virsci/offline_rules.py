"""The rules by which the offline scientist answers the forms of VirSci alone."""

from __future__ import annotations

from typing import Any

from virsci_society.agents.offline.abstracts import revise_abstract
from virsci_society.agents.offline.constants import RULES
from virsci_society.agents.offline.question_context import Asked, Rule
from virsci_society.agents.offline.text import (
    as_sentence,
    join_list,
    sigmoid,
    stem_pairs,
    stems,
    text_without_frames,
    tokens,
    with_article,
)
from virsci_society.agents.prompts.slots import pair_name
from virsci_society.agents.replies.form import Form
from virsci_society.protocols.virsci.forms import Agreement, Revision, SelfReview, Stay


def answer_agreement(asked: Asked) -> dict[str, Any]:
    """Agree with the proposed topic; the nearer it is, the more likely."""
    topic = asked.text("topic")
    near, term = asked.affinity(topic), with_article(asked.nearest(topic))
    agree = asked.chance(sigmoid(RULES.agree_base + RULES.agree_affinity * near))
    if agree and term and near > 0.0:
        reason = f"The topic makes room for my work on {term}"
    elif agree:
        reason = "The topic is new to me, and I can follow the others on it"
    elif term:
        reason = f"The topic says too little about {term}"
    else:
        reason = "The topic does not yet convince me"
    return {"Agree": agree, "Reason": as_sentence(reason)}


def decide_staying(asked: Asked) -> dict[str, Any]:
    """Stay in the team; leave seldom, likelier where the topic is far and the load high."""
    topic = asked.text("topic")
    odds = (
        RULES.leave_base
        + RULES.leave_distance * (1.0 - asked.affinity(topic))
        + RULES.leave_load * asked.count("load")
    )
    stay = not asked.chance(sigmoid(odds))
    if stay:
        term = with_article(asked.nearest(topic))
        reason = f"I can contribute {term}" if term else "I am glad to learn the topic"
    elif asked.number("load") > 2:
        reason = "My other teams leave me too little time for this topic"
    else:
        reason = "The topic has moved away from what I can contribute"
    return {"Stay": stay, "Reason": as_sentence(reason)}


def review_own_draft(asked: Asked) -> dict[str, Any]:
    """Score the draft against each near abstract, and list the pairs that overlap too much."""
    draft = str(getattr(asked.slots.get("draft"), "abstract", ""))
    scores: dict[str, float] = {}
    alike: list[dict[str, Any]] = []
    for i, paper in enumerate(asked.all("near")):
        name = pair_name(i)
        text = paper.abstract if tokens(paper.abstract or "") else paper.title
        scores[name] = text_overlap(draft, text)
        if scores[name] >= RULES.overlap_listed:
            common = sorted(stems(draft) & stems(text))[:4]
            reason = f"Both texts speak of {join_list(common)}" if common else "The texts are alike"
            alike.append({"pair": name, "score": scores[name], "reason": as_sentence(reason)})
    return {"similarity_scores": scores, "high_overlap_pairs": alike}


def text_overlap(draft: str, other: str) -> float:
    """Similarity of two texts, 0 to 100, by shared content words and neighbouring pairs."""
    if tokens(draft) and tokens(draft) == tokens(other):
        return 100.0
    mine, theirs = text_without_frames(draft), text_without_frames(other)
    words = _common_share(stems(mine), stems(theirs))
    pairs = _common_share(stem_pairs(mine), stem_pairs(theirs))
    return round(100.0 * (RULES.overlap_words * (words - pairs) + pairs), 1)


def _common_share(first: frozenset[Any], second: frozenset[Any]) -> float:
    """Shared elements relative to the smaller set, which counts as no smaller than a floor."""
    least = max(min(len(first), len(second)), int(RULES.overlap_least))
    return len(first & second) / least


OFFLINE_RULES: dict[type[Form], Rule] = {
    Agreement: answer_agreement,
    Stay: decide_staying,
    Revision: revise_abstract,
    SelfReview: review_own_draft,
}
"""The rule of each form of ``forms``."""
