"""Searches in the literature and among people, with their results stored in the journal.

A prompt may depend on the papers that a search returned, and a search on floating-point numbers
that another machine or library rounds differently. So the results of searches, and the vectors of
new papers, are stored in the journal, and a resumed run searches nothing twice (rule 15).
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from agents.arrays import VectorArray
from agents.profile import Profile
from agents.reference import Reference
from society.kernel.calls import text_of
from society.teams.world import World

Place = tuple[str, float]
"""Id of a search, and the simulated date in days on which it was asked for."""


def find_papers(
    world: World, place: Place, count: int, visible: int, query: Any
) -> tuple[Reference, ...]:
    """Find the papers nearest to a text.

    Args:
        world: its literature is searched.
        place: id and date of the search.
        count: number of papers.
        visible: only the first so many papers, in order of date, are searched (rule 14).
        query: text, or the settled value of an Answer.

    Returns:
        The papers, the nearest first.
    """
    text = text_of(query)
    asked = _hash(text, count, visible)
    stored = _lookup(world, place, asked)
    if stored is not None:
        hits = json.loads(stored)
        return tuple(world.literature.reference(paper, distance) for paper, distance in hits)
    # Distances come back from JSON as the same numbers, on any machine (rule 15).
    found = world.literature.search(text, count, visible)
    _store(
        world, place, asked, json.dumps([[paper.id, paper.distance] for paper in found]).encode()
    )
    return found


def find_people(
    world: World, place: Place, count: int, without: frozenset[str], query: Any
) -> tuple[Profile, ...]:
    """Find the scientists whose interests are nearest to a text, as of the date of the search.

    Args:
        world: its author knowledge bank is searched.
        place: id and date of the search.
        count: number of scientists.
        without: masked names that are left out.
        query: text, or the settled value of an Answer.

    Returns:
        Profiles, the nearest first.
    """
    text = text_of(query)
    # Sorted, because the order of a set of texts depends on the hash seed (rule 12).
    asked = _hash(text, count, sorted(without))
    stored = _lookup(world, place, asked)
    if stored is not None:
        # Only the names are stored; the profiles are those of the date of asking (rule 16).
        rows = [world.population.rows[name] for name in json.loads(stored)]
        return tuple(world.population.profile(row, place[1]) for row in rows)
    found = world.nearest_scientists(count, without, place[1], text)
    _store(world, place, asked, json.dumps([profile.id for profile in found]).encode())
    return found


def vector_of_paper(world: World, place: Place, text: str) -> VectorArray:
    """Embed the text of a new paper, or of new interests.

    Args:
        world: its literature holds the embedding.
        place: id and date of the vector.
        text: the text.

    Returns:
        An array of shape (1, dim).
    """
    asked = _hash(text)
    stored = _lookup(world, place, asked)
    if stored is not None:
        return np.frombuffer(stored, dtype=np.float32).reshape(1, -1)
    vector = world.literature.embedding.encode([text])
    _store(world, place, asked, np.asarray(vector, dtype=np.float32).tobytes())
    return vector


def _lookup(world: World, place: Place, asked: str) -> bytes | None:
    """The stored result of a search with this hash; None without one, or without a journal."""
    journal = world.dispatcher.gateway.journal
    return None if journal is None else journal.lookup_retrieval(place[0], asked, place[1])


def _store(world: World, place: Place, asked: str, value: bytes) -> None:
    """Store the result of a search in the journal, if there is one."""
    journal = world.dispatcher.gateway.journal
    if journal is not None:
        journal.store_retrieval(place[0], asked, place[1], value)


def _hash(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
