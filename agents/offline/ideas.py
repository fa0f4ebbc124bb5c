"""The rules by which the offline scientist combines what it read with what it knows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from virsci_society.agents.offline.constants import RULES
from virsci_society.agents.offline.decisions import ask_outsider
from virsci_society.agents.offline.random_choice import (
    bernoulli,
    finite_number,
    gumbel_noise,
    pick,
    sigmoid,
)
from virsci_society.agents.offline.templates import (
    ADDITIONS,
    CORES,
    EXPERIMENTS,
    GROUNDS,
    SUPPORTS,
    TITLES,
    fill,
    frame_mark,
)
from virsci_society.agents.offline.terms import (
    NEUTRAL,
    as_list,
    exclude_terms,
    expertise,
    full_text,
    guest_terms,
    paper_terms,
    split_terms,
    title_head,
    unique_terms,
    utterance_terms,
)
from virsci_society.agents.offline.text import (
    affinity,
    as_sentence,
    capitalise,
    join_list,
    shared_fraction,
    split_sentences,
    stems,
    truncate_words,
    with_article,
)
from virsci_society.agents.offline.topics import draw_interest, talk_text
from virsci_society.agents.prompts.paper_lists import paper_key

Slots = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Sketch:
    """An idea before it is rated.

    Attributes:
        title: its title.
        idea: its description.
        experiment: how it is to be tested.
        used: indices of the references that it builds on.
        concepts: the terms that it joins.
        own: the speaker's term among them.
    """

    title: str
    idea: str
    experiment: str
    used: tuple[int, ...]
    concepts: tuple[str, ...]
    own: str


def propose_idea(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """One turn of idea generation: refine the previous idea or propose a new one.

    Args:
        slots: the structured slots of the form.
        rng: generator of this call.

    Returns:
        The reply under the names of the prompt.
    """
    references = tuple(as_list(slots.get("references")))
    previous = getattr(slots.get("previous"), "idea", None)
    own = _own_terms(slots, rng)
    if previous is not None and bernoulli(_refine_probability(slots, previous), rng):
        sketch = _refined(slots, previous, references, own, rng)
    else:
        sketch = _proposed(slots, references, own, rng)
    ratings = _ratings(slots, sketch, references, rng)
    reply: dict[str, Any] = {
        "Reason": _reason(sketch),
        "Idea": sketch.idea,
        "Title": sketch.title,
        "Experiment": sketch.experiment,
        **ratings,
        "Uses": [paper_key(references[i], i + 1) for i in sketch.used],
    }
    extras = slots.get("extras", ())
    if "gist" in extras:
        reply["In Short"] = " ".join(split_sentences(sketch.idea)[:2])
    if "marks" in extras and previous is not None:
        reply |= _judgement(previous, references)
    ask = ask_outsider(slots, f"{talk_text(slots)} {sketch.title}", RULES.ask_idea, rng)
    return {**reply, "Ask": ask} if ask else reply


def _reason(sketch: _Sketch) -> str:
    """Why the idea came up, in terms of the idea alone."""
    others = exclude_terms(sketch.concepts, [sketch.own])[:2]
    return as_sentence(f"It brings {with_article(sketch.own)} to {_list(others)}")


def _list(terms: Iterable[str]) -> str:
    """Terms as an English list, with their articles."""
    return join_list(map(with_article, terms))


def _judgement(previous: Any, references: Sequence[Any]) -> dict[str, Any]:
    """What the speaker says of the idea on the table: an objection and marks, without chance."""
    concepts = split_terms(str(previous.title))
    read = stems(" ".join(str(paper.title) for paper in references))
    known = shared_fraction(stems(" ".join(concepts)), read) if read else 0.5
    marks = {
        "Clarity": _rating(RULES.clear_high - RULES.clear_concept * max(0, len(concepts) - 2)),
        "Feasibility": _rating(RULES.feasible_high - RULES.feasible_concept * len(concepts)),
        "Novelty": _rating(RULES.novelty_low + RULES.novelty_span * (1.0 - known)),
    }
    return {"Objection": _objection(concepts), "Marks": marks}


def _objection(concepts: Sequence[str]) -> str:
    if not concepts:
        return "It does not say what would count against it."
    last = with_article(concepts[-1])
    return as_sentence(f"It does not say what could be measured to show the gain from {last}")


def criticise_idea(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """The objection to the chosen idea: its last concept, and what its papers say of it.

    Args:
        slots: the structured slots of the form.
        rng: generator of this call; not used.

    Returns:
        The reply under the names of the prompt.
    """
    candidate = slots.get("idea")
    idea = getattr(candidate, "idea", candidate)
    concepts = split_terms(str(getattr(idea, "title", "")))
    weakest = with_article(concepts[-1]) if concepts else "the outcome"
    return {
        "Soundness": as_sentence(f"The step that rests on {weakest} is the weakest"),
        "Objection": _objection(concepts),
        "Advice": as_sentence(f"State which result would show that nothing is gained by {weakest}"),
    }


def _refine_probability(slots: Slots, previous: Any) -> float:
    """The probability of refining the previous idea instead of proposing one."""
    me = slots.get("me")
    near = affinity(tuple(me.interests), full_text(previous)) if me is not None else 0.0
    return sigmoid(RULES.refine_base + RULES.refine_affinity * near)


def _own_terms(slots: Slots, rng: np.random.Generator) -> list[str]:
    """The scientist's interests in the order in which this turn uses them."""
    first = draw_interest(slots, full_text(slots.get("topic")), rng)
    return [first, *exclude_terms(expertise(slots.get("me")), [first])]


