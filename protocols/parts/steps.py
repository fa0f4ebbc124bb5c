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

from virsci_society.agents.prompts.dialogue import Utterance
from virsci_society.protocols.ideas import Idea
from virsci_society.protocols.parts.forms import RefinedIdea, SearchQueries, StepReview
from virsci_society.protocols.parts.team_work import FoundPapers, TeamWork
from virsci_society.society.kernel.answer import Answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from virsci_society.agents.reference import Reference
    from virsci_society.protocols.ideas import CandidateIdea
    from virsci_society.society.kernel.durations import Process


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
    """The query at a place, from 0; the topic where there are fewer, so that none is empty."""
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
    # From behind, so that of a paper found twice the first is kept: its key stands on the page.
    kept = {paper.id: paper for paper in reversed(rows)}
    order = dict.fromkeys(paper.id for paper in rows)
    return tuple(kept[id_] for id_ in order)[:count]


def refine(
    work: TeamWork, who: str, idea: Answer[CandidateIdea], seat: int = 0, **slots: Any
) -> Process[tuple[Answer[CandidateIdea], Answer[RefinedIdea]]]:
    """One refinement of an idea, with the papers near it at hand.

    Args:
        work: of the team.
        who: masked name of who refines it.
        idea: as it stands.
        seat: place in the round, from 0.
        **slots: ``feedback``: Utterances on the idea; ``others``: ideas of others;
            ``summaries``: notes on the literature.

    Returns:
        The new idea with its references, and the reply itself, which says whether it is done.
    """
    near = work.search(idea)
    said: Answer[RefinedIdea] = yield from work.ask(
        who, "refinement", RefinedIdea, seat=seat, **refinement_slots(idea, near, **slots)
    )
    return work.candidate(who, said, near, idea), said


def idea_slots(references: Any, archive: Any = (), summaries: Any = ()) -> dict[str, Any]:
    """The slots of the page ``idea`` for an idea that is not made of another one.

    Args:
        references: papers that its author is shown, unread.
        archive: earlier ideas, which are not to be repeated.
        summaries: Utterances: notes on the literature, or what was said before.
    """
    # The order of the slots is that of the call's needs, which the digest holds.
    return {"archive": archive, "summaries": summaries, "previous": None, "references": references}


def refinement_slots(idea: Any, near: Any, **slots: Any) -> dict[str, Any]:
    """The slots of the page ``refinement``.

    Args:
        idea: as it stands, unread.
        near: the papers near it, unread.
        **slots: those of ``refine``.
    """
    given = {"feedback": (), "others": (), "summaries": (), **slots}
    return {"previous": idea, "references": near, **given}


def reflect(
    work: TeamWork,
    who: str,
    idea: Answer[CandidateIdea],
    rounds: int,
    *,
    before: int = 0,
    early_end: bool = True,
) -> Process[Answer[CandidateIdea]]:
    """Rounds of reflection, which end when the author calls the idea finished.

    Whether it does is read on the date of the next round.

    Args:
        work: of the team.
        who: masked name of the author.
        idea: as it stands.
        rounds: most rounds; 0: the idea stays as it is.
        before: meetings of the stage that were held before.
        early_end: do the rounds end when the author calls the idea finished?
    """
    last: Answer[RefinedIdea] | None = None
    for number in range(1, rounds + 1):
        # Read on the date of the next round, whose meeting is left alone if the idea is finished.
        yield from work.call_meeting()
        if early_end and last is not None and last.read().done:
            break
        with (yield from work.convene("reflection", number, rounds, before=before)):
            idea, last = yield from refine(work, who, idea)
    return idea


MOST_PAPERS = 12
"""Papers of the ideas that are shown."""


def aggregate(
    work: TeamWork, ideas: tuple[Answer[CandidateIdea], ...], part: str = ""
) -> Process[Answer[CandidateIdea]]:
    """The leader makes one idea of several.

    Args:
        work: of the team.
        ideas: at least one.
        part: the role of the leader.
    """
    leader = work.team.leader
    shown = work.lab.later(papers_of_ideas, *ideas)
    said: Answer[Idea] = yield from work.ask(
        leader,
        "aggregation",
        Idea,
        others=ideas,
        previous=ideas[0],
        references=shown,
        part=part,
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

    Args:
        work: of the team; its topic is read, so this is called between two meetings.
        count: reviewers that are wanted (>= 1).

    Returns:
        Masked names, at least one and at most ``count``.
    """
    members = tuple(work.team.members)
    near = work.lab.library.people(work.topic, count, without=members).read()
    return tuple(profile.id for profile in near) or members[-count:]


def review(
    work: TeamWork,
    reviewers: Sequence[str],
    step: str,
    text: Any,
    criteria: tuple[str, ...],
    seat: int = 1,
) -> Process[tuple[Utterance, ...]]:
    """Ask reviewers side by side to score a text by some criteria.

    Args:
        work: of the team.
        reviewers: masked names.
        step: what the text is, such as ``problem`` or ``idea``.
        text: unread; a form with words.
        criteria: names of what is scored.
        seat: place of the first reviewer in the round, from 0.

    Returns:
        The reviews with their authors, unread.
    """

    def pose(place: int, who: str) -> Answer[StepReview]:
        return work.pose(
            who,
            "step_review",
            StepReview,
            "review",
            seat=seat + place,
            step=step,
            text=text,
            criteria=criteria,
        )

    said = yield from work.lab.ask_each(reviewers, pose)
    return tuple(Utterance(who, one) for who, one in zip(reviewers, said, strict=True))


def mean_of_reviews(*reviews: StepReview) -> float | None:
    """The mean of the mean scores, 1 to 10, rounded to two decimals; None without any score.

    Args:
        reviews: those without scores could not be read and do not count.
    """
    means = [one.mean for one in reviews if one.scores]
    return round(sum(means) / len(means), 2) if means else None
