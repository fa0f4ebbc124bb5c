"""The rules by which the offline scientist refines ideas and writes proposals and plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from virsci_society.agents.offline.abstracts import AbstractText, SentenceWriter
from virsci_society.agents.offline.constants import RULES
from virsci_society.agents.offline.ideas import propose_idea
from virsci_society.agents.offline.random_choice import bernoulli, pick
from virsci_society.agents.offline.systems.reading import subject_terms
from virsci_society.agents.offline.templates import EXPERIMENTS, TITLES, fill
from virsci_society.agents.offline.terms import (
    NEUTRAL,
    as_list,
    exclude_terms,
    full_text,
    paper_terms,
    split_terms,
    unique_terms,
    utterance_terms,
)
from virsci_society.agents.offline.text import as_sentence, capitalise, join_list, with_article
from virsci_society.agents.offline.topics import count_support, draw_interest
from virsci_society.agents.prompts.paper_lists import paper_key

Slots = Mapping[str, Any]
SECTIONS = {"Problem Statement": 3, "Motivation and Hypothesis": 2, "Proposed Method": 5}
"""Sentences of the first parts of a proposal."""
_PART = {
    "Problem Statement": "introduction",
    "Motivation and Hypothesis": "objective",
    "Proposed Method": "methods",
    "Experiment Plan": "results",
}
_STEP = {"problem": "introduction", "method": "methods", "experiment": "results"}
CITED = 3
"""Papers that a proposal cites at most."""


def refine_idea(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """An idea as in a turn of idea generation, and whether it is finished.

    Args:
        slots: the structured slots of the form.
        rng: generator of this call.

    Returns:
        The reply under the names of the prompt.
    """
    return {**propose_idea(slots, rng), "Done": bernoulli(RULES.reflection_done, rng)}


def write_proposal(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """A proposal from the idea at hand, or from the terms most brought up in the discussion.

    Args:
        slots: the structured slots of the form.
        rng: generator of this call.

    Returns:
        The reply under the names of the prompt.
    """
    references = as_list(slots.get("references"))
    heard = [term for term, _ in count_support(as_list(slots.get("said"))).most_common(6)]
    theme = unique_terms([*subject_terms(slots), *heard])
    own = draw_interest(slots, " ".join(theme), rng)
    papers = [term for paper in references[:CITED] for term in paper_terms(paper)[:1]]
    material = _material(theme, papers, own)
    writer = SentenceWriter(theme or material, material, [own, *material[:1]], rng)
    text = AbstractText([])
    parts = {name: _sentences(name, most, writer, text) for name, most in SECTIONS.items()}
    a, b = material[0], material[1]
    test = fill(pick(EXPERIMENTS, rng), a=a, b=b, o=own)
    outcome = _sentences("Experiment Plan", 2, writer, text)
    return {
        "Reason": as_sentence(f"The parts all speak of {join_list(map(with_article, (a, b)))}"),
        "Title": _title(slots, a, b, own, rng),
        **parts,
        "Experiment Plan": f"{test} {outcome}",
        "References": [paper_key(one, n) for n, one in enumerate(references[:CITED], 1)],
    }


def write_step(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """One step of a plan from the papers, the entities, earlier steps and what reviewers name.

    Args:
        slots: the structured slots of the form.
        rng: generator of this call.

    Returns:
        The reply under the names of the prompt.
    """
    step = str(slots.get("step", "problem"))
    earlier = [term for one in as_list(slots.get("earlier")) for term in split_terms(one.title)]
    asked = [term for one in as_list(slots.get("feedback")) for term in utterance_terms(one)[:1]]
    own = draw_interest(slots, full_text(slots.get("topic")), rng)
    papers = [
        term
        for paper in as_list(slots.get("references"))[:CITED]
        for term in paper_terms(paper)[:1]
    ]
    entities = [str(one) for one in as_list(slots.get("entities"))]
    theme = unique_terms([*asked, *earlier, *split_terms(full_text(slots.get("topic")))])
    material = _material(theme, [*entities[:2], *papers], own)
    writer = SentenceWriter(theme or material, material, [own, *material[:1]], rng)
    text = AbstractText([])
    part = _STEP.get(step, "methods")
    lines = []
    for _ in range(3):
        lines.append(writer.write(part, text))
        text.add(part, lines[-1])
    previous = slots.get("previous")
    title = (
        _title(slots, material[0], material[1], own, rng) if previous is None else previous.title
    )
    reason = f"It takes up {with_article(material[0])}"
    return {"Reason": as_sentence(reason), "Title": title, "Text": " ".join(lines)}


def _material(theme: Sequence[str], papers: Sequence[str], own: str) -> list[str]:
    """At least two terms to write about, none of them the writer's own."""
    terms = exclude_terms(unique_terms([*theme, *papers]), [own])
    return [*terms, *exclude_terms(NEUTRAL, [*terms, own])][: max(2, len(terms))]


def _sentences(name: str, most: int, writer: SentenceWriter, text: AbstractText) -> str:
    """Sentences for one part of a proposal; they are added to the text, so that none returns."""
    lines = []
    for _ in range(most):
        lines.append(writer.write(_PART[name], text))
        text.add(_PART[name], lines[-1])
    return " ".join(lines)


def _title(slots: Slots, a: str, b: str, own: str, rng: np.random.Generator) -> str:
    """The title of the idea at hand, or a new one."""
    candidate = slots.get("idea")
    idea = getattr(candidate, "idea", candidate)
    title = str(getattr(idea, "title", ""))
    return title or capitalise(fill(pick(TITLES, rng), a=a, b=b, o=own))
