"""Decisions of the offline scientist, each with a probability from measured quantities.

Every rule takes the structured slots of its form and a generator, and returns the reply under the
names of the prompt. No rule knows a metric of the study. Whom the scientist asks outside its team
is decided here as well.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from virsci_society.agents.errors import ProtocolError
from virsci_society.agents.offline.acceptance import DEFAULT_ACCEPTANCE, Acceptance, InvitationFacts
from virsci_society.agents.offline.constants import RULES
from virsci_society.agents.offline.random_choice import (
    bernoulli,
    finite_number,
    gumbel_noise,
    pick,
    rank_with_noise,
    sigmoid,
)
from virsci_society.agents.offline.templates import QUESTIONS, fill
from virsci_society.agents.offline.terms import (
    as_list,
    exclude_terms,
    expertise,
    full_text,
    quoted_parts,
    split_terms,
    text_without_frames,
)
from virsci_society.agents.offline.text import (
    affinity,
    as_sentence,
    join_list,
    stem_pairs,
    stems,
    tokens,
    with_article,
)
from virsci_society.agents.prompts.paper_lists import pair_name, paper_key

Slots = Mapping[str, Any]


def acceptance_probability(slots: Slots) -> float:
    """The probability, 0 to 1, that an invitation is accepted, by the rule in ``acceptance``.

    Raises:
        ProtocolError: the rule gives no probability.
    """
    rule: Acceptance = slots.get("acceptance", DEFAULT_ACCEPTANCE)
    facts = InvitationFacts(
        load=max(0.0, finite_number(slots.get("load"))),
        joint_papers=max(0.0, finite_number(slots.get("ties"))),
        similarity=finite_number(slots.get("similarity")),
        inviter=slots.get("inviter"),
        invitee=slots.get("me"),
    )
    probability = rule.probability(facts)
    if not 0.0 <= probability <= 1.0:
        raise ProtocolError(
            f"{type(rule).__name__}.probability gave {probability!r}, expected 0 to 1"
        )
    return probability


def answer_invitation(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """Accept or decline an invitation to a team.

    Args:
        slots: the structured slots of the form.
        rng: generator of this call.

    Returns:
        The reply under the names of the prompt.
    """
    accepted = bernoulli(acceptance_probability(slots), rng)
    load = max(0, int(finite_number(slots.get("load"))))
    shared = _in_common(slots)
    if accepted:
        why = f"We both work on {_list(shared)}" if shared else "The team would broaden my work"
        if finite_number(slots.get("ties")) > 0:
            why += ", and we have published together before"
        return {"Selected Action": "Action 1", "Reasoning": as_sentence(why + ", so I join")}
    if load > 0:
        teams = "another team" if load == 1 else f"{load} other teams"
        why = f"I already work in {teams} and could not give this one its due"
    elif shared:
        why = "The theme is close to mine, but the time does not suit me"
    else:
        why = "The theme lies too far from my own work"
    return {"Selected Action": "Action 2", "Reasoning": as_sentence(why)}


def _list(terms: Sequence[str]) -> str:
    """Terms as an English list, with their articles."""
    return join_list(map(with_article, terms))


def _in_common(slots: Slots) -> list[str]:
    """Up to two interests that the scientist shares with its inviter."""
    theirs = expertise(slots.get("inviter"))
    known = {term.casefold() for term in theirs}
    return [term for term in expertise(slots.get("me")) if term.casefold() in known][:2]


def answer_agreement(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """Agree with the proposed topic; the nearer it is, the more likely.

    Args:
        slots: the structured slots of the form.
        rng: generator of this call.

    Returns:
        The reply under the names of the prompt.
    """
    topic = full_text(slots.get("topic"))
    near = _affinity(slots, topic)
    agree = bernoulli(sigmoid(RULES.agree_base + RULES.agree_affinity * near), rng)
    term = _nearest(slots, topic)
    if agree and term and near > 0.0:
        reason = f"The topic makes room for my work on {with_article(term)}"
    elif agree:
        reason = "The topic is new to me, and I can follow the others on it"
    elif term:
        reason = f"The topic says too little about {with_article(term)}"
    else:
        reason = "The topic does not yet convince me"
    return {"Agree": agree, "Reason": as_sentence(reason)}


def decide_staying(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """Stay in the team or leave it.

    Leaving is rare, and more likely where the topic is far and the load high.

    Args:
        slots: the structured slots of the form.
        rng: generator of this call.

    Returns:
        The reply under the names of the prompt.
    """
    topic = full_text(slots.get("topic"))
    odds = (
        RULES.leave_base
        + RULES.leave_distance * (1.0 - _affinity(slots, topic))
        + RULES.leave_load * max(0.0, finite_number(slots.get("load")))
    )
    stay = not bernoulli(sigmoid(odds), rng)
    if stay:
        term = _nearest(slots, topic)
        reason = (
            f"I can contribute {with_article(term)}" if term else "I am glad to learn the topic"
        )
    elif finite_number(slots.get("load")) > 2:
        reason = "My other teams leave me too little time for this topic"
    else:
        reason = "The topic has moved away from what I can contribute"
    return {"Stay": stay, "Reason": as_sentence(reason)}


def _affinity(slots: Slots, text: str) -> float:
    me = slots.get("me")
    return affinity(tuple(me.interests), text) if me is not None else 0.0


def _nearest(slots: Slots, text: str) -> str:
    """The scientist's interest that is nearest to a text; empty if it has none."""
    terms = expertise(slots.get("me"))
    return max(terms, key=lambda term: affinity((term,), text), default="")


