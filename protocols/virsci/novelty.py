"""Stage 4, novelty assessment: a blind vote for the idea farthest from what exists."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from protocols.discussion import Discussion, Said
from protocols.virsci.forms import Ballot
from protocols.virsci.ideas import keep, references, weights_of
from protocols.virsci.prompts import PROMPTS
from protocols.virsci.settings import Settings
from protocols.virsci.standing import KEPT, StandingIdea, elect
from society.answer import Answer
from society.steps import Steps

if TYPE_CHECKING:
    from agents.reference import Reference
    from society.lab import Lab
    from society.team import Team


def weigh(virsci: Settings, team: Team, lab: Lab, ideas: Said) -> Steps:
    """The idea with most votes (Eq. 3), unread. No dialogue is in the prompt."""
    kept = keep(virsci, team, lab, ideas)
    ballot_paper = tuple(
        _with_references(virsci, lab, kept, place) for place in range(min(KEPT, len(ideas)))
    )
    discussion = Discussion(virsci, team, lab, virsci.turns_of.assessment, PROMPTS)
    # Profiles are no dialogue, so the vote stays blind.
    themes = lab.later(_themes, kept)
    ballots: Said = ()

    def vote(turn: int, voters: list[str]) -> Steps:
        nonlocal ballots
        cast = yield from lab.ask_each(
            voters,
            lambda seat, who: lab.pose(
                who,
                PROMPTS["ballot"],
                Ballot,
                "vote",
                seat=seat,
                ideas=ballot_paper,
                knowledge=discussion.knowledge(themes),
            ),
        )
        ballots = (*cast,) if virsci.votes == "last_turn" else (*ballots, *cast)
        return tuple(cast)

    yield from discussion.hold(vote, summarised=False)
    return lab.later(partial(elect, weights_of(virsci)), kept, *ballots)


def last_idea(ideas: Said) -> Answer[Any]:
    """Without assessment the last scientist's idea is taken (Table 6)."""
    return ideas[-1]


def _with_references(virsci: Settings, lab: Lab, kept: Answer[Any], place: int) -> Answer[Any]:
    """One idea of the ballot with B_past(idea) as of now."""
    idea = lab.later(partial(_pick, place), kept)
    return lab.later(_refer, idea, references(virsci, lab, idea, virsci.references.assessment))


def _pick(place: int, ideas: tuple[StandingIdea, ...]) -> StandingIdea:
    return ideas[place]


def _refer(standing: StandingIdea, near: tuple[Reference, ...]) -> StandingIdea:
    return replace(standing, references=tuple(near))


def _themes(ideas: tuple[StandingIdea, ...]) -> str:
    return " ".join(standing.query for standing in ideas)
