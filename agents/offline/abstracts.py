"""Abstracts: how the offline scientist drafts one, and how it changes another's.

A reviser sees nothing but the draft, so which part a sentence belongs to is read from its
mark; a stranger's sentence counts with the part before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from agents.offline.chance import happens, pick, ranked
from agents.offline.constants import RULES
from agents.offline.consulting import question
from agents.offline.frames import PARTS
from agents.offline.pen import Pen, Text
from agents.offline.phrases import (
    NEUTRAL,
    expertise,
    headed,
    listed,
    paper_terms,
    pieces,
    raised,
    traced,
    unique,
    without,
)
from agents.offline.sayings import UNTITLED
from agents.offline.topics import own_interest
from agents.offline.words import (
    affinity,
    capital,
    clean,
    joined,
    sentence,
    sentences,
    share,
    shortened,
    stems,
)

Slots = Mapping[str, Any]

CRITERIA = (
    "Clarity",
    "Relevance",
    "Structure",
    "Conciseness",
    "Technical Accuracy",
    "Engagement",
    "Originality",
    "Overall Score",
)
LAYOUT = {"introduction": 2, "objective": 1, "methods": 4, "results": 2, "conclusion": 2}


def _own(slots: Slots, text: str, rng: np.random.Generator) -> list[str]:
    """The writer's interests, those that the text does not yet hold first."""
    first = own_interest(slots, text, rng)
    low = text.casefold()
    rest = without(expertise(slots.get("me")), [first])
    terms = [first, *rest]
    return [t for t in terms if t.casefold() not in low] + [t for t in terms if t.casefold() in low]


