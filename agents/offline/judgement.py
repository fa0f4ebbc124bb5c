"""Judgement: the offline scientist's decisions, each a probability from measured things.

Every rule takes the structured slots of its form and a generator, and returns the reply
under the names of the prompt. No rule knows a metric of the study.
"""

from __future__ import annotations

import math
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from agents.offline.chance import gumbel, happens, number, pick, sigmoid
from agents.offline.constants import RULES
from agents.offline.phrases import expertise, listed, pieces, quoted, spoken, substance
from agents.offline.words import affinity, joined, pairs, sentence, stems, tokens

Slots = Mapping[str, Any]


def acceptance(slots: Slots) -> float:
    """The probability that an invitation is accepted."""
    inviter = slots.get("inviter")
    papers = max(0.0, number(getattr(inviter, "papers", 0)))
    # Where a corpus knows no citations, papers alone speak for the inviter.
    citations = max(0.0, number(getattr(inviter, "citations", None)))
    odds = (
        RULES.invite_base
        + RULES.invite_similarity * number(slots.get("similarity"))
        + RULES.invite_ties * math.log1p(max(0.0, number(slots.get("ties"))))
        + RULES.invite_papers * math.log1p(papers)
        + RULES.invite_citations * math.log1p(citations)
        - RULES.invite_load * max(0.0, number(slots.get("load")))
    )
    return RULES.invite_floor + (1.0 - RULES.invite_floor) * sigmoid(odds)