def cast_ballot(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """Vote for the idea whose references are farthest, with noise.

    Args:
        slots: the structured slots of the form.
        rng: generator of this call.

    Returns:
        The reply under the names of the prompt.
    """
    ideas = as_list(slots.get("ideas"))[:3]
    if not ideas:
        return {"Reason": "No other idea is shown.", "Decision Made": "Idea 0"}
    reply: dict[str, Any] = {}
    if "comparisons" in slots.get("extras", ()):
        reply["Comparisons"] = [_comparison(place, idea) for place, idea in enumerate(ideas)]
    means = [mean_distance(getattr(idea, "references", ()) or ()) for idea in ideas]
    known = [mean for mean in means if mean is not None]
    if not known:
        reason = "No papers are shown, so chance decides."
        return {**reply, "Reason": reason, "Decision Made": f"Idea {pick(range(len(ideas)), rng)}"}
    middle = math.fsum(known) / len(known)
    scores = [
        (middle if mean is None else mean) + gumbel_noise(rng, RULES.ballot_noise) for mean in means
    ]
    best = max(range(len(scores)), key=scores.__getitem__)
    reason = "Its papers lie farthest from it, as far as distances tell."
    return {**reply, "Reason": reason, "Decision Made": f"Idea {best}"}


def _comparison(place: int, idea: Any) -> dict[str, str]:
    """The idea's nearest paper, and a concept of the idea that the paper's title does not hold."""
    told = {"Idea": f"Idea {place}", "Nearest": "none", "Difference": "No papers are shown."}
    papers = getattr(idea, "references", ()) or ()
    if not papers:
        return told
    near = min(range(len(papers)), key=lambda i: finite_number(papers[i].distance))
    title = str(papers[near].title)
    terms = split_terms(str(getattr(idea.idea, "title", "")))
    new = next((term for term in terms if term.casefold() not in title.casefold()), "")
    named = f"The paper's title does not name {with_article(new)}" if new else ""
    difference = named or "The titles name the same"
    nearest = paper_key(papers[near], near + 1)
    return {**told, "Nearest": nearest, "Difference": as_sentence(difference)}


def mean_distance(references: Sequence[Any]) -> float | None:
    """Mean distance of the references; None if there are none."""
    if not references:
        return None
    return math.fsum(finite_number(r.distance) for r in references) / len(references)


def settledness(progress: Sequence[Any]) -> float:
    """How far the outcome of a turn has settled, from 0 (open) to 1 (settled).

    For ballots it is how far the leading idea is above an even split. For summaries it is the share
    of terms that were named more than once. A draft shows nothing of the kind.
    """
    choices = [item.choice for item in progress if isinstance(getattr(item, "choice", None), int)]
    votes = [choice for choice in choices if choice >= 0]
    if votes:
        top = Counter(votes).most_common(1)[0][1] / len(votes)
        return max(0.0, (top - 1.0 / 3.0) * 1.5)
    if any(hasattr(item, "abstract") for item in progress):
        return RULES.another_unknown
    named = [
        term
        for item in progress
        for part in quoted_parts(full_text(item))
        for term in split_terms(part)
    ]
    if not named:
        return RULES.another_unknown
    counts = Counter(term.casefold() for term in named)
    return sum(n for n in counts.values() if n > 1) / len(named)


def decide_another_turn(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """Hold another turn or stop.

    Stopping is more likely the more the outcome has settled, and certain when no turn is left.

    Args:
        slots: the structured slots of the form.
        rng: generator of this call.

    Returns:
        The reply under the names of the prompt.
    """
    if finite_number(slots.get("turns_left"), 1.0) < 1.0:
        return {"Reason": "No round is left.", "Another Turn": False}
    settled = settledness(as_list(slots.get("progress")))
    odds = (
        RULES.another_base
        - RULES.another_turn * finite_number(slots.get("turn"), 1.0)
        - RULES.another_settled * settled
    )
    reason = f"Of what was put forward, {settled:.0%} was named more than once."
    return {"Reason": reason, "Another Turn": bernoulli(sigmoid(odds), rng)}


def text_overlap(draft: str, other: str) -> float:
    """Similarity of two texts, 0 to 100, by shared content words and neighbouring pairs."""
    if tokens(draft) and tokens(draft) == tokens(other):
        return 100.0
    mine, theirs = text_without_frames(draft), text_without_frames(other)
    words = _common_share(stems(mine), stems(theirs))
    bigrams = _common_share(stem_pairs(mine), stem_pairs(theirs))
    return round(100.0 * (RULES.overlap_words * (words - bigrams) + bigrams), 1)


def _common_share(first: frozenset[Any], second: frozenset[Any]) -> float:
    """Shared elements relative to the smaller set, which counts as no smaller than a floor."""
    least = max(min(len(first), len(second)), int(RULES.overlap_least))
    return len(first & second) / least


def review_own_draft(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """Score the draft against each near abstract, and list the pairs that overlap too much.

    Args:
        slots: the structured slots of the form.
        rng: generator of this call.

    Returns:
        The reply under the names of the prompt.
    """
    draft = str(getattr(slots.get("draft"), "abstract", ""))
    scores: dict[str, float] = {}
    alike: list[dict[str, Any]] = []
    for i, paper in enumerate(as_list(slots.get("near"))):
        name = pair_name(i)
        text = paper.abstract if tokens(paper.abstract or "") else paper.title
        scores[name] = text_overlap(draft, text)
        if scores[name] >= RULES.overlap_listed:
            common = sorted(stems(draft) & stems(text))[:4]
            reason = f"Both texts speak of {join_list(common)}" if common else "The texts are alike"
            alike.append({"pair": name, "score": scores[name], "reason": as_sentence(reason)})
    return {"similarity_scores": scores, "high_overlap_pairs": alike}


def ask_outsider(
    slots: Mapping[str, Any], text: str, probability: float, rng: np.random.Generator
) -> dict[str, str] | None:
    """A question to the outsider who knows most about the talk that the speaker does not.

    Args:
        slots: the structured slots of the form.
        text: the talk so far.
        probability: that a question is asked at all.
        rng: generator of this call.

    Returns:
        Scientist and question under the names of the prompt; None: nobody is asked.
    """
    outsiders = as_list(slots.get("outsiders"))
    if not outsiders or not bernoulli(probability, rng):
        return None
    mine = expertise(slots.get("me"))
    scores = []
    for person in outsiders:
        terms = expertise(person)
        shared = len(terms) - len(exclude_terms(terms, mine))
        matching = sum(affinity((term,), text) for term in exclude_terms(terms, mine))
        scores.append(matching - RULES.ask_own * shared)
    person = rank_with_noise(outsiders, scores, 0.0, rng)[0]
    theirs = exclude_terms(expertise(person), mine) or list(expertise(person))
    if not theirs:
        return {"Scientist": person.id, "Question": "What would you advise us to look at first?"}
    named = max(theirs, key=lambda term: affinity((term,), text))
    return {"Scientist": person.id, "Question": fill(pick(QUESTIONS, rng), x=named)}
