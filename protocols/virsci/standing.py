"""StandingIdea: an idea together with the references it was shown with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents.reference import Reference
from protocols.virsci.forms import Ballot, Idea

KEPT = 3
"""Ideas that stay for the novelty assessment."""


@dataclass(frozen=True, slots=True)
class StandingIdea:
    """An idea kept with its references (Eq. 2 and 3).

    Attributes:
        idea: the idea as it was said.
        references: papers of B_past near the idea, nearest first; empty if switched off.
        uses: ids of the papers the idea says it builds on; they will be cited.
        found: ids of all papers that were found for it, shown to its author or near it.
        scored: does its self-assessment count?
    """

    idea: Idea
    references: tuple[Reference, ...] = ()
    uses: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    scored: bool = True

    @property
    def query(self) -> str:
        """The text by which papers near the idea are searched."""
        return self.idea.query


def stand(
    scored: bool, idea: Idea, shown: Sequence[Reference], near: Sequence[Reference]
) -> StandingIdea:
    """Keep an idea with the references near it; of those it was shown, the ones it uses."""
    uses = [shown[number - 1].id for number in idea.uses if 1 <= number <= len(shown)]
    found = dict.fromkeys(reference.id for reference in (*shown, *near))
    return StandingIdea(idea, tuple(near), tuple(dict.fromkeys(uses)), tuple(found), scored)


def confidence(standing: StandingIdea, weights: tuple[float, float, float]) -> float:
    """Weighted mean of Clarity, Feasibility and Novelty, 1 to 10; 0 of an idea not scored."""
    if not standing.scored:
        return 0.0
    idea = standing.idea
    ratings = (idea.clarity, idea.feasibility, idea.novelty)
    return sum(w * r for w, r in zip(weights, ratings, strict=True)) / sum(weights)


def best_three(
    weights: tuple[float, float, float], *ideas: StandingIdea
) -> tuple[StandingIdea, ...]:
    """The three with the highest confidence, in the order of being said; ties: the later."""
    ranked = sorted(
        range(len(ideas)), key=lambda place: (-confidence(ideas[place], weights), -place)
    )
    return tuple(ideas[place] for place in sorted(ranked[:KEPT]))


def tied(weights: tuple[float, float, float], *ideas: StandingIdea) -> int:
    """How many of the three kept have the confidence of one that was left out."""
    values = sorted((confidence(idea, weights) for idea in ideas), reverse=True)
    left_out = set(values[KEPT:])
    return sum(value in left_out for value in values[:KEPT])


def elect(
    weights: tuple[float, float, float], ideas: Sequence[StandingIdea], *ballots: Ballot
) -> StandingIdea:
    """The idea with most of these votes; ties by confidence, then by order."""
    votes = [ballot.choice for ballot in ballots]
    return min(
        enumerate(ideas),
        key=lambda item: (-votes.count(item[0]), -confidence(item[1], weights), item[0]),
    )[1]


def uses_of(idea: StandingIdea) -> tuple[str, ...]:
    """What a paper on this idea cites: what it says it builds on."""
    return idea.uses


def found_for(*ideas: StandingIdea) -> tuple[str, ...]:
    """Every paper that was found for any of the ideas, in the order of being found."""
    return tuple(dict.fromkeys(id_ for idea in ideas for id_ in idea.found))


def told_as(idea: StandingIdea) -> str:
    """The text of the idea by which a paper on it is found."""
    return idea.query
