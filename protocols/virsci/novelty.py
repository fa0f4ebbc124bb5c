"""Stage 4, novelty assessment: a blind vote for the idea farthest from what exists."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations
from typing import TYPE_CHECKING

from virsci_society.agents.prompts.dialogue import Utterance
from virsci_society.protocols.discussion import Discussion
from virsci_society.protocols.ideas import (
    SHORTLIST_SIZE,
    Ballot,
    CandidateIdea,
    plurality_winner,
    pool_references,
)
from virsci_society.protocols.virsci.ideas import Ideas, RankingRules, shortlist_ideas
from virsci_society.protocols.virsci.released_code import (
    count_as_first,
    first_to_most_votes,
    pool_by_key,
)
from virsci_society.protocols.virsci.searches import SearchRules, find_papers
from virsci_society.society.kernel.answer import Answer
from virsci_society.society.kernel.process import Process

if TYPE_CHECKING:
    from collections.abc import Mapping

    from virsci_society.agents.reference import Reference
    from virsci_society.protocols.virsci.team_memory import TeamMemory
    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import Team


@dataclass(frozen=True, slots=True)
class BallotRules:
    """How the members vote.

    Attributes:
        near: the search for the papers beside each idea.
        near_few: that search where fewer than three ideas are on the ballot.
        ranking: how the ideas on the ballot are chosen; its weights also break ties of votes.
        last_turn_only: are the ballots of the last turn alone counted, not those of all turns?
        permuted: does each ballot list the ideas in an order of its own?
        pooled: does a ballot not say which papers are near to which idea?
        unreadable_is_first: does a ballot that stayed unreadable count for the first idea listed?
        first_cast_wins: does the idea that was voted for first win a tie?
        ratings: do an idea's ratings of itself stand with it?
        extras: optional fields of ``Ballot`` that are asked for: ``comparisons``.
    """

    near: SearchRules
    near_few: SearchRules
    ranking: RankingRules
    last_turn_only: bool = False
    permuted: bool = False
    pooled: bool = False
    unreadable_is_first: bool = False
    first_cast_wins: bool = False
    ratings: bool = False
    extras: tuple[str, ...] = ()


def assess_novelty(
    team: Team,
    lab: Lab,
    discussion: Discussion,
    ideas: Ideas,
    rules: BallotRules,
    memory: TeamMemory,
) -> Process[Answer[CandidateIdea]]:
    """Let the members vote in K turns; no dialogue is in the prompt (Eq. 3).

    Args:
        team: whose members vote.
        lab: the team's access to the world.
        discussion: holds the turns.
        ideas: all ideas of the team; three of them are on the ballot.
        rules: what a ballot holds, and which ballots count.
        memory: its page is shown.

    Returns:
        The idea with most votes, unread.
    """
    shortlisted = shortlist_ideas(team, lab, ideas, rules.ranking)
    on_ballot: Ideas = ()
    if not rules.ranking.not_below_best:
        size = min(SHORTLIST_SIZE, len(ideas))
        on_ballot = lay_out_ballot(team, lab, rules, shortlisted, size)
    ballots: tuple[Answer[Ballot], ...] = ()

    with discussion:
        while turn := (yield from discussion.next_turn(summarised=False)):
            if not on_ballot:
                # Only the ratings say how many ideas are listed; they are read in the next meeting.
                size = len(shortlisted.read())
                on_ballot = lay_out_ballot(team, lab, rules, shortlisted, size)
            # Everybody votes once, also where the order of speaking is random and some stay silent.
            orders = {
                voter: _order(lab, rules, len(on_ballot), turn.number, voter)
                for voter in team.members
            }
            pose = partial(_pose_ballot, lab, discussion, rules, memory, on_ballot, orders)
            cast = yield from lab.ask_each(list(orders), pose)
            if rules.unreadable_is_first:
                cast = [lab.later(count_as_first, ballot) for ballot in cast]
            if rules.permuted:
                cast = [
                    lab.later(partial(in_usual_order, order), ballot)
                    for order, ballot in zip(orders.values(), cast, strict=True)
                ]
            ballots = (*cast,) if rules.last_turn_only else (*ballots, *cast)
            if rules.permuted:
                # The leader, who decides on another round, knows the ideas by its own list.
                as_read = partial(in_order_of, orders[team.leader])
                cast = [lab.later(as_read, ballot) for ballot in cast]
            turn.said = tuple(map(Utterance, orders, cast))
    count = first_to_most_votes if rules.first_cast_wins else plurality_winner
    return lab.later(partial(count, rules.ranking.weights), shortlisted, *ballots)


def _pose_ballot(
    lab: Lab,
    discussion: Discussion,
    rules: BallotRules,
    memory: TeamMemory,
    on_ballot: Ideas,
    orders: Mapping[str, tuple[int, ...]],
    seat: int,
    voter: str,
) -> Answer[Ballot]:
    """Ask one member for its vote, with the ideas in its own order."""
    listed = tuple(on_ballot[place] for place in orders[voter])
    pool = pool_by_key if rules.pooled else pool_references
    return lab.pose(
        voter,
        memory.prompts["ballot"],
        Ballot,
        "vote",
        seat=seat,
        ideas=listed,
        papers=lab.later(pool, *listed),
        pooled=rules.pooled,
        ratings=rules.ratings,
        position=discussion.position(),
        extras=rules.extras,
        sentences=discussion.settings.sentences,
    )


def lay_out_ballot(
    team: Team,
    lab: Lab,
    rules: BallotRules,
    shortlisted: Answer[tuple[CandidateIdea, ...]],
    size: int,
) -> Ideas:
    """The ideas of the ballot, each with the papers near it as of now; unread.

    Args:
        team: whose leader searches.
        lab: the team's access to the world.
        rules: the searches.
        shortlisted: the ideas.
        size: number of ideas on the ballot.
    """
    near = rules.near if size == SHORTLIST_SIZE else rules.near_few
    return tuple(_with_references(team, lab, shortlisted, index, near) for index in range(size))


def _order(lab: Lab, rules: BallotRules, ideas: int, turn: int, voter: str) -> tuple[int, ...]:
    """The order in which one ballot lists the ideas; over the rounds as many orders as there are.

    Args:
        lab: the team's access to the world.
        rules: is the order permuted?
        ideas: number of ideas on the ballot.
        turn: number of the turn, from 1.
        voter: masked name.
    """
    orders = list(permutations(range(ideas)))
    if not rules.permuted:
        return orders[0]
    # A stream per voter, not per turn: each of its ballots takes the next order of one shuffle.
    shuffled = lab.rng("ballot order", lab.visit, voter).permutation(len(orders))
    return orders[int(shuffled[(turn - 1) % len(orders)])]


def last_idea(ideas: Ideas) -> Answer[CandidateIdea]:
    """The last scientist's idea, which is taken without assessment (Table 6)."""
    return ideas[-1]


