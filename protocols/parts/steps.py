"""Steps of research systems, such as retrieval, reflection, aggregation and reviews.

Retrieval: a scientist states what to look for, and papers are found by it. Reflection: the author
of an idea goes over it again until it calls it finished. Aggregation: the leader makes one idea of
several. Reviews: where a system lets separate agents review, here scientists of the society do who
are not in the team and whose interests are nearest to the topic; a review takes, like a
consultation, none of their attention.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from virsci_society.agents.arrays import FloatArray, VectorArray
from virsci_society.agents.prompts.slots import Utterance
from virsci_society.protocols.parts.forms import MergedIdea, PaperReview, RefinedIdea, SearchQueries
from virsci_society.protocols.parts.team_work import FoundPapers, TeamWork
from virsci_society.society.kernel.answer import Answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from virsci_society.agents.prompts.slots import Reference
    from virsci_society.protocols.ideas import CandidateIdea
    from virsci_society.society.kernel.durations import Process


MOST_QUERIES = 5
"""Queries of one reply that are searched for; further ones are left out."""


def retrieve(work: TeamWork, who: str, count: int, seat: int = 0) -> Process[FoundPapers]:
    """One round: a scientist writes queries, and the papers nearest to them are found."""
    asked: Answer[SearchQueries] = yield from work.ask(who, "queries", SearchQueries, seat=seat)
    return find_by_queries(work, asked, count)


def find_by_queries(work: TeamWork, asked: Answer[SearchQueries], count: int) -> FoundPapers:
    """The papers nearest to the queries and to the topic, in turn from each; they are retrieved."""
    places = range(MOST_QUERIES)
    queries = [work.lab.later(partial(query_at, place), asked, work.topic) for place in places]
    searches = tuple(work.lab.library.search(query, count) for query in queries)
    papers = work.lab.later(partial(merge_searches, count), *searches)
    work.found += (papers,)
    return papers


def query_at(place: int, asked: SearchQueries, topic: Any) -> str:
    """The query at a place, from 0; the topic where there are fewer, so that none is empty."""
    queries = [query for query in asked.queries if query.strip()]
    return queries[place] if place < len(queries) else str(topic.words())


def merge_searches(count: int, *searches: tuple[Reference, ...]) -> tuple[Reference, ...]:
    """The results of several searches as one list: the first of each, then the second of each."""
    deepest = max((len(papers) for papers in searches), default=0)
    rows = [papers[place] for place in range(deepest) for papers in searches if place < len(papers)]
    # From behind, so that of a paper found twice the first is kept: its key stands on the page.
    kept = {paper.id: paper for paper in reversed(rows)}
    order = dict.fromkeys(paper.id for paper in rows)
    return tuple(kept[id_] for id_ in order)[:count]


def pose_refinement(
    work: TeamWork, who: str, idea: Answer[CandidateIdea], near: Any, seat: int = 0, **slots: Any
) -> Answer[RefinedIdea]:
    """Ask for a better version of an idea, without waiting."""
    given = {"feedback": (), "others": (), "ends": False, **slots}
    return work.pose(
        who, "refinement", RefinedIdea, seat=seat, previous=idea, references=near, **given
    )


def refine(
    work: TeamWork, who: str, idea: Answer[CandidateIdea], near: Any = None, **slots: Any
) -> Process[tuple[Answer[CandidateIdea], Answer[RefinedIdea]]]:
    """One refinement of an idea, with the papers near it at hand."""
    shown = work.search(idea) if near is None else near
    (said,) = yield from work.lab.ask_each(
        [who], lambda _, person: pose_refinement(work, person, idea, shown, **slots)
    )
    return work.candidate(who, said, shown, idea), said


def reflect(
    work: TeamWork,
    who: str,
    idea: Answer[CandidateIdea],
    rounds: int,
    *,
    before: int = 0,
    early_end: bool = True,
    near: Any = None,
) -> Process[Answer[CandidateIdea]]:
    """Rounds of reflection, which end when the author calls the idea finished.

    Whether it does is read on the date of the next round.
    """
    last: Answer[RefinedIdea] | None = None
    for number in range(1, rounds + 1):
        # Read on the date of the next round, whose meeting is left alone if the idea is finished.
        yield from work.call_meeting()
        if early_end and last is not None and last.read().done:
            break
        with (yield from work.convene("reflection", number, rounds, before=before)):
            ends = early_end and number < rounds
            idea, last = yield from refine(work, who, idea, near, ends=ends)
    return idea


MOST_PAPERS = 12
"""Papers of the ideas that are shown."""


def aggregate(
    work: TeamWork, ideas: tuple[Answer[CandidateIdea], ...], part: str = "", agenda: str = ""
) -> Process[Answer[CandidateIdea]]:
    """The leader makes one idea of several.

    Args:
        ideas: at least one.
    """
    leader = work.team.leader
    shown = work.lab.later(papers_of_ideas, *ideas)
    said: Answer[MergedIdea] = yield from work.ask(
        leader,
        "aggregation",
        MergedIdea,
        others=ideas,
        previous=ideas[0],
        references=shown,
        part=part,
        agenda=agenda,
    )
    return work.candidate(leader, said, shown, ideas[0])


def papers_of_ideas(*ideas: CandidateIdea) -> tuple[Reference, ...]:
    """The papers that several ideas build on or stand near to, in turn."""
    lists = [(*idea.builds_on, *idea.references) for idea in ideas]
    return merge_searches(MOST_PAPERS, *lists)


def join_papers(*lists: tuple[Reference, ...]) -> tuple[Reference, ...]:
    """Several lists of papers as one, each paper once, in the order of the lists."""
    papers = {paper.id: paper for one in reversed(lists) for paper in reversed(one)}
    order = dict.fromkeys(paper.id for one in lists for paper in one)
    return tuple(papers[id_] for id_ in order)


def choose_reviewers(work: TeamWork, count: int) -> tuple[str, ...]:
    """The scientists outside the team nearest to its topic; the members where there are none.

    The topic is read here, so this is called between two meetings.
    """
    members = tuple(work.team.members)
    near = work.lab.library.people(work.topic, count, without=members).read()
    return tuple(profile.id for profile in near) or members[-count:]


def review(
    work: TeamWork,
    reviewers: Sequence[str],
    text: Any,
    cited: Any,
    criteria: tuple[str, ...] = (),
    seat: int = 0,
) -> Process[tuple[Utterance, ...]]:
    """Ask reviewers side by side for the strengths and weaknesses of a text, and a score."""
    slots = {"text": text, "cited": cited, "criteria": criteria}
    said = yield from work.lab.ask_each(
        reviewers,
        lambda place, who: work.pose(
            who, "paper_review", PaperReview, "review", seat=seat + place, **slots
        ),
    )
    return tuple(Utterance(who, one) for who, one in zip(reviewers, said, strict=True))


def mean_of_reviews(*reviews: PaperReview) -> float | None:
    """The mean score, 1 to 10, rounded to two decimals; None where no review could be read."""
    scores = [one.score for one in reviews if one.score]
    return round(sum(scores) / len(scores), 2) if scores else None


def best_of(things: Sequence[Any], scores: Sequence[float | None]) -> Any:
    """What belongs to the highest score; of equal ones, and without any score, the earliest."""
    return things[max(range(len(things)), key=lambda place: (scores[place] or 0.0, -place))]


def unit_vector(vector: VectorArray | FloatArray) -> FloatArray:
    """A vector of length 1, in double precision; the zero vector stays as it is.

    Args:
        vector: of shape (1, dim) or (dim,).
    """
    wide: FloatArray = np.asarray(vector, dtype=np.float64).ravel()
    length = float(np.sqrt(wide @ wide))
    return wide / length if length else wide


def distinct_places(vectors: Sequence[VectorArray | FloatArray], threshold: float) -> list[int]:
    """The places of texts whose cosine with every earlier kept text is below a threshold.

    Args:
        vectors: one per text, of shape (1, dim) or (dim,); a text without known words has the zero
            vector, which is like no other.
        threshold: cosine, 0 to 1, from which two texts count as the same.
    """
    kept: list[int] = []
    units = [unit_vector(vector) for vector in vectors]
    for place, unit in enumerate(units):
        # Rounded, so that the last digits of a sum on another machine decide nothing.
        if all(round(float(unit @ units[other]), 9) < threshold for other in kept):
            kept.append(place)
    return kept
