"""Aggregation, in which the leader makes one idea of several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from virsci_society.protocols.ideas import Idea
from virsci_society.protocols.parts.retrieval_rounds import merge_searches

if TYPE_CHECKING:
    from virsci_society.agents.reference import Reference
    from virsci_society.protocols.ideas import CandidateIdea
    from virsci_society.protocols.parts.team_work import TeamWork
    from virsci_society.society.kernel.answer import Answer
    from virsci_society.society.kernel.process import Process

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