def draft(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """The leader's first abstract, in five parts, from the idea and its references."""
    standing = slots.get("idea")
    idea = getattr(standing, "idea", standing)
    title = _title(getattr(idea, "title", ""))
    body = sentences(str(getattr(idea, "idea", "")))
    references = tuple(getattr(standing, "references", ()) or ())[:4]
    cited = [term for paper in references for term in paper_terms(paper)[:3]]
    theme = list(pieces(title)) or [pick(NEUTRAL, rng)]
    terms = list(unique([*theme[1:], *traced(body), *cited, *_known(slots, rng)]))
    pen = Pen(theme, terms or list(NEUTRAL), _own(slots, title, rng), rng)
    text = Text(body[:1], "objective")
    for part in PARTS:
        while text.parts.count(part) < LAYOUT[part]:
            text.add(part, pen.write(part, text))
    _fit(text, pen, rng)
    reply: dict[str, Any] = {"Title": title, "Abstract": str(text)}
    ask = question(slots, f"{title} {text}", RULES.ask_abstract, rng)
    return {**reply, "Ask": ask} if ask else reply


def _title(title: object) -> str:
    words = shortened(" ".join(str(title).split()), 16)
    return capital(words) if clean(words) else UNTITLED


def _known(slots: Slots, rng: np.random.Generator) -> list[str]:
    """An interest of a scientist whom the knowledge bank shows, now and then."""
    people = listed(slots.get("knowledge"))
    if not people or not happens(RULES.take_up_known, rng):
        return []
    return list(expertise(pick(people, rng))[:1])


def _fit(text: Text, pen: Pen, rng: np.random.Generator, kept: Sequence[str] = ()) -> None:
    """Add to the thinnest part, or take from the fullest, until the length is right.

    Sentences that hold one of the ``kept`` terms are the last to go.
    """
    while text.words < RULES.abstract_least:
        part = ranked(PARTS, [-text.parts.count(p) / LAYOUT[p] for p in PARTS], 0.0, rng)[0]
        text.add(part, pen.write(part, text))
    while text.words > RULES.abstract_most and len(text.lines) > 1:
        free = text.open_to_change()
        free = [i for i in free if not any(term in text.lines[i] for term in kept)] or free
        full = max(text.parts.count(text.parts[i]) / LAYOUT[text.parts[i]] for i in free)
        crowded = [
            i for i in free if text.parts.count(text.parts[i]) / LAYOUT[text.parts[i]] == full
        ]
        text.drop(pick(crowded, rng))


def revision(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """Score the draft and really change it, towards what the reviser knows."""
    before = slots["draft"]
    text = Text(sentences(str(before.abstract)))
    scores = _scores(slots, str(text), rng)
    near = tuple(listed(slots.get("near")))
    own = _away_from(_own(slots, str(text), rng), near)
    heard = _heard(slots.get("guest"), str(text))
    title = _title(before.title)
    theme = list(pieces(title)) or [pick(NEUTRAL, rng)]
    told = list(traced(text.lines))
    told = ranked(told, [0.0] * len(told), 0.0, rng)
    terms = unique([*heard, *theme[1:], *_away_from(told, near)[:6], *_known(slots, rng)])
    pen = Pen(theme, terms or NEUTRAL, own, rng)
    many = 1 + happens(RULES.rewrite_two, rng)
    if near or slots.get("review") is not None:
        many = int(RULES.rewrite_review)
    musts = [own[0], *heard[:1]]
    changed = _rewrite(text, pen, musts, _vocabulary(near), many, rng)
    _fit(text, pen, rng, musts)
    title, renamed = _retitled(title, own[0], rng)
    reply: dict[str, Any] = {
        "Title": title,
        "Abstract": str(text),
        "Scores": scores,
        "Modifications": _modifications(changed, own[0], heard, near, renamed),
    }
    ask = question(slots, f"{title} {text}", RULES.ask_abstract, rng)
    return {**reply, "Ask": ask} if ask else reply


def _heard(guest: Any, text: str) -> list[str]:
    """What a guest's answer names and the text does not."""
    heard = [term for item in listed(guest) for term in raised(item)]
    return [term for term in unique(heard) if term.casefold() not in text.casefold()][:2]


def _vocabulary(near: Sequence[Any]) -> frozenset[str]:
    """The words of the near abstracts, to measure with."""
    return frozenset().union(*(stems(f"{paper.title} {paper.abstract}") for paper in near))


def _away_from(terms: Sequence[str], near: Sequence[Any]) -> list[str]:
    """Terms with those that the near abstracts use put last."""
    taken = _vocabulary(near)
    return sorted(terms, key=lambda term: share(stems(term), taken))


def _rewrite(
    text: Text,
    pen: Pen,
    musts: Sequence[str],
    taken: frozenset[str],
    many: int,
    rng: np.random.Generator,
) -> list[str]:
    """Replace sentences, those nearest to the taken words first; the parts that changed."""
    free = text.open_to_change()
    alike = [share(stems(text.lines[i]), taken) for i in free]
    order = ranked(free, alike, 0.0, rng)[:many]
    changed = []
    for i, at in enumerate(order):
        text.lines[at] = pen.write(text.parts[at], text, musts[i] if i < len(musts) else None)
        changed.append(text.parts[at])
    for must in musts[len(order) :]:
        text.add("methods", pen.write("methods", text, must))
        changed.append("methods")
    if happens(RULES.rewrite_add, rng):
        part = pick(PARTS[2:], rng)
        text.add(part, pen.write(part, text))
        changed.append(part)
    return sorted(changed, key=PARTS.index)


def _scores(slots: Slots, text: str, rng: np.random.Generator) -> dict[str, float]:
    me = slots.get("me")
    near = affinity(tuple(me.interests), text) if me is not None else 0.0
    mean = RULES.score_base + RULES.score_affinity * near
    drawn = mean + RULES.score_noise * rng.standard_normal(len(CRITERIA) - 1)
    scores = {
        name: round(min(10.0, max(1.0, float(value))), 1)
        for name, value in zip(CRITERIA[:-1], drawn, strict=True)
    }
    return {**scores, CRITERIA[-1]: round(sum(scores.values()) / len(scores), 1)}


def _retitled(title: str, own: str, rng: np.random.Generator) -> tuple[str, bool]:
    """Now and then a title whose last part names the reviser's own term."""
    if not happens(RULES.retitle, rng) or own.casefold() in title.casefold():
        return title, False
    return capital(f"{headed(title)} with {shortened(own, 4)}"), True


def _modifications(
    changed: Sequence[str],
    own: str,
    heard: Sequence[str],
    near: Sequence[Any],
    renamed: bool,
) -> str:
    parts = [f"the {part}" for part in dict.fromkeys(changed)]
    lines = [f"I rewrote parts of {joined(parts)} and brought in {own}"]
    if heard:
        lines.append(f"The guest's remark on {heard[0]} is taken up")
    if near:
        lines.append("Wording close to the near abstracts was replaced")
    if renamed:
        lines.append("The title now names the new element")
    return " ".join(map(sentence, lines))
