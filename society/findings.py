"""Findings: what was found in the literature and among people, kept like answers.

A prompt may depend on which papers a search returned, and a search on floating-point numbers
that another machine or library rounds otherwise. So what was found once is kept in the journal,
and a resumed run searches nothing twice (rule 15).
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from agents.profile import Profile
from agents.reference import Reference
from society.call import text_of
from society.literature.embedding import Vectors
from society.world import World

Place = tuple[str, float]
"""Id of a finding and the simulated date of asking."""


def find_papers(
    world: World, place: Place, count: int, visible: int, query: Any
) -> tuple[Reference, ...]:
    """The ``count`` papers nearest to a text among the first ``visible``; kept."""
    text = text_of(query)
    asked = _hash(text, count, visible)
    kept = world.recalled(place, asked)
    if kept is not None:
        hits = json.loads(kept)
        return tuple(world.literature.reference(paper, distance) for paper, distance in hits)
    found = world.literature.search(text, count, visible)
    world.keep(place, asked, json.dumps([[one.id, one.distance] for one in found]).encode())
    return found


def find_people(
    world: World, place: Place, count: int, without: frozenset[str], query: Any
) -> tuple[Profile, ...]:
    """The ``count`` scientists most relevant to a text, as of the date of asking; kept."""
    text = text_of(query)
    asked = _hash(text, count, sorted(without))
    kept = world.recalled(place, asked)
    if kept is not None:
        rows = [world.population.rows[name] for name in json.loads(kept)]
        return tuple(world.population.profile(row, place[1]) for row in rows)
    found = world.relevant(count, without, place[1], text)
    world.keep(place, asked, json.dumps([one.id for one in found]).encode())
    return found


def vector_of_paper(world: World, place: Place, text: str) -> Vectors:
    """The vector of a new paper, one row; kept."""
    asked = _hash(text)
    kept = world.recalled(place, asked)
    if kept is not None:
        return np.frombuffer(kept, dtype=np.float32).reshape(1, -1)
    vector = world.literature.embedding.encode([text])
    world.keep(place, asked, np.asarray(vector, dtype=np.float32).tobytes())
    return vector


def _hash(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
