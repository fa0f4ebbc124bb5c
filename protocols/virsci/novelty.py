"""Stage 4, novelty assessment: a blind vote for the idea farthest from what exists."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from protocols.discussion import Discussion, Utterances
from protocols.virsci.forms import Ballot
from protocols.virsci.idea_ranking import SHORTLIST_SIZE, CandidateIdea, Weights, plurality_winner
from protocols.virsci.ideas import Ideas, search_past, shortlist_ideas
from protocols.virsci.prompts import PROMPTS
from society.kernel.answer import Answer
from society.kernel.process import Process

if TYPE_CHECKING:
    from agents.reference import Reference
    from protocols.virsci.settings import ReferenceUse
    from society.teams.lab import Lab
    from society.teams.team import Team


def assess_novelty(
    team: Team,
    lab: Lab,
    discussion: Discussion,
    ideas: Ideas,
    references: ReferenceUse,
    *,
    weights: Weights,
    last_turn_only: bool,
) -> Process[Answer[CandidateIdea]]:
    """Let the members vote in K turns; no dialogue is in the prompt (Eq. 3).

    Args:
        team: whose members vote.
        lab: the team's access to the world.
        discussion: holds the turns.
        ideas: all ideas of the team; three of them are on the ballot.
        references: how many papers stand beside each idea, if any.
        weights: of the self-assessment, for the shortlist and for ties.
        last_turn_only: count the ballots of the last turn only, not those of all turns.

    Returns:
        The idea with most votes, unread.
    """
    shortlisted = shortlist_ideas(team, lab, ideas, weights)
    on_ballot = tuple(
        _with_references(lab, shortlisted, index, references)
        for index in range(min(SHORTLIST_SIZE, len(ideas)))
    )
    # Profiles are no dialogue, so the vote stays blind.
    themes = lab.later(_join_queries, shortlisted)
    ballots: tuple[Answer[Ballot], ...] = ()

    def vote(turn: int, voters: list[str]) -> Process[Utterances]:
        nonlocal ballots
        cast = yield from lab.ask_each(
            voters,
            lambda seat, voter: lab.pose(
                voter,
                PROMPTS["ballot"],
                Ballot,
                "vote",
                seat=seat,
                ideas=on_ballot,
                knowledge=discussion.find_knowledge(themes),
            ),
        )
        ballots = (*cast,) if last_turn_only else (*ballots, *cast)
        return tuple(cast)

    yield from discussion.hold(vote, summarised=False)
    return lab.later(partial(plurality_winner, weights), shortlisted, *ballots)


def last_idea(ideas: Ideas) -> Answer[CandidateIdea]:
    """The last scientist's idea, which is taken without assessment (Table 6)."""
    return ideas[-1]


def _with_references(
    lab: Lab,
    shortlisted: Answer[tuple[CandidateIdea, ...]],
    index: int,
    references: ReferenceUse,
) -> Answer[CandidateIdea]:
    """One idea of the ballot with B_past(idea) as of now."""
    idea = lab.later(partial(_pick, index), shortlisted)
    near = search_past(lab, idea, references.assessment, references.count)
    return lab.later(_replace_references, idea, near)


def _pick(index: int, ideas: tuple[CandidateIdea, ...]) -> CandidateIdea:
    return ideas[index]


def _replace_references(idea: CandidateIdea, near: tuple[Reference, ...]) -> CandidateIdea:
    return replace(idea, references=tuple(near))


def _join_queries(ideas: tuple[CandidateIdea, ...]) -> str:
    return " ".join(idea.query for idea in ideas)
