"""Searches in the literature and among people, with their results stored in the journal.

A prompt may depend on the papers that a search returned, and a search on floating-point numbers
that another machine or library rounds differently. So the results of searches, and the vectors of
new papers, are stored in the journal, and a resumed run searches nothing twice (rule 15).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from virsci_society.agents.arrays import VectorArray
from virsci_society.agents.errors import ProtocolError
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.dialogue import Advice
from virsci_society.agents.reference import Reference
from virsci_society.society.kernel.calls import text_of
from virsci_society.society.teams.world import World

Place = tuple[str, float]
"""Id of a search, and the simulated date in days on which it was asked for."""
_WORD = re.compile(r"\w+")


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
    return _references(world, place, asked, lambda: world.literature.search(text, count, visible))


def find_diverse_papers(
    world: World,
    place: Place,
    count: int,
    visible: int,
    diversity: float,
    queries: Sequence[Any],
    exclude: Any,
) -> tuple[Reference, ...]:
    """Find papers near to one of several texts and unlike each other.

    Args:
        world: its literature is searched.
        place: id and date of the search.
        count: number of papers.
        visible: only the first so many papers, in order of date, are searched (rule 14).
        diversity: 0..1, see ``Literature.search_diverse``.
        queries: texts, or the settled values of Answers.
        exclude: ids or references of papers that are left out, in tuples of any depth.

    Returns:
        The papers in the order of choice.
    """
    texts = [text_of(query) for query in queries]
    out = frozenset(_paper_ids(exclude))
    # Sorted, because the order of a set of texts depends on the hash seed (rule 12).
    asked = _hash("diverse", texts, count, visible, diversity, sorted(out))
    return _references(
        world,
        place,
        asked,
        lambda: world.literature.search_diverse(
            texts, count, visible, diversity=diversity, exclude=out
        ),
    )


def find_own_papers(
    world: World, place: Place, count: int, visible: int, who: str | Profile | None, query: Any
) -> tuple[Reference, ...]:
    """Find the papers of one scientist that are nearest to a text.

    Args:
        world: its literature is searched.
        place: id and date of the search.
        count: number of papers.
        visible: only the first so many papers, in order of date, are searched (rule 14).
        who: masked name or profile; None: nobody.
        query: text, or the settled value of an Answer.

    Returns:
        The papers, the nearest first; none for nobody, and for somebody without papers.

    Raises:
        ProtocolError: nobody in the society has this name.
    """
    if who is None:
        return ()
    name = who if isinstance(who, str) else who.id
    if name not in world.population.rows:
        raise ProtocolError(
            f"{place[0]}: papers of {name!r} are asked for, but nobody has the name"
        )
    text = text_of(query)
    asked = _hash("papers by", name, text, count, visible)
    return _references(
        world, place, asked, lambda: world.literature.search_author(name, text, count, visible)
    )


def profiles_of_authors(
    world: World, date: float, without: frozenset[str], references: Iterable[Reference]
) -> tuple[Profile, ...]:
    """The profiles of the scientists whom references name as authors, as of a date.

    Args:
        world: its population has the profiles.
        date: in days; what is dated strictly before it counts (rule 16).
        without: masked names that are left out.
        references: search results.

    Returns:
        Profiles in the order of the references, each once.
    """
    named = dict.fromkeys(name for paper in references for name in paper.authors)
    rows = [world.population.rows[name] for name in named if name not in without]
    return tuple(world.population.profile(row, date) for row in rows)


def profiles_named(
    world: World,
    date: float,
    without: frozenset[str],
    text: Any,
    asked: Sequence[Advice | None] = (),
) -> tuple[Profile, ...]:
    """The profiles of the scientists whose masked names stand in a text, as of a date.

    Args:
        world: its population has the profiles.
        date: in days; what is dated strictly before it counts (rule 16).
        without: masked names that are left out.
        text: text, or the settled value of an Answer.
        asked: replies of guests, who are left out as well; None: nobody was asked.

    Returns:
        Profiles in the order of being named, each once.
    """
    rows = world.population.rows
    left_out = without.union(advice.guest for advice in asked if advice is not None)
    words = dict.fromkeys(_WORD.findall(text_of(text)))
    named = [word for word in words if word in rows and word not in left_out]
    return tuple(world.population.profile(rows[name], date) for name in named)


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


def vector_of_text(world: World, place: Place, text: Any) -> VectorArray:
    """Embed a text, or the settled value of an Answer, as ``vector_of_paper`` does.

    Args:
        world: its literature holds the embedding.
        place: id and date of the vector.
        text: the text, or something with words.
    """
    return vector_of_paper(world, place, text_of(text))


def _references(
    world: World, place: Place, asked: str, search: Callable[[], tuple[Reference, ...]]
) -> tuple[Reference, ...]:
    """The papers that a search finds, from the journal where it is known there.

    Args:
        world: its literature holds the papers.
        place: id and date of the search.
        asked: hash of everything that was asked for.
        search: carries the search out.
    """
    stored = _lookup(world, place, asked)
    hits: list[tuple[str, float]]
    if stored is None:
        hits = [(paper.id, paper.distance) for paper in search()]
        _store(world, place, asked, json.dumps(hits).encode())
    else:
        # Distances come back from JSON as the same numbers, on any machine (rule 15).
        hits = json.loads(stored)
    return tuple(world.reference(paper, distance, place[1]) for paper, distance in hits)


def _paper_ids(papers: Any) -> Iterator[str]:
    """The ids in ids, references and tuples of both."""
    if isinstance(papers, str):
        yield papers
    elif isinstance(papers, Reference):
        yield papers.id
    else:
        for one in papers:
            yield from _paper_ids(one)


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
