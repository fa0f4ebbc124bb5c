"""Stage 4, novelty assessment: a blind vote for the idea farthest from what exists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import permutations
from operator import itemgetter
from typing import TYPE_CHECKING, Literal

from virsci_society.agents.config import Part
from virsci_society.agents.prompts.slots import Utterance
from virsci_society.protocols.discussion import Discussion
from virsci_society.protocols.ideas import (
    SHORTLIST_SIZE,
    Ballot,
    CandidateIdea,
    Weights,
    looks_of,
    plurality_winner,
    pool_references,
)
from virsci_society.protocols.virsci.ideas import Ideas
from virsci_society.protocols.virsci.released_code import (
    ReleasedCode,
    choose_shortlist,
    count_as_first,
    count_shortlist_ties,
    first_to_most_votes,
    pool_by_key,
)
from virsci_society.society.kernel.answer import Answer
from virsci_society.society.kernel.durations import Process

if TYPE_CHECKING:
    from collections.abc import Mapping

    from virsci_society.agents.prompts.slots import Reference
    from virsci_society.protocols.virsci.team_memory import TeamMemory
    from virsci_society.society.teams.lab import Lab


class AssessmentStage(Part):
    """How the novelty of ideas is assessed."""

    votes: Literal["all_turns", "last_turn"] = "all_turns"
    """Ballots counted: of all turns or the last. Source: published program."""


def assess_novelty(
    discussion: Discussion,
    ideas: Ideas,
    rules: AssessmentStage,
    weights: Weights,
    memory: TeamMemory,
    released: ReleasedCode,
) -> Process[Answer[CandidateIdea]]:
    """Let the members vote in K turns; no dialogue is in the prompt (Eq. 3)."""
    team, lab = discussion.team, discussion.lab
    team.notes["ties"] = lab.later(partial(count_shortlist_ties, released, weights), *ideas)
    shortlisted = lab.later(partial(choose_shortlist, released, weights), *ideas)
    on_ballot: Ideas = ()
    if released.listed == "all":
        size = min(SHORTLIST_SIZE, len(ideas))
        on_ballot = lay_out_ballot(lab, memory, released, shortlisted, size)
    ballots: tuple[Answer[Ballot], ...] = ()
    looks: tuple[Answer[float], ...] = ()
    permuted = memory.switches.idea_order == "permuted"

    with discussion:
        while turn := (yield from discussion.next_turn(summarised=False)):
            if not on_ballot:
                # Only the ratings say how many ideas are listed; they are read in the next meeting.
                size = len(shortlisted.read())
                on_ballot = lay_out_ballot(lab, memory, released, shortlisted, size)
            looks = looks or looks_of(lab, on_ballot, lab.visit)
            # Everybody votes once, also where the order of speaking is random and some stay silent.
            orders = {
                voter: _order(lab, len(on_ballot), turn.number, voter, permuted=permuted)
                for voter in team.members
            }
            submit = partial(_submit_ballot, discussion, memory, released, on_ballot, looks, orders)
            cast = yield from lab.ask_each(list(orders), submit)
            if released.unreadable_votes == "first_idea":
                cast = [lab.later(count_as_first, ballot) for ballot in cast]
            counted = cast
            if permuted:
                counted = [
                    lab.later(partial(in_usual_order, order), ballot)
                    for order, ballot in zip(orders.values(), cast, strict=True)
                ]
                # The leader, who decides on another round, knows the ideas by its own list.
                own = orders[team.leader]
                inverse = tuple(own.index(index) for index in range(len(own)))
                cast = [lab.later(partial(in_usual_order, inverse), ballot) for ballot in counted]
            ballots = (*counted,) if rules.votes == "last_turn" else (*ballots, *counted)
            turn.said = tuple(map(Utterance, orders, cast))
    count = first_to_most_votes if released.tied_votes == "first_cast" else plurality_winner
    return lab.later(partial(count, weights), shortlisted, *ballots)


def _submit_ballot(
    discussion: Discussion,
    memory: TeamMemory,
    released: ReleasedCode,
    on_ballot: Ideas,
    looks: Sequence[Answer[float]],
    orders: Mapping[str, tuple[int, ...]],
    seat: int,
    voter: str,
) -> Answer[Ballot]:
    """Ask one member for its vote, with the ideas in its own order."""
    listed = tuple(on_ballot[index] for index in orders[voter])
    lab, pooled = discussion.lab, released.ballot == "pooled"
    return lab.submit(
        voter,
        memory.prompts["ballot"],
        Ballot,
        "vote",
        seat=seat,
        looks=tuple(looks[index] for index in orders[voter]) if looks else None,
        topic=memory.shown(memory.topic),
        ideas=listed,
        papers=lab.later(pool_by_key if pooled else pool_references, *listed),
        pooled=pooled,
        ratings=memory.ratings,
        position=discussion.position(),
        extras=("comparisons",) if memory.switches.comparisons == "on" else (),
        sentences=discussion.sentences,
    )


def lay_out_ballot(
    lab: Lab,
    memory: TeamMemory,
    released: ReleasedCode,
    shortlisted: Answer[tuple[CandidateIdea, ...]],
    size: int,
) -> Ideas:
    """The ideas of the ballot, of which there are ``size``, each with B_past(idea) as of now."""
    references = memory.references
    count, few = references.per_idea, released.few_ideas
    if few is not None and size < SHORTLIST_SIZE:
        count = few
    ideas: list[Answer[CandidateIdea]] = [
        lab.later(itemgetter(index), shortlisted) for index in range(size)
    ]
    if references.assessment == "off":
        return tuple(lab.later(_replace_references, idea, ()) for idea in ideas)
    return tuple(
        lab.later(_replace_references, idea, references.find_near(lab, idea, count))
        for idea in ideas
    )


def _order(lab: Lab, ideas: int, turn: int, voter: str, *, permuted: bool) -> tuple[int, ...]:
    """The order of the ideas on one ballot; it repeats only after all orders were used."""
    orders = list(permutations(range(ideas)))
    if not permuted:
        return orders[0]
    # A stream per voter, not per turn: each of its ballots takes the next order of one shuffle.
    shuffled = lab.rng("ballot order", lab.visit, voter).permutation(len(orders))
    return orders[int(shuffled[(turn - 1) % len(orders)])]


def in_usual_order(order: tuple[int, ...], ballot: Ballot) -> Ballot:
    """A ballot whose list was permuted, as a vote on the list in its usual order."""
    if not 0 <= ballot.choice < len(order):
        return ballot
    return ballot.model_copy(update={"decision": f"Idea {order[ballot.choice]}"})


def _replace_references(idea: CandidateIdea, near: tuple[Reference, ...]) -> CandidateIdea:
    return replace(idea, references=tuple(near))
