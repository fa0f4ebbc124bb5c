"""The ``Library`` of a team: searches among papers and people, with results kept in the journal.

Another machine would round distances differently, so a resumed run searches nothing twice.
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
from virsci_society.agents.prompts.slots import Advice, Reference
from virsci_society.society.kernel.answer import Answer, text_of
from virsci_society.society.teams.world import World

Place = tuple[str, float]
"""Id of a search, and the simulated date in days on which it was asked for."""
_WORD = re.compile(r"\w+")


class Library:
    """The papers and people that one team may search; ``lab.library``.

    What is dated strictly before the asking counts (rules 14 and 16), however late it runs.
    """

    def __init__(
        self,
        world: World,
        later: Callable[..., Answer[Any]],
        next_id: Callable[[], str],
        leader: str,
    ) -> None:
        self._world, self._later, self._next_id, self._leader = world, later, next_id, leader

    def search(self, query: Any, count: int) -> Answer[tuple[Reference, ...]]:
        """Find the papers nearest to a text."""
        place, visible = self._place(), self._visible()

        def find(query: Any) -> tuple[Reference, ...]:
            text = text_of(query)
            asked = _hash(text, count, visible)
            search = self._world.literature.search
            return self._references(place, asked, lambda: search(text, count, visible))

        return self._later(find, query)

    def search_diverse(
        self, queries: Sequence[Any], count: int, *, diversity: float, exclude: Sequence[Any] = ()
    ) -> Answer[tuple[Reference, ...]]:
        """Find papers near to one of several texts and unlike each other (see ``Literature``)."""
        place, visible, share = self._place(), self._visible(), float(diversity)
        if not 0 <= share <= 1:
            team = place[0].rpartition("/")[0]
            raise ProtocolError(f"{team}: diversity lies in 0..1, not {diversity}")

        def find(queries: Sequence[Any], exclude: Any) -> tuple[Reference, ...]:
            texts, out = [text_of(query) for query in queries], frozenset(_paper_ids(exclude))
            # Sorted, because the order of a set of texts depends on the hash seed (rule 12).
            asked = _hash("diverse", texts, count, visible, share, sorted(out))
            search = self._world.literature.search_diverse
            return self._references(
                place, asked, lambda: search(texts, count, visible, diversity=share, exclude=out)
            )

        return self._later(find, tuple(queries), tuple(exclude))

    def papers_by(
        self, who: str | Profile | Answer[Profile | None], query: Any, count: int
    ) -> Answer[tuple[Reference, ...]]:
        """Find the papers of one scientist, of the past and of the society, nearest to a text."""
        place, visible = self._place(), self._visible()

        def find(who: str | Profile | None, query: Any) -> tuple[Reference, ...]:
            if who is None:
                return ()
            name = who if isinstance(who, str) else who.id
            if name not in self._world.population.rows:
                raise ProtocolError(
                    f"{place[0]}: papers of {name!r} are requested, but no scientist has this name"
                )
            text = text_of(query)
            asked = _hash("papers by", name, text, count, visible)
            search = self._world.literature.search_author
            return self._references(place, asked, lambda: search(name, text, count, visible))

        return self._later(find, who, query)

    def embed(self, text: Any) -> Answer[VectorArray]:
        """The vector, of shape (1, dim), of a text in the literature's embedding (rule 15)."""
        place = self._place()
        return self._later(lambda text: vector_of_text(self._world, place, text_of(text)), text)

    def people(
        self, query: Any, count: int, without: Iterable[str] = ()
    ) -> Answer[tuple[Profile, ...]]:
        """Find the scientists in the society whose interests are nearest to a text."""
        place, excluded = self._place(), self._excluded(without)

        def find(query: Any) -> tuple[Profile, ...]:
            text = text_of(query)
            # Sorted, because the order of a set of texts depends on the hash seed (rule 12).
            asked = _hash(text, count, sorted(excluded))

            def names() -> bytes:
                scientists = self._world.nearest_scientists(count, excluded, place[1], text)
                return json.dumps([profile.id for profile in scientists]).encode()

            # Only the names are stored; profiles are taken at the date of asking (rule 16).
            return self._profiles(json.loads(_kept(self._world, place, asked, names)), place[1])

        return self._later(find, query)

    def people_named(
        self, text: Any, without: Iterable[str] = (), asked: Sequence[Answer[Advice | None]] = ()
    ) -> Answer[tuple[Profile, ...]]:
        """The profiles of the present scientists whose masked names occur in a text."""
        excluded, date = self._excluded(without), self._world.day

        def find(text: Any, asked: Sequence[Advice | None]) -> tuple[Profile, ...]:
            rows = self._world.population.rows
            left_out = excluded.union(advice.guest for advice in asked if advice is not None)
            words = dict.fromkeys(_WORD.findall(text_of(text)))
            named = [word for word in words if word in rows and word not in left_out]
            return self._profiles(named, date)

        return self._later(find, text, tuple(asked))

    def authors(
        self, references: Answer[tuple[Reference, ...]], without: Iterable[str] = ()
    ) -> Answer[tuple[Profile, ...]]:
        """The profiles of the scientists whom search results name as authors."""
        excluded, date = self._excluded(without), self._world.day

        def find(references: Iterable[Reference]) -> tuple[Profile, ...]:
            named = dict.fromkeys(name for paper in references for name in paper.authors)
            return self._profiles([name for name in named if name not in excluded], date)

        return self._later(find, references)

    def _place(self) -> Place:
        return self._next_id(), self._world.day

    def _visible(self) -> int:
        """How many papers, in order of date, may be searched: fixed when asked (rule 14)."""
        date, assistance = self._world.day, self._world.assistance_of(self._leader)
        if assistance is not None and assistance.papers_until is not None:
            date = min(date, assistance.papers_until)
        return self._world.literature.visible(date)

    def _excluded(self, without: Iterable[str]) -> frozenset[str]:
        """Who is left out, as of the asking: the search may run when more people have left."""
        return self._world.population.departed_names().union(without)

    def _profiles(self, names: Iterable[str], date: float) -> tuple[Profile, ...]:
        population = self._world.population
        return tuple(population.profile(population.rows[name], date) for name in names)

    def _references(
        self, place: Place, asked: str, search: Callable[[], tuple[Reference, ...]]
    ) -> tuple[Reference, ...]:
        """The papers that a search finds, from the journal where it is known there by its hash."""

        def hits() -> bytes:
            return json.dumps([(paper.id, paper.distance) for paper in search()]).encode()

        # Distances come back from JSON as the same numbers, on any machine (rule 15).
        nearest = json.loads(_kept(self._world, place, asked, hits))
        return tuple(
            self._world.reference(paper, distance, place[1]) for paper, distance in nearest
        )


def vector_of_text(world: World, place: Place, text: str) -> VectorArray:
    """Embed a text, or take its vector, of shape (1, dim), from the journal (rule 15)."""

    def vector() -> bytes:
        return np.asarray(world.literature.embedding.encode([text]), dtype=np.float32).tobytes()

    return np.frombuffer(_kept(world, place, _hash(text), vector), np.float32).reshape(1, -1)


def _paper_ids(papers: Any) -> Iterator[str]:
    """The ids in ids, references and tuples of both."""
    if isinstance(papers, str):
        yield papers
    elif isinstance(papers, Reference):
        yield papers.id
    else:
        for paper in papers:
            yield from _paper_ids(paper)


def _kept(world: World, place: Place, asked: str, make: Callable[[], bytes]) -> bytes:
    """The result of a search with this hash: from the journal, or made and stored there."""
    journal = world.dispatcher.gateway.journal
    if journal is None:
        return make()
    stored = journal.lookup_retrieval(place[0], asked, place[1])
    if stored is None:
        stored = make()
        journal.store_retrieval(place[0], asked, place[1], stored)
    return stored


def _hash(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