def _choose_references(
    slots: Slots, references: Sequence[Any], most: int, rng: np.random.Generator
) -> tuple[int, ...]:
    """Indices of the references to build on: near the query, near the speaker, by chance.

    Args:
        slots: the structured slots of the form.
        references: the references.
        most: most of them to choose.
        rng: generator of this call.
    """
    me = slots.get("me")
    interests = tuple(me.interests) if me is not None else ()
    scored = []
    for i, paper in enumerate(references):
        near = affinity(interests, f"{paper.title} {' '.join(paper.keywords)}")
        score = RULES.reference_affinity * near - RULES.reference_rank * i
        scored.append((-(score + gumbel_noise(rng, RULES.reference_noise)), i))
    return tuple(sorted(i for _, i in sorted(scored)[:most]))


def _borrow_terms(slots: Slots, rng: np.random.Generator) -> list[str]:
    """Terms that guests, memory or known scientists add to the material of this turn."""
    found: list[str] = []
    heard = guest_terms(slots)
    if heard and bernoulli(RULES.guest_in_idea, rng):
        found.append(heard[0])
    memory = as_list(slots.get("memory"))
    if memory and bernoulli(RULES.take_up_memory, rng):
        found.extend(utterance_terms(pick(memory, rng))[:1])
    people = as_list(slots.get("knowledge"))
    if people and bernoulli(RULES.take_up_known, rng):
        found.extend(expertise(pick(people, rng))[:1])
    return found


def _material(
    slots: Slots, references: Sequence[Any], used: Sequence[int], rng: np.random.Generator
) -> list[str]:
    """Terms of the references used, one of each in turn, then those of the topic.

    Args:
        slots: the structured slots of the form.
        references: the references.
        used: indices of those that are built on.
        rng: generator of this call.
    """
    lists = [list(paper_terms(references[i])) for i in used]
    terms: list[str] = _borrow_terms(slots, rng)
    for items in lists:
        if items:
            terms.append(items[min(int(rng.random() * 3), len(items) - 1)])
    theme = list(split_terms(full_text(slots.get("topic"))))
    at = min(int(rng.random() * 2), len(terms))
    terms[at:at] = theme[:1]
    for items in lists:
        terms.extend(items[:2])
    return list(unique_terms([*terms, *theme]))


def _proposed(
    slots: Slots, references: Sequence[Any], own: Sequence[str], rng: np.random.Generator
) -> _Sketch:
    used = _choose_references(slots, references, 2 + int(rng.random() * 2), rng)
    material = exclude_terms(_material(slots, references, used, rng), own[:1])
    material += exclude_terms(own[1:], material)
    material += exclude_terms(NEUTRAL, [*material, *own])
    a, b, r = material[0], material[1], material[2]
    o = own[0]
    lines = [fill(pick(CORES, rng), a=a, b=b, o=o)]
    if used:
        lines.append(fill(pick(GROUNDS, rng), r=r, a=a))
    lines.append(fill(pick(SUPPORTS, rng), o=pick(own[:2], rng)))
    title = fill(pick(TITLES, rng), a=a, b=b, o=o)
    test = fill(pick(EXPERIMENTS, rng), a=a, b=b, o=o)
    concepts = (a, b, o, r) if used else (a, b, o)
    return _Sketch(capitalise(title), " ".join(lines), test, used, concepts, o)


def _refined(
    slots: Slots,
    previous: Any,
    references: Sequence[Any],
    own: Sequence[str],
    rng: np.random.Generator,
) -> _Sketch:
    used = _choose_references(slots, references, 1 + int(rng.random() * 2), rng)
    before = str(previous.idea)
    present = split_terms(str(previous.title))
    fresh = [term for term in own if term.casefold() not in before.casefold()]
    o = (fresh or own)[0]
    material = exclude_terms(_material(slots, references, used, rng), [o])
    x = (material or exclude_terms(present, [o]) or exclude_terms(NEUTRAL, [o]))[0]
    kept = split_sentences(before)
    kept = kept[:2] + kept[2:][-1:]
    lines = [truncate_words(line, 45) for line in kept]
    used_before = {frame_mark(line) for line in lines}
    frames = [frame for frame in ADDITIONS if frame_mark(frame) not in used_before]
    lines.append(fill(pick(frames, rng), o=o, x=x))
    head = title_head(str(previous.title))
    a = (exclude_terms(present, [o, x]) or exclude_terms(NEUTRAL, [o, x]))[0]
    test = fill(pick(EXPERIMENTS, rng), a=a, b=x, o=o)
    return _Sketch(
        capitalise(f"{head} with {with_article(o)}"),
        " ".join(map(as_sentence, lines)),
        test,
        used,
        tuple(unique_terms([*present[:3], o, x])),
        o,
    )


def _ratings(
    slots: Slots, sketch: _Sketch, references: Sequence[Any], rng: np.random.Generator
) -> dict[str, float]:
    """Clarity, feasibility and novelty from measured distances and counted concepts."""
    nearest = sorted(max(0.0, finite_number(paper.distance)) for paper in references)[:3]
    far = math.fsum(nearest) / len(nearest) if nearest else RULES.distance_middle
    rise = sigmoid(RULES.distance_slope * (far - RULES.distance_middle))
    extra = max(0, len(sketch.concepts) - 2)
    read = stems(" ".join(str(references[i].title) for i in sketch.used))
    reach = 1.0 - shared_fraction(stems(" ".join(sketch.concepts)), read) if read else 0.5
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
