"""The rules by which the offline scientist searches, takes notes and joins a discussion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from virsci_society.agents.offline.random_choice import pick
from virsci_society.agents.offline.templates import GROUNDS, OPENING, fill
from virsci_society.agents.offline.terms import (
    NEUTRAL,
    as_list,
    exclude_terms,
    full_text,
    paper_terms,
    split_terms,
    unique_terms,
)
from virsci_society.agents.offline.text import as_sentence, join_list, with_article
from virsci_society.agents.offline.topics import draw_interest, make_remark

Slots = Mapping[str, Any]
QUERIES = 3
"""Queries that are put at most."""
NOTED = 4
"""Papers whose terms are noted at most."""


def subject_terms(slots: Slots) -> list[str]:
    """Terms of the idea at hand, or else of the topic.

    Args:
        slots: the structured slots of the form.
    """
    candidate = slots.get("idea")
    idea = getattr(candidate, "idea", candidate)
    title = str(getattr(idea, "title", "")) or full_text(slots.get("topic"))
    return list(split_terms(title))


def choose_queries(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """Queries: each term of the subject, beside an own interest.

    Args:
        slots: the structured slots of the form.
        rng: generator of this call.

    Returns:
        The reply under the names of the prompt.
    """
    terms = subject_terms(slots) or [pick(NEUTRAL, rng)]
    own = draw_interest(slots, " ".join(terms), rng)
    queries = [f"{term} {own}" for term in exclude_terms(terms, [own])[:QUERIES]] or [own]
    reason = f"What is known about {join_list(map(with_article, terms[:2]))} has to be looked up"
    return {"Reason": as_sentence(reason), "Queries": queries}


def take_notes(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """Notes: the terms of the first papers, and an own interest that they do not name.

    Args:
        slots: the structured slots of the form.
        rng: generator of this call.

    Returns:
        The reply under the names of the prompt.
    """
    papers = as_list(slots.get("references"))[:NOTED]
    found = unique_terms(term for paper in papers for term in paper_terms(paper)[:1])
    own = draw_interest(slots, full_text(slots.get("topic")), rng)
    left = exclude_terms(found, [own])
    if not left:
        return {"Findings": fill(pick(OPENING, rng), x=own), "Gaps": "Everything is open."}
    named = join_list(f'"{term}"' for term in left)
    gap = fill(pick(GROUNDS, rng), r=left[0], a=own)
    return {"Findings": as_sentence(f"The papers deal with {named}"), "Gaps": gap}


def contribute(slots: Slots, rng: np.random.Generator) -> dict[str, Any]:
    """A contribution: a remark as in the search for a topic, and its direction as a query.

    Args:
        slots: the structured slots of the form.
        rng: generator of this call.

    Returns:
        The reply under the names of the prompt.
    """
    topic = full_text(slots.get("topic"))
    heard = {**slots, "start": topic, "outsiders": ()}
    remark = make_remark(heard, rng)
    reply = {"Response": remark["Response"], "Point": remark["Direction"]}
    return {**reply, "Search": remark["Direction"]} if slots.get("searching") else reply
