"""Stage 3, idea generation: K turns of improving the previous idea or proposing a new one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from protocols.discussion import Discussion, Utterances
from protocols.virsci.forms import Idea, Topic
from protocols.virsci.idea_ranking import (
    CandidateIdea,
    Weights,
    count_ties,
    make_candidate,
    shortlist,
)
from society.kernel.answer import Answer
from society.kernel.process import Process

if TYPE_CHECKING:
    from agents.config import Switch
    from agents.reference import Reference
    from protocols.virsci.settings import ReferenceUse
    from society.teams.lab import Lab
    from society.teams.team import Team

Ideas: TypeAlias = tuple[Answer[CandidateIdea], ...]
"""Ideas with their references, in the order of being put forward, unread."""


def generate_ideas(
    lab: Lab,
    discussion: Discussion,
    topic: Answer[Topic] | Topic,
    references: ReferenceUse,
    first_scored: bool,
) -> Process[Ideas]:
    """Let every speaker of K turns improve the previous idea or propose a new one (Eq. 2).

    Args:
        lab: the team's access to the world.
        discussion: holds the turns.
        topic: what the ideas are about.
        references: how many papers are shown, if any.
        first_scored: does the self-assessment of the team's first idea count?

    Returns:
        Every idea with its references.
    """
    ideas: Ideas = ()

    def speak(turn: int, speakers: list[str]) -> Process[Utterances]:
        nonlocal ideas
        said: Utterances = ()
        for seat, speaker in enumerate(speakers):
            previous = ideas[-1] if ideas else None
            cue = topic if previous is None else previous
            shown = search_past(lab, cue, references.ideas, references.count)
            idea, guest = yield from discussion.utter(
                speaker,
                seat,
                "idea_turn",
                Idea,
                cue=cue,
                recall=topic,
                topic=topic,
                previous=previous,
                references=shown,
                summaries=discussion.summaries,
                said=said,
            )
            said = (*said, idea, *guest)
            near = search_past(lab, idea, references.ideas, references.count)
            scored = bool(ideas) or first_scored
            ideas = (*ideas, lab.later(partial(make_candidate, scored), idea, shown, near))
        return said

    yield from discussion.hold(speak)
    return ideas


def shortlist_ideas(
    team: Team, lab: Lab, ideas: Ideas, weights: Weights
) -> Answer[tuple[CandidateIdea, ...]]:
    """The three ideas with the highest confidence, unread; the number of ties is noted.

    Args:
        team: its ``notes`` take the number of ties.
        lab: the team's access to the world.
        ideas: all ideas of the team.
        weights: of the self-assessment.
    """
    team.notes["ties"] = lab.later(partial(count_ties, weights), *ideas)
    return lab.later(partial(shortlist, weights), *ideas)


def search_past(
    lab: Lab, query: Any, switch: Switch, count: int
) -> Answer[tuple[Reference, ...]] | tuple[()]:
    """B_past(query): past papers near a text, or nothing where the stage sees no papers.

    Args:
        lab: the team's access to the world.
        query: text, or Answer of one.
        switch: does the stage see papers?
        count: papers per search (>= 1).
    """
    return lab.search(query, count) if switch == "on" else ()
