"""Stage 3, idea generation: K turns of improving the previous idea or proposing a new one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from virsci_society.agents.prompts.dialogue import Utterance
from virsci_society.protocols.discussion import Discussion, Utterances
from virsci_society.protocols.virsci.forms import Idea, Topic
from virsci_society.protocols.virsci.idea_ranking import (
    CandidateIdea,
    RankingRules,
    add_judgement,
    choose_shortlist,
    count_shortlist_ties,
    make_candidate,
    without_ratings,
)
from virsci_society.protocols.virsci.searches import SearchRules, find_papers
from virsci_society.society.kernel.answer import Answer
from virsci_society.society.kernel.process import Process

if TYPE_CHECKING:
    from virsci_society.protocols.virsci.team_memory import TeamMemory
    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import Team

Ideas: TypeAlias = tuple[Answer[CandidateIdea], ...]
"""Ideas with their references, in the order of being put forward, unread."""


@dataclass(frozen=True, slots=True)
class IdeaRules:
    """How ideas are generated.

    Attributes:
        search: what a speaker is shown of the literature.
        near: the search for the papers near an idea.
        first_scored: does the self-assessment of the team's first idea count?
        extras: optional fields of ``Idea`` that are asked for: ``gist``, ``marks``.
        dialogue: does a speaker see summaries and what was said in the round?
        ratings: do the ratings of the idea on the table stand with it?
    """

    search: SearchRules
    near: SearchRules
    first_scored: bool = True
    extras: tuple[str, ...] = ()
    dialogue: bool = True
    ratings: bool = False


def generate_ideas(
    team: Team,
    lab: Lab,
    discussion: Discussion,
    topic: Answer[Topic] | Topic,
    rules: IdeaRules,
    memory: TeamMemory,
) -> Process[Ideas]:
    """Let every speaker of K turns improve the previous idea or propose a new one (Eq. 2).

    Args:
        team: whose members speak.
        lab: the team's access to the world.
        discussion: holds the turns.
        topic: what the ideas are about.
        rules: what is searched, shown and asked.
        memory: takes the advice of outsiders; holds what the topic discussion left.

    Returns:
        Every idea with its references.
    """
    ideas: Ideas = ()
    extras = rules.extras

    def speak(turn: int, speakers: list[str]) -> Process[Utterances]:
        nonlocal ideas
        said: Utterances = ()
        # Ideas of this round stand among what was said in it, and the last one on the table.
        earlier, last = ideas[:-1], ideas[-1:]
        for seat, speaker in enumerate(speakers):
            previous = ideas[-1] if ideas else None
            heard = said if rules.dialogue else ()
            cue = topic if previous is None else previous
            shown = find_papers(lab, rules.search, speaker, cue, topic)
            idea, guest = yield from discussion.utter(
                speaker,
                seat,
                "idea_turn",
                Idea,
                cue=cue,
                recall=topic,
                about=topic,
                topic=topic,
                background=memory.shown(memory.topic_summaries),
                reasons=memory.carries,
                tried=memory.failed_ideas,
                earlier=memory.shown(earlier if seat == 0 else (*earlier, *last)),
                previous=previous,
                # The idea on the table was the last utterance of this round, if there is one.
                shown_above=bool(heard),
                references=shown,
                summaries=discussion.summaries,
                said=heard,
                ratings=rules.ratings,
                extras=extras,
            )
            # Where others rate an idea too, its author's ratings would anchor theirs.
            spoken = lab.later(without_ratings, idea) if "marks" in extras else idea
            said = (*said, Utterance(speaker, spoken), *guest)
            near = find_papers(lab, rules.near, speaker, idea)
            scored = bool(ideas) or rules.first_scored
            make = partial(make_candidate, speaker, scored)
            # The papers that an idea builds on stand on the next page only where they are carried.
            seen = previous if memory.carries and previous is not None else ()
            ideas = (
                *ideas,
                lab.later(make, idea, shown, near, seen),
            )
            if len(ideas) > 1 and "marks" in extras:
                judged = lab.later(partial(add_judgement, speaker), ideas[-2], idea)
                ideas = (*ideas[:-2], judged, ideas[-1])
        return said

    yield from discussion.hold(speak, summarised=rules.dialogue)
    memory.advice = discussion.advice
    return ideas


def shortlist_ideas(
    team: Team, lab: Lab, ideas: Ideas, ranking: RankingRules
) -> Answer[tuple[CandidateIdea, ...]]:
    """The ideas for the ballot, unread; the number of ties is noted.

    Args:
        team: its ``notes`` take the number of ties.
        lab: the team's access to the world.
        ideas: all ideas of the team.
        ranking: how they are chosen.
    """
    team.notes["ties"] = lab.later(partial(count_shortlist_ties, ranking), *ideas)
    return lab.later(partial(choose_shortlist, ranking), *ideas)