def _with_references(
    team: Team,
    lab: Lab,
    shortlisted: Answer[tuple[CandidateIdea, ...]],
    index: int,
    near: SearchRules,
) -> Answer[CandidateIdea]:
    """One idea of the ballot with B_past(idea) as of now."""
    idea = lab.later(partial(_pick, index), shortlisted)
    papers = find_papers(lab, near, team.leader, idea)
    return lab.later(_replace_references, idea, papers)


def in_usual_order(order: tuple[int, ...], ballot: Ballot) -> Ballot:
    """A ballot whose list was permuted, as a vote on the list in its usual order.

    Args:
        order: places in the usual list, in the order shown.
        ballot: its choice is a place in the order shown; -1, an abstention, stays.
    """
    if not 0 <= ballot.choice < len(order):
        return ballot
    return ballot.model_copy(update={"decision": f"Idea {order[ballot.choice]}"})


def in_order_of(order: tuple[int, ...], ballot: Ballot) -> Ballot:
    """A vote on the list in its usual order, as a vote on a list in another order.

    Args:
        order: places in the usual list, in the other order.
        ballot: its choice is a place in the usual order; -1, an abstention, stays.
    """
    if not 0 <= ballot.choice < len(order):
        return ballot
    return ballot.model_copy(update={"decision": f"Idea {order.index(ballot.choice)}"})


def _pick(index: int, ideas: tuple[CandidateIdea, ...]) -> CandidateIdea:
    return ideas[index]


def _replace_references(idea: CandidateIdea, near: tuple[Reference, ...]) -> CandidateIdea:
    return replace(idea, references=tuple(near))
