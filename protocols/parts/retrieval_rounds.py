"""Rounds of retrieval, in which a scientist states what to look for and papers are found by it.

AI-Researcher, HypoGen and CycleResearcher begin with them, and AI Scientist checks novelty by them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from virsci_society.protocols.parts.forms import SearchQueries
from virsci_society.protocols.parts.team_work import FoundPapers, TeamWork
from virsci_society.society.kernel.answer import Answer

if TYPE_CHECKING:
    from virsci_society.agents.reference import Reference
    from virsci_society.society.kernel.process import Process

MOST_QUERIES = 5
"""Queries of one reply that are searched for; further ones are left out."""


def retrieve(
    work: TeamWork, who: str, count: int, seat: int = 0, **slots: Any
) -> Process[FoundPapers]:
    """One round: a scientist writes queries, and the papers nearest to them are found.

    Args:
        work: of the team.
        who: masked name.
        count: papers that are kept (>= 1).
        seat: place in the round, from 0.
        **slots: ``idea``: an idea that is to be checked; ``notes``: what was found before.

    Returns:
        The papers, each once, unread.
    """
    given = {"idea": None, "notes": (), **slots}
    asked: Answer[SearchQueries] = yield from work.ask(
        who, "queries", SearchQueries, seat=seat, **given
    )
    return find_by_queries(work, asked, count)


def find_by_queries(work: TeamWork, asked: Answer[SearchQueries], count: int) -> FoundPapers:
    """The papers nearest to the queries and to the topic, taken in turn from each search.

    Args:
        work: of the team; the papers count as retrieved.
        asked: the queries.
        count: papers that are kept (>= 1).
    """
    places = range(MOST_QUERIES)
    queries = [work.lab.later(partial(query_at, place), asked, work.topic) for place in places]
    searches = tuple(work.lab.library.search(query, count) for query in queries)
    papers = work.lab.later(partial(merge_searches, count), *searches)
    work.found += (papers,)
    return papers


def query_at(place: int, asked: SearchQueries, topic: Any) -> str:
    """The query at a place, from 0; the topic where there are fewer, so that none is empty.

    Args:
        place: of the query.
        asked: the queries.
        topic: what the team works on.
    """
    queries = [query for query in asked.queries if query.strip()]
    return queries[place] if place < len(queries) else str(topic.words())


def merge_searches(count: int, *searches: tuple[Reference, ...]) -> tuple[Reference, ...]:
    """The results of several searches as one list: the first of each, then the second of each.

    Args:
        count: papers that are kept.
        searches: results, the nearest first.
    """
    deepest = max((len(papers) for papers in searches), default=0)
    rows = [papers[place] for place in range(deepest) for papers in searches if place < len(papers)]
    kept = {paper.id: paper for paper in reversed(rows)}
    order = dict.fromkeys(paper.id for paper in rows)
    return tuple(kept[id_] for id_ in order)[:count]
