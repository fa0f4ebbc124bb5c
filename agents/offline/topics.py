"""The rules for what the offline scientist says while a team looks for a topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from virsci_society.agents.offline.constants import RULES
from virsci_society.agents.offline.decisions import ask_outsider
from virsci_society.agents.offline.random_choice import (
    bernoulli,
    pick,
    rank_with_noise,
    weighted_choice,
)
from virsci_society.agents.offline.templates import (
    DIRECTIONS,
    GUEST,
    GUEST_ONLY,
    KNOWN,
    LATER,
    OPENING,
    OWN,
    PROPOSING,
    REMEMBERED,
    fill,
)
from virsci_society.agents.offline.terms import (
    NEUTRAL,
    as_list,
    exclude_terms,
    expertise,
    full_text,
    guest_terms,
    headline,
    is_guest,
    split_terms,
    utterance_terms,
)
from virsci_society.agents.offline.text import (
    affinity,
    as_sentence,
    capitalise,
    join_list,
    split_sentences,
    truncate_words,
    with_article,
)

Slots = Mapping[str, Any]
_HEADLINE = 20
"""Words of a direction or title that a summary repeats; those made of frames are shorter."""
_CONTEXT_HEARD = 600
"""Characters at the end of a context in which a guest looks for what it is asked about."""


def draw_interest(slots: Slots, text: str, rng: np.random.Generator) -> str:
    """One of the speaker's interests; the first ones and those near the talk are more likely.

    Args:
        slots: the structured slots of the form.
        text: the talk so far.
        rng: generator of this call.
    """
    terms = expertise(slots.get("me"))
    if not terms:
        return pick(NEUTRAL, rng)
    weights = [
        RULES.interest_decay**i * (1.0 + RULES.interest_relevance * affinity((term,), text))
        for i, term in enumerate(terms)
    ]
    return weighted_choice(terms, weights, rng)


def talk_text(slots: Slots) -> str:
    """Everything said so far, as one text."""
    heard = [*as_list(slots.get("summaries")), *as_list(slots.get("said"))]
    texts = [f"{headline(item)} {full_text(item)}" for item in heard]
    return " ".join([str(slots.get("start") or ""), *texts])


def _taken_up(slots: Slots, own: str, rng: np.random.Generator) -> str | None:
    """A term of the discussion, drawn by how often it was brought up; None if there is none."""
    start = split_terms(str(slots.get("start") or ""))[:2]
    heard = [*as_list(slots.get("summaries")), *as_list(slots.get("said"))]
    weights: Counter[str] = Counter(dict.fromkeys(start, 2))
    for item in heard:
        weights.update(dict.fromkeys(utterance_terms(item)[:6], 1))
    for term in guest_terms(slots):
        weights[term] += int(RULES.take_up_guest)
    left = exclude_terms(weights, [own])
    return weighted_choice(left, [weights[term] for term in left], rng) if left else None


def make_remark(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """One turn of the topic discussion: take a term up, bring one in, propose a direction.

    Args:
        slots: the structured slots of the form.
        rng: generator of this call.

    Returns:
        The reply under the names of the prompt.
    """
    text = talk_text(slots)
    own = draw_interest(slots, text, rng)
    other = _taken_up(slots, own, rng)
    lines: list[str] = []
    side = _side_remark(slots, own, rng)
    if side is not None:
        lines.append(side[1])
        other = other or side[0]
    elif other is not None:
        frames = LATER if slots.get("said") or slots.get("summaries") else OPENING
        lines.append(fill(pick(frames, rng), x=other))
    if other is None:
        left = exclude_terms(expertise(slots.get("me")), [own])
        other = left[0] if left else None
        lines.append(fill(pick(OPENING, rng), x=own))
    direction = _direction(own, other, rng)
    if other is not None:
        lines.append(fill(pick(OWN, rng), o=own))
    lines.append(fill(pick(PROPOSING, rng), d=direction))
    reply: dict[str, Any] = {"Response": " ".join(lines), "Direction": capitalise(direction)}
    ask = ask_outsider(slots, text, RULES.ask_topic, rng)
    return {**reply, "Ask": ask} if ask else reply


def _direction(own: str, other: str | None, rng: np.random.Generator) -> str:
    if other is None:
        return with_article(own)
    return fill(pick(DIRECTIONS, rng), o=own, x=other)


def _side_remark(slots: Slots, own: str, rng: np.random.Generator) -> tuple[str, str] | None:
    """A term from memory or of a known scientist, and the sentence on it, if one is used."""
    memory = [term for line in as_list(slots.get("memory")) for term in utterance_terms(line)[:3]]
    recalled = exclude_terms(memory, [own])
    if recalled and bernoulli(RULES.take_up_memory, rng):
        term = pick(recalled, rng)
        return term, fill(REMEMBERED, x=term)
    me = slots.get("me")
    others = [p for p in as_list(slots.get("knowledge")) if me is None or p.id != me.id]
    if others and bernoulli(RULES.take_up_known, rng):
        person = pick(others, rng)
        terms = exclude_terms(expertise(person), [own])
        if terms:
            return terms[0], fill(KNOWN, who=person.id, x=terms[0])
    return None


def answer_as_guest(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """Answer as a consulted outsider, from its own interests.

    Args:
        slots: the structured slots of the form.
        rng: generator of this call.

    Returns:
        The reply under the names of the prompt.
    """
    asked = f"{slots.get('question') or ''} {slots.get('context') or ''}"
    own = draw_interest(slots, asked, rng)
    heard = _asked_about(slots, own)
    if heard:
        return {"Answer": fill(pick(GUEST, rng), g=own, x=heard)}
    return {"Answer": fill(pick(GUEST_ONLY, rng), g=own)}


def _asked_about(slots: Slots, own: str) -> str:
    """A term of the talk that is the asker's and not the guest's; empty if there is none."""
    context = str(slots.get("context") or "")
    mine = [own, *expertise(slots.get("me"))]
    low = context.casefold()
    theirs = [term for term in expertise(slots.get("asker")) if term.casefold() in low]
    heard = exclude_terms([*theirs, *utterance_terms(_end_of(context))], mine)
    return heard[0] if heard else ""


def _end_of(text: str) -> str:
    """The last sentences of a text, none of them cut."""
    kept: list[str] = []
    for line in reversed(split_sentences(text)):
        if kept and len(" ".join((line, *kept))) > _CONTEXT_HEARD:
            break
        kept.insert(0, line)
    return " ".join(kept)


def count_support(items: Sequence[Any]) -> Counter[str]:
    """Number of utterances that bring up each term, written as it was first."""
    first: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for item in items:
        for term in utterance_terms(item)[:8]:
            counts[first.setdefault(term.casefold(), term)] += 1
    return counts


def choose_topic(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """Choose the topic that joins the terms with the most support.

    Args:
        slots: the structured slots of the form.
        rng: generator of this call.

    Returns:
        The reply under the names of the prompt.
    """
    counts = count_support([*as_list(slots.get("summaries")), *as_list(slots.get("said"))])
    for term in expertise(slots.get("me"))[:2]:
        counts.setdefault(term, 0)
    if not counts:
        counts[pick(NEUTRAL, rng)] = 0
    terms = list(counts)
    best = rank_with_noise(terms, [float(counts[term]) for term in terms], 0.0, rng)[:3]
    reason = _support(best[0], counts[best[0]])
    if len(best) == 1:
        return {"Reason": reason, "Selected Topic": capitalise(with_article(best[0]))}
    text = f"{with_article(best[0])} for {with_article(best[1])}"
    if len(best) > 2 and counts[best[2]] > 0:
        text += f", informed by {with_article(best[2])}"
    return {"Reason": reason, "Selected Topic": capitalise(text)}


def _support(term: str, named: int) -> str:
    """How often a term was brought up, as a reason to choose it."""
    if not named:
        return "Nothing was brought up, so the choice is the leader's own."
    times = "once" if named == 1 else f"{named} times"
    return as_sentence(f"The discussion came to {with_article(term)} {times}")


def summarise_turn(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """Summarise the turn: directions or titles, the most frequent first, and what guests added.

    Args:
        slots: the structured slots of the form.
        rng: generator of this call.

    Returns:
        The reply under the names of the prompt.
    """
    said = as_list(slots.get("said"))
    first: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for item in said:
        head = truncate_words(headline(item).replace('"', ""), _HEADLINE)
        if head:
            counts[first.setdefault(head.casefold(), head)] += 1
    if not counts:
        return {"Summary": "Nothing was put forward in this turn; the floor stays open."}
    heads = [f'"{head}"' + (f" ({n} times)" if n > 1 else "") for head, n in counts.most_common(5)]
    lines = [as_sentence(f"The team put forward {join_list(heads)}")]
    added = exclude_terms(guest_terms(slots), counts)[:2] if any(map(is_guest, said)) else []
    if added:
        lines.append(as_sentence("A guest pointed to " + join_list(f'"{term}"' for term in added)))
    common = [
        term for term, n in count_support([i for i in said if headline(i)]).most_common(1) if n > 1
    ]
    if common:
        lines.append(as_sentence(f'Most of the talk turned on "{common[0]}"'))
    return {"Summary": " ".join(lines)}
