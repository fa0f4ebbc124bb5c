"""Topics: what the offline scientist says while a team looks for a topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from agents.offline.chance import happens, pick, ranked, weighted
from agents.offline.constants import RULES
from agents.offline.consulting import question
from agents.offline.phrases import (
    NEUTRAL,
    expertise,
    guests,
    headline,
    is_guest,
    listed,
    pieces,
    raised,
    spoken,
    without,
)
from agents.offline.sayings import (
    DIRECTIONS,
    GUEST,
    GUEST_ONLY,
    KNOWN,
    LATER,
    OPENING,
    OWN,
    PROPOSING,
    REMEMBERED,
)
from agents.offline.words import affinity, capital, joined, sentence, shortened

Slots = Mapping[str, Any]


def own_interest(slots: Slots, text: str, rng: np.random.Generator) -> str:
    """One of the speaker's interests: the main ones and those near the talk likelier."""
    terms = expertise(slots.get("me"))
    if not terms:
        return pick(NEUTRAL, rng)
    weights = [
        RULES.interest_decay**i * (1.0 + RULES.interest_relevance * affinity((term,), text))
        for i, term in enumerate(terms)
    ]
    return weighted(terms, weights, rng)


def talk(slots: Slots) -> str:
    """Everything said so far, as one text."""
    heard = [*listed(slots.get("summaries")), *listed(slots.get("said"))]
    texts = [f"{headline(item)} {spoken(item)}" for item in heard]
    return " ".join([str(slots.get("start") or ""), *texts])


def _taken_up(slots: Slots, own: str, rng: np.random.Generator) -> str | None:
    """A term of the discussion: recent ones count as often as they were raised."""
    start = pieces(str(slots.get("start") or ""))[:2]
    heard = [*listed(slots.get("summaries")), *listed(slots.get("said"))]
    weights: Counter[str] = Counter(dict.fromkeys(start, 2))
    for item in heard:
        weights.update(dict.fromkeys(raised(item)[:6], 1))
    for term in guests(slots):
        weights[term] += int(RULES.take_up_guest)
    left = without(weights, [own])
    return weighted(left, [weights[term] for term in left], rng) if left else None


def remark(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """One turn of the topic discussion: take up, bring in, put forward."""
    text = talk(slots)
    own = own_interest(slots, text, rng)
    other = _taken_up(slots, own, rng)
    lines: list[str] = []
    side = _side_remark(slots, own, rng)
    if side is not None:
        lines.append(side[1])
        other = other or side[0]
    elif other is not None:
        frames = LATER if slots.get("said") or slots.get("summaries") else OPENING
        lines.append(pick(frames, rng).format(x=other))
    if other is None:
        left = without(expertise(slots.get("me")), [own])
        other = left[0] if left else None
        lines.append(pick(OPENING, rng).format(x=own))
    direction = _direction(own, other, rng)
    if other is not None:
        lines.append(pick(OWN, rng).format(o=own))
    lines.append(pick(PROPOSING, rng).format(d=direction))
    reply: dict[str, Any] = {"Response": " ".join(lines), "Direction": capital(direction)}
    ask = question(slots, text, RULES.ask_topic, rng)
    return {**reply, "Ask": ask} if ask else reply


def _direction(own: str, other: str | None, rng: np.random.Generator) -> str:
    if other is None:
        return shortened(own, 10)
    frame = pick(DIRECTIONS, rng)
    return frame.format(o=shortened(own, 4), x=shortened(other, 4))


def _side_remark(slots: Slots, own: str, rng: np.random.Generator) -> tuple[str, str] | None:
    """A memory line or a known scientist's interest, if one is taken up."""
    memory = [term for line in listed(slots.get("memory")) for term in raised(line)[:3]]
    recalled = without(memory, [own])
    if recalled and happens(RULES.take_up_memory, rng):
        term = pick(recalled, rng)
        return term, REMEMBERED.format(x=term)
    me = slots.get("me")
    others = [p for p in listed(slots.get("knowledge")) if me is None or p.id != me.id]
    if others and happens(RULES.take_up_known, rng):
        person = pick(others, rng)
        terms = without(expertise(person), [own])
        if terms:
            return terms[0], KNOWN.format(who=person.id, x=terms[0])
    return None


def guest(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """A consulted outsider's answer, from its own interests."""
    asked = f"{slots.get('question') or ''} {slots.get('context') or ''}"
    own = own_interest(slots, asked, rng)
    heard = _asked_about(slots, own)
    if heard:
        return {"Answer": pick(GUEST, rng).format(g=own, x=heard)}
    return {"Answer": pick(GUEST_ONLY, rng).format(g=own)}


def _asked_about(slots: Slots, own: str) -> str:
    """A term of the talk that is the asker's and not the guest's; empty if there is none."""
    context = str(slots.get("context") or "")
    mine = [own, *expertise(slots.get("me"))]
    low = context.casefold()
    theirs = [term for term in expertise(slots.get("asker")) if term.casefold() in low]
    heard = without([*theirs, *raised(context[-600:])], mine)
    return heard[0] if heard else ""


def support(items: Sequence[Any]) -> Counter[str]:
    """How many utterances raise each term, written as it was first raised."""
    first: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for item in items:
        for term in raised(item)[:8]:
            counts[first.setdefault(term.casefold(), term)] += 1
    return counts


def topic(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """The topic that joins the terms with the most support."""
    counts = support([*listed(slots.get("summaries")), *listed(slots.get("said"))])
    for term in expertise(slots.get("me"))[:2]:
        counts.setdefault(term, 0)
    if not counts:
        counts[pick(NEUTRAL, rng)] = 0
    terms = list(counts)
    best = ranked(terms, [float(counts[term]) for term in terms], 0.0, rng)[:3]
    if len(best) == 1:
        return {"Selected Topic": capital(best[0])}
    text = f"{best[0]} for {best[1]}"
    if len(best) > 2 and counts[best[2]] > 0:
        text += f", informed by {best[2]}"
    return {"Selected Topic": capital(text)}


def summary(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """The directions or titles of the turn, most frequent first, and what guests added."""
    said = listed(slots.get("said"))
    first: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for item in said:
        head = shortened(headline(item).replace('"', ""), 12)
        if head:
            counts[first.setdefault(head.casefold(), head)] += 1
    if not counts:
        return {"Summary": "Nothing was put forward in this turn; the floor stays open."}
    heads = [f'"{head}"' + (f" ({n} times)" if n > 1 else "") for head, n in counts.most_common(5)]
    lines = [sentence(f"The team put forward {joined(heads)}")]
    added = without(guests(slots), counts)[:2] if any(map(is_guest, said)) else []
    if added:
        lines.append(sentence("A guest pointed to " + joined(f'"{term}"' for term in added)))
    common = [term for term, n in support([i for i in said if headline(i)]).most_common(1) if n > 1]
    if common:
        lines.append(sentence(f'Most of the talk turned on "{common[0]}"'))
    return {"Summary": " ".join(lines)}
