"""Ideas: how the offline scientist recombines what it read with what it knows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.offline.chance import gumbel, happens, number, pick, sigmoid
from agents.offline.constants import RULES
from agents.offline.consulting import question
from agents.offline.frames import mark
from agents.offline.phrases import (
    NEUTRAL,
    expertise,
    guests,
    headed,
    listed,
    paper_terms,
    pieces,
    raised,
    spoken,
    unique,
    without,
)
from agents.offline.sayings import (
    ADDITIONS,
    CORES,
    EXPERIMENTS,
    GROUNDS,
    SUPPORTS,
    TITLES,
)
from agents.offline.topics import own_interest, talk
from agents.offline.words import (
    affinity,
    capital,
    sentence,
    sentences,
    share,
    shortened,
    stems,
)

Slots = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Sketch:
    """An idea before it is rated: its texts, the references used and its concepts."""

    title: str
    idea: str
    experiment: str
    used: tuple[int, ...]
    concepts: tuple[str, ...]


def idea(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """One turn of idea generation: refine the standing idea or propose a new one."""
    references = tuple(listed(slots.get("references")))
    previous = getattr(slots.get("previous"), "idea", None)
    own = _own_terms(slots, rng)
    if previous is not None and happens(_refining(slots, previous), rng):
        sketch = _refined(slots, previous, references, own, rng)
    else:
        sketch = _proposed(slots, references, own, rng)
    ratings = _ratings(slots, sketch, references, rng)
    reply: dict[str, Any] = {
        "Idea": sketch.idea,
        "Title": sketch.title,
        "Experiment": sketch.experiment,
        **ratings,
        "Uses": [i + 1 for i in sketch.used],
    }
    ask = question(slots, f"{talk(slots)} {sketch.title}", RULES.ask_idea, rng)
    return {**reply, "Ask": ask} if ask else reply


def _refining(slots: Slots, previous: Any) -> float:
    me = slots.get("me")
    near = affinity(tuple(me.interests), spoken(previous)) if me is not None else 0.0
    return sigmoid(RULES.refine_base + RULES.refine_affinity * near)


def _own_terms(slots: Slots, rng: np.random.Generator) -> list[str]:
    """Own interests in the order in which this turn uses them."""
    first = own_interest(slots, spoken(slots.get("topic")), rng)
    return [first, *without(expertise(slots.get("me")), [first])]


def _chosen(
    slots: Slots, references: Sequence[Any], most: int, rng: np.random.Generator
) -> tuple[int, ...]:
    """Positions of the references built on: near the query, near the speaker, by chance."""
    me = slots.get("me")
    interests = tuple(me.interests) if me is not None else ()
    scored = []
    for i, paper in enumerate(references):
        near = affinity(interests, f"{paper.title} {' '.join(paper.keywords)}")
        score = RULES.reference_affinity * near - RULES.reference_rank * i
        scored.append((-(score + gumbel(rng, RULES.reference_noise)), i))
    return tuple(sorted(i for _, i in sorted(scored)[:most]))


def _borrowed(slots: Slots, rng: np.random.Generator) -> list[str]:
    """Terms that guests, memory or known scientists add to the material of this turn."""
    found: list[str] = []
    heard = guests(slots)
    if heard and happens(RULES.guest_in_idea, rng):
        found.append(heard[0])
    memory = listed(slots.get("memory"))
    if memory and happens(RULES.take_up_memory, rng):
        found.extend(raised(pick(memory, rng))[:1])
    people = listed(slots.get("knowledge"))
    if people and happens(RULES.take_up_known, rng):
        found.extend(expertise(pick(people, rng))[:1])
    return found


def _material(
    slots: Slots, references: Sequence[Any], used: Sequence[int], rng: np.random.Generator
) -> list[str]:
    """Terms of the references used, one of each in turn, then those of the topic."""
    lists = [list(paper_terms(references[i])) for i in used]
    terms: list[str] = _borrowed(slots, rng)
    for items in lists:
        if items:
            terms.append(items[min(int(rng.random() * 3), len(items) - 1)])
    theme = list(pieces(spoken(slots.get("topic"))))
    at = min(int(rng.random() * 2), len(terms))
    terms[at:at] = theme[:1]
    for items in lists:
        terms.extend(items[:2])
    return list(unique([*terms, *theme]))


def _proposed(
    slots: Slots, references: Sequence[Any], own: Sequence[str], rng: np.random.Generator
) -> _Sketch:
    used = _chosen(slots, references, 2 + int(rng.random() * 2), rng)
    material = without(_material(slots, references, used, rng), own[:1])
    material += without(own[1:], material)
    material += without(NEUTRAL, [*material, *own])
    a, b, r = material[0], material[1], material[2]
    o = own[0]
    lines = [pick(CORES, rng).format(a=a, b=b, o=o)]
    if used:
        lines.append(pick(GROUNDS, rng).format(r=r, a=a))
    lines.append(pick(SUPPORTS, rng).format(o=pick(own[:2], rng)))
    title = pick(TITLES, rng).format(a=shortened(a, 4), b=shortened(b, 4), o=shortened(o, 4))
    test = pick(EXPERIMENTS, rng).format(a=a, b=b, o=o)
    concepts = (a, b, o, r) if used else (a, b, o)
    return _Sketch(capital(title), " ".join(lines), test, used, concepts)


def _refined(
    slots: Slots,
    previous: Any,
    references: Sequence[Any],
    own: Sequence[str],
    rng: np.random.Generator,
) -> _Sketch:
    used = _chosen(slots, references, 1 + int(rng.random() * 2), rng)
    before = str(previous.idea)
    present = pieces(str(previous.title))
    fresh = [term for term in own if term.casefold() not in before.casefold()]
    o = (fresh or own)[0]
    material = without(_material(slots, references, used, rng), [o])
    x = (material or without(present, [o]) or without(NEUTRAL, [o]))[0]
    kept = sentences(before)
    kept = kept[:2] + kept[2:][-1:]
    lines = [shortened(line, 45) for line in kept]
    used_before = {mark(line) for line in lines}
    frames = [frame for frame in ADDITIONS if mark(frame) not in used_before]
    lines.append(pick(frames, rng).format(o=o, x=x))
    head = headed(str(previous.title))
    a = (without(present, [o, x]) or without(NEUTRAL, [o, x]))[0]
    test = pick(EXPERIMENTS, rng).format(a=a, b=x, o=o)
    return _Sketch(
        capital(f"{head} with {shortened(o, 4)}"),
        " ".join(map(sentence, lines)),
        test,
        used,
        tuple(unique([*present[:3], o, x])),
    )


def _ratings(
    slots: Slots, sketch: _Sketch, references: Sequence[Any], rng: np.random.Generator
) -> dict[str, float]:
    """Clarity, feasibility and novelty from measured distances and counted concepts."""
    nearest = sorted(max(0.0, number(paper.distance)) for paper in references)[:3]
    far = math.fsum(nearest) / len(nearest) if nearest else RULES.distance_middle
    rise = sigmoid(RULES.distance_slope * (far - RULES.distance_middle))
    extra = max(0, len(sketch.concepts) - 2)
    read = stems(" ".join(str(references[i].title) for i in sketch.used))
    reach = 1.0 - share(stems(" ".join(sketch.concepts)), read) if read else 0.5
    novelty = RULES.novelty_low + RULES.novelty_span * rise + RULES.novelty_reach * (reach - 0.5)
    feasible = RULES.feasible_high - RULES.feasible_span * rise - RULES.feasible_concept * extra
    clear = RULES.clear_high - RULES.clear_concept * extra
    noise = rng.standard_normal(3) * RULES.rating_noise
    return {
        "Clarity": _rating(clear + float(noise[0])),
        "Feasibility": _rating(feasible + float(noise[1])),
        "Novelty": _rating(novelty + float(noise[2])),
    }


def _rating(value: float) -> float:
    return round(min(10.0, max(1.0, value)), 1)