def invitation(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """Accept or decline an invitation."""
    accepted = happens(acceptance(slots), rng)
    load = max(0, int(number(slots.get("load"))))
    shared = _in_common(slots)
    if accepted:
        why = f"We share {joined(shared)}" if shared else "The team would broaden my work"
        if number(slots.get("ties")) > 0:
            why += ", and we have published together before"
        return {"Selected Action": "Action 1", "Reasoning": sentence(why + ", so I join")}
    if load > 0:
        teams = "another team" if load == 1 else f"{load} other teams"
        why = f"I already work in {teams} and could not give this one its due"
    elif shared:
        why = "The theme is close to mine, but the time does not suit me"
    else:
        why = "The theme lies too far from my own work"
    return {"Selected Action": "Action 2", "Reasoning": sentence(why)}


def _in_common(slots: Slots) -> list[str]:
    theirs = expertise(slots.get("inviter"))
    known = {term.casefold() for term in theirs}
    return [term for term in expertise(slots.get("me")) if term.casefold() in known][:2]


def agreement(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """Agree with the proposed topic the likelier, the nearer it is."""
    topic = spoken(slots.get("topic"))
    near = _affinity(slots, topic)
    agree = happens(sigmoid(RULES.agree_base + RULES.agree_affinity * near), rng)
    term = _nearest(slots, topic)
    if agree and term and near > 0.0:
        reason = f"The topic makes room for my work on {term}"
    elif agree:
        reason = "The topic is new to me, and I can follow the others on it"
    elif term:
        reason = f"The topic says too little about {term}"
    else:
        reason = "The topic does not yet convince me"
    return {"Agree": agree, "Reason": sentence(reason)}


def staying(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """Leave seldom, likelier when the topic is far and the load high."""
    topic = spoken(slots.get("topic"))
    odds = (
        RULES.leave_base
        + RULES.leave_distance * (1.0 - _affinity(slots, topic))
        + RULES.leave_load * max(0.0, number(slots.get("load")))
    )
    stay = not happens(sigmoid(odds), rng)
    if stay:
        term = _nearest(slots, topic)
        reason = f"I can contribute {term}" if term else "I am glad to learn the topic"
    elif number(slots.get("load")) > 2:
        reason = "My other teams leave me too little time for this topic"
    else:
        reason = "The topic has moved away from what I can contribute"
    return {"Stay": stay, "Reason": sentence(reason)}


def _affinity(slots: Slots, text: str) -> float:
    me = slots.get("me")
    return affinity(tuple(me.interests), text) if me is not None else 0.0


def _nearest(slots: Slots, text: str) -> str:
    terms = expertise(slots.get("me"))
    return max(terms, key=lambda term: affinity((term,), text), default="")


def ballot(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """Vote for the idea whose references are farthest, with noise."""
    ideas = listed(slots.get("ideas"))[:3]
    if not ideas:
        return {"Decision Made": "Idea 0"}
    means = [_distance(getattr(idea, "references", ()) or ()) for idea in ideas]
    known = [mean for mean in means if mean is not None]
    if not known:
        return {"Decision Made": f"Idea {pick(range(len(ideas)), rng)}"}
    middle = math.fsum(known) / len(known)
    scores = [
        (middle if mean is None else mean) + gumbel(rng, RULES.ballot_noise) for mean in means
    ]
    return {"Decision Made": f"Idea {max(range(len(scores)), key=scores.__getitem__)}"}


def _distance(references: Sequence[Any]) -> float | None:
    if not references:
        return None
    return math.fsum(number(r.distance) for r in references) / len(references)


def settled(progress: Sequence[Any]) -> float:
    """How far the outcome of a turn has settled, 0 (open) to 1 (settled).

    Ballots: how far the leading idea is above an even split. Summaries: the share of terms
    that were named more than once. A draft shows nothing of the kind.
    """
    choices = [item.choice for item in progress if isinstance(getattr(item, "choice", None), int)]
    votes = [choice for choice in choices if choice >= 0]
    if votes:
        top = Counter(votes).most_common(1)[0][1] / len(votes)
        return max(0.0, (top - 1.0 / 3.0) * 1.5)
    if any(hasattr(item, "abstract") for item in progress):
        return RULES.another_unknown
    named = [term for item in progress for part in quoted(spoken(item)) for term in pieces(part)]
    if not named:
        return RULES.another_unknown
    counts = Counter(term.casefold() for term in named)
    return sum(n for n in counts.values() if n > 1) / len(named)


def another_turn(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """Stop once the turn's outcome has settled, at the latest when no turn is left."""
    if number(slots.get("turns_left"), 1.0) < 1.0:
        return {"Another Turn": False}
    odds = (
        RULES.another_base
        - RULES.another_turn * number(slots.get("turn"), 1.0)
        - RULES.another_settled * settled(listed(slots.get("progress")))
    )
    return {"Another Turn": happens(sigmoid(odds), rng)}


def overlap(draft: str, other: str) -> float:
    """Similarity of two texts, 0 to 100, by shared content words and neighbouring pairs."""
    if tokens(draft) and tokens(draft) == tokens(other):
        return 100.0
    mine, theirs = substance(draft), substance(other)
    words = _common_share(stems(mine), stems(theirs))
    bigrams = _common_share(pairs(mine), pairs(theirs))
    return round(100.0 * (RULES.overlap_words * (words - bigrams) + bigrams), 1)


def _common_share(first: frozenset[Any], second: frozenset[Any]) -> float:
    """Shared elements against the smaller set, which counts as no smaller than a floor."""
    least = max(min(len(first), len(second)), int(RULES.overlap_least))
    return len(first & second) / least


def self_review(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """Score the draft against each near abstract; list the pairs that overlap too much."""
    draft = str(getattr(slots.get("draft"), "abstract", ""))
    scores: dict[str, float] = {}
    alike: list[dict[str, Any]] = []
    for i, paper in enumerate(listed(slots.get("near"))):
        name = f"Written Abstract vs {_letter(i)}"
        text = paper.abstract if tokens(paper.abstract or "") else paper.title
        scores[name] = overlap(draft, text)
        if scores[name] >= RULES.overlap_listed:
            common = sorted(stems(draft) & stems(text))[:4]
            reason = f"Both texts speak of {joined(common)}" if common else "The texts are alike"
            alike.append({"pair": name, "score": scores[name], "reason": sentence(reason)})
    return {"similarity_scores": scores, "high_overlap_pairs": alike}


def _letter(i: int) -> str:
    letters = string.ascii_uppercase
    return letters[i] if i < 26 else _letter(i // 26 - 1) + letters[i % 26]
